//! The brokers, topics and partitions, as clients see them.

use quorate_types::{ErrorCode, Uuid};

use crate::codec::{Fields, Message, UnknownTags};

/// Asks for brokers and topics.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 3, versions = 0..=13, flexible = 9)]
pub struct MetadataRequest {
    /// The topics; null for all (in version 0: empty for all).
    #[field(nullable = 1, default = Some(Vec::new()))]
    pub topics: Option<Vec<MetadataRequestTopic>>,
    /// Whether a broker may create the topics that do not exist.
    #[field(since = 4, default = true)]
    pub allow_auto_topic_creation: bool,
    /// Whether to say what the caller may do on the cluster.
    #[field(since = 8, until = 10)]
    pub include_cluster_authorized_operations: bool,
    /// Whether to say what the caller may do on each topic.
    #[field(since = 8)]
    pub include_topic_authorized_operations: bool,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// A topic, by name or by id.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct MetadataRequestTopic {
    /// The topic's id; zero if it is given by its name.
    #[field(since = 10, ignorable)]
    pub topic_id: Uuid,
    /// The topic's name; null if it is given by its id.
    #[field(nullable = 10)]
    pub name: Option<String>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// The brokers and topics.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 3, versions = 0..=13, flexible = 9)]
pub struct MetadataResponse {
    /// How long the client was or is to be held back by a quota, in milliseconds.
    #[field(since = 3, ignorable)]
    pub throttle_time_ms: i32,
    /// The nodes.
    pub brokers: Vec<MetadataResponseBroker>,
    /// The cluster's id.
    #[field(since = 2, ignorable)]
    pub cluster_id: Option<String>,
    /// The node that takes what the controller must decide; -1 if unknown.
    #[field(since = 1, default = -1, ignorable)]
    pub controller_id: i32,
    /// The topics.
    pub topics: Vec<MetadataResponseTopic>,
    /// What the caller may do on the cluster, as bits; the least integer if it did not ask.
    #[field(since = 8, until = 10, default = i32::MIN)]
    pub cluster_authorized_operations: i32,
    /// What went wrong, if anything.
    #[field(since = 13, ignorable)]
    pub error_code: ErrorCode,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// A broker.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct MetadataResponseBroker {
    /// The node's id.
    pub node_id: i32,
    /// Host name or address.
    pub host: String,
    /// TCP port.
    pub port: i32,
    /// The rack or zone that the node stands in; null if it has none.
    #[field(since = 1, ignorable)]
    pub rack: Option<String>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// A topic.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct MetadataResponseTopic {
    /// What went wrong, if anything.
    pub error_code: ErrorCode,
    /// The topic's name; null if only its id was given and nobody knows it.
    #[field(nullable = 12)]
    pub name: Option<String>,
    /// The topic's id; zero if unknown.
    #[field(since = 10, ignorable)]
    pub topic_id: Uuid,
    /// Whether Kafka keeps the topic for itself.
    #[field(since = 1, ignorable)]
    pub is_internal: bool,
    /// The partitions.
    pub partitions: Vec<MetadataResponsePartition>,
    /// What the caller may do on the topic, as bits; the least integer if it did not ask.
    #[field(since = 8, default = i32::MIN)]
    pub topic_authorized_operations: i32,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// A partition.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct MetadataResponsePartition {
    /// What went wrong, if anything.
    pub error_code: ErrorCode,
    /// The partition's number.
    pub partition_index: i32,
    /// The leader; -1 if there is none, or none is known.
    pub leader_id: i32,
    /// The leader epoch; -1 if unknown.
    #[field(since = 7, default = -1, ignorable)]
    pub leader_epoch: i32,
    /// The replicas, in order of preference.
    pub replica_nodes: Vec<i32>,
    /// The replicas in sync.
    pub isr_nodes: Vec<i32>,
    /// The replicas whose broker or directory is gone.
    #[field(since = 5, ignorable)]
    pub offline_replicas: Vec<i32>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}
