//! A client: one change after the other, through brokers or straight through controllers.
//!
//! Every topic has one client that changes it, and a client has one change under way, so that the
//! client knows what must be there. Where an answer is missing it does not: often it asks for the
//! same again, of somebody else, and then both requests may arrive.

mod op;
mod view;
mod voters;

use std::collections::VecDeque;
use std::time::Duration;

use quorate_protocol::messages::Response;
use quorate_server::io::{Address, Input, Node, Now, Output};
use quorate_server::links::{CallError, ConnNames, LinkEvent, Links};
use quorate_types::{DirectoryId, MonoTime, NodeId, Rng};

pub use self::op::{CONFIG, Op, Outcome};
pub use self::view::View;

/// How long a client waits for an answer.
const PATIENCE: Duration = Duration::from_millis(3_500);

/// How long a client rests between two changes once all is mended.
const CALM: (Duration, Duration) = (Duration::from_millis(200), Duration::from_millis(600));

/// How often a client asks for the same when it does not know what came of it.
const ATTEMPTS: u32 = 4;

/// The most topics that a client keeps.
const TOPICS: usize = 6;

/// Something that a client did or learnt.
#[derive(Debug, Clone)]
pub enum Fact {
    /// It asks for a change.
    Asked(Op),
    /// It learnt what came of a change that it asked for.
    Learnt(Op, Outcome),
    /// It asks a broker what there is.
    Looks(NodeId),
    /// It saw what a broker shows.
    Saw(NodeId, View),
    /// It asked for another set of voters, and learnt that.
    Voters(String),
}

/// Whom a client can ask, and about what.
#[derive(Debug, Clone, Default)]
pub struct Known {
    /// The controllers.
    pub controllers: Vec<Address>,
    /// The brokers.
    pub brokers: Vec<(NodeId, Address)>,
    /// The controllers that it may have made voters, or no voters any more.
    pub voters: Vec<(NodeId, DirectoryId)>,
    /// The cluster's id.
    pub cluster_id: String,
}

/// A topic of a client's own.
#[derive(Debug)]
struct Own {
    name: String,
    partitions: i32,
}

/// Something that a client asks for besides its changes, and asks for once.
#[derive(Debug, Clone, Copy)]
enum Aside {
    /// What that broker shows.
    Look(NodeId),
    /// Another set of voters.
    Voters,
}

#[derive(Debug)]
struct Asking {
    op: Op,
    attempts: u32,
}

/// A client without I/O.
#[derive(Debug)]
pub struct Client {
    name: String,
    known: Known,
    rng: Rng,
    names: ConnNames,
    links: Links,
    topics: Vec<Own>,
    made: u32,
    asking: Option<Asking>,
    /// What it does between changes.
    aside: Option<Aside>,
    last_call: u64,
    /// Where controllers are asked, the active one was last seen.
    active: usize,
    asked: usize,
    through_broker: bool,
    next_at: MonoTime,
    pause: (Duration, Duration),
    facts: Vec<Fact>,
    out: VecDeque<Output>,
    scratch: Vec<Output>,
}

impl Client {
    /// A client that asks these nodes.
    pub fn new(id: NodeId, known: Known, pause: (Duration, Duration), rng: Rng) -> Client {
        Client {
            name: format!("c{id}"),
            known,
            rng,
            names: ConnNames::default(),
            links: Links::new(format!("client-{id}"), Duration::from_millis(50)),
            topics: Vec::new(),
            made: 0,
            asking: None,
            aside: None,
            last_call: 0,
            active: 0,
            asked: 0,
            through_broker: false,
            next_at: MonoTime::ZERO,
            pause,
            facts: Vec::new(),
            out: VecDeque::new(),
            scratch: Vec::new(),
        }
    }

    /// It leaves the voters alone from now on: every change of the leader gives the sessions of dead
    /// brokers another term, so that under constant change none would ever end. It also takes its
    /// time, for what is waited for then are timeouts.
    pub fn calm(&mut self) {
        self.known.voters.clear();
        self.pause = CALM;
    }

    /// What happened since it was last asked.
    pub fn facts(&mut self) -> Vec<Fact> {
        std::mem::take(&mut self.facts)
    }

    /// The next change that it wants.
    fn next_op(&mut self) -> Op {
        let create = self.topics.is_empty() || (self.topics.len() < TOPICS && self.rng.one_in(2));
        if create {
            self.made += 1;
            return Op::Create {
                topic: format!("{}.t{}", self.name, self.made),
                partitions: 1 + self.rng.below(3) as i32,
                replicas: 1 + self.rng.index(self.known.brokers.len().clamp(1, 3)) as i16,
            };
        }
        let index = self.rng.index(self.topics.len());
        let Own { name, partitions } = &self.topics[index];
        let topic = name.clone();
        match self.rng.below(4) {
            0 => Op::Delete { topic },
            1 => Op::Grow {
                topic,
                partitions: partitions + 1 + self.rng.below(2) as i32,
            },
            _ => Op::Configure {
                topic,
                value: (self.rng.below(1_000_000) + 1).to_string(),
            },
        }
    }

    fn ask(&mut self, now: Now, again: bool) {
        let Some(Asking { op, attempts }) = &mut self.asking else {
            return;
        };
        *attempts += 1;
        self.through_broker = !self.known.brokers.is_empty() && self.rng.one_in(2);
        let address = if self.through_broker {
            &self.known.brokers[self.rng.index(self.known.brokers.len())].1
        } else {
            self.asked = if again {
                self.rng.index(self.known.controllers.len())
            } else {
                self.active
            };
            &self.known.controllers[self.asked]
        };
        self.last_call += 1;
        self.facts.push(Fact::Asked(op.clone()));
        let (call, request) = (self.last_call, op.request());
        self.links
            .call(now.mono, &mut self.names, address, call, request, PATIENCE);
    }

    /// Asks for something besides its changes; whether there was anything to ask.
    fn step_aside(&mut self, now: Now) -> bool {
        let Known {
            brokers, voters, ..
        } = &self.known;
        let (aside, address, request) = if !voters.is_empty() && self.rng.one_in(4) {
            let request = voters::change(&self.known, &mut self.rng);
            let address = &self.known.controllers[self.active];
            (Aside::Voters, address, request)
        } else if !brokers.is_empty() && self.rng.one_in(5) {
            let (broker, address) = &brokers[self.rng.index(brokers.len())];
            self.facts.push(Fact::Looks(*broker));
            (Aside::Look(*broker), address, View::request())
        } else {
            return false;
        };
        self.aside = Some(aside);
        self.last_call += 1;
        let (call, names) = (self.last_call, &mut self.names);
        self.links
            .call(now.mono, names, address, call, request, PATIENCE);
        true
    }

    fn stepped_aside(&mut self, now: Now, aside: Aside, result: &Result<Response, CallError>) {
        if let (Aside::Look(broker), Ok(Response::Metadata(answer))) = (aside, result) {
            self.facts.push(Fact::Saw(broker, View::of_answer(answer)));
        }
        if let Aside::Voters = aside {
            let text = match result {
                Ok(response) => voters::outcome(response),
                Err(error) => format!("{error:?}"),
            };
            self.facts.push(Fact::Voters(text));
            self.active = self.rng.index(self.known.controllers.len());
        }
        self.next_at = now.mono + self.rng.duration(self.pause.0, self.pause.1);
    }

    fn answered(&mut self, now: Now, result: Result<Response, CallError>) {
        if let Some(aside) = self.aside.take() {
            return self.stepped_aside(now, aside, &result);
        }
        let Some(Asking { op, attempts }) = &self.asking else {
            return;
        };
        let outcome = match result {
            Ok(response) => op.outcome(&response),
            Err(error) => Outcome::Unknown(format!("{error:?}")),
        };
        self.facts.push(Fact::Learnt(op.clone(), outcome.clone()));
        let pause = self.rng.duration(self.pause.0, self.pause.1);
        self.next_at = now.mono + pause;
        match &outcome {
            Outcome::Unknown(_) => {
                self.active = self.rng.index(self.known.controllers.len());
                if *attempts >= ATTEMPTS || self.rng.one_in(4) {
                    let op = op.clone();
                    self.asking = None;
                    self.settle(&op, None);
                }
                return;
            }
            _ if !self.through_broker => self.active = self.asked,
            _ => {}
        }
        let op = op.clone();
        self.asking = None;
        self.settle(&op, Some(&outcome));
    }

    /// Keeps in mind what topics there are. What it gives up on it leaves alone, or goes on to use.
    fn settle(&mut self, op: &Op, outcome: Option<&Outcome>) {
        let there = matches!(outcome, Some(Outcome::Done(_)));
        match op {
            Op::Create {
                topic, partitions, ..
            } => {
                let moot = matches!(outcome, Some(Outcome::Moot(_)));
                if there || moot || (outcome.is_none() && self.rng.one_in(2)) {
                    self.topics.push(Own {
                        name: topic.clone(),
                        partitions: *partitions,
                    });
                }
            }
            Op::Delete { topic } => {
                let refused = matches!(outcome, Some(Outcome::Refused(_)));
                if !refused {
                    self.topics.retain(|own| own.name != *topic);
                }
            }
            Op::Grow { topic, partitions } => {
                if let Some(own) = self.topics.iter_mut().find(|own| own.name == *topic) {
                    own.partitions = own.partitions.max(*partitions);
                }
                self.forget_if_gone(topic, outcome);
            }
            Op::Configure { topic, .. } => self.forget_if_gone(topic, outcome),
        }
    }

    fn forget_if_gone(&mut self, topic: &str, outcome: Option<&Outcome>) {
        let gone = quorate_types::ErrorCode::UnknownTopicOrPartition;
        if outcome == Some(&Outcome::Moot(gone)) {
            self.topics.retain(|own| own.name != topic);
        }
    }
}

impl Node for Client {
    fn handle(&mut self, now: Now, input: Input) {
        match input {
            Input::Connected { conn } => self.links.connected(now.mono, conn),
            Input::ConnectFailed { conn, refused } => {
                self.links.connect_failed(now.mono, conn, refused);
            }
            Input::Frame { conn, frame } => {
                self.links.frame(now.mono, &mut self.names, conn, frame);
            }
            Input::Closed { conn } => self.links.closed(now.mono, &mut self.names, conn),
            // It has no listener and no disk, and is never stopped.
            Input::Accepted { .. } | Input::Disk(_) | Input::Shutdown => {}
        }
    }

    fn drive(&mut self, now: Now) {
        self.links.tick(now.mono, &mut self.names);
        while let Some(event) = self.links.poll() {
            match event {
                LinkEvent::Answer { call, result } if call == self.last_call => {
                    self.answered(now, result);
                }
                LinkEvent::Answer { .. } | LinkEvent::Gone { .. } => {}
            }
        }
        if self.next_at <= now.mono {
            self.next_at = MonoTime(u64::MAX);
            if self.asking.is_some() {
                self.ask(now, true);
            } else if !self.step_aside(now) {
                let op = self.next_op();
                self.asking = Some(Asking { op, attempts: 0 });
                self.ask(now, false);
            }
        }
        self.links.drain(&mut self.scratch);
        self.out.extend(self.scratch.drain(..));
    }

    fn poll(&mut self) -> Option<Output> {
        self.out.pop_front()
    }

    fn deadline(&self) -> Option<MonoTime> {
        let next = Some(self.next_at).filter(|at| *at < MonoTime(u64::MAX));
        [next, self.links.deadline()].into_iter().flatten().min()
    }
}
