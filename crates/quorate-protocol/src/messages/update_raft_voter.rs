//! A voter changes its listeners or its `kraft.version`s (KIP-853).

use quorate_types::{ErrorCode, Uuid};

use crate::codec::{Fields, Message, UnknownTags};

/// Tells the leader where a voter listens and what it supports.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 82, versions = 0, flexible = 0)]
pub struct UpdateRaftVoterRequest {
    /// The cluster that the sender belongs to; null if it does not know.
    pub cluster_id: Option<String>,
    /// The epoch of the leader that the sender knows.
    pub current_leader_epoch: i32,
    /// The voter's id.
    pub voter_id: i32,
    /// The voter's metadata directory; zero if unknown.
    pub voter_directory_id: Uuid,
    /// Where the node listens.
    pub listeners: Vec<Listener>,
    /// The `kraft.version`s that the voter supports.
    pub kraft_version_feature: KRaftVersionFeature,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// A listener of the node.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct Listener {
    /// The listener's name.
    pub name: String,
    /// Host name or address.
    pub host: String,
    /// TCP port.
    pub port: u16,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// A range of `kraft.version`s.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct KRaftVersionFeature {
    /// The lowest level supported.
    pub min_supported_version: i16,
    /// The highest level supported.
    pub max_supported_version: i16,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 82, versions = 0, flexible = 0)]
pub struct UpdateRaftVoterResponse {
    /// How long the client was or is to be held back by a quota, in milliseconds.
    pub throttle_time_ms: i32,
    /// What went wrong, if anything.
    pub error_code: ErrorCode,
    /// The leader that the answering node knows of.
    #[field(tag = 0)]
    pub current_leader: CurrentLeader,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// A leader and where to reach it.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct CurrentLeader {
    /// The leader; -1 if there is none, or none is known.
    #[field(default = -1)]
    pub leader_id: i32,
    /// The leader's epoch.
    #[field(default = -1)]
    pub leader_epoch: i32,
    /// Host name or address.
    pub host: String,
    /// TCP port.
    pub port: i32,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}
