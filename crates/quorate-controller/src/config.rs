//! What a controller is configured with: Kafka's names, Kafka's defaults.

use std::collections::BTreeMap;
use std::time::Duration;

use quorate_metadata::MetadataVersion;
use quorate_protocol::records::MetadataRecord;
use quorate_types::{NodeId, VersionRange};

use crate::features;

/// The settings of one controller; the same for its whole life.
#[derive(Debug, Clone)]
pub struct ControllerConfig {
    /// `node.id`
    pub node_id: NodeId,
    /// The id of the cluster; registrations for another one are refused.
    pub cluster_id: String,
    /// The controllers of the quorum, whose registrations a change of features waits for; empty
    /// where that is not checked.
    pub quorum: Vec<NodeId>,
    /// The feature ranges of this controller.
    pub supported_features: BTreeMap<String, VersionRange>,
    /// The records of `bootstrap.checkpoint`: feature levels, then SCRAM credentials. Written when
    /// the log holds no metadata.version yet.
    pub bootstrap: Vec<MetadataRecord>,
    /// `num.partitions`
    pub num_partitions: i32,
    /// `default.replication.factor`
    pub default_replication_factor: i16,
    /// `delete.topic.enable`
    pub delete_topic_enable: bool,
    /// `broker.session.timeout.ms`: how long a broker may be silent before it is fenced.
    pub broker_session_timeout: Duration,
    /// `broker.heartbeat.interval.ms`: half of it is how long a heartbeat may wait in the queue.
    pub broker_heartbeat_interval: Duration,
    /// `metadata.max.idle.interval.ms`: how often a NoOp is written; `None` for never.
    pub max_idle_interval: Option<Duration>,
    /// `leader.imbalance.check.interval.seconds` if `auto.leader.rebalance.enable`, else `None`.
    pub leader_imbalance_check_interval: Option<Duration>,
    /// `unclean.leader.election.interval.ms`
    pub unclean_election_interval: Duration,
    /// How many leaders one run of a periodic election moves.
    pub max_elections_per_run: usize,
    /// Other settings of this node that stand behind configurations of topics, by name: for instance
    /// `min.insync.replicas`, `log.retention.hours`, `unclean.leader.election.enable`.
    pub node_settings: BTreeMap<String, String>,
}

impl ControllerConfig {
    /// Kafka's defaults for the controller `node_id` of the cluster, whose log starts at the latest
    /// metadata.version with the features that come with it.
    pub fn new(node_id: NodeId, cluster_id: impl Into<String>) -> ControllerConfig {
        ControllerConfig {
            node_id,
            cluster_id: cluster_id.into(),
            quorum: Vec::new(),
            supported_features: features::supported_features(),
            bootstrap: features::bootstrap_records(MetadataVersion::LATEST),
            num_partitions: 1,
            default_replication_factor: 1,
            delete_topic_enable: true,
            broker_session_timeout: Duration::from_millis(9000),
            broker_heartbeat_interval: Duration::from_millis(2000),
            max_idle_interval: Some(Duration::from_millis(500)),
            leader_imbalance_check_interval: Some(Duration::from_secs(300)),
            unclean_election_interval: Duration::from_secs(300),
            max_elections_per_run: 1000,
            node_settings: BTreeMap::new(),
        }
    }
}
