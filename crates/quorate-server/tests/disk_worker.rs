//! What a disk worker promises to have on disk, and when.

use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use quorate_protocol::batch::encode_data_batch;
use quorate_raft::DiskSeq;
use quorate_server::boot::take_shutdown_note;
use quorate_server::disk::{DiskDone, DiskJob, DiskOp, DiskWorker};
use quorate_storage::vfs::{Crash, MemVfs};
use quorate_storage::{LogConfig, MetadataLog};
use quorate_types::{BrokerEpoch, Epoch, Offset, WallTime};

fn open(disk: &MemVfs) -> MetadataLog {
    let opened = MetadataLog::open(
        Arc::new(disk.clone()),
        Path::new("/d"),
        LogConfig::default(),
    );
    opened.expect("the log can be opened").0
}

fn append(seq: u64, at: i64) -> DiskJob {
    let batch = encode_data_batch(Offset(at), Epoch(1), WallTime(0), &[Bytes::from("record")]);
    DiskJob::Write {
        seq: DiskSeq(seq),
        op: DiskOp::Append {
            batches: vec![batch.expect("a small batch")],
        },
    }
}

/// Appends two batches in one round and says what the worker reports.
fn append_two(worker: &mut DiskWorker) -> Vec<DiskDone> {
    worker.run(vec![append(1, 0), append(2, 1)])
}

fn end_after_power_failure(disk: &MemVfs, worker: DiskWorker) -> Offset {
    drop(worker);
    disk.crash(Crash::LoseUnsynced);
    open(disk).end()
}

#[test]
fn what_is_reported_as_durable_survives_a_power_failure() {
    let disk = MemVfs::new();
    let mut worker = DiskWorker::new(open(&disk));
    let syncs = disk.syncs();
    let done = append_two(&mut worker);
    assert!(matches!(done[..], [DiskDone::Durable { upto: DiskSeq(2) }]));
    assert_eq!(disk.syncs(), syncs + 1, "one sync for the whole round");
    assert!(!worker.is_unsettled());
    assert_eq!(end_after_power_failure(&disk, worker), Offset(2));
}

#[test]
fn an_observer_syncs_appends_only_when_it_settles() {
    let disk = MemVfs::new();
    let mut worker = DiskWorker::of_observer(open(&disk));
    let syncs = disk.syncs();
    let done = append_two(&mut worker);
    assert!(matches!(done[..], [DiskDone::Durable { upto: DiskSeq(2) }]));
    assert_eq!(disk.syncs(), syncs);
    assert!(worker.is_unsettled());
    assert!(worker.settle().is_none());
    assert!(!worker.is_unsettled());
    assert_eq!(disk.syncs(), syncs + 1);
    assert_eq!(end_after_power_failure(&disk, worker), Offset(2));
}

#[test]
fn an_observer_starts_again_after_a_power_failure_that_took_its_tail() {
    let disk = MemVfs::new();
    let mut worker = DiskWorker::of_observer(open(&disk));
    append_two(&mut worker);
    assert_eq!(end_after_power_failure(&disk, worker), Offset(0));
}

#[test]
fn an_observer_says_when_it_cannot_settle_and_writes_no_more() {
    let disk = MemVfs::new();
    let mut worker = DiskWorker::of_observer(open(&disk));
    append_two(&mut worker);
    disk.fail_syncs(0, 1);
    let failed = worker.settle();
    assert!(
        matches!(
            failed,
            Some(DiskDone::Failed {
                seq: DiskSeq(2),
                ..
            })
        ),
        "{failed:?}"
    );
    assert!(worker.run(vec![append(3, 2)]).is_empty());
    assert!(!worker.is_unsettled());
}

#[test]
fn a_note_of_a_clean_shutdown_is_left_when_the_files_are_closed_and_read_once() {
    let disk = MemVfs::new();
    let dir = Path::new("/d");
    let note = || take_shutdown_note(&disk, dir).expect("the note can be removed");
    let epoch = BrokerEpoch(42);

    let mut worker =
        DiskWorker::of_observer(open(&disk)).noting_in(Arc::new(disk.clone()), dir.into());
    worker.run(vec![append(1, 0), DiskJob::NoteCleanShutdown { epoch }]);
    assert_eq!(note(), None, "not before everything is closed");
    worker.close().expect("the log can be closed");
    disk.crash(Crash::LoseUnsynced);
    assert_eq!(note(), Some(epoch));
    disk.crash(Crash::LoseUnsynced);
    assert_eq!(note(), None, "it speaks of the last process only");

    let worker = DiskWorker::of_observer(open(&disk)).noting_in(Arc::new(disk.clone()), dir.into());
    worker.close().expect("the log can be closed");
    assert_eq!(note(), None, "nobody was let go");
}
