//! Deletes topics (KIP-4, by id KIP-516).

use quorate_types::{ErrorCode, Uuid};

use crate::codec::{Fields, Message, UnknownTags};

/// Asks to delete topics.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 20, versions = 1..=6, flexible = 4)]
pub struct DeleteTopicsRequest {
    /// The topics.
    #[field(since = 6)]
    pub topics: Vec<DeleteTopicState>,
    /// The names of the topics (versions without ids).
    #[field(until = 5, ignorable)]
    pub topic_names: Vec<String>,
    /// How long the server may take, in milliseconds.
    pub timeout_ms: i32,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// A topic to delete, by name or by id.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct DeleteTopicState {
    /// The topic's name; null if it is given by its id.
    #[field(since = 6)]
    pub name: Option<String>,
    /// The topic's id; zero if it is given by its name.
    #[field(since = 6)]
    pub topic_id: Uuid,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 20, versions = 1..=6, flexible = 4)]
pub struct DeleteTopicsResponse {
    /// How long the client was or is to be held back by a quota, in milliseconds.
    pub throttle_time_ms: i32,
    /// What came of it, one by one.
    pub responses: Vec<DeletableTopicResult>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// What came of one topic.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct DeletableTopicResult {
    /// The topic's name; null if it is unknown or not to be seen.
    #[field(nullable = 6)]
    pub name: Option<String>,
    /// The topic's id; zero if unknown.
    #[field(since = 6, ignorable)]
    pub topic_id: Uuid,
    /// What went wrong, if anything.
    pub error_code: ErrorCode,
    /// What went wrong, in words; null if there is nothing to say.
    #[field(since = 5, ignorable)]
    pub error_message: Option<String>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}
