//! When a node writes a snapshot of its own, and how one is made without holding anybody up.
//!
//! 1. Log that was applied is counted, whoever wrote it and in whatever role.
//! 2. When an image was published, and enough was counted or the last snapshot is old, one begins.
//! 3. Batches are encoded one by one, each when the disk has written the one before; meanwhile the
//!    image goes on changing and the log growing.
//! 4. The whole file is synced and named, and Raft may serve it.
//! 5. Once a minute the disk drops old snapshots and the log that the next ones stand for.
//!
//! A snapshot that cannot be written is given up with a warning, and the next one waits until it is
//! due again.

use std::collections::VecDeque;
use std::time::Duration;

use bytes::Bytes;
use quorate_metadata::{MetadataImage, SnapshotFile, SnapshotTrigger};
use quorate_protocol::snapshot::SnapshotHeader;
use quorate_storage::Retention;
use quorate_types::{MonoTime, Offset, OffsetAndEpoch};

use crate::disk::DiskJob;
use crate::io::Now;

/// How often old snapshots are looked for.
const CLEAN_EVERY: Duration = Duration::from_secs(60);

/// When snapshots are written and dropped; the defaults are Kafka's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SnapshotConfig {
    /// `metadata.log.max.record.bytes.between.snapshots`; 0 for never.
    pub max_bytes: u64,
    /// `metadata.log.max.snapshot.interval.ms`; 0 for never.
    pub max_age: Duration,
    /// `metadata.max.retention.bytes` and `metadata.max.retention.ms`.
    pub retention: Retention,
    /// How often old ones are looked for.
    pub clean_every: Duration,
}

impl Default for SnapshotConfig {
    fn default() -> SnapshotConfig {
        SnapshotConfig {
            max_bytes: SnapshotTrigger::DEFAULT_MAX_BYTES,
            max_age: SnapshotTrigger::DEFAULT_MAX_AGE,
            retention: Retention::default(),
            clean_every: CLEAN_EVERY,
        }
    }
}

/// A step in writing a snapshot file.
#[derive(Debug, Clone)]
pub enum SnapshotStep {
    /// Start the file with these bytes.
    Begin(Bytes),
    /// Append these bytes.
    Piece(Bytes),
    /// The file is whole: make it durable and visible.
    Finish,
}

/// What came of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SnapshotProgress {
    /// It was written.
    Written,
    /// The snapshot is there.
    Published {
        /// Its size in bytes.
        size: u64,
    },
    /// The snapshot is not wanted any more: there is one of that id, or a later one has taken the
    /// log's place.
    Obsolete,
}

/// What the disk dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cleaned {
    /// The new start of the log.
    pub log_start: Offset,
    /// The earliest snapshot left.
    pub earliest: OffsetAndEpoch,
}

/// What is to be done next about the snapshot that is being written.
#[derive(Debug)]
pub(crate) enum Next {
    /// Ask the disk for this.
    Job(DiskJob),
    /// It is there.
    Published { size: u64 },
    /// It was given up without a reason to tell.
    Over,
    /// It was given up.
    Failed(String),
}

/// Decides when to write, and writes.
#[derive(Debug)]
pub(crate) struct Snapshots {
    config: SnapshotConfig,
    trigger: SnapshotTrigger,
    tally: Tally,
    writing: Option<Writing>,
    clean_at: MonoTime,
}

#[derive(Debug)]
struct Writing {
    id: OffsetAndEpoch,
    file: SnapshotFile,
}

impl Snapshots {
    /// For a log that ends at `end` when the node starts.
    pub(crate) fn new(config: SnapshotConfig, end: Offset, now: MonoTime) -> Snapshots {
        Snapshots {
            trigger: SnapshotTrigger::new(config.max_bytes, config.max_age, now),
            tally: Tally::new(end),
            writing: None,
            clean_at: now + config.clean_every,
            config,
        }
    }

    /// A batch was put at the log's end.
    pub(crate) fn appended(&mut self, end: Offset, bytes: usize) {
        self.tally.appended(end, bytes as u64);
    }

    /// The log was cut.
    pub(crate) fn truncated(&mut self, end: Offset) {
        self.tally.truncated(end);
    }

    /// A batch is given to whoever applies the log.
    pub(crate) fn read(&mut self, base: Offset, end: Offset, bytes: usize) {
        let found = self.tally.read(base, end, bytes as u64);
        self.trigger.applied(found);
    }

    /// A snapshot took the log's place.
    pub(crate) fn log_emptied(&mut self) {
        self.tally = Tally::new(Offset::ZERO);
        self.give_up();
    }

    /// A snapshot was loaded, which counts as if it had been written.
    pub(crate) fn loaded(&mut self, now: MonoTime) {
        self.trigger.loaded(now);
    }

    /// What was applied up to `end` was published; whether a snapshot is due.
    pub(crate) fn published(&mut self, now: MonoTime, end: Offset) -> bool {
        let applied = self.tally.take(end);
        self.trigger.applied(applied);
        self.trigger.due(now).is_some()
    }

    /// Begins a snapshot of that image.
    pub(crate) fn begin(
        &mut self,
        now: Now,
        id: OffsetAndEpoch,
        image: MetadataImage,
        header: &SnapshotHeader,
    ) -> Next {
        self.trigger.started(now.mono);
        match SnapshotFile::new(image, header, id.epoch, now.wall) {
            Ok(file) => {
                self.writing = Some(Writing { id, file });
                self.next(SnapshotStep::Begin)
            }
            Err(error) => self.failed(&error.to_string()),
        }
    }

    /// The disk has carried out a step.
    pub(crate) fn step_done(
        &mut self,
        id: OffsetAndEpoch,
        result: Result<SnapshotProgress, String>,
    ) -> Next {
        if let Ok(SnapshotProgress::Published { size }) = result {
            self.end_of(id);
            return Next::Published { size };
        }
        if self.writing.as_ref().is_none_or(|writing| writing.id != id) {
            return Next::Over;
        }
        match result {
            Ok(SnapshotProgress::Written) => self.next(SnapshotStep::Piece),
            Ok(_) => {
                self.give_up();
                Next::Over
            }
            Err(error) => self.failed(&error),
        }
    }

    /// What the disk is to clean, if that is due.
    pub(crate) fn clean(&mut self, now: Now) -> Option<DiskJob> {
        if now.mono < self.clean_at {
            return None;
        }
        self.clean_at = now.mono + self.config.clean_every;
        Some(DiskJob::Clean {
            retention: self.config.retention.clone(),
            now: now.wall,
        })
    }

    /// When [`clean`](Snapshots::clean) is due.
    pub(crate) fn deadline(&self) -> MonoTime {
        self.clean_at
    }

    /// Encodes the next batch.
    fn next(&mut self, step: fn(Bytes) -> SnapshotStep) -> Next {
        let Some(Writing { id, file }) = &mut self.writing else {
            return Next::Over;
        };
        let id = *id;
        let step = match file.next_batch() {
            Ok(Some(batch)) => step(batch),
            Ok(None) => SnapshotStep::Finish,
            Err(error) => return self.failed(&error.to_string()),
        };
        Next::Job(DiskJob::Snapshot { id, step })
    }

    fn failed(&mut self, error: &str) -> Next {
        self.give_up();
        Next::Failed(format!("a snapshot could not be written: {error}"))
    }

    fn end_of(&mut self, id: OffsetAndEpoch) {
        if self
            .writing
            .as_ref()
            .is_some_and(|writing| writing.id == id)
        {
            self.give_up();
        }
    }

    fn give_up(&mut self) {
        self.writing = None;
        self.trigger.ended();
    }
}

/// Counts each byte of the log once, when it was applied, whether this node wrote it as leader, got
/// it from one or found it on its disk.
#[derive(Debug)]
struct Tally {
    /// Batches that were appended by this process and are not applied: where each ends, its size.
    appended: VecDeque<(Offset, u64)>,
    /// What lies before was found on disk and is counted as it is read.
    found: Offset,
    /// What lies before was read.
    read: Offset,
}

impl Tally {
    fn new(found: Offset) -> Tally {
        Tally {
            appended: VecDeque::new(),
            found,
            read: Offset::ZERO,
        }
    }

    fn appended(&mut self, end: Offset, bytes: u64) {
        self.appended.push_back((end, bytes));
    }

    fn truncated(&mut self, end: Offset) {
        while self.appended.back().is_some_and(|(last, _)| *last > end) {
            self.appended.pop_back();
        }
        self.found = self.found.min(end);
    }

    /// How many of a batch's bytes are to be counted when it is read.
    fn read(&mut self, base: Offset, end: Offset, bytes: u64) -> u64 {
        if base < self.read || end > self.found {
            return 0;
        }
        self.read = end;
        bytes
    }

    /// How many of the appended bytes are applied, up to `end`.
    fn take(&mut self, end: Offset) -> u64 {
        let mut bytes = 0;
        while let Some((last, size)) = self.appended.front().copied()
            && last <= end
        {
            bytes += size;
            self.appended.pop_front();
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use quorate_engine::Machine;
    use quorate_metadata::{KafkaMetadata, SnapshotLoader};
    use quorate_protocol::records::{TopicRecord, VersionedRecord};
    use quorate_types::{Uuid, WallTime};

    use super::*;

    const ID: OffsetAndEpoch = OffsetAndEpoch {
        offset: Offset(2500),
        epoch: quorate_types::Epoch(3),
    };
    const HEADER: SnapshotHeader = SnapshotHeader {
        last_contained: WallTime(5),
        quorum: None,
    };

    fn now() -> Now {
        Now {
            mono: MonoTime(7),
            wall: WallTime(9),
        }
    }

    fn snapshots() -> Snapshots {
        let config = SnapshotConfig {
            max_bytes: 100,
            ..SnapshotConfig::default()
        };
        Snapshots::new(config, Offset(0), MonoTime(0))
    }

    fn image() -> MetadataImage {
        let mut image = MetadataImage::default();
        for n in 0..ID.offset.0 {
            let topic = TopicRecord {
                name: format!("topic-{n}"),
                topic_id: Uuid((n as u128 + 1).to_be_bytes()),
                ..Default::default()
            };
            let record = VersionedRecord::new(0, topic);
            KafkaMetadata::apply(&mut image, &record, Offset(n)).expect("a new topic");
        }
        image
    }

    fn step(next: Next) -> SnapshotStep {
        match next {
            Next::Job(DiskJob::Snapshot { id: ID, step }) => step,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn one_piece_at_a_time_is_encoded_and_all_of_them_are_the_image() {
        let mut snapshots = snapshots();
        let image = image();
        let mut loader = SnapshotLoader::new(ID);
        let mut next = step(snapshots.begin(now(), ID, image.clone(), &HEADER));
        let mut pieces = 0;
        loop {
            match next {
                SnapshotStep::Begin(bytes) if pieces == 0 => loader.feed(bytes),
                SnapshotStep::Piece(bytes) if pieces > 0 => loader.feed(bytes),
                SnapshotStep::Finish => break,
                other => panic!("{other:?} after {pieces} pieces"),
            }
            .expect("a snapshot");
            pieces += 1;
            next = step(snapshots.step_done(ID, Ok(SnapshotProgress::Written)));
        }
        assert!(pieces >= 5, "header, some 1000 records each, footer");
        assert_eq!(loader.finish().expect("a whole file").image, image);
        let published = snapshots.step_done(ID, Ok(SnapshotProgress::Published { size: 1 }));
        assert!(matches!(published, Next::Published { size: 1 }));
    }

    #[test]
    fn no_other_is_due_while_one_is_written_nor_because_it_failed() {
        let mut snapshots = snapshots();
        snapshots.appended(Offset(5), 100);
        assert!(snapshots.published(MonoTime(1), Offset(5)));
        step(snapshots.begin(now(), ID, image(), &HEADER));
        snapshots.appended(Offset(9), 100);
        assert!(
            !snapshots.published(MonoTime(2), Offset(9)),
            "one is written"
        );
        let failed = snapshots.step_done(ID, Err("no space left".to_owned()));
        assert!(matches!(failed, Next::Failed(text) if text.contains("no space left")));
        assert!(
            snapshots.published(MonoTime(3), Offset(9)),
            "by what came since"
        );
        step(snapshots.begin(now(), ID, image(), &HEADER));
        snapshots.step_done(ID, Err("no space left".to_owned()));
        assert!(
            !snapshots.published(MonoTime(4), Offset(9)),
            "nothing came since"
        );
    }

    #[test]
    fn a_snapshot_from_the_leader_ends_the_one_that_is_written() {
        let mut snapshots = snapshots();
        step(snapshots.begin(now(), ID, image(), &HEADER));
        snapshots.log_emptied();
        let next = snapshots.step_done(ID, Ok(SnapshotProgress::Written));
        assert!(matches!(next, Next::Over));
    }

    #[test]
    fn each_byte_of_the_log_counts_once_in_whatever_role_it_is_applied() {
        let mut tally = Tally::new(Offset(10));
        assert_eq!(tally.read(Offset(0), Offset(4), 400), 400);
        assert_eq!(tally.read(Offset(0), Offset(4), 400), 0, "read again");
        tally.truncated(Offset(8));
        tally.appended(Offset(9), 7);
        tally.appended(Offset(12), 30);
        assert_eq!(tally.read(Offset(4), Offset(8), 400), 400);
        assert_eq!(tally.read(Offset(8), Offset(9), 7), 0, "not found on disk");
        assert_eq!(tally.take(Offset(8)), 0);
        assert_eq!(tally.take(Offset(9)), 7);
        assert_eq!(tally.take(Offset(12)), 30);
        assert_eq!(tally.take(Offset(12)), 0);
    }

    #[test]
    fn what_was_cut_off_never_counts() {
        let mut tally = Tally::new(Offset(0));
        tally.appended(Offset(5), 50);
        tally.appended(Offset(9), 40);
        tally.truncated(Offset(5));
        tally.appended(Offset(6), 1);
        assert_eq!(tally.take(Offset(20)), 51);
    }
}
