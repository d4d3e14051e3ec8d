//! The disk's side of a node's own snapshots: files that grow piece by piece, and old ones that go.
//!
//! Nothing here stops a node by itself: a snapshot that cannot be written is given up, and the log
//! stays as it is. Only when the log itself stopped over it, nothing is written any more.

use std::path::PathBuf;
use std::sync::Arc;

use quorate_broker::clean_shutdown;
use quorate_storage::vfs::{Vfs, replace_file};
use quorate_storage::{MetadataLog, PartialSnapshot, Retention, StorageError};
use quorate_types::{BrokerEpoch, OffsetAndEpoch, WallTime};

use crate::snapshots::{Cleaned, SnapshotProgress, SnapshotStep};

/// After that many bytes the file is synced, so that no single sync holds up appends for long.
const SYNC_BYTES: u64 = 4 * 1024 * 1024;

/// The snapshot that is being written.
#[derive(Debug, Default)]
pub(crate) struct SnapshotFiles {
    partial: Option<PartialSnapshot>,
    synced: u64,
}

impl SnapshotFiles {
    /// Carries out one step. After an error the file is gone, and what follows for it is obsolete.
    pub(crate) fn step(
        &mut self,
        log: &mut MetadataLog,
        id: OffsetAndEpoch,
        step: SnapshotStep,
    ) -> Result<SnapshotProgress, StorageError> {
        let done = match step {
            SnapshotStep::Begin(piece) => {
                self.begin(log, id).and_then(|()| self.append(id, &piece))
            }
            SnapshotStep::Piece(piece) => self.append(id, &piece),
            SnapshotStep::Finish => self.finish(log, id),
        };
        if done.is_err() {
            self.drop_partial(log);
        }
        done
    }

    /// Another snapshot has taken the log's place.
    pub(crate) fn drop_partial(&mut self, log: &mut MetadataLog) {
        if let Some(partial) = self.partial.take() {
            // If the file stays, the next start removes it.
            let _ = log.discard_snapshot(partial);
        }
    }

    fn begin(&mut self, log: &mut MetadataLog, id: OffsetAndEpoch) -> Result<(), StorageError> {
        self.drop_partial(log);
        self.synced = 0;
        if id.offset > log.start() && id.offset <= log.end() {
            self.partial = log.create_snapshot(id)?;
        }
        Ok(())
    }

    fn append(
        &mut self,
        id: OffsetAndEpoch,
        piece: &bytes::Bytes,
    ) -> Result<SnapshotProgress, StorageError> {
        let partial = match &mut self.partial {
            Some(partial) if partial.id() == id => partial,
            _ => return Ok(SnapshotProgress::Obsolete),
        };
        partial.append(piece)?;
        if partial.size() - self.synced >= SYNC_BYTES {
            partial.sync()?;
            self.synced = partial.size();
        }
        Ok(SnapshotProgress::Written)
    }

    fn finish(
        &mut self,
        log: &mut MetadataLog,
        id: OffsetAndEpoch,
    ) -> Result<SnapshotProgress, StorageError> {
        let Some(partial) = self.partial.take_if(|partial| partial.id() == id) else {
            return Ok(SnapshotProgress::Obsolete);
        };
        // A snapshot must not be ahead of the log when the power fails.
        log.sync()?;
        let (info, _) = log.publish_snapshot(partial)?;
        Ok(SnapshotProgress::Published { size: info.size })
    }
}

/// Drops what need not be kept.
pub(crate) fn clean(
    log: &mut MetadataLog,
    retention: &Retention,
    now: WallTime,
) -> Result<Option<Cleaned>, StorageError> {
    let earliest = log.clean(retention, now)?;
    Ok(earliest.map(|earliest| Cleaned {
        log_start: log.start(),
        earliest,
    }))
}

/// The note that a broker leaves in its log directory when it was let go.
#[derive(Debug)]
pub(crate) struct ShutdownNote {
    pub(crate) vfs: Arc<dyn Vfs>,
    pub(crate) directory: PathBuf,
    /// What it is to say; nothing is written without.
    pub(crate) epoch: Option<BrokerEpoch>,
}

impl ShutdownNote {
    /// Writes it, once everything else is closed.
    pub(crate) fn write(&self) -> Result<(), StorageError> {
        let Some(epoch) = self.epoch else {
            return Ok(());
        };
        let path = self.directory.join(clean_shutdown::FILE_NAME);
        let note = clean_shutdown::render(epoch);
        replace_file(&*self.vfs, &path, note.as_bytes()).map_err(|source| StorageError::Io {
            doing: "write",
            path,
            source,
        })
    }
}
