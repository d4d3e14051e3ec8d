//! Opening a log: lock, inspect, mend, open the segments.

use std::io;
use std::path::Path;
use std::sync::Arc;

use super::LogConfig;
use super::inspect::{Fix, Inspection, inspect};
use super::metadata_log::MetadataLog;
use super::shared::{Segment, Shared, State};
use crate::error::{At, StorageError};
use crate::names;
use crate::recovered::Recovered;
use crate::vfs::{LockGuard, OpenMode, Vfs, replace_file};

/// `partition.metadata`, which names the topic id of the metadata log.
const PARTITION_METADATA: &[u8] = b"version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAQ";

impl MetadataLog {
    /// Opens the log of a log directory, locks the directory and mends what a crash left, as far as
    /// it is explained; makes the log if there is none. What is found is durable.
    pub fn open(
        vfs: Arc<dyn Vfs>,
        log_dir: &Path,
        config: LogConfig,
    ) -> Result<(MetadataLog, Recovered), StorageError> {
        let dir = log_dir.join(names::LOG_DIR);
        vfs.create_dir_all(&dir).at("create", &dir)?;
        let lock = lock(&*vfs, log_dir)?;
        let inspection = inspect(&*vfs, &dir)?;
        mend(&*vfs, &dir, &inspection.fixes)?;
        let partition_metadata = dir.join(names::PARTITION_METADATA);
        if !vfs.exists(&partition_metadata) {
            replace_file(&*vfs, &partition_metadata, PARTITION_METADATA)
                .at("write", &partition_metadata)?;
        }
        let state = open_segments(&*vfs, &dir, &inspection)?;
        // What a process wrote before it was killed is in the file, but perhaps not on the disk.
        state.last.file.sync().at("sync", &state.last.path)?;
        vfs.sync_dir(&dir).at("sync", &dir)?;
        let shared = Shared::new(state);
        let log = MetadataLog::new(vfs, dir, config, shared, inspection.epochs, lock);
        Ok((log, inspection.recovered))
    }

    /// Says what [`MetadataLog::open`] would find and mend, and changes nothing.
    pub fn verify(vfs: &dyn Vfs, log_dir: &Path) -> Result<Recovered, StorageError> {
        inspect(vfs, &log_dir.join(names::LOG_DIR)).map(|inspection| inspection.recovered)
    }
}

fn lock(vfs: &dyn Vfs, log_dir: &Path) -> Result<Box<dyn LockGuard>, StorageError> {
    let path = log_dir.join(names::LOCK);
    match vfs.lock(&path) {
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
            Err(StorageError::Locked { path })
        }
        lock => lock.at("lock", &path),
    }
}

/// Makes the changes in their order, each durable before the next: a crash in between leaves what
/// the next start explains.
fn mend(vfs: &dyn Vfs, dir: &Path, fixes: &[Fix]) -> Result<(), StorageError> {
    for fix in fixes {
        match fix {
            Fix::Remove(path) => vfs.remove(path).at("remove", path)?,
            Fix::Truncate(path, len) => {
                let file = vfs.open(path, OpenMode::Write).at("open", path)?;
                file.truncate(*len).at("truncate", path)?;
                file.sync().at("sync", path)?;
            }
            Fix::Create(path) => {
                let file = vfs.open(path, OpenMode::Truncate).at("create", path)?;
                file.sync().at("sync", path)?;
            }
        }
        vfs.sync_dir(dir).at("sync", dir)?;
    }
    Ok(())
}

fn open_segments(
    vfs: &dyn Vfs,
    dir: &Path,
    inspection: &Inspection,
) -> Result<State, StorageError> {
    let open = |base, size, index| -> Result<Segment, StorageError> {
        let path = dir.join(names::segment(base, "log"));
        let file = vfs.open(&path, OpenMode::Write).at("open", &path)?;
        Ok(Segment {
            base,
            path,
            file,
            size,
            index,
        })
    };
    let mut older = Vec::new();
    for segment in &inspection.segments {
        older.push(open(segment.base, segment.size, segment.index.clone())?);
    }
    let recovered = &inspection.recovered;
    let last = match older.pop() {
        Some(last) => last,
        None => open(recovered.end, 0, Default::default())?,
    };
    Ok(State {
        start: recovered.log_start,
        end: recovered.end,
        older,
        last,
        snapshots: recovered.snapshots.clone(),
    })
}
