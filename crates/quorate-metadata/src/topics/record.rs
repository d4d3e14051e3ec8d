//! Partitions as records say them.

use quorate_protocol::records::{PartitionChangeRecord, PartitionRecord};
use quorate_types::{DirectoryId, LeaderEpoch, NodeId, PartitionEpoch, Uuid};

use super::{LeaderRecovery, Partition, PartitionId};
use crate::{Features, MetadataVersion, Reason};

/// What PartitionChange carries where the leader stays.
const SAME_LEADER: i32 = -2;
/// What PartitionChange carries where the recovery state stays.
const SAME_RECOVERY: i8 = -1;

impl Partition {
    /// The whole state that the record describes.
    pub(crate) fn from_record(record: &PartitionRecord) -> Result<Partition, Reason> {
        let id = PartitionId::new(record.topic_id.into(), record.partition_id);
        let replicas = nodes(&record.replicas);
        Ok(Partition {
            directories: paired(id, directories(&record.directories), replicas.len())?,
            replicas,
            isr: nodes(&record.isr),
            removing: nodes(&record.removing_replicas),
            adding: nodes(&record.adding_replicas),
            elr: record
                .eligible_leader_replicas
                .as_deref()
                .map_or(Vec::new(), nodes),
            last_known_elr: record.last_known_elr.as_deref().map_or(Vec::new(), nodes),
            leader: NodeId::from_wire(record.leader),
            leader_recovery: recovery(record.leader_recovery_state)?,
            leader_epoch: LeaderEpoch(record.leader_epoch),
            partition_epoch: PartitionEpoch(record.partition_epoch),
        })
    }

    /// The state after the change: only what the record sets differs, but the partition epoch always
    /// grows, and the leader epoch if a leader is set, be it the same one.
    pub(crate) fn merged(&self, record: &PartitionChangeRecord) -> Result<Partition, Reason> {
        let id = PartitionId::new(record.topic_id.into(), record.partition_id);
        let or = |new: &Option<Vec<i32>>, old: &Vec<NodeId>| {
            new.as_deref().map_or_else(|| old.clone(), nodes)
        };
        let replicas = or(&record.replicas, &self.replicas);
        let new_directories = record.directories.as_deref().map(directories);
        let same_leader = record.leader == SAME_LEADER;
        let leader_epoch = self.leader_epoch.0.wrapping_add(i32::from(!same_leader));
        Ok(Partition {
            directories: paired(
                id,
                new_directories.unwrap_or_else(|| self.directories.clone()),
                replicas.len(),
            )?,
            replicas,
            isr: or(&record.isr, &self.isr),
            removing: or(&record.removing_replicas, &self.removing),
            adding: or(&record.adding_replicas, &self.adding),
            elr: or(&record.eligible_leader_replicas, &self.elr),
            last_known_elr: or(&record.last_known_elr, &self.last_known_elr),
            leader: match record.leader {
                SAME_LEADER => self.leader,
                leader => NodeId::from_wire(leader),
            },
            leader_recovery: match record.leader_recovery_state {
                SAME_RECOVERY => self.leader_recovery,
                state => recovery(state)?,
            },
            leader_epoch: LeaderEpoch(leader_epoch),
            partition_epoch: next(self.partition_epoch),
        })
    }

    /// The state without eligible leader replicas; one that had none stays as it is.
    pub(crate) fn without_elr(&self) -> Partition {
        if !self.has_elr() {
            return self.clone();
        }
        Partition {
            partition_epoch: next(self.partition_epoch),
            ..self.forgetting_elr()
        }
    }

    /// The state without eligible leader replicas, which does not count as a change.
    pub(crate) fn forgetting_elr(&self) -> Partition {
        Partition {
            elr: Vec::new(),
            last_known_elr: Vec::new(),
            ..self.clone()
        }
    }

    /// Whether ClearElr has something to clear.
    pub(crate) fn has_elr(&self) -> bool {
        !self.elr.is_empty() || !self.last_known_elr.is_empty()
    }

    /// The record that says all this; what the features cannot say is left out.
    pub(crate) fn to_record(
        &self,
        id: PartitionId,
        version: MetadataVersion,
        features: &Features,
    ) -> PartitionRecord {
        let elr = |replicas: &[NodeId]| {
            let wanted = version.has_elr() && features.elr_enabled() && !replicas.is_empty();
            wanted.then(|| raw(replicas))
        };
        let directories: &[DirectoryId] = if version.has_directories() {
            &self.directories
        } else {
            &[]
        };
        PartitionRecord {
            partition_id: id.index,
            topic_id: id.topic.0,
            replicas: raw(&self.replicas),
            isr: raw(&self.isr),
            removing_replicas: raw(&self.removing),
            adding_replicas: raw(&self.adding),
            leader: NodeId::to_wire(self.leader),
            leader_recovery_state: self.leader_recovery.to_wire(),
            leader_epoch: self.leader_epoch.0,
            partition_epoch: self.partition_epoch.0,
            directories: directories.iter().map(|directory| directory.0).collect(),
            eligible_leader_replicas: elr(&self.elr),
            last_known_elr: elr(&self.last_known_elr),
            ..Default::default()
        }
    }
}

/// One directory for each replica. Without any, or if none of them is known, the number follows the
/// replicas: that is how partitions look that are older than directories.
fn paired(
    id: PartitionId,
    directories: Vec<DirectoryId>,
    replicas: usize,
) -> Result<Vec<DirectoryId>, Reason> {
    if directories
        .iter()
        .all(|directory| *directory == DirectoryId::MIGRATING)
    {
        return Ok(vec![DirectoryId::MIGRATING; replicas]);
    }
    if directories.len() != replicas {
        let directories = directories.len();
        return Err(Reason::UnpairedDirectories {
            id,
            replicas,
            directories,
        });
    }
    Ok(directories)
}

fn recovery(state: i8) -> Result<LeaderRecovery, Reason> {
    LeaderRecovery::from_wire(state).ok_or(Reason::UnknownValue {
        field: "LeaderRecoveryState",
        value: i64::from(state),
    })
}

fn nodes(raw: &[i32]) -> Vec<NodeId> {
    raw.iter().copied().map(NodeId).collect()
}

fn raw(nodes: &[NodeId]) -> Vec<i32> {
    nodes.iter().map(|node| node.0).collect()
}

fn directories(raw: &[Uuid]) -> Vec<DirectoryId> {
    raw.iter().copied().map(DirectoryId).collect()
}

fn next(epoch: PartitionEpoch) -> PartitionEpoch {
    PartitionEpoch(epoch.0.wrapping_add(1))
}
