//! A broker without data: it follows the metadata log as an observer, keeps its registration alive,
//! leads and follows replicas that hold no records, and answers clients' metadata requests.
//!
//! One round of [`Node::drive`] does, until nothing is left to do:
//! 1. what the quorum reports; committed batches go to the loader;
//! 2. a new image is published: to the broker's cores first, then to everybody who looks;
//! 3. what the cores want sent, and what clients want forwarded, goes out, and answers come back.

mod errands;
mod front_door;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use quorate_broker::lifecycle::{self, LifecycleConfig, ShutdownReason};
use quorate_broker::{
    Broker, BrokerApis, BrokerCall, BrokerInput, BrokerOutput, BrokerRequest, BrokerResponse,
    CacheConfig, CallFailure, Destination,
};
use quorate_metadata::{Delta, Loader, MetadataImage};
use quorate_protocol::messages::{Request, Response};
use quorate_raft::{Boot, BootError};
use quorate_types::{MonoTime, NodeId, Rng};

use self::errands::{Directory, Errands, Lane, Owner, Target};
use crate::changes;
use crate::disk::DiskJob;
use crate::events::NodeEvent;
use crate::inbound::Inbound;
use crate::io::{Address, ConnId, Input, Node, Now, Output, Published};
use crate::links::{CallError, ConnNames};
use crate::log_reader;
use crate::quorum::{CommittedRead, KRAFT_VERSIONS, Quorum, QuorumConfig, QuorumEvent};

/// About how many bytes of committed batches are loaded at a time.
const LOAD_BYTES: usize = 4 * 1024 * 1024;

/// The longest that raft may take to stop.
const SHUTDOWN_WITHIN: Duration = Duration::from_millis(500);

/// What a broker is made of.
#[derive(Debug, Clone)]
pub struct BrokerNodeConfig {
    /// Its part in the quorum, as an observer.
    pub quorum: QuorumConfig,
    /// Who it is; its first listener is the one that clients and brokers use.
    pub lifecycle: LifecycleConfig,
    /// What shapes its answers.
    pub cache: CacheConfig,
    /// Its own settings that stand behind topics' configurations, by name.
    pub settings: BTreeMap<String, String>,
}

/// A broker without I/O.
pub struct BrokerNode {
    node: NodeId,
    listener: String,
    settings: BTreeMap<String, String>,
    rng: Rng,
    names: ConnNames,
    inbound: Inbound,
    quorum: Quorum,
    loader: Loader,
    broker: Broker,
    apis: BrokerApis,
    errands: Errands,
    /// Topics that are being created on clients' behalf.
    auto_creating: BTreeSet<String>,
    published: MetadataImage,
    stopping: bool,
    out: VecDeque<Output>,
    scratch: Vec<Output>,
}

impl BrokerNode {
    /// Starts from what the disk holds. `config.lifecycle.features` gets `kraft.version` added.
    ///
    /// # Errors
    /// If the disk's content does not allow to take part safely.
    pub fn new(
        config: BrokerNodeConfig,
        boot: Boot,
        mut rng: Rng,
        now: Now,
    ) -> Result<BrokerNode, BootError> {
        let mut names = ConnNames::default();
        let mut lifecycle = config.lifecycle;
        lifecycle
            .features
            .insert("kraft.version".to_owned(), KRAFT_VERSIONS);
        let listener = lifecycle
            .listeners
            .first()
            .map(|listener| listener.name.clone());
        let node = lifecycle.broker;
        let quorum = Quorum::new(config.quorum, boot, rng.fork(), now, &mut names)?;
        let apis = BrokerApis::new(front_door::apis(), lifecycle.features.clone());
        let mut broker = Broker::new(lifecycle, config.cache);
        broker.handle(now.mono, BrokerInput::Start);
        Ok(BrokerNode {
            node,
            listener: listener.unwrap_or_default(),
            settings: config.settings,
            rng: rng.fork(),
            names,
            inbound: Inbound::default(),
            quorum,
            loader: Loader::new(),
            broker,
            apis,
            errands: Errands::new(node),
            auto_creating: BTreeSet::new(),
            published: MetadataImage::default(),
            stopping: false,
            out: VecDeque::new(),
            scratch: Vec::new(),
        })
    }

    /// The node's part in the quorum, to look at.
    pub fn quorum(&self) -> &Quorum {
        &self.quorum
    }

    /// The broker's cores, to look at.
    pub fn broker(&self) -> &Broker {
        &self.broker
    }

    fn event(&mut self, event: NodeEvent) {
        self.out.push_back(Output::Event(event));
    }

    fn stop_with(&mut self, fault: Option<String>) {
        self.stopping = true;
        self.out.push_back(Output::Stopped { fault });
    }

    fn take_quorum_events(&mut self) -> bool {
        let mut any = false;
        while let Some(event) = self.quorum.poll() {
            any = true;
            match event {
                // A broker's listener takes no requests of the quorum.
                QuorumEvent::Answer { .. } => {}
                QuorumEvent::HighWatermark(offset) => self.loader.high_watermark(offset),
                QuorumEvent::Leader { epoch, leader, .. } => {
                    self.event(NodeEvent::QuorumLeader { epoch, leader });
                }
                QuorumEvent::Snapshot(snapshot) => self.loader.load(*snapshot),
                // The next round reads on.
                QuorumEvent::ReadReady => {}
                QuorumEvent::SnapshotWritten(id) => self.event(NodeEvent::SnapshotWritten { id }),
                QuorumEvent::Warning(text) => self.event(NodeEvent::Warning(text)),
                QuorumEvent::Fatal(reason) => self.stop_with(Some(reason)),
                QuorumEvent::Stopped => self.stop_with(None),
            }
        }
        any
    }

    fn load(&mut self) -> bool {
        let mut any = false;
        loop {
            match self.quorum.read_committed(self.loader.end(), LOAD_BYTES) {
                CommittedRead::Batches(batches) if batches.is_empty() => break,
                CommittedRead::Batches(batches) => {
                    let loaded = log_reader::decode(&batches).map_err(|error| error.to_string());
                    let loaded = loaded.and_then(|batches| {
                        self.loader
                            .commit(&batches)
                            .map_err(|error| error.to_string())
                    });
                    if let Err(error) = loaded {
                        self.stop_with(Some(error));
                        break;
                    }
                    any = true;
                }
                CommittedRead::Pending => break,
            }
        }
        any
    }

    fn publish(&mut self, now: Now) -> bool {
        let Some((image, provenance)) = self.loader.poll() else {
            return false;
        };
        let end = provenance.end.offset;
        let delta = Delta::new(std::mem::take(&mut self.published), image.clone());
        self.broker.published(now.mono, image.clone(), end);
        for event in changes::events(&delta) {
            self.event(event);
        }
        self.published = image.clone();
        self.out
            .push_back(Output::Published(Box::new(Published { image, end })));
        self.event(NodeEvent::Published { end });
        self.quorum.published(now, end, self.loader.snapshot());
        true
    }

    /// Carries out what the broker's cores want; whether there was anything.
    fn take_broker_outputs(&mut self, now: Now) -> bool {
        let mut any = false;
        while let Some(output) = self.broker.poll() {
            any = true;
            match output {
                BrokerOutput::Call { call, to, request } => self.send(now, call, to, request),
                BrokerOutput::Lifecycle(output) => self.lifecycle_says(now, output),
            }
        }
        any
    }

    fn send(&mut self, now: Now, call: BrokerCall, to: Destination, request: BrokerRequest) {
        let timeout = Some(request.timeout());
        let (lane, request) = match request {
            BrokerRequest::Registration(request) => (Lane::Lifecycle, Request::from(request)),
            BrokerRequest::Heartbeat(request) => (Lane::Lifecycle, request.into()),
            BrokerRequest::AlterPartition(request) => (Lane::Cluster, request.into()),
            BrokerRequest::AssignReplicasToDirs(request) => (Lane::Cluster, request.into()),
            BrokerRequest::Fetch(request) => (Lane::Follow, request.into()),
        };
        let target = match to {
            Destination::ActiveController => Target::ActiveController,
            Destination::Broker(node) => Target::Broker(node),
        };
        let owner = Owner::Broker(call);
        self.errands
            .take_on(now.mono, lane, target, request, owner, timeout);
    }

    fn lifecycle_says(&mut self, now: Now, output: lifecycle::Output) {
        match output {
            lifecycle::Output::RegistrationRefused(error) => {
                let text = format!("the registration was refused with {error}; it is tried again");
                self.event(NodeEvent::Warning(text));
            }
            lifecycle::Output::ShutDown(reason) => {
                if reason == ShutdownReason::Granted
                    && let Some(epoch) = self.broker.lifecycle().epoch()
                {
                    let note = DiskJob::NoteCleanShutdown { epoch };
                    self.out.push_back(Output::Disk(note));
                }
                if !self.stopping {
                    let text = format!("the broker stops by itself: {reason:?}");
                    self.event(NodeEvent::Warning(text));
                } else if reason == ShutdownReason::NotGranted {
                    let text = "the controller did not grant the shutdown in time";
                    self.event(NodeEvent::Warning(text.to_owned()));
                }
                self.quorum.shut_down(now, &mut self.names, SHUTDOWN_WITHIN);
            }
            _ => {}
        }
    }

    /// Sends what is due and takes up what has ended; whether anything had.
    fn run_errands(&mut self, now: Now) -> bool {
        let controller = self.quorum.leader_address().map(|(_, address)| address);
        if let Some(address) = &controller
            && let Some(offered) = self.errands.offered(address)
        {
            self.apis
                .controller_offers(offered.iter().map(|(key, range)| (*key, *range)));
        }
        let (image, listener) = (&self.published, &self.listener);
        let broker = |node| {
            let endpoint = image.broker(node)?.endpoint(listener)?;
            Some(Address::new(endpoint.host.clone(), endpoint.port))
        };
        let directory = Directory {
            controller,
            broker: &broker,
        };
        let ended = self.errands.run(now.mono, &mut self.names, &directory);
        let any = !ended.is_empty();
        for (owner, result) in ended {
            match owner {
                Owner::Broker(call) => {
                    let answer = broker_answer(result);
                    self.broker
                        .handle(now.mono, BrokerInput::Answer { call, answer });
                }
                Owner::Client { to, body } => self.forwarded(&to, &body, result),
                Owner::AutoCreate(topics) => {
                    for topic in topics {
                        self.auto_creating.remove(&topic);
                    }
                }
            }
        }
        any
    }
}

fn broker_answer(result: Result<Response, CallError>) -> Result<BrokerResponse, CallFailure> {
    match result {
        Ok(Response::BrokerRegistration(answer)) => Ok(BrokerResponse::Registration(answer)),
        Ok(Response::BrokerHeartbeat(answer)) => Ok(BrokerResponse::Heartbeat(answer)),
        Ok(Response::AlterPartition(answer)) => Ok(BrokerResponse::AlterPartition(answer)),
        Ok(Response::AssignReplicasToDirs(answer)) => {
            Ok(BrokerResponse::AssignReplicasToDirs(answer))
        }
        Ok(Response::Fetch(answer)) => Ok(BrokerResponse::Fetch(answer)),
        Ok(_) | Err(CallError::Malformed) => Err(CallFailure::Malformed),
        Err(CallError::TimedOut) => Err(CallFailure::TimedOut),
        Err(CallError::Disconnected) => Err(CallFailure::Disconnected),
        Err(CallError::Unsupported) => Err(CallFailure::Unsupported),
    }
}

impl Node for BrokerNode {
    fn handle(&mut self, now: Now, input: Input) {
        match input {
            Input::Accepted { conn, from } => self.inbound.accepted(conn, from),
            Input::Frame {
                conn: conn @ ConnId::Accepted(_),
                frame,
            } => {
                self.request_frame(now, conn, &frame);
            }
            Input::Closed {
                conn: conn @ ConnId::Accepted(_),
            } => self.inbound.closed(conn),
            Input::Connected { conn } if self.quorum.owns(conn) => self.quorum.connected(now, conn),
            Input::ConnectFailed { conn, refused } if self.quorum.owns(conn) => {
                self.quorum
                    .connect_failed(now, &mut self.names, conn, refused);
            }
            Input::Frame { conn, frame } if self.quorum.owns(conn) => {
                self.quorum.link_frame(now, &mut self.names, conn, frame);
            }
            Input::Closed { conn } if self.quorum.owns(conn) => {
                self.quorum.link_closed(now, &mut self.names, conn);
            }
            Input::Connected { conn } => {
                if let Some(links) = self.errands.links_of(conn) {
                    links.connected(now.mono, conn);
                }
            }
            Input::ConnectFailed { conn, refused } => {
                if let Some(links) = self.errands.links_of(conn) {
                    links.connect_failed(now.mono, conn, refused);
                }
            }
            Input::Frame { conn, frame } => {
                if let Some(links) = self.errands.links_of(conn) {
                    links.frame(now.mono, &mut self.names, conn, frame);
                }
            }
            Input::Closed { conn } => {
                if let Some(links) = self.errands.links_of(conn) {
                    links.closed(now.mono, &mut self.names, conn);
                }
            }
            Input::Disk(done) => self.quorum.disk(now, &mut self.names, done),
            Input::Shutdown => {
                self.stopping = true;
                self.broker.handle(now.mono, BrokerInput::ShutDown);
            }
        }
    }

    fn drive(&mut self, now: Now) {
        self.quorum.tick(now, &mut self.names);
        if self
            .broker
            .deadline()
            .is_some_and(|deadline| deadline <= now.mono)
        {
            self.broker.handle(now.mono, BrokerInput::Tick);
        }
        loop {
            let mut any = self.take_quorum_events();
            any |= self.load();
            any |= self.publish(now);
            any |= self.take_broker_outputs(now);
            any |= self.run_errands(now);
            if !any {
                break;
            }
        }
        self.quorum.drain(&mut self.scratch);
        self.errands.drain(&mut self.scratch);
        self.out.extend(self.scratch.drain(..));
    }

    fn poll(&mut self) -> Option<Output> {
        self.out.pop_front()
    }

    fn deadline(&self) -> Option<MonoTime> {
        [
            self.quorum.deadline(),
            self.broker.deadline(),
            self.errands.deadline(),
        ]
        .into_iter()
        .flatten()
        .min()
    }
}
