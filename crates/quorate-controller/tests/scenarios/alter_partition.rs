//! AlterPartition and AssignReplicasToDirs (R47, R53, R35).

use quorate_metadata::LeaderRecovery;
use quorate_protocol::messages::alter_partition::{
    AlterPartitionRequest, AlterPartitionResponse, BrokerState, RequestPartitionData,
    RequestTopicData, ResponsePartitionData,
};
use quorate_protocol::messages::assign_replicas_to_dirs::{
    self as dirs, AssignReplicasToDirsRequest, AssignReplicasToDirsResponse,
};
use quorate_types::{DirectoryId, ErrorCode, TopicId, Uuid};

use crate::cluster::{Case, Cluster, directory, ids, uuid};

/// What the leader of partition 0 of the topic proposes: its ISR, each with its current epoch.
pub fn proposal(cluster: &Cluster, topic: &str, isr: &[i32]) -> RequestPartitionData {
    let partition = cluster.partition(topic, 0);
    let member = |id: &i32| BrokerState {
        broker_id: *id,
        broker_epoch: cluster.epoch(*id),
        ..Default::default()
    };
    RequestPartitionData {
        partition_index: 0,
        leader_epoch: partition.leader_epoch.0,
        new_isr: isr.to_vec(),
        new_isr_with_epochs: isr.iter().map(member).collect(),
        leader_recovery_state: partition.leader_recovery.to_wire(),
        partition_epoch: partition.partition_epoch.0,
        ..Default::default()
    }
}

/// Sends a proposal of the broker.
pub fn propose(
    cluster: &mut Cluster,
    sender: i32,
    topic: TopicId,
    proposal: RequestPartitionData,
) -> ResponsePartitionData {
    let request = AlterPartitionRequest {
        broker_id: sender,
        broker_epoch: cluster.epoch(sender),
        topics: vec![RequestTopicData {
            topic_id: topic.0,
            partitions: vec![proposal],
            ..Default::default()
        }],
        ..Default::default()
    };
    let answer: AlterPartitionResponse = cluster.ask(request);
    assert_eq!(answer.error_code, ErrorCode::None);
    answer.topics[0].partitions[0].clone()
}

/// The ISR of partition 0 becomes this one.
pub fn set_isr(cluster: &mut Cluster, topic: &str, isr: &[i32]) -> ErrorCode {
    let id = cluster
        .image()
        .topics()
        .by_name(topic)
        .expect("the topic exists")
        .id();
    let leader = cluster.partition(topic, 0).leader.expect("a leader").0;
    let proposal = proposal(cluster, topic, isr);
    propose(cluster, leader, id, proposal).error_code
}

/// The broker says that its replica lies in that directory.
pub fn assign(
    cluster: &mut Cluster,
    broker: i32,
    directory: Uuid,
    topic: TopicId,
    partition: i32,
) -> ErrorCode {
    let request = AssignReplicasToDirsRequest {
        broker_id: broker,
        broker_epoch: cluster.epoch(broker),
        directories: vec![dirs::RequestDirectoryData {
            id: directory,
            topics: vec![dirs::RequestTopicData {
                topic_id: topic.0,
                partitions: vec![dirs::RequestPartitionData {
                    partition_index: partition,
                    ..Default::default()
                }],
                ..Default::default()
            }],
            ..Default::default()
        }],
        ..Default::default()
    };
    let answer: AssignReplicasToDirsResponse = cluster.ask(request);
    if !answer.error_code.is_none() {
        return answer.error_code;
    }
    answer.directories[0].topics[0].partitions[0].error_code
}

#[test]
fn a_leader_shrinks_and_grows_its_isr() {
    let mut cluster = Cluster::of(3);
    let topic = cluster.create("t", &[&[1, 2, 3]]);
    let shrink = proposal(&cluster, "t", &[1, 2]);
    let answer = propose(&mut cluster, 1, topic, shrink);
    assert_eq!(answer.error_code, ErrorCode::None);
    assert_eq!(
        (
            answer.leader_id,
            answer.leader_epoch,
            answer.partition_epoch
        ),
        (1, 0, 1)
    );
    assert_eq!(answer.isr, [1, 2]);
    assert_eq!(set_isr(&mut cluster, "t", &[1, 2, 3]), ErrorCode::None);
    assert_eq!(cluster.show("t"), "1 [1,2,3]");
    // No change is no record, and the state as it is.
    let same = proposal(&cluster, "t", &[1, 2, 3]);
    let names = cluster.names(|cluster| {
        let answer = propose(cluster, 1, topic, same);
        assert_eq!(
            (answer.error_code, answer.partition_epoch),
            (ErrorCode::None, 2)
        );
    });
    assert!(names.is_empty());
}

#[test]
fn before_version_12_a_shrinking_isr_raises_the_leader_epoch() {
    for (version, epoch) in [(11, 1), (12, 0)] {
        let mut cluster = Cluster::at(version);
        cluster.start(2);
        cluster.create("t", &[&[1, 2]]);
        assert_eq!(set_isr(&mut cluster, "t", &[1]), ErrorCode::None);
        assert_eq!(
            cluster.partition("t", 0).leader_epoch.0,
            epoch,
            "at {version}"
        );
        assert_eq!(set_isr(&mut cluster, "t", &[1, 2]), ErrorCode::None);
        assert_eq!(
            cluster.partition("t", 0).leader_epoch.0,
            epoch,
            "at {version}"
        );
    }
}

#[test]
fn version_2_names_no_epochs() {
    let mut cluster = Cluster::of(2);
    let topic = cluster.create("t", &[&[1, 2]]);
    cluster.speaking(2, |cluster| {
        let mut shrink = proposal(cluster, "t", &[1]);
        shrink.new_isr_with_epochs.clear();
        assert_eq!(
            propose(cluster, 1, topic, shrink).error_code,
            ErrorCode::None
        );
    });
    assert_eq!(cluster.show("t"), "1 [1]");
}

#[test]
fn proposals_are_refused_by_the_first_thing_wrong_with_them() {
    let mut cluster = Cluster::of(4);
    let topic = cluster.create("t", &[&[1, 2, 3]]);
    cluster.fence(3);
    cluster.create("of-4", &[&[4, 1]]);
    assert!(!cluster.shut_down(4));
    let wide = cluster.create("wide", &[&[1, 2]]);
    let _ = wide;
    let good = proposal(&cluster, "t", &[1, 2]);
    let cases: Vec<Case<RequestPartitionData>> = vec![
        (ErrorCode::UnknownTopicOrPartition, |p| {
            p.partition_index = 1
        }),
        (ErrorCode::NotController, |p| p.leader_epoch += 1),
        (ErrorCode::NotController, |p| p.partition_epoch += 1),
        (ErrorCode::FencedLeaderEpoch, |p| p.leader_epoch -= 1),
        (ErrorCode::InvalidUpdateVersion, |p| p.partition_epoch -= 1),
        (ErrorCode::InvalidRequest, |p| {
            p.new_isr_with_epochs.truncate(0)
        }),
        (ErrorCode::InvalidRequest, |p| {
            p.new_isr_with_epochs[0].broker_id = 2
        }),
        (ErrorCode::InvalidRequest, |p| {
            p.new_isr_with_epochs[1].broker_id = 4
        }),
        (ErrorCode::InvalidRequest, |p| {
            drop(p.new_isr_with_epochs.remove(0))
        }),
        (ErrorCode::InvalidRequest, |p| p.leader_recovery_state = 1),
        (ErrorCode::InvalidRequest, |p| p.leader_recovery_state = 2),
        (ErrorCode::InvalidRequest, |p| p.leader_recovery_state = -1),
        (ErrorCode::IneligibleReplica, |p| {
            p.new_isr_with_epochs[1].broker_id = 3
        }),
        (ErrorCode::IneligibleReplica, |p| {
            p.new_isr_with_epochs[1].broker_epoch -= 1
        }),
    ];
    for (at, (expected, change)) in cases.into_iter().enumerate() {
        let mut bad = good.clone();
        change(&mut bad);
        let end = cluster.solo.end();
        assert_eq!(
            propose(&mut cluster, 1, topic, bad).error_code,
            expected,
            "case {at}"
        );
        assert_eq!(cluster.solo.end(), end, "case {at}");
    }
    assert_eq!(
        propose(&mut cluster, 2, topic, good.clone()).error_code,
        ErrorCode::InvalidRequest
    );
    for unknown in [TopicId(uuid(9, 9)), TopicId(Uuid::ZERO)] {
        let answer = propose(&mut cluster, 1, unknown, good.clone());
        assert_eq!(answer.error_code, ErrorCode::UnknownTopicId);
    }
    let stale: AlterPartitionResponse = cluster.ask(AlterPartitionRequest {
        broker_id: 1,
        broker_epoch: cluster.epoch(1) - 1,
        ..Default::default()
    });
    assert_eq!(stale.error_code, ErrorCode::StaleBrokerEpoch);
}

#[test]
fn one_ineligible_replica_leaves_the_other_partitions_alone() {
    let mut cluster = Cluster::of(3);
    let bad = cluster.create("bad", &[&[1, 2, 3]]);
    let good = cluster.create("good", &[&[1, 2, 3]]);
    cluster.fence(3);
    let topic = |id: TopicId, proposal| RequestTopicData {
        topic_id: id.0,
        partitions: vec![proposal],
        ..Default::default()
    };
    let request = AlterPartitionRequest {
        broker_id: 1,
        broker_epoch: cluster.epoch(1),
        topics: vec![
            topic(bad, proposal(&cluster, "bad", &[1, 2, 3])),
            topic(good, proposal(&cluster, "good", &[1])),
        ],
        ..Default::default()
    };
    let answer: AlterPartitionResponse = cluster.ask(request);
    let codes: Vec<_> = answer
        .topics
        .iter()
        .map(|t| t.partitions[0].error_code)
        .collect();
    assert_eq!(codes, [ErrorCode::IneligibleReplica, ErrorCode::None]);
    assert_eq!(
        (cluster.show("bad"), cluster.show("good")),
        ("1 [1,2]".into(), "1 [1]".into())
    );
}

#[test]
fn a_leader_that_has_recovered_says_so() {
    let mut cluster = Cluster::without_elr(2);
    cluster.create_with(
        "t",
        &[&[1, 2]],
        &[("unclean.leader.election.enable", "true")],
    );
    cluster.fence(2);
    cluster.fence(1);
    cluster.unfence(2);
    assert_eq!(cluster.show("t"), "2! [2]");
    cluster.unfence(1);
    assert_eq!(
        set_isr(&mut cluster, "t", &[1, 2]),
        ErrorCode::InvalidRequest
    );
    let topic = cluster.image().topics().by_name("t").expect("there").id();
    let mut recovered = proposal(&cluster, "t", &[1, 2]);
    recovered.leader_recovery_state = LeaderRecovery::Recovered.to_wire();
    let answer = propose(&mut cluster, 2, topic, recovered);
    assert_eq!(
        (answer.error_code, answer.leader_recovery_state),
        (ErrorCode::None, 0)
    );
    assert_eq!(cluster.show("t"), "2 [1,2]");
}

#[test]
fn assigning_a_directory_changes_directories_only() {
    let mut cluster = Cluster::new();
    let mut request = cluster.registration(1);
    request.log_dirs.push(uuid(0x0d, 101));
    cluster.send_registration(&request);
    cluster.unfence(1);
    cluster.register(2);
    cluster.unfence(2);
    let topic = cluster.create_with("t", &[&[1, 2]], &[("min.insync.replicas", "2")]);
    cluster.fence(2);
    assert_eq!(cluster.show("t"), "1 [1] elr [2]");
    let before = cluster.partition("t", 0);
    let names = cluster.names(|cluster| {
        assert_eq!(
            assign(cluster, 1, uuid(0x0d, 101), topic, 0),
            ErrorCode::None
        );
    });
    assert_eq!(names, ["PartitionChangeRecord"]);
    let after = cluster.partition("t", 0);
    assert_eq!(
        after.directories,
        [DirectoryId(uuid(0x0d, 101)), DirectoryId(directory(2))]
    );
    assert_eq!((after.isr, after.elr), (before.isr, before.elr));
    assert_eq!(after.leader_epoch, before.leader_epoch);
    // The same again is nothing.
    let names = cluster.names(|cluster| {
        assert_eq!(
            assign(cluster, 1, uuid(0x0d, 101), topic, 0),
            ErrorCode::None
        );
    });
    assert!(names.is_empty());
}

#[test]
fn a_replica_in_a_directory_that_is_not_online_leaves_the_isr() {
    let mut cluster = Cluster::of(2);
    let topic = cluster.create("t", &[&[1, 2]]);
    let names = cluster.names(|cluster| {
        assert_eq!(
            assign(cluster, 1, uuid(0x0d, 101), topic, 0),
            ErrorCode::None
        );
    });
    assert_eq!(names, ["PartitionChangeRecord", "PartitionChangeRecord"]);
    assert_eq!(cluster.show("t"), "2 [2]");
    assert_eq!(cluster.partition("t", 0).replicas, ids(&[1, 2]));
}

#[test]
fn directories_are_assigned_by_item() {
    let mut cluster = Cluster::of(3);
    let topic = cluster.create("t", &[&[1, 2]]);
    let cluster = &mut cluster;
    let own = directory(1);
    assert_eq!(
        assign(cluster, 1, own, TopicId(uuid(9, 9)), 0),
        ErrorCode::UnknownTopicId
    );
    assert_eq!(
        assign(cluster, 1, own, topic, 1),
        ErrorCode::UnknownTopicOrPartition
    );
    assert_eq!(
        assign(cluster, 3, directory(3), topic, 0),
        ErrorCode::NotLeaderOrFollower
    );
    assert_eq!(
        assign(cluster, 9, own, topic, 0),
        ErrorCode::StaleBrokerEpoch
    );
    let mut old = Cluster::at(16);
    old.start(1);
    let topic = old.create("t", &[&[1]]);
    assert_eq!(
        assign(&mut old, 1, own, topic, 0),
        ErrorCode::UnsupportedVersion
    );
}
