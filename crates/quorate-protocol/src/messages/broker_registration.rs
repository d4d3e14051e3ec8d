//! Brokers join the cluster (KIP-631).

use quorate_types::{ErrorCode, Uuid};

use crate::codec::{Fields, Message, UnknownTags};

/// Registers one run of a broker.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 62, versions = 0..=4, flexible = 0)]
pub struct BrokerRegistrationRequest {
    /// The broker's id.
    pub broker_id: i32,
    /// The cluster that the broker belongs to.
    pub cluster_id: String,
    /// Identifies one run of the node's process.
    pub incarnation_id: Uuid,
    /// Where the node listens.
    pub listeners: Vec<Listener>,
    /// The features that the node supports, with their levels.
    pub features: Vec<Feature>,
    /// The rack or zone that the node stands in; null if it has none.
    pub rack: Option<String>,
    /// Whether the broker still used ZooKeeper; no longer supported.
    #[field(since = 1)]
    pub is_migrating_zk_broker: bool,
    /// The ids of the broker's directories.
    #[field(since = 2, ignorable)]
    pub log_dirs: Vec<Uuid>,
    /// The epoch of the last clean shutdown in all directories; -1 if it was not clean.
    #[field(since = 3, default = -1, ignorable)]
    pub previous_broker_epoch: i64,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// A listener of the node.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct Listener {
    /// The listener's name.
    pub name: String,
    /// Host name or address.
    pub host: String,
    /// TCP port.
    pub port: u16,
    /// How the listener is protected: 0 PLAINTEXT, 1 SSL, 2 SASL_PLAINTEXT, 3 SASL_SSL.
    pub security_protocol: i16,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// The levels of a feature that the node supports.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct Feature {
    /// The feature's name.
    pub name: String,
    /// The lowest level supported.
    pub min_supported_version: i16,
    /// The highest level supported.
    pub max_supported_version: i16,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// The epoch that the broker got.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 62, versions = 0..=4, flexible = 0)]
pub struct BrokerRegistrationResponse {
    /// How long the client was or is to be held back by a quota, in milliseconds.
    pub throttle_time_ms: i32,
    /// What went wrong, if anything.
    pub error_code: ErrorCode,
    /// The epoch that the registration gave to the broker; -1 on error.
    #[field(default = -1)]
    pub broker_epoch: i64,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}
