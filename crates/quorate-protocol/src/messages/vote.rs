//! Candidates ask for votes (KIP-595, pre-vote KIP-996).

use quorate_types::{ErrorCode, Uuid};

use crate::codec::{Fields, Message, UnknownTags};

/// Asks a voter for its vote.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 52, versions = 0..=2, flexible = 0)]
pub struct VoteRequest {
    /// The cluster that the sender belongs to; null if it does not know.
    pub cluster_id: Option<String>,
    /// The voter that is asked; -1 if unknown.
    #[field(since = 1, default = -1, ignorable)]
    pub voter_id: i32,
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

/// The candidate's side of the vote.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct RequestPartitionData {
    /// The partition's number.
    pub partition_index: i32,
    /// The candidate's epoch.
    pub replica_epoch: i32,
    /// The candidate.
    pub replica_id: i32,
    /// The replica's metadata directory; zero if unknown.
    #[field(since = 1, ignorable)]
    pub replica_directory_id: Uuid,
    /// The metadata directory of the voter that is asked; zero if unknown.
    #[field(since = 1, ignorable)]
    pub voter_directory_id: Uuid,
    /// The epoch of the candidate's last record.
    pub last_offset_epoch: i32,
    /// The end of the candidate's log.
    pub last_offset: i64,
    /// Whether the voter is only asked what it would say (KIP-996).
    #[field(since = 2)]
    pub pre_vote: bool,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// The voter's answer.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 52, versions = 0..=2, flexible = 0)]
pub struct VoteResponse {
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
    /// Whether the candidate has the vote.
    pub vote_granted: bool,
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
