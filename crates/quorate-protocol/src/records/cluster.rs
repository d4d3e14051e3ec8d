//! The nodes of the cluster: brokers and controllers come, change and go.

use quorate_types::Uuid;

use crate::codec::{Fields, Message, UnknownTags};

/// A broker registers, for the first time or again.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 0, versions = 0..=3, flexible = 0)]
pub struct RegisterBrokerRecord {
    /// The broker's id.
    pub broker_id: i32,
    /// Whether the broker still used ZooKeeper; no longer supported.
    #[field(since = 2)]
    pub is_migrating_zk_broker: bool,
    /// Identifies one run of the node's process.
    pub incarnation_id: Uuid,
    /// The epoch that this registration gives to the broker.
    pub broker_epoch: i64,
    /// Where the node listens.
    pub end_points: Vec<BrokerEndpoint>,
    /// The features that the node supports, with their levels.
    pub features: Vec<BrokerFeature>,
    /// The rack or zone that the node stands in; null if it has none.
    pub rack: Option<String>,
    /// Whether the broker starts fenced.
    #[field(default = true)]
    pub fenced: bool,
    /// Whether the broker is shutting down in an orderly way.
    #[field(since = 1)]
    pub in_controlled_shutdown: bool,
    /// The ids of the broker's directories.
    #[field(since = 3, tag = 0)]
    pub log_dirs: Vec<Uuid>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// A listener of a broker.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct BrokerEndpoint {
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

/// The levels of a feature that a broker supports.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct BrokerFeature {
    /// The feature's name.
    pub name: String,
    /// The lowest level supported.
    pub min_supported_version: i16,
    /// The highest level supported.
    pub max_supported_version: i16,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// A broker is forgotten.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 1, versions = 0, flexible = 0)]
pub struct UnregisterBrokerRecord {
    /// The broker's id.
    pub broker_id: i32,
    /// The epoch of the registration that ends.
    pub broker_epoch: i64,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// A broker's registration changes; what is not set stays.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 17, versions = 0..=2, flexible = 0)]
pub struct BrokerRegistrationChangeRecord {
    /// The broker's id.
    pub broker_id: i32,
    /// The epoch of the registration that changes.
    pub broker_epoch: i64,
    /// -1 unfences the broker, 1 fences it, 0 leaves it as it is.
    #[field(tag = 0)]
    pub fenced: i8,
    /// 1 starts a controlled shutdown, 0 leaves it as it is.
    #[field(since = 1, tag = 1)]
    pub in_controlled_shutdown: i8,
    /// The ids of the broker's directories; empty leaves them as they are.
    #[field(since = 2, tag = 2)]
    pub log_dirs: Vec<Uuid>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// A broker is fenced (no longer written).
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 7, versions = 0, flexible = 0)]
pub struct FenceBrokerRecord {
    /// The broker's id.
    pub id: i32,
    /// The broker's epoch.
    pub epoch: i64,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// A broker is unfenced (no longer written).
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 8, versions = 0, flexible = 0)]
pub struct UnfenceBrokerRecord {
    /// The broker's id.
    pub id: i32,
    /// The broker's epoch.
    pub epoch: i64,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// A controller registers (KIP-919).
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 27, versions = 0, flexible = 0)]
pub struct RegisterControllerRecord {
    /// The controller's id.
    pub controller_id: i32,
    /// Identifies one run of the node's process.
    pub incarnation_id: Uuid,
    /// Whether the node could take over from ZooKeeper; always false by now.
    pub zk_migration_ready: bool,
    /// Where the node listens.
    pub end_points: Vec<ControllerEndpoint>,
    /// The features that the node supports, with their levels.
    pub features: Vec<ControllerFeature>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// A listener of a controller.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct ControllerEndpoint {
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

/// The levels of a feature that a controller supports.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct ControllerFeature {
    /// The feature's name.
    pub name: String,
    /// The lowest level supported.
    pub min_supported_version: i16,
    /// The highest level supported.
    pub max_supported_version: i16,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}
