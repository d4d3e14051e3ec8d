//! What clients ask a broker: answered from its cache, forwarded to the active controller, or
//! refused.

mod common;

use std::time::Duration;

use bytes::Bytes;
use common::*;
use quorate_protocol::messages::describe_configs::DescribeConfigsResource;
use quorate_protocol::messages::list_offsets::{ListOffsetsPartition, ListOffsetsTopic};
use quorate_protocol::messages::metadata::MetadataRequestTopic;
use quorate_protocol::messages::produce::{PartitionProduceData, TopicProduceData};
use quorate_protocol::messages::{
    BrokerHeartbeatRequest, DescribeConfigsRequest, FindCoordinatorRequest, ListOffsetsRequest,
    MetadataRequest, MetadataResponse, ProduceRequest, Request, Response,
};
use quorate_types::{ErrorCode, NodeId};

fn metadata(topics: Option<&[&str]>, create: bool) -> Request {
    let named = |name: &&str| MetadataRequestTopic {
        name: Some((*name).to_owned()),
        ..Default::default()
    };
    Request::from(MetadataRequest {
        topics: topics.map(|topics| topics.iter().map(named).collect()),
        allow_auto_topic_creation: create,
        ..Default::default()
    })
}

fn describe(lab: &mut Lab, node: NodeId, request: &Request) -> MetadataResponse {
    match lab.call(node, request) {
        Some(Response::Metadata(answer)) => answer,
        other => panic!("{other:?} is no metadata"),
    }
}

fn produce(acks: i16) -> Request {
    Request::from(ProduceRequest {
        acks,
        topic_data: vec![TopicProduceData {
            name: "orders".into(),
            partition_data: vec![PartitionProduceData {
                records: Some(Bytes::from_static(b"records")),
                ..Default::default()
            }],
            ..Default::default()
        }],
        ..Default::default()
    })
}

#[test]
fn a_topic_created_through_a_broker_is_in_the_metadata_of_every_broker() {
    let (mut lab, _) = Lab::up(3, 2);
    let answer = lab.call(broker(1), &creation(&["orders"])).unwrap();
    assert_eq!(created(&answer), ErrorCode::None);
    for node in [broker(1), broker(2)] {
        assert!(lab.run_until(SOON, |lab| lab.has_topic(node, "orders")));
        let answer = describe(&mut lab, node, &metadata(None, false));
        let brokers: Vec<(i32, &str)> = answer
            .brokers
            .iter()
            .map(|broker| (broker.node_id, broker.host.as_str()))
            .collect();
        assert_eq!(brokers, [(11, "m11"), (12, "m12")]);
        assert_eq!(answer.cluster_id.as_deref(), Some(CLUSTER));
        let topic = &answer.topics[0];
        assert_eq!(topic.name.as_deref(), Some("orders"));
        assert_eq!(topic.partitions[0].error_code, ErrorCode::None);
        assert!([11, 12].contains(&topic.partitions[0].leader_id));
    }
}

#[test]
fn configurations_are_described_from_the_brokers_own_metadata() {
    let (mut lab, active) = Lab::up(1, 1);
    lab.call(active, &creation(&["orders"])).unwrap();
    assert!(lab.run_until(SOON, |lab| lab.has_topic(broker(1), "orders")));
    let resource = |name: &str| DescribeConfigsResource {
        resource_type: 2,
        resource_name: name.into(),
        ..Default::default()
    };
    let request = Request::from(DescribeConfigsRequest {
        resources: vec![resource("orders"), resource("nothing")],
        ..Default::default()
    });
    // No controller is needed for it.
    lab.kill(active);
    let Some(Response::DescribeConfigs(answer)) = lab.call(broker(1), &request) else {
        panic!("another answer than was asked for");
    };
    assert_eq!(answer.results[0].error_code, ErrorCode::None);
    let mut configs = answer.results[0].configs.iter();
    let policy = configs
        .find(|config| config.name == "cleanup.policy")
        .unwrap();
    assert_eq!(policy.value.as_deref(), Some("delete"));
    assert_eq!(
        answer.results[1].error_code,
        ErrorCode::UnknownTopicOrPartition
    );
}

#[test]
fn a_create_that_finds_its_controller_dead_is_sent_again_and_answered_once() {
    let (mut lab, active) = Lab::up(3, 1);
    // The way to the controller stands.
    lab.call(broker(1), &creation(&["before"])).unwrap();
    let conn = lab.connect(broker(1));
    let correlation = lab.ask(conn, 7, &creation(&["orders"]));
    // The broker has it, the controller not yet.
    lab.run_for(FRAME);
    lab.kill(active);
    let answer = lab.answer(conn).unwrap();
    let answer = read(creation(&[]).key(), 7, correlation, &answer);
    assert_eq!(created(&answer), ErrorCode::None);
    lab.run_for(SOON);
    assert_eq!(lab.waiting(conn), 0, "no second answer");
    let next = lab.active().unwrap();
    assert!(next != active && lab.has_topic(next, "orders"));
}

#[test]
fn a_create_that_was_under_way_when_its_controller_died_is_answered_once_by_the_next() {
    let (mut lab, active) = Lab::up(3, 1);
    lab.call(broker(1), &creation(&["before"])).unwrap();
    let followers: Vec<NodeId> = (1..=3).map(controller).filter(|id| *id != active).collect();
    for follower in &followers {
        lab.hang(*follower, true);
    }
    let (conn, correlation) = lab.start_call(broker(1), &creation(&["orders"]));
    lab.run_for(Duration::from_millis(50));
    assert_eq!(lab.waiting(conn), 0);
    lab.kill(active);
    for follower in &followers {
        lab.hang(*follower, false);
    }
    let answer = lab.answer(conn).unwrap();
    let answer = read(creation(&[]).key(), 7, correlation, &answer);
    // The followers may have taken the first attempt to their disks: then the second finds it done.
    let outcome = created(&answer);
    let done = [ErrorCode::None, ErrorCode::TopicAlreadyExists];
    assert!(done.contains(&outcome), "{outcome}");
    lab.run_for(SOON);
    assert_eq!(lab.waiting(conn), 0, "no second answer");
    assert!(lab.has_topic(lab.active().unwrap(), "orders"));
}

#[test]
fn a_create_that_no_controller_takes_times_out() {
    let (mut lab, active) = Lab::up(1, 1);
    lab.kill(active);
    let (conn, correlation) = lab.start_call(broker(1), &creation(&["orders"]));
    lab.run_for(Duration::from_secs(59));
    assert_eq!(lab.waiting(conn), 0);
    let answer = lab.answer(conn).unwrap();
    let answer = read(creation(&[]).key(), 7, correlation, &answer);
    assert_eq!(created(&answer), ErrorCode::RequestTimedOut);
}

#[test]
fn a_coordinator_is_never_available() {
    let (mut lab, _) = Lab::up(1, 1);
    let request = Request::from(FindCoordinatorRequest {
        coordinator_keys: vec!["group".into()],
        ..Default::default()
    });
    let Some(Response::FindCoordinator(answer)) = lab.call(broker(1), &request) else {
        panic!("another answer than was asked for");
    };
    let error = answer.coordinators[0].error_code;
    assert_eq!(error, ErrorCode::CoordinatorNotAvailable);
}

#[test]
fn records_are_refused() {
    let (mut lab, _) = Lab::up(1, 1);
    let Some(Response::Produce(answer)) = lab.call_in(broker(1), 9, &produce(-1)) else {
        panic!("another answer than was asked for");
    };
    let partition = &answer.responses[0].partition_responses[0];
    assert_eq!(partition.error_code, ErrorCode::InvalidRequest);
    assert!(
        partition
            .error_message
            .as_deref()
            .unwrap()
            .contains("no records")
    );

    let request = Request::from(ListOffsetsRequest {
        topics: vec![ListOffsetsTopic {
            name: "orders".into(),
            partitions: vec![ListOffsetsPartition::default()],
            ..Default::default()
        }],
        ..Default::default()
    });
    let Some(Response::ListOffsets(answer)) = lab.call(broker(1), &request) else {
        panic!("another answer than was asked for");
    };
    let partition = &answer.topics[0].partitions[0];
    assert_eq!(partition.error_code, ErrorCode::InvalidRequest);
}

#[test]
fn records_that_nobody_waits_for_close_the_connection() {
    let (mut lab, _) = Lab::up(1, 1);
    assert!(lab.is_closed_by(broker(1), frame(9, 1, &produce(0))));
}

#[test]
fn requests_of_the_cluster_itself_are_not_for_brokers() {
    let (mut lab, _) = Lab::up(1, 1);
    let heartbeat = Request::from(BrokerHeartbeatRequest::default());
    assert!(lab.is_closed_by(broker(1), frame(1, 1, &heartbeat)));
}

#[test]
fn a_topic_that_is_asked_for_is_created_if_the_client_wants_it() {
    let (mut lab, active) = Lab::up(3, 1);
    let answer = describe(&mut lab, broker(1), &metadata(Some(&["orders"]), false));
    let error = answer.topics[0].error_code;
    assert_eq!(error, ErrorCode::UnknownTopicOrPartition);
    lab.run_for(Duration::from_secs(1));
    assert!(!lab.has_topic(active, "orders"));

    let request = metadata(Some(&["orders"]), true);
    for _ in 0..3 {
        let answer = describe(&mut lab, broker(1), &request);
        assert_ne!(answer.topics[0].error_code, ErrorCode::None);
    }
    assert!(lab.run_until(SOON, |lab| lab.has_topic(broker(1), "orders")));
    let answer = describe(&mut lab, broker(1), &request);
    assert_eq!(answer.topics[0].error_code, ErrorCode::None);
    assert!(!answer.topics[0].partitions.is_empty());
}
