//! Finds offsets by time (KIP-79).

use quorate_types::ErrorCode;

use crate::codec::{Fields, Message, UnknownTags};

/// Asks for offsets.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 2, versions = 1..=11, flexible = 6)]
pub struct ListOffsetsRequest {
    /// The asking replica; -1 from consumers.
    pub replica_id: i32,
    /// Which records are visible: 0 all, 1 only those of committed transactions.
    #[field(since = 2)]
    pub isolation_level: i8,
    /// The topics.
    pub topics: Vec<ListOffsetsTopic>,
    /// How long the server may take, in milliseconds.
    #[field(since = 10, ignorable)]
    pub timeout_ms: i32,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// A topic to look into.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct ListOffsetsTopic {
    /// The topic's name.
    pub name: String,
    /// The partitions.
    pub partitions: Vec<ListOffsetsPartition>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// A partition and the time to look for.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct ListOffsetsPartition {
    /// The partition's number.
    pub partition_index: i32,
    /// The leader epoch that the sender knows; -1 to leave the check out.
    #[field(since = 4, default = -1, ignorable)]
    pub current_leader_epoch: i32,
    /// A time in milliseconds since 1970, or -1 latest, -2 earliest, -3 of the largest timestamp,
    /// -4 earliest on local disk, -5 latest in the remote tier, -6 earliest not yet there.
    pub timestamp: i64,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// The offsets.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 2, versions = 1..=11, flexible = 6)]
pub struct ListOffsetsResponse {
    /// How long the client was or is to be held back by a quota, in milliseconds.
    #[field(since = 2, ignorable)]
    pub throttle_time_ms: i32,
    /// The topics.
    pub topics: Vec<ListOffsetsTopicResponse>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// What was found in one topic.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct ListOffsetsTopicResponse {
    /// The topic's name.
    pub name: String,
    /// The partitions.
    pub partitions: Vec<ListOffsetsPartitionResponse>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// What was found in one partition.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct ListOffsetsPartitionResponse {
    /// The partition's number.
    pub partition_index: i32,
    /// What went wrong, if anything.
    pub error_code: ErrorCode,
    /// The timestamp of the record found, in milliseconds since 1970; -1 if there is none.
    #[field(default = -1)]
    pub timestamp: i64,
    /// The offset found; -1 if there is none.
    #[field(default = -1)]
    pub offset: i64,
    /// The leader epoch of the record; -1 if unknown.
    #[field(since = 4, default = -1)]
    pub leader_epoch: i32,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}
