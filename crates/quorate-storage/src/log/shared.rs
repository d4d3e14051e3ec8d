//! What the log's writer and its readers share: the segments and how far they are written.

use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use quorate_types::Offset;

use super::index::SparseIndex;
use crate::snapshots::SnapshotInfo;
use crate::vfs::VfsFile;

/// A segment that is open.
#[derive(Debug, Clone)]
pub(crate) struct Segment {
    pub(crate) base: Offset,
    pub(crate) path: PathBuf,
    pub(crate) file: Arc<dyn VfsFile>,
    /// The bytes that are written, synced or not.
    pub(crate) size: u64,
    pub(crate) index: SparseIndex,
}

/// The log as it is now.
#[derive(Debug)]
pub(crate) struct State {
    /// At or after the first segment's base.
    pub(crate) start: Offset,
    pub(crate) end: Offset,
    /// The segments that are complete, each starting where the one before ends.
    pub(crate) older: Vec<Segment>,
    /// The segment that is written to.
    pub(crate) last: Segment,
    /// Ascending by id.
    pub(crate) snapshots: Vec<SnapshotInfo>,
}

impl State {
    /// The segment that holds `offset`, which lies in the log.
    pub(crate) fn segment_of(&self, offset: Offset) -> &Segment {
        if self.last.base <= offset {
            return &self.last;
        }
        let after = self.older.partition_point(|segment| segment.base <= offset);
        self.older
            .get(after.saturating_sub(1))
            .unwrap_or(&self.last)
    }

    /// All segments in order.
    pub(crate) fn segments(&self) -> impl Iterator<Item = &Segment> {
        self.older.iter().chain([&self.last])
    }
}

/// The writer holds it for moments only, never during I/O.
#[derive(Debug, Clone)]
pub(crate) struct Shared(Arc<RwLock<State>>);

impl Shared {
    pub(crate) fn new(state: State) -> Shared {
        Shared(Arc::new(RwLock::new(state)))
    }

    pub(crate) fn read(&self) -> RwLockReadGuard<'_, State> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn write(&self) -> RwLockWriteGuard<'_, State> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}
