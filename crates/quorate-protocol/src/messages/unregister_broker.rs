//! Removes the registration of a broker (KIP-631).

use quorate_types::ErrorCode;

use crate::codec::{Message, UnknownTags};

/// Asks to forget a broker.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 64, versions = 0, flexible = 0)]
pub struct UnregisterBrokerRequest {
    /// The broker's id.
    pub broker_id: i32,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 64, versions = 0, flexible = 0)]
pub struct UnregisterBrokerResponse {
    /// How long the client was or is to be held back by a quota, in milliseconds.
    pub throttle_time_ms: i32,
    /// What went wrong, if anything.
    pub error_code: ErrorCode,
    /// What went wrong, in words; null if there is nothing to say.
    pub error_message: Option<String>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}
