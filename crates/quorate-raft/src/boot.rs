//! What a node finds on its disk when it starts.

use std::collections::BTreeMap;

use quorate_types::{ControlRecord, Epoch, NodeId, Offset, OffsetAndEpoch, ReplicaKey, VoterSet};

/// The vote and the leader of an epoch: what `quorum-state` keeps.
///
/// A leader's own state names it as leader and shows no vote.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ElectionState {
    /// The highest epoch seen.
    pub epoch: Epoch,
    /// The leader of that epoch, if known.
    pub leader: Option<NodeId>,
    /// Whom this node voted for in that epoch.
    pub voted: Option<ReplicaKey>,
}

/// The log and its snapshots, as recovery found them; all of it is durable.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LogSummary {
    /// The first offset of the log.
    pub start: Offset,
    /// The end of the log, exclusive.
    pub end: Offset,
    /// Each epoch in the log and the offset of its first record, ascending in both.
    pub epochs: Vec<(Epoch, Offset)>,
    /// Every `Voters` and `KRaftVersion` record in force or later, by offset; others are ignored.
    /// Those of a snapshot count as written at its end − 1: offset −1 for the `0-0` checkpoint that
    /// formatting a dynamic quorum leaves.
    pub control: Vec<(Offset, ControlRecord)>,
    /// The snapshots and their sizes in bytes, without `0-0`, which is never served. None is ahead
    /// of the log: one that is empties it.
    pub snapshots: BTreeMap<OffsetAndEpoch, u64>,
}

/// Everything that a node starts from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Boot {
    /// `quorum-state`; `None` only if there never was one.
    pub election: Option<ElectionState>,
    /// Log and snapshots.
    pub log: LogSummary,
    /// `controller.quorum.voters`; in force while log and snapshots hold no voter set.
    pub static_voters: Option<VoterSet>,
}

/// Why a node cannot start from what its disk holds.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BootError {
    /// A controller's log has been written to, but the file with its vote is gone. It may have voted
    /// in any epoch, so it must not vote again under this directory id.
    #[error(
        "quorum-state is missing beside a log that ends in epoch {log_epoch}: this voter no longer \
         knows its vote; restore the file or format the directory anew and join as a new replica"
    )]
    VoteLost {
        /// The last epoch of the log.
        log_epoch: Epoch,
    },
    /// The log starts behind offset 0 and no snapshot reaches its start.
    #[error("the log starts at {start} but no snapshot reaches that far")]
    Uncovered {
        /// The log's start.
        start: Offset,
    },
    /// Offsets or epochs of the summary contradict each other.
    #[error("the log summary contradicts itself at offset {at}")]
    Inconsistent {
        /// Where.
        at: Offset,
    },
}

impl LogSummary {
    /// Checks that ends, epochs and snapshots fit each other.
    pub(crate) fn check(&self) -> Result<(), BootError> {
        if self.end < self.start || self.start < Offset::ZERO {
            return Err(BootError::Inconsistent { at: self.end });
        }
        let ordered = self
            .epochs
            .windows(2)
            .all(|pair| pair[0].0 < pair[1].0 && pair[0].1 < pair[1].1);
        let last_inside = self.epochs.last().is_none_or(|last| last.1 < self.end);
        if !ordered || !last_inside {
            return Err(BootError::Inconsistent { at: self.end });
        }
        let ahead = self.snapshots.keys().find(|id| id.offset > self.end);
        if let Some(id) = ahead {
            return Err(BootError::Inconsistent { at: id.offset });
        }
        let covered = self.snapshots.keys().any(|id| id.offset >= self.start);
        if self.start > Offset::ZERO && !covered {
            return Err(BootError::Uncovered { start: self.start });
        }
        Ok(())
    }
}
