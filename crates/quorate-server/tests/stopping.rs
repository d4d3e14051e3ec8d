//! Nodes that are asked to stop: they hand over what they have, and they do stop, whatever is wrong
//! around them.

mod common;

use std::time::Duration;

use common::*;
use quorate_types::{ErrorCode, NodeId};

fn create(lab: &mut Lab, topic: &str) -> ErrorCode {
    let active = lab.active().unwrap();
    created(&lab.call(active, &creation(&[topic])).unwrap())
}

#[test]
fn an_active_controller_hands_over_before_it_stops() {
    let (mut lab, active) = Lab::up(3, 1);
    let took = lab.time_to_stop(active);
    assert!(took < Duration::from_millis(500), "{took:?}");
    let taken = lab.run_until(Duration::from_millis(500), |lab| lab.active().is_some());
    assert!(taken, "nobody waits for a timeout");
    assert_eq!(create(&mut lab, "orders"), ErrorCode::None);
}

#[test]
fn a_standby_stops_at_once() {
    let (mut lab, active) = Lab::up(3, 1);
    let standby = (1..=3).map(controller).find(|id| *id != active).unwrap();
    let took = lab.time_to_stop(standby);
    assert!(took < Duration::from_millis(50), "{took:?}");
    assert_eq!(lab.active(), Some(active));
    assert_eq!(create(&mut lab, "orders"), ErrorCode::None);
}

#[test]
fn a_controller_alone_stops() {
    let (mut lab, active) = Lab::up(1, 1);
    let took = lab.time_to_stop(active);
    assert!(took < Duration::from_secs(1), "{took:?}");
    lab.start(active);
    lab.settle();
}

#[test]
fn an_active_controller_without_followers_stops() {
    let (mut lab, active) = Lab::up(3, 1);
    let others: Vec<NodeId> = (1..=3).map(controller).filter(|id| *id != active).collect();
    others.into_iter().for_each(|id| lab.kill(id));
    let took = lab.time_to_stop(active);
    assert!(took < Duration::from_millis(1500), "{took:?}");
}

#[test]
fn a_controller_with_a_hanging_disk_stops() {
    for leads in [true, false] {
        let (mut lab, active) = Lab::up(3, 1);
        let is_wanted = |id: &NodeId| (*id == active) == leads;
        let hung = (1..=3).map(controller).find(is_wanted).unwrap();
        lab.hang(hung, true);
        lab.start_call(active, &creation(&["orders"]));
        let took = lab.time_to_stop(hung);
        assert!(took < Duration::from_millis(1500), "{took:?}");
    }
}

#[test]
fn what_was_asked_before_a_hand_over_is_answered_once_or_the_connection_is_closed() {
    let (mut lab, active) = Lab::up(3, 1);
    let (conn, correlation) = lab.start_call(active, &creation(&["orders"]));
    lab.stop(active);
    let acknowledged = lab.answer(conn).map(|frame| {
        let answer = read(creation(&[]).key(), 7, correlation, &frame);
        created(&answer)
    });
    let next = lab.settle();
    let is_there = lab.has_topic(next, "orders");
    assert!(
        acknowledged != Some(ErrorCode::None) || is_there,
        "acknowledged and lost"
    );
    assert_eq!(lab.waiting(conn), 0, "no second answer");
}

#[test]
fn a_broker_gives_up_its_leaderships_before_it_stops() {
    let (mut lab, active) = Lab::up(3, 2);
    // Until its next heartbeat a broker does not know that it is in service.
    lab.run_for(Duration::from_millis(50));
    let topics: Vec<String> = (0..6).map(|number| format!("topic-{number}")).collect();
    let topics: Vec<&str> = topics.iter().map(String::as_str).collect();
    let mut request = creation(&topics);
    if let quorate_protocol::messages::Request::CreateTopics(request) = &mut request {
        request
            .topics
            .iter_mut()
            .for_each(|topic| topic.replication_factor = 2);
    }
    assert_eq!(
        created(&lab.call(active, &request).unwrap()),
        ErrorCode::None
    );
    let led = |lab: &Lab| {
        lab.image(active)
            .unwrap()
            .topics()
            .led_by(broker(1))
            .count()
    };
    assert!(led(&lab) > 0);
    let took = lab.time_to_stop(broker(1));
    assert!(took < Duration::from_secs(3), "{took:?}");
    assert_eq!(led(&lab), 0);
    let image = lab.image(active).unwrap();
    assert_eq!(image.topics().leaderless_count(), 0);
    assert!(image.broker(broker(1)).unwrap().fenced);
}

#[test]
fn a_broker_without_controllers_stops_after_its_time() {
    let (mut lab, active) = Lab::up(1, 1);
    lab.kill(active);
    let took = lab.time_to_stop(broker(1));
    // Five seconds are its own, the rest is Raft's.
    assert!(took < Duration::from_secs(7), "{took:?}");
}
