//! What a node speaks, and the feature levels in force (KIP-35, KIP-511, KIP-584).

use quorate_types::ErrorCode;

use crate::codec::{Fields, Message, UnknownTags};

/// Asks which versions the node speaks; the first request of a connection.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 18, versions = 0..=4, flexible = 3)]
pub struct ApiVersionsRequest {
    /// The name of the client's library.
    #[field(since = 3, ignorable)]
    pub client_software_name: String,
    /// The version of the client's library.
    #[field(since = 3, ignorable)]
    pub client_software_version: String,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// The versions, and the features.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 18, versions = 0..=4, flexible = 3)]
pub struct ApiVersionsResponse {
    /// What went wrong, if anything.
    pub error_code: ErrorCode,
    /// The APIs that this listener serves.
    pub api_keys: Vec<ApiVersion>,
    /// How long the client was or is to be held back by a quota, in milliseconds.
    #[field(since = 1, ignorable)]
    pub throttle_time_ms: i32,
    /// The features that the node supports.
    #[field(since = 3, tag = 0, ignorable)]
    pub supported_features: Vec<SupportedFeatureKey>,
    /// The metadata offset at which the levels were last changed; -1 if unknown.
    #[field(since = 3, tag = 1, default = -1, ignorable)]
    pub finalized_features_epoch: i64,
    /// The levels in force.
    #[field(since = 3, tag = 2, ignorable)]
    pub finalized_features: Vec<FinalizedFeatureKey>,
    /// Whether the node could take over from ZooKeeper; always false by now.
    #[field(since = 3, tag = 3, ignorable)]
    pub zk_migration_ready: bool,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// The versions of one API.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct ApiVersion {
    /// The key of the API.
    pub api_key: i16,
    /// The lowest version served.
    pub min_version: i16,
    /// The highest version served.
    pub max_version: i16,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// The levels of a feature that the node supports.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct SupportedFeatureKey {
    /// The feature's name.
    #[field(since = 3)]
    pub name: String,
    /// The lowest level supported.
    #[field(since = 3)]
    pub min_version: i16,
    /// The highest level supported.
    #[field(since = 3)]
    pub max_version: i16,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// The level of a feature in force.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct FinalizedFeatureKey {
    /// The feature's name.
    #[field(since = 3)]
    pub name: String,
    /// The level in force.
    #[field(since = 3)]
    pub max_version_level: i16,
    /// The level in force, again.
    #[field(since = 3)]
    pub min_version_level: i16,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}
