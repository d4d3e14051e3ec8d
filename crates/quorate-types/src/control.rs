//! What control records say, decoded: the part of the log that Raft reads itself.

use crate::{NodeId, VoterSet, WallTime};

/// The version of the quorum's own protocol (feature `kraft.version`): 0 with static voters, 1 with
/// the voter set in the log (KIP-853).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct KRaftVersion(pub i16);

impl KRaftVersion {
    /// Voters come from `controller.quorum.voters`.
    pub const STATIC: KRaftVersion = KRaftVersion(0);
    /// Voters come from the log.
    pub const DYNAMIC: KRaftVersion = KRaftVersion(1);
    /// The highest version known here.
    pub const LATEST: KRaftVersion = KRaftVersion::DYNAMIC;
}

/// The data of one control record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ControlRecord {
    /// Opens a leader's epoch.
    LeaderChange {
        /// The leader.
        leader: NodeId,
        /// The voters at that time, ascending.
        voters: Vec<NodeId>,
        /// Those that granted their vote.
        granting: Vec<NodeId>,
    },
    /// The `kraft.version` from here on.
    KRaftVersion(KRaftVersion),
    /// The voters from here on, committed or not.
    Voters(VoterSet),
    /// Opens a snapshot file.
    SnapshotHeader {
        /// Append time of the last batch that the snapshot contains.
        last_contained: WallTime,
    },
    /// Closes a snapshot file; a file without it is no snapshot.
    SnapshotFooter,
}
