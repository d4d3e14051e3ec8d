//! Sets and removes client quotas (KIP-546).

use quorate_types::ErrorCode;

use crate::codec::{Fields, Message, UnknownTags};

/// Asks to change quotas.
#[derive(Debug, Clone, PartialEq, Message)]
#[message(key = 49, versions = 0..=1, flexible = 1)]
pub struct AlterClientQuotasRequest {
    /// What to change, entity by entity.
    pub entries: Vec<RequestEntryData>,
    /// Whether only to check and to change nothing.
    pub validate_only: bool,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// An entity and what to change about its quotas.
#[derive(Debug, Clone, PartialEq, Fields)]
pub struct RequestEntryData {
    /// Whom the quota is for: one element for each type of entity.
    pub entity: Vec<EntityData>,
    /// What to set and what to remove.
    pub ops: Vec<OpData>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// One part of what a quota is for.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct EntityData {
    /// `user`, `client-id` or `ip`.
    pub entity_type: String,
    /// The name of the entity; null for the default of its type.
    pub entity_name: Option<String>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// A change of one quota.
#[derive(Debug, Clone, PartialEq, Fields)]
pub struct OpData {
    /// The name of the quota.
    pub key: String,
    /// The value.
    pub value: f64,
    /// Whether the quota is removed.
    pub remove: bool,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 49, versions = 0..=1, flexible = 1)]
pub struct AlterClientQuotasResponse {
    /// How long the client was or is to be held back by a quota, in milliseconds.
    pub throttle_time_ms: i32,
    /// What came of it, entity by entity.
    pub entries: Vec<ResponseEntryData>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// What came of it for one entity.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct ResponseEntryData {
    /// What went wrong, if anything.
    pub error_code: ErrorCode,
    /// What went wrong, in words; null if there is nothing to say.
    pub error_message: Option<String>,
    /// Whom the quota is for: one element for each type of entity.
    pub entity: Vec<EntityData>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}
