//! Reading the log and its snapshots from other threads than the one that writes.

use std::path::PathBuf;
use std::sync::Arc;

use quorate_protocol::batch::{BatchHeader, BatchView, MAX_BATCH_BYTES, split_batches};
use quorate_types::{Offset, OffsetAndEpoch};

use super::scan::read_chunk;
use super::shared::Shared;
use crate::error::{At, StorageError};
use crate::names;
use crate::snapshots::{SnapshotFile, SnapshotInfo};
use crate::vfs::{Vfs, VfsFile};

/// The least that is read at once, so that a point of the index and the batch wanted come together.
const LEAST_BYTES: u64 = 64 * 1024;

/// Reads a log that is being written. Clones are cheap, and any thread may have one.
///
/// It shows what is written, synced or not. A read may race a truncation: what it returns is then
/// what was there before, or an error, or a mixture of whole good batches of which the later ones
/// are of a later epoch.
#[derive(Debug, Clone)]
pub struct LogReader {
    pub(super) vfs: Arc<dyn Vfs>,
    pub(super) dir: PathBuf,
    pub(super) shared: Shared,
}

impl LogReader {
    /// The first offset of the log.
    pub fn start(&self) -> Offset {
        self.shared.read().start
    }

    /// The end of the log, exclusive.
    pub fn end(&self) -> Offset {
        self.shared.read().end
    }

    /// Whole batches from the one that holds `from` on, at most `max_bytes` (and 8 MiB) but at least
    /// one; empty only at the log's end, or if the log is being cut there. Their checksums are
    /// verified. A read ends with a segment, so there may be fewer bytes than there are.
    pub fn read(&self, from: Offset, max_bytes: usize) -> Result<Vec<BatchView>, StorageError> {
        let Some(place) = self.place_of(from)? else {
            return Ok(Vec::new());
        };
        let max_bytes = max_bytes.min(MAX_BATCH_BYTES);
        let mut position = place.position;
        let mut wanted = LEAST_BYTES.max(max_bytes as u64);
        let mut batches: Vec<BatchView> = Vec::new();
        let mut bytes = 0;
        // One round for most; a second for a batch that is larger, or one far from its index point.
        while batches.is_empty() && position < place.size {
            let asked = wanted.min(place.size - position);
            let chunk = read_chunk(&*place.file, position, asked).at("read", &place.path)?;
            let start = position;
            for batch in split_batches(chunk.clone()) {
                let bad = |error| StorageError::BadBatch {
                    path: place.path.clone(),
                    position,
                    error,
                };
                let batch = batch.map_err(bad)?;
                let size = batch.size();
                if batch.end_offset() > from {
                    bytes += size;
                    if !batches.is_empty() && bytes > max_bytes {
                        break;
                    }
                    batch.verify_crc().map_err(bad)?;
                    batches.push(batch);
                }
                position += size as u64;
            }
            if position == start {
                match BatchHeader::parse(&chunk) {
                    Ok(Some(header)) if header.size > chunk.len() && asked == wanted => {
                        wanted = header.size as u64;
                    }
                    _ => break,
                }
            }
        }
        Ok(batches)
    }

    /// The snapshots, ascending.
    pub fn snapshots(&self) -> Vec<SnapshotInfo> {
        self.shared.read().snapshots.clone()
    }

    /// Opens a snapshot. It stays readable when it is deleted meanwhile.
    pub fn snapshot(&self, id: OffsetAndEpoch) -> Result<SnapshotFile, StorageError> {
        let known = |snapshot: &SnapshotInfo| snapshot.id == id;
        if !self.shared.read().snapshots.iter().any(known) {
            return Err(StorageError::NoSnapshot { id });
        }
        SnapshotFile::open(&*self.vfs, self.dir.join(names::snapshot(id)), id)
    }

    /// Where to look for the batch that holds `from`; `None` at the end of the log.
    fn place_of(&self, from: Offset) -> Result<Option<Place>, StorageError> {
        let state = self.shared.read();
        if from == state.end {
            return Ok(None);
        }
        if !(state.start..state.end).contains(&from) {
            return Err(StorageError::OutOfRange {
                offset: from.0,
                start: state.start.0,
                end: state.end.0,
            });
        }
        let segment = state.segment_of(from);
        Ok(Some(Place {
            file: Arc::clone(&segment.file),
            path: segment.path.clone(),
            size: segment.size,
            position: segment.index.find(segment.base, from),
        }))
    }
}

/// A position of a segment.
struct Place {
    file: Arc<dyn VfsFile>,
    path: PathBuf,
    /// The segment's.
    size: u64,
    position: u64,
}
