//! Appending, reading, rolling, cutting and snapshots of a log that nothing happens to.

mod common;

use std::path::Path;

use bytes::Bytes;
use common::*;
use proptest::prelude::*;
use quorate_storage::vfs::{Crash, MemVfs, Vfs};
use quorate_storage::{LogConfig, MetadataLog, Retention, SnapshotInfo, StorageError};
use quorate_types::{Epoch, Offset, OffsetAndEpoch, VoterSet, WallTime};

/// A log of single-record batches, a segment each.
fn log_of_segments(disk: &MemVfs, count: i64) -> MetadataLog {
    let config = LogConfig {
        segment_bytes: 1,
        ..LogConfig::default()
    };
    let (mut log, _) = open_with(disk, config).unwrap();
    for base in 0..count {
        log.append(&[batch(base, 1, 1)]).unwrap();
    }
    log.sync().unwrap();
    log
}

fn segments(disk: &MemVfs) -> Vec<String> {
    let names = listing(disk).into_iter();
    names.filter(|name| name.ends_with(".log")).collect()
}

fn make_snapshot(log: &mut MetadataLog, end: i64, epoch: i32) -> SnapshotInfo {
    let id = OffsetAndEpoch::new(end, epoch);
    let mut partial = log.create_snapshot(id).unwrap().unwrap();
    partial.append(&snapshot(epoch, None)).unwrap();
    log.publish_snapshot(partial).unwrap().0
}

#[test]
fn what_is_appended_is_read() {
    let (mut log, _) = open(&MemVfs::new()).unwrap();
    let batches = [leader_change(0, 1), batch(1, 1, 3), batch(4, 2, 1)];
    assert_eq!(log.append(&batches).unwrap(), Offset(5));
    let reader = log.reader();
    assert_eq!(bytes_of(&read_all(&reader)), batches.concat());
    let from = |offset| reader.read(Offset(offset), 1).unwrap();
    assert_eq!(
        from(2)[0].bytes(),
        &batches[1],
        "the batch that holds the offset"
    );
    assert_eq!(from(2).len(), 1, "one at least, and no more than asked for");
    assert_eq!(reader.read(Offset(0), usize::MAX).unwrap().len(), 3);
    assert_eq!(from(5), [], "the end");
    assert_eq!(log.epochs(), [(Epoch(1), Offset(0)), (Epoch(2), Offset(4))]);
    for outside in [-1, 6] {
        let error = reader.read(Offset(outside), 1).unwrap_err();
        assert!(
            matches!(error, StorageError::OutOfRange { end: 5, .. }),
            "{error}"
        );
    }
}

#[test]
fn a_read_ends_at_the_limit_of_bytes() {
    let (mut log, _) = open(&MemVfs::new()).unwrap();
    let batches: Vec<Bytes> = (0..100).map(|base| batch(base, 1, 1)).collect();
    log.append(&batches).unwrap();
    let two = batches[3].len() + batches[4].len();
    let reader = log.reader();
    assert_eq!(reader.read(Offset(3), two).unwrap().len(), 2);
    assert_eq!(reader.read(Offset(3), two - 1).unwrap().len(), 1);
    assert_eq!(reader.read(Offset(3), 0).unwrap().len(), 1);
}

#[test]
fn a_batch_larger_than_a_read_is_read_whole() {
    let (mut log, _) = open(&MemVfs::new()).unwrap();
    let large = batch(1, 1, 20_000);
    assert!(large.len() > 200_000);
    log.append(&[batch(0, 1, 1), large.clone(), batch(20_001, 1, 1)])
        .unwrap();
    let read = log.reader().read(Offset(15_000), 100).unwrap();
    assert_eq!(read[0].bytes(), &large);
    assert_eq!(read_all(&log.reader()).len(), 3);
}

#[test]
fn batches_that_do_not_continue_the_log_are_refused_whole() {
    let disk = MemVfs::new();
    let (mut log, _) = open(&disk).unwrap();
    log.append(&[batch(0, 3, 2)]).unwrap();
    let good = batch(2, 3, 1);
    for bad in [
        batch(4, 3, 1),
        batch(2, 3, 1),
        batch(3, 2, 1),
        Bytes::new(),
        Bytes::from([&batch(3, 3, 1)[..], b"x"].concat()),
        batch(3, 3, 1).slice(..60),
    ] {
        let error = log.append(&[good.clone(), bad]).unwrap_err();
        assert!(matches!(error, StorageError::Append { .. }), "{error}");
        assert_eq!(log.end(), Offset(2));
    }
    log.append(&[good]).unwrap();
    assert_eq!(read_all(&log.reader()).len(), 2);
}

#[test]
fn segments_roll_by_size_and_by_time() {
    let disk = MemVfs::new();
    let size = batch(0, 1, 1).len() as u64;
    let config = LogConfig {
        segment_bytes: 2 * size,
        segment_ms: 100,
    };
    let (mut log, _) = open_with(&disk, config.clone()).unwrap();
    log.append(&[batch(0, 1, 1), batch(1, 1, 1), batch(2, 1, 1)])
        .unwrap();
    let names = |bases: &[i64]| {
        bases
            .iter()
            .map(|base| format!("{base:020}.log"))
            .collect::<Vec<_>>()
    };
    assert_eq!(segments(&disk), names(&[0, 2]));
    // A batch's time is its base here.
    log.append(&[batch(3, 1, 100)]).unwrap();
    assert_eq!(
        segments(&disk),
        names(&[0, 2, 3]),
        "too large, but in a segment of its own"
    );
    log.truncate(Offset(3)).unwrap();
    log.append(&[batch(3, 1, 1)]).unwrap();
    drop(log);

    let config = LogConfig {
        segment_bytes: u64::MAX,
        ..config
    };
    let (mut log, _) = open_with(&disk, config).unwrap();
    log.append(&(4..=104).map(|base| batch(base, 1, 1)).collect::<Vec<_>>())
        .unwrap();
    assert_eq!(
        segments(&disk),
        names(&[0, 2, 3, 104]),
        "100 ms after the first"
    );
    let bases: Vec<Offset> = read_all(&log.reader())
        .iter()
        .map(|batch| batch.base_offset())
        .collect();
    assert_eq!(bases, (0..105).map(Offset).collect::<Vec<_>>());
}

#[test]
fn a_completed_segment_has_the_files_that_kafka_wants() {
    let disk = MemVfs::new();
    let _log = log_of_segments(&disk, 2);
    let wanted = [
        "00000000000000000000.index",
        "00000000000000000000.log",
        "00000000000000000000.timeindex",
        "00000000000000000001.log",
        "00000000000000000001.snapshot",
        "leader-epoch-checkpoint",
        "partition.metadata",
    ];
    assert_eq!(listing(&disk), wanted);
}

#[test]
fn one_sync_is_enough_for_many_appends() {
    let disk = MemVfs::new();
    let (mut log, _) = open(&disk).unwrap();
    log.append(&[batch(0, 1, 1)]).unwrap();
    log.sync().unwrap();
    let before = disk.syncs();
    for base in 1..50 {
        log.append(&[batch(base, 1, 1)]).unwrap();
    }
    log.sync().unwrap();
    log.sync().unwrap();
    assert_eq!(disk.syncs(), before + 1);
    disk.crash(Crash::LoseUnsynced);
    assert_eq!(open(&disk).unwrap().1.end, Offset(50));
}

#[test]
fn a_cut_is_durable_and_forgets_what_was_above() {
    let disk = MemVfs::new();
    let (mut log, _) = open(&disk).unwrap();
    log.append(&[batch(0, 1, 2), batch(2, 2, 2), batch(4, 3, 2)])
        .unwrap();
    assert_eq!(log.truncate(Offset(4)).unwrap(), Offset(4));
    assert_eq!(
        log.truncate(Offset(9)).unwrap(),
        Offset(4),
        "above the end nothing goes"
    );
    assert_eq!(log.epochs(), [(Epoch(1), Offset(0)), (Epoch(2), Offset(2))]);
    assert_eq!(
        log.truncate(Offset(3)).unwrap(),
        Offset(2),
        "batches are not halved"
    );
    log.append(&[batch(2, 5, 1)]).unwrap();
    log.sync().unwrap();
    assert_eq!(
        get(&disk, &in_log("leader-epoch-checkpoint")),
        b"0\n2\n1 0\n5 2\n"
    );
    disk.crash(Crash::LoseUnsynced);
    let (log, found) = open(&disk).unwrap();
    assert_eq!(found.epochs, [(Epoch(1), Offset(0)), (Epoch(5), Offset(2))]);
    assert_eq!(read_all(&log.reader()).len(), 2);
}

#[test]
fn a_cut_may_take_segments_with_it() {
    for end in 0..=6 {
        let disk = MemVfs::new();
        let mut log = log_of_segments(&disk, 6);
        assert_eq!(log.truncate(Offset(end)).unwrap(), Offset(end));
        let left = segments(&disk).len() as i64;
        assert_eq!(left, (end + 1).min(6), "one is kept, empty, to go on in");
        disk.crash(Crash::LoseUnsynced);
        let (mut log, found) = open(&disk).unwrap();
        assert_eq!((found.end, found.notes.len()), (Offset(end), 0));
        log.append(&[batch(end, 1, 1)]).unwrap();
        assert_eq!(read_all(&log.reader()).len() as i64, end + 1);
    }
}

#[test]
fn indexes_after_a_cut_are_those_of_a_log_that_never_was_longer() {
    let batches: Vec<Bytes> = (0..400).map(|index| batch(index * 3, 1, 3)).collect();
    for kept in [0, 1, 17, 100, 399] {
        let disk = MemVfs::new();
        let (mut log, _) = open(&disk).unwrap();
        log.append(&batches).unwrap();
        log.truncate(Offset(3 * kept as i64)).unwrap();
        log.append(&batches[kept..300.max(kept)]).unwrap();
        log.close().unwrap();
        let other = MemVfs::new();
        let (mut log, _) = open(&other).unwrap();
        log.append(&batches[..300.max(kept)]).unwrap();
        log.close().unwrap();
        assert_eq!(disk.files(), other.files(), "{kept} kept");
    }
}

#[test]
fn two_processes_do_not_share_a_directory() {
    let disk = MemVfs::new();
    let (log, _) = open(&disk).unwrap();
    let error = open(&disk).unwrap_err();
    assert!(matches!(&error, StorageError::Locked { path } if path == Path::new("/data/.lock")));
    drop(log);
    open(&disk).unwrap();
}

#[test]
fn a_snapshot_appears_whole_or_not_at_all() {
    let disk = MemVfs::new();
    let (mut log, _) = open(&disk).unwrap();
    log.append(&[batch(0, 1, 5)]).unwrap();
    log.sync().unwrap();
    let id = OffsetAndEpoch::new(5, 1);
    let bytes = snapshot(1, None);
    let mut partial = log.create_snapshot(id).unwrap().unwrap();
    for piece in bytes.chunks(50) {
        assert_eq!(log.snapshots(), []);
        partial.append(&Bytes::copy_from_slice(piece)).unwrap();
    }
    assert_eq!(partial.size(), bytes.len() as u64);
    let (info, header) = log.publish_snapshot(partial).unwrap();
    assert_eq!((info.id, info.size), (id, bytes.len() as u64));
    assert_eq!(header.last_contained.0, 77);
    assert!(log.create_snapshot(id).unwrap().is_none(), "there already");
    disk.crash(Crash::LoseUnsynced);
    let (log, found) = open(&disk).unwrap();
    assert_eq!(found.snapshots, [info]);
    let file = log.reader().snapshot(id).unwrap();
    let chunks: Vec<Bytes> = (0..bytes.len())
        .step_by(70)
        .map(|at| file.chunk(at as u64, 70).unwrap())
        .collect();
    assert_eq!(chunks.concat(), bytes);
    assert_eq!(file.chunk(bytes.len() as u64, 70).unwrap(), Bytes::new());
    assert_eq!(file.parts().count(), 3);
    let missing = OffsetAndEpoch::new(4, 1);
    assert!(matches!(
        log.reader().snapshot(missing),
        Err(StorageError::NoSnapshot { .. })
    ));
}

#[test]
fn half_a_snapshot_is_never_published() {
    let disk = MemVfs::new();
    let (mut log, _) = open(&disk).unwrap();
    let id = OffsetAndEpoch::new(0, 1);
    let bytes = snapshot(1, None);
    let mut partial = log.create_snapshot(id).unwrap().unwrap();
    partial.append(&bytes.slice(..bytes.len() - 1)).unwrap();
    let error = log.publish_snapshot(partial).unwrap_err();
    assert!(matches!(error, StorageError::Unfinished { .. }), "{error}");
    let mut partial = log.create_snapshot(id).unwrap().unwrap();
    let error = partial.append(&bytes.slice(1..)).unwrap_err();
    assert!(matches!(error, StorageError::Snapshot { .. }), "{error}");
    log.discard_snapshot(partial).unwrap();
    assert_eq!(log.snapshots(), []);
    log.append(&[batch(0, 1, 1)]).unwrap();
    drop(log);
    let (_, found) = open(&disk).unwrap();
    assert_eq!(
        (found.notes.len(), found.snapshots.len()),
        (0, 0),
        "neither left a part file"
    );
}

#[test]
fn an_installed_snapshot_stands_for_the_log() {
    let disk = MemVfs::new();
    let mut log = log_of_segments(&disk, 5);
    make_snapshot(&mut log, 3, 1);
    let voters = VoterSet::of_ids([1, 2]);
    let id = OffsetAndEpoch::new(300, 4);
    let mut partial = log.create_snapshot(id).unwrap().unwrap();
    partial.append(&snapshot(4, Some(voters.clone()))).unwrap();
    let (info, header) = log.install_snapshot(partial).unwrap();
    assert_eq!(header.quorum.unwrap().1, voters);
    assert_eq!((log.start(), log.end()), (Offset(300), Offset(300)));
    assert_eq!((log.snapshots(), log.epochs()), (vec![info], vec![]));
    assert_eq!(segments(&disk).len(), 1);
    log.append(&[batch(300, 4, 2)]).unwrap();
    log.sync().unwrap();
    disk.crash(Crash::LoseUnsynced);
    let (log, found) = open(&disk).unwrap();
    assert_eq!((found.log_start, found.end), (Offset(300), Offset(302)));
    assert_eq!((found.snapshots, found.notes), (vec![info], vec![]));
    assert_eq!(found.control.len(), 2);
    assert!(found.control.iter().all(|(at, _)| *at == Offset(299)));
    assert_eq!(read_all(&log.reader()).len(), 1);
}

#[test]
fn the_head_goes_behind_a_snapshot() {
    let disk = MemVfs::new();
    let mut log = log_of_segments(&disk, 6);
    let early = make_snapshot(&mut log, 2, 1);
    let late = make_snapshot(&mut log, 4, 1);
    let held = log.reader().snapshot(early.id).unwrap();
    log.delete_before(late.id).unwrap();
    assert_eq!((log.start(), log.end()), (Offset(4), Offset(6)));
    assert_eq!((log.snapshots(), segments(&disk).len()), (vec![late], 2));
    assert_eq!(log.epochs(), [(Epoch(1), Offset(4))]);
    assert!(matches!(
        log.reader().read(Offset(3), 1),
        Err(StorageError::OutOfRange { start: 4, .. })
    ));
    assert_eq!(read_all(&log.reader()).len(), 2);
    assert!(held.chunk(0, 10).is_ok(), "an open snapshot stays readable");
    log.delete_before(late.id).unwrap();
    assert!(log.delete_before(early.id).is_err());
    disk.crash(Crash::LoseUnsynced);
    let (_, found) = open(&disk).unwrap();
    assert_eq!(
        (found.log_start, found.end, found.snapshots),
        (Offset(4), Offset(6), vec![late])
    );
}

#[test]
fn cleaning_keeps_the_latest_snapshot_and_what_the_limits_allow() {
    let disk = MemVfs::new();
    let nothing = Retention {
        bytes: None,
        age_ms: None,
    };
    // The snapshots here say that their last record is of 77 ms.
    let age = |age_ms| Retention {
        age_ms: Some(age_ms),
        ..nothing.clone()
    };
    let mut log = log_of_segments(&disk, 9);
    let first = make_snapshot(&mut log, 2, 1);
    assert_eq!(
        log.clean(&age(0), WallTime(1000)).unwrap(),
        None,
        "the only one"
    );
    let second = make_snapshot(&mut log, 4, 1);
    let third = make_snapshot(&mut log, 6, 1);
    assert_eq!(log.clean(&nothing, WallTime(1000)).unwrap(), None);
    assert_eq!(log.clean(&age(923), WallTime(1000)).unwrap(), None);
    assert_eq!(log.snapshots(), [first, second, third]);
    let bytes = Retention {
        bytes: Some(log.size() + 3 * first.size - 1),
        ..nothing.clone()
    };
    assert_eq!(log.clean(&bytes, WallTime(1000)).unwrap(), Some(second.id));
    assert_eq!(
        (log.start(), log.snapshots()),
        (Offset(4), vec![second, third])
    );
    assert_eq!(
        log.clean(&bytes, WallTime(1000)).unwrap(),
        None,
        "small enough now"
    );
    assert_eq!(
        log.clean(&age(922), WallTime(1000)).unwrap(),
        Some(third.id)
    );
    assert_eq!((log.start(), log.end()), (Offset(6), Offset(9)));
    assert_eq!(read_all(&log.reader()).len(), 3);
}

#[test]
fn what_a_snapshot_holds_is_not_cut_off() {
    let disk = MemVfs::new();
    let mut log = log_of_segments(&disk, 6);
    let info = make_snapshot(&mut log, 4, 1);
    let error = log.truncate(Offset(3)).unwrap_err();
    assert!(
        matches!(error, StorageError::Committed { end: 3, snapshot } if snapshot == info.id),
        "{error}"
    );
    assert!(!log.is_stopped());
    assert_eq!(log.truncate(Offset(4)).unwrap(), Offset(4));
}

#[test]
fn readers_and_the_writer_see_one_log() {
    let disk = MemVfs::new();
    let (mut log, _) = open_with(&disk, small_segments()).unwrap();
    let reader = log.reader();
    for base in 0..50 {
        log.append(&[batch(base, 1, 1)]).unwrap();
        assert_eq!(reader.end(), Offset(base + 1));
        let last = reader.read(Offset(base), 1).unwrap();
        assert_eq!(last[0].base_offset(), Offset(base));
    }
    log.truncate(Offset(20)).unwrap();
    assert_eq!(reader.end(), Offset(20));
    assert!(reader.read(Offset(30), 1).is_err());
    assert_eq!(read_all(&reader).len(), 20);
}

#[test]
fn a_damaged_batch_is_not_served() {
    let disk = MemVfs::new();
    let (mut log, _) = open(&disk).unwrap();
    log.append(&[batch(0, 1, 1), batch(1, 1, 1)]).unwrap();
    log.sync().unwrap();
    let file = disk
        .open(&segment(0), quorate_storage::vfs::OpenMode::Write)
        .unwrap();
    file.write_at(70, b"?").unwrap();
    let error = log.reader().read(Offset(0), 1).unwrap_err();
    assert!(
        matches!(error, StorageError::BadBatch { position: 0, .. }),
        "{error}"
    );
    assert_eq!(log.reader().read(Offset(1), 1).unwrap().len(), 1);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_offset_is_found(
        counts in prop::collection::vec(1..40_usize, 1..120),
        segment_bytes in 100..30_000_u64,
        cut: prop::sample::Index,
    ) {
        let disk = MemVfs::new();
        let config = LogConfig { segment_bytes, ..LogConfig::default() };
        let (mut log, _) = open_with(&disk, config).unwrap();
        let mut bases = Vec::new();
        for count in &counts {
            let base = log.end().0;
            log.append(&[batch(base, 1, *count)]).unwrap();
            bases.extend(std::iter::repeat_n(base, *count));
        }
        let end = cut.index(bases.len());
        let cut_end = bases[end];
        prop_assert_eq!(log.truncate(Offset(end as i64)).unwrap(), Offset(cut_end));
        let reader = log.reader();
        for (offset, base) in bases.iter().enumerate().take(cut_end as usize) {
            let read = reader.read(Offset(offset as i64), 1).unwrap();
            prop_assert_eq!(read[0].base_offset(), Offset(*base));
        }
    }
}
