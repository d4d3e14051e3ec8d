//! A follower without data, and how it makes itself heard.

use quorate_metadata::{Delta, PartitionId};
use quorate_types::{BrokerEpoch, ErrorCode, LeaderEpoch, MonoTime, NodeId};

use super::{Bench, LOCAL};
use crate::call::{CallFailure, CallId};
use crate::replicas::{FollowAnswer, FollowRequest, MemoryOutput, MemoryReplicas};
use crate::testing::{directory_of, partition_id};

fn at(millis: u64) -> MonoTime {
    MonoTime(millis * 1000)
}

/// Broker 1's memory, following broker 2.
struct Follower {
    bench: Bench,
    memory: MemoryReplicas,
}

impl Follower {
    fn new() -> Follower {
        let mut memory = MemoryReplicas::new(LOCAL, directory_of(1));
        memory.registered(BrokerEpoch(40));
        Follower {
            bench: Bench::new(),
            memory,
        }
    }

    fn publish(&mut self, millis: u64) {
        let before = std::mem::replace(&mut self.bench.seen, self.bench.log.image.clone());
        let delta = Delta::new(before, self.bench.seen.clone());
        self.bench.replicas.apply(&delta, false, &mut self.memory);
        self.memory.tick(at(millis));
    }

    fn said(&mut self) -> Option<(CallId, FollowRequest)> {
        match self.memory.poll()? {
            MemoryOutput::Follow {
                call,
                leader,
                request,
            } => {
                assert_eq!(leader, NodeId(2));
                Some((call, request))
            }
        }
    }

    fn answer(&mut self, millis: u64, call: CallId, error: ErrorCode, ids: &[PartitionId]) {
        let answer = FollowAnswer {
            partitions: ids.iter().map(|id| (*id, error)).collect(),
        };
        self.memory
            .answered(at(millis), NodeId(2), call, Ok(answer));
        self.memory.tick(at(millis));
    }
}

#[test]
fn a_follower_in_the_isr_that_was_heard_rests() {
    let mut follower = Follower::new();
    follower
        .bench
        .log
        .topic(1, "t")
        .partition(1, 0, &[2, 1], &[2, 1]);
    follower.publish(0);
    let id = partition_id(1, 0);
    let (call, request) = follower.said().expect("said at once");
    assert_eq!(request.follower_epoch, BrokerEpoch(40));
    assert_eq!(request.partitions, [(id, LeaderEpoch(0))]);
    follower.answer(5, call, ErrorCode::None, &[id]);
    assert_eq!((follower.said(), follower.memory.deadline()), (None, None));
    follower.bench.log.change_partition(1, 0, &[2, 1], Some(2));
    follower.publish(10);
    let (_, request) = follower.said().expect("a new leader epoch");
    assert_eq!(request.partitions, [(id, LeaderEpoch(1))]);
}

#[test]
fn a_follower_out_of_the_isr_comes_again_every_second() {
    let mut follower = Follower::new();
    follower
        .bench
        .log
        .topic(1, "t")
        .partition(1, 0, &[2, 1], &[2]);
    follower.publish(0);
    let id = partition_id(1, 0);
    for second in 0..4 {
        let now = second * 1000;
        follower.memory.tick(at(now));
        let (call, _) = follower.said().expect("said");
        follower.answer(now, call, ErrorCode::None, &[id]);
        assert_eq!(follower.memory.deadline(), Some(at(now + 1000)));
    }
    follower.bench.log.change_partition(1, 0, &[2, 1], None);
    follower.publish(3500);
    follower.memory.tick(at(4000));
    assert_eq!((follower.said(), follower.memory.deadline()), (None, None));
}

#[test]
fn a_leader_that_does_not_know_yet_is_asked_again_with_back_off() {
    let mut follower = Follower::new();
    follower
        .bench
        .log
        .topic(1, "t")
        .partition(1, 0, &[2, 1], &[2, 1]);
    follower.publish(0);
    let id = partition_id(1, 0);
    let mut now = 0;
    for wait in [50, 100, 200, 400, 800, 1000, 1000] {
        let (call, _) = follower.said().expect("said");
        follower.answer(now, call, ErrorCode::UnknownLeaderEpoch, &[id]);
        assert_eq!(follower.memory.deadline(), Some(at(now + wait)));
        now += wait;
        follower.memory.tick(at(now));
    }
    let (call, _) = follower.said().expect("said");
    follower.answer(now, call, ErrorCode::None, &[id]);
    assert_eq!(follower.memory.deadline(), None);
}

#[test]
fn a_lost_answer_is_asked_for_again_and_a_late_one_ignored() {
    let mut follower = Follower::new();
    follower
        .bench
        .log
        .topic(1, "t")
        .partition(1, 0, &[2, 1], &[2, 1]);
    follower.publish(0);
    let id = partition_id(1, 0);
    let (lost, _) = follower.said().expect("said");
    follower.memory.tick(at(2000));
    follower.memory.tick(at(2050));
    let (call, _) = follower.said().expect("said again");
    follower.answer(2051, lost, ErrorCode::None, &[id]);
    assert!(
        follower.memory.deadline().is_some(),
        "still waits for the second"
    );
    follower.answer(2052, call, ErrorCode::None, &[id]);
    assert_eq!(follower.memory.deadline(), None);
}

#[test]
fn what_is_no_longer_followed_is_not_said() {
    let mut follower = Follower::new();
    follower
        .bench
        .log
        .topic(1, "t")
        .partition(1, 0, &[2, 1], &[2, 1]);
    follower.publish(0);
    let (call, _) = follower.said().expect("said");
    follower.bench.log.change_partition(1, 0, &[1], Some(1));
    follower
        .bench
        .log
        .topic(2, "u")
        .partition(2, 0, &[2, 1], &[2, 1]);
    follower.bench.log.remove_topic(2);
    follower.publish(1);
    follower
        .memory
        .answered(at(2), NodeId(2), call, Err(CallFailure::Disconnected));
    follower.memory.tick(at(5000));
    assert_eq!(follower.said(), None);
    assert_eq!(follower.memory.len(), 1);
}
