//! Lists what lies in a broker's directories (KIP-113).

use quorate_types::ErrorCode;

use crate::codec::{Fields, Message, UnknownTags};

/// Asks for the replicas by directory.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 35, versions = 1..=4, flexible = 2)]
pub struct DescribeLogDirsRequest {
    /// The topics; null for all.
    #[field(default = Some(Vec::new()))]
    pub topics: Option<Vec<DescribableLogDirTopic>>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// A topic whose replicas are asked for.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct DescribableLogDirTopic {
    /// The topic's name.
    pub topic: String,
    /// The numbers of the partitions.
    pub partitions: Vec<i32>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// The directories.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 35, versions = 1..=4, flexible = 2)]
pub struct DescribeLogDirsResponse {
    /// How long the client was or is to be held back by a quota, in milliseconds.
    pub throttle_time_ms: i32,
    /// What went wrong, if anything.
    #[field(since = 3, ignorable)]
    pub error_code: ErrorCode,
    /// The directories.
    pub results: Vec<DescribeLogDirsResult>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// A directory of the broker.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct DescribeLogDirsResult {
    /// What went wrong, if anything.
    pub error_code: ErrorCode,
    /// The absolute path of the directory.
    pub log_dir: String,
    /// The topics.
    pub topics: Vec<DescribeLogDirsTopic>,
    /// The size of the directory's disk, in bytes; -1 if unknown.
    #[field(since = 4, default = -1, ignorable)]
    pub total_bytes: i64,
    /// What is free on the directory's disk, in bytes; -1 if unknown.
    #[field(since = 4, default = -1, ignorable)]
    pub usable_bytes: i64,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// A topic in a directory.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct DescribeLogDirsTopic {
    /// The topic's name.
    pub name: String,
    /// The partitions.
    pub partitions: Vec<DescribeLogDirsPartition>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// A replica in a directory.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct DescribeLogDirsPartition {
    /// The partition's number.
    pub partition_index: i32,
    /// The size of all segments, in bytes.
    pub partition_size: i64,
    /// How far the replica is behind: a current one behind the high watermark, a future one behind
    /// the current one's end.
    pub offset_lag: i64,
    /// Whether this replica will replace the one in another directory.
    pub is_future_key: bool,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}
