//! What follows from the partitions and is kept beside them because it is asked for often.

use std::sync::Arc;

use im::{OrdMap, OrdSet};
use quorate_types::NodeId;

use super::ordinals::Ordinals;
use super::{BrokerCounts, Partition};

/// Indexes over partitions and names. [`Derived::change`] is the only way a partition gets in or out.
///
/// What changes often has no index of its own: who is in an ISR, an ELR or a directory is found
/// among the replicas of a broker, which change rarely.
#[derive(Clone, Default)]
pub(super) struct Derived {
    replicas: OrdMap<NodeId, Ordinals>,
    counts: OrdMap<NodeId, BrokerCounts>,
    leaderless: Ordinals,
    not_preferred: Ordinals,
    reassigning: Ordinals,
    /// Names that contain `.` or `_`, behind what they read like.
    similar_names: OrdSet<(Arc<str>, Arc<str>)>,
}

impl Derived {
    /// Takes note of the partition at that ordinal that came, changed or went.
    pub(super) fn change(
        &mut self,
        ordinal: u32,
        before: Option<&Partition>,
        after: Option<&Partition>,
    ) {
        let (old, new) = (lists(before), lists(after));
        if old.replicas != new.replicas {
            for gone in old
                .replicas
                .iter()
                .filter(|broker| !new.replicas.contains(broker))
            {
                self.remove_replica(*gone, ordinal);
            }
            for come in new
                .replicas
                .iter()
                .filter(|broker| !old.replicas.contains(broker))
            {
                self.replicas.entry(*come).or_default().insert(ordinal);
            }
        }
        if old.isr != new.isr {
            for broker in distinct(old.isr).filter(|broker| !new.isr.contains(broker)) {
                self.count(broker, |counts| counts.in_isr -= 1);
            }
            for broker in distinct(new.isr).filter(|broker| !old.isr.contains(broker)) {
                self.count(broker, |counts| counts.in_isr += 1);
            }
        }
        if old.leader != new.leader {
            if let Some(broker) = old.leader {
                self.count(broker, |counts| counts.leads -= 1);
            }
            if let Some(broker) = new.leader {
                self.count(broker, |counts| counts.leads += 1);
            }
        }
        let is = |test: fn(&Partition) -> bool| (before.is_some_and(test), after.is_some_and(test));
        keep(
            &mut self.leaderless,
            ordinal,
            is(|partition| partition.leader.is_none()),
        );
        keep(
            &mut self.not_preferred,
            ordinal,
            is(|partition| !partition.has_preferred_leader()),
        );
        keep(
            &mut self.reassigning,
            ordinal,
            is(Partition::is_reassigning),
        );
    }

    /// Takes note of a topic's name.
    pub(super) fn name_added(&mut self, name: &Arc<str>) {
        if let Some(unified) = unified(name) {
            self.similar_names.insert((unified, name.clone()));
        }
    }

    /// Forgets a topic's name.
    pub(super) fn name_removed(&mut self, name: &Arc<str>) {
        if let Some(unified) = unified(name) {
            self.similar_names.remove(&(unified, name.clone()));
        }
    }

    /// A name that reads like this one, which contains `.` or `_`; `None` if it does not.
    pub(super) fn similar(&self, name: &str) -> Option<&Arc<str>> {
        let unified = unified(&Arc::from(name))?;
        let (key, found) = self.similar_names.get_next(&(unified.clone(), "".into()))?;
        (*key == unified).then_some(found)
    }

    pub(super) fn replicas_of(&self, broker: NodeId) -> impl Iterator<Item = u32> {
        self.replicas
            .get(&broker)
            .into_iter()
            .flat_map(Ordinals::iter)
    }

    pub(super) fn counts(&self, broker: NodeId) -> BrokerCounts {
        let mut counts = self.counts.get(&broker).copied().unwrap_or_default();
        counts.replicas = self.replicas.get(&broker).map_or(0, Ordinals::len);
        counts
    }

    pub(super) fn leaderless(&self) -> &Ordinals {
        &self.leaderless
    }

    pub(super) fn not_preferred(&self) -> &Ordinals {
        &self.not_preferred
    }

    pub(super) fn reassigning(&self) -> &Ordinals {
        &self.reassigning
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

    fn remove_replica(&mut self, broker: NodeId, ordinal: u32) {
        if let Some(ordinals) = self.replicas.get_mut(&broker) {
            ordinals.remove(ordinal);
            if ordinals.len() == 0 {
                self.replicas.remove(&broker);
            }
        }
    }

    fn count(&mut self, broker: NodeId, change: impl FnOnce(&mut BrokerCounts)) {
        let counts = self.counts.entry(broker).or_default();
        change(counts);
        if *counts == BrokerCounts::default() {
            self.counts.remove(&broker);
        }
    }
}

/// What of a partition is indexed by broker.
struct Lists<'a> {
    replicas: &'a [NodeId],
    isr: &'a [NodeId],
    leader: Option<NodeId>,
}

fn lists(partition: Option<&Partition>) -> Lists<'_> {
    Lists {
        replicas: partition.map_or(&[], |partition| &partition.replicas),
        isr: partition.map_or(&[], |partition| &partition.isr),
        leader: partition.and_then(|partition| partition.leader),
    }
}

/// The members of a list, each once, should a record have named one twice.
fn distinct(list: &[NodeId]) -> impl Iterator<Item = NodeId> {
    let first = |place: usize, node: &NodeId| !list[..place].contains(node);
    list.iter()
        .enumerate()
        .filter(move |(place, node)| first(*place, node))
        .map(|(_, node)| *node)
}

/// The name with `.` read as `_`; `None` if it contains neither.
fn unified(name: &Arc<str>) -> Option<Arc<str>> {
    if name.contains('.') {
        return Some(name.replace('.', "_").into());
    }
    name.contains('_').then(|| name.clone())
}

fn keep(set: &mut Ordinals, ordinal: u32, (before, after): (bool, bool)) {
    match (before, after) {
        (false, true) => set.insert(ordinal),
        (true, false) => set.remove(ordinal),
        _ => {}
    }
}
