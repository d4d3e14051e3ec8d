//! Controllers make their listeners and features known (KIP-919).

use quorate_types::{ErrorCode, Uuid};

use crate::codec::{Fields, Message, UnknownTags};

/// Registers one run of a controller.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 70, versions = 0, flexible = 0)]
pub struct ControllerRegistrationRequest {
    /// The controller's id.
    pub controller_id: i32,
    /// Identifies one run of the node's process.
    pub incarnation_id: Uuid,
    /// Whether the node could take over from ZooKeeper; always false by now.
    pub zk_migration_ready: bool,
    /// Where the node listens.
    pub listeners: Vec<Listener>,
    /// The features that the node supports, with their levels.
    pub features: Vec<Feature>,
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

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 70, versions = 0, flexible = 0)]
pub struct ControllerRegistrationResponse {
    /// How long the client was or is to be held back by a quota, in milliseconds.
    pub throttle_time_ms: i32,
    /// What went wrong, if anything.
    pub error_code: ErrorCode,
    /// What went wrong, in words; null if there is nothing to say.
    pub error_message: Option<String>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}
