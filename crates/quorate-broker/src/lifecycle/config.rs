//! What a broker says about itself when it registers, and its intervals.

use std::collections::BTreeMap;
use std::time::Duration;

use quorate_metadata::Listener;
use quorate_protocol::messages::{BrokerRegistrationRequest, broker_registration as wire};
use quorate_types::{BrokerEpoch, DirectoryId, IncarnationId, NodeId, VersionRange};

/// How long an answer is waited for, unless configured otherwise: a heartbeat's interval.
pub const REQUEST_TIMEOUT: Duration = Duration::from_millis(2000);

/// Who a broker is, and how patient.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LifecycleConfig {
    /// `node.id`
    pub broker: NodeId,
    /// The cluster that the broker's directories were formatted for.
    pub cluster_id: String,
    /// Drawn anew at each start of the process.
    pub incarnation: IncarnationId,
    /// Where clients and other brokers reach this one.
    pub listeners: Vec<Listener>,
    /// The features that this broker supports; must cover the finalized levels.
    pub features: BTreeMap<String, VersionRange>,
    /// `broker.rack`
    pub rack: Option<String>,
    /// The log directories that were usable at the start.
    pub directories: Vec<DirectoryId>,
    /// The epoch of the process before, if it ended cleanly; see [`clean_shutdown`](crate::clean_shutdown).
    pub previous_epoch: Option<BrokerEpoch>,
    /// `broker.heartbeat.interval.ms`: between heartbeats, and after any failure.
    pub heartbeat_interval: Duration,
    /// Between heartbeats while the broker catches up for the first time.
    pub starting_interval: Duration,
    /// Between the first refusal of a controlled shutdown and the second request.
    pub second_shutdown_request: Duration,
    /// How long a request may take.
    pub request_timeout: Duration,
    /// `initial.broker.registration.timeout.ms`
    pub registration_timeout: Duration,
    /// `log.dir.failure.timeout.ms`
    pub directory_failure_timeout: Duration,
    /// How long a controlled shutdown may take.
    pub controlled_shutdown_timeout: Duration,
}

impl LifecycleConfig {
    /// A broker with Kafka's default intervals and nothing else to say yet.
    pub fn new(broker: NodeId, cluster_id: &str, incarnation: IncarnationId) -> LifecycleConfig {
        LifecycleConfig {
            broker,
            cluster_id: cluster_id.to_owned(),
            incarnation,
            listeners: Vec::new(),
            features: BTreeMap::new(),
            rack: None,
            directories: Vec::new(),
            previous_epoch: None,
            heartbeat_interval: Duration::from_millis(2000),
            starting_interval: Duration::from_millis(10),
            second_shutdown_request: Duration::from_millis(50),
            request_timeout: REQUEST_TIMEOUT,
            registration_timeout: Duration::from_secs(60),
            directory_failure_timeout: Duration::from_secs(30),
            controlled_shutdown_timeout: Duration::from_secs(300),
        }
    }

    /// The registration, the same each time: directories ascending, features by name.
    pub(super) fn registration(&self) -> BrokerRegistrationRequest {
        let mut directories = self.directories.clone();
        directories.sort_unstable();
        BrokerRegistrationRequest {
            broker_id: self.broker.0,
            cluster_id: self.cluster_id.clone(),
            incarnation_id: self.incarnation.0,
            listeners: self.listeners.iter().map(listener).collect(),
            features: self.features.iter().map(feature).collect(),
            rack: self.rack.clone(),
            log_dirs: directories.into_iter().map(|id| id.0).collect(),
            previous_broker_epoch: self.previous_epoch.map_or(-1, |epoch| epoch.0),
            ..Default::default()
        }
    }
}

fn listener(listener: &Listener) -> wire::Listener {
    wire::Listener {
        name: listener.name.clone(),
        host: listener.host.clone(),
        port: listener.port,
        security_protocol: listener.security_protocol.0,
        ..Default::default()
    }
}

fn feature((name, range): (&String, &VersionRange)) -> wire::Feature {
    wire::Feature {
        name: name.clone(),
        min_supported_version: range.min,
        max_supported_version: range.max,
        ..Default::default()
    }
}
