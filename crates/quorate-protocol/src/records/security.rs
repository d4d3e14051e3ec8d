//! Who may do what, and how they prove who they are: access rules, SCRAM credentials, tokens.

use bytes::Bytes;
use quorate_types::Uuid;

use crate::codec::{Message, UnknownTags};

/// An access rule is created.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 18, versions = 0, flexible = 0)]
pub struct AccessControlEntryRecord {
    /// The rule's id.
    pub id: Uuid,
    /// The resource's type: 2 topic, 3 group, 4 cluster, 5 transactional id, 6 delegation token, 7
    /// user.
    pub resource_type: i8,
    /// The resource's name.
    pub resource_name: String,
    /// How the resource is named: 3 literally, 4 by a prefix.
    pub pattern_type: i8,
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

/// An access rule is deleted.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 19, versions = 0, flexible = 0)]
pub struct RemoveAccessControlEntryRecord {
    /// The rule's id.
    pub id: Uuid,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// A user's SCRAM credential is set.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 11, versions = 0, flexible = 0)]
pub struct UserScramCredentialRecord {
    /// The user's name.
    pub name: String,
    /// The mechanism: 1 SCRAM-SHA-256, 2 SCRAM-SHA-512.
    pub mechanism: i8,
    /// The salt.
    pub salt: Bytes,
    /// The key by which the server checks the client.
    pub stored_key: Bytes,
    /// The key by which the server proves itself.
    pub server_key: Bytes,
    /// How many rounds the hash takes.
    pub iterations: i32,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// A user's SCRAM credential is deleted.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 22, versions = 0, flexible = 0)]
pub struct RemoveUserScramCredentialRecord {
    /// The user's name.
    pub name: String,
    /// The mechanism: 1 SCRAM-SHA-256, 2 SCRAM-SHA-512.
    pub mechanism: i8,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// A delegation token is made or renewed.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 10, versions = 0, flexible = 0)]
pub struct DelegationTokenRecord {
    /// Whom the token speaks for, as `type:name`.
    pub owner: String,
    /// Who asked for the token, as `type:name`.
    pub requester: String,
    /// Who may renew the token besides its owner, as `type:name`.
    pub renewers: Vec<String>,
    /// When the token was made, in milliseconds since 1970.
    pub issue_timestamp: i64,
    /// When the token ends for good, in milliseconds since 1970.
    pub max_timestamp: i64,
    /// When the token expires unless it is renewed, in milliseconds since 1970.
    pub expiration_timestamp: i64,
    /// The token's id.
    pub token_id: String,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// A delegation token is deleted.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 26, versions = 0, flexible = 0)]
pub struct RemoveDelegationTokenRecord {
    /// The token's id.
    pub token_id: String,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}
