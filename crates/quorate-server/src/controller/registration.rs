//! How a controller makes itself known: ControllerRegistration to whoever is active (KIP-919).
//!
//! It is due once the published metadata knows of controllers (metadata.version 15) and does not
//! hold this start of this node. One request is in flight; one that failed, or whose answer was
//! lost, is sent again after a back-off that doubles from 100 ms up to two minutes, and at once when
//! the leader changes.

use std::time::Duration;

use bytes::Bytes;
use quorate_controller::features::supported_features;
use quorate_controller::{Command, Reply, RequestContext};
use quorate_engine::{Lane, Refused, Ticket};
use quorate_metadata::MetadataImage;
use quorate_protocol::messages::controller_registration::{Feature, Listener};
use quorate_protocol::messages::{ControllerRegistrationRequest, Request, Response};
use quorate_types::{ErrorCode, IncarnationId, MonoTime, NodeId};

use super::ControllerNode;
use crate::io::{ConnId, Now, Output};
use crate::links::{ConnNames, LinkEvent, Links};
use crate::quorum::{KRAFT_VERSIONS, QuorumConfig};

const TIMEOUT: Duration = Duration::from_secs(5);
const BACKOFF_MIN: Duration = Duration::from_millis(100);
const BACKOFF_MAX: Duration = Duration::from_secs(120);

/// What a controller says of itself.
#[derive(Debug, Clone)]
pub struct ControllerIdentity {
    /// This start of the process.
    pub incarnation: IncarnationId,
    /// Where it listens, with the protocols' numbers.
    pub listeners: Vec<Listener>,
}

/// Where the registration stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// The published metadata does not ask for one.
    Idle,
    /// To be sent at that time.
    Due { at: MonoTime },
    /// Sent over the link.
    Sent,
    /// Decided by this node's own engine.
    Own { ticket: Ticket },
}

/// The registration of one start of a controller.
#[derive(Debug)]
pub(super) struct Registration {
    request: ControllerRegistrationRequest,
    links: Links,
    state: State,
    failures: u32,
    last_call: u64,
}

impl Registration {
    pub(super) fn new(identity: ControllerIdentity, quorum: &QuorumConfig) -> Registration {
        let node = quorum.raft.local.id;
        let mut features = supported_features();
        features.insert("kraft.version".to_owned(), KRAFT_VERSIONS);
        Registration {
            request: ControllerRegistrationRequest {
                controller_id: node.0,
                incarnation_id: identity.incarnation.0,
                listeners: identity.listeners,
                features: features
                    .into_iter()
                    .map(|(name, range)| Feature {
                        name,
                        min_supported_version: range.min,
                        max_supported_version: range.max,
                        ..Default::default()
                    })
                    .collect(),
                ..Default::default()
            },
            links: Links::new(node.to_string(), Duration::from_millis(50)),
            state: State::Idle,
            failures: 0,
            last_call: 0,
        }
    }

    /// The metadata was published.
    pub(super) fn published(&mut self, now: MonoTime, image: &MetadataImage) {
        let node = NodeId(self.request.controller_id);
        let known = image
            .controller(node)
            .is_some_and(|known| known.incarnation.0 == self.request.incarnation_id);
        let wanted = image
            .features()
            .metadata_version()
            .has_controller_registration()
            && !known;
        if !wanted {
            self.state = State::Idle;
            self.failures = 0;
        } else if self.state == State::Idle {
            self.state = State::Due { at: now };
        }
    }

    /// Somebody else may lead now, and wants to hear of this node.
    pub(super) fn leader_changed(&mut self, now: MonoTime) {
        if self.state != State::Idle {
            self.state = State::Due { at: now };
            self.failures = 0;
        }
    }

    /// Whether the engine's answer to that ticket is for this node itself.
    pub(super) fn is_own(&self, ticket: Ticket) -> bool {
        self.state == State::Own { ticket }
    }

    /// This node's own engine has answered.
    pub(super) fn decided(&mut self, result: Result<Reply, Refused>) {
        let ok = matches!(
            result,
            Ok(Reply::ControllerRegistration(ref answer)) if answer.error_code == ErrorCode::None
        );
        // What was committed is published, which ends the matter; the rest is tried again.
        if !ok {
            self.state = State::Due { at: MonoTime::ZERO };
        }
    }

    pub(super) fn deadline(&self) -> Option<MonoTime> {
        let due = match self.state {
            State::Due { at } => Some(at),
            _ => None,
        };
        [due, self.links.deadline()].into_iter().flatten().min()
    }

    pub(super) fn drain(&mut self, out: &mut Vec<Output>) {
        self.links.drain(out);
    }

    pub(super) fn connected(&mut self, now: MonoTime, conn: ConnId) {
        self.links.connected(now, conn);
    }

    pub(super) fn connect_failed(&mut self, now: MonoTime, conn: ConnId, refused: bool) {
        self.links.connect_failed(now, conn, refused);
    }

    pub(super) fn closed(&mut self, now: MonoTime, names: &mut ConnNames, conn: ConnId) {
        self.links.closed(now, names, conn);
    }

    pub(super) fn frame(
        &mut self,
        now: MonoTime,
        names: &mut ConnNames,
        conn: ConnId,
        frame: Bytes,
    ) {
        self.links.frame(now, names, conn, frame);
    }

    /// Takes up the answers that the link brought.
    fn settle(&mut self, now: MonoTime) {
        while let Some(event) = self.links.poll() {
            let LinkEvent::Answer { call, result } = event else {
                continue;
            };
            if call != self.last_call || self.state != State::Sent {
                continue;
            }
            let ok = matches!(
                result,
                Ok(Response::ControllerRegistration(ref answer))
                    if answer.error_code == ErrorCode::None
            );
            // Also after success: until the record is published, the answer may be to nobody.
            let backoff = BACKOFF_MIN
                .saturating_mul(1 << self.failures.min(11))
                .min(BACKOFF_MAX);
            self.failures = if ok { self.failures } else { self.failures + 1 };
            let wait = if ok { TIMEOUT } else { backoff };
            self.state = State::Due { at: now + wait };
        }
    }
}

impl ControllerNode {
    /// Sends the registration if it is due.
    pub(super) fn register(&mut self, now: Now) {
        self.registration.links.tick(now.mono, &mut self.names);
        self.registration.settle(now.mono);
        let State::Due { at } = self.registration.state else {
            return;
        };
        if self.stopping {
            // A deadline that is never met would be due for ever.
            self.registration.state = State::Idle;
            return;
        }
        if at > now.mono {
            return;
        }
        let request = self.registration.request.clone();
        if self.engine.active().is_some() {
            let ticket = Ticket(self.next_token());
            let context = RequestContext::anonymous(0, now.mono);
            let command = Command {
                context,
                operation: request.into(),
            };
            self.registration.state = State::Own { ticket };
            self.engine.submit(ticket, Lane::Cluster, command, None);
        } else if let Some((leader, address)) = self.quorum.leader_address()
            && leader != self.quorum.config().raft.local.id
        {
            self.registration.last_call += 1;
            let call = self.registration.last_call;
            let request = Request::from(request);
            self.registration.state = State::Sent;
            self.registration.links.call(
                now.mono,
                &mut self.names,
                &address,
                call,
                request,
                TIMEOUT,
            );
        } else {
            self.registration.state = State::Due {
                at: now.mono + BACKOFF_MIN,
            };
        }
    }
}
