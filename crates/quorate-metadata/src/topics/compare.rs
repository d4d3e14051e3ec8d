//! What differs between two versions of the topics.
//!
//! Versions of one history share most of their leaves and number topics and directories alike, so
//! their rows are compared where they lie and shared leaves are skipped. A topic that moved to other
//! ordinals, came or went is compared partition by partition; so are all topics of images that have
//! no history in common.

use quorate_types::TopicId;

use super::{Entry, Partition, PartitionId, Row, Topic, Topics};
use crate::change::{Change, diff};

impl Topics {
    /// The topics whose ids `others` does not have.
    pub(crate) fn missing_from<'a>(
        &'a self,
        others: &'a Topics,
    ) -> impl Iterator<Item = Topic<'a>> + use<'a> {
        diff(&others.by_id, &self.by_id)
            .filter(Change::is_created)
            .filter_map(|change| self.in_slot(*change.after?))
    }

    /// Partitions that came, changed or went on the way to `after`.
    pub(crate) fn partition_changes<'a>(
        &'a self,
        after: &'a Topics,
    ) -> impl Iterator<Item = Change<PartitionId, Partition>> + use<'a> {
        let pair = Pair {
            before: self,
            after,
        };
        let related = self.directories.agree_with(&after.directories);
        let loose = if related { pair.loose() } else { pair.all() };
        let in_place = related.then(|| pair.in_place()).into_iter().flatten();
        let one_by_one = loose.into_iter().flat_map(move |id| pair.one_by_one(id));
        in_place
            .chain(one_by_one)
            .filter(|change| change.before != change.after)
    }

    fn names_differ(&self, other: &Topics) -> bool {
        let renamed = |one: Option<&Entry>, other: Option<&Entry>| {
            one.zip(other)
                .is_some_and(|(one, other)| one.id == other.id && one.name != other.name)
        };
        let moved = diff(&self.by_id, &other.by_id).any(|change| {
            let one = change.before.and_then(|slot| self.slots.get(*slot));
            let two = change.after.and_then(|slot| other.slots.get(*slot));
            renamed(one, two)
        });
        moved
            || self
                .slots
                .diff(&other.slots)
                .any(|(_, one, two)| renamed(one, two))
    }
}

impl PartialEq for Topics {
    fn eq(&self, other: &Topics) -> bool {
        self.len() == other.len()
            && self.partition_count == other.partition_count
            && self.missing_from(other).next().is_none()
            && self.partition_changes(other).next().is_none()
            && !self.names_differ(other)
    }
}

impl Eq for Topics {}

#[derive(Clone, Copy)]
struct Pair<'a> {
    before: &'a Topics,
    after: &'a Topics,
}

impl<'a> Pair<'a> {
    /// Topics that are in one version only or have their rows in other places.
    fn loose(self) -> Vec<TopicId> {
        let changed = diff(&self.before.by_id, &self.after.by_id).map(|change| *change.key);
        let moved = self.before.slots.diff(&self.after.slots);
        let moved = moved.filter_map(|(_, before, after)| {
            let (before, after) = before.zip(after)?;
            (before.id == after.id && before.first != after.first).then_some(before.id)
        });
        changed.chain(moved).collect()
    }

    /// The topics of both.
    fn all(self) -> Vec<TopicId> {
        let created = self.after.missing_from(self.before).map(Topic::id);
        self.before.by_id.keys().copied().chain(created).collect()
    }

    /// Compares rows where they lie, for the topics that are not loose.
    fn in_place(self) -> impl Iterator<Item = Change<PartitionId, Partition>> + use<'a> {
        let Pair { before, after } = self;
        let rows = before
            .rows
            .diff(&after.rows)
            .flat_map(move |(ordinal, one, two)| self.at(ordinal, one, two));
        // An odd partition may change without its row.
        let odd = diff(&before.odd, &after.odd).flat_map(move |change| {
            let ordinal = *change.key;
            let (one, two) = (before.rows.get(ordinal), after.rows.get(ordinal));
            let same = one.filter(|_| one == two);
            same.into_iter()
                .flat_map(move |row| self.at(ordinal, Some(row), Some(row)))
        });
        rows.chain(odd)
    }

    /// What changed at one ordinal, for topics that are not loose: one that lies there in both
    /// versions, or one that made room for another.
    fn at(
        self,
        ordinal: u32,
        before: Option<&'a Row>,
        after: Option<&'a Row>,
    ) -> impl Iterator<Item = Change<PartitionId, Partition>> + use<'a> {
        let steady = |row: &&Row| self.is_steady(row.topic);
        let (old, new) = (before.filter(steady), after.filter(steady));
        let pairs = match (old, new) {
            (Some(one), Some(two)) if one.topic != two.topic => [(old, None), (None, new)],
            _ => [(old, new), (None, None)],
        };
        pairs.into_iter().filter_map(move |(old, new)| {
            let id = match (old, new) {
                (Some(row), _) => self.before.id_at(ordinal, row),
                (None, Some(row)) => self.after.id_at(ordinal, row),
                (None, None) => None,
            };
            Some(Change {
                key: id?,
                before: old.and_then(|row| self.before.unpacked(ordinal, row)),
                after: new.and_then(|row| self.after.unpacked(ordinal, row)),
            })
        })
    }

    /// Whether the slot has the same topic in both versions, with its rows in the same places.
    fn is_steady(self, slot: u32) -> bool {
        let entries = self.before.slots.get(slot).zip(self.after.slots.get(slot));
        entries.is_some_and(|(one, two)| one.id == two.id && one.first == two.first)
    }

    /// Compares one topic partition by partition.
    fn one_by_one(
        self,
        id: TopicId,
    ) -> impl Iterator<Item = Change<PartitionId, Partition>> + use<'a> {
        let old = self
            .before
            .by_id(id)
            .into_iter()
            .flat_map(Topic::partitions);
        let new = self.after.by_id(id).into_iter().flat_map(Topic::partitions);
        let (mut old, mut new) = (old.peekable(), new.peekable());
        std::iter::from_fn(move || {
            let index = match (old.peek(), new.peek()) {
                (Some((one, _)), Some((two, _))) => *one.min(two),
                (Some((index, _)), None) | (None, Some((index, _))) => *index,
                (None, None) => return None,
            };
            let taken = |(_, partition)| partition;
            Some(Change {
                key: PartitionId::new(id, index),
                before: old.next_if(|(other, _)| *other == index).map(taken),
                after: new.next_if(|(other, _)| *other == index).map(taken),
            })
        })
    }
}
