//! What a node tells of what happens: each change once, in order, before the end at which it is
//! published.

mod common;

use std::time::Duration;

use common::*;
use quorate_protocol::messages::delete_topics::DeleteTopicState;
use quorate_protocol::messages::{DeleteTopicsRequest, Request};
use quorate_server::events::NodeEvent;
use quorate_types::{ErrorCode, NodeId};

/// What a node has told since it was last asked, without the ends of what it published.
fn told(lab: &mut Lab, id: NodeId) -> Vec<String> {
    let events = std::mem::take(&mut lab.machine(id).events);
    let is_news = |event: &&NodeEvent| !matches!(event, NodeEvent::Published { .. });
    events
        .iter()
        .filter(is_news)
        .map(NodeEvent::to_string)
        .collect()
}

fn delete(topic: &str) -> Request {
    Request::from(DeleteTopicsRequest {
        topics: vec![DeleteTopicState {
            name: Some(topic.to_owned()),
            ..Default::default()
        }],
        timeout_ms: 10_000,
        ..Default::default()
    })
}

/// A topic of two replicas; the leader of its partition.
fn create(lab: &mut Lab, active: NodeId, topic: &str) -> NodeId {
    let mut request = creation(&[topic]);
    if let Request::CreateTopics(request) = &mut request {
        request.topics[0].replication_factor = 2;
    }
    let answer = lab.call(active, &request).unwrap();
    assert_eq!(created(&answer), ErrorCode::None);
    let topic = lab.image(active).unwrap().topics().by_name(topic).unwrap();
    topic.partition(0).unwrap().leader.unwrap()
}

#[test]
fn a_topic_is_told_of_by_every_node_when_it_comes_and_when_it_goes() {
    let (mut lab, active) = Lab::up(3, 2);
    // The standbys learn of the last broker too.
    lab.run_for(Duration::from_secs(1));
    let nodes: Vec<NodeId> = lab.machines.keys().copied().collect();
    for node in &nodes {
        told(&mut lab, *node);
    }
    create(&mut lab, active, "orders");
    lab.call(active, &delete("orders")).unwrap();
    lab.run_for(Duration::from_secs(1));
    for node in nodes {
        let expected = ["topic orders created, 1 partitions", "topic orders deleted"];
        assert_eq!(told(&mut lab, node), expected, "node {node}");
    }
}

#[test]
fn a_broker_registers_and_is_in_service_before_anything_is_asked_of_it() {
    let (mut lab, active) = Lab::up(1, 1);
    let events = told(&mut lab, active);
    let place = |text: &str| events.iter().position(|event| event.starts_with(text));
    let registered = place("broker 11 registered").unwrap();
    let unfenced = place("broker 11 unfenced").unwrap();
    let led = place("controller 1 leads the quorum in epoch 1").unwrap();
    let active = place("active controller in epoch 1").unwrap();
    assert!(
        led < active && active < registered && registered < unfenced,
        "{events:?}"
    );
}

#[test]
fn a_broker_that_dies_is_told_apart_from_one_that_shuts_down() {
    let (mut lab, active) = Lab::up(3, 2);
    let leader = create(&mut lab, active, "orders");
    let other = [broker(1), broker(2)]
        .into_iter()
        .find(|id| *id != leader)
        .unwrap();
    told(&mut lab, active);
    lab.kill(leader);
    lab.run_for(Duration::from_secs(15));
    let expected = [
        format!("broker {leader} fenced"),
        format!("orders-0 led by {other} (was {leader}), leader epoch 1"),
    ];
    assert_eq!(told(&mut lab, active), expected);

    lab.start(leader);
    lab.settle();
    let events = told(&mut lab, active);
    assert!(
        events[0].starts_with(&format!("broker {leader} registered")),
        "{events:?}"
    );
    // It follows until it is in sync; then it can take over.
    lab.run_for(Duration::from_secs(5));
    told(&mut lab, active);
    lab.time_to_stop(other);
    lab.run_for(Duration::from_secs(1));
    let events = told(&mut lab, active);
    let shut_down = format!("broker {other} fenced after its controlled shutdown");
    assert!(events.contains(&shut_down), "{events:?}");
    let moved = format!("orders-0 led by {leader} (was {other}), leader epoch 2");
    assert!(events.contains(&moved), "{events:?}");
}

#[test]
fn changes_are_told_before_the_end_at_which_they_are_published() {
    let (mut lab, active) = Lab::up(1, 1);
    lab.machine(active).events.clear();
    create_one(&mut lab, active);
    let events = &lab.machines[&active].events;
    let kinds: Vec<&NodeEvent> = events.iter().collect();
    assert!(
        matches!(
            kinds[..],
            [
                NodeEvent::TopicCreated { .. },
                NodeEvent::Published { .. },
                ..
            ]
        ),
        "{kinds:?}"
    );
    let ends: Vec<i64> = events
        .iter()
        .filter_map(|event| match event {
            NodeEvent::Published { end } => Some(end.0),
            _ => None,
        })
        .collect();
    assert!(
        ends.is_sorted_by(|earlier, later| earlier < later),
        "{ends:?}"
    );
}

fn create_one(lab: &mut Lab, active: NodeId) {
    let answer = lab.call(active, &creation(&["orders"])).unwrap();
    assert_eq!(created(&answer), ErrorCode::None);
}

#[test]
fn a_controller_that_loses_its_place_says_so() {
    let (mut lab, active) = Lab::up(3, 0);
    told(&mut lab, active);
    lab.hang(active, true);
    lab.run_for(Duration::from_secs(10));
    lab.hang(active, false);
    lab.run_for(Duration::from_secs(2));
    let next = lab.active().unwrap();
    assert_ne!(next, active);
    let events = told(&mut lab, active);
    let place = |text: &str| events.iter().position(|event| event.starts_with(text));
    let inactive = place("not the active controller any more").unwrap();
    let followed = place(&format!("controller {next} leads the quorum")).unwrap();
    assert!(inactive < followed, "{events:?}");
}
