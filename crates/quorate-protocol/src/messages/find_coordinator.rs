//! Who coordinates a group or a transaction.

use quorate_types::ErrorCode;

use crate::codec::{Fields, Message, UnknownTags};

/// Asks for coordinators.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 10, versions = 0..=6, flexible = 3)]
pub struct FindCoordinatorRequest {
    /// A group or a transactional id.
    #[field(until = 3)]
    pub key: String,
    /// What the keys are: 0 groups, 1 transactional ids, 2 share partitions.
    #[field(since = 1)]
    pub key_type: i8,
    /// Groups or transactional ids.
    #[field(since = 4)]
    pub coordinator_keys: Vec<String>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// The coordinators.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 10, versions = 0..=6, flexible = 3)]
pub struct FindCoordinatorResponse {
    /// How long the client was or is to be held back by a quota, in milliseconds.
    #[field(since = 1, ignorable)]
    pub throttle_time_ms: i32,
    /// What went wrong, if anything.
    #[field(until = 3)]
    pub error_code: ErrorCode,
    /// What went wrong, in words; null if there is nothing to say.
    #[field(since = 1, until = 3, ignorable)]
    pub error_message: Option<String>,
    /// The coordinator's id; -1 on error.
    #[field(until = 3)]
    pub node_id: i32,
    /// Host name or address.
    #[field(until = 3)]
    pub host: String,
    /// TCP port.
    #[field(until = 3)]
    pub port: i32,
    /// The coordinators, key by key.
    #[field(since = 4)]
    pub coordinators: Vec<Coordinator>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// The coordinator of one key.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct Coordinator {
    /// The group or transactional id that was asked for.
    #[field(since = 4)]
    pub key: String,
    /// The coordinator's id; -1 on error.
    #[field(since = 4)]
    pub node_id: i32,
    /// Host name or address.
    #[field(since = 4)]
    pub host: String,
    /// TCP port.
    #[field(since = 4)]
    pub port: i32,
    /// What went wrong, if anything.
    #[field(since = 4)]
    pub error_code: ErrorCode,
    /// What went wrong, in words; null if there is nothing to say.
    #[field(since = 4, ignorable)]
    pub error_message: Option<String>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}
