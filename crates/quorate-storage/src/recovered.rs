//! What a log directory says when it is opened, and what was mended in it.

use std::fmt;
use std::path::PathBuf;

use quorate_protocol::batch::BatchError;
use quorate_types::{ControlRecord, Epoch, Offset, OffsetAndEpoch};

use crate::error::Malformed;
use crate::quorum_state::QuorumState;
use crate::snapshots::SnapshotInfo;

/// What a log directory says: all that Raft starts from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recovered {
    /// The first offset of the log.
    pub log_start: Offset,
    /// The end of the log, exclusive.
    pub end: Offset,
    /// Each epoch in the log and the offset of its first batch; both ascend.
    pub epochs: Vec<(Epoch, Offset)>,
    /// The `KRaftVersion` and `Voters` records in force or later, by offset: those of the latest
    /// snapshot count as written at its end − 1, which is −1 for the `0-0` one of formatting.
    pub control: Vec<(Offset, ControlRecord)>,
    /// The snapshots, ascending, with `0-0` if there is one.
    pub snapshots: Vec<SnapshotInfo>,
    /// The vote.
    pub election: Election,
    /// What was found and mended, or would be.
    pub notes: Vec<Note>,
}

impl Recovered {
    /// The latest snapshot.
    pub fn latest_snapshot(&self) -> Option<OffsetAndEpoch> {
        self.snapshots.last().map(|snapshot| snapshot.id)
    }

    /// The earliest snapshot.
    pub fn earliest_snapshot(&self) -> Option<OffsetAndEpoch> {
        self.snapshots.first().map(|snapshot| snapshot.id)
    }

    /// The highest epoch that log and snapshots show.
    pub fn last_epoch(&self) -> Epoch {
        let log = self.epochs.last().map(|(epoch, _)| *epoch);
        let snapshot = self.latest_snapshot().map(|id| id.epoch);
        log.max(snapshot).unwrap_or_default()
    }
}

/// What is known of the node's vote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Election {
    /// The node never voted: neither `quorum-state` nor anything in the log.
    Fresh,
    /// What `quorum-state` says.
    Known(QuorumState),
    /// There was a vote, or may have been, and it cannot be read. The node must never vote nor lead
    /// with this directory; it may follow, from `at_least` on.
    Lost {
        /// Why it cannot be read; `None` if the file is missing.
        problem: Option<Malformed>,
        /// The highest epoch that log and snapshots show.
        at_least: Epoch,
    },
}

/// Something that was found when a log was opened, and explained.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Note {
    /// The last write was torn; the segment is cut.
    TornTail {
        /// The segment.
        path: PathBuf,
        /// What is left of it.
        position: u64,
        /// How many bytes go.
        bytes: u64,
        /// What stood there.
        found: BatchError,
    },
    /// A segment is removed that an interrupted deletion or installation left behind; the snapshot
    /// stands for it.
    CoveredSegment {
        /// The segment.
        path: PathBuf,
        /// The snapshot.
        snapshot: OffsetAndEpoch,
    },
    /// A segment is removed that an interrupted truncation left behind.
    TruncatedSegment {
        /// The segment.
        path: PathBuf,
    },
    /// The log is emptied: its latest snapshot is ahead of it.
    Emptied {
        /// The snapshot.
        snapshot: OffsetAndEpoch,
        /// The log's end before.
        end: Offset,
    },
    /// A snapshot that is not whole; it is left where it is and not used.
    BadSnapshot {
        /// The file.
        path: PathBuf,
        /// What is wrong, in words.
        problem: String,
    },
    /// A snapshot below the log's start is removed.
    OldSnapshot {
        /// The file.
        path: PathBuf,
    },
    /// A temporary or deleted file is removed.
    Leftover {
        /// The file.
        path: PathBuf,
    },
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Note::TornTail {
                path,
                position,
                bytes,
                found,
            } => write!(
                f,
                "{}: the last {bytes} bytes from position {position} are a torn write ({found}) and are cut off",
                path.display()
            ),
            Note::CoveredSegment { path, snapshot } => write!(
                f,
                "{} is left from an interrupted deletion, snapshot {snapshot} stands for it; it is removed",
                path.display()
            ),
            Note::TruncatedSegment { path } => write!(
                f,
                "{} is left from an interrupted truncation and is removed",
                path.display()
            ),
            Note::Emptied { snapshot, end } => write!(
                f,
                "the log ends at {end}, behind snapshot {snapshot}; it is emptied to continue there"
            ),
            Note::BadSnapshot { path, problem } => {
                write!(f, "{} is not used: {problem}", path.display())
            }
            Note::OldSnapshot { path } => write!(
                f,
                "{} lies below the log's start and is removed",
                path.display()
            ),
            Note::Leftover { path } => {
                write!(f, "{} is a leftover and is removed", path.display())
            }
        }
    }
}
