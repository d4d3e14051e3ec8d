//! Lists configs (KIP-133).

use quorate_types::ErrorCode;

use crate::codec::{Fields, Message, UnknownTags};

/// Asks for the configs of resources.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 32, versions = 1..=4, flexible = 4)]
pub struct DescribeConfigsRequest {
    /// The resources.
    pub resources: Vec<DescribeConfigsResource>,
    /// Whether to list where each value could come from.
    pub include_synonyms: bool,
    /// Whether to say what each config is good for.
    #[field(since = 3)]
    pub include_documentation: bool,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// A resource whose configs are asked for.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct DescribeConfigsResource {
    /// The resource's type: 2 topic, 4 broker, 8 the broker's logger, 16 client metrics, 32 group.
    pub resource_type: i8,
    /// The resource's name.
    pub resource_name: String,
    /// The names of the configs; null for all.
    #[field(default = Some(Vec::new()))]
    pub configuration_keys: Option<Vec<String>>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// The configs.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 32, versions = 1..=4, flexible = 4)]
pub struct DescribeConfigsResponse {
    /// How long the client was or is to be held back by a quota, in milliseconds.
    pub throttle_time_ms: i32,
    /// The resources.
    pub results: Vec<DescribeConfigsResult>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// A resource and its configs.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct DescribeConfigsResult {
    /// What went wrong, if anything.
    pub error_code: ErrorCode,
    /// What went wrong, in words; null if there is nothing to say.
    pub error_message: Option<String>,
    /// The resource's type: 2 topic, 4 broker, 8 the broker's logger, 16 client metrics, 32 group.
    pub resource_type: i8,
    /// The resource's name.
    pub resource_name: String,
    /// The configs.
    pub configs: Vec<DescribeConfigsResourceResult>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// A config.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct DescribeConfigsResourceResult {
    /// The config's name.
    pub name: String,
    /// The value; null if there is none, or if it is secret.
    pub value: Option<String>,
    /// Whether the value cannot be changed while the broker runs.
    pub read_only: bool,
    /// Where the value comes from: 1 topic, 2 dynamic broker, 3 dynamic default of all brokers, 4
    /// static broker, 5 default.
    #[field(default = -1)]
    pub config_source: i8,
    /// Whether the value is secret, and therefore null.
    pub is_sensitive: bool,
    /// Where the value could come from, what counts first.
    pub synonyms: Vec<DescribeConfigsSynonym>,
    /// The type of the value: 1 boolean, 2 string, 3 int, 4 short, 5 long, 6 double, 7 list, 8
    /// class, 9 password.
    #[field(since = 3, ignorable)]
    pub config_type: i8,
    /// What the config is good for; null if not asked for.
    #[field(since = 3, ignorable)]
    pub documentation: Option<String>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// Another place that a value can come from.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct DescribeConfigsSynonym {
    /// The config's name.
    pub name: String,
    /// The value; null if there is none, or if it is secret.
    pub value: Option<String>,
    /// Where the value comes from, as for the config itself.
    pub source: i8,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}
