//! Topics and partitions, by far the largest part of an image.
//!
//! [`Topics`] is a narrow type on purpose: readers get [`Partition`]s by value and never see how
//! they are kept. What is asked for often is indexed in `Derived`, which one function keeps up to date
//! from a partition before and after each change; rebuilt from scratch it is the same.

mod derived;
mod partition;
mod record;

use std::sync::Arc;

use im::OrdMap;
use quorate_types::{DirectoryId, NodeId, TopicId};

use self::derived::Derived;
pub use self::partition::{LeaderRecovery, Partition, PartitionId};
use crate::Reason;
use crate::change::{Change, diff};

#[derive(Debug, Clone, PartialEq, Eq)]
struct Entry {
    name: Arc<str>,
    partitions: usize,
}

/// All topics and their partitions.
#[derive(Clone, Default)]
pub struct Topics {
    by_id: OrdMap<TopicId, Entry>,
    by_name: OrdMap<Arc<str>, TopicId>,
    partitions: OrdMap<PartitionId, Arc<Partition>>,
    derived: Derived,
}

/// One topic of an image.
#[derive(Clone, Copy)]
pub struct Topic<'a> {
    topics: &'a Topics,
    id: TopicId,
    entry: &'a Entry,
}

impl<'a> Topic<'a> {
    /// Its id.
    pub fn id(self) -> TopicId {
        self.id
    }

    /// Its name.
    pub fn name(self) -> &'a Arc<str> {
        &self.entry.name
    }

    /// How many partitions it has.
    pub fn partition_count(self) -> usize {
        self.entry.partitions
    }

    /// The partition of that number.
    pub fn partition(self, index: i32) -> Option<Partition> {
        self.topics.partition(PartitionId::new(self.id, index))
    }

    /// Its partitions by number.
    pub fn partitions(self) -> impl Iterator<Item = (i32, Partition)> + 'a {
        self.partitions_from(0)
    }

    /// Its partitions by number, from `first` on.
    pub fn partitions_from(self, first: i32) -> impl Iterator<Item = (i32, Partition)> + 'a {
        let range = PartitionId::new(self.id, first)..=PartitionId::new(self.id, i32::MAX);
        self.topics
            .partitions
            .range(range)
            .map(|(id, partition)| (id.index, (**partition).clone()))
    }
}

impl Topics {
    /// How many topics there are.
    pub fn len(&self) -> usize {
        self.by_id.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.by_id.is_empty()
    }

    /// How many partitions there are in all.
    pub fn partition_count(&self) -> usize {
        self.partitions.len()
    }

    /// The topic of that name.
    pub fn by_name(&self, name: &str) -> Option<Topic<'_>> {
        self.by_id(*self.by_name.get(name)?)
    }

    /// The topic of that id.
    pub fn by_id(&self, id: TopicId) -> Option<Topic<'_>> {
        let entry = self.by_id.get(&id)?;
        Some(Topic {
            topics: self,
            id,
            entry,
        })
    }

    /// All topics by name.
    pub fn iter(&self) -> impl Iterator<Item = Topic<'_>> {
        self.iter_from("")
    }

    /// The topics whose name is `first` or comes later, by name.
    pub fn iter_from<'a>(&'a self, first: &str) -> impl Iterator<Item = Topic<'a>> + use<'a> {
        self.by_name
            .range::<_, str>((std::ops::Bound::Included(first), std::ops::Bound::Unbounded))
            .filter_map(|(_, id)| self.by_id(*id))
    }

    /// One partition.
    pub fn partition(&self, id: PartitionId) -> Option<Partition> {
        self.partitions
            .get(&id)
            .map(|partition| (**partition).clone())
    }

    /// The partitions that the broker holds, in some fixed order.
    pub fn partitions_of(&self, broker: NodeId) -> impl Iterator<Item = (PartitionId, Partition)> {
        self.found(self.derived.replicas_of(broker))
    }

    /// The partitions that the broker leads.
    pub fn led_by(&self, broker: NodeId) -> impl Iterator<Item = (PartitionId, Partition)> {
        self.partitions_of(broker)
            .filter(move |(_, partition)| partition.leader == Some(broker))
    }

    /// The partitions in whose ISR the broker is.
    pub fn in_isr_of(&self, broker: NodeId) -> impl Iterator<Item = (PartitionId, Partition)> {
        self.partitions_of(broker)
            .filter(move |(_, partition)| partition.in_isr(broker))
    }

    /// The partitions in whose ELR the broker is.
    pub fn in_elr_of(&self, broker: NodeId) -> impl Iterator<Item = (PartitionId, Partition)> {
        self.partitions_of(broker)
            .filter(move |(_, partition)| partition.in_elr(broker))
    }

    /// The partitions that the broker holds in that directory.
    pub fn in_directory(
        &self,
        broker: NodeId,
        directory: DirectoryId,
    ) -> impl Iterator<Item = (PartitionId, Partition)> {
        self.partitions_of(broker)
            .filter(move |(_, partition)| partition.directory(broker) == Some(directory))
    }

    /// The partitions without a leader.
    pub fn leaderless(&self) -> impl Iterator<Item = (PartitionId, Partition)> {
        self.found(self.derived.leaderless().iter().copied())
    }

    /// The partitions that are not led by their first replica.
    pub fn not_preferred(&self) -> impl Iterator<Item = (PartitionId, Partition)> {
        self.found(self.derived.not_preferred().iter().copied())
    }

    /// The partitions whose replicas are being changed.
    pub fn reassigning(&self) -> impl Iterator<Item = (PartitionId, Partition)> {
        self.found(self.derived.reassigning().iter().copied())
    }

    /// How many partitions have no leader.
    pub fn leaderless_count(&self) -> usize {
        self.derived.leaderless().len()
    }

    /// How many partitions are not led by their first replica.
    pub fn not_preferred_count(&self) -> usize {
        self.derived.not_preferred().len()
    }

    /// How many partitions the broker leads and in how many ISRs it is, without looking at them.
    pub fn counts(&self, broker: NodeId) -> BrokerCounts {
        self.derived.counts(broker)
    }

    /// A topic whose name reads like `name` once `.` is taken for `_`: the two would share metric
    /// names. A topic of exactly that name counts.
    pub fn colliding(&self, name: &str) -> Option<&Arc<str>> {
        self.derived.colliding(name)
    }

    /// Topics that came, changed (got partitions) or went on the way to `after`.
    pub(crate) fn topic_changes<'a>(
        &'a self,
        after: &'a Topics,
    ) -> impl Iterator<Item = Change<TopicId, Topic<'a>>> {
        diff(&self.by_id, &after.by_id).map(|change| {
            let id = *change.key;
            let topic = |topics, entry| Topic { topics, id, entry };
            Change {
                key: id,
                before: change.before.map(|entry| topic(self, entry)),
                after: change.after.map(|entry| topic(after, entry)),
            }
        })
    }

    /// Partitions that came, changed or went on the way to `after`.
    pub(crate) fn partition_changes<'a>(
        &'a self,
        after: &'a Topics,
    ) -> impl Iterator<Item = Change<PartitionId, Partition>> + use<'a> {
        diff(&self.partitions, &after.partitions).map(|change| {
            change
                .map_key(|id| *id)
                .map(|partition| (**partition).clone())
        })
    }

    /// Adds a topic without partitions.
    pub(crate) fn create(&mut self, id: TopicId, name: &str) -> Result<(), Reason> {
        if let Some(topic) = self.by_id.get(&id) {
            let name = topic.name.clone();
            return Err(Reason::TopicIdTaken { id, name });
        }
        if let Some((name, id)) = self.by_name.get_key_value(name) {
            let (name, id) = (name.clone(), *id);
            return Err(Reason::TopicNameTaken { name, id });
        }
        let name: Arc<str> = name.into();
        self.derived.name_added(&name);
        self.by_name.insert(name.clone(), id);
        let partitions = 0;
        self.by_id.insert(id, Entry { name, partitions });
        Ok(())
    }

    /// Removes a topic and its partitions, and says what it was called.
    pub(crate) fn remove(&mut self, id: TopicId) -> Result<Arc<str>, Reason> {
        let entry = self.by_id.remove(&id).ok_or(Reason::UnknownTopic(id))?;
        self.by_name.remove(&entry.name);
        self.derived.name_removed(&entry.name);
        for id in self.ids_of(id) {
            if let Some(before) = self.partitions.remove(&id) {
                self.derived.change(id, Some(&before), None);
            }
        }
        Ok(entry.name)
    }

    /// Adds a partition or replaces it.
    pub(crate) fn put(&mut self, id: PartitionId, partition: Partition) -> Result<(), Reason> {
        if id.index < 0 {
            return Err(Reason::NegativePartition(id));
        }
        let entry = self
            .by_id
            .get_mut(&id.topic)
            .ok_or(Reason::UnknownTopic(id.topic))?;
        let after = Arc::new(partition);
        let before = self.partitions.insert(id, after.clone());
        if before.is_none() {
            entry.partitions += 1;
        }
        self.derived.change(id, before.as_deref(), Some(&after));
        Ok(())
    }

    /// Changes a partition that exists.
    pub(crate) fn update(
        &mut self,
        id: PartitionId,
        change: impl FnOnce(&Partition) -> Result<Partition, Reason>,
    ) -> Result<(), Reason> {
        let slot = self.partitions.get_mut(&id);
        let slot = slot.ok_or(Reason::UnknownPartition(id))?;
        let before = slot.clone();
        let after = change(&before)?;
        self.derived.change(id, Some(&before), Some(&after));
        *slot = Arc::new(after);
        Ok(())
    }

    /// The partitions of one topic, or of all, that have an ELR or a last known one.
    pub(crate) fn with_elr(&self, topic: Option<TopicId>) -> Vec<PartitionId> {
        let has = |partition: &Partition| partition.has_elr();
        match topic {
            Some(topic) => self
                .partitions
                .range(all_of(topic))
                .filter(|(_, partition)| has(partition))
                .map(|(id, _)| *id)
                .collect(),
            None => self
                .partitions
                .iter()
                .filter(|(_, partition)| has(partition))
                .map(|(id, _)| *id)
                .collect(),
        }
    }

    /// Which index says something else than one built anew from the partitions would; `None` if all
    /// is well. For tests and simulators.
    pub fn index_fault(&self) -> Option<&'static str> {
        let mut rebuilt = Derived::default();
        for name in self.by_name.keys() {
            rebuilt.name_added(name);
        }
        for (id, partition) in &self.partitions {
            rebuilt.change(*id, None, Some(partition));
        }
        self.derived.difference(&rebuilt)
    }

    fn ids_of(&self, topic: TopicId) -> Vec<PartitionId> {
        self.partitions
            .range(all_of(topic))
            .map(|(id, _)| *id)
            .collect()
    }

    fn found<'a>(
        &'a self,
        ids: impl Iterator<Item = PartitionId> + 'a,
    ) -> impl Iterator<Item = (PartitionId, Partition)> + 'a {
        ids.filter_map(|id| Some((id, self.partition(id)?)))
    }
}

/// In how many partitions a broker plays which part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BrokerCounts {
    /// Partitions that it leads.
    pub leads: usize,
    /// ISRs that it is in.
    pub in_isr: usize,
}

impl PartialEq for Topics {
    fn eq(&self, other: &Topics) -> bool {
        self.by_id == other.by_id && self.partitions == other.partitions
    }
}

impl Eq for Topics {}

impl std::fmt::Debug for Topics {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_map()
            .entries(self.iter().map(|topic| (topic.name(), topic)))
            .finish()
    }
}

impl std::fmt::Debug for Topic<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Topic")
            .field("id", &self.id)
            .field("partitions", &self.partitions().collect::<Vec<_>>())
            .finish()
    }
}

fn all_of(topic: TopicId) -> std::ops::RangeInclusive<PartitionId> {
    PartitionId::new(topic, i32::MIN)..=PartitionId::new(topic, i32::MAX)
}
