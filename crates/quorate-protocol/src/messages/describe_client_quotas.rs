//! Lists client quotas (KIP-546).

use quorate_types::ErrorCode;

use crate::codec::{Fields, Message, UnknownTags};

/// Asks for the quotas of the entities that match.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 48, versions = 0..=1, flexible = 1)]
pub struct DescribeClientQuotasRequest {
    /// What the entities must be; all must hold.
    pub components: Vec<ComponentData>,
    /// Whether entities with further types are left out.
    pub strict: bool,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// What an entity must be.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct ComponentData {
    /// `user`, `client-id` or `ip`.
    pub entity_type: String,
    /// How to match: 0 this name, 1 the default entity, 2 any that has a name.
    pub match_type: i8,
    /// The name that must match; null unless the match type asks for one.
    pub match_name: Option<String>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// The quotas.
#[derive(Debug, Clone, PartialEq, Message)]
#[message(key = 48, versions = 0..=1, flexible = 1)]
pub struct DescribeClientQuotasResponse {
    /// How long the client was or is to be held back by a quota, in milliseconds.
    pub throttle_time_ms: i32,
    /// What went wrong, if anything.
    pub error_code: ErrorCode,
    /// What went wrong, in words; null if there is nothing to say.
    pub error_message: Option<String>,
    /// The entities that match; null on error.
    #[field(default = Some(Vec::new()))]
    pub entries: Option<Vec<EntryData>>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// An entity and its quotas.
#[derive(Debug, Clone, PartialEq, Fields)]
pub struct EntryData {
    /// Whom the quota is for: one element for each type of entity.
    pub entity: Vec<EntityData>,
    /// The quotas of the entity.
    pub values: Vec<ValueData>,
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

/// A quota.
#[derive(Debug, Clone, PartialEq, Fields)]
pub struct ValueData {
    /// The name of the quota.
    pub key: String,
    /// The value.
    pub value: f64,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}
