//! A principal, as a broker hands it on with a client's request.

use crate::codec::{Message, UnknownTags};

/// A principal, as it travels in an Envelope (KIP-590).
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(versions = 0, flexible = 0)]
pub struct DefaultPrincipalData {
    /// The principal's type, for instance `User`.
    pub principal_type: String,
    /// The principal's name.
    pub name: String,
    /// Whether a delegation token authenticated the principal.
    pub token_authenticated: bool,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}
