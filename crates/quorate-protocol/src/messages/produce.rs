//! Appends records.

use bytes::Bytes;
use quorate_types::{ErrorCode, Uuid};

use crate::codec::{Fields, Message, UnknownTags};

/// Records to append.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 0, versions = 3..=13, flexible = 9)]
pub struct ProduceRequest {
    /// The transactional id; null for a producer without transactions.
    pub transactional_id: Option<String>,
    /// How many replicas must have the records: 0 none, 1 the leader, -1 the whole ISR.
    pub acks: i16,
    /// How long the broker may wait for the replicas, in milliseconds.
    pub timeout_ms: i32,
    /// The topics.
    pub topic_data: Vec<TopicProduceData>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// Records for one topic.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct TopicProduceData {
    /// The topic's name.
    #[field(until = 12, ignorable)]
    pub name: String,
    /// The topic's id.
    #[field(since = 13, ignorable)]
    pub topic_id: Uuid,
    /// The partitions.
    pub partition_data: Vec<PartitionProduceData>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// Records for one partition.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct PartitionProduceData {
    /// The partition's number.
    pub index: i32,
    /// Record batches.
    pub records: Option<Bytes>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 0, versions = 3..=13, flexible = 9)]
pub struct ProduceResponse {
    /// The topics.
    pub responses: Vec<TopicProduceResponse>,
    /// How long the client was or is to be held back by a quota, in milliseconds.
    pub throttle_time_ms: i32,
    /// Where the leaders named above can be reached.
    #[field(since = 10, tag = 0)]
    pub node_endpoints: Vec<NodeEndpoint>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// What came of it for one topic.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct TopicProduceResponse {
    /// The topic's name.
    #[field(until = 12, ignorable)]
    pub name: String,
    /// The topic's id.
    #[field(since = 13, ignorable)]
    pub topic_id: Uuid,
    /// The partitions.
    pub partition_responses: Vec<PartitionProduceResponse>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// What came of it for one partition.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct PartitionProduceResponse {
    /// The partition's number.
    pub index: i32,
    /// What went wrong, if anything.
    pub error_code: ErrorCode,
    /// The offset of the first record.
    pub base_offset: i64,
    /// When the broker appended the records, in milliseconds since 1970; -1 if the producer sets
    /// the times.
    #[field(default = -1)]
    pub log_append_time_ms: i64,
    /// The first offset of the log; -1 if unknown.
    #[field(since = 5, default = -1, ignorable)]
    pub log_start_offset: i64,
    /// The records that were refused, and why.
    #[field(since = 8, ignorable)]
    pub record_errors: Vec<BatchIndexAndErrorMessage>,
    /// What went wrong, in words; null if there is nothing to say.
    #[field(since = 8, ignorable)]
    pub error_message: Option<String>,
    /// The leader that the answering node knows of.
    #[field(since = 10, tag = 0)]
    pub current_leader: LeaderIdAndEpoch,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// A record that was refused.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct BatchIndexAndErrorMessage {
    /// The index of the record within the batch.
    #[field(since = 8)]
    pub batch_index: i32,
    /// Why this record was refused; null if nothing more is known.
    #[field(since = 8)]
    pub batch_index_error_message: Option<String>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// A leader and its epoch.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct LeaderIdAndEpoch {
    /// The leader; -1 if there is none, or none is known.
    #[field(since = 10, default = -1)]
    pub leader_id: i32,
    /// The leader's epoch.
    #[field(since = 10, default = -1)]
    pub leader_epoch: i32,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// Where a node listens.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct NodeEndpoint {
    /// The node's id.
    #[field(since = 10)]
    pub node_id: i32,
    /// Host name or address.
    #[field(since = 10)]
    pub host: String,
    /// TCP port.
    #[field(since = 10)]
    pub port: i32,
    /// The rack or zone that the node stands in; null if it has none.
    #[field(since = 10)]
    pub rack: Option<String>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}
