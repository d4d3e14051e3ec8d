//! One partition as the image shows it.

use quorate_types::{DirectoryId, LeaderEpoch, NodeId, PartitionEpoch, TopicId};

/// Names one partition for ever: a topic created again has another id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PartitionId {
    /// The topic.
    pub topic: TopicId,
    /// The partition's number in it, from 0.
    pub index: i32,
}

impl PartitionId {
    /// Partition `index` of `topic`.
    pub fn new(topic: TopicId, index: i32) -> PartitionId {
        PartitionId { topic, index }
    }
}

impl std::fmt::Display for PartitionId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}-{}", self.topic, self.index)
    }
}

/// Whether a leader still has to make its followers agree with it after an unclean election.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum LeaderRecovery {
    /// The normal case.
    #[default]
    Recovered,
    /// Elected uncleanly and not done yet.
    Recovering,
}

impl LeaderRecovery {
    /// The state of that number in records and requests.
    pub fn from_wire(code: i8) -> Option<LeaderRecovery> {
        match code {
            0 => Some(LeaderRecovery::Recovered),
            1 => Some(LeaderRecovery::Recovering),
            _ => None,
        }
    }

    /// Its number in records and requests.
    pub fn to_wire(self) -> i8 {
        match self {
            LeaderRecovery::Recovered => 0,
            LeaderRecovery::Recovering => 1,
        }
    }
}

/// The whole state of one partition.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Partition {
    /// Who holds it, the preferred leader first.
    pub replicas: Vec<NodeId>,
    /// In which directory, one for each replica in the same order.
    pub directories: Vec<DirectoryId>,
    /// Who is in sync.
    pub isr: Vec<NodeId>,
    /// Replicas on their way out.
    pub removing: Vec<NodeId>,
    /// Replicas on their way in.
    pub adding: Vec<NodeId>,
    /// Out of sync, but known to have all that was acknowledged (KIP-966).
    pub elr: Vec<NodeId>,
    /// Whom to elect when ISR and ELR are empty, as far as anyone knows.
    pub last_known_elr: Vec<NodeId>,
    /// Who leads.
    pub leader: Option<NodeId>,
    /// Whether the leader is still recovering.
    pub leader_recovery: LeaderRecovery,
    /// Grows with every choice of a leader.
    pub leader_epoch: LeaderEpoch,
    /// Grows with every change.
    pub partition_epoch: PartitionEpoch,
}

impl Partition {
    /// The first replica, which should lead.
    pub fn preferred_leader(&self) -> Option<NodeId> {
        self.replicas.first().copied()
    }

    /// Whether the preferred leader leads. A partition without replicas and leader counts as such.
    pub fn has_preferred_leader(&self) -> bool {
        self.leader == self.preferred_leader()
    }

    /// Whether replicas are being added or removed.
    pub fn is_reassigning(&self) -> bool {
        !self.adding.is_empty() || !self.removing.is_empty()
    }

    /// Whether the broker holds it.
    pub fn has_replica(&self, broker: NodeId) -> bool {
        self.replicas.contains(&broker)
    }

    /// Whether the broker is in sync.
    pub fn in_isr(&self, broker: NodeId) -> bool {
        self.isr.contains(&broker)
    }

    /// Whether the broker is in the ELR.
    pub fn in_elr(&self, broker: NodeId) -> bool {
        self.elr.contains(&broker)
    }

    /// The directory in which the broker holds it.
    pub fn directory(&self, broker: NodeId) -> Option<DirectoryId> {
        let position = self
            .replicas
            .iter()
            .position(|replica| *replica == broker)?;
        self.directories.get(position).copied()
    }
}
