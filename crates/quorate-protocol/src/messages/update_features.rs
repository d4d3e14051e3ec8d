//! Changes feature levels (KIP-584, KIP-778).

use quorate_types::ErrorCode;

use crate::codec::{Fields, Message, UnknownTags};

/// Asks to set feature levels.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 57, versions = 0..=2, flexible = 0)]
pub struct UpdateFeaturesRequest {
    /// How long the server may take, in milliseconds.
    #[field(default = 60000)]
    pub timeout_ms: i32,
    /// The levels to set.
    pub feature_updates: Vec<FeatureUpdateKey>,
    /// Whether only to check and to change nothing.
    #[field(since = 1)]
    pub validate_only: bool,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// A level to set.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct FeatureUpdateKey {
    /// The feature's name.
    pub feature: String,
    /// The level to set; 0 removes the feature.
    pub max_version_level: i16,
    /// Whether the level may go down (versions before there was an upgrade type).
    #[field(until = 0)]
    pub allow_downgrade: bool,
    /// Whether a level may go down: 1 no, 2 if nothing is lost, 3 at any price.
    #[field(since = 1, default = 1)]
    pub upgrade_type: i8,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 57, versions = 0..=2, flexible = 0)]
pub struct UpdateFeaturesResponse {
    /// How long the client was or is to be held back by a quota, in milliseconds.
    pub throttle_time_ms: i32,
    /// What went wrong, if anything.
    pub error_code: ErrorCode,
    /// What went wrong, in words; null if there is nothing to say.
    pub error_message: Option<String>,
    /// What came of it, one by one.
    #[field(until = 1, ignorable)]
    pub results: Vec<UpdatableFeatureResult>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// What came of one feature.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct UpdatableFeatureResult {
    /// The feature's name.
    pub feature: String,
    /// What went wrong, if anything.
    pub error_code: ErrorCode,
    /// What went wrong, in words; null if there is nothing to say.
    pub error_message: Option<String>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}
