//! Changes single configs (KIP-339).

use quorate_types::ErrorCode;

use crate::codec::{Fields, Message, UnknownTags};

/// Asks to change configs.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 44, versions = 0..=1, flexible = 1)]
pub struct IncrementalAlterConfigsRequest {
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
    /// What to change.
    pub configs: Vec<AlterableConfig>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// A config to change.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct AlterableConfig {
    /// The config's name.
    pub name: String,
    /// What to do: 0 set, 1 delete, 2 append to the list, 3 take from the list.
    pub config_operation: i8,
    /// The value; null only with delete.
    pub value: Option<String>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 44, versions = 0..=1, flexible = 1)]
pub struct IncrementalAlterConfigsResponse {
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
