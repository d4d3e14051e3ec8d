//! Controllers on loopback sockets, their files real or in memory.
#![allow(clippy::disallowed_methods)] // They wait and measure.
#![allow(dead_code, reason = "each test target uses a part")]

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::{Duration, Instant};

use quorate_controller::features::default_levels;
use quorate_controller::{ControllerConfig, KafkaController};
use quorate_engine::EngineConfig;
use quorate_metadata::{ConfigKind, ConfigResource, MetadataVersion};
use quorate_node::{
    Client, ClientError, Clock, ControllerSpec, Limits, Machine, NewDirectory, NodeHandle,
    StartError, entropy,
};
use quorate_protocol::messages::incremental_alter_configs::{
    AlterConfigsResource, AlterableConfig,
};
use quorate_protocol::messages::{IncrementalAlterConfigsRequest, Request, Response};
use quorate_raft::Config;
use quorate_server::boot;
use quorate_server::controller::{ControllerIdentity, ControllerNode, ControllerNodeConfig};
use quorate_server::disk::DiskWorker;
use quorate_server::events::NodeEvent;
use quorate_server::quorum::QuorumConfig;
use quorate_storage::vfs::MemVfs;
use quorate_storage::{FormatSpec, LogConfig, MetadataLog, format};
use quorate_types::{
    DirectoryId, Endpoint, ErrorCode, IncarnationId, NodeId, ReplicaKey, Rng, VersionRange, Voter,
    VoterSet, WallTime,
};
use tokio::runtime::Runtime;

pub const CLUSTER: &str = "a-cluster";
/// How long anything may take; it is never waited for without end.
pub const SOON: Duration = Duration::from_secs(15);

/// A controller's place.
#[derive(Clone)]
pub struct Member {
    pub id: NodeId,
    pub address: SocketAddr,
    pub directory: DirectoryId,
}

impl Member {
    fn endpoint(&self) -> Endpoint {
        Endpoint {
            name: "CONTROLLER".into(),
            host: self.address.ip().to_string(),
            port: self.address.port(),
        }
    }
}

/// A machine, and the quorum that lives on it.
pub struct Site {
    runtime: Runtime,
    clock: Clock,
    pub limits: Limits,
    pub members: Vec<Member>,
    /// Bound ports that wait for their first node.
    listeners: Vec<Option<TcpListener>>,
    tell: Sender<(NodeId, NodeEvent)>,
    told: Receiver<(NodeId, NodeEvent)>,
}

impl Site {
    /// A quorum of that size; nothing runs yet.
    pub fn new(members: usize) -> Site {
        let (tell, told) = mpsc::channel();
        let listeners: Vec<TcpListener> = (0..members)
            .map(|_| TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap())
            .collect();
        let mut rng = entropy();
        let members = (1..).zip(&listeners).map(|(id, listener)| Member {
            id: NodeId(id),
            address: listener.local_addr().unwrap(),
            directory: DirectoryId(rng.uuid()),
        });
        Site {
            runtime: tokio::runtime::Builder::new_multi_thread()
                .worker_threads(1)
                .enable_all()
                .build()
                .unwrap(),
            clock: Clock::new(),
            limits: Limits::default(),
            members: members.collect(),
            listeners: listeners.into_iter().map(Some).collect(),
            tell,
            told,
        }
    }

    fn voters(&self) -> VoterSet {
        let voter = |member: &Member| {
            let voter = Voter {
                directory: Some(member.directory),
                endpoints: vec![member.endpoint()],
                kraft_versions: VersionRange { min: 0, max: 1 },
            };
            (member.id, voter)
        };
        self.members.iter().map(voter).collect()
    }

    fn listener(&mut self, index: usize) -> TcpListener {
        let bound = self.listeners[index].take();
        bound.unwrap_or_else(|| TcpListener::bind(self.members[index].address).unwrap())
    }

    fn on_event(&self, node: NodeId) -> Box<dyn FnMut(NodeEvent) + Send> {
        let tell = self.tell.clone();
        Box::new(move |event| drop(tell.send((node, event))))
    }

    fn machine(&self) -> Machine<'_> {
        Machine {
            tokio: self.runtime.handle(),
            clock: self.clock,
            limits: self.limits,
        }
    }

    /// Starts a member with real files below that directory, formatted if they are not yet.
    pub fn start(&mut self, index: usize, below: &Path) -> NodeHandle {
        self.try_start(index, below).unwrap()
    }

    /// The same, or why it does not start.
    pub fn try_start(&mut self, index: usize, below: &Path) -> Result<NodeHandle, StartError> {
        let listener = self.listener(index);
        let member = &self.members[index];
        let path = directory(below, index);
        let new = NewDirectory {
            path: path.clone(),
            cluster_id: CLUSTER.into(),
            node: member.id,
            directory: member.directory,
            initial_voters: Some(self.voters()),
        };
        new.make(self.clock.now().wall)?;
        let spec = ControllerSpec::new(member.id, CLUSTER, path, member.endpoint());
        let seed = entropy().next_u64();
        spec.start(listener, &self.machine(), seed, self.on_event(member.id))
    }

    /// Starts the first member on a directory that nobody formatted; why that fails.
    pub fn start_unformatted(&self, path: &Path) -> StartError {
        let (member, path) = (&self.members[0], path.to_owned());
        let spec = ControllerSpec::new(member.id, CLUSTER, path, member.endpoint());
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let started = spec.start(listener, &self.machine(), 1, self.on_event(member.id));
        started.err().expect("it must not start")
    }

    /// Starts a member with its files on a simulated disk.
    pub fn start_in_memory(&mut self, index: usize, disk: &MemVfs) -> NodeHandle {
        let listener = self.listener(index);
        let member = self.members[index].clone();
        let dir = Path::new("/data");
        if quorate_storage::MetaProperties::read(disk, dir).is_err() {
            let levels = default_levels(MetadataVersion::LATEST);
            let spec = FormatSpec {
                cluster_id: CLUSTER.into(),
                node: member.id,
                directory: member.directory,
                features: levels
                    .into_iter()
                    .map(|(name, level)| (name.to_owned(), level))
                    .collect(),
                records: Vec::new(),
                initial_voters: Some(self.voters()),
                at: WallTime(1),
            };
            format(disk, dir, &spec).unwrap();
        }
        let vfs = Arc::new(disk.clone());
        let (log, recovered) = MetadataLog::open(vfs, dir, LogConfig::default()).unwrap();
        let mut rng = Rng::new(entropy().next_u64());
        let raft = Config {
            endpoints: vec![member.endpoint()],
            ..Config::new(ReplicaKey::new(member.id, Some(member.directory)))
        };
        let mut settings = ControllerConfig::new(member.id, CLUSTER);
        settings.bootstrap = boot::bootstrap_records(disk, dir).unwrap().unwrap();
        let config = ControllerNodeConfig {
            quorum: QuorumConfig {
                raft,
                cluster_id: CLUSTER.into(),
                listener: "CONTROLLER".into(),
                bootstrap: Vec::new(),
                tail_bytes: 1 << 20,
                snapshots: Default::default(),
            },
            controller: KafkaController::new(settings),
            engine: EngineConfig::default(),
            identity: ControllerIdentity {
                incarnation: IncarnationId(rng.uuid()),
                listeners: Vec::new(),
            },
        };
        let boot = boot::boot(&recovered, None, true).unwrap();
        let node = ControllerNode::new(config, boot, rng, self.clock.now()).unwrap();
        let name = format!("controller-{}", member.id);
        let worker = DiskWorker::new(log);
        let on_event = self.on_event(member.id);
        NodeHandle::start(&name, node, worker, listener, &self.machine(), on_event).unwrap()
    }

    /// Waits for the next controller that says that it is active.
    pub fn next_active(&self) -> NodeId {
        self.hear(|event| matches!(event, NodeEvent::Active { .. }))
            .0
    }

    /// Makes a change at whichever member takes it; who that was.
    pub fn write(&self, value: &str) -> NodeId {
        let until = Instant::now() + SOON;
        loop {
            for member in &self.members {
                let client = Client::connect(&member.address.to_string(), SOON);
                let done = client.and_then(|mut client| set(&mut client, value));
                if done.is_ok_and(|error| error == ErrorCode::None) {
                    return member.id;
                }
            }
            assert!(Instant::now() < until, "nobody takes a change");
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Waits for an event.
    pub fn hear(&self, is: impl Fn(&NodeEvent) -> bool) -> (NodeId, NodeEvent) {
        let until = Instant::now() + SOON;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let told = self.told.recv_timeout(left).expect("the event comes soon");
            if is(&told.1) {
                return told;
            }
        }
    }

    /// A client of a member.
    pub fn client(&self, id: NodeId) -> Client {
        Client::connect(&self.address(id), SOON).unwrap()
    }

    pub fn address(&self, id: NodeId) -> String {
        let member = self.members.iter().find(|member| member.id == id);
        member.unwrap().address.to_string()
    }
}

pub fn directory(below: &Path, index: usize) -> PathBuf {
    below.join(format!("controller-{}", index + 1))
}

/// Whether something holds before long.
pub fn soon(holds: impl Fn() -> bool) -> bool {
    let until = Instant::now() + SOON;
    while Instant::now() < until {
        if holds() {
            return true;
        }
        thread::sleep(Duration::from_millis(5));
    }
    false
}

/// A change of the metadata that needs no brokers: a default of all brokers.
pub fn change(value: &str) -> Request {
    Request::from(IncrementalAlterConfigsRequest {
        resources: vec![AlterConfigsResource {
            resource_type: 4,
            resource_name: String::new(),
            configs: vec![AlterableConfig {
                name: "log.retention.ms".into(),
                config_operation: 0,
                value: Some(value.to_owned()),
                ..Default::default()
            }],
            ..Default::default()
        }],
        ..Default::default()
    })
}

/// Makes the change; what came of it.
pub fn set(client: &mut Client, value: &str) -> Result<ErrorCode, ClientError> {
    match client.call(&change(value))? {
        Response::IncrementalAlterConfigs(answer) => Ok(answer.responses[0].error_code),
        other => panic!("{other:?} answers another question"),
    }
}

/// The value in what a node has published.
pub fn value_in(node: &NodeHandle) -> Option<String> {
    let image = node.published().get()?.image;
    let resource = ConfigResource::new(ConfigKind::BROKER, "");
    let value = image.configs().get(&resource, "log.retention.ms");
    value.map(str::to_owned)
}
