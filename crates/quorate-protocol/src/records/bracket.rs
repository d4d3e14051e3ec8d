//! Records that say nothing about the cluster: transactions (KIP-868) and no-ops.

use crate::codec::{Message, UnknownTags};

/// What follows takes effect as one (KIP-868).
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 23, versions = 0, flexible = 0)]
pub struct BeginTransactionRecord {
    /// What the transaction is about; null if it has no name.
    #[field(tag = 0)]
    pub name: Option<String>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// What was begun takes effect (KIP-868).
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 24, versions = 0, flexible = 0)]
pub struct EndTransactionRecord {
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// What was begun is undone (KIP-868).
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 25, versions = 0, flexible = 0)]
pub struct AbortTransactionRecord {
    /// Why the transaction was given up; null if nobody said.
    #[field(tag = 0)]
    pub reason: Option<String>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// Says nothing; it advances the log.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 20, versions = 0, flexible = 0)]
pub struct NoOpRecord {
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}
