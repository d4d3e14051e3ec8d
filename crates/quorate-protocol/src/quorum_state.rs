//! The state of an election, as the file `quorum-state` has it.

use quorate_types::Uuid;

use crate::codec::{Fields, Message, UnknownTags};

/// What the file `quorum-state` says.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(versions = 0..=1, flexible = 0)]
pub struct QuorumStateData {
    /// The cluster that the file belongs to.
    #[field(until = 0)]
    pub cluster_id: String,
    /// The leader of the epoch; -1 if unknown.
    #[field(default = -1)]
    pub leader_id: i32,
    /// The epoch that the node is in.
    #[field(default = -1)]
    pub leader_epoch: i32,
    /// The candidate that got the vote in this epoch; -1 for none.
    #[field(default = -1)]
    pub voted_id: i32,
    /// The metadata directory of the candidate that got the vote; zero if unknown.
    #[field(since = 1)]
    pub voted_directory_id: Uuid,
    /// Always 0; Kafka never used it.
    #[field(until = 0)]
    pub applied_offset: i64,
    /// The static voters; null if they are not known.
    #[field(until = 0, default = Some(Vec::new()))]
    pub current_voters: Option<Vec<QuorumStateVoter>>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// A voter.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct QuorumStateVoter {
    /// The voter's id.
    #[field(until = 0)]
    pub voter_id: i32,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}
