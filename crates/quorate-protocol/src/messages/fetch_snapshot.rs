//! Reads a snapshot of the metadata log (KIP-630).

use bytes::Bytes;
use quorate_types::{ErrorCode, Uuid};

use crate::codec::{Fields, Message, UnknownTags};

/// Asks for a piece of a snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 59, versions = 0..=1, flexible = 0)]
pub struct FetchSnapshotRequest {
    /// The cluster that the sender belongs to; null if it does not know.
    #[field(tag = 0)]
    pub cluster_id: Option<String>,
    /// The node that fetches.
    #[field(default = -1)]
    pub replica_id: i32,
    /// How much of the snapshot to send, in bytes.
    #[field(default = i32::MAX)]
    pub max_bytes: i32,
    /// The topics.
    pub topics: Vec<RequestTopicSnapshot>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// A topic.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct RequestTopicSnapshot {
    /// The topic's name.
    pub name: String,
    /// The partitions.
    pub partitions: Vec<RequestPartitionSnapshot>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// The snapshot that is wanted, and from where.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct RequestPartitionSnapshot {
    /// The partition's number.
    pub partition: i32,
    /// The epoch of the leader that the sender knows.
    pub current_leader_epoch: i32,
    /// Which snapshot.
    pub snapshot_id: SnapshotId,
    /// The byte to read from.
    pub position: i64,
    /// The replica's metadata directory; zero if unknown.
    #[field(since = 1, tag = 0, ignorable)]
    pub replica_directory_id: Uuid,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// Names a snapshot: where it ends, and in which epoch.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct SnapshotId {
    /// The offset after the last that the snapshot contains.
    pub end_offset: i64,
    /// The epoch of the last record that the snapshot contains.
    pub epoch: i32,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// The piece.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 59, versions = 0..=1, flexible = 0)]
pub struct FetchSnapshotResponse {
    /// How long the client was or is to be held back by a quota, in milliseconds.
    pub throttle_time_ms: i32,
    /// What went wrong, if anything.
    pub error_code: ErrorCode,
    /// The topics.
    pub topics: Vec<ResponseTopicSnapshot>,
    /// Where the leaders named above can be reached.
    #[field(since = 1, tag = 0)]
    pub node_endpoints: Vec<NodeEndpoint>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// A topic.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct ResponseTopicSnapshot {
    /// The topic's name.
    pub name: String,
    /// The partitions.
    pub partitions: Vec<ResponsePartitionSnapshot>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// A piece of the snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct ResponsePartitionSnapshot {
    /// The partition's number.
    pub index: i32,
    /// What went wrong, if anything.
    pub error_code: ErrorCode,
    /// Which snapshot.
    pub snapshot_id: SnapshotId,
    /// The leader that the answering node knows of.
    #[field(tag = 0)]
    pub current_leader: LeaderIdAndEpoch,
    /// The snapshot's size, in bytes.
    pub size: i64,
    /// The position of the first byte sent.
    pub position: i64,
    /// Bytes of the snapshot, which may begin and end anywhere in a batch.
    pub unaligned_records: Bytes,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// A leader and its epoch.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct LeaderIdAndEpoch {
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
