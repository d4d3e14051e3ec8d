//! The tables of answers, row by row.

mod api_versions;
mod pages;
mod recorded;

use quorate_protocol::messages::metadata::{
    MetadataRequestTopic, MetadataResponsePartition, MetadataResponseTopic,
};
use quorate_protocol::messages::{
    DescribeClusterRequest, FindCoordinatorRequest, MetadataRequest, MetadataResponse,
    decode_response, encode_response,
};
use quorate_types::{ErrorCode, Rng, TopicId, Uuid};

use super::*;
use crate::testing::{Log, directory_of, topic_id};

const PLAINTEXT: &str = "PLAINTEXT";

/// Three brokers, the third fenced; `orders` with one partition on all.
fn three_brokers() -> Log {
    let mut log = Log::new();
    for id in [1, 2, 3] {
        log.broker(id);
    }
    log.unfence(1).unfence(2);
    log.topic(1, "orders")
        .partition(1, 0, &[1, 2, 3], &[1, 2, 3]);
    log
}

fn cache(log: &Log) -> MetadataCache {
    let mut cache = MetadataCache::new("cluster", CacheConfig::default());
    cache.publish(log.image.clone(), log.end);
    cache
}

fn named(names: &[&str]) -> MetadataRequest {
    let topic = |name: &&str| MetadataRequestTopic {
        name: Some((*name).to_owned()),
        ..Default::default()
    };
    MetadataRequest {
        topics: Some(names.iter().map(topic).collect()),
        ..Default::default()
    }
}

fn ask(log: &Log, asker: &Asker<'_>, request: &MetadataRequest) -> MetadataAnswer {
    cache(log).metadata(asker, request, &mut Rng::new(1))
}

fn only_partition(log: &Log, listener: &str, version: i16) -> MetadataResponsePartition {
    let asker = Asker::unrestricted(listener, version);
    let answer = ask(log, &asker, &named(&["orders"]));
    let [topic] = answer.response.topics.as_slice() else {
        panic!("one topic in {answer:?}");
    };
    let [partition] = topic.partitions.as_slice() else {
        panic!("one partition in {topic:?}");
    };
    partition.clone()
}

/// What a row of the table says about a partition: error, leader, replicas, ISR, offline.
type Row<'a> = (ErrorCode, i32, &'a [i32], &'a [i32], &'a [i32]);

fn row(partition: &MetadataResponsePartition) -> Row<'_> {
    (
        partition.error_code,
        partition.leader_id,
        &partition.replica_nodes,
        &partition.isr_nodes,
        &partition.offline_replicas,
    )
}

#[test]
fn a_partition_names_its_leader_and_who_is_offline() {
    let partition = only_partition(&three_brokers(), PLAINTEXT, 13);
    let all = &[1, 2, 3];
    assert_eq!(
        row(&partition),
        (ErrorCode::None, 1, all as _, all as _, &[3] as _)
    );
}

#[test]
fn without_a_leader_the_epoch_is_still_told() {
    let mut log = three_brokers();
    log.change_partition(1, 0, &[3], Some(-1));
    for version in [0, 5, 6, 13] {
        let partition = only_partition(&log, PLAINTEXT, version);
        assert_eq!(partition.error_code, ErrorCode::LeaderNotAvailable);
        assert_eq!((partition.leader_id, partition.leader_epoch), (-1, 1));
    }
}

#[test]
fn a_leader_that_is_not_registered_is_not_named() {
    let mut log = three_brokers();
    log.topic(2, "moved").partition(2, 0, &[9], &[9]);
    let asker = Asker::unrestricted(PLAINTEXT, 13);
    let answer = ask(&log, &asker, &named(&["moved"]));
    let expected: Row<'_> = (ErrorCode::LeaderNotAvailable, -1, &[9], &[9], &[9]);
    assert_eq!(row(&answer.response.topics[0].partitions[0]), expected);
}

#[test]
fn a_fenced_leader_is_still_named() {
    let mut log = three_brokers();
    log.change_partition(1, 0, &[3], Some(3));
    let partition = only_partition(&log, PLAINTEXT, 13);
    assert_eq!(
        (partition.error_code, partition.leader_id),
        (ErrorCode::None, 3)
    );
}

#[test]
fn a_leader_without_the_listener_is_an_error_of_its_own_from_version_6_on() {
    let log = three_brokers();
    let rows = [
        (5, ErrorCode::LeaderNotAvailable),
        (6, ErrorCode::ListenerNotFound),
        (13, ErrorCode::ListenerNotFound),
    ];
    for (version, error) in rows {
        let partition = only_partition(&log, "EXTERNAL", version);
        assert_eq!((partition.error_code, partition.leader_id), (error, -1));
        assert_eq!(partition.offline_replicas, [1, 2, 3]);
    }
}

#[test]
fn version_0_leaves_out_who_cannot_be_reached() {
    let log = three_brokers();
    let expected: Row<'_> = (ErrorCode::ReplicaNotAvailable, 1, &[1, 2], &[1, 2], &[3]);
    assert_eq!(row(&only_partition(&log, PLAINTEXT, 0)), expected);
    let partition = only_partition(&log, PLAINTEXT, 1);
    assert_eq!(partition.error_code, ErrorCode::None);
    assert_eq!(partition.replica_nodes, [1, 2, 3]);
}

#[test]
fn a_replica_in_a_failed_directory_is_offline() {
    let mut log = three_brokers();
    log.topic(2, "spread")
        .partition_with(2, 0, &[1, 2], &[1, 2], |partition| {
            partition.directories = vec![directory_of(1).0, directory_of(3).0];
        });
    let asker = Asker::unrestricted(PLAINTEXT, 13);
    let answer = ask(&log, &asker, &named(&["spread"]));
    assert_eq!(
        answer.response.topics[0].partitions[0].offline_replicas,
        [2]
    );
}

#[test]
fn brokers_are_the_unfenced_ones_those_shutting_down_among_them() {
    let mut log = three_brokers();
    log.change(2, 0, 1);
    let asker = Asker::unrestricted(PLAINTEXT, 13);
    let answer = ask(&log, &asker, &named(&[]));
    let brokers: Vec<(i32, &str, i32)> = answer
        .response
        .brokers
        .iter()
        .map(|broker| (broker.node_id, broker.host.as_str(), broker.port))
        .collect();
    assert_eq!(brokers, [(1, "localhost", 9001), (2, "localhost", 9002)]);
    assert_eq!(answer.response.topics, []);
    assert_eq!(answer.response.cluster_id.as_deref(), Some("cluster"));
}

#[test]
fn any_unfenced_broker_is_named_as_controller() {
    let cache = cache(&three_brokers());
    let mut rng = Rng::new(5);
    let asker = Asker::unrestricted(PLAINTEXT, 13);
    let named: std::collections::BTreeSet<i32> = (0..50)
        .map(|_| {
            cache
                .metadata(&asker, &named(&[]), &mut rng)
                .response
                .controller_id
        })
        .collect();
    assert_eq!(named.into_iter().collect::<Vec<_>>(), [1, 2]);
    let empty = MetadataCache::new("cluster", CacheConfig::default());
    let answer = empty.metadata(&asker, &MetadataRequest::default(), &mut rng);
    assert_eq!(answer.response.controller_id, -1);
}

fn errors(topics: &[MetadataResponseTopic]) -> Vec<(Option<&str>, ErrorCode)> {
    topics
        .iter()
        .map(|topic| (topic.name.as_deref(), topic.error_code))
        .collect()
}

#[test]
fn names_that_nobody_has_are_unknown_or_invalid() {
    let log = three_brokers();
    let asker = Asker::unrestricted(PLAINTEXT, 13);
    let mut request = named(&["nobody", "a/b", "orders"]);
    let answer = ask(&log, &asker, &request);
    let expected = [
        (Some("a/b"), ErrorCode::InvalidTopicException),
        (Some("nobody"), ErrorCode::UnknownTopicOrPartition),
        (Some("orders"), ErrorCode::None),
    ];
    assert_eq!(errors(&answer.response.topics), expected);
    assert_eq!(answer.create, ["nobody"]);
    assert_eq!(answer.response.topics[0].topic_id, Uuid::ZERO);

    request.allow_auto_topic_creation = false;
    let answer = ask(&log, &asker, &request);
    assert_eq!(errors(&answer.response.topics), expected);
    assert!(answer.create.is_empty());
}

#[test]
fn ids_work_from_version_12_on_and_are_refused_below() {
    let log = three_brokers();
    let by_id = |id: TopicId| MetadataRequestTopic {
        topic_id: id.0,
        name: None,
        ..Default::default()
    };
    let request = MetadataRequest {
        topics: Some(vec![by_id(topic_id(1)), by_id(topic_id(9))]),
        ..Default::default()
    };
    let answer = ask(&log, &Asker::unrestricted(PLAINTEXT, 12), &request);
    let expected = [
        (Some("orders"), ErrorCode::None),
        (None, ErrorCode::UnknownTopicId),
    ];
    assert_eq!(errors(&answer.response.topics), expected);
    assert_eq!(answer.response.topics[1].topic_id, topic_id(9).0);

    let answer = ask(&log, &Asker::unrestricted(PLAINTEXT, 11), &request);
    let refused = (Some(""), ErrorCode::InvalidRequest);
    assert_eq!(errors(&answer.response.topics), [refused, refused]);
    assert_eq!(answer.response.brokers, []);
}

#[test]
fn no_list_means_all_topics_and_an_empty_one_only_in_version_0() {
    let mut log = three_brokers();
    log.topic(2, "audit").partition(2, 0, &[1], &[1]);
    let all = [
        (Some("audit"), ErrorCode::None),
        (Some("orders"), ErrorCode::None),
    ];
    let none: &[_] = &[];
    let null = MetadataRequest {
        topics: None,
        ..Default::default()
    };
    let rows: [(i16, MetadataRequest, &[_]); 4] = [
        (1, null.clone(), &all),
        (13, null, &all),
        (0, named(&[]), &all),
        (1, named(&[]), none),
    ];
    for (version, request, expected) in rows {
        let answer = ask(&log, &Asker::unrestricted(PLAINTEXT, version), &request);
        // Version 0 has no controller and misses the fenced replica of `orders`; names are the same.
        assert_eq!(
            errors(&answer.response.topics),
            expected,
            "version {version}"
        );
    }
}

/// May see `orders` only, and create nothing.
struct Restricted;

impl Access for Restricted {
    fn may_describe_topic(&self, topic: &str) -> bool {
        topic == "orders" || topic == "new"
    }

    fn may_create_topic(&self, _topic: &str) -> bool {
        false
    }

    fn may_describe_cluster(&self) -> bool {
        false
    }
}

#[test]
fn what_a_client_may_not_see_is_not_told() {
    let mut log = three_brokers();
    log.topic(2, "secret").partition(2, 0, &[1], &[1]);
    let asker = Asker {
        listener: PLAINTEXT,
        version: 13,
        access: &Restricted,
    };
    let all = MetadataRequest {
        topics: None,
        ..Default::default()
    };
    let answer = ask(&log, &asker, &all);
    assert_eq!(
        errors(&answer.response.topics),
        [(Some("orders"), ErrorCode::None)]
    );

    let answer = ask(&log, &asker, &named(&["secret", "new", "absent"]));
    let denied = ErrorCode::TopicAuthorizationFailed;
    let expected = [
        (Some("absent"), denied),
        (Some("new"), denied),
        (Some("secret"), denied),
    ];
    assert_eq!(errors(&answer.response.topics), expected);
    assert!(
        answer
            .response
            .topics
            .iter()
            .all(|topic| topic.topic_id.is_zero())
    );
    assert!(answer.create.is_empty());

    let request = MetadataRequest {
        topics: Some(vec![MetadataRequestTopic {
            topic_id: topic_id(2).0,
            name: None,
            ..Default::default()
        }]),
        ..Default::default()
    };
    let answer = ask(&log, &asker, &request);
    assert_eq!(errors(&answer.response.topics), [(None, denied)]);
    assert_eq!(answer.response.topics[0].topic_id, topic_id(2).0);
}

#[test]
fn authorized_operations_are_told_when_asked_for() {
    let log = three_brokers();
    let request = MetadataRequest {
        include_cluster_authorized_operations: true,
        include_topic_authorized_operations: true,
        ..named(&["orders"])
    };
    let rows = [
        (7, NOT_ASKED, NOT_ASKED),
        (8, operations::CLUSTER, operations::TOPIC),
        (10, operations::CLUSTER, operations::TOPIC),
        (11, NOT_ASKED, operations::TOPIC),
    ];
    for (version, cluster, topic) in rows {
        let response = ask(&log, &Asker::unrestricted(PLAINTEXT, version), &request).response;
        assert_eq!(
            response.cluster_authorized_operations, cluster,
            "version {version}"
        );
        assert_eq!(response.topics[0].topic_authorized_operations, topic);
    }
    assert_eq!((operations::TOPIC, operations::CLUSTER), (3576, 8096));
}

#[test]
fn every_version_of_an_answer_can_be_written() {
    let log = three_brokers();
    for version in 0..=13 {
        let asker = Asker::unrestricted(PLAINTEXT, version);
        let response = ask(&log, &asker, &named(&["orders"])).response;
        let frame = encode_response(3, version, 7, &response).expect("encodable");
        let (_, again): (_, MetadataResponse) = decode_response(version, &frame).expect("readable");
        assert_eq!(again.topics[0].partitions[0].leader_id, 1);
    }
}

#[test]
fn a_cluster_is_described_with_fenced_brokers_if_asked() {
    let cache = cache(&three_brokers());
    let asker = Asker::unrestricted(PLAINTEXT, 2);
    let mut request = DescribeClusterRequest::default();
    let ids = |request: &_| -> Vec<(i32, bool)> {
        let response = cache.describe_cluster(&asker, request, &mut Rng::new(1));
        let broker =
            |broker: &quorate_protocol::messages::describe_cluster::DescribeClusterBroker| {
                (broker.broker_id, broker.is_fenced)
            };
        response.brokers.iter().map(broker).collect()
    };
    assert_eq!(ids(&request), [(1, false), (2, false)]);
    request.include_fenced_brokers = true;
    assert_eq!(ids(&request), [(1, false), (2, false), (3, true)]);
}

#[test]
fn endpoint_types_other_than_brokers_are_refused() {
    let cache = cache(&three_brokers());
    let rows = [
        (1, 2, ErrorCode::MismatchedEndpointType),
        (2, 0, ErrorCode::UnsupportedEndpointType),
        (2, 77, ErrorCode::UnsupportedEndpointType),
        (0, 2, ErrorCode::InvalidRequest),
    ];
    for (version, endpoint_type, error) in rows {
        let request = DescribeClusterRequest {
            endpoint_type,
            ..Default::default()
        };
        let asker = Asker::unrestricted(PLAINTEXT, version);
        let response = cache.describe_cluster(&asker, &request, &mut Rng::new(1));
        assert_eq!(response.error_code, error);
        assert!(response.brokers.is_empty());
    }
}

#[test]
fn nobody_coordinates_in_any_version() {
    for version in 0..=6 {
        let mut request = FindCoordinatorRequest::default();
        if version < 4 {
            request.key = "group".to_owned();
        } else {
            request.coordinator_keys = vec!["one".to_owned(), "two".to_owned()];
        }
        let response = find_coordinator(version, &request);
        encode_response(10, version, 1, &response).expect("encodable");
        if version < 4 {
            assert_eq!(response.error_code, ErrorCode::CoordinatorNotAvailable);
        } else {
            let keys: Vec<&str> = response
                .coordinators
                .iter()
                .map(|c| c.key.as_str())
                .collect();
            assert_eq!(keys, ["one", "two"]);
        }
    }
}
