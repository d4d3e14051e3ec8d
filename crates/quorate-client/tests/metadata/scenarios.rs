//! What a client does, one behaviour a test.

use std::time::Duration;

use quorate_client::*;
use quorate_protocol::messages::MetadataResponse;
use quorate_types::{ErrorCode, LeaderEpoch, NodeId, Rng};

use super::support::*;

#[test]
fn a_new_client_asks_its_bootstrap_servers_at_once() {
    let mut client = client();
    assert_eq!(client.servers(), [Address::new("bootstrap", 9092)]);
    assert_eq!(client.deadline(), Some(at(0)));
    let call = client.poll_request(at(0)).expect("due");
    assert_eq!(
        names(&call.request),
        Some(vec![]),
        "no topics, but the nodes"
    );
    assert!(client.poll_request(at(0)).is_none(), "one in flight");
    client.answered(at(1), call.ticket, NEWEST, &response(vec![]));
    let servers: Vec<String> = client.servers().iter().map(Address::to_string).collect();
    assert_eq!(servers, ["broker-1:9092", "broker-2:9092", "broker-3:9092"]);
    assert_eq!(client.snapshot().controller, Some(NodeId(2)));
}

#[test]
fn what_is_known_is_asked_for_again_when_it_is_too_old() {
    let mut client = informed();
    assert_eq!(client.deadline(), Some(at(300_000)));
    assert!(client.poll_request(at(299_999)).is_none());
    client.add_topic(at(299_000), "orders");
    let request = update(&mut client, 300_000, vec![topic("orders", 1, &[(1, 5)])]);
    assert_eq!(names(&request), Some(vec!["orders"]));
}

#[test]
fn a_new_topic_is_asked_for_at_once_and_alone() {
    let mut client = informed();
    client.add_topic(at(10), "audit");
    let request = update(&mut client, 10, vec![topic("audit", 2, &[(2, 0)])]);
    assert_eq!(names(&request), Some(vec!["audit"]));
    assert_eq!(
        leader(&client, "orders", 0),
        (Some(1), Some(5)),
        "the others are kept"
    );
    assert_eq!(leader(&client, "audit", 0), (Some(2), Some(0)));
    assert_eq!(
        client.deadline(),
        Some(at(300_000)),
        "of the last full update"
    );
}

#[test]
fn an_answer_to_an_older_question_leaves_the_new_topic_wanted() {
    let mut client = client();
    client.add_topic(at(0), "orders");
    let call = client.poll_request(at(0)).expect("due");
    client.add_topic(at(1), "audit");
    client.answered(
        at(2),
        call.ticket,
        NEWEST,
        &response(vec![topic("orders", 1, &[(1, 5)])]),
    );
    assert!(client.is_update_wanted(at(2)));
    let request = update(&mut client, 200, vec![topic("audit", 2, &[(2, 0)])]);
    assert_eq!(names(&request), Some(vec!["audit"]));
    assert!(!client.is_update_wanted(at(200)));
}

#[test]
fn an_idle_topic_is_dropped_with_the_next_full_update() {
    let mut client = informed();
    client.add_topic(at(10), "audit");
    update(&mut client, 10, vec![topic("audit", 2, &[(2, 0)])]);
    client.add_topic(at(299_000), "audit");
    let request = update(&mut client, 300_000, vec![topic("audit", 2, &[(2, 0)])]);
    assert_eq!(names(&request), Some(vec!["audit"]));
    assert_eq!(leader(&client, "orders", 0), (None, None));
}

#[test]
fn all_topics_are_asked_for_without_names() {
    let mut client = client();
    client.want_all_topics(true);
    let request = update(&mut client, 0, vec![topic("anything", 1, &[(3, 0)])]);
    assert_eq!(names(&request), None);
    assert_eq!(leader(&client, "anything", 0), (Some(3), Some(0)));
}

#[test]
fn failures_back_off_and_wait_again_after_success() {
    let mut client = client();
    let mut now = at(0);
    for expected in [100, 200, 400, 800, 1000, 1000] {
        let call = client.poll_request(now).expect("due");
        client.failed(now, call.ticket);
        let wait = client
            .deadline()
            .expect("a deadline")
            .since(now)
            .as_millis();
        assert!(
            (expected * 8 / 10..=expected * 12 / 10).contains(&wait),
            "{wait}"
        );
        now = client.deadline().expect("a deadline");
    }
    let version = client.version();
    update(&mut client, now.0 / 1000 + 1, vec![]);
    assert_eq!(
        client.version(),
        Version(version.0 + 1),
        "only an answer counts"
    );
}

#[test]
fn an_answer_without_brokers_is_a_failure() {
    let mut client = client();
    let version = client.version();
    let call = client.poll_request(at(0)).expect("due");
    client.answered(at(1), call.ticket, NEWEST, &MetadataResponse::default());
    assert_eq!(client.version(), version);
    assert!(client.is_update_wanted(at(1)));
    assert!(client.deadline().is_some_and(|deadline| deadline >= at(81)));
}

#[test]
fn a_request_that_is_never_answered_is_given_up() {
    let mut client = client();
    let lost = client.poll_request(at(0)).expect("due");
    assert!(client.poll_request(at(29_999)).is_none());
    assert!(client.poll_request(at(30_000)).is_none(), "backs off first");
    let call = client.poll_request(at(30_200)).expect("due");
    let version = client.version();
    client.answered(at(30_201), lost.ticket, NEWEST, &response(vec![]));
    assert_eq!(client.version(), version, "the late answer is ignored");
    client.answered(at(30_202), call.ticket, NEWEST, &response(vec![]));
    assert!(client.version() > version);
}

#[test]
fn equal_answers_slow_a_client_down_and_news_speed_it_up() {
    let mut client = informed();
    let mut now = at(1000);
    let mut waits = Vec::new();
    for _ in 0..5 {
        client.saw_error(ErrorCode::NotLeaderOrFollower);
        let due = client.deadline().expect("a deadline").max(now);
        waits.push(due.since(now).as_millis());
        let call = client.poll_request(due).expect("due");
        let same = response(vec![topic("orders", 1, &[(1, 5)])]);
        client.answered(due, call.ticket, NEWEST, &same);
        now = due;
    }
    assert_eq!(waits[0], 0, "the first is free");
    for (wait, expected) in waits[1..].iter().zip([100, 200, 400, 800]) {
        assert!(
            (expected * 8 / 10..=expected * 12 / 10).contains(wait),
            "{waits:?}"
        );
    }
    client.saw_error(ErrorCode::NotLeaderOrFollower);
    let due = client.deadline().expect("a deadline");
    let call = client.poll_request(due).expect("due");
    client.answered(
        due,
        call.ticket,
        NEWEST,
        &response(vec![topic("orders", 1, &[(2, 6)])]),
    );
    client.saw_error(ErrorCode::NotLeaderOrFollower);
    let wait = client
        .deadline()
        .expect("a deadline")
        .since(due)
        .as_millis();
    assert!((80..=120).contains(&wait), "{wait}");
}

#[test]
fn only_errors_about_leadership_ask_for_an_update() {
    for (error, asks) in [
        (ErrorCode::NotLeaderOrFollower, true),
        (ErrorCode::NetworkException, true),
        (ErrorCode::UnknownTopicId, true),
        (ErrorCode::MessageTooLarge, false),
        (ErrorCode::RequestTimedOut, false),
        (ErrorCode::None, false),
    ] {
        let mut client = informed();
        client.saw_error(error);
        assert_eq!(client.is_update_wanted(at(1)), asks, "{error}");
    }
}

#[test]
fn an_error_in_an_answer_asks_again() {
    let mut client = informed();
    client.request_update();
    update(&mut client, 1000, vec![topic("orders", 1, &[(-1, 6)])]);
    assert!(client.is_update_wanted(at(1000)), "no leader yet");
    update(
        &mut client,
        2000,
        vec![refused("orders", ErrorCode::UnknownTopicOrPartition)],
    );
    assert!(client.is_update_wanted(at(2000)), "gone, or not there yet");
}

#[test]
fn an_older_epoch_does_not_undo_a_newer_one() {
    let mut client = informed();
    client.request_update();
    update(&mut client, 1000, vec![topic("orders", 1, &[(2, 4)])]);
    assert_eq!(leader(&client, "orders", 0), (Some(1), Some(5)));
}

#[test]
fn a_topic_created_again_starts_over_with_its_epochs() {
    let mut client = informed();
    client.request_update();
    update(&mut client, 1000, vec![topic("orders", 9, &[(3, 0)])]);
    assert_eq!(leader(&client, "orders", 0), (Some(3), Some(0)));
}

#[test]
fn epochs_from_old_brokers_are_not_trusted() {
    let mut client = informed();
    client.request_update();
    let call = client.poll_request(at(1000)).expect("due");
    client.answered(
        at(1000),
        call.ticket,
        8,
        &response(vec![topic("orders", 1, &[(2, 3)])]),
    );
    assert_eq!(leader(&client, "orders", 0), (Some(2), None));
}

#[test]
fn a_newer_epoch_heard_elsewhere_makes_the_leader_unknown_until_an_update() {
    let mut client = informed();
    assert!(!client.heard_epoch("orders", 0, LeaderEpoch(5)));
    assert!(!client.heard_epoch("unknown", 0, LeaderEpoch(9)));
    assert!(!client.is_update_wanted(at(1)));
    assert!(client.heard_epoch("orders", 0, LeaderEpoch(6)));
    assert_eq!(leader(&client, "orders", 0), (None, Some(6)));
    assert!(client.is_update_wanted(at(1)));
    update(&mut client, 1000, vec![topic("orders", 1, &[(1, 5)])]);
    assert_eq!(
        leader(&client, "orders", 0),
        (None, Some(6)),
        "an old answer"
    );
    client.request_update();
    update(&mut client, 2000, vec![topic("orders", 1, &[(2, 6)])]);
    assert_eq!(leader(&client, "orders", 0), (Some(2), Some(6)));
}

#[test]
fn a_leader_named_in_passing_is_taken_if_newer_and_known() {
    let node = |id| Node {
        id: NodeId(id),
        address: Address::new("elsewhere", 1),
        rack: None,
    };
    let named = |leader, epoch| NamedLeader {
        leader: NodeId(leader),
        epoch: LeaderEpoch(epoch),
    };
    let rows: [(&str, NamedLeader, Vec<Node>, bool); 6] = [
        ("orders", named(2, 6), vec![], true),
        ("orders", named(9, 6), vec![node(9)], true),
        ("orders", named(9, 6), vec![], false),
        ("orders", named(2, 5), vec![], false),
        ("orders", named(2, 4), vec![], false),
        ("unknown", named(2, 6), vec![], false),
    ];
    for (topic, leader_named, nodes, taken) in rows {
        let mut client = informed();
        let version = client.version();
        assert_eq!(client.heard_leader(topic, 0, leader_named, &nodes), taken);
        let expected = match taken {
            true => (Some(leader_named.leader.0), Some(6)),
            false => (Some(1), Some(5)),
        };
        assert_eq!(leader(&client, "orders", 0), expected);
        assert_eq!(client.version(), version, "no update");
    }
}

#[test]
fn a_wait_ends_with_a_newer_version_with_time_or_with_the_client() {
    let mut client = informed();
    let version = client.request_update();
    let wait = client.wait(at(1000), version, Duration::from_secs(1));
    assert_eq!(
        wait.check(&client, at(1000)),
        WaitState::Pending { until: at(2000) }
    );
    assert_eq!(wait.check(&client, at(2000)), WaitState::TimedOut);
    update(&mut client, 1500, vec![topic("orders", 1, &[(1, 5)])]);
    assert_eq!(
        wait.check(&client, at(1500)),
        WaitState::Updated(Version(version.0 + 1))
    );
    let wait = client.wait(at(3000), client.version(), Duration::from_secs(1));
    client.fail(ErrorCode::ClusterAuthorizationFailed);
    let fault = Fault::Fatal(ErrorCode::ClusterAuthorizationFailed);
    assert_eq!(wait.check(&client, at(3001)), WaitState::Failed(fault));
    client.close();
    assert_eq!(
        wait.check(&client, at(3001)),
        WaitState::Failed(Fault::Closed)
    );
    assert_eq!(
        (client.deadline(), client.poll_request(at(999_999))),
        (None, None)
    );
}

#[test]
fn a_producer_waits_until_the_topic_and_the_partition_are_there() {
    let mut client = client();
    let mut wait = PartitionWait::new(at(0), Duration::from_secs(60), "orders", Some(1));
    let pending = PartitionState::Pending { until: at(60_000) };
    assert_eq!(wait.check(&mut client, at(0)), pending);
    update(
        &mut client,
        0,
        vec![refused("orders", ErrorCode::UnknownTopicOrPartition)],
    );
    assert_eq!(wait.check(&mut client, at(1)), pending);
    update(&mut client, 1000, vec![topic("orders", 1, &[(1, 0)])]);
    assert_eq!(
        wait.check(&mut client, at(1000)),
        pending,
        "one partition is too few"
    );
    update(
        &mut client,
        2000,
        vec![topic("orders", 1, &[(1, 0), (2, 0)])],
    );
    let known = PartitionState::Known { partitions: 2 };
    assert_eq!(wait.check(&mut client, at(2000)), known);

    let mut other = PartitionWait::new(at(0), Duration::from_secs(60), "orders", Some(7));
    let missing = PartitionState::TimedOut(Missing::Partition { partitions: 2 });
    assert_eq!(other.check(&mut client, at(60_000)), missing);
    let mut nobody = PartitionWait::new(at(0), Duration::from_secs(60), "nobody", None);
    let missing = PartitionState::TimedOut(Missing::Topic);
    assert_eq!(nobody.check(&mut client, at(60_000)), missing);
}

#[test]
fn a_topic_that_is_refused_ends_the_wait_until_it_is_allowed() {
    for error in [
        ErrorCode::TopicAuthorizationFailed,
        ErrorCode::InvalidTopicException,
    ] {
        let mut client = client();
        let mut wait = PartitionWait::new(at(0), Duration::from_secs(60), "secret", None);
        wait.check(&mut client, at(0));
        update(&mut client, 0, vec![refused("secret", error)]);
        assert_eq!(
            wait.check(&mut client, at(1)),
            PartitionState::Refused(error)
        );
        client.request_update();
        update(&mut client, 1000, vec![topic("secret", 1, &[(1, 0)])]);
        let known = PartitionState::Known { partitions: 1 };
        assert_eq!(wait.check(&mut client, at(1000)), known);
    }
}

#[test]
fn with_no_usable_node_a_client_starts_over_but_keeps_its_epochs() {
    let mut client = informed();
    let version = client.version();
    client.no_node_usable(at(1000));
    assert_eq!(client.servers(), [Address::new("bootstrap", 9092)]);
    assert_eq!(client.version(), Version(version.0 + 1));
    assert_eq!(leader(&client, "orders", 0), (None, Some(5)));
    let due = client.deadline().expect("a deadline");
    let call = client.poll_request(due).expect("due");
    client.answered(
        due,
        call.ticket,
        NEWEST,
        &response(vec![topic("orders", 1, &[(3, 7)])]),
    );
    assert_eq!(leader(&client, "orders", 0), (Some(3), Some(7)));
}

#[test]
fn a_client_starts_over_when_told_to() {
    let mut client = informed();
    client.request_update();
    let call = client.poll_request(at(1000)).expect("due");
    let told = MetadataResponse {
        error_code: ErrorCode::RebootstrapRequired,
        ..response(vec![])
    };
    client.answered(at(1000), call.ticket, NEWEST, &told);
    assert_eq!(client.servers(), [Address::new("bootstrap", 9092)]);
    assert!(client.is_update_wanted(at(1000)));
}

#[test]
fn a_client_starts_over_after_300_seconds_without_an_answer() {
    let mut client = informed();
    client.request_update();
    let mut now = at(1000);
    let started = loop {
        if let Some(call) = client.poll_request(now) {
            if client.servers().len() == 1 {
                break now;
            }
            client.failed(now, call.ticket);
        }
        assert!(now < at(400_000), "never starts over");
        now = now.max(client.deadline().expect("a deadline"));
    };
    assert!((at(301_000)..at(302_500)).contains(&started), "{started}");
}

#[test]
fn without_rebootstrap_the_nodes_are_kept() {
    let mut config = ClientConfig::new([Address::new("bootstrap", 9092)]);
    config.rebootstrap_after = None;
    let mut client = ClientMetadata::new(config, Rng::new(1));
    update(&mut client, 0, vec![]);
    client.no_node_usable(at(1));
    assert_eq!(client.servers().len(), 3);
}
