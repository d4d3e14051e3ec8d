//! Brokers show that they live and learn whether they are fenced (KIP-631).

use quorate_types::{ErrorCode, Uuid};

use crate::codec::{Message, UnknownTags};

/// A sign of life of a broker, and what it wants.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 63, versions = 0..=1, flexible = 0)]
pub struct BrokerHeartbeatRequest {
    /// The broker's id.
    pub broker_id: i32,
    /// The broker's epoch, as its registration gave it.
    #[field(default = -1)]
    pub broker_epoch: i64,
    /// The last offset of the metadata log that the broker has applied.
    pub current_metadata_offset: i64,
    /// Whether the broker wants to be, or to stay, fenced.
    pub want_fence: bool,
    /// Whether the broker wants to stop.
    pub want_shut_down: bool,
    /// The ids of the broker's directories that have failed.
    #[field(since = 1, tag = 0)]
    pub offline_log_dirs: Vec<Uuid>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// What the controller thinks of the broker.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 63, versions = 0..=1, flexible = 0)]
pub struct BrokerHeartbeatResponse {
    /// How long the client was or is to be held back by a quota, in milliseconds.
    pub throttle_time_ms: i32,
    /// What went wrong, if anything.
    pub error_code: ErrorCode,
    /// Whether the broker has applied enough of the metadata to be unfenced.
    pub is_caught_up: bool,
    /// Whether the broker is fenced.
    #[field(default = true)]
    pub is_fenced: bool,
    /// Whether the broker may stop now.
    pub should_shut_down: bool,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}
