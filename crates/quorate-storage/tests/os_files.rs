//! The same on the machine's own file system, and that it and the simulated one agree.

mod common;

use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

use common::{batch, bytes_of, fixture_path, read_all};
use quorate_storage::vfs::{MemVfs, OpenMode, OsVfs, Vfs};
use quorate_storage::{
    Election, FormatSpec, LogConfig, MetaProperties, MetadataLog, QuorumState, StorageError, format,
};
use quorate_types::{DirectoryId, Epoch, KRaftVersion, NodeId, Offset, Uuid, VoterSet, WallTime};

fn spec() -> FormatSpec {
    FormatSpec {
        cluster_id: "cluster".into(),
        node: NodeId(7),
        directory: DirectoryId(Uuid([9; 16])),
        features: vec![("metadata.version".into(), 29)],
        records: Vec::new(),
        initial_voters: Some(VoterSet::of_ids([7])),
        at: WallTime(1_796_067_860_113),
    }
}

#[test]
fn a_directory_is_formatted_written_and_opened_again() {
    let temporary = tempfile::tempdir().unwrap();
    let dir = temporary.path().join("not/yet/there");
    let vfs: Arc<dyn Vfs> = Arc::new(OsVfs);
    format(&*vfs, &dir, &spec()).unwrap();
    let meta = MetaProperties::read(&*vfs, &dir).unwrap();
    meta.expect(&dir, "cluster", NodeId(7)).unwrap();
    let open = || MetadataLog::open(Arc::clone(&vfs), &dir, LogConfig::default());
    let (mut log, found) = open().unwrap();
    assert_eq!(found.election, Election::Fresh);
    let vote = QuorumState {
        epoch: Epoch(1),
        ..QuorumState::default()
    };
    log.save_election(&vote, KRaftVersion::DYNAMIC).unwrap();
    log.append(&[batch(0, 1, 2), batch(2, 1, 2)]).unwrap();
    log.sync().unwrap();
    let locked = open().unwrap_err();
    assert!(matches!(locked, StorageError::Locked { .. }), "{locked}");
    log.truncate(Offset(2)).unwrap();
    log.close().unwrap();
    let (log, found) = open().unwrap();
    assert_eq!((found.end, found.notes), (Offset(2), vec![]));
    assert_eq!(bytes_of(&read_all(&log.reader())), batch(0, 1, 2));
    let initial = dir.join("__cluster_metadata-0/00000000000000000000-0000000000.checkpoint");
    assert!(initial.metadata().unwrap().permissions().readonly());
}

#[test]
fn a_directory_without_meta_properties_is_not_formatted() {
    let temporary = tempfile::tempdir().unwrap();
    let error = MetaProperties::read(&OsVfs, temporary.path()).unwrap_err();
    assert!(matches!(error, StorageError::Unformatted { .. }), "{error}");
}

#[test]
fn stock_directories_verify_where_they_lie() {
    for name in common::FIXTURES {
        let found = MetadataLog::verify(&OsVfs, &fixture_path(name)).unwrap();
        assert!(found.end > Offset(400), "{name}");
    }
}

/// What a file system has to do, told by its answers.
fn laws(vfs: &dyn Vfs, dir: &Path) {
    let file = |name: &str| dir.join(name);
    let read = |name: &str| vfs.read_all(&file(name), 100);
    vfs.create_dir_all(dir).unwrap();
    vfs.create_dir_all(dir).unwrap();
    assert_eq!(read("a").unwrap_err().kind(), ErrorKind::NotFound);
    assert!(vfs.open(&file("a"), OpenMode::Read).is_err());
    assert!(vfs.open(&dir.join("none/a"), OpenMode::Write).is_err());
    let a = vfs.open(&file("a"), OpenMode::Write).unwrap();
    assert!(a.is_empty().unwrap());
    a.write_at(0, b"hello").unwrap();
    a.write_at(7, b"!").unwrap();
    assert_eq!(read("a").unwrap(), b"hello\0\0!");
    a.truncate(5).unwrap();
    a.write_at(4, b"O w").unwrap();
    a.sync().unwrap();
    let mut tail = [0; 9];
    assert_eq!(a.read_at(5, &mut tail).unwrap(), 2);
    assert_eq!(a.read_at(7, &mut tail).unwrap(), 0);
    assert_eq!(a.read_at(99, &mut tail).unwrap(), 0);
    assert_eq!(a.len().unwrap(), 7);
    let again = vfs.open(&file("a"), OpenMode::Write).unwrap();
    assert_eq!(again.len().unwrap(), 7, "opened, not emptied");
    assert_eq!(
        vfs.read_all(&file("a"), 6).unwrap_err().kind(),
        ErrorKind::InvalidData
    );
    vfs.open(&file("b"), OpenMode::Write)
        .unwrap()
        .write_at(0, b"b")
        .unwrap();
    vfs.rename(&file("a"), &file("b")).unwrap();
    assert_eq!(read("b").unwrap(), b"hellO w", "renamed over another");
    a.write_at(0, b"H").unwrap();
    assert_eq!(read("b").unwrap(), b"HellO w", "a handle follows its file");
    vfs.create_dir_all(&file("c")).unwrap();
    let names: Vec<(String, bool)> = vfs
        .list(dir)
        .unwrap()
        .into_iter()
        .map(|entry| (entry.name, entry.is_dir))
        .collect();
    assert_eq!(names, [("b".into(), false), ("c".into(), true)]);
    assert!(vfs.exists(&file("b")) && !vfs.exists(&file("a")) && !vfs.exists(&file("c")));
    vfs.seal(&file("b")).unwrap();
    vfs.remove(&file("b")).unwrap();
    assert!(vfs.remove(&file("b")).is_err());
    assert_eq!(a.len().unwrap(), 7, "removed, but open");
    assert!(
        vfs.open(&file("d"), OpenMode::Truncate)
            .unwrap()
            .is_empty()
            .unwrap()
    );
    vfs.sync_dir(dir).unwrap();
    assert!(vfs.list(&file("none")).is_err());
    let lock = vfs.lock(&file(".lock")).unwrap();
    assert_eq!(
        vfs.lock(&file(".lock")).unwrap_err().kind(),
        ErrorKind::WouldBlock
    );
    drop(lock);
    vfs.lock(&file(".lock")).unwrap();
}

#[test]
fn both_file_systems_keep_the_same_laws() {
    let temporary = tempfile::tempdir().unwrap();
    laws(&OsVfs, &temporary.path().join("dir"));
    laws(&MemVfs::new(), Path::new("/somewhere/dir"));
}
