//! Hands out blocks of producer ids (KIP-730).

use quorate_types::ErrorCode;

use crate::codec::{Message, UnknownTags};

/// A broker asks for a block of producer ids.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 67, versions = 0, flexible = 0)]
pub struct AllocateProducerIdsRequest {
    /// The broker's id.
    pub broker_id: i32,
    /// The broker's epoch, as its registration gave it.
    #[field(default = -1)]
    pub broker_epoch: i64,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// The block.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 67, versions = 0, flexible = 0)]
pub struct AllocateProducerIdsResponse {
    /// How long the client was or is to be held back by a quota, in milliseconds.
    pub throttle_time_ms: i32,
    /// What went wrong, if anything.
    pub error_code: ErrorCode,
    /// The first id of the block.
    pub producer_id_start: i64,
    /// How many ids the block has.
    pub producer_id_len: i32,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}
