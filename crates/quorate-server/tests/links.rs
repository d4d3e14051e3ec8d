//! Connections that a node makes, and the calls over them.

use std::time::Duration;

use bytes::Bytes;
use quorate_protocol::codec::Reader;
use quorate_protocol::messages::api_versions::ApiVersion;
use quorate_protocol::messages::{
    ApiKey, ApiVersionsResponse, CreateTopicsRequest, CreateTopicsResponse, Request, RequestHeader,
    Response, VoteRequest, VoteResponse,
};
use quorate_server::frames;
use quorate_server::io::{Address, ConnId, Output};
use quorate_server::links::{CallError, ConnNames, LinkEvent, Links};
use quorate_types::{ErrorCode, MonoTime};

const BACKOFF: Duration = Duration::from_millis(50);
const TIMEOUT: Duration = Duration::from_secs(2);

/// Links to one peer, and the peer's view of them.
struct Scene {
    links: Links,
    names: ConnNames,
    now: MonoTime,
    peer: Address,
}

impl Scene {
    fn new() -> Scene {
        Scene {
            links: Links::new("me".into(), BACKOFF),
            names: ConnNames::default(),
            now: MonoTime(1_000_000),
            peer: Address::new("peer", 9093),
        }
    }

    /// A link in use, on which the peer offers these versions.
    fn up(offers: &[(ApiKey, i16, i16)]) -> (Scene, ConnId) {
        let mut scene = Scene::new();
        scene.call(1, vote());
        let conn = scene.dialed();
        scene.links.connected(scene.now, conn);
        let greeting = scene.sent();
        scene.reply(conn, &greeting[0], &offer(offers));
        (scene, conn)
    }

    fn call(&mut self, call: u64, request: Request) {
        self.links.call(
            self.now,
            &mut self.names,
            &self.peer,
            call,
            request,
            TIMEOUT,
        );
    }

    fn out(&mut self) -> Vec<Output> {
        let mut out = Vec::new();
        self.links.drain(&mut out);
        out
    }

    /// The connection that was asked for.
    fn dialed(&mut self) -> ConnId {
        match &self.out()[..] {
            [Output::Connect { conn, to }] if *to == self.peer => *conn,
            other => panic!("{other:?} is no call for a connection"),
        }
    }

    /// The headers of the requests that were sent.
    fn sent(&mut self) -> Vec<RequestHeader> {
        let header = |output: &Output| match output {
            Output::Send { frame, .. } => RequestHeader::read_from(&mut Reader::of(frame)).unwrap(),
            other => panic!("{other:?} is no frame"),
        };
        self.out().iter().map(header).collect()
    }

    fn reply(&mut self, conn: ConnId, to: &RequestHeader, response: &Response) {
        let api = ApiKey::from_code(to.api_key);
        let frame =
            frames::encode_response(api, to.api_version, to.correlation_id, response).unwrap();
        self.frame(conn, frame);
    }

    fn frame(&mut self, conn: ConnId, frame: Bytes) {
        self.links.frame(self.now, &mut self.names, conn, frame);
    }

    fn pass(&mut self, time: Duration) {
        self.now = self.now + time;
        self.links.tick(self.now, &mut self.names);
    }

    /// What was reported, in short.
    fn heard(&mut self) -> Vec<String> {
        let mut heard = Vec::new();
        while let Some(event) = self.links.poll() {
            heard.push(match event {
                LinkEvent::Answer { call, result } => match result {
                    Ok(_) => format!("{call} answered"),
                    Err(error) => format!("{call} {error:?}"),
                },
                LinkEvent::Gone { address } => format!("{address} gone"),
            });
        }
        heard
    }
}

fn vote() -> Request {
    VoteRequest::default().into()
}

fn create() -> Request {
    CreateTopicsRequest::default().into()
}

fn offer(versions: &[(ApiKey, i16, i16)]) -> Response {
    let offer = |&(api, min_version, max_version): &(ApiKey, i16, i16)| ApiVersion {
        api_key: api.code(),
        min_version,
        max_version,
        ..Default::default()
    };
    Response::from(ApiVersionsResponse {
        api_keys: versions.iter().map(offer).collect(),
        ..Default::default()
    })
}

const BOTH: [(ApiKey, i16, i16); 2] = [(ApiKey::Vote, 0, 1), (ApiKey::CreateTopics, 2, 99)];

#[test]
fn a_connection_begins_with_api_versions_and_calls_wait_for_its_answer() {
    let mut scene = Scene::new();
    scene.call(1, vote());
    scene.call(2, create());
    let conn = scene.dialed();
    scene.links.connected(scene.now, conn);
    let greeting = scene.sent();
    assert_eq!(greeting.len(), 1);
    assert_eq!(greeting[0].api_key, ApiKey::ApiVersions.code());
    assert_eq!(greeting[0].client_id.as_deref(), Some("me"));
    assert!(scene.links.offered(&scene.peer).is_none());
    scene.reply(conn, &greeting[0], &offer(&BOTH));
    let sent: Vec<i16> = scene.sent().iter().map(|header| header.api_key).collect();
    assert_eq!(sent, [ApiKey::Vote.code(), ApiKey::CreateTopics.code()]);
    assert_eq!(scene.links.offered(&scene.peer).unwrap().len(), 2);
}

#[test]
fn a_call_goes_out_in_the_newest_version_that_both_know() {
    let newest = ApiKey::CreateTopics.versions().unwrap().max;
    for (offered, expected) in [((0, 5), 5), ((5, 99), newest), ((5, 5), 5)] {
        let (mut scene, _) = Scene::up(&[
            (ApiKey::Vote, 0, 0),
            (ApiKey::CreateTopics, offered.0, offered.1),
        ]);
        scene.sent();
        scene.call(2, create());
        assert_eq!(scene.sent()[0].api_version, expected, "{offered:?}");
    }
}

#[test]
fn a_call_without_a_common_version_ends_alone() {
    for offers in [
        &BOTH[..1],
        &[(ApiKey::Vote, 0, 1), (ApiKey::CreateTopics, 90, 99)][..],
    ] {
        let (mut scene, conn) = Scene::up(offers);
        let first = scene.sent();
        scene.call(2, create());
        assert_eq!(scene.heard(), ["2 Unsupported"]);
        scene.reply(conn, &first[0], &VoteResponse::default().into());
        assert_eq!(scene.heard(), ["1 answered"]);
    }
}

#[test]
fn a_peer_that_knows_no_version_of_the_greeting_is_not_spoken_to() {
    let mut scene = Scene::new();
    scene.call(1, vote());
    let conn = scene.dialed();
    scene.links.connected(scene.now, conn);
    let greeting = scene.sent();
    let refusal = ApiVersionsResponse {
        error_code: ErrorCode::UnsupportedVersion,
        ..Default::default()
    };
    let (api, correlation) = (ApiKey::ApiVersions, greeting[0].correlation_id);
    scene.frame(
        conn,
        frames::encode_response(api, 0, correlation, &refusal.into()).unwrap(),
    );
    assert!(matches!(&scene.out()[..], [Output::Close { .. }]));
    assert_eq!(scene.heard(), ["1 Disconnected"]);
}

#[test]
fn answers_end_calls_in_their_order() {
    let (mut scene, conn) = Scene::up(&BOTH);
    scene.call(2, create());
    let sent = scene.sent();
    scene.reply(conn, &sent[0], &VoteResponse::default().into());
    scene.reply(conn, &sent[1], &CreateTopicsResponse::default().into());
    assert_eq!(scene.heard(), ["1 answered", "2 answered"]);
}

#[test]
fn an_answer_out_of_order_or_without_a_question_ends_the_connection() {
    let (mut scene, conn) = Scene::up(&BOTH);
    scene.call(2, create());
    let sent = scene.sent();
    scene.reply(conn, &sent[1], &CreateTopicsResponse::default().into());
    assert_eq!(scene.heard(), ["1 Malformed", "2 Disconnected"]);
    assert!(matches!(&scene.out()[..], [Output::Close { conn: closed }] if *closed == conn));
    // What still comes in on it is nobody's.
    scene.reply(conn, &sent[0], &VoteResponse::default().into());
    assert!(scene.heard().is_empty() && scene.out().is_empty());

    let (mut scene, conn) = Scene::up(&BOTH);
    let sent = scene.sent();
    scene.reply(conn, &sent[0], &VoteResponse::default().into());
    scene.reply(conn, &sent[0], &VoteResponse::default().into());
    assert_eq!(scene.heard(), ["1 answered"]);
    assert!(matches!(&scene.out()[..], [Output::Close { .. }]));
}

#[test]
fn a_call_that_times_out_ends_its_connection_and_those_behind_it() {
    let (mut scene, conn) = Scene::up(&BOTH);
    scene.pass(TIMEOUT / 2);
    scene.call(2, create());
    scene.sent();
    assert_eq!(scene.links.deadline(), Some(scene.now + TIMEOUT / 2));
    scene.pass(TIMEOUT / 2);
    assert_eq!(scene.heard(), ["1 TimedOut", "2 Disconnected"]);
    assert!(matches!(&scene.out()[..], [Output::Close { conn: closed }] if *closed == conn));
}

#[test]
fn a_greeting_that_is_not_answered_ends_the_connection() {
    let mut scene = Scene::new();
    scene.call(1, vote());
    let conn = scene.dialed();
    scene.pass(TIMEOUT / 2);
    scene.links.connected(scene.now, conn);
    scene.sent();
    scene.pass(TIMEOUT / 2);
    assert_eq!(scene.heard(), ["1 TimedOut"], "the call's own time is over");
    scene.pass(TIMEOUT / 2);
    assert!(matches!(&scene.out()[..], [Output::Close { .. }]));
    assert!(scene.heard().is_empty());
}

#[test]
fn a_call_that_finds_no_connection_times_out() {
    let mut scene = Scene::new();
    scene.call(1, vote());
    scene.dialed();
    assert_eq!(scene.links.deadline(), Some(scene.now + TIMEOUT));
    scene.pass(TIMEOUT);
    assert_eq!(scene.heard(), ["1 TimedOut"]);
}

#[test]
fn after_a_failure_the_next_connection_waits_for_the_backoff() {
    let mut scene = Scene::new();
    scene.call(1, vote());
    let conn = scene.dialed();
    scene.links.connect_failed(scene.now, conn, true);
    assert_eq!(scene.heard(), ["1 Disconnected"]);
    scene.call(2, vote());
    assert!(scene.out().is_empty());
    assert_eq!(scene.links.deadline(), Some(scene.now + BACKOFF));
    scene.pass(BACKOFF);
    scene.dialed();
}

#[test]
fn a_peer_is_gone_only_if_a_standing_connection_broke_and_the_next_is_refused() {
    let outcome = |standing: bool, refused: bool| {
        let (mut scene, conn) = if standing {
            Scene::up(&BOTH)
        } else {
            let mut scene = Scene::new();
            scene.call(1, vote());
            let conn = scene.dialed();
            scene.links.connected(scene.now, conn);
            (scene, conn)
        };
        scene.out();
        scene.links.closed(scene.now, &mut scene.names, conn);
        assert_eq!(scene.heard(), ["1 Disconnected"]);
        if !standing {
            // Whoever closes a connection before it speaks is only busy.
            assert!(scene.out().is_empty());
            scene.call(2, vote());
            scene.pass(BACKOFF);
        }
        let again = scene.dialed();
        scene.links.connect_failed(scene.now, again, refused);
        scene.heard()
    };
    assert_eq!(outcome(true, true), ["peer:9093 gone"]);
    assert!(outcome(true, false).is_empty());
    assert_eq!(outcome(false, true), ["2 Disconnected"]);
    assert_eq!(outcome(false, false), ["2 Disconnected"]);
}

#[test]
fn a_peer_that_takes_one_more_connection_as_it_dies_is_found_gone() {
    let (mut scene, conn) = Scene::up(&BOTH);
    scene.out();
    // Its kernel still listens when the first connection breaks, and resets what it took.
    scene.links.closed(scene.now, &mut scene.names, conn);
    let second = scene.dialed();
    scene.links.connected(scene.now, second);
    scene.out();
    scene.links.closed(scene.now, &mut scene.names, second);
    assert_eq!(scene.heard(), ["1 Disconnected"]);
    assert!(scene.links.deadline().is_some(), "it is looked for again");
    scene.pass(BACKOFF);
    let third = scene.dialed();
    scene.links.connect_failed(scene.now, third, true);
    assert_eq!(scene.heard(), ["peer:9093 gone"]);
    // That is told once, and nobody is looked for without a reason.
    scene.pass(BACKOFF);
    assert!(scene.out().is_empty() && scene.links.deadline().is_none());
}

#[test]
fn a_connection_that_broke_and_stands_again_is_in_use_again() {
    let (mut scene, conn) = Scene::up(&BOTH);
    scene.out();
    scene.links.closed(scene.now, &mut scene.names, conn);
    assert_eq!(scene.heard(), ["1 Disconnected"]);
    let again = scene.dialed();
    scene.call(2, vote());
    scene.links.connected(scene.now, again);
    let greeting = scene.sent();
    scene.reply(again, &greeting[0], &offer(&BOTH));
    let sent = scene.sent();
    scene.reply(again, &sent[0], &VoteResponse::default().into());
    assert_eq!(scene.heard(), ["2 answered"]);
}

#[test]
fn a_call_with_nowhere_to_go_ends_at_once() {
    let mut scene = Scene::new();
    scene.links.fail_call(9);
    let event = scene.links.poll();
    assert!(matches!(
        event,
        Some(LinkEvent::Answer {
            call: 9,
            result: Err(CallError::Disconnected)
        })
    ));
}
