//! What may lie in a directory when a node starts: what is explained is mended and noted, what is
//! not is refused with the file, the place and what to do.

mod common;

use std::path::Path;

use common::*;
use quorate_storage::vfs::{MemVfs, OpenMode, Vfs};
use quorate_storage::{
    Election, LogConfig, Malformed, MetadataLog, Note, QuorumState, StorageError,
};
use quorate_types::{Epoch, KRaftVersion, NodeId, Offset, OffsetAndEpoch, VoterSet};

/// A closed log with a vote, of segments of one batch each if so wanted.
fn disk_with_log(batches: i64, segment_bytes: u64) -> MemVfs {
    let disk = MemVfs::new();
    let config = LogConfig {
        segment_bytes,
        ..LogConfig::default()
    };
    let (mut log, _) = open_with(&disk, config).unwrap();
    let vote = QuorumState {
        epoch: Epoch(3),
        leader: Some(NodeId(1)),
        ..QuorumState::default()
    };
    log.save_election(&vote, KRaftVersion::DYNAMIC).unwrap();
    for base in 0..batches {
        log.append(&[batch(base, 3, 1)]).unwrap();
    }
    log.close().unwrap();
    disk
}

/// Opens twice: what was mended once stays so.
fn opened(disk: &MemVfs) -> quorate_storage::Recovered {
    let (log, found) = open(disk).unwrap();
    let read = read_all(&log.reader());
    let end = read
        .last()
        .map_or(found.log_start, |last| last.end_offset());
    assert_eq!(end, found.end);
    drop(log);
    let (_, again) = open(disk).unwrap();
    assert_eq!((again.log_start, again.end), (found.log_start, found.end));
    let lasting = |note: &&Note| matches!(note, Note::BadSnapshot { .. });
    assert_eq!(
        again.notes.iter().filter(lasting).count(),
        again.notes.len()
    );
    found
}

/// The message of a refusal, after which the directory is as it was.
fn refused(disk: &MemVfs) -> String {
    let before = disk.files();
    let error = open(disk).unwrap_err();
    let without_lock = |files: Vec<_>| {
        let named = |(path, _): &(std::path::PathBuf, Vec<u8>)| !path.ends_with(".lock");
        files.into_iter().filter(named).collect::<Vec<_>>()
    };
    assert_eq!(
        without_lock(disk.files()),
        without_lock(before),
        "nothing is changed"
    );
    assert!(MetadataLog::verify(disk, Path::new(DIR)).is_err());
    error.to_string()
}

fn append_bytes(disk: &MemVfs, path: &Path, bytes: &[u8]) {
    let mut all = get(disk, path);
    all.extend_from_slice(bytes);
    put(disk, path, &all);
}

fn flip(disk: &MemVfs, path: &Path, at: usize) {
    let mut bytes = get(disk, path);
    bytes[at] ^= 1;
    put(disk, path, &bytes);
}

#[test]
fn a_torn_tail_is_cut_off_at_every_length() {
    let torn = batch(5, 3, 2);
    for length in 1..torn.len() {
        let disk = disk_with_log(5, u64::MAX);
        let before = get(&disk, &segment(0));
        append_bytes(&disk, &segment(0), &torn[..length]);
        let found = opened(&disk);
        assert_eq!(found.end, Offset(5));
        let [
            note @ Note::TornTail {
                position, bytes, ..
            },
        ] = &found.notes[..]
        else {
            panic!("{:?}", found.notes);
        };
        assert_eq!((*position, *bytes), (before.len() as u64, length as u64));
        assert!(note.to_string().contains(".log: the last "), "{note}");
        assert_eq!(get(&disk, &segment(0)), before);
    }
}

#[test]
fn a_tail_of_zeros_or_rubbish_is_cut_off() {
    for tail in [vec![0; 5000], vec![2; 5000], vec![0xff; 70]] {
        let disk = disk_with_log(5, u64::MAX);
        append_bytes(&disk, &segment(0), &tail);
        assert_eq!(opened(&disk).end, Offset(5));
    }
}

#[test]
fn a_flipped_byte_in_the_last_batch_counts_as_torn() {
    let disk = disk_with_log(5, u64::MAX);
    let last = get(&disk, &segment(0)).len() - 2;
    flip(&disk, &segment(0), last);
    assert_eq!(opened(&disk).end, Offset(4));
}

#[test]
fn a_flipped_byte_with_good_batches_behind_it_is_refused() {
    let size = batch(0, 3, 1).len();
    // Anywhere in the second of five batches: lengths, checksums, epochs, values.
    for at in size..2 * size {
        let disk = disk_with_log(5, u64::MAX);
        flip(&disk, &segment(0), at);
        let message = refused(&disk);
        // A higher epoch is under no checksum and only seen when the next batch is compared.
        let position = if message.contains("below") && at < size + 16 {
            2 * size
        } else {
            size
        };
        let wanted = format!("00000000000000000000.log is damaged at position {position} (");
        assert!(
            message.contains(&wanted)
                || message.contains(&wanted.replace(&position.to_string(), &size.to_string())),
            "byte {at}: {message}"
        );
        assert!(
            message.contains("format it and let the node join anew"),
            "{message}"
        );
    }
}

#[test]
fn damage_in_an_earlier_segment_is_refused() {
    let disk = disk_with_log(3, 1);
    let bytes = get(&disk, &segment(1));
    put(&disk, &segment(1), &bytes[..20]);
    let message = refused(&disk);
    assert!(
        message.contains("00000000000000000001.log is damaged at position 0"),
        "{message}"
    );
}

#[test]
fn a_missing_segment_is_refused() {
    let disk = disk_with_log(4, 1);
    remove(&disk, &segment(1));
    let message = refused(&disk);
    assert!(
        message
            .contains("00000000000000000002.log starts at 2, but the segment before it ends at 1"),
        "{message}"
    );
}

#[test]
fn a_missing_head_is_refused_without_a_snapshot() {
    let disk = disk_with_log(4, 1);
    remove(&disk, &segment(0));
    let message = refused(&disk);
    assert!(
        message.contains("the log in /data/__cluster_metadata-0 starts at 1"),
        "{message}"
    );
    assert!(message.contains("there is no good snapshot"), "{message}");
    let early = in_log("00000000000000000000-0000000000.checkpoint");
    put(&disk, &early, &snapshot(0, None));
    assert!(refused(&disk).contains("its latest good snapshot ends at 0@0"));
}

#[test]
fn a_missing_log_is_refused() {
    let disk = disk_with_log(1, 1);
    remove(&disk, &segment(0));
    assert!(refused(&disk).contains("neither a log nor a snapshot"));
}

#[test]
fn a_truncation_that_kafka_did_not_finish_is_finished() {
    let disk = disk_with_log(4, 1);
    let bytes = get(&disk, &segment(2));
    put(&disk, &in_log("00000000000000000002.log.deleted"), &bytes);
    remove(&disk, &segment(2));
    let found = opened(&disk);
    assert_eq!(found.end, Offset(2));
    assert!(
        found
            .notes
            .contains(&Note::TruncatedSegment { path: segment(3) })
    );
    assert!(!listing(&disk).iter().any(|name| name.ends_with(".deleted")));
}

#[test]
fn a_deletion_that_was_not_finished_is_finished_behind_a_snapshot() {
    let disk = disk_with_log(5, 1);
    put(
        &disk,
        &in_log("00000000000000000003-0000000003.checkpoint"),
        &snapshot(3, None),
    );
    remove(&disk, &segment(1));
    let found = opened(&disk);
    assert_eq!((found.log_start, found.end), (Offset(2), Offset(5)));
    let snapshot = OffsetAndEpoch::new(3, 3);
    let path = segment(0);
    assert_eq!(found.notes, [Note::CoveredSegment { path, snapshot }]);
}

#[test]
fn damage_that_a_snapshot_stands_for_does_no_harm() {
    let disk = disk_with_log(5, 1);
    put(
        &disk,
        &in_log("00000000000000000003-0000000003.checkpoint"),
        &snapshot(3, None),
    );
    flip(&disk, &segment(1), 70);
    assert_eq!(opened(&disk).log_start, Offset(2));
}

#[test]
fn a_snapshot_ahead_of_the_log_empties_it() {
    for (end, epoch) in [(9, 3), (3, 4), (9, 9)] {
        let disk = disk_with_log(5, 1);
        let voters = VoterSet::of_ids([1]);
        let id = OffsetAndEpoch::new(end, epoch);
        let name = format!("{end:020}-{epoch:010}.checkpoint");
        put(&disk, &in_log(&name), &snapshot(epoch, Some(voters)));
        let found = opened(&disk);
        assert_eq!(
            (found.log_start, found.end),
            (Offset(end), Offset(end)),
            "{id}"
        );
        assert_eq!(
            (found.latest_snapshot(), found.last_epoch()),
            (Some(id), Epoch(epoch))
        );
        assert_eq!(found.control[0].0, Offset(end - 1));
        assert!(found.notes.contains(&Note::Emptied {
            snapshot: id,
            end: Offset(5)
        }));
    }
}

#[test]
fn an_interrupted_installation_is_finished_wherever_it_stopped() {
    // The last segments go first here; in Kafka the first ones do.
    let left = (0..=5)
        .map(|end| 0..end)
        .chain((0..5).map(|start| start..5));
    for left in left {
        let disk = disk_with_log(5, 1);
        put(
            &disk,
            &in_log("00000000000000000003-0000000004.checkpoint"),
            &snapshot(4, None),
        );
        for base in (0..5).filter(|base| !left.contains(base)) {
            remove(&disk, &segment(base));
        }
        let found = opened(&disk);
        assert_eq!(
            (found.log_start, found.end),
            (Offset(3), Offset(3)),
            "{left:?}"
        );
    }
}

#[test]
fn snapshots_that_are_not_whole_are_not_used() {
    let whole = snapshot(3, None);
    for bytes in [&whole[..0], &whole[..whole.len() - 1], &whole[..100]] {
        let disk = disk_with_log(5, 1);
        let path = in_log("00000000000000000004-0000000003.checkpoint");
        put(&disk, &path, bytes);
        put(
            &disk,
            &in_log("00000000000000000002-0000000003.checkpoint"),
            &whole,
        );
        let found = opened(&disk);
        assert_eq!(found.latest_snapshot(), Some(OffsetAndEpoch::new(2, 3)));
        assert!(matches!(&found.notes[..], [Note::BadSnapshot { path: bad, .. }] if *bad == path));
        assert_eq!(get(&disk, &path), bytes, "it is left where it is");
    }
}

#[test]
fn an_older_snapshot_is_used_only_if_it_covers_the_start() {
    let disk = disk_with_log(5, 1);
    let whole = snapshot(3, None);
    let bad = in_log("00000000000000000004-0000000003.checkpoint");
    put(&disk, &bad, &whole[..50]);
    put(
        &disk,
        &in_log("00000000000000000002-0000000003.checkpoint"),
        &whole,
    );
    remove(&disk, &segment(0));
    assert_eq!(
        opened(&disk).latest_snapshot(),
        Some(OffsetAndEpoch::new(2, 3))
    );
    remove(&disk, &segment(1));
    remove(&disk, &segment(2));
    assert!(refused(&disk).contains("its latest good snapshot ends at 2@3"));
}

#[test]
fn leftovers_and_old_snapshots_go() {
    let disk = disk_with_log(5, 1);
    let whole = snapshot(3, None);
    let names = [
        "00000000000000000001-0000000003.checkpoint",
        "00000000000000000003-0000000003-17.checkpoint.part",
        "00000000000000000001-0000000003.checkpoint.deleted",
        "00000000000000000000.log.deleted",
        "quorum-state.tmp",
    ];
    for name in names {
        put(&disk, &in_log(name), &whole);
    }
    put(
        &disk,
        &in_log("00000000000000000004-0000000003.checkpoint"),
        &whole,
    );
    put(&disk, &in_log("a-stranger.txt"), b"stays");
    for base in 0..2 {
        remove(&disk, &segment(base));
    }
    let found = opened(&disk);
    assert_eq!(found.notes.len(), names.len(), "{:?}", found.notes);
    let left = listing(&disk);
    assert!(
        names.iter().all(|name| !left.contains(&(*name).to_owned())),
        "{left:?}"
    );
    assert!(left.contains(&"a-stranger.txt".to_owned()));
}

#[test]
fn a_vote_that_cannot_be_read_is_lost_and_never_fresh() {
    let path = in_log("quorum-state");
    let whole = get(&disk_with_log(0, 1), &path);
    for length in 0..whole.len() {
        let disk = disk_with_log(5, 1);
        put(&disk, &path, &whole[..length]);
        let Election::Lost {
            problem: Some(problem),
            at_least,
        } = opened(&disk).election
        else {
            panic!("{length} bytes were taken for a vote");
        };
        assert_eq!(at_least, Epoch(3));
        assert_eq!(problem == Malformed::Empty, length == 0);
    }
    // Not even beside an empty log.
    let disk = disk_with_log(0, 1);
    put(&disk, &path, b"");
    assert!(matches!(
        opened(&disk).election,
        Election::Lost {
            at_least: Epoch(0),
            ..
        }
    ));
}

#[test]
fn a_missing_vote_beside_a_log_or_a_snapshot_is_lost() {
    let disk = disk_with_log(5, 1);
    remove(&disk, &in_log("quorum-state"));
    let lost = |at_least| Election::Lost {
        problem: None,
        at_least: Epoch(at_least),
    };
    assert_eq!(opened(&disk).election, lost(3));

    let disk = MemVfs::new();
    disk.create_dir_all(&in_log("")).unwrap();
    put(
        &disk,
        &in_log("00000000000000000007-0000000006.checkpoint"),
        &snapshot(6, None),
    );
    assert_eq!(opened(&disk).election, lost(6));

    let disk = MemVfs::new();
    disk.create_dir_all(&in_log("")).unwrap();
    let initial = in_log("00000000000000000000-0000000000.checkpoint");
    put(&disk, &initial, &snapshot(0, Some(VoterSet::of_ids([1]))));
    let found = opened(&disk);
    assert_eq!(found.election, Election::Fresh, "formatted, never started");
    assert_eq!(found.control[0].0, Offset(-1));
}

#[test]
fn a_vote_of_newer_software_is_refused() {
    let disk = disk_with_log(5, 1);
    put(
        &disk,
        &in_log("quorum-state"),
        b"{\"leaderEpoch\":9,\"data_version\":2}",
    );
    let message = refused(&disk);
    assert!(
        message.contains("quorum-state: version 2 is unknown"),
        "{message}"
    );
}

#[test]
fn a_disk_that_cannot_be_read_is_no_empty_disk() {
    for name in [".log", "quorum-state", ".checkpoint"] {
        let disk = load("static-quorum/node-1");
        disk.fail_reads_of(Some(name));
        let error = open(&disk).unwrap_err();
        assert!(matches!(error, StorageError::Io { .. }), "{name}: {error}");
        disk.fail_reads_of(None);
        assert_eq!(open(&disk).unwrap().1.end, Offset(452));
    }
}

#[test]
fn a_control_batch_of_newer_software_is_refused() {
    let disk = disk_with_log(1, u64::MAX);
    let mut bytes = leader_change(1, 3).to_vec();
    let kind = bytes
        .windows(4)
        .rposition(|window| window == [0, 0, 0, 2])
        .unwrap();
    bytes[kind + 3] = 9;
    let crc = crc32c::crc32c(&bytes[21..]);
    bytes[17..21].copy_from_slice(&crc.to_be_bytes());
    append_bytes(&disk, &segment(0), &bytes);
    let message = refused(&disk);
    assert!(
        message.contains("control record 0 of the batch at 1"),
        "{message}"
    );
}

#[test]
fn a_file_that_shrinks_while_it_is_read_is_no_panic() {
    let disk = disk_with_log(3, u64::MAX);
    let (log, _) = open(&disk).unwrap();
    let file = disk.open(&segment(0), OpenMode::Write).unwrap();
    file.truncate(10).unwrap();
    assert_eq!(log.reader().read(Offset(1), 1000).unwrap(), []);
}
