//! A leader changes the ISR of its partitions (KIP-497).

use quorate_types::{ErrorCode, Uuid};

use crate::codec::{Fields, Message, UnknownTags};

/// Asks the controller to change ISRs.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 56, versions = 2..=3, flexible = 0)]
pub struct AlterPartitionRequest {
    /// The broker that leads the partitions.
    pub broker_id: i32,
    /// The broker's epoch, as its registration gave it.
    #[field(default = -1)]
    pub broker_epoch: i64,
    /// The topics.
    pub topics: Vec<RequestTopicData>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// A topic.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct RequestTopicData {
    /// The topic's id.
    pub topic_id: Uuid,
    /// The partitions.
    pub partitions: Vec<RequestPartitionData>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// A partition and the ISR that it shall have.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct RequestPartitionData {
    /// The partition's number.
    pub partition_index: i32,
    /// The leader epoch that the sender leads in.
    pub leader_epoch: i32,
    /// The replicas that shall be in sync (without their epochs).
    #[field(until = 2)]
    pub new_isr: Vec<i32>,
    /// The replicas that shall be in sync, with the broker epochs that the leader knows (KIP-903).
    #[field(since = 3)]
    pub new_isr_with_epochs: Vec<BrokerState>,
    /// 0 if the leader has everything committed, 1 while it recovers from an unclean election.
    pub leader_recovery_state: i8,
    /// The partition epoch that the change builds on.
    pub partition_epoch: i32,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// A replica in sync, as its leader sees it.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct BrokerState {
    /// The replica.
    #[field(since = 3)]
    pub broker_id: i32,
    /// The replica's broker epoch, as the leader knows it; -1 if it does not.
    #[field(since = 3, default = -1)]
    pub broker_epoch: i64,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// The partitions as they are now.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 56, versions = 2..=3, flexible = 0)]
pub struct AlterPartitionResponse {
    /// How long the client was or is to be held back by a quota, in milliseconds.
    pub throttle_time_ms: i32,
    /// What went wrong, if anything.
    pub error_code: ErrorCode,
    /// The topics.
    pub topics: Vec<ResponseTopicData>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// A topic.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct ResponseTopicData {
    /// The topic's id.
    pub topic_id: Uuid,
    /// The partitions.
    pub partitions: Vec<ResponsePartitionData>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// A partition as it is now.
#[derive(Debug, Clone, PartialEq, Eq, Fields)]
pub struct ResponsePartitionData {
    /// The partition's number.
    pub partition_index: i32,
    /// What went wrong, if anything.
    pub error_code: ErrorCode,
    /// The leader; -1 if there is none, or none is known.
    pub leader_id: i32,
    /// The leader's epoch.
    pub leader_epoch: i32,
    /// The replicas in sync.
    pub isr: Vec<i32>,
    /// 0 if the leader has everything committed, 1 while it recovers from an unclean election.
    pub leader_recovery_state: i8,
    /// The partition's epoch: it grows with every change.
    pub partition_epoch: i32,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}
