//! The trivial log: a vector.

use quorate_types::{Epoch, Offset, WallTime};

use crate::log::{AppendError, Log};
use crate::machine::Batch;

/// A log in memory with one replica, for tests, examples and other beginnings.
///
/// Like Raft it opens each epoch with a control batch of its own.
#[derive(Debug, Clone)]
pub struct MemoryLog<R> {
    batches: Vec<Batch<R>>,
    epoch: Epoch,
    leading: bool,
    /// The time that the next batches are stamped with.
    pub wall: WallTime,
    /// How many records one batch may have.
    pub batch_records_max: usize,
}

impl<R: Clone> MemoryLog<R> {
    /// An empty log that nobody leads.
    pub fn new() -> MemoryLog<R> {
        MemoryLog {
            batches: Vec::new(),
            epoch: Epoch(0),
            leading: false,
            wall: WallTime(0),
            batch_records_max: usize::MAX,
        }
    }

    /// Elects this node in the next epoch; returns the epoch and the offset where it starts.
    pub fn elect(&mut self) -> (Epoch, Offset) {
        let start = self.end();
        self.epoch = self.epoch.next();
        self.leading = true;
        self.append_control();
        (self.epoch, start)
    }

    /// Deposes this node; the log stays as it is.
    pub fn depose(&mut self) {
        self.leading = false;
    }

    /// Writes something of the log's own, as Raft does on a change of voters.
    pub fn append_control(&mut self) {
        let end = self.end();
        let batch = Batch::control(end, end + 1, self.epoch, self.wall);
        self.batches.push(batch);
    }

    /// Drops the batches that reach beyond `end`, as a new leader may demand.
    pub fn truncate(&mut self, end: Offset) {
        self.batches.retain(|batch| batch.end <= end);
    }

    /// Whether this node leads.
    pub fn is_leading(&self) -> bool {
        self.leading
    }

    /// The epoch it led last.
    pub fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// The offset after the last batch.
    pub fn end(&self) -> Offset {
        self.batches.last().map_or(Offset::ZERO, |batch| batch.end)
    }

    /// Every batch.
    pub fn batches(&self) -> &[Batch<R>] {
        &self.batches
    }

    /// The batches within `from..end`.
    pub fn read(&self, from: Offset, end: Offset) -> Vec<Batch<R>> {
        let within = |batch: &&Batch<R>| batch.base >= from && batch.end <= end;
        self.batches.iter().filter(within).cloned().collect()
    }
}

impl<R: Clone> Default for MemoryLog<R> {
    fn default() -> Self {
        MemoryLog::new()
    }
}

impl<R: Clone> Log<R> for MemoryLog<R> {
    fn append(
        &mut self,
        epoch: Epoch,
        base: Offset,
        batches: &[Vec<R>],
    ) -> Result<(), AppendError> {
        if !self.leading || epoch != self.epoch {
            return Err(AppendError::NotLeader);
        }
        let end = self.end();
        if base != end {
            return Err(AppendError::Moved { end });
        }
        let large = |batch: &Vec<R>| batch.len() > self.batch_records_max;
        if batches.iter().any(large) {
            return Err(AppendError::TooLarge);
        }
        for records in batches {
            assert!(!records.is_empty(), "an empty batch");
            let batch = Batch::data(self.end(), epoch, self.wall, records.clone());
            self.batches.push(batch);
        }
        Ok(())
    }

    fn resign(&mut self, epoch: Epoch) {
        if epoch == self.epoch {
            self.leading = false;
        }
    }
}
