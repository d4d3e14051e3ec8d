//! Adds partitions to topics (KIP-195).

use quorate_types::ErrorCode;

use crate::codec::{Fields, Message, UnknownTags};

/// Asks for more partitions.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 37, versions = 0..=3, flexible = 2)]
pub struct CreatePartitionsRequest {
    /// The topics.
    pub topics: Vec<CreatePartitionsTopic>,
    /// How long the server may take, in milliseconds.
    pub timeout_ms: i32,
    /// Whether only to check and to change nothing.
    pub validate_only: bool,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// A topic that shall have more partitions.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct CreatePartitionsTopic {
    /// The topic's name.
    pub name: String,
    /// How many partitions the topic shall have in the end.
    pub count: i32,
    /// Where the replicas of the new partitions go; null to let the controller place them.
    #[field(default = Some(Vec::new()))]
    pub assignments: Option<Vec<CreatePartitionsAssignment>>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// Where the replicas of one new partition go.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct CreatePartitionsAssignment {
    /// The brokers that get a replica; the first is the preferred leader.
    pub broker_ids: Vec<i32>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 37, versions = 0..=3, flexible = 2)]
pub struct CreatePartitionsResponse {
    /// How long the client was or is to be held back by a quota, in milliseconds.
    pub throttle_time_ms: i32,
    /// What came of it, one by one.
    pub results: Vec<CreatePartitionsTopicResult>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// What came of one topic.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct CreatePartitionsTopicResult {
    /// The topic's name.
    pub name: String,
    /// What went wrong, if anything.
    pub error_code: ErrorCode,
    /// What went wrong, in words; null if there is nothing to say.
    pub error_message: Option<String>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}
