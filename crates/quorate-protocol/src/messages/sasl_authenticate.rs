//! Carries what SASL mechanisms say to each other (KIP-152).

use bytes::Bytes;
use quorate_types::ErrorCode;

use crate::codec::{Message, UnknownTags};

/// A turn of the client.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 36, versions = 0..=2, flexible = 2)]
pub struct SaslAuthenticateRequest {
    /// What the client's SASL mechanism says.
    pub auth_bytes: Bytes,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// A turn of the server.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 36, versions = 0..=2, flexible = 2)]
pub struct SaslAuthenticateResponse {
    /// What went wrong, if anything.
    pub error_code: ErrorCode,
    /// What went wrong, in words; null if there is nothing to say.
    pub error_message: Option<String>,
    /// What the server's SASL mechanism says.
    pub auth_bytes: Bytes,
    /// When the client must authenticate again, in milliseconds from now; 0 for never.
    #[field(since = 1, ignorable)]
    pub session_lifetime_ms: i64,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}
