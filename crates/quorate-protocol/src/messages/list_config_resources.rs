//! Lists the resources that have configs (KIP-714, KIP-1142).

use quorate_types::ErrorCode;

use crate::codec::{Fields, Message, UnknownTags};

/// Asks for the resources that have configs.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 74, versions = 0..=1, flexible = 0)]
pub struct ListConfigResourcesRequest {
    /// The types of resources that are wanted; empty for all that the node knows.
    #[field(since = 1)]
    pub resource_types: Vec<i8>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// The resources.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 74, versions = 0..=1, flexible = 0)]
pub struct ListConfigResourcesResponse {
    /// How long the client was or is to be held back by a quota, in milliseconds.
    pub throttle_time_ms: i32,
    /// What went wrong, if anything.
    pub error_code: ErrorCode,
    /// The resources that have configs.
    pub config_resources: Vec<ConfigResource>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// A resource that has configs.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct ConfigResource {
    /// The resource's name.
    pub resource_name: String,
    /// The resource's type: 2 topic, 4 broker, 8 the broker's logger, 16 client metrics, 32 group.
    #[field(since = 1, default = 16, ignorable)]
    pub resource_type: i8,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}
