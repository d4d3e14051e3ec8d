//! Chooses a SASL mechanism (KIP-43).

use quorate_types::ErrorCode;

use crate::codec::Message;

/// Names the mechanism that the client wants.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 17, versions = 0..=1)]
pub struct SaslHandshakeRequest {
    /// The mechanism that the client wants.
    pub mechanism: String,
}

/// Whether the listener takes it.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 17, versions = 0..=1)]
pub struct SaslHandshakeResponse {
    /// What went wrong, if anything.
    pub error_code: ErrorCode,
    /// The mechanisms that the listener takes.
    pub mechanisms: Vec<String>,
}
