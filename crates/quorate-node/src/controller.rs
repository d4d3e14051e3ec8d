//! Starting a controller on this machine.

use std::net::TcpListener;
use std::path::PathBuf;

use quorate_controller::{ControllerConfig, KafkaController};
use quorate_engine::EngineConfig;
use quorate_protocol::messages::controller_registration::Listener;
use quorate_raft::Config;
use quorate_server::boot;
use quorate_server::controller::{ControllerIdentity, ControllerNode, ControllerNodeConfig};
use quorate_server::disk::DiskWorker;
use quorate_server::io::Address;
use quorate_server::quorum::QuorumConfig;
use quorate_server::snapshots::SnapshotConfig;
use quorate_storage::LogConfig;
use quorate_types::{Endpoint, IncarnationId, NodeId, ReplicaKey, Rng, VoterSet};

use crate::files::{self, StartError, TAIL_BYTES};
use crate::handle::{Machine, NodeHandle, OnEvent};

/// A controller to be started; its log directory must have been formatted.
#[derive(Debug, Clone)]
pub struct ControllerSpec {
    /// `node.id`
    pub node: NodeId,
    /// The cluster's id.
    pub cluster_id: String,
    /// `metadata.log.dir`
    pub directory: PathBuf,
    /// Where others reach this controller; its name is that of the controllers' listener.
    pub endpoint: Endpoint,
    /// `controller.quorum.bootstrap.servers`
    pub bootstrap: Vec<Address>,
    /// `controller.quorum.voters`, for static quorums.
    pub static_voters: Option<VoterSet>,
    /// Timings of the quorum, and whether the controller joins it by itself; who it is and where it
    /// listens are set from the fields above.
    pub raft: Config,
    /// How its log is kept.
    pub log: LogConfig,
    /// When it writes and drops snapshots.
    pub snapshots: SnapshotConfig,
    /// Settings of the controller; id and cluster are set from the fields above.
    pub settings: ControllerConfig,
}

impl ControllerSpec {
    /// A controller with Kafka's defaults.
    pub fn new(
        node: NodeId,
        cluster_id: &str,
        directory: PathBuf,
        endpoint: Endpoint,
    ) -> ControllerSpec {
        ControllerSpec {
            node,
            cluster_id: cluster_id.to_owned(),
            directory,
            endpoint,
            bootstrap: Vec::new(),
            static_voters: None,
            raft: Config::new(ReplicaKey::new(node, None)),
            log: LogConfig::default(),
            snapshots: SnapshotConfig::default(),
            settings: ControllerConfig::new(node, cluster_id),
        }
    }

    /// Starts the controller on `listener`. `seed` decides all its chances.
    ///
    /// # Errors
    /// If its files or the machine do not allow to start.
    pub fn start(
        self,
        listener: TcpListener,
        machine: &Machine<'_>,
        seed: u64,
        on_event: OnEvent,
    ) -> Result<NodeHandle, StartError> {
        let files = files::open(&self.directory, &self.cluster_id, self.node, self.log)?;
        let mut rng = Rng::new(seed);
        let mut settings = self.settings;
        settings.node_id = self.node;
        settings.cluster_id.clone_from(&self.cluster_id);
        if let Some(records) = boot::bootstrap_records(&*files.vfs, &self.directory)? {
            settings.bootstrap = records;
        }
        let local = ReplicaKey::new(self.node, Some(files.directory));
        let raft = Config {
            local,
            endpoints: vec![self.endpoint.clone()],
            bootstrap_servers: self.bootstrap.len(),
            ..self.raft
        };
        let config = ControllerNodeConfig {
            quorum: QuorumConfig {
                raft,
                cluster_id: self.cluster_id,
                listener: self.endpoint.name.clone(),
                bootstrap: self.bootstrap,
                tail_bytes: TAIL_BYTES,
                snapshots: self.snapshots,
            },
            controller: KafkaController::new(settings),
            engine: EngineConfig::default(),
            identity: ControllerIdentity {
                incarnation: IncarnationId(rng.uuid()),
                listeners: vec![Listener {
                    name: self.endpoint.name,
                    host: self.endpoint.host,
                    port: self.endpoint.port,
                    ..Default::default()
                }],
            },
        };
        let boot = boot::boot(&files.recovered, self.static_voters, true)?;
        let node = ControllerNode::new(config, boot, rng, machine.clock.now())?;
        let worker = DiskWorker::new(files.log);
        let name = format!("controller-{}", self.node);
        Ok(NodeHandle::start(
            &name, node, worker, listener, machine, on_event,
        )?)
    }
}
