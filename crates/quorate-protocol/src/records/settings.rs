//! What is set for the cluster: configs, quotas, feature levels, and the next producer id.

use crate::codec::{Fields, Message, UnknownTags};

/// A config is set or deleted.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 4, versions = 0, flexible = 0)]
pub struct ConfigRecord {
    /// The resource's type: 2 topic, 4 broker, 8 the broker's logger, 16 client metrics, 32 group.
    pub resource_type: i8,
    /// The resource's name, empty for the default of all brokers.
    pub resource_name: String,
    /// The config's name.
    pub name: String,
    /// The value; null deletes the config.
    pub value: Option<String>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// A client quota is set or removed.
#[derive(Debug, Clone, PartialEq, Message)]
#[message(key = 14, versions = 0, flexible = 0)]
pub struct ClientQuotaRecord {
    /// Whom the quota is for: one element for each type of entity.
    pub entity: Vec<EntityData>,
    /// The name of the quota.
    pub key: String,
    /// The value.
    pub value: f64,
    /// Whether the quota is removed.
    pub remove: bool,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// One part of what a quota is for.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct EntityData {
    /// `user`, `client-id` or `ip`.
    pub entity_type: String,
    /// The name of the entity; null for the default of its type.
    pub entity_name: Option<String>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// The level of a feature is set.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 12, versions = 0, flexible = 0)]
pub struct FeatureLevelRecord {
    /// The feature's name.
    pub name: String,
    /// The level from here on; 0 removes the feature.
    pub feature_level: i16,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// A block of producer ids is handed out.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 15, versions = 0, flexible = 0)]
pub struct ProducerIdsRecord {
    /// The broker that asked for the block.
    pub broker_id: i32,
    /// The epoch of the broker that asked for the block.
    #[field(default = -1)]
    pub broker_epoch: i64,
    /// The first producer id that nobody has yet.
    pub next_producer_id: i64,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// The state of a migration from ZooKeeper; ignored.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 21, versions = 0, flexible = 0)]
pub struct ZkMigrationStateRecord {
    /// How far a migration from ZooKeeper had come; nothing depends on it any longer.
    pub zk_migration_state: i8,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}
