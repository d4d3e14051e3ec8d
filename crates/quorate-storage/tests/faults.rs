//! Full disks and failing syncs: nothing is acknowledged that is not there, and nothing goes on as if
//! nothing had happened.

mod common;

use bytes::Bytes;
use common::*;
use quorate_storage::vfs::{Crash, MemVfs};
use quorate_storage::{Election, MetadataLog, QuorumState, StorageError};
use quorate_types::{Epoch, KRaftVersion, Offset, OffsetAndEpoch};

fn vote(epoch: i32) -> QuorumState {
    QuorumState {
        epoch: Epoch(epoch),
        ..QuorumState::default()
    }
}

/// A log that ends at 3, and all synced.
fn log(disk: &MemVfs) -> MetadataLog {
    let (mut log, _) = open_with(disk, small_segments()).unwrap();
    log.save_election(&vote(1), KRaftVersion::DYNAMIC).unwrap();
    log.append(&[batch(0, 1, 1), batch(1, 1, 1), batch(2, 1, 1)])
        .unwrap();
    log.sync().unwrap();
    log
}

fn all_refused(log: &mut MetadataLog) {
    assert!(log.is_stopped());
    let end = log.end().0;
    let stopped = |error: StorageError| matches!(error, StorageError::Stopped { .. });
    assert!(stopped(log.append(&[batch(end, 9, 1)]).unwrap_err()));
    assert!(stopped(log.sync().unwrap_err()));
    assert!(stopped(log.truncate(Offset(0)).unwrap_err()));
    assert!(stopped(
        log.save_election(&vote(9), KRaftVersion::DYNAMIC)
            .unwrap_err()
    ));
    assert!(stopped(
        log.create_snapshot(OffsetAndEpoch::new(1, 1)).unwrap_err()
    ));
    assert!(stopped(
        log.delete_before(OffsetAndEpoch::new(1, 1)).unwrap_err()
    ));
}

#[test]
fn a_sync_that_failed_is_the_end() {
    let disk = MemVfs::new();
    let mut log = log(&disk);
    log.append(&[batch(3, 1, 1)]).unwrap();
    disk.fail_syncs(0, 1);
    let error = log.sync().unwrap_err();
    assert!(
        error
            .to_string()
            .contains("cannot sync /data/__cluster_metadata-0/"),
        "{error}"
    );
    // The next sync of the disk would succeed, without the bytes.
    all_refused(&mut log);
    assert!(log.close().is_err());
    disk.crash(Crash::LoseUnsynced);
    assert_eq!(open(&disk).unwrap().1.end, Offset(3));
}

#[test]
fn a_full_disk_in_the_middle_of_a_batch_leaves_a_torn_tail() {
    let size = batch(3, 1, 1).len() as u64;
    for space in 0..size {
        let disk = MemVfs::new();
        let mut log = log(&disk);
        disk.set_space_left(Some(space));
        let error = log.append(&[batch(3, 1, 1)]).unwrap_err();
        assert!(matches!(error, StorageError::Io { .. }), "{error}");
        assert_eq!(log.end(), Offset(3), "not counted");
        disk.set_space_left(None);
        all_refused(&mut log);
        drop(log);
        // Killed and started again, with space.
        let (mut log, found) = open_with(&disk, small_segments()).unwrap();
        assert_eq!(found.end, Offset(3));
        log.append(&[batch(3, 1, 1)]).unwrap();
        log.sync().unwrap();
        assert_eq!(read_all(&log.reader()).len(), 4);
    }
}

#[test]
fn whatever_fails_while_it_grows_what_was_synced_is_there() {
    for good in 0..12 {
        let disk = MemVfs::new();
        let mut log = log(&disk);
        disk.fail_syncs(good, 1);
        let mut durable = 3;
        for base in 3..20 {
            let done = log
                .append(&[batch(base, 1 + base as i32 / 4, 1)])
                .and_then(|_| log.sync());
            match done {
                Ok(end) => durable = end.0,
                Err(_) => {
                    all_refused(&mut log);
                    break;
                }
            }
        }
        assert!(durable < 20 && log.is_stopped(), "{good} good syncs");
        disk.crash(Crash::LoseUnsynced);
        let (log, found) = open(&disk).unwrap();
        assert!(
            found.end >= Offset(durable),
            "{good}: {} < {durable}",
            found.end
        );
        assert_eq!(read_all(&log.reader()).len() as i64, found.end.0);
    }
}

#[test]
fn a_vote_that_could_not_be_saved_leaves_the_old_one() {
    for good in 0..2 {
        let disk = MemVfs::new();
        let mut log = log(&disk);
        disk.fail_syncs(good, 1);
        assert!(log.save_election(&vote(2), KRaftVersion::DYNAMIC).is_err());
        all_refused(&mut log);
        disk.crash(Crash::LoseUnsynced);
        assert_eq!(open(&disk).unwrap().1.election, Election::Known(vote(1)));
    }
    let disk = MemVfs::new();
    let mut log = log(&disk);
    disk.set_space_left(Some(20));
    assert!(log.save_election(&vote(2), KRaftVersion::DYNAMIC).is_err());
    drop(log);
    disk.set_space_left(None);
    assert_eq!(open(&disk).unwrap().1.election, Election::Known(vote(1)));
}

#[test]
fn a_snapshot_that_finds_no_space_leaves_the_log_alone() {
    let disk = MemVfs::new();
    let mut log = log(&disk);
    let mut partial = log
        .create_snapshot(OffsetAndEpoch::new(2, 1))
        .unwrap()
        .unwrap();
    disk.set_space_left(Some(10));
    assert!(partial.append(&snapshot(1, None)).is_err());
    disk.set_space_left(None);
    log.discard_snapshot(partial).unwrap();
    let mut partial = log
        .create_snapshot(OffsetAndEpoch::new(2, 1))
        .unwrap()
        .unwrap();
    partial.append(&snapshot(1, None)).unwrap();
    disk.fail_syncs(0, 1);
    assert!(log.publish_snapshot(partial).is_err());
    assert_eq!(log.snapshots(), []);
    assert!(!log.is_stopped(), "the file was never seen");
    log.append(&[batch(3, 1, 1)]).unwrap();
    log.sync().unwrap();
}

#[test]
fn a_failed_cut_is_no_cut() {
    for good in 0..2 {
        let disk = MemVfs::new();
        let mut log = log(&disk);
        log.append(&(3..9).map(|base| batch(base, 1, 1)).collect::<Vec<Bytes>>())
            .unwrap();
        log.sync().unwrap();
        disk.fail_syncs(good, 1);
        assert!(log.truncate(Offset(1)).is_err(), "{good}");
        all_refused(&mut log);
        disk.crash(Crash::LoseUnsynced);
        let (log, found) = open(&disk).unwrap();
        assert!(found.end > Offset(1) && found.notes.is_empty());
        assert_eq!(read_all(&log.reader()).len() as i64, found.end.0);
    }
}
