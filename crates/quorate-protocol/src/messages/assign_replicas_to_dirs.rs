//! A broker says which of its directories hold which replicas (KIP-858).

use quorate_types::{ErrorCode, Uuid};

use crate::codec::{Fields, Message, UnknownTags};

/// Tells the controller in which directories replicas lie.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 73, versions = 0, flexible = 0)]
pub struct AssignReplicasToDirsRequest {
    /// The broker's id.
    pub broker_id: i32,
    /// The broker's epoch, as its registration gave it.
    #[field(default = -1)]
    pub broker_epoch: i64,
    /// The directories and what lies in them.
    pub directories: Vec<RequestDirectoryData>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// A directory and the partitions in it.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct RequestDirectoryData {
    /// The directory's id.
    pub id: Uuid,
    /// The topics.
    pub topics: Vec<RequestTopicData>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// A topic.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct RequestTopicData {
    /// The topic's id.
    pub topic_id: Uuid,
    /// The partitions.
    pub partitions: Vec<RequestPartitionData>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// A partition.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct RequestPartitionData {
    /// The partition's number.
    pub partition_index: i32,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 73, versions = 0, flexible = 0)]
pub struct AssignReplicasToDirsResponse {
    /// How long the client was or is to be held back by a quota, in milliseconds.
    pub throttle_time_ms: i32,
    /// What went wrong, if anything.
    pub error_code: ErrorCode,
    /// The directories and what lies in them.
    pub directories: Vec<ResponseDirectoryData>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// A directory and the partitions in it.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct ResponseDirectoryData {
    /// The directory's id.
    pub id: Uuid,
    /// The topics.
    pub topics: Vec<ResponseTopicData>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// A topic.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct ResponseTopicData {
    /// The topic's id.
    pub topic_id: Uuid,
    /// The partitions.
    pub partitions: Vec<ResponsePartitionData>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// A partition.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct ResponsePartitionData {
    /// The partition's number.
    pub partition_index: i32,
    /// What went wrong, if anything.
    pub error_code: ErrorCode,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}
