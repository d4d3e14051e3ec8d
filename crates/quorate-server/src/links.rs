//! Connections that this node makes, and the calls over them.
//!
//! One link an address, made when it is first needed. Each connection begins with ApiVersions, as
//! Kafka's do; a call then goes out in the newest version that both sides know. Answers come in the
//! order of the calls. A call ends exactly once: answered, timed out (the connection is closed, for
//! nothing behind the missing answer can be told apart), or disconnected.
//!
//! When a standing connection is closed by the peer it is made again at once, wanted or not: if
//! nobody listens there any more, the process is gone, and [`LinkEvent::Gone`] says so long before
//! a timeout would.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use bytes::Bytes;
use quorate_protocol::messages::{
    ApiKey, ApiVersionsRequest, ApiVersionsResponse, Request, RequestHeader, Response,
};
use quorate_types::{ErrorCode, MonoTime, VersionRange};

use crate::frames;
use crate::io::{Address, ConnId, Output};

/// Why a call has no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallError {
    /// No answer within the call's time.
    TimedOut,
    /// The connection could not be made or broke.
    Disconnected,
    /// The peer does not know the API, or no version of it that we know.
    Unsupported,
    /// The answer could not be read.
    Malformed,
}

/// What links report.
#[derive(Debug)]
pub enum LinkEvent {
    /// A call has ended.
    Answer {
        /// The call, as its caller named it.
        call: u64,
        /// What came of it.
        result: Result<Response, CallError>,
    },
    /// A peer's connection broke and its kernel refuses another: its process is gone.
    Gone {
        /// The peer.
        address: Address,
    },
}

/// A call on its way.
#[derive(Debug)]
struct Call {
    call: u64,
    request: Request,
    expires: MonoTime,
}

/// A call that was sent.
#[derive(Debug)]
struct Sent {
    /// `None` for the ApiVersions that opens a connection.
    call: Option<u64>,
    api: ApiKey,
    version: i16,
    correlation: i32,
    expires: MonoTime,
}

#[derive(Debug, PartialEq, Eq)]
enum State {
    /// No connection; none before that time.
    Down { until: MonoTime },
    /// Asked for.
    Dialing { conn: ConnId },
    /// Connected, ApiVersions sent.
    Greeting { conn: ConnId },
    /// In use.
    Up { conn: ConnId },
}

#[derive(Debug)]
struct Link {
    state: State,
    /// Whether a connection in use broke and it is not known yet whether the peer lives.
    lost: bool,
    versions: BTreeMap<i16, VersionRange>,
    waiting: VecDeque<Call>,
    sent: VecDeque<Sent>,
}

impl Link {
    fn new() -> Link {
        Link {
            state: State::Down {
                until: MonoTime::ZERO,
            },
            lost: false,
            versions: BTreeMap::new(),
            waiting: VecDeque::new(),
            sent: VecDeque::new(),
        }
    }

    fn conn(&self) -> Option<ConnId> {
        match self.state {
            State::Down { .. } => None,
            State::Dialing { conn } | State::Greeting { conn } | State::Up { conn } => Some(conn),
        }
    }
}

/// Names the connections of all links of a node, so that no two share a name.
#[derive(Debug, Default)]
pub struct ConnNames {
    next: u64,
}

impl ConnNames {
    fn next(&mut self) -> ConnId {
        self.next += 1;
        ConnId::Dialed(self.next)
    }
}

/// The links of one purpose (raft, or the channel to the controller).
#[derive(Debug)]
pub struct Links {
    client_id: String,
    backoff: Duration,
    greeting_timeout: Duration,
    links: BTreeMap<Address, Link>,
    by_conn: BTreeMap<ConnId, Address>,
    correlation: i32,
    events: VecDeque<LinkEvent>,
    out: Vec<Output>,
}

impl Links {
    /// Links whose requests carry `client_id`; after a failure none is made again for `backoff`.
    pub fn new(client_id: String, backoff: Duration) -> Links {
        Links {
            client_id,
            backoff,
            greeting_timeout: Duration::from_secs(2),
            links: BTreeMap::new(),
            by_conn: BTreeMap::new(),
            correlation: 0,
            events: VecDeque::new(),
            out: Vec::new(),
        }
    }

    /// Starts a call that ends within `timeout`.
    pub fn call(
        &mut self,
        now: MonoTime,
        names: &mut ConnNames,
        to: &Address,
        call: u64,
        request: Request,
        timeout: Duration,
    ) {
        let link = self.links.entry(to.clone()).or_insert_with(Link::new);
        link.waiting.push_back(Call {
            call,
            request,
            expires: now + timeout,
        });
        self.advance(now, names, to);
    }

    /// Ends a call that has nowhere to go.
    pub fn fail_call(&mut self, call: u64) {
        let result = Err(CallError::Disconnected);
        self.events.push_back(LinkEvent::Answer { call, result });
    }

    /// What the peer at that address said that it offers, once it was asked.
    pub fn offered(&self, address: &Address) -> Option<&BTreeMap<i16, VersionRange>> {
        let link = self.links.get(address)?;
        (!link.versions.is_empty()).then_some(&link.versions)
    }

    /// Whether the connection is one of these links'.
    pub fn owns(&self, conn: ConnId) -> bool {
        self.by_conn.contains_key(&conn)
    }

    /// A connection stands: it is opened with ApiVersions.
    pub fn connected(&mut self, now: MonoTime, conn: ConnId) {
        let Some(address) = self.by_conn.get(&conn) else {
            return;
        };
        let Some(link) = self.links.get_mut(address) else {
            return;
        };
        link.state = State::Greeting { conn };
        let greeting = Request::from(ApiVersionsRequest {
            client_software_name: "quorate".into(),
            client_software_version: env!("CARGO_PKG_VERSION").into(),
            ..Default::default()
        });
        let expires = now + self.greeting_timeout;
        self.correlation = self.correlation.wrapping_add(1);
        let api = ApiKey::ApiVersions;
        let sent = Sent {
            call: None,
            api,
            version: 3,
            correlation: self.correlation,
            expires,
        };
        if let Some(frame) = encode(&self.client_id, &greeting, &sent) {
            link.sent.push_back(sent);
            self.out.push(Output::Send { conn, frame });
        }
    }

    /// A connection could not be made.
    pub fn connect_failed(&mut self, now: MonoTime, conn: ConnId, refused: bool) {
        let Some(address) = self.by_conn.get(&conn).cloned() else {
            return;
        };
        self.fail(now, &address);
        let Some(link) = self.links.get_mut(&address) else {
            return;
        };
        // One that is only silent is not looked for any longer.
        if std::mem::take(&mut link.lost) && refused {
            self.events.push_back(LinkEvent::Gone { address });
        }
    }

    /// A connection was closed by the peer; whether the peer is still there is found out at once.
    pub fn closed(&mut self, now: MonoTime, names: &mut ConnNames, conn: ConnId) {
        let Some(address) = self.by_conn.get(&conn).cloned() else {
            return;
        };
        let Some(link) = self.links.get_mut(&address) else {
            return;
        };
        let stood = link.state == State::Up { conn };
        // A process that dies may take one more connection before its listener is closed too: then
        // it is looked for again after the back-off.
        link.lost |= stood;
        self.fail(now, &address);
        if stood {
            self.dial(names, &address);
        }
    }

    /// A frame came in.
    pub fn frame(&mut self, now: MonoTime, names: &mut ConnNames, conn: ConnId, frame: Bytes) {
        let Some(address) = self.by_conn.get(&conn).cloned() else {
            return;
        };
        let Some(link) = self.links.get_mut(&address) else {
            return;
        };
        // Whatever it says, it lives.
        link.lost = false;
        let Some(sent) = link.sent.pop_front() else {
            return self.drop_connection(now, &address);
        };
        let response = frames::decode_response(sent.api, sent.version, sent.correlation, &frame);
        match (sent.call, response) {
            (Some(call), Ok(response)) => {
                self.events.push_back(LinkEvent::Answer {
                    call,
                    result: Ok(response),
                });
            }
            (Some(call), Err(_)) => {
                let result = Err(CallError::Malformed);
                self.events.push_back(LinkEvent::Answer { call, result });
                self.drop_connection(now, &address);
            }
            (None, Ok(Response::ApiVersions(response))) => self.greeted(now, &address, &response),
            (None, _) => self.drop_connection(now, &address),
        }
        self.advance(now, names, &address);
    }

    /// Ends what is overdue and makes again what may be made again.
    pub fn tick(&mut self, now: MonoTime, names: &mut ConnNames) {
        let addresses: Vec<Address> = self.links.keys().cloned().collect();
        for address in addresses {
            let Some(link) = self.links.get_mut(&address) else {
                continue;
            };
            let late = |expires: MonoTime| expires <= now;
            if link.sent.front().is_some_and(|sent| late(sent.expires)) {
                // One that is only silent is not looked for any longer.
                link.lost = false;
                if let Some(call) = link.sent.pop_front().and_then(|sent| sent.call) {
                    let result = Err(CallError::TimedOut);
                    self.events.push_back(LinkEvent::Answer { call, result });
                }
                self.drop_connection(now, &address);
            }
            let Some(link) = self.links.get_mut(&address) else {
                continue;
            };
            let (overdue, waiting) = link
                .waiting
                .drain(..)
                .partition(|call: &Call| late(call.expires));
            link.waiting = waiting;
            for Call { call, .. } in Vec::from(overdue) {
                let result = Err(CallError::TimedOut);
                self.events.push_back(LinkEvent::Answer { call, result });
            }
            self.advance(now, names, &address);
        }
    }

    /// When [`tick`](Links::tick) is due.
    pub fn deadline(&self) -> Option<MonoTime> {
        self.links.values().filter_map(Link::deadline).min()
    }

    /// The next report.
    pub fn poll(&mut self) -> Option<LinkEvent> {
        self.events.pop_front()
    }

    /// Moves what is to be done outside to `out`.
    pub fn drain(&mut self, out: &mut Vec<Output>) {
        out.append(&mut self.out);
    }

    /// Notes what the peer speaks; the link is in use from now on.
    fn greeted(&mut self, now: MonoTime, address: &Address, response: &ApiVersionsResponse) {
        if response.error_code != ErrorCode::None {
            return self.drop_connection(now, address);
        }
        let Some(link) = self.links.get_mut(address) else {
            return;
        };
        let Some(conn) = link.conn() else { return };
        link.versions = response
            .api_keys
            .iter()
            .map(|api| {
                (
                    api.api_key,
                    VersionRange {
                        min: api.min_version,
                        max: api.max_version,
                    },
                )
            })
            .collect();
        link.state = State::Up { conn };
    }

    /// Dials if something waits, sends if it can.
    fn advance(&mut self, now: MonoTime, names: &mut ConnNames, address: &Address) {
        let Some(link) = self.links.get_mut(address) else {
            return;
        };
        match link.state {
            State::Down { until } if until <= now && link.is_wanted() => {
                self.dial(names, address);
            }
            State::Up { conn } => {
                while let Some(Call {
                    call,
                    request,
                    expires,
                }) = link.waiting.pop_front()
                {
                    let api = request.key();
                    let common = common_version(api, &link.versions);
                    self.correlation = self.correlation.wrapping_add(1);
                    let sent = common.map(|version| Sent {
                        call: Some(call),
                        api,
                        version,
                        correlation: self.correlation,
                        expires,
                    });
                    let framed = sent.and_then(|sent| {
                        encode(&self.client_id, &request, &sent).map(|frame| (sent, frame))
                    });
                    match framed {
                        Some((sent, frame)) => {
                            link.sent.push_back(sent);
                            self.out.push(Output::Send { conn, frame });
                        }
                        None => {
                            let result = Err(CallError::Unsupported);
                            self.events.push_back(LinkEvent::Answer { call, result });
                        }
                    }
                }
            }
            _ => {}
        }
    }

    fn dial(&mut self, names: &mut ConnNames, address: &Address) {
        let Some(link) = self.links.get_mut(address) else {
            return;
        };
        let conn = names.next();
        link.state = State::Dialing { conn };
        self.by_conn.insert(conn, address.clone());
        self.out.push(Output::Connect {
            conn,
            to: address.clone(),
        });
    }

    /// Closes a connection from our side.
    fn drop_connection(&mut self, now: MonoTime, address: &Address) {
        if let Some(conn) = self.links.get(address).and_then(Link::conn) {
            self.out.push(Output::Close { conn });
        }
        self.fail(now, address);
    }

    /// Ends every call of a link that has no connection any more.
    fn fail(&mut self, now: MonoTime, address: &Address) {
        let Some(link) = self.links.get_mut(address) else {
            return;
        };
        if let Some(conn) = link.conn() {
            self.by_conn.remove(&conn);
        }
        link.state = State::Down {
            until: now + self.backoff,
        };
        let sent = link.sent.drain(..).filter_map(|sent| sent.call);
        let calls: Vec<u64> = sent
            .chain(link.waiting.drain(..).map(|call| call.call))
            .collect();
        for call in calls {
            let result = Err(CallError::Disconnected);
            self.events.push_back(LinkEvent::Answer { call, result });
        }
    }
}

impl Link {
    /// Whether a connection is to be made.
    fn is_wanted(&self) -> bool {
        self.lost || !self.waiting.is_empty()
    }

    fn deadline(&self) -> Option<MonoTime> {
        let waiting = self.waiting.iter().map(|call| call.expires).min();
        let sent = self.sent.front().map(|sent| sent.expires);
        let dial = match self.state {
            State::Down { until } if self.is_wanted() => Some(until),
            _ => None,
        };
        [waiting, sent, dial].into_iter().flatten().min()
    }
}

/// The newest version of an API that both sides know.
fn common_version(api: ApiKey, offered: &BTreeMap<i16, VersionRange>) -> Option<i16> {
    let ours = api.versions()?;
    let theirs = offered.get(&api.code())?;
    let version = ours.max.min(theirs.max);
    (version >= ours.min && version >= theirs.min).then_some(version)
}

fn encode(client_id: &str, request: &Request, sent: &Sent) -> Option<Bytes> {
    let header = RequestHeader {
        api_key: sent.api.code(),
        api_version: sent.version,
        correlation_id: sent.correlation,
        client_id: Some(client_id.to_owned()),
        ..Default::default()
    };
    frames::encode_request(&header, request).ok()
}
