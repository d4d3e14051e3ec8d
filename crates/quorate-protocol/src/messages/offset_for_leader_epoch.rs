//! Finds where a leader epoch ends (KIP-101, KIP-320).

use quorate_types::ErrorCode;

use crate::codec::{Fields, Message, UnknownTags};

/// Asks for the ends of epochs.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 23, versions = 2..=4, flexible = 4)]
pub struct OffsetForLeaderEpochRequest {
    /// The asking replica; -1 from consumers, -2 from tools.
    #[field(since = 3, default = -2, ignorable)]
    pub replica_id: i32,
    /// The topics.
    pub topics: Vec<OffsetForLeaderTopic>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// A topic.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct OffsetForLeaderTopic {
    /// The topic's name.
    pub topic: String,
    /// The partitions.
    pub partitions: Vec<OffsetForLeaderPartition>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// A partition and the epoch whose end is asked for.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct OffsetForLeaderPartition {
    /// The partition's number.
    pub partition: i32,
    /// The leader epoch that the sender knows; -1 to leave the check out.
    #[field(default = -1)]
    pub current_leader_epoch: i32,
    /// The epoch whose end is asked for.
    pub leader_epoch: i32,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// The ends.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 23, versions = 2..=4, flexible = 4)]
pub struct OffsetForLeaderEpochResponse {
    /// How long the client was or is to be held back by a quota, in milliseconds.
    pub throttle_time_ms: i32,
    /// The topics.
    pub topics: Vec<OffsetForLeaderTopicResult>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// A topic.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct OffsetForLeaderTopicResult {
    /// The topic's name.
    pub topic: String,
    /// The partitions.
    pub partitions: Vec<EpochEndOffset>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// Where an epoch ends in one partition.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct EpochEndOffset {
    /// What went wrong, if anything.
    pub error_code: ErrorCode,
    /// The partition's number.
    pub partition: i32,
    /// The largest epoch, up to the one asked for, that has records; -1 if there is none.
    #[field(default = -1)]
    pub leader_epoch: i32,
    /// The offset at which that epoch ends; -1 if unknown.
    #[field(default = -1)]
    pub end_offset: i64,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}
