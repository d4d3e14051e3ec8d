//! Sets and deletes SCRAM credentials (KIP-554).

use bytes::Bytes;
use quorate_types::ErrorCode;

use crate::codec::{Fields, Message, UnknownTags};

/// Asks to change credentials.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 51, versions = 0, flexible = 0)]
pub struct AlterUserScramCredentialsRequest {
    /// The credentials to delete.
    pub deletions: Vec<ScramCredentialDeletion>,
    /// The credentials to set.
    pub upsertions: Vec<ScramCredentialUpsertion>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// A credential to delete.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct ScramCredentialDeletion {
    /// The user's name.
    pub name: String,
    /// The mechanism: 1 SCRAM-SHA-256, 2 SCRAM-SHA-512.
    pub mechanism: i8,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// A credential to set.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct ScramCredentialUpsertion {
    /// The user's name.
    pub name: String,
    /// The mechanism: 1 SCRAM-SHA-256, 2 SCRAM-SHA-512.
    pub mechanism: i8,
    /// How many rounds the hash takes.
    pub iterations: i32,
    /// The salt.
    pub salt: Bytes,
    /// The password, hashed with the salt.
    pub salted_password: Bytes,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 51, versions = 0, flexible = 0)]
pub struct AlterUserScramCredentialsResponse {
    /// How long the client was or is to be held back by a quota, in milliseconds.
    pub throttle_time_ms: i32,
    /// What came of it, one by one.
    pub results: Vec<AlterUserScramCredentialsResult>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// What came of it for one user.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct AlterUserScramCredentialsResult {
    /// The user's name.
    pub user: String,
    /// What went wrong, if anything.
    pub error_code: ErrorCode,
    /// What went wrong, in words; null if there is nothing to say.
    pub error_message: Option<String>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}
