//! A machine: its disk, the work that waits for it, and the process if one runs.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use quorate_broker::{CacheConfig, LifecycleConfig};
use quorate_controller::features::supported_features;
use quorate_controller::{ControllerConfig, KafkaController};
use quorate_engine::EngineConfig;
use quorate_metadata::{Listener as BrokerListener, SecurityProtocol};
use quorate_protocol::messages::controller_registration::Listener;
use quorate_raft::Config;
use quorate_server::boot;
use quorate_server::broker::{BrokerNode, BrokerNodeConfig};
use quorate_server::controller::{ControllerIdentity, ControllerNode, ControllerNodeConfig};
use quorate_server::disk::{DiskDone, DiskJob, DiskWorker};
use quorate_server::events::NodeEvent;
use quorate_server::io::{Address, Input, Node, Now, Output, Published};
use quorate_server::quorum::{Quorum, QuorumConfig};
use quorate_server::snapshots::SnapshotConfig;
use quorate_storage::vfs::MemVfs;
use quorate_storage::{LogConfig, MetaProperties, MetadataLog, Recovered};
use quorate_types::{IncarnationId, MonoTime, NodeId, ReplicaKey, Rng, VoterSet};

use super::{DIR, PORT, address, endpoint};

enum Process {
    Controller(Box<ControllerNode>),
    Broker(Box<BrokerNode>),
}

pub struct Machine {
    pub id: NodeId,
    pub is_controller: bool,
    pub disk: MemVfs,
    pub bootstrap: Vec<Address>,
    pub static_voters: Option<VoterSet>,
    pub snapshots: SnapshotConfig,
    pub log: LogConfig,
    /// How often a controller writes when it has nothing to write.
    pub idle: Option<Duration>,
    /// What its log said when the process was started.
    pub recovered: Option<Recovered>,
    pub events: Vec<NodeEvent>,
    pub published: Option<Published>,
    /// How the process ended, if it ended by itself.
    pub stopped: Option<Option<String>>,
    pub(super) hung: bool,
    pub(super) life: u64,
    pub(super) jobs: Vec<DiskJob>,
    round: Option<Vec<DiskJob>>,
    overdue: bool,
    process: Option<Process>,
    worker: Option<DiskWorker>,
}

impl Machine {
    pub(super) fn new(id: NodeId, disk: MemVfs, is_controller: bool) -> Machine {
        Machine {
            id,
            is_controller,
            disk,
            bootstrap: Vec::new(),
            static_voters: None,
            snapshots: SnapshotConfig::default(),
            log: LogConfig::default(),
            idle: Some(Duration::from_millis(500)),
            recovered: None,
            events: Vec::new(),
            published: None,
            stopped: None,
            hung: false,
            life: 0,
            jobs: Vec::new(),
            round: None,
            overdue: false,
            process: None,
            worker: None,
        }
    }

    pub fn is_running(&self) -> bool {
        self.process.is_some()
    }

    pub fn is_active(&self) -> bool {
        matches!(&self.process, Some(Process::Controller(node)) if node.is_active())
    }

    /// The node's part in the quorum.
    pub fn quorum(&self) -> Option<&Quorum> {
        Some(match self.process.as_ref()? {
            Process::Controller(node) => node.quorum(),
            Process::Broker(node) => node.quorum(),
        })
    }

    /// Whether the node leads the quorum, as it sees it.
    pub fn leads(&self) -> bool {
        self.quorum()
            .is_some_and(|quorum| quorum.raft().leader() == Some(self.id))
    }

    pub fn fault(&self) -> Option<&str> {
        self.stopped.as_ref()?.as_deref()
    }

    pub(super) fn start(&mut self, rng: &mut Rng, now: Now) -> Result<(), String> {
        let text = |error: &dyn std::fmt::Display| error.to_string();
        let dir = Path::new(DIR);
        self.life += 1;
        self.stopped = None;
        self.published = None;
        let properties = MetaProperties::read(&self.disk, dir).map_err(|e| text(&e))?;
        let cluster_id = properties.cluster_id.unwrap();
        let config = self.log.clone();
        let (log, recovered) =
            MetadataLog::open(Arc::new(self.disk.clone()), dir, config).map_err(|e| text(&e))?;
        let local = ReplicaKey::new(self.id, properties.directory);
        let quorum = QuorumConfig {
            raft: Config {
                controller: self.is_controller,
                endpoints: self
                    .is_controller
                    .then(|| endpoint(self.id, "CONTROLLER"))
                    .into_iter()
                    .collect(),
                bootstrap_servers: self.bootstrap.len(),
                ..Config::new(local)
            },
            cluster_id: cluster_id.clone(),
            listener: "CONTROLLER".to_owned(),
            bootstrap: self.bootstrap.clone(),
            tail_bytes: 1 << 20,
            snapshots: self.snapshots.clone(),
        };
        let boot = boot::boot(&recovered, self.static_voters.clone(), self.is_controller)
            .map_err(|e| text(&e))?;
        let incarnation = IncarnationId(rng.uuid());
        self.process = Some(if self.is_controller {
            let mut settings = ControllerConfig::new(self.id, cluster_id);
            settings.max_idle_interval = self.idle;
            if let Some(records) = boot::bootstrap_records(&self.disk, dir).map_err(|e| text(&e))? {
                settings.bootstrap = records;
            }
            let config = ControllerNodeConfig {
                quorum,
                controller: KafkaController::new(settings),
                engine: EngineConfig::default(),
                identity: ControllerIdentity {
                    incarnation,
                    listeners: vec![Listener {
                        name: "CONTROLLER".into(),
                        host: address(self.id).host,
                        port: PORT,
                        ..Default::default()
                    }],
                },
            };
            let node = ControllerNode::new(config, boot, rng.fork(), now).map_err(|e| text(&e))?;
            Process::Controller(Box::new(node))
        } else {
            let config = BrokerNodeConfig {
                quorum,
                lifecycle: LifecycleConfig {
                    listeners: vec![BrokerListener {
                        name: "PLAINTEXT".to_owned(),
                        host: address(self.id).host,
                        port: PORT,
                        security_protocol: SecurityProtocol::PLAINTEXT,
                    }],
                    features: supported_features(),
                    directories: local.directory.into_iter().collect(),
                    controlled_shutdown_timeout: Duration::from_secs(5),
                    ..LifecycleConfig::new(self.id, &cluster_id, incarnation)
                },
                cache: CacheConfig::default(),
                settings: Default::default(),
            };
            let node = BrokerNode::new(config, boot, rng.fork(), now).map_err(|e| text(&e))?;
            Process::Broker(Box::new(node))
        });
        self.recovered = Some(recovered);
        self.worker = Some(if self.is_controller {
            DiskWorker::new(log)
        } else {
            DiskWorker::of_observer(log)
        });
        Ok(())
    }

    /// The process is gone.
    pub(super) fn end(&mut self) {
        self.process = None;
        self.worker = None;
        self.jobs.clear();
        self.round = None;
        self.overdue = false;
    }

    fn node(&self) -> Option<&dyn Node> {
        Some(match self.process.as_ref()? {
            Process::Controller(node) => &**node,
            Process::Broker(node) => &**node,
        })
    }

    fn node_mut(&mut self) -> Option<&mut dyn Node> {
        Some(match self.process.as_mut()? {
            Process::Controller(node) => &mut **node,
            Process::Broker(node) => &mut **node,
        })
    }

    pub(super) fn handle(&mut self, now: Now, input: Input) {
        if let Some(node) = self.node_mut() {
            node.handle(now, input);
        }
    }

    pub(super) fn drive(&mut self, now: Now) {
        if let Some(node) = self.node_mut() {
            node.drive(now);
        }
    }

    pub(super) fn poll(&mut self) -> Option<Output> {
        self.node_mut()?.poll()
    }

    pub(super) fn deadline(&self) -> Option<MonoTime> {
        self.node()?.deadline()
    }

    /// Takes up what waits; whether there is something to wait for.
    pub(super) fn start_round(&mut self) -> bool {
        if self.round.is_some() || self.jobs.is_empty() {
            return false;
        }
        self.round = Some(std::mem::take(&mut self.jobs));
        true
    }

    pub(super) fn finish_round(&mut self) -> Vec<DiskDone> {
        if self.hung {
            self.overdue = true;
            return Vec::new();
        }
        match (self.worker.as_mut(), self.round.take()) {
            (Some(worker), Some(jobs)) => {
                let mut done = worker.run(jobs);
                // It is quiet at once: what an observer left for later is synced.
                done.extend(worker.settle());
                done
            }
            _ => Vec::new(),
        }
    }

    /// Whether a round was due while the disk hung, and is now.
    pub(super) fn is_overdue(&mut self) -> bool {
        !self.hung && std::mem::take(&mut self.overdue)
    }
}
