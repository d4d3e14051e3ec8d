//! Topics and their partitions.

use quorate_types::Uuid;

use crate::codec::{Message, UnknownTags};

/// A topic is created.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 2, versions = 0, flexible = 0)]
pub struct TopicRecord {
    /// The topic's name.
    pub name: String,
    /// The topic's id.
    pub topic_id: Uuid,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// The whole state of a partition.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 3, versions = 0..=2, flexible = 0)]
pub struct PartitionRecord {
    /// The partition's number.
    #[field(default = -1)]
    pub partition_id: i32,
    /// The topic's id.
    pub topic_id: Uuid,
    /// The replicas, in order of preference.
    pub replicas: Vec<i32>,
    /// The replicas in sync.
    pub isr: Vec<i32>,
    /// The replicas that a reassignment is removing.
    pub removing_replicas: Vec<i32>,
    /// The replicas that a reassignment is adding.
    pub adding_replicas: Vec<i32>,
    /// The leader; -1 for none.
    #[field(default = -1)]
    pub leader: i32,
    /// 0 if the leader has everything committed, 1 while it recovers from an unclean election.
    #[field(tag = 0)]
    pub leader_recovery_state: i8,
    /// The leader epoch: it grows with every change of the leader.
    #[field(default = -1)]
    pub leader_epoch: i32,
    /// The partition's epoch: it grows with every change.
    #[field(default = -1)]
    pub partition_epoch: i32,
    /// The directory of each replica, in the order of the replicas.
    #[field(since = 1)]
    pub directories: Vec<Uuid>,
    /// Replicas outside the ISR that have everything committed (KIP-966); null if there are none.
    #[field(since = 2, tag = 1)]
    pub eligible_leader_replicas: Option<Vec<i32>>,
    /// The last replicas that were eligible, when none is any longer (KIP-966); null if unknown.
    #[field(since = 2, tag = 2)]
    pub last_known_elr: Option<Vec<i32>>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// A partition changes; what is not set stays.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 5, versions = 0..=2, flexible = 0)]
pub struct PartitionChangeRecord {
    /// The partition's number.
    #[field(default = -1)]
    pub partition_id: i32,
    /// The topic's id.
    pub topic_id: Uuid,
    /// The replicas in sync; null leaves them as they are.
    #[field(tag = 0)]
    pub isr: Option<Vec<i32>>,
    /// The leader; -1 for none, -2 leaves it as it is.
    #[field(tag = 1, default = -2)]
    pub leader: i32,
    /// The replicas, in order of preference; null leaves them as they are.
    #[field(tag = 2)]
    pub replicas: Option<Vec<i32>>,
    /// The replicas that a reassignment is removing; null leaves them as they are.
    #[field(tag = 3)]
    pub removing_replicas: Option<Vec<i32>>,
    /// The replicas that a reassignment is adding; null leaves them as they are.
    #[field(tag = 4)]
    pub adding_replicas: Option<Vec<i32>>,
    /// 0 recovered, 1 recovering from an unclean election, -1 leaves it as it is.
    #[field(tag = 5, default = -1)]
    pub leader_recovery_state: i8,
    /// The directory of each replica; null leaves them as they are.
    #[field(since = 1, tag = 8)]
    pub directories: Option<Vec<Uuid>>,
    /// The eligible leader replicas (KIP-966); null leaves them as they are.
    #[field(since = 2, tag = 6)]
    pub eligible_leader_replicas: Option<Vec<i32>>,
    /// The last known eligible replicas (KIP-966); null leaves them as they are.
    #[field(since = 2, tag = 7)]
    pub last_known_elr: Option<Vec<i32>>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// A topic is deleted, with its partitions and configs.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 9, versions = 0, flexible = 0)]
pub struct RemoveTopicRecord {
    /// The topic's id.
    pub topic_id: Uuid,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

/// The eligible leader replicas of a topic, or of all, are cleared (KIP-966).
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(key = 28, versions = 0, flexible = 0)]
pub struct ClearElrRecord {
    /// The topic's name, empty for all topics.
    pub topic_name: String,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}
