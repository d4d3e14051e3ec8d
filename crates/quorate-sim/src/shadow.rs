//! A node's log as an onlooker sees it: from the disk jobs that the node gives out, independent of
//! what the node says about itself.

use bytes::Bytes;
use quorate_protocol::batch::BatchView;
use quorate_types::{Epoch, Offset};

use crate::history::hash_bytes;

/// One batch of a log.
#[derive(Debug, Clone)]
pub struct Entry {
    /// The offset of its first record.
    pub base: Offset,
    /// The offset after its last record.
    pub end: Offset,
    /// The epoch of the leader that wrote it.
    pub epoch: Epoch,
    /// Stands for all bytes of the log up to the batch's end.
    pub chain: u64,
    /// Its bytes.
    pub bytes: Bytes,
}

/// The batches of a log, contiguous.
#[derive(Debug, Clone, Default)]
pub struct ShadowLog {
    /// Where the log starts, and what stands for the bytes before.
    start: (Offset, u64),
    entries: Vec<Entry>,
}

impl ShadowLog {
    /// A log without batches that starts at an offset; `chain` stands for what came before.
    pub fn starting_at(start: Offset, chain: u64) -> ShadowLog {
        ShadowLog {
            start: (start, chain),
            entries: Vec::new(),
        }
    }

    /// Adds a batch; an error in words if it does not continue the log.
    pub fn push(&mut self, bytes: &Bytes) -> Result<(), String> {
        let view = BatchView::new(bytes.clone()).map_err(|error| error.to_string())?;
        let (base, end) = (view.base_offset(), self.end());
        if base != end {
            return Err(format!(
                "a batch at {base} does not continue a log that ends at {end}"
            ));
        }
        let before = self
            .entries
            .last()
            .map_or(self.start.1, |entry| entry.chain);
        self.entries.push(Entry {
            base,
            end: view.end_offset(),
            epoch: view.epoch(),
            chain: hash_bytes(before, bytes),
            bytes: bytes.clone(),
        });
        Ok(())
    }

    /// Adds an entry of another log that continues this one.
    pub fn push_entry(&mut self, entry: Entry) {
        self.entries.push(entry);
    }

    /// Cuts the log, so that no batch goes beyond `end`.
    pub fn truncate(&mut self, end: Offset) {
        self.entries
            .truncate(self.entries.partition_point(|entry| entry.end <= end));
    }

    /// Where the log starts.
    pub fn start(&self) -> Offset {
        self.start.0
    }

    /// Where the log ends.
    pub fn end(&self) -> Offset {
        self.entries.last().map_or(self.start.0, |entry| entry.end)
    }

    /// What stands for the bytes up to `end`; nothing if no batch ends there.
    pub fn chain_at(&self, end: Offset) -> Option<u64> {
        if end == self.start.0 {
            return Some(self.start.1);
        }
        self.ending_at(end).map(|entry| entry.chain)
    }

    /// The batch that ends at an offset.
    pub fn ending_at(&self, end: Offset) -> Option<&Entry> {
        let index = self
            .entries
            .binary_search_by_key(&end, |entry| entry.end)
            .ok()?;
        self.entries.get(index)
    }

    /// The batches that lie wholly in a range of offsets.
    pub fn between(&self, from: Offset, to: Offset) -> &[Entry] {
        let first = self.entries.partition_point(|entry| entry.base < from);
        let last = self.entries.partition_point(|entry| entry.end <= to);
        self.entries.get(first..last).unwrap_or_default()
    }

    /// The first batch that two logs do not share, in words.
    pub fn first_difference(&self, other: &ShadowLog) -> String {
        for entry in &self.entries {
            let theirs = other.entries.iter().find(|theirs| theirs.end >= entry.end);
            if let Some(theirs) = theirs
                && theirs.chain != entry.chain
            {
                return format!(
                    "they part at {} (epoch {}) and {} (epoch {})",
                    entry.base, entry.epoch, theirs.base, theirs.epoch
                );
            }
        }
        let (start, end) = (self.start(), self.end());
        format!(
            "one is {start} to {end}, the other {} to {}",
            other.start(),
            other.end()
        )
    }
}

#[cfg(test)]
mod tests {
    use quorate_protocol::batch::encode_data_batch;
    use quorate_types::WallTime;

    use super::*;

    fn batch(base: i64, epoch: i32, value: &'static [u8]) -> Bytes {
        let values = [Bytes::from_static(value), Bytes::from_static(b"second")];
        encode_data_batch(Offset(base), Epoch(epoch), WallTime(1), &values).expect("a batch")
    }

    #[test]
    fn logs_that_share_a_prefix_share_its_chain() {
        let (mut one, mut other) = (ShadowLog::default(), ShadowLog::default());
        for log in [&mut one, &mut other] {
            log.push(&batch(0, 1, b"a")).expect("it continues");
        }
        one.push(&batch(2, 1, b"b")).expect("it continues");
        other.push(&batch(2, 2, b"b")).expect("it continues");
        assert_eq!(one.chain_at(Offset(2)), other.chain_at(Offset(2)));
        assert_ne!(one.chain_at(Offset(4)), other.chain_at(Offset(4)));
        assert_eq!(one.chain_at(Offset(3)), None);
        assert!(one.first_difference(&other).contains("part at 2"));
    }

    #[test]
    fn cutting_and_appending_again_gives_the_chain_of_the_new_content() {
        let mut log = ShadowLog::default();
        log.push(&batch(0, 1, b"a")).expect("it continues");
        log.push(&batch(2, 1, b"b")).expect("it continues");
        let before = log.chain_at(Offset(4));
        log.truncate(Offset(3));
        assert_eq!(log.end(), Offset(2));
        assert!(log.push(&batch(4, 2, b"c")).is_err());
        log.push(&batch(2, 1, b"b")).expect("it continues");
        assert_eq!(log.chain_at(Offset(4)), before);
    }
}
