//! The nodes of the cluster and its id (KIP-700, KIP-919).

use quorate_types::ErrorCode;

use crate::codec::{Fields, Message, UnknownTags};

/// Asks for the nodes of the cluster.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 60, versions = 0..=2, flexible = 0)]
pub struct DescribeClusterRequest {
    /// Whether to say what the caller may do on the cluster.
    pub include_cluster_authorized_operations: bool,
    /// Which nodes are meant: 1 brokers, 2 controllers.
    #[field(since = 1, default = 1)]
    pub endpoint_type: i8,
    /// Whether fenced brokers are wanted too.
    #[field(since = 2)]
    pub include_fenced_brokers: bool,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// The nodes.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 60, versions = 0..=2, flexible = 0)]
pub struct DescribeClusterResponse {
    /// How long the client was or is to be held back by a quota, in milliseconds.
    pub throttle_time_ms: i32,
    /// What went wrong, if anything.
    pub error_code: ErrorCode,
    /// What went wrong, in words; null if there is nothing to say.
    pub error_message: Option<String>,
    /// Which nodes are meant: 1 brokers, 2 controllers.
    #[field(since = 1, default = 1)]
    pub endpoint_type: i8,
    /// The cluster's id.
    pub cluster_id: String,
    /// The active controller, or on a broker any node that forwards to it; -1 if unknown.
    #[field(default = -1)]
    pub controller_id: i32,
    /// The nodes.
    pub brokers: Vec<DescribeClusterBroker>,
    /// What the caller may do on the cluster, as bits; the least integer if it did not ask.
    #[field(default = i32::MIN)]
    pub cluster_authorized_operations: i32,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// A node of the cluster.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct DescribeClusterBroker {
    /// The broker's id.
    pub broker_id: i32,
    /// Host name or address.
    pub host: String,
    /// TCP port.
    pub port: i32,
    /// The rack or zone that the node stands in; null if it has none.
    pub rack: Option<String>,
    /// Whether the broker is fenced.
    #[field(since = 2)]
    pub is_fenced: bool,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}
