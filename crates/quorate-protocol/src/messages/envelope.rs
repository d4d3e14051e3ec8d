//! Carries a client's request from a broker to the active controller (KIP-590).

use bytes::Bytes;
use quorate_types::ErrorCode;

use crate::codec::{Message, UnknownTags};

/// A request on behalf of a client.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 58, versions = 0, flexible = 0)]
pub struct EnvelopeRequest {
    /// The client's request: its header and body, without a size.
    pub request_data: Bytes,
    /// Whom the client authenticated as: a version and a principal; null if the broker could not
    /// write it.
    pub request_principal: Option<Bytes>,
    /// The client's address, 4 or 16 bytes.
    pub client_host_address: Bytes,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// The answer to the client.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 58, versions = 0, flexible = 0)]
pub struct EnvelopeResponse {
    /// The answer to the client: its header and body, without a size; null if the envelope itself
    /// failed.
    pub response_data: Option<Bytes>,
    /// What went wrong, if anything.
    pub error_code: ErrorCode,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}
