//! Creates topics (KIP-4).

use quorate_types::{ErrorCode, Uuid};

use crate::codec::{Fields, Message, UnknownTags};

/// Asks to create topics.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 19, versions = 2..=7, flexible = 5)]
pub struct CreateTopicsRequest {
    /// The topics.
    pub topics: Vec<CreatableTopic>,
    /// How long the server may take, in milliseconds.
    #[field(default = 60000)]
    pub timeout_ms: i32,
    /// Whether only to check and to change nothing.
    pub validate_only: bool,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// A topic to create.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct CreatableTopic {
    /// The topic's name.
    pub name: String,
    /// How many partitions; -1 for the broker's default, or if the assignments say it.
    pub num_partitions: i32,
    /// How many replicas each partition gets; -1 for the broker's default, or if the assignments
    /// say it.
    pub replication_factor: i16,
    /// Where the replicas go, partition by partition; empty to let the controller place them.
    pub assignments: Vec<CreatableReplicaAssignment>,
    /// The configs of the new topic.
    pub configs: Vec<CreatableTopicConfig>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// Where the replicas of one partition go.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct CreatableReplicaAssignment {
    /// The partition's number.
    pub partition_index: i32,
    /// The brokers that get a replica; the first is the preferred leader.
    pub broker_ids: Vec<i32>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// A config of a topic to create.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct CreatableTopicConfig {
    /// The config's name.
    pub name: String,
    /// The value; null is refused.
    pub value: Option<String>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 19, versions = 2..=7, flexible = 5)]
pub struct CreateTopicsResponse {
    /// How long the client was or is to be held back by a quota, in milliseconds.
    pub throttle_time_ms: i32,
    /// The topics.
    pub topics: Vec<CreatableTopicResult>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// What came of one topic.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct CreatableTopicResult {
    /// The topic's name.
    pub name: String,
    /// The topic's id.
    #[field(since = 7, ignorable)]
    pub topic_id: Uuid,
    /// What went wrong, if anything.
    pub error_code: ErrorCode,
    /// What went wrong, in words; null if there is nothing to say.
    pub error_message: Option<String>,
    /// Why the configs are missing, if they are.
    #[field(since = 5, tag = 0, ignorable)]
    pub topic_config_error_code: ErrorCode,
    /// How many partitions the topic has; -1 if the caller may not see it.
    #[field(since = 5, default = -1, ignorable)]
    pub num_partitions: i32,
    /// How many replicas each partition has; -1 if the caller may not see it.
    #[field(since = 5, default = -1, ignorable)]
    pub replication_factor: i16,
    /// The configs of the new topic; null if the caller may not see them.
    #[field(since = 5, default = Some(Vec::new()), ignorable)]
    pub configs: Option<Vec<CreatableTopicConfigs>>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// A config of a new topic.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct CreatableTopicConfigs {
    /// The config's name.
    #[field(since = 5)]
    pub name: String,
    /// The value; null if there is none, or if it is secret.
    #[field(since = 5)]
    pub value: Option<String>,
    /// Whether the value cannot be changed while the broker runs.
    #[field(since = 5)]
    pub read_only: bool,
    /// Where the value comes from: 1 topic, 2 dynamic broker, 3 dynamic default of all brokers, 4
    /// static broker, 5 default.
    #[field(since = 5, default = -1, ignorable)]
    pub config_source: i8,
    /// Whether the value is secret, and therefore null.
    #[field(since = 5)]
    pub is_sensitive: bool,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}
