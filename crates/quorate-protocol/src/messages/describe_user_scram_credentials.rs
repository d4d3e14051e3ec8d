//! Lists SCRAM credentials (KIP-554).

use quorate_types::ErrorCode;

use crate::codec::{Fields, Message, UnknownTags};

/// Asks for the credentials of users.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 50, versions = 0, flexible = 0)]
pub struct DescribeUserScramCredentialsRequest {
    /// The users; null or empty for all.
    #[field(default = Some(Vec::new()))]
    pub users: Option<Vec<UserName>>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// A user.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct UserName {
    /// The user's name.
    pub name: String,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// The credentials, without their secrets.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 50, versions = 0, flexible = 0)]
pub struct DescribeUserScramCredentialsResponse {
    /// How long the client was or is to be held back by a quota, in milliseconds.
    pub throttle_time_ms: i32,
    /// What went wrong, if anything.
    pub error_code: ErrorCode,
    /// What went wrong, in words; null if there is nothing to say.
    pub error_message: Option<String>,
    /// The users.
    pub results: Vec<DescribeUserScramCredentialsResult>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// A user's credentials.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct DescribeUserScramCredentialsResult {
    /// The user's name.
    pub user: String,
    /// What went wrong, if anything.
    pub error_code: ErrorCode,
    /// What went wrong, in words; null if there is nothing to say.
    pub error_message: Option<String>,
    /// The user's credentials, without their secrets.
    pub credential_infos: Vec<CredentialInfo>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// A credential, without its secrets.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct CredentialInfo {
    /// The mechanism: 1 SCRAM-SHA-256, 2 SCRAM-SHA-512.
    pub mechanism: i8,
    /// How many rounds the hash takes.
    pub iterations: i32,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}
