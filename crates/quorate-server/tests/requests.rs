//! What a controller's listener takes, what it closes the connection for, and how it answers what is
//! wrapped in an envelope.

mod common;

use bytes::{BufMut, Bytes, BytesMut};
use common::*;
use quorate_protocol::DefaultPrincipalData;
use quorate_protocol::codec::{Message, Sink, Writer};
use quorate_protocol::messages::describe_quorum::{RequestPartitionData, RequestTopicData};
use quorate_protocol::messages::{
    ApiKey, ApiVersionsRequest, BrokerHeartbeatRequest, DescribeQuorumRequest, EnvelopeRequest,
    EnvelopeResponse, Request, Response,
};
use quorate_types::{ErrorCode, NodeId};

/// A request header of version 1 and some bytes.
fn raw(api: i16, version: i16, body: &[u8]) -> Bytes {
    let mut frame = BytesMut::new();
    frame.put_i16(api);
    frame.put_i16(version);
    frame.put_i32(7);
    frame.put_i16(-1);
    frame.put_slice(body);
    frame.freeze()
}

fn versions() -> Request {
    Request::from(ApiVersionsRequest {
        client_software_name: "test".into(),
        client_software_version: "1".into(),
        ..Default::default()
    })
}

fn quorum_request() -> Request {
    Request::from(DescribeQuorumRequest {
        topics: vec![RequestTopicData {
            topic_name: "__cluster_metadata".into(),
            partitions: vec![RequestPartitionData::default()],
            ..Default::default()
        }],
        ..Default::default()
    })
}

fn principal() -> Bytes {
    let principal = DefaultPrincipalData {
        principal_type: "User".into(),
        name: "alice".into(),
        ..Default::default()
    };
    let mut writer = Writer::with_capacity(32);
    writer.put_i16(0);
    principal.encode(0, &mut writer).unwrap();
    writer.freeze()
}

fn envelope(inner: Bytes) -> EnvelopeRequest {
    EnvelopeRequest {
        request_data: inner,
        request_principal: Some(principal()),
        client_host_address: Bytes::from_static(&[127, 0, 0, 1]),
        ..Default::default()
    }
}

/// Sends an envelope; its answer.
fn wrapped(lab: &mut Lab, node: NodeId, envelope: EnvelopeRequest) -> EnvelopeResponse {
    match lab.call(node, &envelope.into()) {
        Some(Response::Envelope(answer)) => answer,
        other => panic!("{other:?} answers no envelope"),
    }
}

#[test]
fn what_is_not_listed_closes_the_connection() {
    let (mut lab, active) = Lab::up(1, 0);
    let produce = raw(ApiKey::Produce.code(), 9, &[0; 20]);
    let metadata = raw(ApiKey::Metadata.code(), 9, &[0; 20]);
    let unknown_key = raw(12_345, 0, &[]);
    let negative_key = raw(-1, 0, &[]);
    let old_fetch = raw(ApiKey::Fetch.code(), 3, &[0; 60]);
    let new_vote = raw(ApiKey::Vote.code(), 99, &[0; 60]);
    let negative_version = raw(ApiKey::CreateTopics.code(), -1, &[0; 60]);
    for frame in [
        produce,
        metadata,
        unknown_key,
        negative_key,
        old_fetch,
        new_vote,
        negative_version,
    ] {
        assert!(lab.is_closed_by(active, frame.clone()), "{frame:?}");
    }
    assert!(lab.call(active, &versions()).is_some(), "others are served");
}

#[test]
fn what_cannot_be_read_closes_the_connection() {
    let (mut lab, active) = Lab::up(1, 0);
    let whole = frame(7, 1, &creation(&["orders"]));
    for length in 0..whole.len() {
        assert!(lab.is_closed_by(active, whole.slice(..length)), "{length}");
    }
    assert!(!lab.has_topic(active, "orders"));
}

#[test]
fn an_unknown_version_of_api_versions_is_answered_in_version_0() {
    let (mut lab, active) = Lab::up(1, 1);
    for node in [active, broker(1)] {
        let conn = lab.connect(node);
        let mut newer = BytesMut::from(&raw(ApiKey::ApiVersions.code(), 99, &[])[..]);
        newer.put_slice(&[0, 1, 2, 3]);
        lab.send(conn, newer.freeze());
        let answer = lab.answer(conn).unwrap();
        // Correlation id and error, and a list of the one API whose versions matter now.
        assert_eq!(answer[..6], [0, 0, 0, 7, 0, 35]);
        let Response::ApiVersions(answer) = read(ApiKey::ApiVersions, 4, 7, &answer) else {
            panic!("another answer than was asked for");
        };
        assert_eq!(answer.api_keys.len(), 1);
        assert_eq!(answer.api_keys[0].api_key, ApiKey::ApiVersions.code());
        // The client asks again, on the same connection.
        let correlation = lab.ask(conn, answer.api_keys[0].max_version, &versions());
        let answer = lab.answer(conn).unwrap();
        let version = newest(&versions());
        let answer = read(ApiKey::ApiVersions, version, correlation, &answer);
        assert!(matches!(answer, Response::ApiVersions(answer) if answer.api_keys.len() > 10));
    }
}

#[test]
fn answers_of_one_connection_keep_the_order_of_its_requests() {
    let (mut lab, active) = Lab::up(3, 1);
    let conn = lab.connect(active);
    // A create waits for disks, the others for nothing.
    let slow = lab.ask(conn, 7, &creation(&["orders"]));
    let quick = lab.ask(conn, newest(&versions()), &versions());
    let quorum = lab.ask(conn, 2, &quorum_request());
    for expected in [slow, quick, quorum] {
        let answer = lab.answer(conn).unwrap();
        assert_eq!(answer[..4], expected.to_be_bytes());
    }
}

#[test]
fn a_wrapped_request_is_answered_with_its_own_response() {
    let (mut lab, active) = Lab::up(3, 1);
    let answer = wrapped(
        &mut lab,
        active,
        envelope(frame(7, 77, &creation(&["orders"]))),
    );
    assert_eq!(answer.error_code, ErrorCode::None);
    let inner = read(ApiKey::CreateTopics, 7, 77, &answer.response_data.unwrap());
    assert_eq!(created(&inner), ErrorCode::None);
    assert!(lab.has_topic(active, "orders"));
    let answer = wrapped(&mut lab, active, envelope(frame(2, 78, &quorum_request())));
    let inner = read(
        ApiKey::DescribeQuorum,
        2,
        78,
        &answer.response_data.unwrap(),
    );
    let Response::DescribeQuorum(inner) = inner else {
        panic!("another answer than was asked for");
    };
    assert_eq!(inner.topics[0].partitions[0].leader_id, active.0);
}

#[test]
fn a_standby_answers_the_envelope_itself_with_not_controller_and_no_data() {
    let (mut lab, active) = Lab::up(3, 1);
    let standby = (1..=3).map(controller).find(|id| *id != active).unwrap();
    for inner in [
        frame(7, 1, &creation(&["orders"])),
        frame(2, 1, &quorum_request()),
    ] {
        let answer = wrapped(&mut lab, standby, envelope(inner));
        assert_eq!(answer.error_code, ErrorCode::NotController);
        assert_eq!(answer.response_data, None);
    }
    // Asked without an envelope, the error stands in the answer's own fields.
    let bare = lab.call(standby, &creation(&["orders"])).unwrap();
    assert_eq!(created(&bare), ErrorCode::NotController);
    let Some(Response::DescribeQuorum(bare)) = lab.call(standby, &quorum_request()) else {
        panic!("another answer than was asked for");
    };
    let partition = &bare.topics[0].partitions[0];
    assert_eq!(partition.error_code, ErrorCode::NotLeaderOrFollower);
    assert!(!lab.has_topic(active, "orders"));
}

#[test]
fn an_envelope_that_cannot_be_unwrapped_says_why() {
    let (mut lab, active) = Lab::up(1, 1);
    let create = || envelope(frame(7, 1, &creation(&["orders"])));
    let heartbeat = Request::from(BrokerHeartbeatRequest::default());
    let cases = [
        (
            "not forwardable",
            envelope(frame(1, 1, &heartbeat)),
            ErrorCode::InvalidRequest,
        ),
        (
            "an unknown API",
            envelope(raw(12_345, 0, &[])),
            ErrorCode::InvalidRequest,
        ),
        (
            "an address of three bytes",
            EnvelopeRequest {
                client_host_address: Bytes::from_static(&[1, 2, 3]),
                ..create()
            },
            ErrorCode::InvalidRequest,
        ),
        (
            "no header",
            envelope(Bytes::from_static(&[0, 19, 0])),
            ErrorCode::UnsupportedVersion,
        ),
        (
            "a cut body",
            envelope(frame(7, 1, &creation(&["orders"])).slice(..25)),
            ErrorCode::UnsupportedVersion,
        ),
        (
            "an unknown version",
            envelope(raw(ApiKey::CreateTopics.code(), 99, &[0; 40])),
            ErrorCode::UnsupportedVersion,
        ),
        (
            "no principal",
            EnvelopeRequest {
                request_principal: None,
                ..create()
            },
            ErrorCode::PrincipalDeserializationFailure,
        ),
        (
            "a principal of another kind",
            EnvelopeRequest {
                request_principal: Some(Bytes::from_static(b"\0\0alice")),
                ..create()
            },
            ErrorCode::PrincipalDeserializationFailure,
        ),
    ];
    for (what, request, error) in cases {
        let answer = wrapped(&mut lab, active, request);
        assert_eq!(
            (answer.error_code, answer.response_data),
            (error, None),
            "{what}"
        );
    }
    assert!(!lab.has_topic(active, "orders"));
}

#[test]
fn a_client_that_leaves_takes_nothing_with_it() {
    let (mut lab, active) = Lab::up(3, 1);
    let (conn, _) = lab.start_call(active, &creation(&["orders"]));
    lab.close(conn);
    assert!(lab.run_until(SOON, |lab| lab.has_topic(active, "orders")));
    assert!(lab.call(active, &versions()).is_some());
}
