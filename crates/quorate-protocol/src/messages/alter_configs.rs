//! Replaces all configs of a resource (KIP-133); superseded by IncrementalAlterConfigs.

use quorate_types::ErrorCode;

use crate::codec::{Fields, Message, UnknownTags};

/// Asks to replace the configs of resources.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 33, versions = 0..=2, flexible = 2)]
pub struct AlterConfigsRequest {
    /// The resources.
    pub resources: Vec<AlterConfigsResource>,
    /// Whether only to check and to change nothing.
    pub validate_only: bool,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// What to change at one resource.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct AlterConfigsResource {
    /// The resource's type: 2 topic, 4 broker, 8 the broker's logger, 16 client metrics, 32 group.
    pub resource_type: i8,
    /// The resource's name.
    pub resource_name: String,
    /// All configs that the resource shall have; others are deleted.
    pub configs: Vec<AlterableConfig>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// A config to change.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct AlterableConfig {
    /// The config's name.
    pub name: String,
    /// The value; null deletes the config.
    pub value: Option<String>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 33, versions = 0..=2, flexible = 2)]
pub struct AlterConfigsResponse {
    /// How long the client was or is to be held back by a quota, in milliseconds.
    pub throttle_time_ms: i32,
    /// What came of it, one by one.
    pub responses: Vec<AlterConfigsResourceResponse>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// What came of it for one resource.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct AlterConfigsResourceResponse {
    /// What went wrong, if anything.
    pub error_code: ErrorCode,
    /// What went wrong, in words; null if there is nothing to say.
    pub error_message: Option<String>,
    /// The resource's type: 2 topic, 4 broker, 8 the broker's logger, 16 client metrics, 32 group.
    pub resource_type: i8,
    /// The resource's name.
    pub resource_name: String,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}
