//! Moves replicas (KIP-455).

use quorate_types::ErrorCode;

use crate::codec::{Fields, Message, UnknownTags};

/// Asks to start or to give up reassignments.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 45, versions = 0..=1, flexible = 0)]
pub struct AlterPartitionReassignmentsRequest {
    /// How long the server may take, in milliseconds.
    #[field(default = 60000)]
    pub timeout_ms: i32,
    /// Whether the reassignment may change the number of replicas.
    #[field(since = 1, default = true)]
    pub allow_replication_factor_change: bool,
    /// The topics.
    pub topics: Vec<ReassignableTopic>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// A topic with partitions to reassign.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct ReassignableTopic {
    /// The topic's name.
    pub name: String,
    /// The partitions.
    pub partitions: Vec<ReassignablePartition>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// A partition to reassign.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct ReassignablePartition {
    /// The partition's number.
    pub partition_index: i32,
    /// Where the replicas shall be; null to give up the reassignment under way.
    pub replicas: Option<Vec<i32>>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 45, versions = 0..=1, flexible = 0)]
pub struct AlterPartitionReassignmentsResponse {
    /// How long the client was or is to be held back by a quota, in milliseconds.
    pub throttle_time_ms: i32,
    /// Whether the request allowed to change the number of replicas.
    #[field(since = 1, default = true, ignorable)]
    pub allow_replication_factor_change: bool,
    /// What went wrong, if anything.
    pub error_code: ErrorCode,
    /// What went wrong, in words; null if there is nothing to say.
    pub error_message: Option<String>,
    /// What came of it, one by one.
    pub responses: Vec<ReassignableTopicResponse>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// What came of it for one topic.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct ReassignableTopicResponse {
    /// The topic's name.
    pub name: String,
    /// The partitions.
    pub partitions: Vec<ReassignablePartitionResponse>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// What came of it for one partition.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct ReassignablePartitionResponse {
    /// The partition's number.
    pub partition_index: i32,
    /// What went wrong, if anything.
    pub error_code: ErrorCode,
    /// What went wrong, in words; null if there is nothing to say.
    pub error_message: Option<String>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}
