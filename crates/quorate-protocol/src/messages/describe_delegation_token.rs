//! Lists delegation tokens (KIP-48).

use bytes::Bytes;
use quorate_types::ErrorCode;

use crate::codec::{Fields, Message, UnknownTags};

/// Asks for tokens.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 41, versions = 1..=3, flexible = 2)]
pub struct DescribeDelegationTokenRequest {
    /// Whose tokens are wanted; null for all.
    #[field(default = Some(Vec::new()))]
    pub owners: Option<Vec<DescribeDelegationTokenOwner>>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// Somebody whose tokens are asked for.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct DescribeDelegationTokenOwner {
    /// The principal's type.
    pub principal_type: String,
    /// The principal's name.
    pub principal_name: String,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// The tokens.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 41, versions = 1..=3, flexible = 2)]
pub struct DescribeDelegationTokenResponse {
    /// What went wrong, if anything.
    pub error_code: ErrorCode,
    /// The tokens that the caller may see.
    pub tokens: Vec<DescribedDelegationToken>,
    /// How long the client was or is to be held back by a quota, in milliseconds.
    pub throttle_time_ms: i32,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// A delegation token.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct DescribedDelegationToken {
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
    pub issue_timestamp: i64,
    /// When the token expires unless it is renewed, in milliseconds since 1970.
    pub expiry_timestamp: i64,
    /// When the token ends for good, in milliseconds since 1970.
    pub max_timestamp: i64,
    /// The token's id.
    pub token_id: String,
    /// The token's secret.
    pub hmac: Bytes,
    /// Who may renew the token besides its owner.
    pub renewers: Vec<DescribedDelegationTokenRenewer>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// Somebody who may renew the token.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct DescribedDelegationTokenRenewer {
    /// The principal's type.
    pub principal_type: String,
    /// The principal's name.
    pub principal_name: String,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}
