//! Creates access rules (KIP-140).

use quorate_types::ErrorCode;

use crate::codec::{Fields, Message, UnknownTags};

/// Asks to create rules.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 30, versions = 1..=3, flexible = 2)]
pub struct CreateAclsRequest {
    /// The rules to create.
    pub creations: Vec<AclCreation>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// A rule to create.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct AclCreation {
    /// The resource's type: 2 topic, 3 group, 4 cluster, 5 transactional id, 6 delegation token, 7
    /// user.
    pub resource_type: i8,
    /// The resource's name.
    pub resource_name: String,
    /// How the resource is named: 3 literally, 4 by a prefix.
    #[field(default = 3)]
    pub resource_pattern_type: i8,
    /// Whom the rule is about, as `type:name`.
    pub principal: String,
    /// The host that the rule is about, `*` for every host.
    pub host: String,
    /// The operation: 1 any, 2 all, 3 read, 4 write, 5 create, 6 delete, 7 alter, 8 describe, 9
    /// cluster action, 10 describe configs, 11 alter configs, 12 idempotent write, 13 create
    /// tokens, 14 describe tokens.
    pub operation: i8,
    /// What the rule does: 1 any, 2 denies, 3 allows.
    pub permission_type: i8,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 30, versions = 1..=3, flexible = 2)]
pub struct CreateAclsResponse {
    /// How long the client was or is to be held back by a quota, in milliseconds.
    pub throttle_time_ms: i32,
    /// What came of each rule, in the order of the request.
    pub results: Vec<AclCreationResult>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// What came of one rule.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct AclCreationResult {
    /// What went wrong, if anything.
    pub error_code: ErrorCode,
    /// What went wrong, in words; null if there is nothing to say.
    pub error_message: Option<String>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}
