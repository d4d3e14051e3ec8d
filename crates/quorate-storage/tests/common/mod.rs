//! What the tests of storage share: directories that stock Kafka left, and batches.
#![allow(dead_code, reason = "each test target uses a part")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use quorate_protocol::batch::{BatchView, encode_control_batch, encode_data_batch};
use quorate_protocol::snapshot::{SnapshotHeader, SnapshotWriter};
use quorate_storage::vfs::{MemVfs, OpenMode, Vfs};
use quorate_storage::{LogConfig, LogReader, MetadataLog, Recovered, StorageError};
use quorate_types::{ControlRecord, Epoch, KRaftVersion, NodeId, Offset, VoterSet, WallTime};

/// The log directory of every test on a simulated disk.
pub const DIR: &str = "/data";

/// The directories that hold a log, by cluster and node.
pub const FIXTURES: [&str; 7] = [
    "dynamic-quorum/broker-4-dir-1",
    "dynamic-quorum/node-1",
    "dynamic-quorum/node-3",
    "static-quorum/node-1",
    "static-quorum/node-3",
    "static-quorum/node-5",
    "static-quorum/node-7",
];

pub fn fixture_path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures")
        .join(name)
}

/// A simulated disk with a copy of that directory, synced.
pub fn load(name: &str) -> MemVfs {
    let disk = MemVfs::new();
    copy(&disk, &fixture_path(name), Path::new(DIR));
    disk
}

fn copy(disk: &MemVfs, from: &Path, to: &Path) {
    disk.create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(disk, &entry.path(), &target);
        } else {
            put(disk, &target, &fs::read(entry.path()).unwrap());
        }
    }
    disk.sync_dir(to).unwrap();
}

/// Writes a file, durably.
pub fn put(disk: &MemVfs, path: &Path, bytes: &[u8]) {
    let file = disk.open(path, OpenMode::Truncate).unwrap();
    file.write_at(0, bytes).unwrap();
    file.sync().unwrap();
    disk.sync_dir(path.parent().unwrap()).unwrap();
}

pub fn get(disk: &MemVfs, path: &Path) -> Vec<u8> {
    disk.read_all(path, u64::MAX).unwrap()
}

pub fn remove(disk: &MemVfs, path: &Path) {
    disk.remove(path).unwrap();
    disk.sync_dir(path.parent().unwrap()).unwrap();
}

/// A file of the log's directory.
pub fn in_log(name: &str) -> PathBuf {
    Path::new(DIR).join("__cluster_metadata-0").join(name)
}

pub fn segment(base: i64) -> PathBuf {
    in_log(&format!("{base:020}.log"))
}

/// Names of the files of the log's directory.
pub fn listing(disk: &MemVfs) -> Vec<String> {
    let dir = in_log("");
    let entries = disk.list(&dir).unwrap();
    entries.into_iter().map(|entry| entry.name).collect()
}

pub fn open(disk: &MemVfs) -> Result<(MetadataLog, Recovered), StorageError> {
    open_with(disk, LogConfig::default())
}

/// With segments of one batch or a few.
pub fn small_segments() -> LogConfig {
    LogConfig {
        segment_bytes: 300,
        ..LogConfig::default()
    }
}

pub fn open_with(
    disk: &MemVfs,
    config: LogConfig,
) -> Result<(MetadataLog, Recovered), StorageError> {
    MetadataLog::open(Arc::new(disk.clone()), Path::new(DIR), config)
}

/// A data batch of `count` records.
pub fn batch(base: i64, epoch: i32, count: usize) -> Bytes {
    let values: Vec<Bytes> = (0..count)
        .map(|index| Bytes::from(format!("value {}", base + index as i64)))
        .collect();
    encode_data_batch(Offset(base), Epoch(epoch), WallTime(base), &values).unwrap()
}

/// A control batch that opens an epoch.
pub fn leader_change(base: i64, epoch: i32) -> Bytes {
    let record = ControlRecord::LeaderChange {
        leader: NodeId(1),
        voters: vec![NodeId(1)],
        granting: vec![NodeId(1)],
    };
    encode_control_batch(Offset(base), Epoch(epoch), WallTime(base), &[record]).unwrap()
}

/// A snapshot's bytes, with or without voters.
pub fn snapshot(epoch: i32, voters: Option<VoterSet>) -> Bytes {
    let header = SnapshotHeader {
        last_contained: WallTime(77),
        quorum: voters.map(|voters| (KRaftVersion::DYNAMIC, voters)),
    };
    let (mut writer, head) = SnapshotWriter::new(Epoch(epoch), &header, WallTime(80)).unwrap();
    let data = writer
        .data(WallTime(80), &[Bytes::from_static(b"state")])
        .unwrap();
    let foot = writer.finish(WallTime(80)).unwrap();
    Bytes::from([head, data, foot].concat())
}

/// All batches of a log.
pub fn read_all(reader: &LogReader) -> Vec<BatchView> {
    let mut from = reader.start();
    let mut all = Vec::new();
    loop {
        let batches = reader.read(from, 1000).unwrap();
        let Some(last) = batches.last() else {
            return all;
        };
        from = last.end_offset();
        all.extend(batches);
    }
}

/// Their bytes.
pub fn bytes_of(batches: &[BatchView]) -> Vec<u8> {
    batches
        .iter()
        .flat_map(|batch| batch.bytes().to_vec())
        .collect()
}
