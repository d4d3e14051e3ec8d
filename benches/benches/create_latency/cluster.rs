//! Three controllers and three brokers in one process.

use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use quorate_node::{
    BrokerSpec, Clock, ControllerSpec, Limits, Machine, NewDirectory, NodeHandle, OnEvent, entropy,
};
use quorate_server::events::NodeEvent;
use quorate_server::io::Address;
use quorate_types::{DirectoryId, Endpoint, Epoch, NodeId, VersionRange, Voter, VoterSet};
use tokio::runtime::Runtime;

const CONTROLLERS: [i32; 3] = [1, 2, 3];
const BROKERS: [i32; 3] = [4, 5, 6];

/// The active controller of the newest epoch, as the controllers tell it.
type Active = Arc<Mutex<Option<(Epoch, NodeId)>>>;

/// The running cluster.
pub struct Cluster {
    runtime: Runtime,
    controllers: Vec<(NodeId, NodeHandle)>,
    brokers: Vec<NodeHandle>,
    active: Active,
}

impl Cluster {
    /// Formats directories in `dir`, starts the nodes and waits until no broker is fenced.
    pub fn start(dir: &Path, within: Duration) -> anyhow::Result<Cluster> {
        let places = places(dir)?;
        let cluster_id = entropy().uuid().to_string();
        let clock = Clock::new();
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()?;
        let voters: VoterSet = places.iter().filter_map(Place::voter).collect();
        let bootstrap: Vec<Address> = places
            .iter()
            .filter(|place| place.is_controller)
            .map(|place| Address::from(&place.endpoint))
            .collect();
        let mut cluster = Cluster {
            runtime,
            controllers: Vec::new(),
            brokers: Vec::new(),
            active: Active::default(),
        };
        for place in places {
            place.format(&cluster_id, &voters, &clock)?;
            cluster.start_node(place, &cluster_id, &bootstrap, clock)?;
        }
        wait("all brokers to be unfenced", within, || {
            cluster.brokers.iter().all(|node| {
                let Some(published) = node.published().get() else {
                    return false;
                };
                let ready = published.image.brokers().filter(|broker| !broker.fenced);
                ready.count() == BROKERS.len()
            })
        })?;
        Ok(cluster)
    }

    fn start_node(
        &mut self,
        place: Place,
        cluster_id: &str,
        bootstrap: &[Address],
        clock: Clock,
    ) -> anyhow::Result<()> {
        let machine = Machine {
            tokio: self.runtime.handle(),
            clock,
            limits: Limits::default(),
        };
        let seed = entropy().next_u64();
        let active = self.active.clone();
        let on_event: OnEvent = Box::new(move |event| {
            if let NodeEvent::Active { epoch } = event {
                let mut newest = active.lock().unwrap_or_else(PoisonError::into_inner);
                *newest = (*newest).max(Some((epoch, place.id)));
            }
        });
        let (path, endpoint) = (place.path, place.endpoint);
        if place.is_controller {
            let spec = ControllerSpec::new(place.id, cluster_id, path, endpoint);
            let node = spec.start(place.listener, &machine, seed, on_event)?;
            self.controllers.push((place.id, node));
        } else {
            let bootstrap = bootstrap.to_vec();
            let spec = BrokerSpec::new(place.id, cluster_id, path, endpoint, bootstrap);
            let node = spec.start(place.listener, &machine, seed, on_event)?;
            self.brokers.push(node);
        }
        Ok(())
    }

    /// The address of a broker.
    pub fn broker(&self) -> anyhow::Result<String> {
        let first = self.brokers.first().context("no broker runs")?;
        Ok(first.address().to_string())
    }

    /// The address of the active controller.
    pub fn active_controller(&self) -> anyhow::Result<String> {
        let newest = *self.active.lock().unwrap_or_else(PoisonError::into_inner);
        let (_, active) = newest.context("no controller is active")?;
        let mut controllers = self.controllers.iter();
        let found = controllers.find(|(id, _)| *id == active);
        let (_, node) = found.context("the active controller does not run")?;
        Ok(node.address().to_string())
    }

    /// Waits until every node has published that many topics.
    pub fn wait_for_topics(&self, count: usize, within: Duration) -> anyhow::Result<()> {
        let handles = || {
            self.controllers
                .iter()
                .map(|(_, node)| node)
                .chain(&self.brokers)
        };
        wait("every node to know all topics", within, || {
            handles().all(|node| {
                let published = node.published().get();
                published.is_some_and(|published| published.image.topics().len() >= count)
            })
        })
    }

    /// Stops all nodes, brokers first: they need the controllers for that.
    pub fn stop(self) -> anyhow::Result<()> {
        for node in self.brokers {
            node.shutdown()?;
        }
        for (_, node) in self.controllers {
            node.shutdown()?;
        }
        self.runtime.shutdown_timeout(Duration::from_millis(200));
        Ok(())
    }
}

/// Where a node will be.
struct Place {
    id: NodeId,
    is_controller: bool,
    directory: DirectoryId,
    path: PathBuf,
    endpoint: Endpoint,
    listener: TcpListener,
}

impl Place {
    fn voter(&self) -> Option<(NodeId, Voter)> {
        let voter = Voter {
            directory: Some(self.directory),
            endpoints: vec![self.endpoint.clone()],
            kraft_versions: VersionRange { min: 0, max: 1 },
        };
        self.is_controller.then_some((self.id, voter))
    }

    fn format(&self, cluster_id: &str, voters: &VoterSet, clock: &Clock) -> anyhow::Result<()> {
        let directory = NewDirectory {
            path: self.path.clone(),
            cluster_id: cluster_id.to_owned(),
            node: self.id,
            directory: self.directory,
            initial_voters: self.is_controller.then(|| voters.clone()),
        };
        directory.make(clock.now().wall)?;
        Ok(())
    }
}

/// Binds all ports, since whoever starts first must know where the others will be.
fn places(dir: &Path) -> anyhow::Result<Vec<Place>> {
    let controllers = CONTROLLERS.iter().map(|id| (*id, true));
    let brokers = BROKERS.iter().map(|id| (*id, false));
    controllers
        .chain(brokers)
        .map(|(id, is_controller)| {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
            let name = if is_controller {
                "CONTROLLER"
            } else {
                "PLAINTEXT"
            };
            Ok(Place {
                id: NodeId(id),
                is_controller,
                directory: DirectoryId(entropy().uuid()),
                path: dir.join(format!("node-{id}")),
                endpoint: Endpoint {
                    name: name.to_owned(),
                    host: Ipv4Addr::LOCALHOST.to_string(),
                    port: listener.local_addr()?.port(),
                },
                listener,
            })
        })
        .collect()
}

fn wait(what: &str, within: Duration, done: impl Fn() -> bool) -> anyhow::Result<()> {
    let start = Instant::now();
    while !done() {
        ensure!(start.elapsed() < within, "waited {within:?} for {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(())
}
