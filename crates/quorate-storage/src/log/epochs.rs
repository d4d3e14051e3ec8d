//! Where each leader's epoch starts in the log, and `leader-epoch-checkpoint`, which says so to
//! Kafka. The log itself is where it is taken from.

use std::fmt::Write as _;

use quorate_types::{Epoch, Offset};

/// The starts of the epochs in the log; both ascend.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct EpochStarts(Vec<(Epoch, Offset)>);

impl EpochStarts {
    /// Notes that a batch of that epoch starts at `base`; says whether the epoch is new.
    pub(crate) fn note(&mut self, epoch: Epoch, base: Offset) -> bool {
        let new = self.last().is_none_or(|last| last < epoch);
        if new {
            self.0.push((epoch, base));
        }
        new
    }

    /// The epoch of the log's last batch.
    pub(crate) fn last(&self) -> Option<Epoch> {
        self.0.last().map(|(epoch, _)| *epoch)
    }

    /// Forgets what starts at or after `end`.
    pub(crate) fn truncate(&mut self, end: Offset) {
        self.0.retain(|(_, start)| *start < end);
    }

    /// Forgets what ends before `start`.
    pub(crate) fn start_at(&mut self, start: Offset, end: Offset) {
        let first = self
            .0
            .partition_point(|(_, epoch_start)| *epoch_start <= start);
        self.0.drain(..first.saturating_sub(1));
        if start >= end {
            self.0.clear();
        }
        if let Some((_, first)) = self.0.first_mut() {
            *first = (*first).max(start);
        }
    }

    pub(crate) fn to_vec(&self) -> Vec<(Epoch, Offset)> {
        self.0.clone()
    }

    /// The bytes of the file.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut text = format!("0\n{}\n", self.0.len());
        for (epoch, start) in &self.0 {
            // Writing into a string cannot fail.
            let _ = writeln!(text, "{epoch} {start}");
        }
        text.into_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn starts() -> EpochStarts {
        EpochStarts(vec![
            (Epoch(1), Offset(0)),
            (Epoch(2), Offset(414)),
            (Epoch(4), Offset(450)),
        ])
    }

    #[test]
    fn the_file_is_kafkas() {
        assert_eq!(starts().encode(), b"0\n3\n1 0\n2 414\n4 450\n");
        assert_eq!(EpochStarts::default().encode(), b"0\n0\n");
    }

    #[test]
    fn both_ends_can_be_cut() {
        let mut cut = starts();
        cut.truncate(Offset(450));
        assert_eq!(cut.last(), Some(Epoch(2)));
        cut.start_at(Offset(400), Offset(450));
        assert_eq!(cut.encode(), b"0\n2\n1 400\n2 414\n");
        cut.start_at(Offset(414), Offset(450));
        assert_eq!(cut.encode(), b"0\n1\n2 414\n");
        cut.start_at(Offset(450), Offset(450));
        assert_eq!(cut, EpochStarts::default());
    }
}
