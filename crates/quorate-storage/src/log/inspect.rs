//! Reading a log directory without changing it: what it holds, and what has to be mended before it
//! can be written to.
//!
//! 1. The directory is listed; the latest snapshot that is whole is found.
//! 2. The segments are read in order. Where one does not follow on the one before, or is damaged
//!    before its end, the cause must be known: an interrupted deletion (a snapshot reaches the later
//!    segment), an interrupted truncation (the missing segment lies there as `.deleted`), a torn
//!    last write (nothing good follows). Anything else is refused.
//! 3. A snapshot ahead of the log empties it. A log that starts above 0 needs a snapshot that reaches
//!    its start.
//! 4. The vote is read.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use quorate_protocol::batch::{BatchError, BatchView};
use quorate_protocol::snapshot::SnapshotHeader;
use quorate_types::{ControlRecord, Epoch, Offset, OffsetAndEpoch};

use super::epochs::EpochStarts;
use super::index::SparseIndex;
use super::scan::{Follows, ScanEnd, find_good, scan};
use crate::error::{At, Malformed, StorageError};
use crate::names::{self, LogFile};
use crate::quorum_state::QuorumState;
use crate::recovered::{Election, Note, Recovered};
use crate::snapshots::{SnapshotInfo, is_unusable, read_header};
use crate::vfs::{OpenMode, Vfs, VfsFile};

/// More than an honest `quorum-state` has.
const QUORUM_STATE_LIMIT: u64 = 1024 * 1024;

/// A segment as it will be once the directory is mended.
#[derive(Debug)]
pub(crate) struct ScannedSegment {
    pub(crate) base: Offset,
    pub(crate) size: u64,
    pub(crate) index: SparseIndex,
}

/// A step of mending.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fix {
    Remove(PathBuf),
    Truncate(PathBuf, u64),
    Create(PathBuf),
}

/// What a directory holds.
#[derive(Debug)]
pub(crate) struct Inspection {
    pub(crate) segments: Vec<ScannedSegment>,
    pub(crate) epochs: EpochStarts,
    pub(crate) recovered: Recovered,
    /// In the order in which they are to be made.
    pub(crate) fixes: Vec<Fix>,
}

/// Reads the metadata log's directory.
pub(crate) fn inspect(vfs: &dyn Vfs, dir: &Path) -> Result<Inspection, StorageError> {
    let mut inspector = Inspector {
        vfs,
        dir,
        listing: Listing::read(vfs, dir)?,
        snapshot: None,
        segments: Vec::new(),
        epochs: EpochStarts::default(),
        control: Vec::new(),
        follows: None,
        notes: Vec::new(),
        fixes: Vec::new(),
    };
    inspector.find_snapshot()?;
    inspector.read_segments()?;
    inspector.empty_behind_snapshot();
    inspector.start_if_empty()?;
    inspector.check_coverage()?;
    inspector.remove_leftovers();
    inspector.finish()
}

/// The files of the directory that matter.
#[derive(Debug, Default)]
struct Listing {
    segments: BTreeSet<Offset>,
    deleted_segments: BTreeSet<Offset>,
    snapshots: BTreeSet<OffsetAndEpoch>,
    leftovers: Vec<String>,
    quorum_state: bool,
}

impl Listing {
    fn read(vfs: &dyn Vfs, dir: &Path) -> Result<Listing, StorageError> {
        let mut listing = Listing::default();
        let entries = match vfs.list(dir) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(listing),
            entries => entries.at("list", dir)?,
        };
        for entry in entries.into_iter().filter(|entry| !entry.is_dir) {
            match names::parse(&entry.name) {
                Some(LogFile::Segment(base)) => {
                    listing.segments.insert(base);
                }
                Some(LogFile::DeletedSegment(base)) => {
                    listing.deleted_segments.insert(base);
                    listing.leftovers.push(entry.name);
                }
                Some(LogFile::Snapshot(id)) => {
                    listing.snapshots.insert(id);
                }
                Some(LogFile::Leftover) => listing.leftovers.push(entry.name),
                Some(LogFile::Derived(_)) | None => {
                    listing.quorum_state |= entry.name == names::QUORUM_STATE;
                }
            }
        }
        Ok(listing)
    }
}

struct Inspector<'a> {
    vfs: &'a dyn Vfs,
    dir: &'a Path,
    listing: Listing,
    /// The latest snapshot that is whole.
    snapshot: Option<(OffsetAndEpoch, SnapshotHeader)>,
    segments: Vec<ScannedSegment>,
    epochs: EpochStarts,
    control: Vec<(Offset, ControlRecord)>,
    /// What the next segment has to continue; `None` before the first.
    follows: Option<Follows>,
    notes: Vec<Note>,
    fixes: Vec<Fix>,
}

impl Inspector<'_> {
    fn find_snapshot(&mut self) -> Result<(), StorageError> {
        while let Some(id) = self.listing.snapshots.last().copied() {
            let path = self.dir.join(names::snapshot(id));
            match read_header(self.vfs, &path, id) {
                Ok(header) => {
                    self.snapshot = Some((id, header));
                    break;
                }
                Err(error) if is_unusable(&error) => {
                    let problem = error.to_string();
                    self.notes.push(Note::BadSnapshot { path, problem });
                    self.listing.snapshots.remove(&id);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn read_segments(&mut self) -> Result<(), StorageError> {
        let bases: Vec<Offset> = self.listing.segments.iter().copied().collect();
        for (index, base) in bases.iter().copied().enumerate() {
            if !self.continues(base)? {
                self.remove_from_the_end(&bases[index..]);
                return Ok(());
            }
            let end = self.read_segment(base)?;
            if let Some(error) = end.bad {
                let later = &bases[index + 1..];
                if !self.judge_bad_end(base, end.position, end.follows, error, later)? {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Whether the segment at `base` is to be read; if not, it and all after it are left from an
    /// interrupted truncation.
    fn continues(&mut self, base: Offset) -> Result<bool, StorageError> {
        let Some(follows) = self.follows else {
            let epoch = Epoch(0);
            self.follows = Some(Follows { end: base, epoch });
            return Ok(true);
        };
        if follows.end == base {
            return Ok(true);
        }
        if self.drop_covered(base) {
            return Ok(true);
        }
        if self.listing.deleted_segments.contains(&follows.end) && follows.end < base {
            return Ok(false);
        }
        Err(StorageError::Gap {
            path: self.segment_path(base),
            expected: follows.end.0,
            found: base.0,
        })
    }

    /// Drops all segments before `base` if a snapshot stands for them.
    fn drop_covered(&mut self, base: Offset) -> bool {
        let Some((snapshot, _)) = self.snapshot else {
            return false;
        };
        if snapshot.offset < base {
            return false;
        }
        for segment in std::mem::take(&mut self.segments) {
            let path = self.segment_path(segment.base);
            self.fixes.push(Fix::Remove(path.clone()));
            self.notes.push(Note::CoveredSegment { path, snapshot });
        }
        self.epochs = EpochStarts::default();
        self.control.clear();
        let epoch = Epoch(0);
        self.follows = Some(Follows { end: base, epoch });
        true
    }

    fn read_segment(&mut self, base: Offset) -> Result<ScanEnd, StorageError> {
        let path = self.segment_path(base);
        let file = self.open(&path)?;
        let len = file.len().at("read", &path)?;
        let mut index = SparseIndex::default();
        let follows = self.follows.unwrap_or(Follows {
            end: base,
            epoch: Epoch(0),
        });
        let (epochs, control) = (&mut self.epochs, &mut self.control);
        let end = scan(&*file, 0, len, follows, |position, batch| {
            index.note(base, batch.header(), position);
            epochs.note(batch.epoch(), batch.base_offset());
            note_control(control, batch).map_err(|error| ScanError::Batch { position, error })
        })
        .map_err(|error| error.at(&path))?;
        self.follows = Some(end.follows);
        self.segments.push(ScannedSegment {
            base,
            size: end.position,
            index,
        });
        Ok(end)
    }

    /// Judges what stands at `position` of the segment at `base` instead of a batch. Says whether
    /// the segments after it are to be read.
    fn judge_bad_end(
        &mut self,
        base: Offset,
        position: u64,
        follows: Follows,
        error: BatchError,
        later: &[Offset],
    ) -> Result<bool, StorageError> {
        if let Some(next) = later.first()
            && self.drop_covered(*next)
        {
            return Ok(true);
        }
        let path = self.segment_path(base);
        let file = self.open(&path)?;
        let len = file.len().at("read", &path)?;
        let mut good_at = find_good(&*file, position, len, follows.end).at("read", &path)?;
        for base in later {
            let later_path = self.segment_path(*base);
            if good_at.is_none() && self.open(&later_path)?.len().at("read", &later_path)? > 0 {
                good_at = Some(u64::MAX);
            }
        }
        if let Some(good_at) = good_at {
            return Err(StorageError::Damaged {
                path,
                position,
                error,
                good_at,
            });
        }
        self.remove_from_the_end(later);
        self.fixes.push(Fix::Truncate(path.clone(), position));
        self.notes.push(Note::TornTail {
            path,
            position,
            bytes: len - position,
            found: error,
        });
        Ok(false)
    }

    /// Removes segments, the last one first: so what a crash leaves still follows on one another.
    fn remove_from_the_end(&mut self, bases: &[Offset]) {
        for base in bases.iter().rev() {
            let path = self.segment_path(*base);
            self.notes
                .push(Note::TruncatedSegment { path: path.clone() });
            self.fixes.push(Fix::Remove(path));
        }
    }

    /// A snapshot ahead of the log stands for all of it: so a crash leaves a log whose snapshot was
    /// installed and whose segments were not removed yet.
    fn empty_behind_snapshot(&mut self) {
        let Some((snapshot, _)) = self.snapshot else {
            return;
        };
        let end = self.follows.map_or(Offset::ZERO, |follows| follows.end);
        let last = OffsetAndEpoch {
            offset: end,
            epoch: self.epochs.last().unwrap_or_default(),
        };
        let at_snapshot = self.epochs.last().is_none() && end == snapshot.offset;
        if at_snapshot || snapshot <= last {
            return;
        }
        for segment in std::mem::take(&mut self.segments) {
            self.fixes
                .push(Fix::Remove(self.segment_path(segment.base)));
        }
        if !self.listing.segments.is_empty() {
            self.notes.push(Note::Emptied { snapshot, end });
        }
        self.epochs = EpochStarts::default();
        self.control.clear();
        self.follows = Some(Follows {
            end: snapshot.offset,
            epoch: snapshot.epoch,
        });
    }

    /// A log has at least one segment. Its first is durable before `quorum-state` is first written.
    fn start_if_empty(&mut self) -> Result<(), StorageError> {
        let replaced = self
            .follows
            .is_some_and(|follows| follows.end > Offset::ZERO);
        if self.listing.segments.is_empty() && self.listing.quorum_state && !replaced {
            return Err(StorageError::LogMissing {
                dir: self.dir.to_path_buf(),
            });
        }
        if self.segments.is_empty() {
            let base = self.follows.map_or(Offset::ZERO, |follows| follows.end);
            self.segments.push(ScannedSegment {
                base,
                size: 0,
                index: SparseIndex::default(),
            });
            let path = self.segment_path(base);
            self.fixes.retain(|fix| *fix != Fix::Remove(path.clone()));
            self.fixes.push(Fix::Create(path));
        }
        Ok(())
    }

    fn check_coverage(&mut self) -> Result<(), StorageError> {
        let start = self.log_start();
        let latest = self.snapshot.as_ref().map(|(id, _)| *id);
        if start > Offset::ZERO && latest.is_none_or(|id| id.offset < start) {
            return Err(StorageError::Uncovered {
                dir: self.dir.to_path_buf(),
                log_start: start.0,
                latest,
            });
        }
        Ok(())
    }

    fn remove_leftovers(&mut self) {
        for name in &self.listing.leftovers {
            let path = self.dir.join(name);
            self.fixes.push(Fix::Remove(path.clone()));
            self.notes.push(Note::Leftover { path });
        }
        let start = self.log_start();
        for id in self.listing.snapshots.clone() {
            if id.offset < start {
                let path = self.dir.join(names::snapshot(id));
                self.fixes.push(Fix::Remove(path.clone()));
                self.notes.push(Note::OldSnapshot { path });
                self.listing.snapshots.remove(&id);
            }
        }
    }

    fn finish(mut self) -> Result<Inspection, StorageError> {
        let mut snapshots = Vec::new();
        for id in &self.listing.snapshots {
            let path = self.dir.join(names::snapshot(*id));
            let size = self.open(&path)?.len().at("read", &path)?;
            snapshots.push(SnapshotInfo { id: *id, size });
        }
        let start = self.log_start();
        let end = self.follows.map_or(start, |follows| follows.end);
        let mut recovered = Recovered {
            log_start: start,
            end,
            epochs: self.epochs.to_vec(),
            control: self.control_in_force(),
            snapshots,
            election: Election::Fresh,
            notes: std::mem::take(&mut self.notes),
        };
        recovered.election = self.election(&recovered)?;
        Ok(Inspection {
            segments: self.segments,
            epochs: self.epochs,
            recovered,
            fixes: self.fixes,
        })
    }

    fn control_in_force(&self) -> Vec<(Offset, ControlRecord)> {
        let mut control = Vec::new();
        let mut from = Offset(i64::MIN);
        if let Some((id, header)) = &self.snapshot {
            from = id.offset;
            if let Some((version, voters)) = &header.quorum {
                let at = id.offset - 1;
                control.push((at, ControlRecord::KRaftVersion(*version)));
                if !voters.is_empty() {
                    control.push((at, ControlRecord::Voters(voters.clone())));
                }
            }
        }
        let later = self.control.iter().filter(|(at, _)| *at >= from);
        control.extend(later.cloned());
        control
    }

    fn election(&self, recovered: &Recovered) -> Result<Election, StorageError> {
        let at_least = recovered.last_epoch();
        if !self.listing.quorum_state {
            let untouched = at_least == Epoch(0) && recovered.end == Offset::ZERO;
            return Ok(match untouched {
                true => Election::Fresh,
                false => Election::Lost {
                    problem: None,
                    at_least,
                },
            });
        }
        let path = self.dir.join(names::QUORUM_STATE);
        let bytes = self
            .vfs
            .read_all(&path, QUORUM_STATE_LIMIT)
            .at("read", &path)?;
        match QuorumState::decode(&bytes) {
            Ok(state) => Ok(Election::Known(state)),
            Err(problem @ Malformed::Version(_)) => Err(StorageError::Malformed { path, problem }),
            Err(problem) => Ok(Election::Lost {
                problem: Some(problem),
                at_least,
            }),
        }
    }

    fn log_start(&self) -> Offset {
        self.segments
            .first()
            .map_or(Offset::ZERO, |first| first.base)
    }

    fn segment_path(&self, base: Offset) -> PathBuf {
        self.dir.join(names::segment(base, "log"))
    }

    fn open(&self, path: &Path) -> Result<Arc<dyn VfsFile>, StorageError> {
        self.vfs.open(path, OpenMode::Read).at("open", path)
    }
}

/// Keeps what a control batch says about voters and `kraft.version`.
fn note_control(
    control: &mut Vec<(Offset, ControlRecord)>,
    batch: &BatchView,
) -> Result<(), BatchError> {
    if !batch.is_control() {
        return Ok(());
    }
    for (index, record) in batch.control_records()?.into_iter().enumerate() {
        if matches!(
            record,
            ControlRecord::KRaftVersion(_) | ControlRecord::Voters(_)
        ) {
            control.push((batch.base_offset() + index as i64, record));
        }
    }
    Ok(())
}

/// Why a scan of a segment stopped before a bad batch.
enum ScanError {
    Io(io::Error),
    Batch { position: u64, error: BatchError },
}

impl From<io::Error> for ScanError {
    fn from(error: io::Error) -> ScanError {
        ScanError::Io(error)
    }
}

impl ScanError {
    fn at(self, path: &Path) -> StorageError {
        match self {
            ScanError::Io(source) => StorageError::Io {
                doing: "read",
                path: path.to_path_buf(),
                source,
            },
            ScanError::Batch { position, error } => StorageError::BadBatch {
                path: path.to_path_buf(),
                position,
                error,
            },
        }
    }
}
