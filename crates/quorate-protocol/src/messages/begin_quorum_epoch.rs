//! A new leader makes itself known to the voters (KIP-595).

use quorate_types::{ErrorCode, Uuid};

use crate::codec::{Fields, Message, UnknownTags};

/// Tells a voter that an epoch has begun.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 53, versions = 0..=1, flexible = 1)]
pub struct BeginQuorumEpochRequest {
    /// The cluster that the sender belongs to; null if it does not know.
    pub cluster_id: Option<String>,
    /// The voter that is addressed; -1 if unknown.
    #[field(since = 1, default = -1, ignorable)]
    pub voter_id: i32,
    /// The topics.
    pub topics: Vec<RequestTopicData>,
    /// Where the leader listens.
    #[field(since = 1, ignorable)]
    pub leader_endpoints: Vec<LeaderEndpoint>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// A topic.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct RequestTopicData {
    /// The topic's name.
    pub topic_name: String,
    /// The partitions.
    pub partitions: Vec<RequestPartitionData>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// Who leads the partition.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct RequestPartitionData {
    /// The partition's number.
    pub partition_index: i32,
    /// The metadata directory of the voter that is addressed; zero if unknown.
    #[field(since = 1, ignorable)]
    pub voter_directory_id: Uuid,
    /// The leader, which is the sender.
    pub leader_id: i32,
    /// The leader's epoch.
    pub leader_epoch: i32,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// A listener of the leader.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct LeaderEndpoint {
    /// The listener's name.
    #[field(since = 1)]
    pub name: String,
    /// Host name or address.
    #[field(since = 1)]
    pub host: String,
    /// TCP port.
    #[field(since = 1)]
    pub port: u16,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// The voter's answer.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 53, versions = 0..=1, flexible = 1)]
pub struct BeginQuorumEpochResponse {
    /// What went wrong, if anything.
    pub error_code: ErrorCode,
    /// The topics.
    pub topics: Vec<ResponseTopicData>,
    /// Where the leaders named above can be reached.
    #[field(since = 1, tag = 0)]
    pub node_endpoints: Vec<NodeEndpoint>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// A topic.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct ResponseTopicData {
    /// The topic's name.
    pub topic_name: String,
    /// The partitions.
    pub partitions: Vec<ResponsePartitionData>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// The voter's answer.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct ResponsePartitionData {
    /// The partition's number.
    pub partition_index: i32,
    /// What went wrong, if anything.
    pub error_code: ErrorCode,
    /// The leader; -1 if there is none, or none is known.
    pub leader_id: i32,
    /// The leader's epoch.
    pub leader_epoch: i32,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// Where a node listens.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct NodeEndpoint {
    /// The node's id.
    #[field(since = 1)]
    pub node_id: i32,
    /// Host name or address.
    #[field(since = 1)]
    pub host: String,
    /// TCP port.
    #[field(since = 1)]
    pub port: u16,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}
