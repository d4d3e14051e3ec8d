//! How records change topics and partitions.

use std::sync::Arc;

use quorate_types::TopicId;

use super::{Entry, Partition, PartitionId, Row, Topics};
use crate::Reason;

/// A partition's number has to be less. Kafka's controller makes no more than 10,000 at once.
const MAX_PARTITIONS: i32 = 1 << 24;

impl Topics {
    /// Adds a topic without partitions.
    pub(crate) fn create(&mut self, id: TopicId, name: &str) -> Result<(), Reason> {
        if let Some(topic) = self.by_id(id) {
            let name = topic.name().clone();
            return Err(Reason::TopicIdTaken { id, name });
        }
        if let Some(topic) = self.by_name(name) {
            let (id, name) = (topic.id(), topic.name().clone());
            return Err(Reason::TopicNameTaken { name, id });
        }
        let slot = match self.free_slots.iter().next() {
            Some(slot) => slot,
            None => u32::try_from(self.len()).map_err(|_| Reason::TooMuch)?,
        };
        self.free_slots.remove(slot);
        let name: Arc<str> = name.into();
        self.derived.name_added(&name);
        self.by_id.insert(id, slot);
        self.by_name.insert(name.clone(), slot);
        let entry = Entry {
            id,
            name,
            first: 0,
            len: 0,
            count: 0,
        };
        self.slots.set(slot, Some(entry));
        Ok(())
    }

    /// Removes a topic and its partitions, and says what it was called.
    pub(crate) fn remove(&mut self, id: TopicId) -> Result<Arc<str>, Reason> {
        let slot = self.by_id.remove(&id).ok_or(Reason::UnknownTopic(id))?;
        let entry = self
            .slots
            .get(slot)
            .cloned()
            .ok_or(Reason::UnknownTopic(id))?;
        for ordinal in self.ordinals_of(slot) {
            self.set(ordinal, slot, None);
        }
        self.space.free(entry.first, entry.len);
        self.slots.set(slot, None);
        self.free_slots.insert(slot);
        self.by_name.remove(&entry.name);
        self.derived.name_removed(&entry.name);
        Ok(entry.name)
    }

    /// Adds a partition or replaces it.
    pub(crate) fn put(&mut self, id: PartitionId, partition: Partition) -> Result<(), Reason> {
        let slot = *self
            .by_id
            .get(&id.topic)
            .ok_or(Reason::UnknownTopic(id.topic))?;
        if id.index < 0 {
            return Err(Reason::NegativePartition(id));
        }
        if id.index >= MAX_PARTITIONS {
            return Err(Reason::PartitionOutOfReach(id));
        }
        self.reach(slot, id.index as u32 + 1)
            .ok_or(Reason::TooMuch)?;
        let ordinal = self
            .slots
            .get(slot)
            .and_then(|entry| entry.ordinal(id.index));
        self.set(ordinal.ok_or(Reason::TooMuch)?, slot, Some(partition));
        Ok(())
    }

    /// Changes a partition that exists.
    pub(crate) fn update(
        &mut self,
        id: PartitionId,
        change: impl FnOnce(&Partition) -> Result<Partition, Reason>,
    ) -> Result<(), Reason> {
        let unknown = Reason::UnknownPartition(id);
        let Some(&slot) = self.by_id.get(&id.topic) else {
            return Err(unknown);
        };
        let ordinal = self
            .slots
            .get(slot)
            .and_then(|entry| entry.ordinal(id.index));
        let found = ordinal.and_then(|ordinal| {
            let row = self.rows.get(ordinal)?;
            Some((ordinal, self.unpacked(ordinal, row)?))
        });
        let (ordinal, before) = found.ok_or(unknown)?;
        let after = change(&before)?;
        self.replace(ordinal, slot, Some(&before), Some(after));
        Ok(())
    }

    /// The partitions of one topic, or of all, that have an ELR or a last known one.
    pub(crate) fn with_elr(&self, topic: Option<TopicId>) -> Vec<PartitionId> {
        let has_elr = |ordinal: u32, row: &Row| match row.is_odd() {
            true => self
                .odd
                .get(&ordinal)
                .is_some_and(|partition| partition.has_elr()),
            false => row.has_elr(),
        };
        let of_topic = topic.and_then(|id| self.by_id(id)).into_iter();
        let of_all = topic.is_none().then(|| self.rows.iter_from(0)).into_iter();
        of_topic
            .flat_map(|topic| topic.rows(0))
            .chain(of_all.flatten())
            .filter(|(ordinal, row)| has_elr(*ordinal, row))
            .filter_map(|(ordinal, row)| self.id_at(ordinal, row))
            .collect()
    }

    /// Makes the topic's run at least `len` long, elsewhere if it cannot grow where it is. `None` if
    /// there is no room left.
    fn reach(&mut self, slot: u32, len: u32) -> Option<()> {
        let entry = self.slots.get(slot)?;
        let (first, old) = (entry.first, entry.len);
        if len <= old {
            return Some(());
        }
        if old > 0 && self.space.extend(first + old, len - old) {
            self.slots.get_mut(slot)?.len = len;
            return Some(());
        }
        // With room to spare for a topic that moves, so that one that grows often moves seldom.
        let len = len.max(old + old / 2);
        let to = self.space.take(len)?;
        for from in self.ordinals_of(slot) {
            let moved = self.set(from, slot, None);
            self.set(to + (from - first), slot, moved);
        }
        self.space.free(first, old);
        let entry = self.slots.get_mut(slot)?;
        (entry.first, entry.len) = (to, len);
        Some(())
    }

    fn ordinals_of(&self, slot: u32) -> Vec<u32> {
        let topic = self.in_slot(slot).into_iter();
        topic
            .flat_map(|topic| topic.rows(0))
            .map(|(ordinal, _)| ordinal)
            .collect()
    }

    /// Puts a partition of the topic in that slot at an ordinal of its, or takes it away. Returns
    /// what was there.
    fn set(&mut self, ordinal: u32, slot: u32, after: Option<Partition>) -> Option<Partition> {
        let row = self.rows.get(ordinal);
        let before = row.and_then(|row| self.unpacked(ordinal, row));
        self.replace(ordinal, slot, before.as_ref(), after);
        before
    }

    /// As [`set`](Self::set), for whoever knows what is there.
    fn replace(
        &mut self,
        ordinal: u32,
        slot: u32,
        before: Option<&Partition>,
        after: Option<Partition>,
    ) {
        self.derived.change(ordinal, before, after.as_ref());
        let packed = after
            .as_ref()
            .and_then(|partition| Row::pack(partition, slot, &mut self.directories));
        let (row, odd) = match (packed, after) {
            (Some(row), _) => (Some(row), None),
            (None, Some(partition)) => (Some(Row::odd(&partition, slot)), Some(partition)),
            (None, None) => (None, None),
        };
        match odd {
            Some(partition) => {
                self.odd.insert(ordinal, Arc::new(partition));
            }
            // Removing what is not there would still copy the path to it.
            None if self.odd.contains_key(&ordinal) => {
                self.odd.remove(&ordinal);
            }
            None => {}
        }
        let more = usize::from(row.is_some());
        let fewer = usize::from(self.rows.set(ordinal, row).is_some());
        self.partition_count = self.partition_count + more - fewer;
        if more != fewer
            && let Some(entry) = self.slots.get_mut(slot)
        {
            entry.count = entry.count + more as u32 - fewer as u32;
        }
    }
}
