//! Reads a log: consumers, followers, and the replicas of the metadata log (KIP-595).

use bytes::Bytes;
use quorate_types::{ErrorCode, Uuid};

use crate::codec::{Fields, Message, UnknownTags};

/// Asks for records.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 1, versions = 4..=18, flexible = 12)]
pub struct FetchRequest {
    /// The cluster that the sender belongs to; null if it does not know.
    #[field(since = 12, tag = 0, ignorable)]
    pub cluster_id: Option<String>,
    /// The follower; -1 from consumers.
    #[field(until = 14, default = -1)]
    pub replica_id: i32,
    /// Who fetches.
    #[field(since = 15, tag = 1)]
    pub replica_state: ReplicaState,
    /// How long to wait for the least amount of data, in milliseconds.
    pub max_wait_ms: i32,
    /// The least amount of data to answer at once with, in bytes.
    pub min_bytes: i32,
    /// How much the answer may hold, in bytes; one batch may exceed it.
    #[field(default = i32::MAX)]
    pub max_bytes: i32,
    /// Which records are visible: 0 all, 1 only those of committed transactions.
    pub isolation_level: i8,
    /// The session's id; 0 without session.
    #[field(since = 7, ignorable)]
    pub session_id: i32,
    /// The session's epoch; -1 for a fetch without session.
    #[field(since = 7, default = -1, ignorable)]
    pub session_epoch: i32,
    /// The topics.
    pub topics: Vec<FetchTopic>,
    /// What the session shall no longer fetch.
    #[field(since = 7)]
    pub forgotten_topics_data: Vec<ForgottenTopic>,
    /// The consumer's rack, empty if it has none.
    #[field(since = 11, ignorable)]
    pub rack_id: String,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// Who fetches.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct ReplicaState {
    /// The follower; -1 from consumers.
    #[field(since = 15, default = -1)]
    pub replica_id: i32,
    /// The follower's broker epoch; -1 if it has none.
    #[field(since = 15, default = -1)]
    pub replica_epoch: i64,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// A topic to fetch.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct FetchTopic {
    /// The topic's name.
    #[field(until = 12, ignorable)]
    pub topic: String,
    /// The topic's id.
    #[field(since = 13, ignorable)]
    pub topic_id: Uuid,
    /// The partitions.
    pub partitions: Vec<FetchPartition>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// A partition to fetch.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct FetchPartition {
    /// The partition's number.
    pub partition: i32,
    /// The leader epoch that the sender knows; -1 to leave the check out.
    #[field(since = 9, default = -1, ignorable)]
    pub current_leader_epoch: i32,
    /// The offset to read from.
    pub fetch_offset: i64,
    /// The epoch of the follower's last record; -1 if it does not say.
    #[field(since = 12, default = -1)]
    pub last_fetched_epoch: i32,
    /// The first offset of the follower's log; -1 from consumers.
    #[field(since = 5, default = -1, ignorable)]
    pub log_start_offset: i64,
    /// How much to send of this partition, in bytes; one batch may exceed it.
    pub partition_max_bytes: i32,
    /// The replica's metadata directory; zero if unknown.
    #[field(since = 17, tag = 0, ignorable)]
    pub replica_directory_id: Uuid,
    /// The high watermark that the follower knows: the leader answers at once if its own is higher;
    /// -1 if the follower knows none.
    #[field(since = 18, tag = 1, default = i64::MAX, ignorable)]
    pub high_watermark: i64,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// Partitions that leave the session.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct ForgottenTopic {
    /// The topic's name.
    #[field(since = 7, until = 12, ignorable)]
    pub topic: String,
    /// The topic's id.
    #[field(since = 13, ignorable)]
    pub topic_id: Uuid,
    /// The numbers of the partitions.
    #[field(since = 7)]
    pub partitions: Vec<i32>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// The records.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 1, versions = 4..=18, flexible = 12)]
pub struct FetchResponse {
    /// How long the client was or is to be held back by a quota, in milliseconds.
    pub throttle_time_ms: i32,
    /// What went wrong, if anything.
    #[field(since = 7, ignorable)]
    pub error_code: ErrorCode,
    /// The session's id; 0 without session.
    #[field(since = 7)]
    pub session_id: i32,
    /// The topics.
    pub responses: Vec<FetchableTopicResponse>,
    /// Where the leaders named above can be reached.
    #[field(since = 16, tag = 0)]
    pub node_endpoints: Vec<NodeEndpoint>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// What was read of one topic.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct FetchableTopicResponse {
    /// The topic's name.
    #[field(until = 12, ignorable)]
    pub topic: String,
    /// The topic's id.
    #[field(since = 13, ignorable)]
    pub topic_id: Uuid,
    /// The partitions.
    pub partitions: Vec<PartitionData>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// What was read of one partition.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct PartitionData {
    /// The partition's number.
    pub partition_index: i32,
    /// What went wrong, if anything.
    pub error_code: ErrorCode,
    /// The offset below which everything is committed; -1 if unknown.
    pub high_watermark: i64,
    /// The offset below which every transaction is decided; -1 where there is none.
    #[field(default = -1)]
    pub last_stable_offset: i64,
    /// The first offset of the log; -1 if unknown.
    #[field(since = 5, default = -1, ignorable)]
    pub log_start_offset: i64,
    /// Where the follower's log leaves the leader's, if it does.
    #[field(since = 12, tag = 0)]
    pub diverging_epoch: EpochEndOffset,
    /// The leader that the answering node knows of.
    #[field(since = 12, tag = 1)]
    pub current_leader: LeaderIdAndEpoch,
    /// The snapshot that the follower must fetch instead, if its position is gone.
    #[field(since = 12, tag = 2)]
    pub snapshot_id: SnapshotId,
    /// The aborted transactions within the records; null if the isolation level asks for none.
    #[field(default = Some(Vec::new()))]
    pub aborted_transactions: Option<Vec<AbortedTransaction>>,
    /// The replica that the consumer should read from; -1 for the leader.
    #[field(since = 11, default = -1)]
    pub preferred_read_replica: i32,
    /// Record batches; the last may be cut off.
    pub records: Option<Bytes>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// Where an epoch ends.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct EpochEndOffset {
    /// The largest epoch that both know.
    #[field(since = 12, default = -1)]
    pub epoch: i32,
    /// The offset at which that epoch ends; -1 if unknown.
    #[field(since = 12, default = -1)]
    pub end_offset: i64,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// A leader and its epoch.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct LeaderIdAndEpoch {
    /// The leader; -1 if there is none, or none is known.
    #[field(since = 12, default = -1)]
    pub leader_id: i32,
    /// The leader's epoch.
    #[field(since = 12, default = -1)]
    pub leader_epoch: i32,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// Names a snapshot: where it ends, and in which epoch.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct SnapshotId {
    /// The offset after the last that the snapshot contains.
    #[field(default = -1)]
    pub end_offset: i64,
    /// The epoch of the last record that the snapshot contains.
    #[field(default = -1)]
    pub epoch: i32,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// An aborted transaction within the records.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct AbortedTransaction {
    /// The producer's id.
    pub producer_id: i64,
    /// The first offset of the transaction.
    pub first_offset: i64,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// Where a node listens.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct NodeEndpoint {
    /// The node's id.
    #[field(since = 16)]
    pub node_id: i32,
    /// Host name or address.
    #[field(since = 16)]
    pub host: String,
    /// TCP port.
    #[field(since = 16)]
    pub port: i32,
    /// The rack or zone that the node stands in; null if it has none.
    #[field(since = 16)]
    pub rack: Option<String>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}
