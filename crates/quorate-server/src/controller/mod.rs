//! A controller: its part in the quorum, Kafka's controller on the engine, and its listener.
//!
//! One round of [`Node::drive`] does, until nothing is left to do:
//! 1. what the quorum reports: leadership, high watermark, answers to peers;
//! 2. on standby, committed batches are handed to the engine;
//! 3. the engine decides what waits, appends it, and says what became stable;
//! 4. what is stable is published, and only then are the replies sent that waited for it.

mod api_versions;
mod engine_log;
mod kraft_version;
mod registration;
mod requests;

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use bytes::Bytes;
use quorate_controller::{ControllerConfig, KafkaController, Operation, Reply, refusal};
use quorate_engine::{self as engine, Engine, EngineConfig, Refused, Ticket};
use quorate_metadata::{Delta, MetadataImage, Misfit, Section};
use quorate_protocol::messages::Response;
use quorate_raft::{Boot, BootError};
use quorate_types::{MonoTime, Offset, Rng};

use self::engine_log::EngineLog;
use self::kraft_version::Upgrades;
pub use self::registration::ControllerIdentity;
use self::registration::Registration;
use crate::changes;
use crate::events::NodeEvent;
use crate::inbound::Inbound;
use crate::io::{ConnId, Input, Node, Now, Output, Published};
use crate::links::ConnNames;
use crate::log_reader;
use crate::quorum::{CommittedRead, Quorum, QuorumConfig, QuorumEvent};
use crate::replies::ReplyTo;

/// About how many bytes of committed batches are applied at a time.
const APPLY_BYTES: usize = 4 * 1024 * 1024;

/// The longest that a hand-over may take when a controller stops.
const SHUTDOWN_WITHIN: Duration = Duration::from_millis(900);

/// What a controller is made of.
pub struct ControllerNodeConfig {
    /// Its part in the quorum.
    pub quorum: QuorumConfig,
    /// Kafka's controller: settings, placer, policies.
    pub controller: KafkaController,
    /// The engine's limits.
    pub engine: EngineConfig,
    /// What it registers with the active controller.
    pub identity: ControllerIdentity,
}

/// A command of the engine that is not answered yet.
struct Parked {
    to: ReplyTo,
    /// The request without its header, to name its items again if it is refused.
    body: Bytes,
}

/// A controller without I/O.
pub struct ControllerNode {
    names: ConnNames,
    inbound: Inbound,
    quorum: Quorum,
    engine: Engine<KafkaController>,
    registration: Registration,
    /// Requests that the quorum answers.
    asked: BTreeMap<u64, ReplyTo>,
    parked: BTreeMap<Ticket, Parked>,
    upgrades: Upgrades,
    /// Names requests of either kind.
    last_token: u64,
    published: MetadataImage,
    published_end: Offset,
    /// Where the newest change of a feature was published.
    features_end: Option<Offset>,
    stopping: bool,
    out: VecDeque<Output>,
    scratch: Vec<Output>,
}

impl ControllerNode {
    /// Starts from what the disk holds.
    ///
    /// # Errors
    /// If the disk's content does not allow to take part safely.
    pub fn new(
        config: ControllerNodeConfig,
        boot: Boot,
        mut rng: Rng,
        now: Now,
    ) -> Result<ControllerNode, BootError> {
        let mut names = ConnNames::default();
        let quorum = Quorum::new(config.quorum, boot, rng.fork(), now, &mut names)?;
        Ok(ControllerNode {
            names,
            inbound: Inbound::default(),
            registration: Registration::new(config.identity, quorum.config()),
            quorum,
            engine: Engine::new(config.controller, rng.fork(), config.engine),
            asked: BTreeMap::new(),
            parked: BTreeMap::new(),
            upgrades: Upgrades::default(),
            last_token: 0,
            published: MetadataImage::default(),
            published_end: Offset::ZERO,
            features_end: None,
            stopping: false,
            out: VecDeque::new(),
            scratch: Vec::new(),
        })
    }

    /// The node's part in the quorum, to look at.
    pub fn quorum(&self) -> &Quorum {
        &self.quorum
    }

    /// The metadata that the engine holds as stable, and its end.
    pub fn stable(&self) -> (&MetadataImage, Offset) {
        (self.engine.state(), self.engine.stable_end())
    }

    /// Whether the controller is active.
    pub fn is_active(&self) -> bool {
        self.engine.active().is_some()
    }

    fn config(&self) -> &ControllerConfig {
        self.engine.domain().config()
    }

    fn next_token(&mut self) -> u64 {
        self.last_token += 1;
        self.last_token
    }

    fn event(&mut self, event: NodeEvent) {
        self.out.push_back(Output::Event(event));
    }

    /// Takes up what the quorum reports; whether there was anything.
    fn take_quorum_events(&mut self, now: Now) -> bool {
        let mut any = false;
        while let Some(event) = self.quorum.poll() {
            any = true;
            match event {
                QuorumEvent::Answer { token, response } => {
                    if let Some(to) = self.asked.remove(&token) {
                        to.send(&response, &mut self.inbound, &mut self.scratch);
                    }
                }
                QuorumEvent::HighWatermark(offset) => {
                    self.engine.high_watermark(offset);
                    // Whoever waits for this is answered before the followers are told of it.
                    self.take_engine_outputs(now);
                    self.answer_upgrades(offset);
                }
                QuorumEvent::Leader {
                    epoch,
                    leader,
                    mine_from,
                } => {
                    match mine_from {
                        Some(from) => self.engine.leader(epoch, from),
                        None => self.engine.not_leader(),
                    }
                    self.give_up_upgrades();
                    self.registration.leader_changed(now.mono);
                    self.event(NodeEvent::QuorumLeader { epoch, leader });
                }
                QuorumEvent::Snapshot(snapshot) => {
                    self.engine.install(
                        snapshot.image,
                        snapshot.id,
                        snapshot.header.last_contained,
                    );
                }
                // The next round reads on.
                QuorumEvent::ReadReady => {}
                QuorumEvent::SnapshotWritten(id) => self.event(NodeEvent::SnapshotWritten { id }),
                QuorumEvent::Warning(text) => self.event(NodeEvent::Warning(text)),
                QuorumEvent::Fatal(reason) => self.stop_with(reason),
                QuorumEvent::Stopped => self.out.push_back(Output::Stopped { fault: None }),
            }
        }
        any
    }

    fn stop_with(&mut self, reason: String) {
        self.stopping = true;
        self.out.push_back(Output::Stopped {
            fault: Some(reason),
        });
    }

    /// Hands committed batches to an engine that stands by; whether there were any.
    fn feed_standby(&mut self) -> bool {
        let mut any = false;
        while let Some(from) = self.engine.reads_from() {
            match self.quorum.read_committed(from, APPLY_BYTES) {
                CommittedRead::Batches(batches) if batches.is_empty() => break,
                CommittedRead::Batches(batches) => match log_reader::decode(&batches) {
                    Ok(batches) => {
                        self.engine.committed(&batches);
                        any = true;
                    }
                    Err(error) => {
                        self.stop_with(error.to_string());
                        break;
                    }
                },
                CommittedRead::Pending => break,
            }
        }
        any
    }

    /// Takes up what the engine says; whether there was anything.
    fn take_engine_outputs(&mut self, now: Now) -> bool {
        let mut any = false;
        while let Some(output) = self.engine.poll() {
            any = true;
            match output {
                engine::Output::Stable { .. } => self.publish(now),
                engine::Output::Reply { ticket, result } => self.reply(now, ticket, result),
                engine::Output::Active { epoch } => self.event(NodeEvent::Active { epoch }),
                engine::Output::Inactive { .. } => self.event(NodeEvent::Inactive),
                engine::Output::Fault(fault) => self.fault(&fault),
            }
        }
        any
    }

    fn fault(&mut self, fault: &engine::Fault<Misfit>) {
        match fault {
            // What is committed cannot be applied: going on would serve wrong metadata.
            engine::Fault::Replaying { .. } => self.stop_with(fault.to_string()),
            other => self.event(NodeEvent::Warning(other.to_string())),
        }
    }

    /// Makes the stable state the one that everybody sees. It may be newer than what the engine's
    /// word that brought us here was about; the words that follow are then about nothing new.
    fn publish(&mut self, now: Now) {
        let end = self.engine.stable_end();
        if end == self.published_end {
            return;
        }
        let image = self.engine.state().clone();
        let delta = Delta::new(std::mem::take(&mut self.published), image);
        if delta.changed(Section::Features) {
            self.features_end = Some(end);
        }
        for event in changes::events(&delta) {
            self.event(event);
        }
        self.published = delta.after().clone();
        self.published_end = end;
        self.registration.published(now.mono, &self.published);
        let published = Published {
            image: self.published.clone(),
            end,
        };
        self.out.push_back(Output::Published(Box::new(published)));
        self.event(NodeEvent::Published { end });
        self.quorum.published(now, end, self.engine.snapshot());
    }

    fn reply(&mut self, now: Now, ticket: Ticket, result: Result<Reply, Refused>) {
        if self.registration.is_own(ticket) {
            return self.registration.decided(result);
        }
        let Some(Parked { to, body }) = self.parked.remove(&ticket) else {
            return;
        };
        match result {
            Ok(reply) => {
                let response = self.go_on_upgrading(now, ticket, &to, reply.into());
                if let Some(response) = response {
                    to.send(&response, &mut self.inbound, &mut self.scratch);
                }
            }
            Err(refused) => {
                self.forget_upgrade(ticket);
                self.refuse(&to, &body, refused);
            }
        }
    }

    /// Answers a command that the engine did not decide.
    fn refuse(&mut self, to: &ReplyTo, body: &Bytes, refused: Refused) {
        let operation = to
            .decode(body)
            .and_then(|request| Operation::of(request).ok());
        let Some(operation) = operation else {
            return self.inbound.refuse(to.slot.conn(), &mut self.scratch);
        };
        let bare = Response::from(operation.refused(&refusal(refused)));
        match refused {
            Refused::NotActive | Refused::OutcomeUnknown => {
                to.not_controller(&bare, &mut self.inbound, &mut self.scratch);
            }
            _ => to.send(&bare, &mut self.inbound, &mut self.scratch),
        }
    }

    fn connection_closed(&mut self, now: Now, conn: ConnId) {
        self.inbound.closed(conn);
        let gone: Vec<u64> = self
            .asked
            .iter()
            .filter(|(_, to)| to.slot.conn() == conn)
            .map(|(token, _)| *token)
            .collect();
        for token in gone {
            self.asked.remove(&token);
            self.quorum.request_gone(now, &mut self.names, token);
        }
    }
}

impl Node for ControllerNode {
    fn handle(&mut self, now: Now, input: Input) {
        match input {
            Input::Accepted { conn, from } => self.inbound.accepted(conn, from),
            Input::Connected { conn } if self.quorum.owns(conn) => self.quorum.connected(now, conn),
            Input::Connected { conn } => self.registration.connected(now.mono, conn),
            Input::ConnectFailed { conn, refused } if self.quorum.owns(conn) => {
                self.quorum
                    .connect_failed(now, &mut self.names, conn, refused);
            }
            Input::ConnectFailed { conn, refused } => {
                self.registration.connect_failed(now.mono, conn, refused);
            }
            Input::Frame {
                conn: conn @ ConnId::Accepted(_),
                frame,
            } => {
                self.request_frame(now, conn, &frame);
            }
            Input::Frame { conn, frame } if self.quorum.owns(conn) => {
                self.quorum.link_frame(now, &mut self.names, conn, frame);
            }
            Input::Frame { conn, frame } => {
                self.registration
                    .frame(now.mono, &mut self.names, conn, frame);
            }
            Input::Closed {
                conn: conn @ ConnId::Accepted(_),
            } => self.connection_closed(now, conn),
            Input::Closed { conn } if self.quorum.owns(conn) => {
                self.quorum.link_closed(now, &mut self.names, conn);
            }
            Input::Closed { conn } => self.registration.closed(now.mono, &mut self.names, conn),
            Input::Disk(done) => self.quorum.disk(now, &mut self.names, done),
            Input::Shutdown => {
                self.stopping = true;
                self.quorum.shut_down(now, &mut self.names, SHUTDOWN_WITHIN);
            }
        }
    }

    fn drive(&mut self, now: Now) {
        self.quorum.tick(now, &mut self.names);
        loop {
            let mut any = self.take_quorum_events(now);
            any |= self.feed_standby();
            let mut log = EngineLog::new(&mut self.quorum, &mut self.names, now);
            self.engine.turn(now.mono, now.wall, &mut log);
            any |= self.take_engine_outputs(now);
            // What the turn appended is for the followers at once, not after this node's flush.
            if !any && self.quorum.is_quiet() {
                break;
            }
        }
        self.register(now);
        self.quorum.drain(&mut self.scratch);
        self.registration.drain(&mut self.scratch);
        self.out.extend(self.scratch.drain(..));
    }

    fn poll(&mut self) -> Option<Output> {
        self.out.pop_front()
    }

    fn deadline(&self) -> Option<MonoTime> {
        [
            self.quorum.deadline(),
            self.engine.deadline(),
            self.registration.deadline(),
        ]
        .into_iter()
        .flatten()
        .min()
    }
}
