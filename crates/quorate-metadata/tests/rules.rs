//! Behaviour that is easy to get wrong, one case a test.

use std::sync::{Arc, Mutex};

use quorate_engine::{Batch, Machine};
use quorate_metadata::{
    ConfigResource, Delta, Features, KafkaMetadata, LoadedSnapshot, Loader, MetadataImage,
    MetadataVersion, PartitionId, Provenance, PublishError, Publisher, Publishers, Reason,
    SnapshotRecords,
};
use quorate_protocol::records::*;
use quorate_protocol::snapshot::SnapshotHeader;
use quorate_types::{DirectoryId, Epoch, NodeId, Offset, OffsetAndEpoch, TopicId, Uuid, WallTime};

fn id(n: u8) -> TopicId {
    TopicId(Uuid([n; 16]))
}

fn topic(name: &str, n: u8) -> MetadataRecord {
    TopicRecord {
        name: name.into(),
        topic_id: id(n).0,
        ..Default::default()
    }
    .into()
}

fn remove(n: u8) -> MetadataRecord {
    RemoveTopicRecord {
        topic_id: id(n).0,
        ..Default::default()
    }
    .into()
}

fn partition(n: u8, index: i32, replicas: &[i32], leader: i32) -> PartitionRecord {
    PartitionRecord {
        topic_id: id(n).0,
        partition_id: index,
        replicas: replicas.to_vec(),
        isr: replicas.to_vec(),
        leader,
        leader_epoch: 0,
        partition_epoch: 0,
        ..Default::default()
    }
}

fn change(n: u8, index: i32) -> PartitionChangeRecord {
    PartitionChangeRecord {
        topic_id: id(n).0,
        partition_id: index,
        ..Default::default()
    }
}

fn broker(broker_id: i32, broker_epoch: i64) -> RegisterBrokerRecord {
    RegisterBrokerRecord {
        broker_id,
        broker_epoch,
        ..Default::default()
    }
}

fn feature(name: &str, feature_level: i16) -> MetadataRecord {
    FeatureLevelRecord {
        name: name.into(),
        feature_level,
        ..Default::default()
    }
    .into()
}

fn begin() -> MetadataRecord {
    BeginTransactionRecord::default().into()
}

fn versioned(record: impl Into<MetadataRecord>) -> VersionedRecord {
    MetadataVersion::LATEST.versioned(record)
}

fn apply(image: &mut MetadataImage, record: impl Into<MetadataRecord>) -> Result<(), Reason> {
    let result = KafkaMetadata::apply(image, &versioned(record), Offset(9));
    result.map_err(|misfit| {
        assert_eq!(misfit.at, Offset(9));
        misfit.why
    })
}

fn image(records: impl IntoIterator<Item = MetadataRecord>) -> MetadataImage {
    let mut image = MetadataImage::default();
    for record in records {
        apply(&mut image, record).unwrap();
    }
    image
}

fn more(image: &MetadataImage, records: impl IntoIterator<Item = MetadataRecord>) -> MetadataImage {
    let mut image = image.clone();
    for record in records {
        apply(&mut image, record).unwrap();
    }
    image
}

fn names<'a>(topics: impl Iterator<Item = quorate_metadata::Topic<'a>>) -> Vec<String> {
    topics.map(|topic| topic.name().to_string()).collect()
}

#[test]
fn a_topic_created_and_deleted_in_between_is_not_in_the_delta() {
    let before = image([topic("a", 1)]);
    let after = more(
        &before,
        [topic("b", 2), partition(2, 0, &[1], 1).into(), remove(2)],
    );
    assert!(Delta::new(before, after).is_empty());
}

#[test]
fn a_topic_deleted_and_created_again_moves_its_local_replicas_to_the_new_id() {
    let before = image([topic("a", 1), partition(1, 0, &[1, 2], 1).into()]);
    let after = more(
        &before,
        [remove(1), topic("a", 2), partition(2, 0, &[1, 2], 1).into()],
    );
    let delta = Delta::new(before, after);
    assert_eq!(names(delta.topics_created()), ["a"]);
    assert_eq!(names(delta.topics_deleted()), ["a"]);
    let local = delta.local(NodeId(1));
    assert_eq!(
        local
            .deletes
            .iter()
            .map(|delete| delete.id.topic)
            .collect::<Vec<_>>(),
        [id(1)]
    );
    let elected: Vec<_> = local
        .elected_leaders()
        .map(|leader| leader.id.topic)
        .collect();
    assert_eq!(elected, [id(2)]);
    assert_eq!(delta.local(NodeId(2)).followers.len(), 1);
    assert!(delta.local(NodeId(3)).is_empty());
}

#[test]
fn a_topic_with_an_offline_partition_can_be_deleted() {
    let mut image = image([topic("a", 1), partition(1, 0, &[1], -1).into()]);
    assert_eq!(image.topics().leaderless_count(), 1);
    apply(&mut image, remove(1)).unwrap();
    assert_eq!(image.topics().leaderless_count(), 0);
    assert_eq!(image.topics().index_fault(), None);
}

#[test]
fn names_that_read_alike_collide_while_the_topic_lives() {
    let mut image = image([topic("foo.bar", 1)]);
    let found = |image: &MetadataImage| image.topics().colliding("foo_bar").map(|n| n.to_string());
    assert_eq!(found(&image).as_deref(), Some("foo.bar"));
    assert_eq!(image.topics().colliding("foobar"), None);
    apply(&mut image, remove(1)).unwrap();
    assert_eq!(found(&image), None);
}

#[test]
fn a_snapshot_over_an_older_image_gives_exactly_the_snapshot() {
    let old = image([
        broker(1, 5).into(),
        broker(2, 6).into(),
        topic("gone", 1),
        partition(1, 0, &[1], 1).into(),
        topic("kept", 2),
        partition(2, 0, &[1, 2], 1).into(),
    ]);
    let snapshot = image([
        broker(2, 6).into(),
        topic("kept", 2),
        PartitionRecord {
            leader_epoch: 1,
            partition_epoch: 3,
            ..partition(2, 0, &[2, 3], 2)
        }
        .into(),
    ]);
    let delta = Delta::new(old, snapshot.clone());
    assert_eq!(names(delta.topics_deleted()), ["gone"]);
    let gone: Vec<_> = delta
        .brokers()
        .filter(|change| change.is_removed())
        .collect();
    assert_eq!(
        gone.iter().map(|change| change.key).collect::<Vec<_>>(),
        [NodeId(1)]
    );
    let deletes = delta.local(NodeId(1)).deletes;
    assert_eq!(
        deletes
            .iter()
            .map(|delete| &*delete.topic)
            .collect::<Vec<_>>(),
        ["gone", "kept"]
    );
    assert_eq!(delta.local(NodeId(2)).elected_leaders().count(), 1);
    assert_eq!(*delta.after(), snapshot);
}

/// Images number directories on their own: what looks alike inside may be different.
#[test]
fn images_without_a_common_history_are_compared_by_what_they_say() {
    let placed = |directory: u8| {
        let record = PartitionRecord {
            directories: vec![Uuid([directory; 16])],
            ..partition(1, 0, &[1], 1)
        };
        image([topic("a", 1), record.into()])
    };
    let delta = Delta::new(placed(8), placed(9));
    assert_eq!(delta.partitions().count(), 1);
    let directories = delta.local(NodeId(1)).directories;
    assert_eq!(
        directories,
        [(PartitionId::new(id(1), 0), DirectoryId(Uuid([9; 16])))]
    );
    assert!(!delta.is_empty());
    assert!(Delta::new(placed(8), placed(8)).is_empty());
}

#[test]
fn a_partition_put_anew_with_the_same_epochs_is_a_change() {
    let before = image([topic("a", 1), partition(1, 0, &[1, 2, 3, 4, 5], 1).into()]);
    let after = more(&before, [partition(1, 0, &[1, 2, 3, 4, 6], 1).into()]);
    assert_ne!(before, after);
    let delta = Delta::new(before, after);
    assert_eq!(delta.partitions().count(), 1);
    assert_eq!(delta.local(NodeId(5)).deletes.len(), 1);
    assert_eq!(delta.local(NodeId(6)).followers.len(), 1);
}

#[test]
fn deleting_a_topic_takes_its_configuration_and_its_directories_along() {
    let directory = DirectoryId(Uuid([9; 16]));
    let config = ConfigRecord {
        resource_type: 2,
        resource_name: "a".into(),
        name: "k".into(),
        value: Some("v".into()),
        ..Default::default()
    };
    let empty_isr = PartitionRecord {
        isr: Vec::new(),
        directories: vec![directory.0],
        eligible_leader_replicas: Some(vec![1]),
        ..partition(1, 0, &[1], -1)
    };
    let before = image([
        feature(Features::ELR, 1),
        topic("a", 1),
        empty_isr.into(),
        config.into(),
    ]);
    assert_eq!(
        before.topics().in_directory(NodeId(1), directory).count(),
        1
    );
    assert_eq!(before.configs().topic("a", "k"), Some("v"));
    let after = more(&before, [remove(1), topic("a", 2)]);
    assert_eq!(after.topics().in_directory(NodeId(1), directory).count(), 0);
    assert_eq!(after.configs().topic("a", "k"), None);
    let delta = Delta::new(before, after);
    let changed: Vec<_> = delta
        .configs()
        .map(|change| change.resource().clone())
        .collect();
    assert_eq!(changed, [ConfigResource::topic("a")]);
}

#[test]
fn no_directories_in_a_registration_change_means_no_change() {
    let directories = vec![Uuid([2; 16]), Uuid([1; 16])];
    let registered = RegisterBrokerRecord {
        log_dirs: directories,
        ..broker(1, 5)
    };
    let fence = BrokerRegistrationChangeRecord {
        broker_id: 1,
        broker_epoch: 5,
        fenced: 1,
        ..Default::default()
    };
    let image = image([registered.into(), fence.into()]);
    let broker = image.broker(NodeId(1)).unwrap();
    assert!(broker.fenced);
    assert_eq!(
        broker.directories,
        [DirectoryId(Uuid([1; 16])), DirectoryId(Uuid([2; 16]))]
    );
    assert!(broker.is_online(DirectoryId(Uuid([2; 16]))));
    assert!(!broker.is_online(DirectoryId(Uuid([3; 16]))));
}

#[test]
fn every_partition_change_grows_the_partition_epoch_and_a_set_leader_the_leader_epoch() {
    let mut image = image([topic("a", 1), partition(1, 0, &[1, 2], 1).into()]);
    let epochs = |image: &MetadataImage| {
        let partition = image
            .topics()
            .partition(PartitionId::new(id(1), 0))
            .unwrap();
        (
            partition.leader,
            partition.leader_epoch.0,
            partition.partition_epoch.0,
        )
    };
    apply(&mut image, change(1, 0)).unwrap();
    assert_eq!(epochs(&image), (Some(NodeId(1)), 0, 1));
    let leader = |leader| PartitionChangeRecord {
        leader,
        ..change(1, 0)
    };
    apply(&mut image, leader(1)).unwrap();
    assert_eq!(epochs(&image), (Some(NodeId(1)), 1, 2));
    apply(&mut image, leader(-1)).unwrap();
    assert_eq!(epochs(&image), (None, 2, 3));
}

#[test]
fn clearing_elrs_bumps_only_partitions_that_had_one() {
    let with_elr = PartitionRecord {
        last_known_elr: Some(vec![1]),
        ..partition(1, 0, &[1], 1)
    };
    let mut image = image([
        feature(Features::ELR, 1),
        topic("a", 1),
        with_elr.into(),
        partition(1, 1, &[1], 1).into(),
    ]);
    apply(&mut image, ClearElrRecord::default()).unwrap();
    let topic = image.topics().by_name("a").unwrap();
    let epochs: Vec<_> = topic
        .partitions()
        .map(|(_, p)| p.partition_epoch.0)
        .collect();
    assert_eq!(epochs, [1, 0]);
}

#[test]
fn without_the_feature_no_elr_is_left_in_image_or_snapshot() {
    let with_elr = PartitionRecord {
        eligible_leader_replicas: Some(vec![1]),
        ..partition(1, 0, &[1, 2], 2)
    };
    let on = image([
        feature(MetadataVersion::FEATURE, 29),
        feature(Features::ELR, 1),
        topic("a", 1),
        with_elr.into(),
    ]);
    let elr_of = |records: Vec<VersionedRecord>| {
        records.into_iter().find_map(|record| match record.data {
            MetadataRecord::Partition(record) => Some(record.eligible_leader_replicas),
            _ => None,
        })
    };
    let records = |image: &MetadataImage| {
        SnapshotRecords::new(image.clone())
            .unwrap()
            .flatten()
            .collect::<Vec<_>>()
    };
    assert_eq!(elr_of(records(&on)), Some(Some(vec![1])));
    let off = more(&on, [feature(Features::ELR, 0)]);
    assert_eq!(elr_of(records(&off)), Some(None));
    let reloaded = image(records(&off).into_iter().map(|record| record.data));
    assert_eq!(reloaded, off);
}

#[test]
fn kraft_version_and_zk_migration_leave_no_trace() {
    let image = image([
        feature(Features::KRAFT, 1),
        ZkMigrationStateRecord::default().into(),
        NoOpRecord::default().into(),
    ]);
    assert_eq!(image, MetadataImage::default());
}

#[test]
fn records_that_do_not_fit_are_refused_with_the_reason_and_change_nothing() {
    let base = image([
        broker(1, 5).into(),
        topic("a", 1),
        PartitionRecord {
            directories: vec![Uuid([9; 16]), Uuid([9; 16])],
            ..partition(1, 0, &[1, 2], 1)
        }
        .into(),
    ]);
    let registration = |fenced, in_controlled_shutdown| BrokerRegistrationChangeRecord {
        broker_id: 1,
        broker_epoch: 5,
        fenced,
        in_controlled_shutdown,
        ..Default::default()
    };
    let unnamed = RegisterBrokerRecord {
        end_points: vec![BrokerEndpoint::default()],
        ..broker(1, 7)
    };
    let cases: Vec<(MetadataRecord, &str)> = vec![
        (topic("a", 2), "exists with id"),
        (topic("b", 1), "belongs to \"a\""),
        (remove(2), "there is no topic"),
        (partition(2, 0, &[], -1).into(), "there is no topic"),
        (partition(1, -1, &[], -1).into(), "negative"),
        (change(1, 1).into(), "there is no partition"),
        (change(2, 0).into(), "there is no partition"),
        (
            PartitionChangeRecord {
                replicas: Some(vec![1]),
                ..change(1, 0)
            }
            .into(),
            "1 replicas and 2 directories",
        ),
        (
            PartitionChangeRecord {
                leader_recovery_state: 2,
                ..change(1, 0)
            }
            .into(),
            "LeaderRecoveryState is 2",
        ),
        (unnamed.into(), "without a name"),
        (
            UnregisterBrokerRecord {
                broker_id: 1,
                broker_epoch: 4,
                ..Default::default()
            }
            .into(),
            "registered with epoch 5, the record names 4",
        ),
        (
            FenceBrokerRecord::default().into(),
            "broker 0 is not registered",
        ),
        (registration(2, 0).into(), "Fenced is 2"),
        (registration(0, -1).into(), "InControlledShutdown is -1"),
        (feature(MetadataVersion::FEATURE, 6), "metadata.version 6"),
        (feature(MetadataVersion::FEATURE, 30), "metadata.version 30"),
        (
            RemoveAccessControlEntryRecord::default().into(),
            "no access control entry",
        ),
        (
            RemoveUserScramCredentialRecord::default().into(),
            "no such credential",
        ),
        (
            ClearElrRecord {
                topic_name: "b".into(),
                ..Default::default()
            }
            .into(),
            "there is no topic \"b\"",
        ),
    ];
    for (record, why) in cases {
        let mut image = base.clone();
        let reason = apply(&mut image, record.clone()).unwrap_err().to_string();
        assert!(reason.contains(why), "{record:?}: {reason}");
        assert_eq!(image, base, "{record:?}");
        assert_eq!(image.topics().index_fault(), None);
    }
}

fn batch(base: i64, records: Vec<MetadataRecord>) -> Batch<VersionedRecord> {
    let records = records.into_iter().map(versioned).collect();
    Batch::data(Offset(base), Epoch(1), WallTime(base), records)
}

fn shown(loader: &mut Loader) -> Option<(Vec<String>, i64)> {
    let (image, from) = loader.poll()?;
    Some((names(image.topics().iter()), from.end.offset.0))
}

#[test]
fn a_transaction_is_shown_whole_and_never_in_a_snapshot() {
    let mut loader = Loader::new();
    loader.high_watermark(Offset(0));
    loader
        .commit(&[batch(0, vec![topic("a", 1), begin(), topic("b", 2)])])
        .unwrap();
    assert_eq!(shown(&mut loader), Some((vec!["a".into()], 1)));
    assert!(loader.snapshot().is_none());
    let end = EndTransactionRecord::default().into();
    loader
        .commit(&[batch(3, vec![topic("c", 3), end, topic("d", 4)])])
        .unwrap();
    let all = ["a", "b", "c", "d"].map(String::from).to_vec();
    assert_eq!(shown(&mut loader), Some((all, 6)));
    assert!(loader.snapshot().is_some());
    assert_eq!(shown(&mut loader), None, "nothing new");
}

#[test]
fn an_aborted_transaction_leaves_nothing_however_it_is_cut() {
    let records = || {
        let abort = AbortTransactionRecord::default().into();
        vec![
            topic("a", 1),
            begin(),
            topic("b", 2),
            topic("c", 3),
            abort,
            topic("d", 4),
        ]
    };
    for cut in 1..6 {
        let mut tail = records();
        let head: Vec<_> = tail.drain(..cut).collect();
        let batches = [batch(0, head), batch(cut as i64, tail)];
        let mut together = Loader::new();
        together.high_watermark(Offset(6));
        together.commit(&batches).unwrap();
        let expected = Some((vec!["a".to_owned(), "d".to_owned()], 6));
        assert_eq!(shown(&mut together), expected, "cut at {cut}, one commit");

        let mut apart = Loader::new();
        apart.high_watermark(Offset(6));
        for batch in batches {
            apart.commit(&[batch]).unwrap();
        }
        assert_eq!(shown(&mut apart), expected, "cut at {cut}, two commits");
    }
}

#[test]
fn nothing_is_shown_before_the_high_watermark_is_reached_with_a_record() {
    let mut loader = Loader::new();
    let control = Batch::control(Offset(0), Offset(1), Epoch(1), WallTime(0));
    loader.commit(&[control]).unwrap();
    loader.high_watermark(Offset(1));
    assert_eq!(shown(&mut loader), None, "only control records were seen");
    loader.high_watermark(Offset(3));
    loader.commit(&[batch(1, vec![topic("a", 1)])]).unwrap();
    assert_eq!(shown(&mut loader), None, "the high watermark is ahead");
    loader.commit(&[batch(2, vec![topic("b", 2)])]).unwrap();
    assert_eq!(shown(&mut loader), Some((vec!["a".into(), "b".into()], 3)));
    assert_eq!(loader.shown_end(), Some(Offset(3)));
    loader.high_watermark(Offset(9));
    loader.commit(&[batch(3, vec![topic("c", 3)])]).unwrap();
    assert!(
        shown(&mut loader).is_some(),
        "caught up once is caught up for ever"
    );
}

#[test]
fn a_snapshot_that_holds_something_counts_as_a_record() {
    let loaded = |image: MetadataImage| LoadedSnapshot {
        image,
        id: OffsetAndEpoch::new(10, 2),
        header: SnapshotHeader {
            last_contained: WallTime(77),
            quorum: None,
        },
    };
    let mut loader = Loader::new();
    loader.high_watermark(Offset(10));
    loader.load(loaded(MetadataImage::default()));
    assert!(loader.poll().is_none());
    loader.load(loaded(image([topic("a", 1)])));
    let (_, from) = loader.poll().unwrap();
    let expected = Provenance {
        end: OffsetAndEpoch::new(10, 2),
        at: WallTime(77),
        from_snapshot: true,
    };
    assert_eq!(from, expected);
}

#[test]
fn a_misfit_is_counted_passed_over_and_stops_snapshots() {
    let mut loader = Loader::new();
    loader.high_watermark(Offset(3));
    loader
        .commit(&[batch(0, vec![topic("a", 1), remove(9), topic("b", 2)])])
        .unwrap();
    assert_eq!(shown(&mut loader), Some((vec!["a".into(), "b".into()], 3)));
    let (count, last) = loader.misfits();
    assert_eq!((count, last.map(|misfit| misfit.at)), (1, Some(Offset(1))));
    assert!(loader.snapshot().is_none());
}

/// Remembers which topics each delta created.
#[derive(Default)]
struct Seen {
    created: Vec<Vec<String>>,
    leaders: Vec<Option<NodeId>>,
    busy: bool,
    fails: bool,
}

#[derive(Clone, Default)]
struct Watcher(Arc<Mutex<Seen>>);

impl Publisher for Watcher {
    fn name(&self) -> &str {
        "watcher"
    }

    fn publish(&mut self, delta: &Delta, _: &Provenance) -> Result<(), PublishError> {
        let mut seen = self.0.lock().unwrap();
        if seen.fails {
            return Err("no".into());
        }
        seen.created.push(names(delta.topics_created()));
        Ok(())
    }

    fn leader(&mut self, _: Epoch, leader: Option<NodeId>) {
        self.0.lock().unwrap().leaders.push(leader);
    }

    fn is_ready(&self) -> bool {
        !self.0.lock().unwrap().busy
    }
}

#[test]
fn new_slow_and_failing_publishers_all_get_what_they_lack() {
    let to = Provenance {
        end: OffsetAndEpoch::new(1, 1),
        at: WallTime(0),
        from_snapshot: false,
    };
    let one = image([topic("a", 1)]);
    let two = more(&one, [topic("b", 2), topic("gone", 3)]);
    let three = more(&two, [remove(3), topic("c", 4)]);
    let (steady, slow, failing, late) = (
        Watcher::default(),
        Watcher::default(),
        Watcher::default(),
        Watcher::default(),
    );
    let mut publishers = Publishers::new();
    for watcher in [&failing, &steady, &slow] {
        publishers.add(Box::new(watcher.clone()));
    }
    publishers.leader(Epoch(1), Some(NodeId(1)));
    assert!(publishers.publish(&one, &to).is_empty());

    slow.0.lock().unwrap().busy = true;
    failing.0.lock().unwrap().fails = true;
    let faults = publishers.publish(&two, &to);
    assert_eq!(faults.len(), 1);
    assert_eq!(faults[0].publisher, "watcher");
    publishers.leader(Epoch(2), None);

    slow.0.lock().unwrap().busy = false;
    failing.0.lock().unwrap().fails = false;
    publishers.add(Box::new(late.clone()));
    assert!(publishers.has_new());
    assert!(publishers.publish(&three, &to).is_empty());
    assert!(!publishers.has_new());

    let created = |watcher: &Watcher| {
        watcher
            .0
            .lock()
            .unwrap()
            .created
            .join(&"|".to_owned())
            .join("")
    };
    assert_eq!(created(&steady), "a|bgone|c");
    assert_eq!(created(&slow), "a|bc");
    assert_eq!(created(&failing), "a|bc");
    assert_eq!(created(&late), "abc");
    let leaders = |watcher: &Watcher| watcher.0.lock().unwrap().leaders.clone();
    assert_eq!(leaders(&steady), [Some(NodeId(1)), None]);
    assert_eq!(leaders(&late), [None]);
}

#[test]
fn an_older_metadata_version_says_what_it_would_lose() {
    use quorate_metadata::Loss;
    let image = image([
        feature(MetadataVersion::FEATURE, 29),
        RegisterControllerRecord::default().into(),
        RegisterBrokerRecord {
            log_dirs: vec![Uuid([9; 16])],
            ..broker(1, 1)
        }
        .into(),
        DelegationTokenRecord::default().into(),
        UserScramCredentialRecord::default().into(),
    ]);
    let refused = SnapshotRecords::at_version(&image, MetadataVersion::MINIMUM).unwrap_err();
    let lost = [
        Loss::Controllers,
        Loss::BrokerDirectories,
        Loss::Scram,
        Loss::DelegationTokens,
    ];
    assert_eq!(refused.lost, lost);
    assert!(SnapshotRecords::at_version(&image, MetadataVersion::V3_7_IV2).is_ok());

    let records = SnapshotRecords::at_version_lossy(&image, MetadataVersion::MINIMUM);
    let records: Vec<_> = records.flatten().collect();
    let keys: Vec<_> = records.iter().map(|r| (r.data.key(), r.version)).collect();
    assert_eq!(keys, [(12, 0), (0, 1)]);
    for record in records {
        record.encode_frame().unwrap();
    }
}
