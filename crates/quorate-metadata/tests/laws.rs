//! Laws that hold for every history of records.

mod common;

use std::collections::{BTreeMap, BTreeSet};

use common::{History, all_brokers, histories};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use quorate_engine::Machine;
use quorate_metadata::{
    Change, Delta, KafkaMetadata, LocalChanges, MetadataImage, Partition, PartitionId, Section,
    SnapshotRecords, Topics,
};
use quorate_types::{NodeId, Offset};

fn reloaded(image: &MetadataImage) -> MetadataImage {
    let mut copy = MetadataImage::default();
    for record in SnapshotRecords::new(image.clone()).unwrap().flatten() {
        KafkaMetadata::apply(&mut copy, &record, Offset(7)).unwrap();
    }
    copy
}

fn partitions(topics: &Topics) -> BTreeMap<PartitionId, Partition> {
    let all = topics.iter().flat_map(|topic| {
        topic
            .partitions()
            .map(move |(index, p)| (PartitionId::new(topic.id(), index), p))
    });
    all.collect()
}

/// Applies changes to a copy of what was before; each has to fit it.
fn patched<K: Ord + Clone, V: PartialEq + std::fmt::Debug>(
    mut before: BTreeMap<K, V>,
    changes: impl Iterator<Item = Change<K, V>>,
) -> BTreeMap<K, V> {
    for change in changes {
        assert_ne!(change.before, change.after, "a change that changes nothing");
        let old = match change.after {
            Some(after) => before.insert(change.key, after),
            None => before.remove(&change.key),
        };
        assert_eq!(old, change.before);
    }
    before
}

/// Two images out of a history, the first no later than the second.
fn two(history: &History, at: (prop::sample::Index, prop::sample::Index)) -> Delta {
    let (one, other) = (
        at.0.index(history.images.len()),
        at.1.index(history.images.len()),
    );
    let image = |place: usize| history.images[place].clone();
    Delta::new(image(one.min(other)), image(one.max(other)))
}

/// Delta of the same images without any part in common.
fn unrelated(delta: &Delta) -> Delta {
    Delta::new(delta.before().clone(), reloaded(delta.after()))
}

fn check_delta(delta: &Delta) {
    let (before, after) = (delta.before(), delta.after());
    assert_eq!(
        patched(partitions(before.topics()), delta.partitions()),
        partitions(after.topics())
    );
    let ids = |topics: &Topics| {
        topics
            .iter()
            .map(|topic| topic.id())
            .collect::<BTreeSet<_>>()
    };
    let (old, new) = (ids(before.topics()), ids(after.topics()));
    let created: Vec<_> = delta.topics_created().map(|topic| topic.id()).collect();
    let deleted: Vec<_> = delta.topics_deleted().map(|topic| topic.id()).collect();
    assert_eq!(
        created.iter().copied().collect::<BTreeSet<_>>(),
        &new - &old
    );
    assert_eq!(
        deleted.iter().copied().collect::<BTreeSet<_>>(),
        &old - &new
    );
    assert_eq!(
        (created.len(), deleted.len()),
        ((&new - &old).len(), (&old - &new).len())
    );

    let brokers = |image: &MetadataImage| {
        image
            .brokers()
            .map(|broker| (broker.id, broker.clone()))
            .collect::<BTreeMap<_, _>>()
    };
    let changes = delta.brokers().map(|change| Change {
        key: change.key,
        before: change.before.cloned(),
        after: change.after.cloned(),
    });
    assert_eq!(patched(brokers(before), changes), brokers(after));

    let features = |image: &MetadataImage| {
        image
            .features()
            .iter()
            .map(|(n, l)| (n.to_owned(), l))
            .collect::<BTreeMap<_, _>>()
    };
    let changes = delta.features().map(|change| Change {
        key: change.key.to_owned(),
        before: change.before,
        after: change.after,
    });
    assert_eq!(patched(features(before), changes), features(after));

    let configs = |image: &MetadataImage| {
        let all = image.configs().iter();
        all.map(|(resource, key, value)| ((resource.clone(), key.to_owned()), value.to_owned()))
            .collect::<BTreeMap<_, _>>()
    };
    let changes = delta.configs().flat_map(|changed| {
        changed.keys().map(move |change| Change {
            key: (changed.resource().clone(), change.key.to_owned()),
            before: change.before.map(str::to_owned),
            after: change.after.map(str::to_owned),
        })
    });
    assert_eq!(patched(configs(before), changes), configs(after));

    let acls = |image: &MetadataImage| {
        image
            .acls()
            .iter()
            .map(|(id, acl)| (id, acl.clone()))
            .collect::<BTreeMap<_, _>>()
    };
    let changes = delta.acls().map(|change| Change {
        key: change.key,
        before: change.before.cloned(),
        after: change.after.cloned(),
    });
    assert_eq!(patched(acls(before), changes), acls(after));
    assert_eq!(delta.changed(Section::Acls), acls(before) != acls(after));
    assert_eq!(delta.is_empty(), before == after);
}

/// What the definition of local changes asks for, found by looking at everything.
fn local_model(delta: &Delta, broker: NodeId) -> LocalChanges {
    let (before, after) = (
        partitions(delta.before().topics()),
        partitions(delta.after().topics()),
    );
    let mut model = LocalChanges::default();
    let held = |all: &BTreeMap<PartitionId, Partition>, id: &PartitionId| {
        all.get(id)
            .filter(|partition| partition.has_replica(broker))
            .cloned()
    };
    let ids: BTreeSet<_> = before.keys().chain(after.keys()).copied().collect();
    for id in ids {
        let name = |image: &MetadataImage| image.topics().by_id(id.topic).unwrap().name().clone();
        match (held(&before, &id), held(&after, &id)) {
            (Some(_), None) => model.deletes.push(quorate_metadata::LocalDelete {
                id,
                topic: name(delta.before()),
            }),
            (old, Some(new)) => {
                let directory = new.directory(broker).unwrap();
                if old.as_ref().and_then(|old| old.directory(broker)) != Some(directory) {
                    model.directories.push((id, directory));
                }
                if old
                    .as_ref()
                    .is_some_and(|old| old.partition_epoch == new.partition_epoch)
                {
                    continue;
                }
                let leads = new.leader == Some(broker);
                let replica = quorate_metadata::LocalReplica {
                    id,
                    topic: name(delta.after()),
                    new_leader_epoch: old
                        .as_ref()
                        .is_none_or(|o| o.leader_epoch != new.leader_epoch),
                    new_here: old.is_none(),
                    partition: new,
                };
                if leads {
                    &mut model.leaders
                } else {
                    &mut model.followers
                }
                .push(replica);
            }
            (None, None) => {}
        }
    }
    model
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn a_snapshot_read_back_is_the_same_image(history in histories(150)) {
        for image in history.images.iter().step_by(10).chain([history.last()]) {
            let copy = reloaded(image);
            prop_assert_eq!(&copy, image);
            prop_assert_eq!(copy.topics().index_fault(), None);
            prop_assert!(Delta::new(image.clone(), copy).is_empty());
        }
    }

    #[test]
    fn indexes_built_anew_are_those_that_were_kept(history in histories(150)) {
        for image in &history.images {
            prop_assert_eq!(image.topics().index_fault(), None);
        }
    }

    #[test]
    fn queries_find_what_a_scan_finds(history in histories(150)) {
        let topics = history.last().topics();
        let all = partitions(topics);
        let scan = |wanted: &dyn Fn(&Partition) -> bool| {
            let found = all.iter().filter(|(_, partition)| wanted(partition));
            found.map(|(id, partition)| (*id, partition.clone())).collect::<BTreeMap<_, _>>()
        };
        prop_assert_eq!(topics.partition_count(), all.len());
        for broker in all_brokers() {
            let led = scan(&|p| p.leader == Some(broker));
            let isr = scan(&|p| p.isr.contains(&broker));
            prop_assert_eq!(topics.counts(broker).leads, led.len());
            prop_assert_eq!(topics.counts(broker).in_isr, isr.len());
            // A leader or an ISR member that is no replica is no valid state; it is not found.
            let replica = |p: &Partition| p.has_replica(broker);
            prop_assert_eq!(topics.partitions_of(broker).collect::<BTreeMap<_, _>>(), scan(&replica));
            let led = scan(&|p| replica(p) && p.leader == Some(broker));
            prop_assert_eq!(topics.led_by(broker).collect::<BTreeMap<_, _>>(), led);
            let elr = scan(&|p| replica(p) && p.elr.contains(&broker));
            prop_assert_eq!(topics.in_elr_of(broker).collect::<BTreeMap<_, _>>(), elr);
        }
        prop_assert_eq!(topics.leaderless().collect::<BTreeMap<_, _>>(), scan(&|p| p.leader.is_none()));
        prop_assert_eq!(
            topics.not_preferred().collect::<BTreeMap<_, _>>(),
            scan(&|p| p.leader != p.replicas.first().copied())
        );
        prop_assert_eq!(topics.reassigning().collect::<BTreeMap<_, _>>(), scan(&Partition::is_reassigning));
        for topic in topics.iter() {
            prop_assert!(topics.colliding(topic.name()).is_some());
            prop_assert_eq!(topic.partitions().count(), topic.partition_count());
            for (index, partition) in topic.partitions() {
                prop_assert_eq!(topic.partition(index), Some(partition));
            }
        }
    }

    #[test]
    fn a_delta_leads_from_one_image_to_the_other(
        history in histories(150),
        at: (prop::sample::Index, prop::sample::Index),
    ) {
        let delta = two(&history, at);
        check_delta(&delta);
        check_delta(&unrelated(&delta));
        check_delta(&Delta::new(delta.after().clone(), delta.before().clone()));
        check_delta(&Delta::new(MetadataImage::default(), delta.after().clone()));
    }

    #[test]
    fn local_changes_are_those_of_the_definition(
        history in histories(150),
        at: (prop::sample::Index, prop::sample::Index),
    ) {
        let delta = two(&history, at);
        for broker in all_brokers() {
            let expected = local_model(&delta, broker);
            prop_assert_eq!(delta.local(broker), expected.clone());
            prop_assert_eq!(unrelated(&delta).local(broker), expected);
        }
    }
}

#[test]
fn histories_reach_every_kind_of_record() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut keys = BTreeSet::new();
    for _ in 0..100 {
        let history = histories(150).new_tree(&mut runner).unwrap().current();
        keys.extend(history.records.iter().map(|record| record.data.key()));
    }
    // All but the brackets of transactions, which no image sees.
    let expected = (0..=28).filter(|key| ![6, 13, 16, 23, 24, 25].contains(key));
    assert_eq!(keys, expected.collect::<BTreeSet<i16>>());
}
