//! What one seed's cluster is like: how many nodes, how they are set, how fast everything is.

use std::time::Duration;

use quorate_server::snapshots::SnapshotConfig;
use quorate_storage::Retention;
use quorate_types::{DirectoryId, Endpoint, NodeId, Rng, VersionRange, Voter, VoterSet};

/// The name of the controllers' listener.
pub const CONTROLLER_LISTENER: &str = "CONTROLLER";

/// The name of the brokers' listener.
pub const BROKER_LISTENER: &str = "PLAINTEXT";

/// The port that every machine listens on.
pub const PORT: u16 = 9092;

/// How many voters there are at first.
const VOTERS: usize = 3;

/// The ids of controllers, brokers and clients start there.
const CONTROLLERS: i32 = 1;
const BROKERS: i32 = 11;
const CLIENTS: i32 = 101;

/// The cluster of one run.
#[derive(Debug, Clone)]
pub struct Spec {
    /// The cluster's id.
    pub cluster_id: String,
    /// The controllers and their log directories. The first three are the first voters; others are
    /// there to be added.
    pub controllers: Vec<(NodeId, DirectoryId)>,
    /// The brokers and their log directories.
    pub brokers: Vec<(NodeId, DirectoryId)>,
    /// The clients.
    pub clients: Vec<NodeId>,
    /// Whether the voters stand in the log (`kraft.version` 1) or in the configuration.
    pub dynamic: bool,
    /// How long a process is busy at most before it is driven for what came in meanwhile; zero for
    /// every input by itself.
    pub round: Duration,
    /// How long a frame takes.
    pub net_latency: (Duration, Duration),
    /// How long a round of a disk takes.
    pub disk_latency: (Duration, Duration),
    /// `controller.quorum.election.timeout.ms`
    pub election_timeout: Duration,
    /// `controller.quorum.fetch.timeout.ms`
    pub fetch_timeout: Duration,
    /// `controller.quorum.retry.backoff.ms`
    pub retry_backoff: Duration,
    /// `broker.session.timeout.ms`
    pub session_timeout: Duration,
    /// `broker.heartbeat.interval.ms`
    pub heartbeat_interval: Duration,
    /// `metadata.log.segment.bytes`: small, so that the log has many segments.
    pub segment_bytes: u64,
    /// How much of the log a node keeps in memory: little, so that it must read its files.
    pub tail_bytes: usize,
    /// When nodes write snapshots and drop old log.
    pub snapshots: SnapshotConfig,
    /// How long a client rests between two changes.
    pub client_pause: (Duration, Duration),
    /// How long the kernel tries to connect to a machine that says nothing.
    pub connect_timeout: Duration,
}

impl Spec {
    /// The cluster that a seed means.
    pub fn draw(rng: &mut Rng, brokers: Option<usize>) -> Spec {
        let ms = Duration::from_millis;
        let us = Duration::from_micros;
        let brokers = brokers.unwrap_or_else(|| [1, 2, 2, 3][rng.index(4)]);
        let clients = 1 + rng.index(2);
        let members = |first: i32, count: usize, rng: &mut Rng| -> Vec<(NodeId, DirectoryId)> {
            let ids = (first..).take(count);
            ids.map(|id| (NodeId(id), DirectoryId(rng.uuid())))
                .collect()
        };
        let dynamic = rng.one_in(2);
        let spares = usize::from(dynamic && !rng.one_in(3));
        let brisk = !rng.one_in(4);
        Spec {
            cluster_id: rng.uuid().to_string(),
            controllers: members(CONTROLLERS, VOTERS + spares, rng),
            brokers: members(BROKERS, brokers, rng),
            clients: (CLIENTS..).take(clients).map(NodeId).collect(),
            dynamic,
            round: [Duration::ZERO, us(400)][rng.index(2)],
            net_latency: (us(100), ms(1 + rng.below(2) * rng.below(20))),
            disk_latency: (us(300), ms(1 + rng.below(2) * rng.below(15))),
            election_timeout: if brisk { ms(300) } else { ms(1000) },
            fetch_timeout: if brisk { ms(600) } else { ms(2000) },
            retry_backoff: ms([20, 100, 100, 100][rng.index(4)]),
            session_timeout: if brisk { ms(1000) } else { ms(4000) },
            heartbeat_interval: if brisk { ms(300) } else { ms(1000) },
            segment_bytes: [600, 4_000, 1 << 30][rng.index(3)],
            tail_bytes: [0, 1_500, 1 << 22][rng.index(3)],
            snapshots: SnapshotConfig {
                max_bytes: [0, 1_500, 6_000][rng.index(3)],
                max_age: [Duration::ZERO, ms(3_000)][rng.index(2)],
                retention: Retention {
                    bytes: [None, Some(0), Some(8_000)][rng.index(3)],
                    age_ms: [None, Some(2_000)][rng.index(2)],
                },
                clean_every: ms(700),
            },
            client_pause: (ms(10), ms(100 + rng.below(500))),
            connect_timeout: ms(1500),
        }
    }

    /// Where a machine is reached.
    pub fn host(id: NodeId) -> String {
        format!("m{id}")
    }

    /// Whether a controller is there to be made a voter.
    pub fn has_spares(&self) -> bool {
        self.controllers.len() > VOTERS
    }

    /// Whether a controller is among the first voters.
    pub fn is_first_voter(&self, id: NodeId) -> bool {
        let mut first = self.controllers.iter().take(VOTERS);
        first.any(|(voter, _)| *voter == id)
    }

    /// The first voters.
    pub fn voters(&self) -> VoterSet {
        let voter = |(id, directory): &(NodeId, DirectoryId)| {
            let voter = Voter {
                directory: self.dynamic.then_some(*directory),
                endpoints: vec![Spec::controller_endpoint(*id)],
                kraft_versions: VersionRange { min: 0, max: 1 },
            };
            (*id, voter)
        };
        self.controllers.iter().take(VOTERS).map(voter).collect()
    }

    /// Where a controller listens.
    pub fn controller_endpoint(id: NodeId) -> Endpoint {
        let name = CONTROLLER_LISTENER.to_owned();
        Endpoint {
            name,
            host: Spec::host(id),
            port: PORT,
        }
    }
}
