//! What deltas do to replicas, and how followers come into the ISR.

mod memory;
mod wire;

use quorate_metadata::{
    Delta, LeaderRecovery, LocalDelete, LocalReplica, MetadataImage, PartitionId,
};
use quorate_types::{BrokerEpoch, DirectoryId, ErrorCode, LeaderEpoch, NodeId, PartitionEpoch};

use super::*;
use crate::isr::{CommittedIsr, IsrChange};
use crate::testing::{Log, directory_of, partition_id};

const LOCAL: NodeId = NodeId(1);

/// Writes down what it is told.
#[derive(Default)]
struct Notes {
    told: Vec<String>,
    directory: Option<DirectoryId>,
}

impl Notes {
    fn take(&mut self) -> Vec<String> {
        std::mem::take(&mut self.told)
    }
}

fn describe(verb: &str, replica: &LocalReplica) -> String {
    let new = if replica.new_leader_epoch { "!" } else { "" };
    let epoch = replica.partition.leader_epoch;
    format!("{verb} {}-{}@{epoch}{new}", replica.topic, replica.id.index)
}

impl ReplicaHost for Notes {
    fn become_leader(&mut self, replica: &LocalReplica) {
        self.told.push(describe("lead", replica));
    }

    fn become_follower(&mut self, replica: &LocalReplica) {
        self.told.push(describe("follow", replica));
    }

    fn delete(&mut self, replica: &LocalDelete) {
        self.told
            .push(format!("delete {}-{}", replica.topic, replica.id.index));
    }

    fn directory(&self, _partition: PartitionId) -> Option<DirectoryId> {
        self.directory
    }

    fn stop_fetching(&mut self, partition: PartitionId) {
        self.told.push(format!("stop {}", partition.index));
    }
}

/// The replicas of broker 1, fed from a log.
struct Bench {
    log: Log,
    seen: MetadataImage,
    replicas: LocalReplicas,
    notes: Notes,
}

impl Bench {
    /// Brokers 1, 2 and 3, unfenced.
    fn new() -> Bench {
        let mut log = Log::new();
        for id in [1, 2, 3] {
            log.broker(id).unfence(id);
        }
        let mut replicas = LocalReplicas::new(LOCAL);
        replicas.registered(BrokerEpoch(log.epoch(1)));
        Bench {
            log,
            seen: MetadataImage::default(),
            replicas,
            notes: Notes {
                directory: Some(directory_of(1)),
                ..Default::default()
            },
        }
    }

    /// Publishes what was written and gives what the host was told.
    fn publish(&mut self) -> Vec<String> {
        self.publish_with(false);
        self.notes.take()
    }

    fn publish_with(&mut self, shutting_down: bool) -> Vec<Misplaced> {
        let before = std::mem::replace(&mut self.seen, self.log.image.clone());
        let delta = Delta::new(before, self.seen.clone());
        self.replicas.apply(&delta, shutting_down, &mut self.notes)
    }

    fn caught_up(&mut self, follower: i32) {
        let epoch = BrokerEpoch(self.log.epoch(follower));
        let image = self.seen.clone();
        let id = partition_id(1, 0);
        self.replicas.caught_up(id, NodeId(follower), epoch, &image);
    }

    fn resolve(&mut self, result: Result<CommittedIsr, ErrorCode>) {
        let image = self.seen.clone();
        self.replicas
            .isr_resolved(partition_id(1, 0), &result, &image);
    }

    fn wishes(&mut self) -> Vec<Wish> {
        std::iter::from_fn(|| self.replicas.poll()).collect()
    }

    /// The only wish: a change to this ISR.
    fn wished_isr(&mut self) -> Vec<i32> {
        match self.wishes().as_slice() {
            [Wish::Change(_, change)] => change.isr.iter().map(|(id, _)| id.0).collect(),
            other => panic!("expected one change, not {other:?}"),
        }
    }
}

fn committed(partition_epoch: i32, isr: &[i32]) -> CommittedIsr {
    CommittedIsr {
        leader: Some(LOCAL),
        leader_epoch: LeaderEpoch(0),
        isr: isr.iter().copied().map(NodeId).collect(),
        recovery: LeaderRecovery::Recovered,
        partition_epoch: PartitionEpoch(partition_epoch),
    }
}

#[test]
fn deletes_come_before_leaders_and_leaders_before_followers() {
    let mut bench = Bench::new();
    bench.log.topic(1, "old").partition(1, 0, &[1, 2], &[1, 2]);
    assert_eq!(bench.publish(), ["lead old-0@0!"]);
    bench.log.remove_topic(1);
    bench.log.topic(2, "old").partition(2, 0, &[2, 1], &[2, 1]);
    bench.log.topic(3, "new").partition(3, 0, &[1], &[1]);
    bench
        .log
        .topic(4, "elsewhere")
        .partition(4, 0, &[2, 3], &[2, 3]);
    let told = ["delete old-0", "lead new-0@0!", "follow old-0@0!"];
    assert_eq!(bench.publish(), told);
    assert_eq!(bench.replicas.counts(), (1, 1));
}

#[test]
fn a_topic_that_came_and_went_is_never_seen() {
    let mut bench = Bench::new();
    bench
        .log
        .topic(1, "brief")
        .partition(1, 0, &[1], &[1])
        .remove_topic(1);
    assert!(bench.publish().is_empty());
}

#[test]
fn only_a_new_leader_epoch_starts_anew() {
    let mut bench = Bench::new();
    bench
        .log
        .topic(1, "t")
        .partition(1, 0, &[2, 1, 3], &[2, 1, 3]);
    assert_eq!(bench.publish(), ["follow t-0@0!"]);
    bench.log.change_partition(1, 0, &[2, 1], None);
    assert_eq!(bench.publish(), ["follow t-0@0"]);
    bench.log.change_partition(1, 0, &[2, 1], Some(2));
    assert_eq!(
        bench.publish(),
        ["follow t-0@1!"],
        "the same leader, elected again"
    );
    bench.log.change_partition(1, 0, &[1], Some(1));
    assert_eq!(bench.publish(), ["lead t-0@2!"]);
    bench.log.change_partition(1, 0, &[1], Some(-1));
    assert_eq!(bench.publish(), ["follow t-0@3!"], "nobody leads");
    assert!(bench.publish().is_empty(), "nothing new");
}

#[test]
fn in_a_controlled_shutdown_a_follower_out_of_the_isr_stops_for_good() {
    let mut bench = Bench::new();
    bench.log.topic(1, "t").partition(1, 0, &[1, 2], &[1, 2]);
    bench.publish();
    bench.log.change_partition(1, 0, &[2], Some(2));
    bench.publish_with(true);
    assert_eq!(bench.notes.take(), ["follow t-0@1!", "stop 0"]);
}

#[test]
fn a_replica_that_lies_elsewhere_than_the_log_says_is_misplaced() {
    let mut bench = Bench::new();
    bench.notes.directory = Some(directory_of(9));
    bench.log.topic(1, "t").partition(1, 0, &[1], &[1]);
    let misplaced = Misplaced {
        partition: partition_id(1, 0),
        directory: directory_of(9),
    };
    assert_eq!(bench.publish_with(false), [misplaced]);
    bench.log.change_partition(1, 0, &[1], Some(1));
    assert_eq!(bench.publish_with(false), [], "told once");
    bench.notes.directory = Some(directory_of(1));
    bench.log.topic(2, "u").partition(2, 0, &[1], &[1]);
    assert_eq!(bench.publish_with(false), [], "where it should be");
}

#[test]
fn a_state_older_than_the_controllers_answer_is_ignored() {
    let mut bench = Bench::new();
    bench.log.topic(1, "t").partition(1, 0, &[1, 2, 3], &[1, 2]);
    bench.publish();
    bench.caught_up(3);
    assert_eq!(bench.wished_isr(), [1, 2, 3]);
    // The answer overtakes the log by two steps.
    bench.resolve(Ok(committed(2, &[1, 2, 3])));
    bench.log.change_partition(1, 0, &[1, 2, 3], None);
    assert!(bench.publish().is_empty(), "partition epoch 1");
    bench.log.change_partition(1, 0, &[1, 2, 3], None);
    assert_eq!(
        bench.publish(),
        ["lead t-0@0"],
        "partition epoch 2 is equal"
    );
}

#[test]
fn a_follower_in_sync_joins_with_the_epochs_of_all() {
    let mut bench = Bench::new();
    bench.log.topic(1, "t").partition(1, 0, &[1, 2, 3], &[1, 2]);
    bench.publish();
    bench.caught_up(3);
    let epoch_of = |id| Some(BrokerEpoch(bench.log.epoch(id)));
    let change = IsrChange {
        leader_epoch: LeaderEpoch(0),
        partition_epoch: PartitionEpoch(0),
        isr: vec![
            (LOCAL, epoch_of(1)),
            (NodeId(2), None),
            (NodeId(3), epoch_of(3)),
        ],
        recovery: LeaderRecovery::Recovered,
    };
    assert_eq!(bench.wishes(), [Wish::Change(partition_id(1, 0), change)]);
    bench.caught_up(3);
    assert_eq!(bench.wishes(), [], "one change is under way");
    bench.resolve(Ok(committed(1, &[1, 2, 3])));
    assert_eq!(bench.wishes(), [], "nobody is missing");
}

#[test]
fn who_is_fenced_shutting_down_or_restarted_does_not_join() {
    type Case = (&'static str, fn(&mut Log));
    let changes: [Case; 3] = [
        ("fenced", |log| {
            log.change(3, 1, 0);
        }),
        ("shutting down", |log| {
            log.change(3, 0, 1);
        }),
        ("restarted", |log| {
            log.broker(3).unfence(3);
        }),
    ];
    for (case, change) in changes {
        let mut bench = Bench::new();
        bench.log.topic(1, "t").partition(1, 0, &[1, 2, 3], &[1, 2]);
        let before = BrokerEpoch(bench.log.epoch(3));
        change(&mut bench.log);
        bench.publish();
        let image = bench.seen.clone();
        bench
            .replicas
            .caught_up(partition_id(1, 0), NodeId(3), before, &image);
        assert_eq!(bench.wishes(), [], "{case}");
    }
}

#[test]
fn a_follower_that_is_unfenced_later_joins_then() {
    let mut bench = Bench::new();
    bench.log.change(3, 1, 0);
    bench.log.topic(1, "t").partition(1, 0, &[1, 2, 3], &[1, 2]);
    bench.publish();
    bench.caught_up(3);
    assert_eq!(bench.wishes(), []);
    bench.log.unfence(3);
    bench.publish();
    assert_eq!(bench.wished_isr(), [1, 2, 3]);
}

#[test]
fn a_follower_that_fell_behind_leaves_and_may_come_back() {
    let mut bench = Bench::new();
    bench
        .log
        .topic(1, "t")
        .partition(1, 0, &[1, 2, 3], &[1, 2, 3]);
    bench.publish();
    let image = bench.seen.clone();
    let id = partition_id(1, 0);
    bench.replicas.fell_behind(id, NodeId(2), &image);
    assert_eq!(bench.wished_isr(), [1, 3]);
    bench.resolve(Ok(committed(1, &[1, 3])));
    bench.caught_up(2);
    assert_eq!(bench.wished_isr(), [1, 3, 2]);
}

#[test]
fn a_refusal_is_not_repeated_before_something_new_is_heard() {
    let mut bench = Bench::new();
    bench.log.topic(1, "t").partition(1, 0, &[1, 2, 3], &[1, 2]);
    bench.publish();
    bench.caught_up(3);
    bench.wishes();
    bench.resolve(Err(ErrorCode::IneligibleReplica));
    assert_eq!(bench.wishes(), []);
    bench.caught_up(3);
    assert_eq!(bench.wished_isr(), [1, 2, 3], "reverted, so free to try");
}

#[test]
fn when_the_controller_knows_more_nothing_is_proposed_until_the_image_does_too() {
    let mut bench = Bench::new();
    bench.log.topic(1, "t").partition(1, 0, &[1, 2, 3], &[1, 2]);
    bench.publish();
    bench.caught_up(3);
    bench.wishes();
    bench.resolve(Err(ErrorCode::InvalidUpdateVersion));
    bench.caught_up(3);
    assert_eq!(bench.wishes(), []);
    bench.log.change_partition(1, 0, &[1], None);
    bench.publish();
    let withdrawn = Wish::Withdraw(partition_id(1, 0));
    match bench.wishes().as_slice() {
        [first, Wish::Change(_, change)] => {
            assert_eq!(*first, withdrawn);
            assert_eq!(change.partition_epoch, PartitionEpoch(1));
        }
        other => panic!("expected a new proposal, not {other:?}"),
    }
}

#[test]
fn answers_of_another_time_are_ignored() {
    let mut bench = Bench::new();
    bench
        .log
        .topic(1, "t")
        .partition_with(1, 0, &[1, 2, 3], &[1, 2], |partition| {
            partition.partition_epoch = 7;
        });
    bench.publish();
    bench.caught_up(3);
    bench.wishes();
    let other_epoch = CommittedIsr {
        leader_epoch: LeaderEpoch(9),
        ..committed(8, &[1])
    };
    for stale in [other_epoch, committed(6, &[1])] {
        bench.resolve(Ok(stale));
        bench.caught_up(3);
        assert_eq!(bench.wishes(), [], "the change is still under way");
    }
    bench.resolve(Ok(committed(7, &[1, 2])));
    assert_eq!(
        bench.wished_isr(),
        [1, 2, 3],
        "an equal epoch: nothing was changed"
    );
}

#[test]
fn losing_the_leadership_withdraws_the_change() {
    let mut bench = Bench::new();
    bench.log.topic(1, "t").partition(1, 0, &[1, 2, 3], &[1, 2]);
    bench.publish();
    bench.caught_up(3);
    bench.wishes();
    bench.log.change_partition(1, 0, &[2], Some(2));
    bench.publish();
    assert_eq!(bench.wishes(), [Wish::Withdraw(partition_id(1, 0))]);
}

#[test]
fn a_leader_tells_followers_who_is_behind() {
    let mut bench = Bench::new();
    bench
        .log
        .topic(1, "t")
        .partition_with(1, 0, &[1, 2], &[1, 2], |partition| {
            partition.leader_epoch = 5;
        });
    bench.log.topic(2, "u").partition(2, 0, &[2, 1], &[2, 1]);
    bench.publish();
    let check = |id, follower, epoch| {
        bench
            .replicas
            .check_leader(id, NodeId(follower), LeaderEpoch(epoch))
    };
    let t = partition_id(1, 0);
    assert_eq!(check(t, 2, 5), Ok(()));
    assert_eq!(check(t, 2, 4), Err(ErrorCode::FencedLeaderEpoch));
    assert_eq!(check(t, 2, 6), Err(ErrorCode::UnknownLeaderEpoch));
    assert_eq!(
        check(t, 3, 5),
        Err(ErrorCode::UnknownLeaderEpoch),
        "no replica yet"
    );
    assert_eq!(
        check(partition_id(2, 0), 2, 0),
        Err(ErrorCode::NotLeaderOrFollower)
    );
    assert_eq!(
        check(partition_id(9, 0), 2, 0),
        Err(ErrorCode::UnknownTopicId)
    );
}
