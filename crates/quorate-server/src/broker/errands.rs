//! Requests of a broker to the active controller and to other brokers: sent when it is known where
//! to, and sent again when the one asked turns out not to be the active controller.
//!
//! Each kind has a connection of its own, as in Kafka, so that no heartbeat waits behind a create.
//! A request that nobody could take is not lost: it waits for the next leader until its time is
//! over.

use std::collections::BTreeMap;
use std::time::Duration;

use bytes::Bytes;
use quorate_broker::BrokerCall;
use quorate_protocol::messages::{Request, Response};
use quorate_types::{ErrorCode, MonoTime, NodeId, VersionRange};

use crate::io::{Address, ConnId, Output};
use crate::links::{CallError, ConnNames, LinkEvent, Links};
use crate::replies::ReplyTo;

/// Pause before a request is tried again somewhere else.
const RETRY: Duration = Duration::from_millis(50);
/// How long one attempt may take; a request may live longer than that.
const ATTEMPT: Duration = Duration::from_secs(30);

/// Which connection a request uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Lane {
    /// Registration and heartbeats.
    Lifecycle,
    /// AlterPartition and AssignReplicasToDirs.
    Cluster,
    /// Requests of clients, in envelopes.
    Forward,
    /// Fetches from other brokers.
    Follow,
}

/// Whom a request is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Target {
    ActiveController,
    Broker(NodeId),
}

/// Who waits for the answer.
#[derive(Debug)]
pub(super) enum Owner {
    /// The broker's own cores.
    Broker(BrokerCall),
    /// A client; `frame` is its request, to name its items again if it fails.
    Client { to: ReplyTo, body: Bytes },
    /// Topics that are created on a client's behalf; nobody waits.
    AutoCreate(Vec<String>),
}

/// A request on its way.
#[derive(Debug)]
struct Errand {
    lane: Lane,
    target: Target,
    request: Request,
    owner: Owner,
    expires: Option<MonoTime>,
    /// When to send it; `None` while it is under way.
    due: Option<MonoTime>,
}

/// All requests of one broker.
#[derive(Debug)]
pub(super) struct Errands {
    lanes: BTreeMap<Lane, Links>,
    errands: BTreeMap<u64, Errand>,
    last: u64,
}

/// Where requests may go at this moment.
pub(super) struct Directory<'a> {
    /// The active controller.
    pub(super) controller: Option<Address>,
    /// A broker's address.
    pub(super) broker: &'a dyn Fn(NodeId) -> Option<Address>,
}

impl Errands {
    pub(super) fn new(node: NodeId) -> Errands {
        let lanes = [Lane::Lifecycle, Lane::Cluster, Lane::Forward, Lane::Follow];
        let links = |lane| (lane, Links::new(node.to_string(), RETRY));
        Errands {
            lanes: lanes.into_iter().map(links).collect(),
            errands: BTreeMap::new(),
            last: 0,
        }
    }

    /// Takes a request on; it lives for `timeout`, or until it is answered.
    pub(super) fn take_on(
        &mut self,
        now: MonoTime,
        lane: Lane,
        target: Target,
        request: Request,
        owner: Owner,
        timeout: Option<Duration>,
    ) {
        self.last += 1;
        let expires = timeout.map(|timeout| now + timeout);
        let errand = Errand {
            lane,
            target,
            request,
            owner,
            expires,
            due: Some(now),
        };
        self.errands.insert(self.last, errand);
    }

    /// Sends what is due, ends what is over; returns what has ended.
    pub(super) fn run(
        &mut self,
        now: MonoTime,
        names: &mut ConnNames,
        directory: &Directory<'_>,
    ) -> Vec<(Owner, Result<Response, CallError>)> {
        for links in self.lanes.values_mut() {
            links.tick(now, names);
        }
        let mut ended = self.settle(now);
        for (id, errand) in &mut self.errands {
            if errand.due.is_none_or(|due| due > now) {
                continue;
            }
            let address = match errand.target {
                Target::ActiveController => directory.controller.clone(),
                Target::Broker(node) => (directory.broker)(node),
            };
            let Some(address) = address else {
                errand.due = Some(now + RETRY);
                continue;
            };
            errand.due = None;
            let left = errand
                .expires
                .map_or(ATTEMPT, |expires| expires.since(now).min(ATTEMPT));
            if let Some(links) = self.lanes.get_mut(&errand.lane) {
                links.call(now, names, &address, *id, errand.request.clone(), left);
            }
        }
        ended.extend(self.settle(now));
        ended.extend(self.expire(now));
        ended
    }

    pub(super) fn deadline(&self) -> Option<MonoTime> {
        let errands = self
            .errands
            .values()
            .flat_map(|errand| [errand.due, errand.expires]);
        let links = self.lanes.values().map(Links::deadline);
        errands.chain(links).flatten().min()
    }

    /// What the controller at that address offers, once it was asked.
    pub(super) fn offered(&self, controller: &Address) -> Option<&BTreeMap<i16, VersionRange>> {
        self.lanes.get(&Lane::Lifecycle)?.offered(controller)
    }

    pub(super) fn drain(&mut self, out: &mut Vec<Output>) {
        for links in self.lanes.values_mut() {
            links.drain(out);
        }
    }

    /// The links of a connection.
    pub(super) fn links_of(&mut self, conn: ConnId) -> Option<&mut Links> {
        self.lanes.values_mut().find(|links| links.owns(conn))
    }

    fn settle(&mut self, now: MonoTime) -> Vec<(Owner, Result<Response, CallError>)> {
        let mut ended = Vec::new();
        for links in self.lanes.values_mut() {
            while let Some(event) = links.poll() {
                let LinkEvent::Answer { call, result } = event else {
                    continue;
                };
                let Some(errand) = self.errands.get_mut(&call) else {
                    continue;
                };
                if errand.goes_on_after(&result) {
                    errand.due = Some(now + RETRY);
                } else if let Some(errand) = self.errands.remove(&call) {
                    ended.push((errand.owner, result));
                }
            }
        }
        ended
    }

    fn expire(&mut self, now: MonoTime) -> Vec<(Owner, Result<Response, CallError>)> {
        let late = |errand: &Errand| errand.expires.is_some_and(|expires| expires <= now);
        let over: Vec<u64> = self
            .errands
            .iter()
            .filter(|(_, errand)| late(errand))
            .map(|(id, _)| *id)
            .collect();
        over.into_iter()
            .filter_map(|id| self.errands.remove(&id))
            .map(|errand| (errand.owner, Err(CallError::TimedOut)))
            .collect()
    }
}

impl Errand {
    /// Whether another attempt may do better: the one asked is gone, or is not the active
    /// controller. Other brokers are asked once; their follower asks again by itself.
    fn goes_on_after(&self, result: &Result<Response, CallError>) -> bool {
        if self.target != Target::ActiveController {
            return false;
        }
        match result {
            Ok(response) => not_controller(response),
            Err(CallError::Disconnected | CallError::TimedOut) => true,
            Err(CallError::Unsupported | CallError::Malformed) => false,
        }
    }
}

fn not_controller(response: &Response) -> bool {
    let error = match response {
        Response::BrokerRegistration(answer) => answer.error_code,
        Response::BrokerHeartbeat(answer) => answer.error_code,
        Response::AlterPartition(answer) => answer.error_code,
        Response::AssignReplicasToDirs(answer) => answer.error_code,
        Response::Envelope(answer) => answer.error_code,
        _ => ErrorCode::None,
    };
    error == ErrorCode::NotController
}
