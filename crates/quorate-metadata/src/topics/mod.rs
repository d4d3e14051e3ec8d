//! Topics and partitions, by far the largest part of an image.
//!
//! [`Topics`] is a narrow type on purpose: readers get [`Partition`]s by value and never see how
//! they are kept:
//!
//! - Partitions are [`Row`]s of 44 bytes in the leaves of a persistent [`Radix`] tree, addressed by
//!   dense ordinals. A topic owns a run of ordinals and moves when it cannot grow where it is. What
//!   a row cannot hold lies whole in a side map, by ordinal.
//! - A topic has a slot, a small number by which its rows name it.
//! - What is asked for often is indexed in [`Derived`], which one function keeps up to date from a
//!   partition before and after each change; rebuilt from scratch it is the same.
//!
//! Ordinals, slots and directory numbers are this image's own affair: another image with the same
//! content, loaded from a snapshot for instance, may have given out others. Comparing them is the
//! business of `compare`.

mod compare;
mod derived;
mod directories;
mod edit;
mod ordinals;
mod partition;
mod radix;
mod record;
mod row;
mod space;

use std::ops::Bound;
use std::sync::Arc;

use im::OrdMap;
use quorate_types::{DirectoryId, NodeId, TopicId};

use self::derived::Derived;
use self::directories::Directories;
use self::ordinals::Ordinals;
pub use self::partition::{LeaderRecovery, Partition, PartitionId};
use self::radix::Radix;
use self::row::Row;
use self::space::Space;

/// All topics and their partitions.
#[derive(Clone, Default)]
pub struct Topics {
    by_id: OrdMap<TopicId, u32>,
    by_name: OrdMap<Arc<str>, u32>,
    slots: Radix<Entry>,
    /// Slots below the highest ever used that are free.
    free_slots: Ordinals,
    rows: Radix<Row>,
    odd: OrdMap<u32, Arc<Partition>>,
    space: Space,
    directories: Directories,
    partition_count: usize,
    derived: Derived,
}

/// A topic in its slot.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Entry {
    id: TopicId,
    name: Arc<str>,
    /// The run of ordinals that the topic owns; not all need have a row.
    first: u32,
    len: u32,
    /// How many partitions it has.
    count: u32,
}

/// One topic of an image.
#[derive(Clone, Copy)]
pub struct Topic<'a> {
    topics: &'a Topics,
    entry: &'a Entry,
}

/// In how many partitions a broker plays which part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BrokerCounts {
    /// Partitions that it holds.
    pub replicas: usize,
    /// Partitions that it leads.
    pub leads: usize,
    /// ISRs that it is in.
    pub in_isr: usize,
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
        self.partition_count
    }

    /// The topic of that name.
    pub fn by_name(&self, name: &str) -> Option<Topic<'_>> {
        self.in_slot(*self.by_name.get(name)?)
    }

    /// The topic of that id.
    pub fn by_id(&self, id: TopicId) -> Option<Topic<'_>> {
        self.in_slot(*self.by_id.get(&id)?)
    }

    /// All topics by name.
    pub fn iter(&self) -> impl Iterator<Item = Topic<'_>> {
        self.iter_from("")
    }

    /// The topics whose name is `first` or comes later, by name.
    pub fn iter_from<'a>(&'a self, first: &str) -> impl Iterator<Item = Topic<'a>> + use<'a> {
        self.by_name
            .range::<_, str>((Bound::Included(first), Bound::Unbounded))
            .filter_map(|(_, slot)| self.in_slot(*slot))
    }

    /// One partition.
    pub fn partition(&self, id: PartitionId) -> Option<Partition> {
        self.by_id(id.topic)?.partition(id.index)
    }

    /// The partitions that the broker holds, in some fixed order.
    pub fn partitions_of(&self, broker: NodeId) -> impl Iterator<Item = (PartitionId, Partition)> {
        self.found(self.derived.replicas_of(broker))
    }

    /// The partitions that the broker holds and leads.
    pub fn led_by(&self, broker: NodeId) -> impl Iterator<Item = (PartitionId, Partition)> {
        self.held(
            broker,
            move |row| row.leader() == Some(broker),
            move |partition| partition.leader == Some(broker),
        )
    }

    /// The partitions that the broker holds and in whose ISR it is.
    pub fn in_isr_of(&self, broker: NodeId) -> impl Iterator<Item = (PartitionId, Partition)> {
        self.held(
            broker,
            move |row| row.in_isr(broker),
            move |partition| partition.in_isr(broker),
        )
    }

    /// The partitions that the broker holds and in whose ELR it is.
    pub fn in_elr_of(&self, broker: NodeId) -> impl Iterator<Item = (PartitionId, Partition)> {
        self.held(
            broker,
            move |row| row.in_elr(broker),
            move |partition| partition.in_elr(broker),
        )
    }

    /// The partitions that the broker holds in that directory.
    pub fn in_directory(
        &self,
        broker: NodeId,
        directory: DirectoryId,
    ) -> impl Iterator<Item = (PartitionId, Partition)> {
        let number = self.directories.known(directory);
        self.held(
            broker,
            move |row| number.is_some_and(|number| row.in_directory(broker, number)),
            move |partition| partition.directory(broker) == Some(directory),
        )
    }

    /// The partitions without a leader.
    pub fn leaderless(&self) -> impl Iterator<Item = (PartitionId, Partition)> {
        self.found(self.derived.leaderless().iter())
    }

    /// The partitions that are not led by their first replica.
    pub fn not_preferred(&self) -> impl Iterator<Item = (PartitionId, Partition)> {
        self.found(self.derived.not_preferred().iter())
    }

    /// The partitions whose replicas are being changed.
    pub fn reassigning(&self) -> impl Iterator<Item = (PartitionId, Partition)> {
        self.found(self.derived.reassigning().iter())
    }

    /// How many partitions have no leader.
    pub fn leaderless_count(&self) -> usize {
        self.derived.leaderless().len()
    }

    /// How many partitions are not led by their first replica.
    pub fn not_preferred_count(&self) -> usize {
        self.derived.not_preferred().len()
    }

    /// How many partitions the broker holds and leads and in how many ISRs it is, without looking at
    /// them.
    pub fn counts(&self, broker: NodeId) -> BrokerCounts {
        self.derived.counts(broker)
    }

    /// A topic whose name reads like `name` once `.` is taken for `_`: the two would share metric
    /// names. A topic of exactly that name counts.
    pub fn colliding(&self, name: &str) -> Option<&Arc<str>> {
        match self.by_name.get_key_value(name) {
            Some((name, _)) => Some(name),
            None => self.derived.similar(name),
        }
    }

    /// What is wrong with an index: it says something else than one built anew from the partitions
    /// would. `None` if all is well. For tests and simulators.
    pub fn index_fault(&self) -> Option<&'static str> {
        let mut rebuilt = Derived::default();
        let mut count = 0;
        for topic in self.iter() {
            rebuilt.name_added(topic.name());
            for (ordinal, row) in topic.rows(0) {
                if self.slots.get(row.topic) != Some(topic.entry) {
                    return Some("slots");
                }
                rebuilt.change(ordinal, None, self.unpacked(ordinal, row).as_ref());
                count += 1;
            }
            if topic.rows(0).count() != topic.partition_count() {
                return Some("partitions of a topic");
            }
        }
        if self.iter().map(|topic| topic.entry.len).sum::<u32>() != self.space.taken() {
            return Some("runs of ordinals");
        }
        if count != self.partition_count || self.rows.iter_from(0).count() != count {
            return Some("partition count");
        }
        self.derived.difference(&rebuilt)
    }

    fn in_slot(&self, slot: u32) -> Option<Topic<'_>> {
        let topics = self;
        self.slots.get(slot).map(|entry| Topic { topics, entry })
    }

    fn unpacked(&self, ordinal: u32, row: &Row) -> Option<Partition> {
        if row.is_odd() {
            return self
                .odd
                .get(&ordinal)
                .map(|partition| (**partition).clone());
        }
        row.unpack(&self.directories)
    }

    fn id_at(&self, ordinal: u32, row: &Row) -> Option<PartitionId> {
        let entry = self.slots.get(row.topic)?;
        let index = i32::try_from(ordinal.checked_sub(entry.first)?).ok()?;
        Some(PartitionId::new(entry.id, index))
    }

    fn found(
        &self,
        ordinals: impl Iterator<Item = u32>,
    ) -> impl Iterator<Item = (PartitionId, Partition)> {
        ordinals.filter_map(|ordinal| {
            let row = self.rows.get(ordinal)?;
            Some((self.id_at(ordinal, row)?, self.unpacked(ordinal, row)?))
        })
    }

    /// The partitions that the broker holds and that pass the test; only those are unpacked.
    fn held(
        &self,
        broker: NodeId,
        row_passes: impl Fn(&Row) -> bool,
        odd_passes: impl Fn(&Partition) -> bool,
    ) -> impl Iterator<Item = (PartitionId, Partition)> {
        self.found(self.derived.replicas_of(broker).filter(move |ordinal| {
            match self.rows.get(*ordinal) {
                Some(row) if row.is_odd() => self
                    .odd
                    .get(ordinal)
                    .is_some_and(|partition| odd_passes(partition)),
                Some(row) => row_passes(row),
                None => false,
            }
        }))
    }
}

impl std::fmt::Debug for Topics {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_map()
            .entries(self.iter().map(|topic| (topic.name(), topic)))
            .finish()
    }
}

impl<'a> Topic<'a> {
    /// Its id.
    pub fn id(self) -> TopicId {
        self.entry.id
    }

    /// Its name.
    pub fn name(self) -> &'a Arc<str> {
        &self.entry.name
    }

    /// How many partitions it has.
    pub fn partition_count(self) -> usize {
        self.entry.count as usize
    }

    /// The partition of that number.
    pub fn partition(self, index: i32) -> Option<Partition> {
        let ordinal = self.entry.ordinal(index)?;
        self.topics
            .unpacked(ordinal, self.topics.rows.get(ordinal)?)
    }

    /// Its partitions by number.
    pub fn partitions(self) -> impl Iterator<Item = (i32, Partition)> + 'a {
        self.partitions_from(0)
    }

    /// Its partitions by number, from `first` on.
    pub fn partitions_from(self, first: i32) -> impl Iterator<Item = (i32, Partition)> + 'a {
        let start = self.entry.first;
        self.rows(first).filter_map(move |(ordinal, row)| {
            let index = i32::try_from(ordinal - start).ok()?;
            Some((index, self.topics.unpacked(ordinal, row)?))
        })
    }

    fn rows(self, first: i32) -> impl Iterator<Item = (u32, &'a Row)> {
        let Entry {
            first: start, len, ..
        } = *self.entry;
        let skipped = u32::try_from(first).unwrap_or(0).min(len);
        self.topics
            .rows
            .iter_from(start + skipped)
            .take_while(move |(ordinal, _)| *ordinal < start + len)
    }
}

impl std::fmt::Debug for Topic<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Topic")
            .field("id", &self.id())
            .field("partitions", &self.partitions().collect::<Vec<_>>())
            .finish()
    }
}

impl Entry {
    /// The ordinal of that partition, if the topic's run goes so far.
    fn ordinal(&self, index: i32) -> Option<u32> {
        let index = u32::try_from(index)
            .ok()
            .filter(|index| *index < self.len)?;
        Some(self.first + index)
    }
}
