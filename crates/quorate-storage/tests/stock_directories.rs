//! Directories that stock Kafka left behind are opened, whole and without a change that is not
//! explained.

mod common;

use std::path::Path;
use std::sync::Arc;

use common::*;
use quorate_protocol::batch::{BatchView, split_batches};
use quorate_protocol::records::VersionedRecord;
use quorate_protocol::snapshot::SnapshotPart;
use quorate_storage::vfs::{MemVfs, Vfs};
use quorate_storage::{
    Election, FormatSpec, LogConfig, MetaProperties, MetadataLog, Note, QuorumState, format,
};
use quorate_types::{
    ControlRecord, Epoch, KRaftVersion, NodeId, Offset, OffsetAndEpoch, VoterSet, WallTime,
};

#[test]
fn every_directory_opens_and_every_batch_is_read() {
    let ends = [
        (0, 1254, 264),
        (0, 1254, 264),
        (0, 1253, 263),
        (0, 452, 132),
        (255, 452, 68),
        (379, 452, 64),
        (379, 452, 64),
    ];
    for (name, (start, end, batches)) in FIXTURES.into_iter().zip(ends) {
        let (log, found) = open(&load(name)).unwrap();
        assert_eq!(
            (found.log_start, found.end),
            (Offset(start), Offset(end)),
            "{name}"
        );
        let read = read_all(&log.reader());
        assert_eq!(read.len(), batches, "{name}");
        for batch in &read {
            if batch.is_control() {
                batch.control_records().unwrap();
            }
            for value in batch.records().filter(|_| !batch.is_control()) {
                VersionedRecord::decode_frame(&value.unwrap()).unwrap();
            }
        }
        for info in log.snapshots() {
            let parts = log.reader().snapshot(info.id).unwrap().parts();
            let parts: Vec<SnapshotPart> = parts.map(Result::unwrap).collect();
            assert_eq!(
                parts.last(),
                Some(&SnapshotPart::Footer),
                "{name} {}",
                info.id
            );
        }
    }
}

#[test]
fn epochs_snapshots_and_voters_are_those_that_kafka_had() {
    let (_, found) = open(&load("dynamic-quorum/node-1")).unwrap();
    assert_eq!(
        found.epochs,
        [(Epoch(1), Offset(0)), (Epoch(3), Offset(350))]
    );
    assert_eq!(found.earliest_snapshot(), Some(OffsetAndEpoch::default()));
    assert_eq!(found.latest_snapshot(), Some(OffsetAndEpoch::new(1253, 3)));
    let [(version_at, version), (voters_at, voters), ..] = &found.control[..] else {
        panic!("{:?}", found.control);
    };
    assert_eq!((*version_at, *voters_at), (Offset(1252), Offset(1252)));
    assert_eq!(*version, ControlRecord::KRaftVersion(KRaftVersion::DYNAMIC));
    let ControlRecord::Voters(voters) = voters else {
        panic!("{voters:?}");
    };
    assert_eq!(voters.ids().map(|id| id.0).collect::<Vec<_>>(), [1, 2, 3]);
    let Election::Known(state) = &found.election else {
        panic!("{:?}", found.election);
    };
    assert_eq!(
        (state.epoch, state.leader, state.voted),
        (Epoch(3), Some(NodeId(1)), None)
    );

    let (_, found) = open(&load("static-quorum/node-1")).unwrap();
    let epochs = [(1, 0), (2, 414), (4, 450)];
    assert_eq!(
        found.epochs,
        epochs.map(|(epoch, start)| (Epoch(epoch), Offset(start)))
    );
}

#[test]
fn the_upgrade_of_a_static_quorum_is_found_in_the_log() {
    let (_, found) = open(&load("static-quorum/node-7")).unwrap();
    assert!(found.control.iter().all(|(at, _)| *at >= Offset(379)));
    assert!(
        found
            .control
            .iter()
            .any(|(_, record)| *record == ControlRecord::KRaftVersion(KRaftVersion::DYNAMIC)),
        "{:?}",
        found.control
    );
}

#[test]
fn what_a_kill_left_is_removed_and_nothing_else_changes() {
    for name in FIXTURES {
        let disk = load(name);
        let before = disk.files();
        let (log, found) = open(&disk).unwrap();
        let leftovers = before
            .iter()
            .filter(|(path, _)| path.to_string_lossy().ends_with(".deleted"));
        assert_eq!(
            found.notes.len(),
            leftovers.count(),
            "{name}: {:?}",
            found.notes
        );
        assert!(
            found
                .notes
                .iter()
                .all(|note| matches!(note, Note::Leftover { .. }))
        );
        drop(log);
        let after = disk.files();
        for (path, bytes) in before {
            let kept = after.iter().find(|(kept, _)| *kept == path);
            let deleted = path.to_string_lossy().ends_with(".deleted");
            assert_eq!(
                kept.map(|(_, bytes)| bytes),
                (!deleted).then_some(&bytes),
                "{path:?}"
            );
        }
    }
}

#[test]
fn verifying_changes_nothing() {
    for name in FIXTURES {
        let disk = load(name);
        let (before, syncs) = (disk.files(), disk.syncs());
        let seen = MetadataLog::verify(&disk, Path::new(DIR)).unwrap();
        assert_eq!((disk.files(), disk.syncs()), (before, syncs), "{name}");
        let (_, found) = open(&disk).unwrap();
        assert_eq!(seen, found, "{name}");
    }
}

#[test]
fn the_indexes_written_at_the_end_are_kafkas() {
    for (name, base) in [("dynamic-quorum/node-1", 0), ("static-quorum/node-3", 387)] {
        let disk = load(name);
        let index = |kind: &str| get(&disk, &in_log(&format!("{base:020}.{kind}")));
        let (offsets, times) = (index("index"), index("timeindex"));
        let (log, _) = open(&disk).unwrap();
        log.close().unwrap();
        assert_eq!(index("index"), offsets, "{name}");
        assert_eq!(index("timeindex"), times, "{name}");
    }
}

#[test]
fn the_files_beside_the_log_are_written_as_kafka_writes_them() {
    let disk = load("dynamic-quorum/node-1");
    let names = ["leader-epoch-checkpoint", "00000000000000001254.snapshot"];
    let before = names.map(|name| get(&disk, &in_log(name)));
    for name in names {
        remove(&disk, &in_log(name));
    }
    open(&disk).unwrap().0.close().unwrap();
    assert_eq!(names.map(|name| get(&disk, &in_log(name))), before);

    let fresh = MemVfs::new();
    open(&fresh).unwrap();
    let metadata = in_log("partition.metadata");
    assert_eq!(get(&fresh, &metadata), get(&disk, &metadata));
}

#[test]
fn votes_are_written_again_to_the_same_bytes() {
    for name in FIXTURES {
        let disk = load(name);
        let before = get(&disk, &in_log("quorum-state"));
        let (mut log, found) = open(&disk).unwrap();
        let Election::Known(state) = found.election else {
            panic!("{name}: {:?}", found.election);
        };
        log.save_election(&state, KRaftVersion::DYNAMIC).unwrap();
        assert_eq!(get(&disk, &in_log("quorum-state")), before, "{name}");
    }
}

#[test]
fn meta_properties_are_written_again_to_the_same_lines() {
    for name in FIXTURES
        .into_iter()
        .chain(["dynamic-quorum/broker-4-dir-2"])
    {
        let disk = load(name);
        let path = Path::new(DIR).join("meta.properties");
        let before = String::from_utf8(get(&disk, &path)).unwrap();
        let meta = MetaProperties::read(&disk, Path::new(DIR)).unwrap();
        let after = String::from_utf8(meta.encode(WallTime(1_796_067_863_000))).unwrap();
        let without_date = |text: &str| {
            let lines = text.split('\n').enumerate();
            let kept = lines
                .filter(|(line, _)| *line != 1)
                .map(|(_, text)| text.to_owned());
            kept.collect::<Vec<_>>()
        };
        assert_eq!(without_date(&after), without_date(&before), "{name}");
    }
}

/// A batch without its times and checksum.
fn timeless(batch: &BatchView) -> Vec<u8> {
    let mut bytes = batch.bytes().to_vec();
    bytes[17..21].fill(0);
    bytes[27..43].fill(0);
    if batch.is_control() {
        // The first control record's value starts with its version; the time follows in a header.
        let records = batch.control_records().unwrap();
        if let Some(ControlRecord::SnapshotHeader { .. }) = records.first() {
            bytes[73..81].fill(0);
        }
    }
    bytes
}

#[test]
fn formatting_gives_the_bytes_that_kafka_gives() {
    let stock = load("dynamic-quorum/node-1");
    let bootstrap = Path::new(DIR).join("bootstrap.checkpoint");
    let initial = in_log("00000000000000000000-0000000000.checkpoint");
    let batches = |bytes: Vec<u8>| {
        let batches = split_batches(bytes.into()).map(Result::unwrap);
        batches.collect::<Vec<BatchView>>()
    };
    let spec = FormatSpec {
        cluster_id: "mTGiFOYvQA-l7MVmesF4UQ".into(),
        node: NodeId(1),
        directory: "MvDxzVmcRsaTz33bUuRU6A"
            .parse::<quorate_types::Uuid>()
            .unwrap()
            .into(),
        features: [
            ("transaction.version", 2),
            ("share.version", 1),
            ("streams.version", 1),
            ("group.version", 1),
            ("kraft.version", 1),
            ("eligible.leader.replicas.version", 1),
            ("metadata.version", 29),
            ("unused.version", 0),
        ]
        .map(|(name, level)| (name.to_owned(), level))
        .to_vec(),
        records: batches(get(&stock, &bootstrap))[1]
            .records()
            .skip(6)
            .map(|value| VersionedRecord::decode_frame(&value.unwrap()).unwrap())
            .collect(),
        initial_voters: Some(voters_of(&batches(get(&stock, &initial))[0])),
        at: WallTime(1_796_067_860_113),
    };
    let ours = MemVfs::new();
    format(&ours, Path::new(DIR), &spec).unwrap();
    for path in [bootstrap, initial] {
        let timeless = |disk| {
            batches(get(disk, &path))
                .iter()
                .map(timeless)
                .collect::<Vec<_>>()
        };
        assert_eq!(timeless(&ours), timeless(&stock), "{path:?}");
    }
    let names = |disk: &MemVfs| disk.list(Path::new(DIR)).unwrap();
    assert_eq!(names(&ours), names(&stock));
    let meta = |disk: &MemVfs| MetaProperties::read(disk, Path::new(DIR)).unwrap();
    assert_eq!(meta(&ours), meta(&stock));
}

fn voters_of(header: &BatchView) -> VoterSet {
    let records = header.control_records().unwrap();
    let voters = records.into_iter().find_map(|record| match record {
        ControlRecord::Voters(voters) => Some(voters),
        _ => None,
    });
    voters.unwrap()
}

#[test]
fn a_formatted_directory_is_not_formatted_again() {
    let disk = load("dynamic-quorum/broker-4-dir-2");
    let spec = FormatSpec {
        cluster_id: "x".into(),
        node: NodeId(1),
        directory: Default::default(),
        features: Vec::new(),
        records: Vec::new(),
        initial_voters: None,
        at: WallTime(0),
    };
    let before = disk.files();
    let error = format(&disk, Path::new(DIR), &spec)
        .unwrap_err()
        .to_string();
    assert_eq!(
        error,
        "/data/meta.properties is there already: the directory is formatted"
    );
    assert_eq!(disk.files(), before);
}

#[test]
fn a_stock_log_goes_on_where_it_ended() {
    for name in FIXTURES {
        let disk = load(name);
        let (mut log, found) = open(&disk).unwrap();
        let (end, epoch) = (found.end.0, found.last_epoch().0 + 1);
        let state = QuorumState {
            epoch: Epoch(epoch),
            ..QuorumState::default()
        };
        log.save_election(&state, KRaftVersion::DYNAMIC).unwrap();
        log.append(&[leader_change(end, epoch), batch(end + 1, epoch, 3)])
            .unwrap();
        log.close().unwrap();
        let (_, found) = open(&disk).unwrap();
        assert_eq!(found.end, Offset(end + 4), "{name}");
        assert_eq!(
            found.epochs.last(),
            Some(&(Epoch(epoch), Offset(end))),
            "{name}"
        );
        assert_eq!(found.election, Election::Known(state), "{name}");
    }
}

#[test]
fn a_log_directory_without_a_log_is_fresh() {
    let disk = load("dynamic-quorum/broker-4-dir-2");
    let vfs: Arc<dyn Vfs> = Arc::new(disk);
    let (_, found) = MetadataLog::open(vfs, Path::new(DIR), LogConfig::default()).unwrap();
    assert_eq!(found.election, Election::Fresh);
    assert_eq!((found.end, found.notes.len()), (Offset(0), 0));
}
