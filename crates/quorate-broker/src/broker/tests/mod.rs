//! Brokers in a cluster that loses messages, kills processes and moves leaders.

mod world;

use std::collections::BTreeSet;

use proptest::prelude::*;
use quorate_types::NodeId;

use self::world::{BROKERS, World};
use super::BrokerInput;
use crate::testing::partition_id;

#[test]
fn three_brokers_come_up_within_a_second() {
    let mut world = World::new(1, 0);
    world.run_for(1000);
    world.create(1, 6);
    world.run_for(100);
    world.check_settled();
}

#[test]
fn a_restarted_follower_joins_the_isr_again() {
    let mut world = World::new(2, 0);
    world.run_for(1000);
    world.create(1, 3);
    world.run_for(1000);
    world.kill(3);
    world.run_for(12_000);
    assert_eq!(world.isr_sizes(), [2, 2, 2]);
    world.start(3);
    world.run_for(1000);
    world.check_settled();
}

#[test]
fn a_broker_that_is_cut_off_joins_again_without_a_restart() {
    let mut world = World::new(3, 0);
    world.run_for(1000);
    world.create(1, 3);
    world.run_for(1000);
    let cut_off = world.brokers.remove(&2).expect("it runs");
    world.run_for(15_000);
    assert_eq!(world.isr_sizes(), [2, 2, 2]);
    world.brokers.insert(2, cut_off);
    world.publish_to(2);
    world.run_for(6000);
    world.check_settled();
}

#[test]
fn a_broker_that_restarts_at_once_waits_until_its_session_is_over() {
    let mut world = World::new(4, 0);
    world.run_for(1000);
    let before = world.log.epoch(1);
    world.kill(1);
    world.start(1);
    world.run_for(7000);
    assert_eq!(world.log.epoch(1), before, "the old session lives");
    world.run_for(6000);
    assert!(world.log.epoch(1) > before);
    world.check_settled();
}

#[test]
fn a_controlled_shutdown_hands_leaderships_over_first() {
    let mut world = World::new(5, 0);
    world.run_for(1000);
    world.create(1, 3);
    world.run_for(1000);
    let now = world.now;
    let broker = world.brokers.get_mut(&1).expect("it runs");
    broker.handle(now, BrokerInput::ShutDown);
    world.drain(1);
    world.run_for(500);
    assert_eq!(world.granted, BTreeSet::from([1]));
    assert_eq!(world.isr_sizes(), [2, 2, 2]);
    assert_eq!(world.log.image.topics().leaderless_count(), 0);
    assert_eq!(world.brokers[&1].deadline(), None, "nothing is left to do");
}

#[test]
fn an_unregistered_broker_comes_back_with_a_new_epoch() {
    let mut world = World::new(6, 0);
    world.run_for(1000);
    let before = world.log.epoch(3);
    world.log.unregister(3);
    world.sessions.remove(&3);
    world.publish();
    world.run_for(8000);
    assert!(world.log.epoch(3) > before);
    world.check_settled();
}

#[test]
fn a_leader_learns_a_followers_new_epoch_and_can_change_the_isr() {
    let mut world = World::new(8, 0);
    world.run_for(1000);
    world.create(1, 3);
    world.run_for(1000);
    world.log.unregister(3);
    world.sessions.remove(&3);
    world.publish();
    world.run_for(8000);
    assert!(
        world.isr_sizes().iter().all(|size| *size == 3),
        "3 was never taken out"
    );
    world.kill(1);
    world.run_for(12_000);
    world.start(1);
    world.run_for(3000);
    world.check_settled();
}

#[test]
fn deleted_topics_leave_nothing_behind() {
    let mut world = World::new(7, 0);
    world.run_for(1000);
    world.create(1, 3);
    world.create(2, 3);
    world.run_for(1000);
    world.log.remove_topic(1);
    world.publish();
    world.run_for(1000);
    world.check_settled();
    for broker in world.brokers.values() {
        assert!(!broker.replicas().is_here(partition_id(1, 0)));
        assert!(broker.replicas().is_here(partition_id(2, 0)));
    }
}

#[derive(Debug, Clone, Copy)]
enum Event {
    Kill(i32),
    Start(i32),
    Create,
    Elect,
    Run(u64),
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        (1..=3_i32).prop_map(Event::Kill),
        (1..=3_i32).prop_map(Event::Start),
        Just(Event::Create),
        Just(Event::Elect),
        (1..6000_u64).prop_map(Event::Run),
        (1..60_u64).prop_map(Event::Run),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn whatever_is_lost_and_killed_everything_is_in_sync_in_the_end(
        seed: u64,
        loss in prop_oneof![Just(0_u64), Just(20), Just(4)],
        events in prop::collection::vec(event(), 0..20),
    ) {
        let mut world = World::new(seed, loss);
        let mut topics = 0;
        for event in events {
            match event {
                Event::Kill(id) => world.kill(id),
                Event::Start(id) if !world.brokers.contains_key(&id) => world.start(id),
                Event::Start(_) => {}
                Event::Create => {
                    topics += 1;
                    if BROKERS.iter().all(|id| world.log.image.broker(NodeId(*id)).is_some()) {
                        world.create(topics, 3);
                    }
                }
                Event::Elect => {
                    let topics: Vec<_> = world.log.image.topics().led_by(NodeId(1)).collect();
                    for (id, partition) in topics {
                        let isr: Vec<i32> = partition.isr.iter().map(|member| member.0).collect();
                        let last = isr.last().copied();
                        world.log.change_partition(id.topic.0.0[0], id.index, &isr, last);
                    }
                    world.publish();
                }
                Event::Run(millis) => world.run_for(millis),
            }
        }
        world.loss = 0;
        for id in BROKERS {
            if !world.brokers.contains_key(&id) {
                world.start(id);
            }
        }
        world.run_for(40_000);
        world.publish();
        world.run_for(100);
        world.check_settled();
    }
}
