//! What a change of a partition's state comes to: the record that says it, or none.
//!
//! A caller sets what is to become different in a [`Change`]; [`Change::build`] finishes it:
//!
//! 1. A reassignment whose targets are all in sync is completed.
//! 2. With ELR on, the ELR follows the ISR: who leaves an ISR below the minimum stays eligible.
//! 3. A leader is elected; one out of the ELR becomes the ISR, which may complete a reassignment; an
//!    unclean one alone makes up the ISR and has to recover, before which nobody is sent away.
//! 4. A replica that is gone raises the leader epoch, so that it is shut out.
//! 5. ELR and ISR are written where they differ; without ELR an ISR never becomes empty.
//! 6. Before metadata.version 12 a smaller ISR raises the leader epoch.
//! 7. With ELR on, the leader of a partition that lost its last one is remembered.
//! 8. Directories, replicas and recovery state are written where they differ.
//!
//! The partition epoch grows with every record, the leader epoch with every record that names a
//! leader; that is the image's part.

use std::collections::BTreeMap;

use quorate_metadata::{LeaderRecovery, MetadataVersion, Partition};
use quorate_protocol::records::PartitionChangeRecord;
use quorate_types::{DirectoryId, NodeId, TopicId, Uuid};

use super::election::{Candidates, Election, elect};

/// The leader field of a change that leaves the leader alone.
pub(crate) const LEADER_UNCHANGED: i32 = -2;

/// What holds for a change besides the partition itself.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rules {
    /// The finalized metadata.version.
    pub version: MetadataVersion,
    /// Whether eligible leader replicas are kept.
    pub elr: bool,
    /// How many replicas must be in sync before the ELR is dropped.
    pub min_isr: usize,
    /// How a leader is looked for.
    pub election: Election,
}

/// A change of one partition that is being put together.
#[derive(Debug, Clone)]
pub(crate) struct Change<'a> {
    before: &'a Partition,
    isr: Vec<NodeId>,
    elr: Vec<NodeId>,
    replicas: Vec<NodeId>,
    removing: Vec<NodeId>,
    adding: Vec<NodeId>,
    recovery: LeaderRecovery,
    unclean: Option<NodeId>,
}

impl<'a> Change<'a> {
    /// A change of `before` that changes nothing yet.
    pub fn of(before: &'a Partition) -> Change<'a> {
        Change {
            before,
            isr: before.isr.clone(),
            elr: before.elr.clone(),
            replicas: before.replicas.clone(),
            removing: before.removing.clone(),
            adding: before.adding.clone(),
            recovery: before.leader_recovery,
            unclean: None,
        }
    }

    /// The ISR becomes this one.
    pub fn isr(mut self, isr: Vec<NodeId>) -> Self {
        self.isr = isr;
        self
    }

    /// `node` leaves the ISR.
    pub fn without(mut self, node: NodeId) -> Self {
        self.isr.retain(|member| *member != node);
        self
    }

    /// `node` stopped without having written everything: it leaves the ISR and is not eligible.
    pub fn unclean_shutdown(mut self, node: NodeId) -> Self {
        self.unclean = Some(node);
        self.without(node)
    }

    /// The leader has recovered, or has not.
    pub fn recovery(mut self, recovery: LeaderRecovery) -> Self {
        self.recovery = recovery;
        self
    }

    /// The replicas become `replicas`, of which some are still to join and some to leave.
    pub fn assignment(
        mut self,
        replicas: Vec<NodeId>,
        removing: Vec<NodeId>,
        adding: Vec<NodeId>,
    ) -> Self {
        self.replicas = replicas;
        self.removing = removing;
        self.adding = adding;
        self
    }

    /// Finishes the change: the record that makes it, or `None` when there is nothing to say.
    ///
    /// `acceptable` says which replicas could lead; `directory` where a replica that joins will lie.
    pub fn build(
        mut self,
        rules: &Rules,
        acceptable: impl Fn(NodeId) -> bool,
        directory: impl Fn(NodeId) -> DirectoryId,
    ) -> Option<PartitionChangeRecord> {
        let mut record = PartitionChangeRecord {
            leader: LEADER_UNCHANGED,
            ..Default::default()
        };
        self.complete_reassignment();
        self.derive_elr(rules);
        let unclean = self.elect(rules, acceptable, &mut record);
        if !unclean {
            // An ISR that is the one leader out of the ELR may be all that the targets are.
            self.complete_reassignment();
            let replicas = &self.replicas;
            self.elr.retain(|node| replicas.contains(node));
        }
        self.shut_out_removed(&mut record);
        self.write_elr(rules, unclean, &mut record);
        self.write_isr(rules, unclean, &mut record);
        self.remember_leader(rules, &mut record);
        self.write_assignment(rules, directory, &mut record);
        if !unclean && self.recovery != self.before.leader_recovery {
            record.leader_recovery_state = self.recovery.to_wire();
        }
        (!is_empty(&record)).then_some(record)
    }

    /// Step 1.
    fn complete_reassignment(&mut self) {
        if self.removing.is_empty() && self.adding.is_empty() {
            return;
        }
        let stays = |node: &&NodeId| !self.removing.contains(node);
        let isr: Vec<NodeId> = self.isr.iter().filter(stays).copied().collect();
        let replicas: Vec<NodeId> = self.replicas.iter().filter(stays).copied().collect();
        if isr.is_empty() || replicas.is_empty() {
            return;
        }
        if replicas.iter().all(|node| isr.contains(node)) {
            self.isr = isr;
            self.replicas = replicas;
            self.removing.clear();
            self.adding.clear();
        }
    }

    /// Step 2. Only replicas are eligible: who leaves with a reassignment leaves the ELR too.
    fn derive_elr(&mut self, rules: &Rules) {
        if !rules.elr || self.isr.len() >= rules.min_isr {
            self.elr.clear();
            return;
        }
        let mut elr = std::mem::take(&mut self.elr);
        elr.extend(self.before.isr.iter().copied());
        elr.sort_unstable();
        elr.dedup();
        elr.retain(|node| {
            !self.isr.contains(node) && self.unclean != Some(*node) && self.replicas.contains(node)
        });
        self.elr = elr;
    }

    /// Step 3; says whether the leader was chosen uncleanly.
    fn elect(
        &mut self,
        rules: &Rules,
        acceptable: impl Fn(NodeId) -> bool,
        record: &mut PartitionChangeRecord,
    ) -> bool {
        let last_known = match self.before.last_known_elr.as_slice() {
            [one] if rules.elr && self.replicas.contains(one) => Some(*one),
            _ => None,
        };
        let candidates = Candidates {
            leader: self.before.leader,
            replicas: &self.replicas,
            isr: &self.isr,
            elr: &self.elr,
            last_known,
        };
        let elected = elect(rules.election, candidates, acceptable);
        if elected.leader == self.before.leader {
            return false;
        }
        record.leader = NodeId::to_wire(elected.leader);
        let Some(leader) = elected.leader else {
            return false;
        };
        if elected.unclean {
            self.isr = vec![leader];
            self.elr.clear();
            if self.before.leader_recovery != LeaderRecovery::Recovering {
                record.leader_recovery_state = LeaderRecovery::Recovering.to_wire();
            }
        } else if self.elr.contains(&leader) {
            self.isr = vec![leader];
            self.elr.retain(|node| *node != leader);
        }
        elected.unclean
    }

    /// Step 4.
    fn shut_out_removed(&self, record: &mut PartitionChangeRecord) {
        let removed = self
            .before
            .replicas
            .iter()
            .any(|node| !self.replicas.contains(node));
        if removed && record.leader == LEADER_UNCHANGED {
            record.leader = NodeId::to_wire(self.before.leader);
        }
    }

    /// Step 5, the ELR.
    fn write_elr(&mut self, rules: &Rules, unclean: bool, record: &mut PartitionChangeRecord) {
        if unclean || !rules.elr {
            self.elr.clear();
        }
        if self.elr != self.before.elr {
            record.eligible_leader_replicas = Some(wire(&self.elr));
        }
    }

    /// Steps 5 and 6, the ISR.
    fn write_isr(&self, rules: &Rules, unclean: bool, record: &mut PartitionChangeRecord) {
        let differs = self.isr != self.before.isr && (rules.elr || !self.isr.is_empty());
        if unclean || differs {
            record.isr = Some(wire(&self.isr));
        }
        let shrinks = record.isr.is_some()
            && self
                .before
                .isr
                .iter()
                .any(|member| !self.isr.contains(member));
        if shrinks
            && rules.version.bumps_leader_epoch_on_shrink()
            && record.leader == LEADER_UNCHANGED
        {
            record.leader = NodeId::to_wire(self.before.leader);
        }
    }

    /// Step 7. A last known leader that is no replica any more is forgotten.
    fn remember_leader(&self, rules: &Rules, record: &mut PartitionChangeRecord) {
        if !rules.elr {
            return;
        }
        let known = &self.before.last_known_elr;
        if record.leader == -1 && known.is_empty() {
            record.last_known_elr = Some(wire(self.before.leader.as_slice()));
        } else if !known.is_empty()
            && (record.leader >= 0 || known.iter().any(|node| !self.replicas.contains(node)))
        {
            record.last_known_elr = Some(Vec::new());
        }
        if record.last_known_elr.as_deref() == Some(wire(known).as_slice()) {
            record.last_known_elr = None;
        }
    }

    /// Step 8.
    fn write_assignment(
        &self,
        rules: &Rules,
        directory: impl Fn(NodeId) -> DirectoryId,
        record: &mut PartitionChangeRecord,
    ) {
        if rules.version.has_directories() {
            let known: BTreeMap<NodeId, DirectoryId> = assignment(self.before).collect();
            let directories: Vec<DirectoryId> = self
                .replicas
                .iter()
                .map(|node| known.get(node).copied().unwrap_or_else(|| directory(*node)))
                .collect();
            if directories != self.before.directories {
                record.directories = Some(uuids(&directories));
            }
        }
        if self.replicas != self.before.replicas {
            record.replicas = Some(wire(&self.replicas));
        }
        if self.removing != self.before.removing {
            record.removing_replicas = Some(wire(&self.removing));
        }
        if self.adding != self.before.adding {
            record.adding_replicas = Some(wire(&self.adding));
        }
    }
}

/// The record that says that the replica on `node` lies in `directory`, and nothing else; `None`
/// when it is known, or `node` holds no replica.
pub(crate) fn assign_directory(
    before: &Partition,
    node: NodeId,
    directory: DirectoryId,
) -> Option<PartitionChangeRecord> {
    let directories: Vec<DirectoryId> = assignment(before)
        .map(|(replica, known)| if replica == node { directory } else { known })
        .collect();
    (directories != before.directories).then(|| PartitionChangeRecord {
        leader: LEADER_UNCHANGED,
        directories: Some(uuids(&directories)),
        ..Default::default()
    })
}

/// Every replica with its directory; [`DirectoryId::MIGRATING`] where none is written.
pub(crate) fn assignment(partition: &Partition) -> impl Iterator<Item = (NodeId, DirectoryId)> {
    partition.replicas.iter().enumerate().map(|(at, node)| {
        (
            *node,
            partition
                .directories
                .get(at)
                .copied()
                .unwrap_or(DirectoryId::MIGRATING),
        )
    })
}

/// `record` as one of that partition.
pub(crate) fn addressed(
    mut record: PartitionChangeRecord,
    topic: TopicId,
    partition: i32,
) -> PartitionChangeRecord {
    record.topic_id = topic.0;
    record.partition_id = partition;
    record
}

/// Node ids as records hold them.
pub(crate) fn wire(nodes: &[NodeId]) -> Vec<i32> {
    nodes.iter().map(|node| node.0).collect()
}

/// Directory ids as records hold them.
pub(crate) fn uuids(directories: &[DirectoryId]) -> Vec<Uuid> {
    directories.iter().map(|directory| directory.0).collect()
}

/// Node ids as the image holds them.
pub(crate) fn nodes(wire: &[i32]) -> Vec<NodeId> {
    wire.iter().map(|id| NodeId(*id)).collect()
}

fn is_empty(record: &PartitionChangeRecord) -> bool {
    record.leader == LEADER_UNCHANGED
        && record.isr.is_none()
        && record.eligible_leader_replicas.is_none()
        && record.last_known_elr.is_none()
        && record.replicas.is_none()
        && record.removing_replicas.is_none()
        && record.adding_replicas.is_none()
        && record.directories.is_none()
        && record.leader_recovery_state == -1
}
