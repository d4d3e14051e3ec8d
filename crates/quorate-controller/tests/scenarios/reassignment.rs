//! Replicas move (R52, R53).

use quorate_controller::list_reassignments;
use quorate_protocol::messages::alter_partition_reassignments::{
    AlterPartitionReassignmentsRequest, ReassignablePartition, ReassignableTopic,
};
use quorate_protocol::messages::list_partition_reassignments::ListPartitionReassignmentsTopics;
use quorate_protocol::messages::{
    AlterPartitionReassignmentsResponse, ListPartitionReassignmentsRequest,
};
use quorate_types::{DirectoryId, ErrorCode};

use crate::alter_partition::set_isr;
use crate::cluster::{Cluster, directory, ids};

/// Partition 0 of the topic moves to these replicas, or back.
fn reassign(cluster: &mut Cluster, topic: &str, replicas: Option<&[i32]>) -> ErrorCode {
    reassign_sized(cluster, topic, replicas, true)
}

fn reassign_sized(
    cluster: &mut Cluster,
    topic: &str,
    replicas: Option<&[i32]>,
    allow_replication_factor_change: bool,
) -> ErrorCode {
    let partition = ReassignablePartition {
        replicas: replicas.map(<[i32]>::to_vec),
        ..Default::default()
    };
    let topic = ReassignableTopic {
        name: topic.into(),
        partitions: vec![partition],
        ..Default::default()
    };
    let answer: AlterPartitionReassignmentsResponse =
        cluster.ask(AlterPartitionReassignmentsRequest {
            allow_replication_factor_change,
            topics: vec![topic],
            ..Default::default()
        });
    assert_eq!(answer.error_code, ErrorCode::None);
    answer.responses[0].partitions[0].error_code
}

/// Replicas, adding, removing.
fn replicas(cluster: &Cluster) -> (Vec<i32>, Vec<i32>, Vec<i32>) {
    let partition = cluster.partition("t", 0);
    let wire = |nodes: Vec<quorate_types::NodeId>| nodes.iter().map(|node| node.0).collect();
    (
        wire(partition.replicas),
        wire(partition.adding),
        wire(partition.removing),
    )
}

fn moved(replicas_to: &[i32], adding: &[i32], removing: &[i32]) -> (Vec<i32>, Vec<i32>, Vec<i32>) {
    (replicas_to.to_vec(), adding.to_vec(), removing.to_vec())
}

#[test]
fn a_reassignment_is_done_once_all_targets_are_in_sync() {
    let mut cluster = Cluster::of(4);
    cluster.create("t", &[&[1, 2]]);
    assert_eq!(reassign(&mut cluster, "t", Some(&[4, 3])), ErrorCode::None);
    assert_eq!(replicas(&cluster), moved(&[4, 3, 1, 2], &[3, 4], &[1, 2]));
    assert_eq!(
        cluster.partition("t", 0).directories,
        [4, 3, 1, 2].map(|id| DirectoryId(directory(id)))
    );
    assert_eq!(set_isr(&mut cluster, "t", &[1, 2, 3]), ErrorCode::None);
    assert_eq!(replicas(&cluster), moved(&[4, 3, 1, 2], &[3, 4], &[1, 2]));
    // The last one in moves the leader, which the old one is told.
    assert_eq!(
        set_isr(&mut cluster, "t", &[1, 2, 3, 4]),
        ErrorCode::NewLeaderElected
    );
    assert_eq!(replicas(&cluster), moved(&[4, 3], &[], &[]));
    assert_eq!(cluster.show("t"), "4 [3,4]");
}

#[test]
fn growing_and_shrinking_are_reassignments_too() {
    let mut cluster = Cluster::of(3);
    cluster.create("t", &[&[1, 2]]);
    assert_eq!(
        reassign(&mut cluster, "t", Some(&[1, 2, 3])),
        ErrorCode::None
    );
    assert_eq!(replicas(&cluster), moved(&[1, 2, 3], &[3], &[]));
    assert_eq!(set_isr(&mut cluster, "t", &[1, 2, 3]), ErrorCode::None);
    assert_eq!(replicas(&cluster), moved(&[1, 2, 3], &[], &[]));
    // Who stays is in sync already: done at once, and the epoch shuts out who goes.
    let epoch = cluster.partition("t", 0).leader_epoch;
    assert_eq!(reassign(&mut cluster, "t", Some(&[1])), ErrorCode::None);
    assert_eq!(replicas(&cluster), moved(&[1], &[], &[]));
    assert_eq!(cluster.show("t"), "1 [1]");
    assert_eq!(cluster.partition("t", 0).leader_epoch.0, epoch.0 + 1);
}

#[test]
fn a_new_target_replaces_the_one_under_way() {
    let mut cluster = Cluster::of(4);
    cluster.create("t", &[&[1, 2]]);
    let steps: [(&[i32], _); 4] = [
        (&[1, 3], moved(&[1, 3, 2], &[3], &[2])),
        // What was on its way in goes again, what was on its way out stays.
        (&[1, 2, 4], moved(&[1, 2, 4, 3], &[4], &[3])),
        // Both again: 3 and 4 are still on their way in, nothing on its way out.
        (&[1, 2, 3, 4], moved(&[1, 2, 3, 4], &[4], &[])),
        (&[1, 2], moved(&[1, 2], &[], &[])),
    ];
    for (at, (target, expected)) in steps.into_iter().enumerate() {
        assert_eq!(reassign(&mut cluster, "t", Some(target)), ErrorCode::None);
        assert_eq!(replicas(&cluster), expected, "step {at}");
    }
}

#[test]
fn a_cancelled_reassignment_goes_back() {
    let mut cluster = Cluster::of(4);
    cluster.create("t", &[&[1, 2]]);
    assert_eq!(
        reassign(&mut cluster, "t", None),
        ErrorCode::NoReassignmentInProgress
    );
    assert_eq!(reassign(&mut cluster, "t", Some(&[3, 4])), ErrorCode::None);
    assert_eq!(set_isr(&mut cluster, "t", &[1, 2, 3]), ErrorCode::None);
    assert_eq!(reassign(&mut cluster, "t", None), ErrorCode::None);
    assert_eq!(replicas(&cluster), moved(&[1, 2], &[], &[]));
    assert_eq!(cluster.show("t"), "1 [1,2]");
}

#[test]
fn a_cancel_that_leaves_nobody_in_sync_needs_unclean_elections() {
    let mut cluster = Cluster::without_elr(3);
    cluster.create("t", &[&[1]]);
    assert_eq!(reassign(&mut cluster, "t", Some(&[2, 3])), ErrorCode::None);
    assert_eq!(set_isr(&mut cluster, "t", &[1, 2]), ErrorCode::None);
    cluster.fence(1);
    assert_eq!(cluster.show("t"), "2 [2]");
    assert_eq!(
        reassign(&mut cluster, "t", None),
        ErrorCode::InvalidReplicaAssignment
    );
    assert_eq!(replicas(&cluster), moved(&[2, 3, 1], &[2, 3], &[1]));
    cluster.set("t", "unclean.leader.election.enable", "true");
    assert_eq!(reassign(&mut cluster, "t", None), ErrorCode::None);
    assert_eq!(replicas(&cluster), moved(&[1], &[], &[]));
    assert_eq!(cluster.show("t"), "- [1]");
}

#[test]
fn targets_are_checked_by_item() {
    let mut cluster = Cluster::of(3);
    cluster.create("t", &[&[1, 2]]);
    let bad = ErrorCode::InvalidReplicaAssignment;
    for target in [&[][..], &[9], &[1, 1]] {
        assert_eq!(reassign(&mut cluster, "t", Some(target)), bad, "{target:?}");
    }
    let unknown = ErrorCode::UnknownTopicOrPartition;
    assert_eq!(reassign(&mut cluster, "u", Some(&[1])), unknown);
    let resized = ErrorCode::InvalidReplicationFactor;
    assert_eq!(
        reassign_sized(&mut cluster, "t", Some(&[1]), false),
        resized
    );
    assert_eq!(
        reassign_sized(&mut cluster, "t", Some(&[1, 3]), false),
        ErrorCode::None
    );
    // Three replicas for now, but the factor is still two.
    assert_eq!(
        reassign_sized(&mut cluster, "t", Some(&[1, 2, 3]), false),
        resized
    );
    assert_eq!(
        reassign_sized(&mut cluster, "t", Some(&[3, 2]), false),
        ErrorCode::None
    );
}

#[test]
fn who_has_moved_away_is_not_eligible_any_more() {
    let mut cluster = Cluster::of(3);
    cluster.create_with("t", &[&[1, 2]], &[("min.insync.replicas", "2")]);
    assert_eq!(reassign(&mut cluster, "t", Some(&[3])), ErrorCode::None);
    assert_eq!(
        set_isr(&mut cluster, "t", &[1, 2, 3]),
        ErrorCode::NewLeaderElected
    );
    assert_eq!(cluster.show("t"), "3 [3]");
    let partition = cluster.partition("t", 0);
    assert_eq!((partition.replicas, partition.elr), (ids(&[3]), Vec::new()));
}

#[test]
fn reassignments_under_way_are_listed() {
    let mut cluster = Cluster::of(3);
    cluster.create("t", &[&[1, 2]]);
    cluster.create("u", &[&[1, 2]]);
    let list = |cluster: &Cluster, topics: Option<&[&str]>| -> Vec<(String, Vec<i32>)> {
        let named = |name: &&str| ListPartitionReassignmentsTopics {
            name: (*name).into(),
            partition_indexes: vec![0, 1],
            ..Default::default()
        };
        let topics = topics.map(|topics| topics.iter().map(named).collect());
        let request = ListPartitionReassignmentsRequest {
            topics,
            ..Default::default()
        };
        let answer = list_reassignments(cluster.image(), &request);
        let topics = answer.topics.into_iter();
        topics
            .map(|topic| (topic.name, topic.partitions[0].adding_replicas.clone()))
            .collect()
    };
    assert_eq!(list(&cluster, None), []);
    assert_eq!(reassign(&mut cluster, "t", Some(&[3, 2])), ErrorCode::None);
    assert_eq!(list(&cluster, None), [("t".to_string(), vec![3])]);
    assert_eq!(
        list(&cluster, Some(&["u", "t", "v"])),
        [("t".to_string(), vec![3])]
    );
    assert_eq!(list(&cluster, Some(&["u"])), []);
}
