//! Starting a broker on this machine.

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::path::PathBuf;
use std::time::Duration;

use quorate_broker::{CacheConfig, LifecycleConfig};
use quorate_controller::features::supported_features;
use quorate_metadata::{Listener, SecurityProtocol};
use quorate_raft::Config;
use quorate_server::boot;
use quorate_server::broker::{BrokerNode, BrokerNodeConfig};
use quorate_server::disk::DiskWorker;
use quorate_server::io::Address;
use quorate_server::quorum::QuorumConfig;
use quorate_server::snapshots::SnapshotConfig;
use quorate_storage::LogConfig;
use quorate_types::{Endpoint, IncarnationId, NodeId, ReplicaKey, Rng, VoterSet};

use crate::files::{self, StartError, TAIL_BYTES};
use crate::handle::{Machine, NodeHandle, OnEvent};

/// A broker to be started; its log directory must have been formatted.
#[derive(Debug, Clone)]
pub struct BrokerSpec {
    /// `node.id`
    pub node: NodeId,
    /// The cluster's id.
    pub cluster_id: String,
    /// `log.dirs`, of which there is one here, for the metadata log.
    pub directory: PathBuf,
    /// Where clients and other brokers reach this one.
    pub endpoint: Endpoint,
    /// `broker.rack`
    pub rack: Option<String>,
    /// The name of the controllers' listener.
    pub controller_listener: String,
    /// `controller.quorum.bootstrap.servers`
    pub bootstrap: Vec<Address>,
    /// `controller.quorum.voters`, for static quorums.
    pub static_voters: Option<VoterSet>,
    /// When it writes and drops snapshots.
    pub snapshots: SnapshotConfig,
    /// How long a controlled shutdown may take.
    pub shutdown_timeout: Duration,
    /// What shapes its answers.
    pub cache: CacheConfig,
    /// Its own settings that stand behind topics' configurations, by name.
    pub settings: BTreeMap<String, String>,
}

impl BrokerSpec {
    /// A broker with Kafka's defaults that finds its controllers at `bootstrap`.
    pub fn new(
        node: NodeId,
        cluster_id: &str,
        directory: PathBuf,
        endpoint: Endpoint,
        bootstrap: Vec<Address>,
    ) -> BrokerSpec {
        BrokerSpec {
            node,
            cluster_id: cluster_id.to_owned(),
            directory,
            endpoint,
            rack: None,
            controller_listener: "CONTROLLER".to_owned(),
            bootstrap,
            static_voters: None,
            snapshots: SnapshotConfig::default(),
            shutdown_timeout: Duration::from_secs(300),
            cache: CacheConfig::default(),
            settings: BTreeMap::new(),
        }
    }

    /// Starts the broker on `listener`. `seed` decides all its chances.
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
        let files = files::open(
            &self.directory,
            &self.cluster_id,
            self.node,
            LogConfig::default(),
        )?;
        let mut rng = Rng::new(seed);
        let incarnation = IncarnationId(rng.uuid());
        let local = ReplicaKey::new(self.node, Some(files.directory));
        let raft = Config {
            controller: false,
            bootstrap_servers: self.bootstrap.len(),
            ..Config::new(local)
        };
        let lifecycle = LifecycleConfig {
            listeners: vec![Listener {
                name: self.endpoint.name,
                host: self.endpoint.host,
                port: self.endpoint.port,
                security_protocol: SecurityProtocol::PLAINTEXT,
            }],
            features: supported_features(),
            rack: self.rack,
            previous_epoch: boot::take_shutdown_note(&*files.vfs, &self.directory)?,
            directories: vec![files.directory],
            controlled_shutdown_timeout: self.shutdown_timeout,
            ..LifecycleConfig::new(self.node, &self.cluster_id, incarnation)
        };
        let config = BrokerNodeConfig {
            quorum: QuorumConfig {
                raft,
                cluster_id: self.cluster_id,
                listener: self.controller_listener,
                bootstrap: self.bootstrap,
                tail_bytes: TAIL_BYTES,
                snapshots: self.snapshots,
            },
            lifecycle,
            cache: self.cache,
            settings: self.settings,
        };
        let boot = boot::boot(&files.recovered, self.static_voters, false)?;
        let node = BrokerNode::new(config, boot, rng, machine.clock.now())?;
        let worker = DiskWorker::of_observer(files.log).noting_in(files.vfs, self.directory);
        let name = format!("broker-{}", self.node);
        Ok(NodeHandle::start(
            &name, node, worker, listener, machine, on_event,
        )?)
    }
}
