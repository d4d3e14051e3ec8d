//! The newest batches of the log, in memory: what followers and loaders almost always want.
//!
//! Batches are contiguous and end where the log ends. Those that the disk has not confirmed yet are
//! kept whatever they weigh; older ones go once the budget is spent, and are read from disk again.

use std::collections::VecDeque;

use bytes::Bytes;
use quorate_types::{Epoch, Offset};

/// One encoded batch and where it lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EncodedBatch {
    /// The offset of its first record.
    pub base: Offset,
    /// The offset after its last record.
    pub end: Offset,
    /// The epoch of the leader that wrote it.
    pub epoch: Epoch,
    /// Its bytes, as on disk and on the wire.
    pub bytes: Bytes,
}

/// The tail of the log.
#[derive(Debug)]
pub struct LogTail {
    batches: VecDeque<EncodedBatch>,
    end: Offset,
    bytes: usize,
    budget: usize,
}

impl LogTail {
    /// A tail without batches of a log that ends at `end`; it keeps about `budget` bytes.
    pub fn new(end: Offset, budget: usize) -> LogTail {
        LogTail {
            batches: VecDeque::new(),
            end,
            bytes: 0,
            budget,
        }
    }

    /// The first offset held.
    pub fn start(&self) -> Offset {
        self.batches.front().map_or(self.end, |batch| batch.base)
    }

    /// The end of the log.
    pub fn end(&self) -> Offset {
        self.end
    }

    /// Adds a batch at the end.
    ///
    /// # Panics
    /// If it does not start where the log ends; that is checked before anything is appended.
    pub fn push(&mut self, batch: EncodedBatch) {
        assert_eq!(
            batch.base, self.end,
            "a batch must start where the log ends"
        );
        self.end = batch.end;
        self.bytes += batch.bytes.len();
        self.batches.push_back(batch);
    }

    /// Cuts the log to `end`, a batch boundary.
    pub fn truncate(&mut self, end: Offset) {
        while let Some(last) = self.batches.back() {
            if last.end <= end {
                break;
            }
            self.bytes -= last.bytes.len();
            self.batches.pop_back();
        }
        self.end = end;
    }

    /// Empties the tail of a log that now starts and ends at `end`.
    pub fn reset(&mut self, end: Offset) {
        self.batches.clear();
        self.bytes = 0;
        self.end = end;
    }

    /// Lets go of old batches that the disk has, while there are more bytes than the budget.
    pub fn evict(&mut self, durable_end: Offset) {
        while self.bytes > self.budget {
            match self.batches.front() {
                Some(first) if first.end <= durable_end => {
                    self.bytes -= first.bytes.len();
                    self.batches.pop_front();
                }
                _ => break,
            }
        }
    }

    /// Whole batches from `from` on, up to the end `limit` and about `max_bytes`, at least one if
    /// there is one; `None` if the disk must be asked.
    pub fn read(&self, from: Offset, limit: Offset, max_bytes: usize) -> Option<Vec<EncodedBatch>> {
        if from < self.start() {
            return None;
        }
        let first = self.batches.partition_point(|batch| batch.end <= from);
        let mut read = Vec::new();
        let mut bytes = 0;
        for batch in self.batches.range(first..) {
            bytes += batch.bytes.len();
            if batch.end > limit || (bytes > max_bytes && !read.is_empty()) {
                break;
            }
            read.push(batch.clone());
        }
        Some(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tail(budget: usize) -> LogTail {
        let mut tail = LogTail::new(Offset(10), budget);
        for base in [10, 12, 14] {
            tail.push(EncodedBatch {
                base: Offset(base),
                end: Offset(base + 2),
                epoch: Epoch(1),
                bytes: Bytes::from(vec![0; 100]),
            });
        }
        tail
    }

    fn bases(tail: &LogTail, from: i64, limit: i64, max_bytes: usize) -> Option<Vec<i64>> {
        let read = tail.read(Offset(from), Offset(limit), max_bytes)?;
        Some(read.iter().map(|batch| batch.base.0).collect())
    }

    #[test]
    fn reads_end_at_their_limit_and_give_at_least_one_batch() {
        let tail = tail(1000);
        assert_eq!(bases(&tail, 10, 16, 1000), Some(vec![10, 12, 14]));
        assert_eq!(bases(&tail, 12, 14, 1000), Some(vec![12]));
        assert_eq!(bases(&tail, 10, 16, 1), Some(vec![10]));
        assert_eq!(bases(&tail, 10, 16, 200), Some(vec![10, 12]));
        assert_eq!(bases(&tail, 16, 16, 200), Some(vec![]));
        assert_eq!(bases(&tail, 9, 16, 200), None);
    }

    #[test]
    fn what_the_disk_has_not_confirmed_stays() {
        let mut tail = tail(150);
        tail.evict(Offset(12));
        assert_eq!(tail.start(), Offset(12));
        tail.evict(Offset(16));
        assert_eq!(tail.start(), Offset(14));
    }

    #[test]
    fn a_cut_tail_goes_on_from_the_cut() {
        let mut tail = tail(1000);
        tail.truncate(Offset(12));
        assert_eq!((tail.start(), tail.end()), (Offset(10), Offset(12)));
        tail.truncate(Offset(5));
        assert_eq!((tail.start(), tail.end()), (Offset(5), Offset(5)));
        tail.reset(Offset(300));
        assert_eq!(bases(&tail, 300, 300, 1), Some(vec![]));
    }
}
