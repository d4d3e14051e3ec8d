//! Makes a delegation token (KIP-48, KIP-373).

use bytes::Bytes;
use quorate_types::ErrorCode;

use crate::codec::{Fields, Message, UnknownTags};

/// Asks for a token.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 38, versions = 1..=3, flexible = 2)]
pub struct CreateDelegationTokenRequest {
    /// The type of whom the token shall speak for; null for the caller.
    #[field(since = 3)]
    pub owner_principal_type: Option<String>,
    /// The name of whom the token shall speak for; null for the caller.
    #[field(since = 3)]
    pub owner_principal_name: Option<String>,
    /// Who may renew the token besides its owner.
    pub renewers: Vec<CreatableRenewers>,
    /// How long the token may live in all, in milliseconds; negative for the server's maximum.
    pub max_lifetime_ms: i64,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// Somebody who may renew the token.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct CreatableRenewers {
    /// The principal's type.
    pub principal_type: String,
    /// The principal's name.
    pub principal_name: String,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// The token.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 38, versions = 1..=3, flexible = 2)]
pub struct CreateDelegationTokenResponse {
    /// What went wrong, if anything.
    pub error_code: ErrorCode,
    /// The type of whom the token speaks for.
    pub principal_type: String,
    /// The name of whom the token speaks for.
    pub principal_name: String,
    /// The type of who asked for the token.
    #[field(since = 3)]
    pub token_requester_principal_type: String,
    /// The name of who asked for the token.
    #[field(since = 3)]
    pub token_requester_principal_name: String,
    /// When the token was made, in milliseconds since 1970.
    pub issue_timestamp_ms: i64,
    /// When the token expires unless it is renewed, in milliseconds since 1970.
    pub expiry_timestamp_ms: i64,
    /// When the token ends for good, in milliseconds since 1970.
    pub max_timestamp_ms: i64,
    /// The token's id.
    pub token_id: String,
    /// The token's secret.
    pub hmac: Bytes,
    /// How long the client was or is to be held back by a quota, in milliseconds.
    pub throttle_time_ms: i32,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}
