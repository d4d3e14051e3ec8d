//! A machine: its disk, and the process on it if one runs.

use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use quorate_broker::{CacheConfig, LifecycleConfig, clean_shutdown};
use quorate_controller::features::{default_levels, supported_features};
use quorate_controller::{ControllerConfig, KafkaController};
use quorate_engine::EngineConfig;
use quorate_metadata::{Listener as BrokerListener, MetadataVersion, SecurityProtocol};
use quorate_protocol::batch::BatchView;
use quorate_protocol::messages::controller_registration::Listener;
use quorate_raft::Config;
use quorate_server::boot;
use quorate_server::broker::{BrokerNode, BrokerNodeConfig};
use quorate_server::controller::{ControllerIdentity, ControllerNode, ControllerNodeConfig};
use quorate_server::disk::DiskWorker;
use quorate_server::io::{Address, Now};
use quorate_server::quorum::QuorumConfig;
use quorate_storage::vfs::Vfs;
use quorate_storage::{FormatSpec, LogConfig, MetaProperties, MetadataLog, Recovered, format};
use quorate_types::{
    BrokerEpoch, DirectoryId, IncarnationId, MonoTime, NodeId, ReplicaKey, Rng, WallTime,
};

use crate::client::{Client, Known};
use crate::disk::SimDisk;
use crate::process::Process;
use crate::spec::{BROKER_LISTENER, CONTROLLER_LISTENER, PORT, Spec};

/// Where every machine keeps its log.
const DIRECTORY: &str = "/data";

/// What a machine is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// It runs a controller with that log directory.
    Controller(DirectoryId),
    /// It runs a broker with that log directory.
    Broker(DirectoryId),
    /// It runs a client.
    Client,
}

/// Whether a machine answers on the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Power {
    /// It does, if only with a refusal.
    On,
    /// It does not.
    Off,
}

/// One machine.
pub struct Machine {
    /// The id of the node on it, and its name.
    pub id: NodeId,
    /// What it is for.
    pub role: Role,
    /// Whether it runs.
    pub power: Power,
    /// The number of its current or last process.
    pub life: u64,
    /// What runs on it.
    pub process: Option<Process>,
    /// When the process is driven next.
    pub wake_at: Option<MonoTime>,
    /// How often the process was driven at this instant.
    pub spins: u32,
    /// Whether a write of this process failed.
    pub write_failed: bool,
    /// The incarnation of the broker that runs on it, or ran last.
    pub incarnation: Option<IncarnationId>,
    /// Its disk.
    pub disk: SimDisk,
}

/// A process that was started: what it found on its disk.
pub struct Started {
    /// What the log says.
    pub recovered: Recovered,
    /// The batches of the log.
    pub batches: Vec<Bytes>,
}

impl Machine {
    /// A machine without a process, its disk formatted.
    pub fn new(id: NodeId, role: Role, spec: &Spec, wall: WallTime) -> Result<Machine, String> {
        let machine = Machine {
            id,
            role,
            power: Power::On,
            life: 0,
            process: None,
            wake_at: None,
            spins: 0,
            write_failed: false,
            incarnation: None,
            disk: SimDisk::new(),
        };
        let (directory, voters) = match role {
            Role::Controller(directory) => {
                let first = spec.dynamic && spec.is_first_voter(id);
                (directory, first.then(|| spec.voters()))
            }
            Role::Broker(directory) => (directory, None),
            Role::Client => return Ok(machine),
        };
        let levels = default_levels(MetadataVersion::LATEST);
        let plan = FormatSpec {
            cluster_id: spec.cluster_id.clone(),
            node: id,
            directory,
            features: levels
                .into_iter()
                .map(|(name, level)| (name.to_owned(), level))
                .collect(),
            records: Vec::new(),
            initial_voters: voters,
            at: wall,
        };
        format(machine.disk.vfs(), Path::new(DIRECTORY), &plan)
            .map_err(|error| error.to_string())?;
        Ok(machine)
    }

    /// Starts the process from what the disk holds; nothing is found on a client's disk.
    ///
    /// # Errors
    /// In words, if the disk's content does not allow it.
    pub fn start(
        &mut self,
        spec: &Spec,
        rng: &mut Rng,
        now: Now,
    ) -> Result<Option<Started>, String> {
        self.life += 1;
        self.wake_at = None;
        self.write_failed = false;
        self.power = Power::On;
        let directory = match self.role {
            Role::Controller(directory) | Role::Broker(directory) => directory,
            Role::Client => {
                self.process = Some(Process::Client(Box::new(client(self.id, spec, rng.fork()))));
                return Ok(None);
            }
        };
        let (worker, started) = self.open(spec)?;
        let static_voters = (!spec.dynamic).then(|| spec.voters());
        let votes = matches!(self.role, Role::Controller(_));
        let boot = boot::boot(&started.recovered, static_voters, votes)
            .map_err(|error| error.to_string())?;
        let local = ReplicaKey::new(self.id, Some(directory));
        let quorum = quorum_config(spec, local, votes);
        let process = if votes {
            let config = self.controller_config(spec, quorum, rng)?;
            let node = ControllerNode::new(config, boot, rng.fork(), now);
            Process::Controller(Box::new(node.map_err(|error| error.to_string())?))
        } else {
            let mut config = broker_config(spec, local, quorum, rng);
            config.lifecycle.previous_epoch = self.clean_shutdown()?;
            self.incarnation = Some(config.lifecycle.incarnation);
            let node = BrokerNode::new(config, boot, rng.fork(), now);
            Process::Broker(Box::new(node.map_err(|error| error.to_string())?))
        };
        self.disk.attach(worker);
        self.process = Some(process);
        Ok(Some(started))
    }

    fn open(&self, spec: &Spec) -> Result<(DiskWorker, Started), String> {
        let vfs = self.disk.vfs();
        let dir = Path::new(DIRECTORY);
        let properties = MetaProperties::read(vfs, dir).map_err(|error| error.to_string())?;
        properties
            .expect(dir, &spec.cluster_id, self.id)
            .map_err(|error| error.to_string())?;
        let config = LogConfig {
            segment_bytes: spec.segment_bytes,
            ..LogConfig::default()
        };
        let (log, recovered) = MetadataLog::open(Arc::new(vfs.clone()), dir, config)
            .map_err(|error| error.to_string())?;
        let reader = log.reader();
        let mut batches: Vec<BatchView> = Vec::new();
        loop {
            let from = batches.last().map_or(reader.start(), BatchView::end_offset);
            if from >= reader.end() {
                break;
            }
            let more = reader
                .read(from, 1 << 20)
                .map_err(|error| error.to_string())?;
            if more.is_empty() {
                return Err(format!("nothing can be read at {from}"));
            }
            batches.extend(more);
        }
        let batches = batches.into_iter().map(BatchView::into_bytes).collect();
        let worker = match self.role {
            Role::Controller(_) => DiskWorker::new(log),
            _ => DiskWorker::of_observer(log).noting_in(Arc::new(vfs.clone()), DIRECTORY.into()),
        };
        Ok((worker, Started { recovered, batches }))
    }

    /// The epoch of the broker that ended here last, if it ended cleanly; its note is taken away.
    fn clean_shutdown(&self) -> Result<Option<BrokerEpoch>, String> {
        let vfs = self.disk.vfs();
        let path = Path::new(DIRECTORY).join(clean_shutdown::FILE_NAME);
        let Ok(note) = vfs.read_all(&path, 4096) else {
            return Ok(None);
        };
        vfs.remove(&path)
            .and_then(|()| vfs.sync_dir(Path::new(DIRECTORY)))
            .map_err(|error| error.to_string())?;
        Ok(clean_shutdown::previous_epoch([Some(&note[..])]))
    }

    fn controller_config(
        &self,
        spec: &Spec,
        quorum: QuorumConfig,
        rng: &mut Rng,
    ) -> Result<ControllerNodeConfig, String> {
        let mut settings = ControllerConfig::new(self.id, spec.cluster_id.clone());
        settings.broker_session_timeout = spec.session_timeout;
        settings.broker_heartbeat_interval = spec.heartbeat_interval;
        let bootstrap = boot::bootstrap_records(self.disk.vfs(), Path::new(DIRECTORY))
            .map_err(|error| error.to_string())?;
        if let Some(records) = bootstrap {
            settings.bootstrap = records;
        }
        let endpoint = Spec::controller_endpoint(self.id);
        Ok(ControllerNodeConfig {
            quorum,
            controller: KafkaController::new(settings),
            engine: EngineConfig::default(),
            identity: ControllerIdentity {
                incarnation: IncarnationId(rng.uuid()),
                listeners: vec![Listener {
                    name: endpoint.name,
                    host: endpoint.host,
                    port: endpoint.port,
                    ..Default::default()
                }],
            },
        })
    }
}

fn quorum_config(spec: &Spec, local: ReplicaKey, controller: bool) -> QuorumConfig {
    let bootstrap = addresses(&spec.controllers);
    let endpoints = controller.then(|| Spec::controller_endpoint(local.id));
    QuorumConfig {
        raft: Config {
            controller,
            endpoints: endpoints.into_iter().collect(),
            bootstrap_servers: bootstrap.len(),
            election_timeout: spec.election_timeout,
            fetch_timeout: spec.fetch_timeout,
            retry_backoff: spec.retry_backoff,
            ..Config::new(local)
        },
        cluster_id: spec.cluster_id.clone(),
        listener: CONTROLLER_LISTENER.to_owned(),
        bootstrap,
        tail_bytes: spec.tail_bytes,
        snapshots: spec.snapshots.clone(),
    }
}

fn broker_config(
    spec: &Spec,
    local: ReplicaKey,
    quorum: QuorumConfig,
    rng: &mut Rng,
) -> BrokerNodeConfig {
    let incarnation = IncarnationId(rng.uuid());
    BrokerNodeConfig {
        quorum,
        lifecycle: LifecycleConfig {
            listeners: vec![BrokerListener {
                name: BROKER_LISTENER.to_owned(),
                host: Spec::host(local.id),
                port: PORT,
                security_protocol: SecurityProtocol::PLAINTEXT,
            }],
            features: supported_features(),
            directories: local.directory.into_iter().collect(),
            heartbeat_interval: spec.heartbeat_interval,
            controlled_shutdown_timeout: spec.session_timeout,
            ..LifecycleConfig::new(local.id, &spec.cluster_id, incarnation)
        },
        cache: CacheConfig::default(),
        settings: Default::default(),
    }
}

fn client(id: NodeId, spec: &Spec, rng: Rng) -> Client {
    let known = Known {
        controllers: addresses(&spec.controllers),
        brokers: {
            let ids = spec.brokers.iter().map(|(id, _)| *id);
            ids.zip(addresses(&spec.brokers)).collect()
        },
        voters: match spec.has_spares() {
            true => spec.controllers.clone(),
            false => Vec::new(),
        },
        cluster_id: spec.cluster_id.clone(),
    };
    Client::new(id, known, spec.client_pause, rng)
}

fn addresses(nodes: &[(NodeId, DirectoryId)]) -> Vec<Address> {
    nodes
        .iter()
        .map(|(id, _)| Address::new(Spec::host(*id), PORT))
        .collect()
}
