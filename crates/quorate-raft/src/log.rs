//! The log as Raft needs it: where it starts and ends, where each epoch starts, how much of it is
//! durable, and which snapshots stand beside it.
//!
//! Invariants:
//! - `start <= end`, and every epoch in `epochs` starts before `end`; both columns ascend.
//! - `durable_end <= end`: the prefix of *this* log that a crash cannot take away.
//! - A log operation that was asked for and is not durable yet stands in `pending`, in order.

use std::collections::{BTreeMap, VecDeque};

use quorate_types::{Epoch, Offset, OffsetAndEpoch};

use crate::{Batch, DiskSeq, LogSummary};

/// Where a fetcher's log stands in relation to this one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Position {
    /// It is a prefix.
    Valid,
    /// It parts; this log has that epoch end there.
    Diverging(OffsetAndEpoch),
    /// This log does not reach back so far; that snapshot is to be loaded.
    Snapshot(OffsetAndEpoch),
}

/// How far a disk operation lets the durable end grow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct PendingOp {
    seq: DiskSeq,
    end: Offset,
    /// Truncations and installs also hold back the fetches of a broker.
    rewrites: bool,
}

/// Bounds, epochs, durability and snapshots of the log.
#[derive(Debug, Clone, Default)]
pub(crate) struct Log {
    start: Offset,
    end: Offset,
    durable_end: Offset,
    epochs: Vec<(Epoch, Offset)>,
    pending: VecDeque<PendingOp>,
    snapshots: BTreeMap<OffsetAndEpoch, u64>,
}

impl Log {
    /// The log that recovery found, all of it durable.
    pub(crate) fn recovered(summary: &LogSummary) -> Log {
        let mut snapshots = summary.snapshots.clone();
        snapshots.remove(&OffsetAndEpoch::default());
        Log {
            start: summary.start,
            end: summary.end,
            durable_end: summary.end,
            epochs: summary.epochs.clone(),
            pending: VecDeque::new(),
            snapshots,
        }
    }

    /// Lengthens the log by a batch that starts at its end.
    pub(crate) fn append(&mut self, batch: &Batch) {
        assert_eq!(batch.base, self.end, "a batch starts where the log ends");
        if self
            .epochs
            .last()
            .is_none_or(|(last, _)| batch.epoch > *last)
        {
            self.epochs.push((batch.epoch, batch.base));
        }
        self.end = batch.end;
    }

    /// Notes the disk operation that carries out what was appended.
    pub(crate) fn appending(&mut self, seq: DiskSeq) {
        self.pending.push_back(PendingOp {
            seq,
            end: self.end,
            rewrites: false,
        });
    }

    /// Cuts the tail off; `seq` is the disk operation that does so.
    pub(crate) fn truncate(&mut self, end: Offset, seq: DiskSeq) {
        assert!(end >= self.start, "a log is not cut below its start");
        self.end = end;
        self.durable_end = self.durable_end.min(end);
        self.epochs.retain(|(_, start)| *start < end);
        for op in &mut self.pending {
            op.end = op.end.min(end);
        }
        self.pending.push_back(PendingOp {
            seq,
            end,
            rewrites: true,
        });
    }

    /// Notes the disk operation that will put a snapshot in the log's place.
    pub(crate) fn installing(&mut self, seq: DiskSeq) {
        self.pending.push_back(PendingOp {
            seq,
            end: self.durable_end,
            rewrites: true,
        });
    }

    /// The log after a snapshot took its place: empty, at the snapshot's end.
    pub(crate) fn install(&mut self, id: OffsetAndEpoch, size: u64) {
        self.start = id.offset;
        self.end = id.offset;
        self.durable_end = id.offset;
        self.epochs.clear();
        for op in &mut self.pending {
            op.end = id.offset;
        }
        self.snapshots.clear();
        self.snapshots.insert(id, size);
    }

    /// All operations up to `upto` are durable. Returns whether the durable end moved.
    pub(crate) fn durable(&mut self, upto: DiskSeq) -> bool {
        let before = self.durable_end;
        while let Some(op) = self.pending.front()
            && op.seq <= upto
        {
            self.durable_end = self.durable_end.max(op.end.min(self.end));
            self.pending.pop_front();
        }
        self.durable_end != before
    }

    /// Adds a snapshot of this node's own.
    pub(crate) fn add_snapshot(&mut self, id: OffsetAndEpoch, size: u64) {
        if id != OffsetAndEpoch::default() {
            self.snapshots.insert(id, size);
        }
    }

    /// The head up to `start`, and the snapshots before `earliest`, are gone.
    pub(crate) fn cleaned(&mut self, start: Offset, earliest: OffsetAndEpoch) {
        let start = start.min(self.end);
        if start > self.start {
            self.start = start;
            let first = self.epoch_at(start);
            self.epochs
                .retain(|(epoch, from)| *epoch == first || *from > start);
            if let Some(head) = self.epochs.first_mut() {
                head.1 = head.1.max(start);
            }
            self.epochs.retain(|(_, from)| *from < self.end);
        }
        self.snapshots.retain(|id, _| *id >= earliest);
    }

    /// The epoch of the record before `end`, if that record is in the log.
    pub(crate) fn epoch_before(&self, end: Offset) -> Option<Epoch> {
        (self.start < end && end <= self.end).then(|| self.epoch_at(end - 1))
    }

    pub(crate) fn start(&self) -> Offset {
        self.start
    }

    pub(crate) fn end(&self) -> Offset {
        self.end
    }

    pub(crate) fn durable_end(&self) -> Offset {
        self.durable_end
    }

    /// The epoch of the last record, or of the snapshot that stands for an emptied log.
    pub(crate) fn last_epoch(&self) -> Epoch {
        match self.epochs.last() {
            Some((epoch, _)) => *epoch,
            None => self
                .latest_snapshot()
                .filter(|id| id.offset == self.end)
                .map_or(Epoch(0), |id| id.epoch),
        }
    }

    /// The end and the last epoch: what votes compare.
    pub(crate) fn last(&self) -> OffsetAndEpoch {
        OffsetAndEpoch {
            offset: self.end,
            epoch: self.last_epoch(),
        }
    }

    /// Whether every log operation is durable (`strictly`), or at least every one that rewrites.
    pub(crate) fn settled(&self, strictly: bool) -> bool {
        !self.pending.iter().any(|op| strictly || op.rewrites)
    }

    /// How many operations wait for the disk.
    pub(crate) fn pending_len(&self) -> usize {
        self.pending.len()
    }

    pub(crate) fn latest_snapshot(&self) -> Option<OffsetAndEpoch> {
        self.snapshots.keys().next_back().copied()
    }

    pub(crate) fn earliest_snapshot(&self) -> Option<OffsetAndEpoch> {
        self.snapshots.keys().next().copied()
    }

    pub(crate) fn snapshot_size(&self, id: OffsetAndEpoch) -> Option<u64> {
        self.snapshots.get(&id).copied()
    }

    /// Where a fetcher stands whose log ends at `offset` with a record of `epoch`.
    pub(crate) fn position_of(&self, offset: Offset, epoch: Epoch) -> Position {
        if let (Some(latest), Some(earliest)) = (self.latest_snapshot(), self.earliest_snapshot()) {
            let before = offset < self.start;
            let other_start = offset == self.start && epoch != earliest.epoch;
            let too_old = epoch < earliest.epoch;
            if offset == Offset::ZERO || before || other_start || too_old {
                return Position::Snapshot(latest);
            }
        }
        if self.start == Offset::ZERO && offset == Offset::ZERO {
            return Position::Valid;
        }
        let end = self.end_of_epoch(epoch);
        if end.epoch != epoch || end.offset < offset {
            Position::Diverging(end)
        } else {
            Position::Valid
        }
    }

    /// Where an epoch ends in this log; for one that it lacks, the next lower one and its end; below
    /// all, that epoch at the start of the first; above all, the log's end.
    pub(crate) fn end_of_epoch(&self, epoch: Epoch) -> OffsetAndEpoch {
        if epoch >= self.last_epoch() {
            return self.last();
        }
        let after = self.epochs.partition_point(|(known, _)| *known <= epoch);
        let end = self.epochs.get(after).map_or(self.end, |next| next.1);
        match after.checked_sub(1) {
            Some(at) => OffsetAndEpoch {
                offset: end,
                epoch: self.epochs[at].0,
            },
            None => match self.earliest_snapshot() {
                Some(id) if id.offset == end => id,
                _ => OffsetAndEpoch { offset: end, epoch },
            },
        }
    }

    /// Where this log is to be cut so that it agrees with a leader's, whose `theirs.epoch` ends at
    /// `theirs.offset`.
    pub(crate) fn agreement_with(&self, theirs: OffsetAndEpoch) -> Offset {
        if theirs.epoch == Epoch(0) {
            return theirs.offset.min(self.end);
        }
        let mine = self.end_of_epoch(theirs.epoch);
        if mine.epoch == theirs.epoch {
            theirs.offset.min(mine.offset)
        } else {
            mine.offset
        }
    }

    fn epoch_at(&self, offset: Offset) -> Epoch {
        let after = self.epochs.partition_point(|(_, from)| *from <= offset);
        after
            .checked_sub(1)
            .map_or(Epoch(0), |at| self.epochs[at].0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Epoch 1 at 0..4, epoch 3 at 4..10.
    fn log() -> Log {
        let mut log = Log::default();
        log.append(&Batch::data(Offset(0), 4, Epoch(1)));
        log.append(&Batch::data(Offset(4), 6, Epoch(3)));
        log.appending(DiskSeq(1));
        log
    }

    #[test]
    fn a_fetch_is_placed_by_the_end_of_its_last_epoch() {
        let cases = [
            ((0, 0), Position::Valid),
            ((10, 3), Position::Valid),
            ((5, 3), Position::Valid),
            ((4, 1), Position::Valid),
            ((5, 1), Position::Diverging(OffsetAndEpoch::new(4, 1))),
            ((6, 2), Position::Diverging(OffsetAndEpoch::new(4, 1))),
            ((11, 3), Position::Diverging(OffsetAndEpoch::new(10, 3))),
            ((12, 4), Position::Diverging(OffsetAndEpoch::new(10, 3))),
            ((3, 0), Position::Diverging(OffsetAndEpoch::new(0, 0))),
        ];
        for ((offset, epoch), expected) in cases {
            let got = log().position_of(Offset(offset), Epoch(epoch));
            assert_eq!(got, expected, "{offset}@{epoch}");
        }
    }

    #[test]
    fn fetchers_that_the_log_does_not_reach_are_sent_to_the_snapshot() {
        let mut log = log();
        log.add_snapshot(OffsetAndEpoch::new(4, 1), 100);
        log.add_snapshot(OffsetAndEpoch::new(7, 3), 200);
        let latest = Position::Snapshot(OffsetAndEpoch::new(7, 3));
        assert_eq!(log.position_of(Offset(0), Epoch(0)), latest);
        assert_eq!(log.position_of(Offset(3), Epoch(1)), Position::Valid);
        log.cleaned(Offset(4), OffsetAndEpoch::new(4, 1));
        assert_eq!(log.position_of(Offset(3), Epoch(1)), latest);
        assert_eq!(log.position_of(Offset(4), Epoch(3)), latest);
        assert_eq!(log.position_of(Offset(4), Epoch(1)), Position::Valid);
        log.cleaned(Offset(7), OffsetAndEpoch::new(7, 3));
        assert_eq!(log.start(), Offset(7));
        assert_eq!(log.position_of(Offset(7), Epoch(3)), Position::Valid);
        assert_eq!(log.position_of(Offset(6), Epoch(3)), latest);
        assert_eq!(log.position_of(Offset(8), Epoch(1)), latest);
        assert_eq!(log.last(), OffsetAndEpoch::new(10, 3));
    }

    #[test]
    fn the_cut_that_agrees_with_a_leader() {
        let cases = [
            ((7, 3), 7),
            ((12, 3), 10),
            ((2, 1), 2),
            ((9, 2), 4),
            ((6, 0), 6),
            ((20, 5), 10),
        ];
        for ((offset, epoch), expected) in cases {
            let cut = log().agreement_with(OffsetAndEpoch::new(offset, epoch));
            assert_eq!(cut, Offset(expected), "{offset}@{epoch}");
        }
    }

    #[test]
    fn only_what_was_synced_and_not_cut_is_durable() {
        let mut log = log();
        assert_eq!(log.durable_end(), Offset(0));
        log.truncate(Offset(6), DiskSeq(2));
        log.append(&Batch::data(Offset(6), 2, Epoch(4)));
        log.appending(DiskSeq(3));
        assert!(log.durable(DiskSeq(1)));
        assert_eq!(
            log.durable_end(),
            Offset(6),
            "what seq 1 wrote above 6 is gone"
        );
        assert!(!log.settled(false), "the truncation is not durable yet");
        log.durable(DiskSeq(2));
        assert!(log.settled(false));
        assert!(!log.settled(true));
        log.durable(DiskSeq(3));
        assert_eq!(log.durable_end(), Offset(8));
        assert_eq!(log.last(), OffsetAndEpoch::new(8, 4));
        assert!(log.settled(true));
    }

    #[test]
    fn a_snapshot_takes_the_place_of_the_log() {
        let mut log = log();
        log.install(OffsetAndEpoch::new(300, 5), 1000);
        log.durable(DiskSeq(1));
        assert_eq!((log.start(), log.end()), (Offset(300), Offset(300)));
        assert_eq!(log.durable_end(), Offset(300));
        assert_eq!(log.last(), OffsetAndEpoch::new(300, 5));
        assert_eq!(log.position_of(Offset(300), Epoch(5)), Position::Valid);
        log.append(&Batch::data(Offset(300), 2, Epoch(5)));
        assert_eq!(
            log.last(),
            OffsetAndEpoch::new(302, 5),
            "the snapshot's epoch goes on"
        );
    }

    /// A log of batches of (epoch, records), epochs ascending.
    fn of(batches: &[(i32, i64)]) -> Log {
        let mut log = Log::default();
        for (epoch, count) in batches {
            log.append(&Batch::data(log.end(), *count, Epoch(*epoch)));
        }
        log
    }

    fn ascending(from: i32) -> impl Strategy<Value = Vec<(i32, i64)>> {
        prop::collection::vec((0..3, 1..5i64), 0..6).prop_map(move |steps| {
            let mut epoch = from;
            let ascend = |(step, count)| {
                epoch += step;
                (epoch, count)
            };
            steps.into_iter().map(ascend).collect()
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]

        /// A follower that truncates where it is told ends with a prefix of the leader's log, never
        /// cuts what they have in common, and needs no more rounds than it has epochs.
        #[test]
        fn a_follower_comes_to_agree_with_its_leader(
            common in ascending(1),
            mine in ascending(10),
            theirs in ascending(11),
        ) {
            // Epochs of different leaders differ: even ones are the follower's, odd ones the leader's.
            let own = |log: &[(i32, i64)], odd| -> Vec<(i32, i64)> {
                log.iter().map(|(epoch, count)| (epoch * 2 + odd, *count)).collect()
            };
            let common_end = of(&common).end();
            let mut follower = of(&[common.clone(), own(&mine, 0)].concat());
            let leader = of(&[common, own(&theirs, 1)].concat());
            let mut rounds = 0;
            loop {
                let last = follower.last();
                match leader.position_of(last.offset, last.epoch) {
                    Position::Valid => break,
                    Position::Snapshot(id) => prop_assert!(false, "no snapshot {id} exists"),
                    Position::Diverging(end) => {
                        let cut = follower.agreement_with(end);
                        prop_assert!(cut < follower.end(), "no progress at {last} told {end}");
                        prop_assert!(cut >= common_end, "cut to {cut}, common is {common_end}");
                        follower.truncate(cut, DiskSeq(1));
                    }
                }
                rounds += 1;
                prop_assert!(rounds <= 12);
            }
            prop_assert_eq!(follower.end(), common_end);
        }
    }
}
