//! Lists the reassignments under way (KIP-455).

use quorate_types::ErrorCode;

use crate::codec::{Fields, Message, UnknownTags};

/// Asks for reassignments.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 46, versions = 0, flexible = 0)]
pub struct ListPartitionReassignmentsRequest {
    /// How long the server may take, in milliseconds.
    #[field(default = 60000)]
    pub timeout_ms: i32,
    /// The topics; null for all that are being reassigned.
    pub topics: Option<Vec<ListPartitionReassignmentsTopics>>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// A topic whose reassignments are asked for.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct ListPartitionReassignmentsTopics {
    /// The topic's name.
    pub name: String,
    /// The numbers of the partitions.
    pub partition_indexes: Vec<i32>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// The reassignments.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 46, versions = 0, flexible = 0)]
pub struct ListPartitionReassignmentsResponse {
    /// How long the client was or is to be held back by a quota, in milliseconds.
    pub throttle_time_ms: i32,
    /// What went wrong, if anything.
    pub error_code: ErrorCode,
    /// What went wrong, in words; null if there is nothing to say.
    pub error_message: Option<String>,
    /// The topics.
    pub topics: Vec<OngoingTopicReassignment>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// A topic with partitions that are being reassigned.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct OngoingTopicReassignment {
    /// The topic's name.
    pub name: String,
    /// The partitions.
    pub partitions: Vec<OngoingPartitionReassignment>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// A partition that is being reassigned.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct OngoingPartitionReassignment {
    /// The partition's number.
    pub partition_index: i32,
    /// The replicas, in order of preference.
    pub replicas: Vec<i32>,
    /// The replicas that a reassignment is adding.
    pub adding_replicas: Vec<i32>,
    /// The replicas that a reassignment is removing.
    pub removing_replicas: Vec<i32>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}
