//! Configurations: changed, checked, described.

use quorate_controller::configs::DescribeContext;
use quorate_controller::{describe_cluster, describe_configs};
use quorate_metadata::{ConfigKind, ConfigResource};
use quorate_protocol::messages::controller_registration::{
    ControllerRegistrationRequest, Listener,
};
use quorate_protocol::messages::describe_configs::{
    DescribeConfigsRequest, DescribeConfigsResource, DescribeConfigsResult,
};
use quorate_protocol::messages::{
    AlterConfigsResponse, ControllerRegistrationResponse, DescribeClusterRequest,
    IncrementalAlterConfigsRequest, IncrementalAlterConfigsResponse,
};
use quorate_types::{ErrorCode, NodeId};

use crate::cluster::{Cluster, replace_configs};

/// A type and a name.
type Resource<'a> = (i8, &'a str);
/// An operation, a name and a value.
type Change<'a> = (i8, &'a str, Option<&'a str>);

const TOPIC: i8 = 2;
const BROKER: i8 = 4;
const METRICS: i8 = 16;
const GROUP: i8 = 32;

fn topic_with_policy() -> Cluster {
    let mut cluster = Cluster::of(1);
    cluster.create("t", &[&[1]]);
    cluster
}

#[test]
fn values_are_set_deleted_appended_and_subtracted() {
    let mut cluster = topic_with_policy();
    let value =
        |cluster: &Cluster, name| cluster.image().configs().topic("t", name).map(String::from);
    cluster.set("t", "retention.ms", "10");
    assert_eq!(value(&cluster, "retention.ms").as_deref(), Some("10"));
    let steps: [(i8, Option<&str>, Option<&str>); 5] = [
        // The default is what is appended to.
        (2, Some("compact"), Some("delete,compact")),
        (2, Some("compact,delete"), Some("delete,compact")),
        (3, Some("delete"), Some("compact")),
        (3, Some("compact"), Some("")),
        (1, None, None),
    ];
    for (operation, operand, expected) in steps {
        let changes = [(operation, "cleanup.policy", operand)];
        assert_eq!(cluster.configure((TOPIC, "t"), &changes), ErrorCode::None);
        assert_eq!(value(&cluster, "cleanup.policy").as_deref(), expected);
    }
}

#[test]
fn an_unchanged_value_is_no_record_but_for_brokers() {
    let mut cluster = topic_with_policy();
    cluster.set("t", "retention.ms", "10");
    let names = cluster.names(|cluster| cluster.set("t", "retention.ms", "10"));
    assert!(names.is_empty());
    for _ in 0..2 {
        let names = cluster.names(|cluster| {
            let changes = [(0, "log.cleaner.threads", Some("2"))];
            assert_eq!(cluster.configure((BROKER, "1"), &changes), ErrorCode::None);
        });
        assert_eq!(names, ["ConfigRecord"]);
    }
}

#[test]
fn changes_are_refused_resource_by_resource() {
    let mut cluster = topic_with_policy();
    let long = "x".repeat(32_768);
    let cases: Vec<(Resource<'_>, Change<'_>, ErrorCode)> = vec![
        (
            (TOPIC, "t"),
            (0, "retention.ms", Some("x")),
            ErrorCode::InvalidConfig,
        ),
        (
            (TOPIC, "t"),
            (0, "no.such", Some("x")),
            ErrorCode::InvalidConfig,
        ),
        (
            (TOPIC, "t"),
            (0, "min.compaction.lag.ms", Some("9223372036854775807")),
            ErrorCode::None,
        ),
        (
            (TOPIC, "t"),
            (0, "max.compaction.lag.ms", Some("5")),
            ErrorCode::InvalidConfig,
        ),
        (
            (TOPIC, "t"),
            (0, "remote.storage.enable", Some("true")),
            ErrorCode::InvalidConfig,
        ),
        (
            (TOPIC, "t"),
            (0, "compression.type", Some(&long)),
            ErrorCode::InvalidConfig,
        ),
        (
            (TOPIC, "t"),
            (2, "retention.ms", Some("1")),
            ErrorCode::InvalidConfig,
        ),
        (
            (TOPIC, "t"),
            (0, "retention.ms", None),
            ErrorCode::InvalidRequest,
        ),
        (
            (TOPIC, "t"),
            (7, "retention.ms", Some("1")),
            ErrorCode::InvalidRequest,
        ),
        (
            (TOPIC, ""),
            (0, "retention.ms", Some("1")),
            ErrorCode::InvalidRequest,
        ),
        (
            (TOPIC, "a b"),
            (0, "retention.ms", Some("1")),
            ErrorCode::InvalidTopicException,
        ),
        (
            (TOPIC, "u"),
            (0, "retention.ms", Some("1")),
            ErrorCode::UnknownTopicOrPartition,
        ),
        (
            (BROKER, "x"),
            (0, "a", Some("1")),
            ErrorCode::InvalidRequest,
        ),
        (
            (BROKER, "-1"),
            (0, "a", Some("1")),
            ErrorCode::InvalidRequest,
        ),
        (
            (BROKER, "9"),
            (0, "a", Some("1")),
            ErrorCode::BrokerIdNotRegistered,
        ),
        ((BROKER, "100"), (0, "a", Some("1")), ErrorCode::None),
        (
            (BROKER, "1"),
            (0, "min.insync.replicas", Some("1")),
            ErrorCode::InvalidConfig,
        ),
        (
            (BROKER, ""),
            (1, "min.insync.replicas", None),
            ErrorCode::InvalidConfig,
        ),
        (
            (BROKER, ""),
            (0, "min.insync.replicas", Some("2")),
            ErrorCode::None,
        ),
        (
            (8, "1"),
            (0, "kafka", Some("INFO")),
            ErrorCode::InvalidRequest,
        ),
        ((3, "1"), (0, "a", Some("1")), ErrorCode::UnsupportedVersion),
        (
            (METRICS, "m"),
            (0, "interval.ms", Some("99")),
            ErrorCode::InvalidRequest,
        ),
        ((METRICS, "m"), (2, "metrics", Some("a.b")), ErrorCode::None),
        (
            (METRICS, ""),
            (0, "interval.ms", Some("100")),
            ErrorCode::InvalidRequest,
        ),
        (
            (GROUP, "g"),
            (0, "consumer.session.timeout.ms", Some("1")),
            ErrorCode::InvalidConfig,
        ),
        (
            (GROUP, "g"),
            (0, "consumer.session.timeout.ms", Some("50000")),
            ErrorCode::None,
        ),
        (
            (GROUP, ""),
            (0, "consumer.session.timeout.ms", Some("50000")),
            ErrorCode::InvalidRequest,
        ),
    ];
    for (resource, change, expected) in cases {
        let end = cluster.solo.end();
        assert_eq!(
            cluster.configure(resource, &[change]),
            expected,
            "{resource:?} {:?}",
            change.1
        );
        assert_eq!(
            cluster.solo.end() != end,
            expected.is_none(),
            "{resource:?} {:?}",
            change.1
        );
    }
}

#[test]
fn one_bad_change_refuses_its_whole_resource() {
    let mut cluster = topic_with_policy();
    let changes = [
        (0, "retention.ms", Some("10")),
        (0, "segment.ms", Some("0")),
    ];
    assert_eq!(
        cluster.configure((TOPIC, "t"), &changes),
        ErrorCode::InvalidConfig
    );
    assert_eq!(cluster.image().configs().topic("t", "retention.ms"), None);
    let twice = [(0, "retention.ms", Some("10")), (1, "retention.ms", None)];
    assert_eq!(
        cluster.configure((TOPIC, "t"), &twice),
        ErrorCode::InvalidRequest
    );
}

#[test]
fn a_resource_that_is_named_twice_is_answered_once() {
    use quorate_protocol::messages::incremental_alter_configs::{
        AlterConfigsResource, AlterableConfig,
    };
    let mut cluster = topic_with_policy();
    cluster.create("u", &[&[1]]);
    let resource = |name: &str, value: &str| AlterConfigsResource {
        resource_type: TOPIC,
        resource_name: name.into(),
        configs: vec![AlterableConfig {
            name: "retention.ms".into(),
            value: Some(value.into()),
            ..Default::default()
        }],
        ..Default::default()
    };
    let request = IncrementalAlterConfigsRequest {
        resources: vec![resource("t", "1"), resource("u", "2"), resource("t", "3")],
        ..Default::default()
    };
    let answer: IncrementalAlterConfigsResponse = cluster.ask(request);
    let mut answers: Vec<_> = answer
        .responses
        .iter()
        .map(|r| (r.resource_name.as_str(), r.error_code))
        .collect();
    answers.sort();
    assert_eq!(
        answers,
        [("t", ErrorCode::InvalidRequest), ("u", ErrorCode::None)]
    );
    assert_eq!(
        cluster.image().configs().topic("u", "retention.ms"),
        Some("2")
    );
}

#[test]
fn the_old_request_replaces_everything() {
    let mut cluster = topic_with_policy();
    cluster.set("t", "retention.ms", "10");
    cluster.set("t", "segment.ms", "10");
    let names = cluster.names(|cluster| {
        let request = replace_configs("t", &[("retention.ms", "10"), ("flush.ms", "5")]);
        let answer: AlterConfigsResponse = cluster.ask(request);
        assert_eq!(answer.responses[0].error_code, ErrorCode::None);
    });
    assert_eq!(names, ["ConfigRecord", "ConfigRecord"]);
    let resource = ConfigResource::topic("t");
    let entries: Vec<_> = cluster.image().configs().entries(&resource).collect();
    assert_eq!(entries, [("flush.ms", "5"), ("retention.ms", "10")]);
    let answer: AlterConfigsResponse = cluster.ask(replace_configs("t", &[("flush.ms", "-1")]));
    assert_eq!(answer.responses[0].error_code, ErrorCode::InvalidConfig);
}

#[test]
fn the_clusters_min_insync_replicas_clears_every_elr() {
    let mut cluster = Cluster::of(2);
    cluster.create_with("t", &[&[1, 2]], &[("min.insync.replicas", "2")]);
    cluster.fence(2);
    assert_eq!(cluster.show("t"), "1 [1] elr [2]");
    let names = cluster.names(|cluster| {
        let changes = [(0, "min.insync.replicas", Some("2"))];
        assert_eq!(cluster.configure((BROKER, ""), &changes), ErrorCode::None);
    });
    assert_eq!(names, ["ConfigRecord", "ClearElrRecord"]);
    assert_eq!(cluster.show("t"), "1 [1]");
}

#[test]
fn validation_alone_changes_nothing() {
    let mut cluster = topic_with_policy();
    let mut request = replace_configs("t", &[("retention.ms", "10")]);
    request.validate_only = true;
    let names = cluster.names(|cluster| {
        let answer: AlterConfigsResponse = cluster.ask(request);
        assert_eq!(answer.responses[0].error_code, ErrorCode::None);
    });
    assert!(names.is_empty());
    assert_eq!(cluster.image().configs().topic("t", "retention.ms"), None);
}

fn describe(
    cluster: &Cluster,
    kind: i8,
    name: &str,
    keys: Option<&[&str]>,
) -> DescribeConfigsResult {
    let resource = DescribeConfigsResource {
        resource_type: kind,
        resource_name: name.into(),
        configuration_keys: keys.map(|keys| keys.iter().map(ToString::to_string).collect()),
        ..Default::default()
    };
    let request = DescribeConfigsRequest {
        resources: vec![resource],
        include_synonyms: true,
        ..Default::default()
    };
    let settings = [
        ("log.retention.hours", "2"),
        ("log.retention.minutes", "90"),
    ];
    let context = DescribeContext {
        image: cluster.image(),
        node: NodeId(1),
        settings: &settings
            .map(|(name, value)| (name.to_string(), value.to_string()))
            .into(),
    };
    let mut answer = describe_configs(context, &request);
    answer.results.remove(0)
}

#[test]
fn a_topic_is_described_with_every_value_and_where_it_comes_from() {
    let mut cluster = topic_with_policy();
    cluster.set("t", "segment.ms", "10");
    let changes = [(0, "log.roll.ms", Some("20"))];
    assert_eq!(cluster.configure((BROKER, "1"), &changes), ErrorCode::None);
    assert_eq!(cluster.configure((BROKER, ""), &changes), ErrorCode::None);
    let all = describe(&cluster, TOPIC, "t", None);
    assert_eq!((all.error_code, all.configs.len()), (ErrorCode::None, 33));
    let find = |name: &str| {
        all.configs
            .iter()
            .find(|config| config.name == name)
            .expect(name)
    };
    let segment = find("segment.ms");
    assert_eq!(
        (segment.value.as_deref(), segment.config_source),
        (Some("10"), 1)
    );
    let synonyms: Vec<_> = segment
        .synonyms
        .iter()
        .map(|synonym| {
            (
                synonym.name.as_str(),
                synonym.value.as_deref(),
                synonym.source,
            )
        })
        .collect();
    assert_eq!(
        synonyms,
        [
            ("segment.ms", Some("10"), 1),
            ("log.roll.ms", Some("20"), 2),
            ("log.roll.ms", Some("20"), 3),
            ("log.roll.ms", Some("604800000"), 5),
        ]
    );
    // Of the static ones minutes go before hours, and both are milliseconds for a topic.
    let retention = find("retention.ms");
    assert_eq!(
        (retention.value.as_deref(), retention.config_source),
        (Some("5400000"), 4)
    );
    assert_eq!(find("min.insync.replicas").config_source, 3);
    assert_eq!(find("cleanup.policy").config_type, 7);
    let one = describe(&cluster, TOPIC, "t", Some(&["segment.ms", "no.such"]));
    assert_eq!(one.configs.len(), 1);
    assert_eq!(
        describe(&cluster, TOPIC, "u", None).error_code,
        ErrorCode::UnknownTopicOrPartition
    );
    assert_eq!(
        describe(&cluster, TOPIC, "", None).error_code,
        ErrorCode::InvalidTopicException
    );
}

#[test]
fn other_resources_are_described_as_far_as_they_are_known() {
    let mut cluster = topic_with_policy();
    let group = describe(&cluster, GROUP, "g", None);
    assert_eq!(group.configs.len(), 11);
    let metrics = describe(&cluster, METRICS, "m", None);
    assert_eq!(metrics.configs.len(), 3);
    let changes = [
        (0, "ssl.key.password", Some("hush")),
        (0, "message.max.bytes", Some("1000")),
    ];
    assert_eq!(cluster.configure((BROKER, "1"), &changes), ErrorCode::None);
    let broker = describe(&cluster, BROKER, "1", None);
    let shown: Vec<_> = broker
        .configs
        .iter()
        .map(|config| {
            (
                config.name.as_str(),
                config.value.as_deref(),
                config.config_source,
            )
        })
        .collect();
    assert_eq!(
        shown,
        [
            ("message.max.bytes", Some("1000"), 2),
            ("ssl.key.password", None, 2)
        ]
    );
    let all = describe(&cluster, BROKER, "", None);
    assert_eq!(all.configs[0].name, "min.insync.replicas");
    assert_eq!(
        describe(&cluster, 3, "x", None).error_code,
        ErrorCode::InvalidRequest
    );
    assert_eq!(ConfigKind(GROUP), ConfigKind::GROUP);
}

#[test]
fn the_controllers_describe_themselves_by_listener() {
    let mut cluster = Cluster::new();
    for (id, name) in [(100, "CONTROLLER"), (101, "CONTROLLER"), (102, "OTHER")] {
        let listener = Listener {
            name: name.into(),
            host: format!("host-{id}"),
            port: 9093,
            ..Default::default()
        };
        let _: ControllerRegistrationResponse = cluster.ask(ControllerRegistrationRequest {
            controller_id: id,
            listeners: vec![listener],
            ..Default::default()
        });
    }
    let ask = |endpoint_type, version, leader| {
        let request = DescribeClusterRequest {
            endpoint_type,
            ..Default::default()
        };
        let leader = Some(NodeId(leader));
        describe_cluster(
            cluster.image(),
            "stories",
            "CONTROLLER",
            leader,
            &request,
            version,
        )
    };
    let answer = ask(2, 1, 101);
    let nodes: Vec<_> = answer.brokers.iter().map(|node| node.broker_id).collect();
    assert_eq!(
        (answer.error_code, answer.controller_id, nodes),
        (ErrorCode::None, 101, vec![100, 101])
    );
    assert_eq!(ask(2, 1, 102).controller_id, -1);
    assert_eq!(ask(1, 1, 100).error_code, ErrorCode::MismatchedEndpointType);
    assert_eq!(
        ask(3, 1, 100).error_code,
        ErrorCode::UnsupportedEndpointType
    );
    assert_eq!(ask(1, 0, 100).error_code, ErrorCode::InvalidRequest);
    let old = Cluster::at(14);
    let request = DescribeClusterRequest {
        endpoint_type: 2,
        ..Default::default()
    };
    let answer = describe_cluster(old.image(), "stories", "CONTROLLER", None, &request, 1);
    assert_eq!(answer.error_code, ErrorCode::UnsupportedVersion);
}
