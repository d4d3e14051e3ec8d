//! Images and deltas where it is easy to get them wrong, one case a test.

mod common;

use common::*;
use quorate_metadata::{
    ConfigResource, Delta, Features, MetadataImage, MetadataVersion, PartitionId, SnapshotRecords,
};
use quorate_protocol::records::*;
use quorate_types::{DirectoryId, NodeId, Uuid};

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
