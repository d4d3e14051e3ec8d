//! Snapshots beside the log: made, published, installed in place of the log, and the log's head
//! dropped behind them.

use quorate_protocol::snapshot::SnapshotHeader;
use quorate_types::OffsetAndEpoch;

use super::epochs::EpochStarts;
use super::metadata_log::MetadataLog;
use super::shared::Segment;
use crate::error::{At, StorageError};
use crate::names;
use crate::snapshots::{PartialSnapshot, SnapshotInfo};

impl MetadataLog {
    /// Starts a snapshot under a temporary name, to be filled by [`PartialSnapshot::append`];
    /// `None` if there is one of that id already. Whether log and high watermark allow the id is
    /// the caller's to know.
    pub fn create_snapshot(
        &mut self,
        id: OffsetAndEpoch,
    ) -> Result<Option<PartialSnapshot>, StorageError> {
        self.running()?;
        if self.has_snapshot(id) {
            return Ok(None);
        }
        self.serial += 1;
        let path = self.dir.join(names::partial_snapshot(id, self.serial));
        PartialSnapshot::create(&*self.vfs, path, id).map(Some)
    }

    /// Makes a whole snapshot durable and visible. An error before that leaves the log as it is, and
    /// removes the file.
    pub fn publish_snapshot(
        &mut self,
        partial: PartialSnapshot,
    ) -> Result<(SnapshotInfo, SnapshotHeader), StorageError> {
        self.running()?;
        let header = match self.name_snapshot(&partial) {
            Ok(header) => header,
            Err(error) => {
                // It only takes room; if it stays, the next start removes it.
                let _ = self.vfs.remove(&partial.path);
                return Err(error);
            }
        };
        self.stop_on_error(|log| log.sync_dir())?;
        let info = SnapshotInfo {
            id: partial.id,
            size: partial.size,
        };
        let mut state = self.shared.write();
        state.snapshots.retain(|snapshot| snapshot.id != info.id);
        state.snapshots.push(info);
        state.snapshots.sort_by_key(|snapshot| snapshot.id);
        drop(state);
        Ok((info, header))
    }

    /// Makes a snapshot from a leader durable and lets it stand for the whole log, which is empty
    /// afterwards and starts and ends at the snapshot's end. Earlier snapshots go.
    pub fn install_snapshot(
        &mut self,
        partial: PartialSnapshot,
    ) -> Result<(SnapshotInfo, SnapshotHeader), StorageError> {
        let published = self.publish_snapshot(partial)?;
        self.stop_on_error(|log| log.start_at_snapshot(published.0.id))?;
        Ok(published)
    }

    /// Removes the file of a snapshot that will not be finished.
    pub fn discard_snapshot(&mut self, partial: PartialSnapshot) -> Result<(), StorageError> {
        self.running()?;
        let path = &partial.path;
        self.vfs.remove(path).at("remove", path)
    }

    /// Lets the log start at the end of that snapshot: segments that lie wholly below and earlier
    /// snapshots go. The snapshot has to be there and to end within the log.
    pub fn delete_before(&mut self, id: OffsetAndEpoch) -> Result<(), StorageError> {
        self.running()?;
        if !self.has_snapshot(id) {
            return Err(StorageError::NoSnapshot { id });
        }
        if id.offset > self.end() {
            return Err(StorageError::OutOfRange {
                offset: id.offset.0,
                start: self.start().0,
                end: self.end().0,
            });
        }
        if id.offset <= self.start() {
            return Ok(());
        }
        self.stop_on_error(|log| log.drop_head(id))
    }

    /// The snapshots, ascending.
    pub fn snapshots(&self) -> Vec<SnapshotInfo> {
        self.shared.read().snapshots.clone()
    }

    /// Gives a whole snapshot its name, its bytes durable.
    fn name_snapshot(&self, partial: &PartialSnapshot) -> Result<SnapshotHeader, StorageError> {
        let header = partial.finished()?;
        partial.sync()?;
        let path = self.dir.join(names::snapshot(partial.id));
        self.vfs.seal(&partial.path).at("seal", &partial.path)?;
        self.vfs.rename(&partial.path, &path).at("rename", &path)?;
        Ok(header)
    }

    fn has_snapshot(&self, id: OffsetAndEpoch) -> bool {
        let state = self.shared.read();
        state.snapshots.iter().any(|snapshot| snapshot.id == id)
    }

    fn drop_head(&mut self, id: OffsetAndEpoch) -> Result<(), StorageError> {
        self.shared.write().start = id.offset;
        loop {
            let mut state = self.shared.write();
            let second = state.older.get(1).unwrap_or(&state.last).base;
            if state.older.is_empty() || second > id.offset {
                break;
            }
            let removed = state.older.remove(0);
            drop(state);
            self.remove_segment(&removed)?;
        }
        self.drop_snapshots_before(id)?;
        let end = self.end();
        self.epochs.start_at(id.offset, end);
        self.write_epochs()
    }

    /// A crash in here leaves a snapshot ahead of what is left of the log, which empties it at the
    /// next start.
    fn start_at_snapshot(&mut self, id: OffsetAndEpoch) -> Result<(), StorageError> {
        let old: Vec<Segment> = self.shared.read().segments().cloned().collect();
        for segment in old.iter().rev() {
            self.remove_segment(segment)?;
        }
        let fresh = self.create_segment(id.offset)?;
        self.sync_dir()?;
        let mut state = self.shared.write();
        state.last = fresh;
        state.older.clear();
        state.start = id.offset;
        state.end = id.offset;
        drop(state);
        self.dirty = false;
        self.drop_snapshots_before(id)?;
        self.epochs = EpochStarts::default();
        self.write_epochs()
    }

    fn drop_snapshots_before(&mut self, id: OffsetAndEpoch) -> Result<(), StorageError> {
        let mut state = self.shared.write();
        let (kept, dropped): (Vec<_>, Vec<_>) = state
            .snapshots
            .iter()
            .partition(|snapshot| snapshot.id >= id);
        state.snapshots = kept;
        drop(state);
        for snapshot in dropped {
            let path = self.dir.join(names::snapshot(snapshot.id));
            self.vfs.remove(&path).at("remove", &path)?;
        }
        self.sync_dir()
    }
}
