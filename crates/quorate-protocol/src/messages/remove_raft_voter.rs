//! Removes a voter from the quorum (KIP-853).

use quorate_types::{ErrorCode, Uuid};

use crate::codec::{Message, UnknownTags};

/// Asks the leader to remove a voter.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 81, versions = 0, flexible = 0)]
pub struct RemoveRaftVoterRequest {
    /// The cluster that the sender belongs to; null if it does not know.
    pub cluster_id: Option<String>,
    /// The voter's id.
    pub voter_id: i32,
    /// The voter's metadata directory; zero if unknown.
    pub voter_directory_id: Uuid,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 81, versions = 0, flexible = 0)]
pub struct RemoveRaftVoterResponse {
    /// How long the client was or is to be held back by a quota, in milliseconds.
    pub throttle_time_ms: i32,
    /// What went wrong, if anything.
    pub error_code: ErrorCode,
    /// What went wrong, in words; null if there is nothing to say.
    pub error_message: Option<String>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}
