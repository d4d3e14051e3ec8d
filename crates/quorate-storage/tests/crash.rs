//! Power cuts at any moment: every synced byte is there afterwards, and nothing that was never
//! written.

mod common;

use bytes::Bytes;
use common::*;
use proptest::prelude::*;
use quorate_storage::vfs::{Crash, MemVfs};
use quorate_storage::{Election, MetadataLog, Note, QuorumState, Recovered};
use quorate_types::{Epoch, KRaftVersion, Offset, OffsetAndEpoch, Rng};

#[derive(Debug, Clone)]
enum Step {
    Append { count: usize, records: usize },
    Sync,
    NextEpoch,
    Truncate(prop::sample::Index),
    Snapshot(prop::sample::Index),
    Install { ahead: i64 },
    DropHead,
    Crash(u64),
    LoseUnsynced,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => (1..4_usize, 1..5_usize).prop_map(|(count, records)| Step::Append { count, records }),
        4 => Just(Step::Sync),
        2 => Just(Step::NextEpoch),
        1 => any::<prop::sample::Index>().prop_map(Step::Truncate),
        1 => any::<prop::sample::Index>().prop_map(Step::Snapshot),
        1 => (0..20_i64).prop_map(|ahead| Step::Install { ahead }),
        1 => Just(Step::DropHead),
        2 => any::<u64>().prop_map(Step::Crash),
        1 => Just(Step::LoseUnsynced),
    ];
    prop::collection::vec(step, 1..60)
}

/// What a disk must hold.
struct Model {
    disk: MemVfs,
    log: Option<MetadataLog>,
    /// All batches of the log, the first of which may be gone from the disk.
    batches: Vec<(i64, Bytes)>,
    /// The end up to which they were synced.
    durable: i64,
    epoch: i32,
    start: i64,
}

impl Model {
    fn new() -> Model {
        let disk = MemVfs::new();
        let log = Some(open_with(&disk, small_segments()).unwrap().0);
        Model {
            disk,
            log,
            batches: Vec::new(),
            durable: 0,
            epoch: 0,
            start: 0,
        }
    }

    fn log(&mut self) -> &mut MetadataLog {
        self.log.as_mut().unwrap()
    }

    fn end(&self) -> i64 {
        self.log.as_ref().unwrap().end().0
    }

    fn step(&mut self, step: &Step) {
        match step {
            Step::Append { count, records } => self.append(*count, *records),
            Step::Sync => self.durable = self.log().sync().unwrap().0,
            Step::NextEpoch => {
                self.epoch += 1;
                let vote = self.vote();
                self.log()
                    .save_election(&vote, KRaftVersion::DYNAMIC)
                    .unwrap();
            }
            Step::Truncate(index) => {
                let snapshots = self.log().snapshots();
                let committed = snapshots.last().map_or(0, |snapshot| snapshot.id.offset.0);
                let lowest = self.start.max(committed);
                let span = (self.end() - lowest + 1) as usize;
                let end = Offset(lowest + index.index(span) as i64);
                let before = self.end();
                let end = self.log().truncate(end).unwrap().0;
                // Where nothing is cut nothing is synced.
                self.durable = if end < before { end } else { self.durable };
                self.batches.retain(|(base, _)| *base < end);
            }
            Step::Snapshot(index) => self.snapshot(index),
            Step::Install { ahead } => {
                let id = OffsetAndEpoch::new(self.end() + ahead + 1, self.epoch);
                let mut partial = self.log().create_snapshot(id).unwrap().unwrap();
                partial.append(&snapshot(id.epoch.0, None)).unwrap();
                self.log().install_snapshot(partial).unwrap();
                self.batches.clear();
                (self.start, self.durable) = (id.offset.0, id.offset.0);
            }
            Step::DropHead => {
                if let Some(last) = self.log().snapshots().last().copied() {
                    self.log().delete_before(last.id).unwrap();
                    self.start = self.start.max(last.id.offset.0);
                }
            }
            Step::Crash(seed) => self.crash(Crash::Torn(&mut Rng::new(*seed))),
            Step::LoseUnsynced => self.crash(Crash::LoseUnsynced),
        }
    }

    fn append(&mut self, count: usize, records: usize) {
        let mut base = self.end();
        let mut new = Vec::new();
        for _ in 0..count {
            new.push((base, batch(base, self.epoch, records)));
            base += records as i64;
        }
        let bytes: Vec<Bytes> = new.iter().map(|(_, bytes)| bytes.clone()).collect();
        self.log().append(&bytes).unwrap();
        self.batches.extend(new);
    }

    /// At the start of some durable batch, as the high watermark would have it.
    fn snapshot(&mut self, index: &prop::sample::Index) {
        let (start, durable) = (self.start, self.durable);
        let ends: Vec<i64> = self.batches.iter().map(|(base, _)| *base).collect();
        let ends: Vec<i64> = ends
            .into_iter()
            .filter(|end| (start + 1..=durable).contains(end))
            .collect();
        if ends.is_empty() {
            return;
        }
        let end = Offset(ends[index.index(ends.len())]);
        let epochs = self.log().epochs();
        let before = epochs.iter().rev().find(|(_, start)| *start < end);
        let id = OffsetAndEpoch {
            offset: end,
            epoch: before.map_or(Epoch(0), |(epoch, _)| *epoch),
        };
        if let Some(mut partial) = self.log().create_snapshot(id).unwrap() {
            partial.append(&snapshot(id.epoch.0, None)).unwrap();
            self.log().publish_snapshot(partial).unwrap();
        }
    }

    fn crash(&mut self, crash: Crash<'_>) {
        self.disk.crash(crash);
        self.log = None;
        let (log, found) = open_with(&self.disk, small_segments()).unwrap();
        assert!(
            found.end.0 >= self.durable,
            "{} < {}",
            found.end,
            self.durable
        );
        assert!(found.log_start.0 <= self.start);
        let read = bytes_of(&read_all(&log.reader()));
        let first = found.log_start.0;
        let kept = |(base, _): &&(i64, Bytes)| (first..found.end.0).contains(base);
        let wanted: Vec<u8> = self
            .batches
            .iter()
            .filter(kept)
            .flat_map(|(_, bytes)| bytes.to_vec())
            .collect();
        assert_eq!(read, wanted, "what is there is what was written");
        if self.epoch > 0 {
            assert_eq!(found.election, Election::Known(self.vote()));
        }
        self.batches.retain(|(base, _)| *base < found.end.0);
        self.durable = found.end.0;
        self.start = first;
        self.log = Some(log);
    }

    fn vote(&self) -> QuorumState {
        QuorumState {
            epoch: Epoch(self.epoch),
            ..QuorumState::default()
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn a_crash_loses_nothing_synced_and_invents_nothing(steps in steps(), seed: u64) {
        let mut model = Model::new();
        // A node has a vote before it has a log.
        model.step(&Step::NextEpoch);
        for step in &steps {
            model.step(step);
        }
        model.step(&Step::Crash(seed));
    }
}

/// Runs a change of a log of eight segments whose power is cut at its n-th sync, for every n and
/// several ways to be torn; `check` sees what is found afterwards, and how much of the log it is.
fn cut_off_in(change: impl Fn(&mut MetadataLog), check: impl Fn(&Recovered, &str)) {
    for good in 0..40 {
        for seed in 0..8 {
            let mut model = Model::new();
            model.step(&Step::NextEpoch);
            for _ in 0..8 {
                model.step(&Step::Append {
                    count: 1,
                    records: 20,
                });
            }
            model.step(&Step::Sync);
            let id = OffsetAndEpoch::new(80, 1);
            let mut partial = model.log().create_snapshot(id).unwrap().unwrap();
            partial.append(&snapshot(1, None)).unwrap();
            model.log().publish_snapshot(partial).unwrap();
            model.disk.fail_syncs(good, u64::MAX);
            change(model.log());
            let crash = Crash::Torn(&mut Rng::new(seed));
            model.disk.crash(crash);
            model.log = None;
            let at = format!("sync {good}, seed {seed}");
            let (log, found) = open_with(&model.disk, small_segments())
                .unwrap_or_else(|error| panic!("{at}: {error}"));
            let read = bytes_of(&read_all(&log.reader()));
            let inside =
                |(base, _): &&(i64, Bytes)| (found.log_start.0..found.end.0).contains(base);
            let kept = model.batches.iter().filter(inside);
            let wanted: Vec<u8> = kept.flat_map(|(_, bytes)| bytes.to_vec()).collect();
            assert_eq!(read, wanted, "{at}");
            check(&found, &at);
        }
    }
}

#[test]
fn a_cut_that_is_cut_off_leaves_a_log_without_gaps() {
    cut_off_in(
        |log| drop(log.truncate(Offset(90))),
        |found, at| {
            assert!((Offset(80)..=Offset(160)).contains(&found.end), "{at}");
            assert_eq!(found.log_start, Offset(0), "{at}");
        },
    );
}

#[test]
fn a_head_whose_deletion_is_cut_off_leaves_a_log_without_gaps() {
    cut_off_in(
        |log| drop(log.delete_before(OffsetAndEpoch::new(80, 1))),
        |found, at| {
            assert!(found.log_start <= Offset(80), "{at}");
            assert_eq!(found.end, Offset(160), "{at}");
        },
    );
}

#[test]
fn an_installation_that_is_cut_off_leaves_the_old_log_or_the_snapshot() {
    let id = OffsetAndEpoch::new(100, 7);
    cut_off_in(
        |log| {
            let mut partial = log.create_snapshot(id).unwrap().unwrap();
            partial.append(&snapshot(7, None)).unwrap();
            drop(log.install_snapshot(partial));
        },
        |found, at| {
            let installed = found.latest_snapshot() == Some(id);
            let wanted = if installed { (100, 100) } else { (0, 160) };
            assert_eq!((found.log_start.0, found.end.0), wanted, "{at}");
        },
    );
}

#[test]
fn a_snapshot_that_is_cut_off_is_there_whole_or_not_at_all() {
    let id = OffsetAndEpoch::new(100, 1);
    cut_off_in(
        |log| {
            let mut partial = log.create_snapshot(id).unwrap().unwrap();
            partial.append(&snapshot(1, None)).unwrap();
            drop(log.publish_snapshot(partial));
        },
        |found, at| {
            assert_eq!(found.end, Offset(160), "{at}");
            let bad = |note: &Note| matches!(note, Note::BadSnapshot { .. });
            assert!(!found.notes.iter().any(bad), "{at}");
        },
    );
}
