//! Lists partitions piece by piece (KIP-966).

use quorate_types::{ErrorCode, Uuid};

use crate::codec::{Fields, Message, UnknownTags};

/// Asks for the partitions of topics.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 75, versions = 0, flexible = 0)]
pub struct DescribeTopicPartitionsRequest {
    /// The topics.
    pub topics: Vec<TopicRequest>,
    /// How many partitions the answer may list.
    #[field(default = 2000)]
    pub response_partition_limit: i32,
    /// Where to go on; null to start at the beginning.
    pub cursor: Option<Cursor>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// A topic.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct TopicRequest {
    /// The topic's name.
    pub name: String,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// A position in the list of all partitions.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct Cursor {
    /// The topic's name.
    pub topic_name: String,
    /// The partition's number.
    pub partition_index: i32,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// Some of the partitions, and where to go on.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 75, versions = 0, flexible = 0)]
pub struct DescribeTopicPartitionsResponse {
    /// How long the client was or is to be held back by a quota, in milliseconds.
    pub throttle_time_ms: i32,
    /// The topics.
    pub topics: Vec<DescribeTopicPartitionsResponseTopic>,
    /// Where to go on; null if this was all.
    pub next_cursor: Option<Cursor>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// A topic and some of its partitions.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct DescribeTopicPartitionsResponseTopic {
    /// What went wrong, if anything.
    pub error_code: ErrorCode,
    /// The topic's name.
    pub name: Option<String>,
    /// The topic's id.
    pub topic_id: Uuid,
    /// Whether Kafka keeps the topic for itself.
    pub is_internal: bool,
    /// The partitions.
    pub partitions: Vec<DescribeTopicPartitionsResponsePartition>,
    /// What the caller may do on the topic, as bits; the least integer if it did not ask.
    #[field(default = i32::MIN)]
    pub topic_authorized_operations: i32,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// A partition.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct DescribeTopicPartitionsResponsePartition {
    /// What went wrong, if anything.
    pub error_code: ErrorCode,
    /// The partition's number.
    pub partition_index: i32,
    /// The leader; -1 if there is none, or none is known.
    pub leader_id: i32,
    /// The leader's epoch.
    #[field(default = -1)]
    pub leader_epoch: i32,
    /// The replicas, in order of preference.
    pub replica_nodes: Vec<i32>,
    /// The replicas in sync.
    pub isr_nodes: Vec<i32>,
    /// Replicas outside the ISR that have everything committed (KIP-966); null if there are none.
    pub eligible_leader_replicas: Option<Vec<i32>>,
    /// The last replicas that were eligible, when none is any longer (KIP-966); null if unknown.
    pub last_known_elr: Option<Vec<i32>>,
    /// The replicas whose broker or directory is gone.
    pub offline_replicas: Vec<i32>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}
