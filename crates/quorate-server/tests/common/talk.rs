//! The test as a client: requests out, answers in.

use std::time::Duration;

use bytes::Bytes;
use quorate_protocol::messages::create_topics::CreatableTopic;
use quorate_protocol::messages::{ApiKey, CreateTopicsRequest, Request, RequestHeader, Response};
use quorate_server::frames;
use quorate_server::io::{ConnId, Input};
use quorate_types::{ErrorCode, NodeId};

use super::{FRAME, Happening, Lab, TEST, address};

/// How long the test waits for an answer.
pub const SOON: Duration = Duration::from_secs(10);

/// A request's frame.
pub fn frame(version: i16, correlation: i32, request: &Request) -> Bytes {
    try_frame(version, correlation, request).unwrap()
}

/// A request's frame, if that version can express the request.
pub fn try_frame(version: i16, correlation: i32, request: &Request) -> Option<Bytes> {
    let header = RequestHeader {
        api_key: request.key().code(),
        api_version: version,
        correlation_id: correlation,
        client_id: Some("test".into()),
        ..Default::default()
    };
    frames::encode_request(&header, request).ok()
}

/// The newest version of a request.
pub fn newest(request: &Request) -> i16 {
    request.key().versions().unwrap().max
}

/// A request to create topics of one partition and one replica.
pub fn creation(topics: &[&str]) -> Request {
    let topic = |name: &&str| CreatableTopic {
        name: (*name).to_owned(),
        num_partitions: 1,
        replication_factor: 1,
        ..Default::default()
    };
    Request::from(CreateTopicsRequest {
        topics: topics.iter().map(topic).collect(),
        timeout_ms: 30_000,
        ..Default::default()
    })
}

/// What came of the first topic of a creation.
pub fn created(response: &Response) -> ErrorCode {
    match response {
        Response::CreateTopics(answer) => answer.topics[0].error_code,
        other => panic!("{other:?} answers no creation"),
    }
}

impl Lab {
    /// Connects the test to a node that listens.
    pub fn connect(&mut self, to: NodeId) -> ConnId {
        self.conns += 1;
        let conn = ConnId::Dialed(self.conns);
        self.dial(TEST, 0, conn, &address(to));
        assert!(self.is_open(conn), "{to} does not listen");
        conn
    }

    /// Whether a connection of the test stands.
    pub fn is_open(&self, conn: ConnId) -> bool {
        self.ends.contains_key(&(TEST, conn))
    }

    /// Sends a frame.
    pub fn send(&mut self, conn: ConnId, frame: Bytes) {
        self.pass(TEST, conn, |conn| Input::Frame { conn, frame });
    }

    /// Closes a connection of the test.
    pub fn close(&mut self, conn: ConnId) {
        self.pass(TEST, conn, |conn| Input::Closed { conn });
        if let Some(other) = self.ends.remove(&(TEST, conn)) {
            self.ends.remove(&other);
        }
    }

    /// Sends a request; its correlation id.
    pub fn ask(&mut self, conn: ConnId, version: i16, request: &Request) -> i32 {
        self.correlation += 1;
        self.send(conn, frame(version, self.correlation, request));
        self.correlation
    }

    /// The frames that came in and were not taken yet.
    pub fn waiting(&self, conn: ConnId) -> usize {
        self.inbox.get(&conn).map_or(0, |frames| frames.len())
    }

    /// The next frame, once it comes in; nothing if the connection is closed or nothing comes.
    pub fn answer(&mut self, conn: ConnId) -> Option<Bytes> {
        self.run_until(SOON, |lab| lab.waiting(conn) > 0 || !lab.is_open(conn));
        self.inbox.get_mut(&conn)?.pop_front()
    }

    /// Sends a frame; whether that ends the connection without an answer.
    pub fn is_closed_by(&mut self, node: NodeId, frame: Bytes) -> bool {
        let conn = self.connect(node);
        self.send(conn, frame);
        self.run_until(SOON, |lab| lab.waiting(conn) > 0 || !lab.is_open(conn));
        self.waiting(conn) == 0 && !self.is_open(conn)
    }

    /// Asks in the newest version, over a connection of its own.
    pub fn call(&mut self, node: NodeId, request: &Request) -> Option<Response> {
        self.call_in(node, newest(request), request)
    }

    /// Asks in that version.
    pub fn call_in(&mut self, node: NodeId, version: i16, request: &Request) -> Option<Response> {
        let conn = self.connect(node);
        let correlation = self.ask(conn, version, request);
        let answer = self.answer(conn);
        self.close(conn);
        Some(read(request.key(), version, correlation, &answer?))
    }

    /// Puts a request on its way and returns once the node has taken it in.
    pub fn start_call(&mut self, node: NodeId, request: &Request) -> (ConnId, i32) {
        let conn = self.connect(node);
        let correlation = self.ask(conn, newest(request), request);
        self.run_for(FRAME * 2);
        (conn, correlation)
    }

    /// An input at once, past the network.
    pub fn inject(&mut self, node: NodeId, input: Input) {
        let life = self.machine(node).life;
        self.happen(node, life, Happening::Input(input));
    }
}

/// Reads an answer.
pub fn read(api: ApiKey, version: i16, correlation: i32, frame: &Bytes) -> Response {
    frames::decode_response(api, version, correlation, frame).unwrap()
}
