//! Adds a voter to the quorum (KIP-853).

use quorate_types::{ErrorCode, Uuid};

use crate::codec::{Fields, Message, UnknownTags};

/// Asks the leader to add a voter.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 80, versions = 0..=1, flexible = 0)]
pub struct AddRaftVoterRequest {
    /// The cluster that the sender belongs to; null if it does not know.
    pub cluster_id: Option<String>,
    /// How long the caller waits, in milliseconds; Kafka ignores it.
    pub timeout_ms: i32,
    /// The voter's id.
    pub voter_id: i32,
    /// The voter's metadata directory; zero if unknown.
    pub voter_directory_id: Uuid,
    /// Where the node listens.
    pub listeners: Vec<Listener>,
    /// Whether to answer only once the new voter set is committed; else as soon as it is in the
    /// log.
    #[field(since = 1, default = true)]
    pub ack_when_committed: bool,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// A listener of the node.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct Listener {
    /// The listener's name.
    pub name: String,
    /// Host name or address.
    pub host: String,
    /// TCP port.
    pub port: u16,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 80, versions = 0..=1, flexible = 0)]
pub struct AddRaftVoterResponse {
    /// How long the client was or is to be held back by a quota, in milliseconds.
    pub throttle_time_ms: i32,
    /// What went wrong, if anything.
    pub error_code: ErrorCode,
    /// What went wrong, in words; null if there is nothing to say.
    pub error_message: Option<String>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}
