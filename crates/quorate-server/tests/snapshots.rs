//! Every node writes snapshots, drops what they stand for, and hands them to those that come late.

mod common;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use common::*;
use quorate_engine::Machine as _;
use quorate_metadata::{
    KafkaMetadata, LoadedSnapshot, MetadataImage, SnapshotLoader, decode_batch,
};
use quorate_protocol::batch::{BatchView, encode_data_batch};
use quorate_protocol::snapshot::{SnapshotHeader, SnapshotWriter};
use quorate_raft::DiskSeq;
use quorate_server::disk::{DiskDone, DiskJob, DiskOp, DiskWorker};
use quorate_server::events::NodeEvent;
use quorate_server::snapshots::{SnapshotConfig, SnapshotProgress, SnapshotStep};
use quorate_storage::vfs::MemVfs;
use quorate_storage::{LogConfig, LogReader, MetadataLog, Retention};
use quorate_types::{
    DirectoryId, Epoch, ErrorCode, KRaftVersion, NodeId, Offset, OffsetAndEpoch, Uuid, VoterSet,
    WallTime,
};

/// A snapshot after every few topics, and everything that they stand for dropped soon after.
fn often() -> SnapshotConfig {
    SnapshotConfig {
        max_bytes: 4096,
        clean_every: Duration::from_secs(2),
        retention: Retention {
            bytes: Some(1),
            age_ms: None,
        },
        ..SnapshotConfig::default()
    }
}

/// The same, but nothing is dropped.
fn kept() -> SnapshotConfig {
    SnapshotConfig {
        retention: Retention {
            bytes: None,
            age_ms: None,
        },
        ..often()
    }
}

/// A lab that is up and whose nodes all write snapshots like that.
fn lab(controllers: i32, brokers: i32, snapshots: &SnapshotConfig) -> Lab {
    let mut lab = Lab::new(controllers, brokers);
    let ids: Vec<NodeId> = lab.machines.keys().copied().collect();
    for id in &ids {
        lab.kill(*id);
        lab.machine(*id).snapshots = snapshots.clone();
        lab.machine(*id).idle = None;
        lab.machine(*id).log.segment_bytes = 2048;
    }
    ids.into_iter().for_each(|id| lab.start(id));
    lab.settle();
    lab
}

fn create(lab: &mut Lab, topics: std::ops::Range<usize>) {
    for number in topics {
        let active = lab.settle();
        let answer = lab.call(active, &creation(&[&format!("topic-{number}")]));
        assert_eq!(created(&answer.unwrap()), ErrorCode::None);
    }
}

/// The ends of the snapshots that a machine told of.
fn written(lab: &Lab, id: NodeId) -> Vec<OffsetAndEpoch> {
    let snapshot = |event: &NodeEvent| match event {
        NodeEvent::SnapshotWritten { id } => Some(*id),
        _ => None,
    };
    lab.machines[&id]
        .events
        .iter()
        .filter_map(snapshot)
        .collect()
}

fn ids(lab: &Lab) -> Vec<NodeId> {
    lab.machines.keys().copied().collect()
}

fn log_start(lab: &Lab, id: NodeId) -> Offset {
    lab.machines[&id].quorum().unwrap().raft().log_start()
}

fn has_dropped(lab: &Lab) -> bool {
    ids(lab).iter().all(|id| log_start(lab, *id) > Offset(0))
}

/// Lets everybody publish all there is; all images are then equal.
fn assert_equal(lab: &mut Lab) {
    let same = |lab: &Lab| {
        let ends = lab.machines.values().map(|machine| {
            let published = machine.published.as_ref();
            published.map(|published| published.end)
        });
        let ends: Vec<_> = ends.collect();
        ends.iter().all(|end| end.is_some() && *end == ends[0])
    };
    assert!(
        lab.run_until(Duration::from_secs(20), same),
        "not all there"
    );
    let images: Vec<&MetadataImage> = ids(lab).iter().map(|id| lab.image(*id).unwrap()).collect();
    assert!(images.iter().all(|image| *image == images[0]));
}

/// Opens the log of a machine that does not run.
fn reader(lab: &Lab, id: NodeId) -> LogReader {
    let disk = Arc::new(lab.machines[&id].disk.clone());
    let (log, _) = MetadataLog::open(disk, Path::new(DIR), LogConfig::default()).unwrap();
    log.reader()
}

fn batches(reader: &LogReader) -> Vec<BatchView> {
    let mut batches: Vec<BatchView> = Vec::new();
    loop {
        let from = batches.last().map_or(reader.start(), BatchView::end_offset);
        if from >= reader.end() {
            return batches;
        }
        batches.extend(reader.read(from, 1 << 20).unwrap());
    }
}

fn load(reader: &LogReader, id: OffsetAndEpoch) -> LoadedSnapshot {
    let file = reader.snapshot(id).unwrap();
    let mut loader = SnapshotLoader::new(id);
    loader.feed(file.chunk(0, u64::MAX).unwrap()).unwrap();
    loader.finish().unwrap()
}

#[test]
fn every_node_writes_what_the_log_says_up_to_a_batch_and_names_its_end_and_epoch() {
    let mut lab = lab(3, 2, &kept());
    create(&mut lab, 0..30);
    let first = lab.active().unwrap();
    lab.kill(first);
    lab.settle();
    lab.start(first);
    create(&mut lab, 30..60);
    assert_equal(&mut lab);
    lab.run_for(Duration::from_secs(1));
    for id in ids(&lab) {
        let voters = lab.machines[&id].quorum().unwrap().raft().voters().clone();
        let written = written(&lab, id);
        assert!(written.len() >= 3, "{id} wrote {written:?}");
        lab.kill(id);
        let reader = reader(&lab, id);
        let batches = batches(&reader);
        for id in written {
            let snapshot = load(&reader, id);
            let contained = batches
                .iter()
                .filter(|batch| batch.end_offset() <= id.offset);
            let mut image = MetadataImage::default();
            for batch in contained.clone() {
                let batch = decode_batch(batch).unwrap();
                for (n, record) in batch.records.iter().enumerate() {
                    KafkaMetadata::apply(&mut image, record, batch.base + n as i64).unwrap();
                }
            }
            assert!(snapshot.image == image, "{id}");
            let last = contained.last().unwrap();
            assert_eq!(id.offset, last.end_offset(), "it ends with a batch");
            assert_eq!(id.epoch, last.epoch());
            assert_eq!(snapshot.header.last_contained, last.timestamp());
            let quorum = Some((KRaftVersion::DYNAMIC, voters.clone()));
            assert_eq!(snapshot.header.quorum, quorum);
        }
    }
}

#[test]
fn the_log_before_a_snapshot_goes_and_every_node_starts_again_from_it() {
    let mut lab = lab(3, 1, &often());
    create(&mut lab, 0..40);
    assert!(lab.run_until(Duration::from_secs(10), has_dropped));
    let before = ids(&lab);
    for id in &before {
        lab.kill(*id);
    }
    for id in before {
        lab.start(id);
        let recovered = lab.machine(id).recovered.as_ref().unwrap();
        assert!(recovered.log_start > Offset(0));
        assert_eq!(recovered.snapshots.len(), 1, "the others are gone");
    }
    lab.settle();
    create(&mut lab, 40..41);
    assert_equal(&mut lab);
    let active = lab.active().unwrap();
    assert!((0..41).all(|number| lab.has_topic(active, &format!("topic-{number}"))));
}

#[test]
fn r19_what_a_leader_counted_is_not_forgotten_when_it_resigns() {
    let rarely = SnapshotConfig {
        max_bytes: 8_000,
        ..kept()
    };
    let mut lab = lab(3, 1, &rarely);
    create(&mut lab, 0..20);
    let first = lab.active().unwrap();
    assert!(written(&lab, first).is_empty(), "too early");
    let others: Vec<NodeId> = (1..=3).map(controller).filter(|id| *id != first).collect();
    for id in &others {
        lab.kill(*id);
    }
    let resigned = |lab: &Lab| lab.active() != Some(first);
    assert!(lab.run_until(Duration::from_secs(10), resigned));
    for id in &others {
        lab.start(*id);
    }
    lab.settle();
    create(&mut lab, 20..60);
    lab.run_for(Duration::from_secs(1));
    let ends = |lab: &Lab, id: NodeId| -> Vec<i64> {
        written(lab, id).iter().map(|id| id.offset.0).collect()
    };
    // All count the same bytes, those that started anew too; how many batches become one image differs a little.
    let (deposed, other) = (ends(&lab, first), ends(&lab, others[0]));
    assert_eq!(deposed.len(), other.len(), "{deposed:?} {other:?}");
    assert!(!deposed.is_empty());
    assert!((deposed[0] - other[0]).abs() <= 4, "{deposed:?} {other:?}");
}

/// A machine that was formatted just now, with a directory of its own.
fn fresh(lab: &mut Lab, id: NodeId, directory: u8) {
    let disk = MemVfs::new();
    format_disk(&disk, id, DirectoryId(Uuid([directory; 16])), None);
    let like = lab.machine(controller(1));
    let (bootstrap, snapshots) = (like.bootstrap.clone(), like.snapshots.clone());
    lab.add(id, disk, id < broker(0));
    let machine = lab.machine(id);
    machine.bootstrap = bootstrap;
    machine.snapshots = snapshots;
    machine.idle = None;
}

#[test]
fn who_comes_late_to_an_idle_quorum_gets_a_snapshot_and_reaches_its_end_without_any_write() {
    let mut lab = lab(3, 1, &often());
    create(&mut lab, 0..40);
    assert!(lab.run_until(Duration::from_secs(10), has_dropped));
    lab.run_for(Duration::from_secs(3));
    let active = lab.settle();
    let raft = |lab: &Lab, id: NodeId| {
        let raft = lab.machines[&id].quorum().unwrap().raft();
        (raft.log_end(), raft.high_watermark())
    };
    let end = raft(&lab, active);
    // An observer that is no broker: it has nothing to say to the leader before it has an image.
    let late = controller(7);
    fresh(&mut lab, late, 7);
    lab.start(late);
    let installed = |lab: &Lab| log_start(lab, late) > Offset(0);
    assert!(lab.run_until(Duration::from_secs(5), installed));
    assert_eq!(raft(&lab, active), end, "nothing was written for its sake");
    let there = |lab: &Lab| raft(lab, late).0 >= end.0;
    assert!(lab.run_until(FRAME * 20, there));
    assert_equal(&mut lab);
}

#[test]
fn a_new_broker_and_a_wiped_voter_catch_up_through_a_snapshot() {
    let mut lab = lab(3, 1, &often());
    create(&mut lab, 0..40);
    assert!(lab.run_until(Duration::from_secs(10), has_dropped));
    let active = lab.settle();
    let wiped = if active == controller(1) {
        controller(2)
    } else {
        controller(1)
    };
    lab.kill(wiped);
    // An id on another disk is nobody that voted: it comes back as an observer.
    fresh(&mut lab, wiped, 9);
    fresh(&mut lab, broker(2), 8);
    lab.start(wiped);
    lab.start(broker(2));
    lab.settle();
    create(&mut lab, 40..42);
    assert_equal(&mut lab);
    for late in [wiped, broker(2)] {
        assert!(log_start(&lab, late) > Offset(0), "{late} replayed the log");
        let raft = lab.machines[&late].quorum().unwrap().raft();
        assert!(!raft.is_voter(), "{late}");
    }
}

#[test]
fn a_broker_that_was_away_for_long_installs_a_snapshot_in_place_of_its_log() {
    let mut lab = lab(1, 2, &often());
    create(&mut lab, 0..2);
    assert_equal(&mut lab);
    let away = broker(2);
    let had = lab.machines[&away].quorum().unwrap().raft().log_end();
    lab.kill(away);
    create(&mut lab, 2..40);
    let dropped = |lab: &Lab| log_start(lab, controller(1)) > had;
    assert!(lab.run_until(Duration::from_secs(10), dropped));
    lab.start(away);
    lab.settle();
    assert_equal(&mut lab);
    assert!(log_start(&lab, away) > had);
    // It goes on from there: with the log, and with snapshots of its own.
    let own = written(&lab, away).len();
    create(&mut lab, 40..70);
    assert_equal(&mut lab);
    lab.run_for(Duration::from_secs(1));
    assert!(written(&lab, away).len() > own);
}

#[test]
fn snapshots_come_with_time_too_and_not_at_all_where_both_are_off() {
    let by_time = SnapshotConfig {
        max_bytes: 0,
        max_age: Duration::from_secs(10),
        ..kept()
    };
    let mut lab = lab(1, 1, &by_time);
    create(&mut lab, 0..1);
    let nobody: Vec<OffsetAndEpoch> = Vec::new();
    assert_eq!(written(&lab, controller(1)), nobody, "too early");
    lab.run_for(Duration::from_secs(11));
    assert_eq!(
        written(&lab, controller(1)),
        nobody,
        "nothing was published"
    );
    create(&mut lab, 1..3);
    lab.run_for(Duration::from_secs(1));
    for id in ids(&lab) {
        assert_eq!(written(&lab, id).len(), 1, "{id}");
    }

    let never = SnapshotConfig {
        max_bytes: 0,
        max_age: Duration::ZERO,
        ..kept()
    };
    let mut lab = self::lab(1, 1, &never);
    create(&mut lab, 0..30);
    lab.run_for(Duration::from_secs(30));
    create(&mut lab, 30..31);
    for id in ids(&lab) {
        assert_eq!(written(&lab, id), nobody, "{id}");
    }
}

/// A worker on a log of three records.
fn worker(disk: &MemVfs) -> DiskWorker {
    let disk = Arc::new(disk.clone());
    let (log, _) = MetadataLog::open(disk, Path::new(DIR), LogConfig::default()).unwrap();
    let mut worker = DiskWorker::new(log);
    let done = worker.run((0..3).map(append).collect());
    assert!(matches!(done[..], [DiskDone::Durable { .. }]));
    worker
}

fn append(n: i64) -> DiskJob {
    let values = [Bytes::from_static(b"record")];
    let batch = encode_data_batch(Offset(n), Epoch(1), WallTime(5), &values).unwrap();
    DiskJob::Write {
        seq: DiskSeq(n as u64 + 1),
        op: DiskOp::Append {
            batches: vec![batch],
        },
    }
}

const ID: OffsetAndEpoch = OffsetAndEpoch {
    offset: Offset(3),
    epoch: Epoch(1),
};

fn file() -> (Bytes, Bytes) {
    let header = SnapshotHeader {
        last_contained: WallTime(5),
        quorum: Some((KRaftVersion::DYNAMIC, VoterSet::default())),
    };
    let (writer, first) = SnapshotWriter::new(ID.epoch, &header, WallTime(9)).unwrap();
    (first, writer.finish(WallTime(9)).unwrap())
}

fn step(worker: &mut DiskWorker, step: SnapshotStep) -> Result<SnapshotProgress, String> {
    match worker
        .run(vec![DiskJob::Snapshot { id: ID, step }])
        .remove(0)
    {
        DiskDone::Snapshot { id: ID, result } => result,
        other => panic!("{other:?}"),
    }
}

fn partial_files(disk: &MemVfs) -> usize {
    let is_part = |path: &Path| {
        path.extension()
            .is_some_and(|extension| extension == "part")
    };
    disk.files()
        .iter()
        .filter(|(path, _)| is_part(path))
        .count()
}

#[test]
fn a_snapshot_that_cannot_be_written_is_given_up_and_the_log_goes_on() {
    let disk = MemVfs::new();
    let mut worker = worker(&disk);
    let (first, last) = file();
    let written = step(&mut worker, SnapshotStep::Begin(first.clone()));
    assert_eq!(written, Ok(SnapshotProgress::Written));
    let error = step(&mut worker, SnapshotStep::Finish).unwrap_err();
    assert!(error.contains(".checkpoint"), "{error}");
    let after = step(&mut worker, SnapshotStep::Piece(last.clone()));
    assert_eq!(after, Ok(SnapshotProgress::Obsolete));
    assert_eq!(partial_files(&disk), 0, "no leftovers");

    step(&mut worker, SnapshotStep::Begin(first)).unwrap();
    disk.set_space_left(Some(0));
    step(&mut worker, SnapshotStep::Piece(last)).unwrap_err();
    disk.set_space_left(None);
    assert_eq!(partial_files(&disk), 0, "no leftovers");
    let done = worker.run(vec![append(3)]);
    assert!(matches!(done[..], [DiskDone::Durable { .. }]), "{done:?}");
}

#[test]
fn a_snapshot_is_there_once_and_an_older_one_never_appears_behind_it() {
    let disk = MemVfs::new();
    let mut worker = worker(&disk);
    let (first, last) = file();
    step(&mut worker, SnapshotStep::Begin(first.clone())).unwrap();
    step(&mut worker, SnapshotStep::Piece(last)).unwrap();
    let size = disk_size(&disk);
    let published = step(&mut worker, SnapshotStep::Finish);
    assert_eq!(published, Ok(SnapshotProgress::Published { size }));
    let again = step(&mut worker, SnapshotStep::Begin(first));
    assert_eq!(again, Ok(SnapshotProgress::Obsolete));
    assert_eq!(partial_files(&disk), 0);
}

fn disk_size(disk: &MemVfs) -> u64 {
    let files: BTreeMap<_, _> = disk.files().into_iter().collect();
    let part = files
        .iter()
        .find(|(path, _)| path.to_string_lossy().ends_with(".part"));
    part.unwrap().1.len() as u64
}

#[test]
fn a_snapshot_from_the_leader_ends_the_one_that_is_being_written() {
    let disk = MemVfs::new();
    let mut worker = worker(&disk);
    let (first, last) = file();
    step(&mut worker, SnapshotStep::Begin(first.clone())).unwrap();
    let id = OffsetAndEpoch::new(10, 1);
    let bytes = Bytes::from([&first[..], &last[..]].concat());
    let write = |n, op| DiskJob::Write {
        seq: DiskSeq(n),
        op,
    };
    let chunk = DiskOp::SnapshotChunk {
        id,
        position: 0,
        bytes,
    };
    let install = DiskOp::InstallSnapshot { id };
    let done = worker.run(vec![write(4, chunk), write(5, install)]);
    assert!(matches!(done[..], [DiskDone::Installed { .. }]), "{done:?}");
    assert_eq!(
        step(&mut worker, SnapshotStep::Piece(last)),
        Ok(SnapshotProgress::Obsolete)
    );
    assert_eq!(
        step(&mut worker, SnapshotStep::Begin(first)),
        Ok(SnapshotProgress::Obsolete),
        "it ends before the log begins"
    );
    assert_eq!(partial_files(&disk), 0);
}

#[test]
fn who_asked_for_records_that_were_dropped_meanwhile_gets_none() {
    let disk = MemVfs::new();
    let mut worker = worker(&disk);
    let (first, last) = file();
    let steps = [
        SnapshotStep::Begin(first),
        SnapshotStep::Piece(last),
        SnapshotStep::Finish,
    ];
    for next in steps {
        step(&mut worker, next).unwrap();
    }
    drop(worker);
    let files = Arc::new(disk.clone());
    let (mut log, _) = MetadataLog::open(files, Path::new(DIR), LogConfig::default()).unwrap();
    log.delete_before(ID).unwrap();
    let mut worker = DiskWorker::new(log);
    let read = DiskJob::Read {
        token: 1,
        from: Offset(1),
        max_bytes: 1 << 20,
    };
    match worker.run(vec![read]).remove(0) {
        DiskDone::Read { result, .. } => assert_eq!(result, Ok(Vec::new())),
        other => panic!("{other:?}"),
    }
}
