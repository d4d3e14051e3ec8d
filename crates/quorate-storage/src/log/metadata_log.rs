//! The writer of a metadata log.

use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;
use quorate_protocol::batch::{BatchError, BatchHeader};
use quorate_types::{Epoch, KRaftVersion, Offset};

use super::cut::cut_segment;
use super::epochs::EpochStarts;
use super::index::SparseIndex;
use super::scan::Follows;
use super::shared::{Segment, Shared};
use super::{LogConfig, LogReader};
use crate::error::{At, StorageError};
use crate::names;
use crate::quorum_state::QuorumState;
use crate::vfs::{LockGuard, OpenMode, Vfs, replace_file};

/// The producer state that Kafka expects beside each segment: version 1, its checksum, no entries.
const NO_PRODUCERS: [u8; 10] = [0, 1, 0x48, 0x67, 0x4b, 0xc7, 0, 0, 0, 0];

/// The metadata log of one node, to be written by one thread, which works off what Raft asks for in
/// order: appends, one sync for all of them, truncations, votes. [`LogReader`] is for everybody
/// else.
///
/// - The segments follow on one another without gaps; only the last is written to.
/// - A segment is synced before the next one is made, so one sync of the last makes all durable.
/// - Later segments are removed last first, earlier ones first first, each durably before the next:
///   a crash leaves a log without gaps.
/// - After a write or sync that failed nothing is written any more: the log stopped, and every
///   call is an error. It is never tried again, since a second sync would succeed without the bytes
///   of the first.
///
/// ```
/// use std::path::Path;
/// use std::sync::Arc;
/// use bytes::Bytes;
/// use quorate_protocol::batch::encode_data_batch;
/// use quorate_storage::{LogConfig, MetadataLog, vfs::MemVfs};
/// use quorate_types::{Epoch, Offset, WallTime};
///
/// let disk = Arc::new(MemVfs::new());
/// let (mut log, found) = MetadataLog::open(disk, Path::new("/data"), LogConfig::default())?;
/// assert_eq!(found.end, Offset(0));
/// let batch = encode_data_batch(Offset(0), Epoch(1), WallTime(7), &[Bytes::from("value")])?;
/// log.append(&[batch])?;
/// assert_eq!(log.sync()?, Offset(1)); // durable now
/// assert_eq!(log.reader().read(Offset(0), 1024)?.len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct MetadataLog {
    pub(super) vfs: Arc<dyn Vfs>,
    /// `__cluster_metadata-0`.
    pub(super) dir: PathBuf,
    config: LogConfig,
    pub(super) shared: Shared,
    pub(super) epochs: EpochStarts,
    /// Whether the last segment holds bytes that were not synced.
    pub(super) dirty: bool,
    stopped: bool,
    /// Tells the temporary files of this run apart.
    pub(super) serial: u64,
    _lock: Box<dyn LockGuard>,
}

impl MetadataLog {
    pub(super) fn new(
        vfs: Arc<dyn Vfs>,
        dir: PathBuf,
        config: LogConfig,
        shared: Shared,
        epochs: EpochStarts,
        lock: Box<dyn LockGuard>,
    ) -> MetadataLog {
        MetadataLog {
            vfs,
            dir,
            config,
            shared,
            epochs,
            dirty: false,
            stopped: false,
            serial: 0,
            _lock: lock,
        }
    }

    /// Appends batches that continue the log; says where it ends then. They are durable after
    /// [`MetadataLog::sync`]. Batches that do not continue the log are refused and none is written.
    pub fn append(&mut self, batches: &[Bytes]) -> Result<Offset, StorageError> {
        self.running()?;
        let headers = self.check(batches)?;
        self.stop_on_error(|log| log.write_batches(batches, &headers))
    }

    /// Makes all that was appended durable; says where the log ends.
    pub fn sync(&mut self) -> Result<Offset, StorageError> {
        self.running()?;
        self.stop_on_error(MetadataLog::sync_last)?;
        Ok(self.end())
    }

    /// Cuts the log, durably, so that it ends at `end`, or at the start of the batch that holds
    /// `end`; says where it ends then. Refused below a snapshot.
    pub fn truncate(&mut self, end: Offset) -> Result<Offset, StorageError> {
        self.running()?;
        if end >= self.end() {
            return Ok(self.end());
        }
        if end < self.start() {
            return Err(StorageError::OutOfRange {
                offset: end.0,
                start: self.start().0,
                end: self.end().0,
            });
        }
        if let Some(snapshot) = self.snapshots().last().map(|snapshot| snapshot.id)
            && snapshot.offset > end
        {
            return Err(StorageError::Committed {
                end: end.0,
                snapshot,
            });
        }
        self.stop_on_error(|log| log.cut(end))
    }

    /// Writes the vote, durably, in the form of that `kraft.version`.
    pub fn save_election(
        &mut self,
        state: &QuorumState,
        kraft_version: KRaftVersion,
    ) -> Result<(), StorageError> {
        self.running()?;
        self.stop_on_error(|log| {
            let path = log.dir.join(names::QUORUM_STATE);
            replace_file(&*log.vfs, &path, &state.encode(kraft_version)).at("write", &path)
        })
    }

    /// Syncs, and writes the files that Kafka's tools like to find beside the segments.
    pub fn close(mut self) -> Result<(), StorageError> {
        self.running()?;
        self.stop_on_error(|log| {
            log.sync_last()?;
            log.write_derived()?;
            log.write_epochs()
        })
    }

    /// A handle for reading.
    pub fn reader(&self) -> LogReader {
        LogReader {
            vfs: Arc::clone(&self.vfs),
            dir: self.dir.clone(),
            shared: self.shared.clone(),
        }
    }

    /// The first offset of the log.
    pub fn start(&self) -> Offset {
        self.shared.read().start
    }

    /// The end of the log, exclusive, durable or not.
    pub fn end(&self) -> Offset {
        self.shared.read().end
    }

    /// The bytes of all segments.
    pub fn size(&self) -> u64 {
        let state = self.shared.read();
        state.segments().map(|segment| segment.size).sum()
    }

    /// Each epoch in the log and the offset of its first batch; both ascend.
    pub fn epochs(&self) -> Vec<(Epoch, Offset)> {
        self.epochs.to_vec()
    }

    /// Whether a failed write or sync stopped the log.
    pub fn is_stopped(&self) -> bool {
        self.stopped
    }

    pub(super) fn running(&self) -> Result<(), StorageError> {
        match self.stopped {
            false => Ok(()),
            true => Err(StorageError::Stopped {
                dir: self.dir.clone(),
            }),
        }
    }

    /// Runs what changes files. If it fails, nothing is known about them: the log stops.
    pub(super) fn stop_on_error<T>(
        &mut self,
        change: impl FnOnce(&mut MetadataLog) -> Result<T, StorageError>,
    ) -> Result<T, StorageError> {
        let result = change(self);
        self.stopped |= result.is_err();
        result
    }

    /// A new, empty segment. Its name is durable once the directory is synced.
    pub(super) fn create_segment(&self, base: Offset) -> Result<Segment, StorageError> {
        let path = self.dir.join(names::segment(base, "log"));
        let file = self
            .vfs
            .open(&path, OpenMode::Truncate)
            .at("create", &path)?;
        Ok(Segment {
            base,
            path,
            file,
            size: 0,
            index: SparseIndex::default(),
        })
    }

    /// Removes a segment, durably, and what belongs to it.
    pub(super) fn remove_segment(&self, segment: &Segment) -> Result<(), StorageError> {
        self.vfs.remove(&segment.path).at("remove", &segment.path)?;
        for kind in ["index", "timeindex", "snapshot"] {
            let path = self.dir.join(names::segment(segment.base, kind));
            if self.vfs.exists(&path) {
                self.vfs.remove(&path).at("remove", &path)?;
            }
        }
        self.sync_dir()
    }

    /// Replaces `leader-epoch-checkpoint`. It follows from the log, so that it need not be durable.
    pub(super) fn write_epochs(&self) -> Result<(), StorageError> {
        let path = self.dir.join(names::LEADER_EPOCHS);
        let temporary = self.dir.join(names::LEADER_EPOCHS.to_owned() + ".tmp");
        self.write_small(&temporary, &self.epochs.encode())?;
        self.vfs.rename(&temporary, &path).at("write", &path)
    }

    pub(super) fn sync_dir(&self) -> Result<(), StorageError> {
        self.vfs.sync_dir(&self.dir).at("sync", &self.dir)
    }

    /// The headers of batches that continue the log.
    fn check(&self, batches: &[Bytes]) -> Result<Vec<BatchHeader>, StorageError> {
        let mut follows = Follows {
            end: self.end(),
            epoch: self.epochs.last().unwrap_or_default(),
        };
        let mut headers = Vec::with_capacity(batches.len());
        for batch in batches {
            let left = batch.len();
            let header = BatchHeader::parse(batch)?
                .filter(|header| header.size == left)
                .ok_or(BatchError::Trailing { left })?;
            follows = follows.check(&header)?;
            headers.push(header);
        }
        Ok(headers)
    }

    fn write_batches(
        &mut self,
        mut batches: &[Bytes],
        mut headers: &[BatchHeader],
    ) -> Result<Offset, StorageError> {
        while !batches.is_empty() {
            let fitting = self.fitting(headers);
            if fitting == 0 {
                self.roll()?;
                continue;
            }
            let (first, later) = batches.split_at(fitting);
            let (first_headers, later_headers) = headers.split_at(fitting);
            self.write_to_last(first, first_headers)?;
            (batches, headers) = (later, later_headers);
        }
        Ok(self.end())
    }

    /// How many of these batches go into the last segment; one at least if it is empty.
    fn fitting(&self, headers: &[BatchHeader]) -> usize {
        let state = self.shared.read();
        let base = state.last.base;
        let mut size = state.last.size;
        let mut first_timestamp = state.last.index.first_timestamp;
        let fits = headers.iter().take_while(|header| {
            let first = *first_timestamp.get_or_insert(header.timestamp.0);
            let full = size > 0
                && (size + header.size as u64 > self.config.segment_bytes
                    || header.timestamp.0.saturating_sub(first) > self.config.segment_ms
                    || header.end_offset() - base > i64::from(i32::MAX));
            size += header.size as u64;
            !full
        });
        fits.count()
    }

    fn write_to_last(
        &mut self,
        batches: &[Bytes],
        headers: &[BatchHeader],
    ) -> Result<(), StorageError> {
        let (file, path, size) = {
            let last = &self.shared.read().last;
            (Arc::clone(&last.file), last.path.clone(), last.size)
        };
        self.dirty = true;
        let written = match batches {
            [one] => file.write_at(size, one),
            many => file.write_at(size, &many.concat()),
        };
        written.at("write", &path)?;
        let mut new_epoch = false;
        let mut state = self.shared.write();
        for header in headers {
            let position = state.last.size;
            let base = state.last.base;
            state.last.index.note(base, header, position);
            state.last.size += header.size as u64;
            state.end = header.end_offset();
            new_epoch |= self.epochs.note(header.epoch, header.base_offset);
        }
        drop(state);
        match new_epoch {
            true => self.write_epochs(),
            false => Ok(()),
        }
    }

    /// Completes the last segment and starts the next one.
    fn roll(&mut self) -> Result<(), StorageError> {
        self.sync_last()?;
        self.write_derived()?;
        let next = self.create_segment(self.end())?;
        self.sync_dir()?;
        let mut state = self.shared.write();
        let complete = std::mem::replace(&mut state.last, next);
        state.older.push(complete);
        Ok(())
    }

    fn sync_last(&mut self) -> Result<(), StorageError> {
        if self.dirty {
            let (file, path) = {
                let last = &self.shared.read().last;
                (Arc::clone(&last.file), last.path.clone())
            };
            file.sync().at("sync", &path)?;
            self.dirty = false;
        }
        Ok(())
    }

    fn cut(&mut self, end: Offset) -> Result<Offset, StorageError> {
        while self.shared.read().last.base > end {
            let mut state = self.shared.write();
            let Some(previous) = state.older.pop() else {
                break;
            };
            let removed = std::mem::replace(&mut state.last, previous);
            state.end = removed.base;
            drop(state);
            self.remove_segment(&removed)?;
        }
        let last = self.shared.read().last.clone();
        let cut = cut_segment(&last, end)?;
        last.file.truncate(cut.size).at("truncate", &last.path)?;
        last.file.sync().at("sync", &last.path)?;
        self.dirty = false;
        self.epochs.truncate(cut.end);
        let mut state = self.shared.write();
        state.end = cut.end;
        state.last.size = cut.size;
        state.last.index = cut.index;
        drop(state);
        self.write_epochs()?;
        Ok(cut.end)
    }

    /// Writes the indexes of the last segment and the producer state at the log's end.
    fn write_derived(&self) -> Result<(), StorageError> {
        let mut state = self.shared.write();
        let (base, end) = (state.last.base, state.end);
        let files = [
            (base, "index", state.last.index.offset_file()),
            (base, "timeindex", state.last.index.time_file()),
            (end, "snapshot", NO_PRODUCERS.to_vec()),
        ];
        drop(state);
        for (offset, kind, bytes) in files {
            self.write_small(&self.dir.join(names::segment(offset, kind)), &bytes)?;
        }
        Ok(())
    }

    fn write_small(&self, path: &std::path::Path, bytes: &[u8]) -> Result<(), StorageError> {
        let file = self.vfs.open(path, OpenMode::Truncate).at("create", path)?;
        file.write_at(0, bytes).at("write", path)
    }
}
