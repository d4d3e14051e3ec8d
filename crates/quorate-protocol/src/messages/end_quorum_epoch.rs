//! A leader resigns (KIP-595).

use quorate_types::{ErrorCode, Uuid};

use crate::codec::{Fields, Message, UnknownTags};

/// Tells a voter that the leader resigns.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 54, versions = 0..=1, flexible = 1)]
pub struct EndQuorumEpochRequest {
    /// The cluster that the sender belongs to; null if it does not know.
    pub cluster_id: Option<String>,
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

/// Who led the partition and who should next.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct RequestPartitionData {
    /// The partition's number.
    pub partition_index: i32,
    /// The leader that resigns.
    pub leader_id: i32,
    /// The leader's epoch.
    pub leader_epoch: i32,
    /// The ids of the voters that should stand for election, the most promising first.
    #[field(until = 0, ignorable)]
    pub preferred_successors: Vec<i32>,
    /// The voters that should stand for election, the most promising first.
    #[field(since = 1, ignorable)]
    pub preferred_candidates: Vec<ReplicaInfo>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// A voter that should stand for election.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct ReplicaInfo {
    /// The voter's id.
    #[field(since = 1)]
    pub candidate_id: i32,
    /// The voter's metadata directory.
    #[field(since = 1)]
    pub candidate_directory_id: Uuid,
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
#[message(key = 54, versions = 0..=1, flexible = 1)]
pub struct EndQuorumEpochResponse {
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
