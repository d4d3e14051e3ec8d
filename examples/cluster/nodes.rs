//! The running nodes: started, killed, started again, stopped.

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::path::Path;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context;
use quorate_node::{BrokerSpec, Clock, ControllerSpec, Limits, Machine, NodeHandle, entropy};
use quorate_server::events::NodeEvent;
use quorate_server::io::Address;
use quorate_types::NodeId;
use tokio::runtime::{Handle, Runtime};

use crate::args::Args;
use crate::layout::{CONTROLLER, Layout, PLAINTEXT, Place};

/// The racks, one broker after the other.
const RACKS: [&str; 3] = ["a", "b", "c"];

/// An event of one node and when it was told.
#[derive(Debug)]
pub struct Told {
    /// When.
    pub at: Instant,
    /// By whom.
    pub node: NodeId,
    /// What.
    pub event: NodeEvent,
}

/// The nodes of the cluster, in one process.
pub struct Nodes {
    /// Where everything lies.
    pub layout: Layout,
    runtime: Runtime,
    clock: Clock,
    running: BTreeMap<NodeId, NodeHandle>,
    told: mpsc::Sender<Told>,
}

impl Nodes {
    /// Binds all ports, formats what is new and starts the controllers and brokers. Events come out
    /// of the receiver.
    pub fn start(args: &Args, data_dir: &Path) -> anyhow::Result<(Nodes, mpsc::Receiver<Told>)> {
        let mut layout = Layout::open(args, data_dir)?;
        // Whoever is started first must know where the others will be.
        let mut listeners = Vec::new();
        for place in layout.controllers.iter_mut().chain(&mut layout.brokers) {
            listeners.push((place.id, place.bind()?));
        }
        let clock = Clock::new();
        if layout.is_new() {
            // Before the directories, which carry the ids.
            layout.save()?;
        }
        layout.format(clock.now().wall)?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .context("cannot start the threads of the sockets")?;
        let (told, events) = mpsc::channel();
        let mut nodes = Nodes {
            layout,
            runtime,
            clock,
            running: BTreeMap::new(),
            told,
        };
        for (id, listener) in listeners {
            nodes.start_on(id, listener)?;
        }
        // Only now is it sure that the data is nobody else's.
        nodes.layout.save()?;
        Ok((nodes, events))
    }

    /// Starts a node again that was killed or stopped, on its old port.
    pub fn restart(&mut self, id: NodeId) -> anyhow::Result<()> {
        let mut place = self.place(id)?.clone();
        let listener = place.bind()?;
        self.start_on(id, listener)
    }

    /// Ends a node as a crash would.
    pub fn kill(&mut self, id: NodeId) {
        if let Some(node) = self.running.remove(&id) {
            node.crash();
        }
    }

    /// Stops a node in good order.
    pub fn stop(&mut self, id: NodeId) -> anyhow::Result<()> {
        match self.running.remove(&id) {
            Some(node) => node.shutdown().with_context(|| format!("node {id}")),
            None => Ok(()),
        }
    }

    /// Stops all nodes in good order, brokers first: they need the controllers for that.
    pub fn stop_all(mut self) -> anyhow::Result<()> {
        let is_broker = |id: &NodeId| self.layout.brokers.iter().any(|place| place.id == *id);
        let (brokers, controllers): (Vec<_>, Vec<_>) = std::mem::take(&mut self.running)
            .into_iter()
            .partition(|(id, _)| is_broker(id));
        stop_together(brokers)?;
        stop_together(controllers)?;
        self.runtime.shutdown_timeout(Duration::from_millis(200));
        Ok(())
    }

    /// Where tasks run.
    pub fn runtime(&self) -> &Handle {
        self.runtime.handle()
    }

    /// The node, if it runs.
    pub fn get(&self, id: NodeId) -> Option<&NodeHandle> {
        self.running.get(&id)
    }

    /// The nodes that run.
    pub fn running(&self) -> impl Iterator<Item = (NodeId, &NodeHandle)> {
        self.running.iter().map(|(id, node)| (*id, node))
    }

    /// The addresses of the brokers that run, for clients.
    pub fn bootstrap(&self) -> String {
        let brokers = self
            .layout
            .brokers
            .iter()
            .filter(|place| self.running.contains_key(&place.id));
        brokers.map(Place::address).collect::<Vec<_>>().join(",")
    }

    fn place(&self, id: NodeId) -> anyhow::Result<&Place> {
        let mut places = self.layout.controllers.iter().chain(&self.layout.brokers);
        places
            .find(|place| place.id == id)
            .with_context(|| format!("there is no node {id}"))
    }

    fn start_on(&mut self, id: NodeId, listener: TcpListener) -> anyhow::Result<()> {
        let place = self.place(id)?.clone();
        let machine = Machine {
            tokio: self.runtime.handle(),
            clock: self.clock,
            limits: Limits::default(),
        };
        let told = self.told.clone();
        let on_event = Box::new(move |event| {
            #[allow(clippy::disallowed_methods)]
            let at = Instant::now();
            // Nobody listens any more when the cluster stops.
            let _ = told.send(Told {
                at,
                node: id,
                event,
            });
        });
        let seed = entropy().next_u64();
        let cluster_id = &self.layout.cluster_id;
        let path = place.path.clone();
        let started = match self
            .layout
            .brokers
            .iter()
            .position(|broker| broker.id == id)
        {
            None => {
                let endpoint = place.endpoint(CONTROLLER);
                let spec = ControllerSpec::new(id, cluster_id, path, endpoint);
                spec.start(listener, &machine, seed, on_event)
            }
            Some(index) => {
                let endpoint = place.endpoint(PLAINTEXT);
                let bootstrap = self.controller_addresses();
                let mut spec = BrokerSpec::new(id, cluster_id, path, endpoint, bootstrap);
                spec.rack = Some(RACKS[index % RACKS.len()].to_owned());
                spec.shutdown_timeout = Duration::from_secs(5);
                spec.start(listener, &machine, seed, on_event)
            }
        };
        let node = started.with_context(|| format!("node {id} cannot start"))?;
        self.running.insert(id, node);
        Ok(())
    }

    fn controller_addresses(&self) -> Vec<Address> {
        let address = |place: &Place| Address::from(&place.endpoint(CONTROLLER));
        self.layout.controllers.iter().map(address).collect()
    }
}

/// Stops nodes side by side, so that all of it takes no longer than the slowest.
fn stop_together(nodes: Vec<(NodeId, NodeHandle)>) -> anyhow::Result<()> {
    thread::scope(|scope| {
        let stopping: Vec<_> = nodes
            .into_iter()
            .map(|(id, node)| (id, scope.spawn(move || node.shutdown())))
            .collect();
        for (id, stopping) in stopping {
            match stopping.join() {
                Ok(stopped) => stopped.with_context(|| format!("node {id}"))?,
                Err(_) => anyhow::bail!("stopping node {id} panicked"),
            }
        }
        Ok(())
    })
}
