//! What a node must know to take part: who it is, where it listens, and its timings.

use std::time::Duration;

use quorate_types::{Endpoint, KRaftVersion, ReplicaKey, VersionRange};

/// The identity and the timings of one node. [`Config::new`] gives Kafka's defaults.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// This node and its metadata directory.
    pub local: ReplicaKey,
    /// Whether the node has the controller role. Only such a node campaigns; it acknowledges only
    /// what is on its disk, while a broker fetches on at once.
    pub controller: bool,
    /// Where this node listens for the quorum's RPCs; the first is the default listener.
    pub endpoints: Vec<Endpoint>,
    /// The `kraft.version`s that this node can run.
    pub kraft_versions: VersionRange,
    /// How many bootstrap servers the driver can reach as
    /// [`Destination::Bootstrap`](crate::Destination::Bootstrap); in a static quorum without a list
    /// of its own these are the other voters.
    pub bootstrap_servers: usize,
    /// Whether a controller outside the voter set asks to join (`controller.quorum.auto.join.enable`).
    pub auto_join: bool,
    /// Silence before a node without leader campaigns; each use is drawn from one to two times this.
    pub election_timeout: Duration,
    /// Silence of its leader that a follower bears. Check-quorum is 1.5 times this.
    pub fetch_timeout: Duration,
    /// How long an answer may take.
    pub request_timeout: Duration,
    /// Pause before a peer that failed is tried again.
    pub retry_backoff: Duration,
    /// The longest pause of a follower that was handed over to.
    pub max_backoff: Duration,
    /// How long a fetch of ours may be parked at the leader.
    pub fetch_max_wait: Duration,
    /// What a follower waits for each rank that it has among the remaining voters, once its
    /// leader's process is known to be gone.
    pub death_stagger: Duration,
    /// After which silence the leader forgets an observer.
    pub observer_timeout: Duration,
    /// How many appends may wait for the disk before [`AppendError::Full`](crate::AppendError::Full).
    pub max_unflushed_appends: usize,
    /// Most bytes of one snapshot chunk or fetch answer; for the driver to keep.
    pub max_fetch_bytes: u32,
}

impl Config {
    /// Kafka's defaults for a controller without bootstrap servers.
    pub fn new(local: ReplicaKey) -> Config {
        Config {
            local,
            controller: true,
            endpoints: Vec::new(),
            kraft_versions: VersionRange {
                min: KRaftVersion::STATIC.0,
                max: KRaftVersion::LATEST.0,
            },
            bootstrap_servers: 0,
            auto_join: false,
            election_timeout: Duration::from_millis(1000),
            fetch_timeout: Duration::from_millis(2000),
            request_timeout: Duration::from_millis(2000),
            retry_backoff: Duration::from_millis(20),
            max_backoff: Duration::from_millis(1000),
            fetch_max_wait: Duration::from_millis(500),
            death_stagger: Duration::from_millis(50),
            observer_timeout: Duration::from_secs(300),
            max_unflushed_appends: 1024,
            max_fetch_bytes: 8 * 1024 * 1024,
        }
    }

    /// How long a leader leads on without hearing from a majority.
    pub(crate) fn check_quorum_timeout(&self) -> Duration {
        self.fetch_timeout * 3 / 2
    }

    /// The silence of a voter after which the leader announces itself again.
    pub(crate) fn begin_interval(&self) -> Duration {
        self.fetch_timeout / 2
    }
}
