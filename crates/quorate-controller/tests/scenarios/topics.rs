//! Topics: created, deleted, grown (R55, R35).

use quorate_protocol::messages::create_partitions::{
    CreatePartitionsAssignment, CreatePartitionsRequest, CreatePartitionsResponse,
    CreatePartitionsTopic,
};
use quorate_protocol::messages::create_topics::{
    CreatableTopic, CreateTopicsRequest, CreateTopicsResponse,
};
use quorate_protocol::messages::delete_topics::{
    DeleteTopicState, DeleteTopicsRequest, DeleteTopicsResponse,
};
use quorate_protocol::records::MetadataRecord;
use quorate_types::{ErrorCode, NodeId, Uuid};

use crate::cluster::{Cluster, assigned, config, directory, ids, placed, uuid};

/// The replicas of new partitions.
type Assignments<'a> = &'a [&'a [i32]];

/// Deletes the topic of that name.
pub fn delete(cluster: &mut Cluster, name: &str) {
    let answer = ask_delete(cluster, vec![(Some(name), Uuid::ZERO)]);
    assert_eq!(answer, [(Some(name.to_string()), ErrorCode::None)]);
}

fn ask_delete(
    cluster: &mut Cluster,
    topics: Vec<(Option<&str>, Uuid)>,
) -> Vec<(Option<String>, ErrorCode)> {
    let topics = topics.into_iter().map(|(name, topic_id)| DeleteTopicState {
        name: name.map(Into::into),
        topic_id,
        ..Default::default()
    });
    let answer: DeleteTopicsResponse = cluster.ask(DeleteTopicsRequest {
        topics: topics.collect(),
        ..Default::default()
    });
    let mut answers: Vec<_> = answer
        .responses
        .into_iter()
        .map(|topic| (topic.name, topic.error_code))
        .collect();
    answers.sort();
    answers
}

fn ask_create(cluster: &mut Cluster, topics: Vec<CreatableTopic>) -> Vec<(String, ErrorCode)> {
    let answer: CreateTopicsResponse = cluster.ask(CreateTopicsRequest {
        topics,
        ..Default::default()
    });
    answer
        .topics
        .into_iter()
        .map(|topic| (topic.name, topic.error_code))
        .collect()
}

fn grow(
    cluster: &mut Cluster,
    name: &str,
    count: i32,
    assignments: Option<&[&[i32]]>,
) -> ErrorCode {
    let of = |replicas: &&[i32]| CreatePartitionsAssignment {
        broker_ids: replicas.to_vec(),
        ..Default::default()
    };
    let topic = CreatePartitionsTopic {
        name: name.into(),
        count,
        assignments: assignments.map(|assignments| assignments.iter().map(of).collect()),
        ..Default::default()
    };
    let answer: CreatePartitionsResponse = cluster.ask(CreatePartitionsRequest {
        topics: vec![topic],
        ..Default::default()
    });
    answer.results[0].error_code
}

#[test]
fn a_topic_is_written_as_topic_then_configs_then_partitions() {
    let mut cluster = Cluster::of(2);
    let records = cluster.records(|cluster| {
        let configs = [("retention.ms", "1000"), ("min.insync.replicas", "2")];
        cluster.create_with("t", &[&[1, 2], &[2, 1]], &configs);
    });
    let names: Vec<_> = records.iter().map(|record| record.data.name()).collect();
    assert_eq!(
        names,
        [
            "TopicRecord",
            "ConfigRecord",
            "ConfigRecord",
            "ClearElrRecord",
            "PartitionRecord",
            "PartitionRecord"
        ]
    );
    let MetadataRecord::Partition(partition) = &records[4].data else {
        panic!("no partition")
    };
    assert_eq!(records[4].version, 2);
    assert_eq!(
        (
            partition.leader,
            partition.leader_epoch,
            partition.partition_epoch
        ),
        (1, 0, 0)
    );
    assert_eq!(
        (&partition.isr, &partition.directories),
        (&vec![1, 2], &vec![directory(1), directory(2)])
    );
    assert_eq!(partition.eligible_leader_replicas, None);
}

#[test]
fn records_are_written_in_the_version_of_the_cluster() {
    for (version, expected) in [(7, 0), (16, 0), (17, 1), (22, 1), (23, 2)] {
        let mut cluster = Cluster::at(version);
        cluster.start(1);
        let records = cluster.records(|cluster| {
            cluster.create("t", &[&[1]]);
        });
        assert_eq!(records[1].version, expected, "at {version}");
    }
}

#[test]
fn the_answer_says_what_the_topic_is_like() {
    let mut cluster = Cluster::of(3);
    let mut topic = placed("t", 4, 2);
    topic.configs.push(config("retention.ms", Some("1000")));
    let result = cluster.create_topic(topic);
    assert_eq!((result.num_partitions, result.replication_factor), (4, 2));
    let configs = result.configs.expect("configs");
    assert_eq!(configs.len(), 33);
    assert!(configs.windows(2).all(|pair| pair[0].name < pair[1].name));
    let find = |name: &str| {
        let config = configs
            .iter()
            .find(|config| config.name == name)
            .expect(name);
        (config.value.as_deref(), config.config_source)
    };
    assert_eq!(find("retention.ms"), (Some("1000"), 1));
    assert_eq!(find("min.insync.replicas"), (Some("1"), 3));
    assert_eq!(find("cleanup.policy"), (Some("delete"), 5));
    let first = cluster.partition("t", 0);
    assert_eq!((first.replicas.len(), first.isr.len()), (2, 2));
}

#[test]
fn defaults_come_from_the_controllers_configuration() {
    let mut cluster = Cluster::with(|config| {
        config.num_partitions = 5;
        config.default_replication_factor = 2;
    });
    cluster.start(2);
    let result = cluster.create_topic(placed("t", -1, -1));
    assert_eq!((result.num_partitions, result.replication_factor), (5, 2));
}

#[test]
fn topics_are_refused_one_by_one_by_the_first_thing_wrong_with_them() {
    let mut cluster = Cluster::of(2);
    cluster.register(3);
    cluster.create("taken", &[&[1]]);
    cluster.create("foo.bar", &[&[1]]);
    let with = |topic: CreatableTopic, name: &str, value: Option<&str>| CreatableTopic {
        configs: vec![config(name, value)],
        ..topic
    };
    let long = "x".repeat(250);
    let mut gap = assigned("gap", &[&[1], &[2]], &[]);
    gap.assignments[1].partition_index = 2;
    let mut doubled = assigned("doubled", &[&[1], &[2]], &[]);
    doubled.assignments[1].partition_index = 0;
    let mut counted = assigned("counted", &[&[1]], &[]);
    counted.num_partitions = 1;
    let cases = vec![
        (placed("", 1, 1), ErrorCode::InvalidTopicException),
        (placed("a b", 1, 1), ErrorCode::InvalidTopicException),
        (placed(&long, 1, 1), ErrorCode::InvalidTopicException),
        (placed("foo_bar", 1, 1), ErrorCode::InvalidTopicException),
        (placed("foo.bar", 1, 1), ErrorCode::TopicAlreadyExists),
        (placed("taken", 0, 0), ErrorCode::TopicAlreadyExists),
        (
            with(placed("no-value", 1, 1), "retention.ms", None),
            ErrorCode::InvalidConfig,
        ),
        (
            with(placed("unknown", 1, 1), "no.such", Some("1")),
            ErrorCode::InvalidConfig,
        ),
        (
            with(placed("bad", 0, 1), "retention.ms", Some("x")),
            ErrorCode::InvalidConfig,
        ),
        (placed("none", 1, 0), ErrorCode::InvalidReplicationFactor),
        (placed("neg", 1, -2), ErrorCode::InvalidReplicationFactor),
        (placed("wide", 1, 4), ErrorCode::InvalidReplicationFactor),
        (placed("empty", 0, 1), ErrorCode::InvalidPartitions),
        (placed("negative", -2, 1), ErrorCode::InvalidPartitions),
        (counted, ErrorCode::InvalidRequest),
        (gap, ErrorCode::InvalidReplicaAssignment),
        (doubled, ErrorCode::InvalidReplicaAssignment),
        (
            assigned("nobody", &[&[]], &[]),
            ErrorCode::InvalidReplicaAssignment,
        ),
        (
            assigned("stranger", &[&[1, 9]], &[]),
            ErrorCode::InvalidReplicaAssignment,
        ),
        (
            assigned("twice", &[&[1, 1]], &[]),
            ErrorCode::InvalidReplicaAssignment,
        ),
        (
            assigned("uneven", &[&[1, 2], &[1]], &[]),
            ErrorCode::InvalidReplicaAssignment,
        ),
        (
            assigned("asleep", &[&[3]], &[]),
            ErrorCode::InvalidReplicaAssignment,
        ),
        (assigned("good", &[&[3, 1]], &[]), ErrorCode::None),
    ];
    let (topics, expected): (Vec<_>, Vec<_>) = cases
        .into_iter()
        .map(|(topic, code)| (topic.clone(), (topic.name, code)))
        .unzip();
    assert_eq!(ask_create(&mut cluster, topics), expected);
    assert_eq!(cluster.image().topics().len(), 3);
    assert_eq!(cluster.show("good"), "1 [1]");
}

#[test]
fn names_that_occur_twice_and_the_metadata_topic_are_refused_last() {
    let mut cluster = Cluster::of(1);
    let topics = ["b", "a", "b", "__cluster_metadata", "c"]
        .map(|name| placed(name, 1, 1))
        .to_vec();
    let expected = [
        ("a", ErrorCode::None),
        ("c", ErrorCode::None),
        ("b", ErrorCode::InvalidRequest),
        ("__cluster_metadata", ErrorCode::InvalidRequest),
    ];
    let expected: Vec<_> = expected
        .map(|(name, code)| (name.to_string(), code))
        .to_vec();
    assert_eq!(ask_create(&mut cluster, topics), expected);
}

#[test]
fn names_of_one_request_do_not_collide_with_each_other() {
    let mut cluster = Cluster::of(1);
    let topics = ["foo.bar", "foo_bar"]
        .map(|name| placed(name, 1, 1))
        .to_vec();
    let codes: Vec<_> = ask_create(&mut cluster, topics)
        .into_iter()
        .map(|(_, code)| code)
        .collect();
    assert_eq!(codes, [ErrorCode::None; 2]);
}

#[test]
fn a_name_is_free_again_once_its_topic_is_deleted() {
    let mut cluster = Cluster::of(1);
    let first = cluster.create("foo.bar", &[&[1]]);
    let refused = cluster.create_topic(placed("foo_bar", 1, 1));
    assert_eq!(refused.error_code, ErrorCode::InvalidTopicException);
    delete(&mut cluster, "foo.bar");
    cluster.create("foo_bar", &[&[1]]);
    delete(&mut cluster, "foo_bar");
    assert_ne!(cluster.create("foo.bar", &[&[1]]), first);
}

#[test]
fn validation_alone_answers_as_if_and_writes_nothing() {
    let mut cluster = Cluster::of(1);
    let request = CreateTopicsRequest {
        topics: vec![placed("t", 2, 1), placed("u", 1, 2), placed("t2", 1, 1)],
        validate_only: true,
        ..Default::default()
    };
    let names = cluster.names(|cluster| {
        let answer: CreateTopicsResponse = cluster.ask(request);
        let codes: Vec<_> = answer.topics.iter().map(|topic| topic.error_code).collect();
        let expected = [
            ErrorCode::None,
            ErrorCode::InvalidReplicationFactor,
            ErrorCode::None,
        ];
        assert_eq!(codes, expected);
        assert_eq!(answer.topics[0].num_partitions, 2);
    });
    assert!(names.is_empty());
    assert!(cluster.image().topics().is_empty());
}

#[test]
fn fenced_brokers_hold_replicas_but_are_not_in_sync() {
    let mut cluster = Cluster::of(2);
    cluster.fence(1);
    let result = cluster.create_topic(placed("t", 1, 2));
    assert_eq!(result.error_code, ErrorCode::None);
    let partition = cluster.partition("t", 0);
    assert_eq!(
        (partition.leader, partition.isr),
        (Some(NodeId(2)), ids(&[2]))
    );
    cluster.fence(2);
    let refused = cluster.create_topic(placed("u", 1, 1));
    assert_eq!(refused.error_code, ErrorCode::InvalidReplicationFactor);
}

#[test]
fn topics_are_deleted_by_name_or_by_id() {
    let mut cluster = Cluster::of(1);
    let a = cluster.create_with("a", &[&[1]], &[("retention.ms", "7")]);
    let b = cluster.create("b", &[&[1]]);
    let c = cluster.create("c", &[&[1]]);
    let named = |name: &str, code| (Some(name.to_string()), code);
    let answers = ask_delete(
        &mut cluster,
        vec![
            (Some("a"), Uuid::ZERO),
            (None, b.0),
            (Some("gone"), Uuid::ZERO),
            (None, uuid(9, 9)),
            (Some("c"), c.0),
            (None, Uuid::ZERO),
        ],
    );
    assert_eq!(
        answers,
        [
            (None, ErrorCode::InvalidRequest),
            (None, ErrorCode::UnknownTopicId),
            named("a", ErrorCode::None),
            named("b", ErrorCode::None),
            named("c", ErrorCode::InvalidRequest),
            named("gone", ErrorCode::UnknownTopicOrPartition),
        ]
    );
    assert_eq!(cluster.image().configs().topic("a", "retention.ms"), None);
    assert!(cluster.image().topics().by_id(a).is_none());
    // Twice under the name, twice under the id, once under each.
    for topics in [
        vec![(Some("c"), Uuid::ZERO), (Some("c"), Uuid::ZERO)],
        vec![(None, c.0), (None, c.0)],
        vec![(Some("c"), Uuid::ZERO), (None, c.0)],
    ] {
        let answers = ask_delete(&mut cluster, topics);
        assert!(!answers.is_empty());
        assert!(
            answers
                .iter()
                .all(|(_, code)| *code == ErrorCode::InvalidRequest),
            "{answers:?}"
        );
    }
    assert_eq!(cluster.image().topics().len(), 1);
}

#[test]
fn deletion_can_be_switched_off() {
    let mut cluster = Cluster::with(|config| config.delete_topic_enable = false);
    for (version, expected) in [
        (1, ErrorCode::InvalidRequest),
        (2, ErrorCode::InvalidRequest),
        (3, ErrorCode::TopicDeletionDisabled),
    ] {
        let answer: DeleteTopicsResponse = cluster.speaking(version, |cluster| {
            cluster.ask(DeleteTopicsRequest {
                topic_names: vec!["t".into()],
                ..Default::default()
            })
        });
        assert_eq!(
            answer.responses[0].error_code, expected,
            "in version {version}"
        );
    }
}

#[test]
fn a_topic_with_an_offline_partition_can_be_deleted() {
    let mut cluster = Cluster::of(1);
    cluster.create("t", &[&[1]]);
    cluster.fence(1);
    assert_eq!(cluster.image().topics().leaderless_count(), 1);
    delete(&mut cluster, "t");
    assert_eq!(cluster.image().topics().leaderless_count(), 0);
}

#[test]
fn topics_grow_by_placement_or_by_assignment() {
    let mut cluster = Cluster::of(3);
    cluster.create("t", &[&[1, 2]]);
    assert_eq!(grow(&mut cluster, "t", 3, None), ErrorCode::None);
    assert_eq!(cluster.partition("t", 2).replicas.len(), 2);
    assert_eq!(
        grow(&mut cluster, "t", 5, Some(&[&[3, 1], &[2, 3]])),
        ErrorCode::None
    );
    assert_eq!(cluster.partition("t", 4).replicas, ids(&[2, 3]));
    let cases: [(&str, i32, Option<Assignments<'_>>, ErrorCode); 9] = [
        ("u", 2, None, ErrorCode::UnknownTopicOrPartition),
        ("t", 5, None, ErrorCode::InvalidPartitions),
        ("t", 1, None, ErrorCode::InvalidPartitions),
        ("t", -1, None, ErrorCode::InvalidPartitions),
        (
            "t",
            7,
            Some(&[&[1, 2]]),
            ErrorCode::InvalidReplicaAssignment,
        ),
        ("t", 6, Some(&[&[1]]), ErrorCode::InvalidReplicaAssignment),
        (
            "t",
            6,
            Some(&[&[1, 1]]),
            ErrorCode::InvalidReplicaAssignment,
        ),
        (
            "t",
            6,
            Some(&[&[1, 9]]),
            ErrorCode::InvalidReplicaAssignment,
        ),
        ("t", i32::MAX, None, ErrorCode::PolicyViolation),
    ];
    for (name, count, assignments, expected) in cases {
        assert_eq!(
            grow(&mut cluster, name, count, assignments),
            expected,
            "{name} to {count}"
        );
    }
    assert_eq!(cluster.image().topics().partition_count(), 5);
    cluster.fence(1);
    cluster.fence(2);
    cluster.fence(3);
    assert_eq!(
        grow(&mut cluster, "t", 6, None),
        ErrorCode::InvalidReplicationFactor
    );
    assert_eq!(
        grow(&mut cluster, "t", 6, Some(&[&[1, 2]])),
        ErrorCode::InvalidReplicaAssignment
    );
}

#[test]
fn a_topic_that_is_named_twice_is_not_grown() {
    let mut cluster = Cluster::of(1);
    cluster.create("t", &[&[1]]);
    cluster.create("u", &[&[1]]);
    let topic = |name: &str, count| CreatePartitionsTopic {
        name: name.into(),
        count,
        assignments: None,
        ..Default::default()
    };
    let request = CreatePartitionsRequest {
        topics: vec![topic("t", 2), topic("u", 2), topic("t", 3)],
        ..Default::default()
    };
    let only_asked = CreatePartitionsRequest {
        validate_only: true,
        ..request.clone()
    };
    for (request, grown) in [(only_asked, 1), (request, 2)] {
        let answer: CreatePartitionsResponse = cluster.ask(request);
        let answers: Vec<_> = answer
            .results
            .iter()
            .map(|topic| (topic.name.as_str(), topic.error_code))
            .collect();
        assert_eq!(
            answers,
            [("t", ErrorCode::InvalidRequest), ("u", ErrorCode::None)]
        );
        let topics = cluster.image().topics();
        assert_eq!(topics.by_name("u").expect("there").partition_count(), grown);
    }
}
