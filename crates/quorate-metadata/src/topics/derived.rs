//! What follows from the partitions and is kept beside them because it is asked for often.

use std::sync::Arc;

use im::{OrdMap, OrdSet};
use quorate_types::{NodeId, TopicId, Uuid};

use super::{BrokerCounts, Partition, PartitionId};

/// Indexes over partitions and names. [`Derived::change`] is the only way a partition gets in or out.
#[derive(Clone, Default, PartialEq, Eq)]
pub(super) struct Derived {
    replicas: OrdSet<(NodeId, PartitionId)>,
    counts: OrdMap<NodeId, BrokerCounts>,
    leaderless: OrdSet<PartitionId>,
    not_preferred: OrdSet<PartitionId>,
    reassigning: OrdSet<PartitionId>,
    /// Names that contain `.` or `_`, behind what they read like.
    similar_names: OrdSet<(Arc<str>, Arc<str>)>,
}

impl Derived {
    /// Takes note of a partition that came, changed or went.
    pub(super) fn change(
        &mut self,
        id: PartitionId,
        before: Option<&Partition>,
        after: Option<&Partition>,
    ) {
        let replicas = |partition: Option<&Partition>| {
            partition.map_or(Vec::new(), |partition| partition.replicas.clone())
        };
        let (old, new) = (replicas(before), replicas(after));
        if old != new {
            for gone in old.iter().filter(|broker| !new.contains(broker)) {
                self.replicas.remove(&(*gone, id));
            }
            for come in new.iter().filter(|broker| !old.contains(broker)) {
                self.replicas.insert((*come, id));
            }
        }
        self.recount(before, after);
        let is = |test: fn(&Partition) -> bool| (before.is_some_and(test), after.is_some_and(test));
        keep(
            &mut self.leaderless,
            id,
            is(|partition| partition.leader.is_none()),
        );
        keep(
            &mut self.not_preferred,
            id,
            is(|partition| !partition.has_preferred_leader()),
        );
        keep(&mut self.reassigning, id, is(Partition::is_reassigning));
    }

    /// What differs from `other`, by name.
    pub(super) fn difference(&self, other: &Derived) -> Option<&'static str> {
        let Derived {
            replicas,
            counts,
            leaderless,
            not_preferred,
            reassigning,
            similar_names,
        } = self;
        let same = [
            ("replicas", *replicas == other.replicas),
            ("counts", *counts == other.counts),
            ("leaderless", *leaderless == other.leaderless),
            ("not preferred", *not_preferred == other.not_preferred),
            ("reassigning", *reassigning == other.reassigning),
            ("similar names", *similar_names == other.similar_names),
        ];
        same.into_iter()
            .find(|(_, same)| !same)
            .map(|(name, _)| name)
    }

    fn recount(&mut self, before: Option<&Partition>, after: Option<&Partition>) {
        let leader = |partition: Option<&Partition>| partition.and_then(|p| p.leader);
        if leader(before) != leader(after) {
            self.count(leader(before), |counts| counts.leads -= 1);
            self.count(leader(after), |counts| counts.leads += 1);
        }
        let isr = |partition: Option<&Partition>| partition.map_or(Vec::new(), |p| p.isr.clone());
        let (old, new) = (isr(before), isr(after));
        if old != new {
            for broker in old {
                self.count(Some(broker), |counts| counts.in_isr -= 1);
            }
            for broker in new {
                self.count(Some(broker), |counts| counts.in_isr += 1);
            }
        }
    }

    fn count(&mut self, broker: Option<NodeId>, change: impl FnOnce(&mut BrokerCounts)) {
        let Some(broker) = broker else { return };
        let mut counts = self.counts(broker);
        change(&mut counts);
        if counts == BrokerCounts::default() {
            self.counts.remove(&broker);
        } else {
            self.counts.insert(broker, counts);
        }
    }

    /// Takes note of a topic's name.
    pub(super) fn name_added(&mut self, name: &Arc<str>) {
        self.similar_names.insert((unified(name), name.clone()));
    }

    /// Forgets a topic's name.
    pub(super) fn name_removed(&mut self, name: &Arc<str>) {
        self.similar_names.remove(&(unified(name), name.clone()));
    }

    pub(super) fn colliding(&self, name: &str) -> Option<&Arc<str>> {
        let unified = unified(name);
        let (key, found) = self.similar_names.get_next(&(unified.clone(), "".into()))?;
        (*key == unified).then_some(found)
    }

    pub(super) fn replicas_of(&self, broker: NodeId) -> impl Iterator<Item = PartitionId> {
        let end = |byte, index| (broker, PartitionId::new(TopicId(Uuid([byte; 16])), index));
        self.replicas
            .range(end(0, i32::MIN)..=end(0xff, i32::MAX))
            .map(|(_, id)| *id)
    }

    pub(super) fn counts(&self, broker: NodeId) -> BrokerCounts {
        self.counts.get(&broker).copied().unwrap_or_default()
    }

    pub(super) fn leaderless(&self) -> &OrdSet<PartitionId> {
        &self.leaderless
    }

    pub(super) fn not_preferred(&self) -> &OrdSet<PartitionId> {
        &self.not_preferred
    }

    pub(super) fn reassigning(&self) -> &OrdSet<PartitionId> {
        &self.reassigning
    }
}

fn unified(name: &str) -> Arc<str> {
    name.replace('.', "_").into()
}

fn keep(set: &mut OrdSet<PartitionId>, id: PartitionId, (before, after): (bool, bool)) {
    match (before, after) {
        (false, true) => {
            set.insert(id);
        }
        (true, false) => {
            set.remove(&id);
        }
        _ => {}
    }
}
