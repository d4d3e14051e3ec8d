//! Lets a delegation token live longer (KIP-48).

use bytes::Bytes;
use quorate_types::ErrorCode;

use crate::codec::{Message, UnknownTags};

/// Asks to renew a token.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 39, versions = 1..=2, flexible = 2)]
pub struct RenewDelegationTokenRequest {
    /// The token's secret.
    pub hmac: Bytes,
    /// How long the token shall live from now on, in milliseconds; negative for the server's
    /// default.
    pub renew_period_ms: i64,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// When the token expires.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 39, versions = 1..=2, flexible = 2)]
pub struct RenewDelegationTokenResponse {
    /// What went wrong, if anything.
    pub error_code: ErrorCode,
    /// When the token expires unless it is renewed, in milliseconds since 1970.
    pub expiry_timestamp_ms: i64,
    /// How long the client was or is to be held back by a quota, in milliseconds.
    pub throttle_time_ms: i32,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}
