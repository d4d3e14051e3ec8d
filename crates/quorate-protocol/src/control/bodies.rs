//! The bodies of control records, as they are written.

use quorate_types::Uuid;

use crate::codec::{Fields, Message, UnknownTags};

/// The body of the control record that opens a leader's epoch (KIP-595).
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(versions = 0..=1, flexible = 0)]
pub struct LeaderChangeMessage {
    /// The record's version, again.
    pub version: i16,
    /// The leader of the epoch that begins.
    pub leader_id: i32,
    /// The voters at that time.
    pub voters: Vec<LeaderChangeVoter>,
    /// The voters that granted their vote.
    pub granting_voters: Vec<LeaderChangeVoter>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// A voter.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct LeaderChangeVoter {
    /// The voter's id.
    pub voter_id: i32,
    /// The voter's metadata directory; zero if unknown.
    #[field(since = 1)]
    pub voter_directory_id: Uuid,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// The body of the control record that opens a snapshot (KIP-630).
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(versions = 0, flexible = 0)]
pub struct SnapshotHeaderRecord {
    /// The record's version, again.
    pub version: i16,
    /// Append time of the last batch that the snapshot contains, in milliseconds since 1970.
    pub last_contained_log_timestamp: i64,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// The body of the control record that closes a snapshot (KIP-630).
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(versions = 0, flexible = 0)]
pub struct SnapshotFooterRecord {
    /// The record's version, again.
    pub version: i16,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// The body of the control record that sets `kraft.version` (KIP-853).
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(versions = 0, flexible = 0)]
pub struct KRaftVersionRecord {
    /// The record's version, again.
    pub version: i16,
    /// The `kraft.version` from here on.
    pub kraft_version: i16,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// The body of the control record that sets the voters (KIP-853).
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(versions = 0, flexible = 0)]
pub struct VotersRecord {
    /// The record's version, again.
    pub version: i16,
    /// The voters from here on.
    pub voters: Vec<VoterData>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// A voter.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct VoterData {
    /// The voter's id.
    pub voter_id: i32,
    /// The voter's metadata directory; zero if unknown.
    pub voter_directory_id: Uuid,
    /// Where the voter listens; the first is the default controller listener.
    pub endpoints: Vec<VoterEndpoint>,
    /// The `kraft.version`s that the voter supports.
    pub kraft_version_feature: KRaftVersionFeature,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// A listener of a voter.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct VoterEndpoint {
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
