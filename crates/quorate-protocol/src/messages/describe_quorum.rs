//! How the raft quorum stands (KIP-595, KIP-836, KIP-853).

use quorate_types::{ErrorCode, Uuid};

use crate::codec::{Fields, Message, UnknownTags};

/// Asks the leader for the state of the quorum.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 55, versions = 0..=2, flexible = 0)]
pub struct DescribeQuorumRequest {
    /// The topics.
    pub topics: Vec<RequestTopicData>,
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

/// The partition that the quorum keeps.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct RequestPartitionData {
    /// The partition's number.
    pub partition_index: i32,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// The state of the quorum.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 55, versions = 0..=2, flexible = 0)]
pub struct DescribeQuorumResponse {
    /// What went wrong, if anything.
    pub error_code: ErrorCode,
    /// What went wrong, in words; null if there is nothing to say.
    #[field(since = 2, ignorable)]
    pub error_message: Option<String>,
    /// The topics.
    pub topics: Vec<ResponseTopicData>,
    /// Where the voters listen.
    #[field(since = 2)]
    pub nodes: Vec<Node>,
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

/// How the quorum stands.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct ResponsePartitionData {
    /// The partition's number.
    pub partition_index: i32,
    /// What went wrong, if anything.
    pub error_code: ErrorCode,
    /// What went wrong, in words; null if there is nothing to say.
    #[field(since = 2, ignorable)]
    pub error_message: Option<String>,
    /// The leader; -1 if there is none, or none is known.
    pub leader_id: i32,
    /// The leader's epoch.
    pub leader_epoch: i32,
    /// The offset below which everything is committed; -1 if unknown.
    pub high_watermark: i64,
    /// The voters, with how far each has come.
    pub current_voters: Vec<ReplicaState>,
    /// The replicas that follow without a vote.
    pub observers: Vec<ReplicaState>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// How far a replica has come.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct ReplicaState {
    /// The replica's node.
    pub replica_id: i32,
    /// The replica's metadata directory; zero if unknown.
    #[field(since = 2)]
    pub replica_directory_id: Uuid,
    /// The end of the replica's log; -1 if unknown.
    pub log_end_offset: i64,
    /// When the replica last fetched, in milliseconds since 1970; -1 if unknown.
    #[field(since = 1, default = -1, ignorable)]
    pub last_fetch_timestamp: i64,
    /// When the replica had the leader's whole log for the last time, in milliseconds since 1970;
    /// -1 if unknown.
    #[field(since = 1, default = -1, ignorable)]
    pub last_caught_up_timestamp: i64,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// A voter and where it listens.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct Node {
    /// The node's id.
    #[field(since = 2)]
    pub node_id: i32,
    /// Where the node listens.
    #[field(since = 2)]
    pub listeners: Vec<Listener>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// A listener of the node.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct Listener {
    /// The listener's name.
    #[field(since = 2)]
    pub name: String,
    /// Host name or address.
    #[field(since = 2)]
    pub host: String,
    /// TCP port.
    #[field(since = 2)]
    pub port: u16,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}
