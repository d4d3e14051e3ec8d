//! Elects leaders of partitions (KIP-460).

use quorate_types::ErrorCode;

use crate::codec::{Fields, Message, UnknownTags};

/// Asks for elections.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 43, versions = 0..=2, flexible = 2)]
pub struct ElectLeadersRequest {
    /// Which leader to elect: 0 the preferred one, 1 an unclean one if nothing else is left.
    #[field(since = 1)]
    pub election_type: i8,
    /// The partitions; null for all.
    #[field(default = Some(Vec::new()))]
    pub topic_partitions: Option<Vec<TopicPartitions>>,
    /// How long the server may take, in milliseconds.
    #[field(default = 60000)]
    pub timeout_ms: i32,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// Partitions of one topic.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct TopicPartitions {
    /// The topic's name.
    pub topic: String,
    /// The numbers of the partitions.
    pub partitions: Vec<i32>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 43, versions = 0..=2, flexible = 2)]
pub struct ElectLeadersResponse {
    /// How long the client was or is to be held back by a quota, in milliseconds.
    pub throttle_time_ms: i32,
    /// What went wrong, if anything.
    #[field(since = 1)]
    pub error_code: ErrorCode,
    /// What came of it, topic by topic.
    pub replica_election_results: Vec<ReplicaElectionResult>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// What came of it for one topic.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct ReplicaElectionResult {
    /// The topic's name.
    pub topic: String,
    /// The partitions.
    pub partition_result: Vec<PartitionResult>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// What came of it for one partition.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct PartitionResult {
    /// The partition's number.
    pub partition_id: i32,
    /// What went wrong, if anything.
    pub error_code: ErrorCode,
    /// What went wrong, in words; null if there is nothing to say.
    pub error_message: Option<String>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}
