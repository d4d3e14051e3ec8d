//! Nodes on simulated disks and a network without faults: enough to show what the composition does.
//!
//! Time is virtual, a frame takes [`FRAME`], a round of a disk [`ROUND`]. The test itself is a peer
//! like any other: [`Lab::connect`], [`Lab::ask`], [`Lab::answer`].
#![allow(dead_code, reason = "each test target uses a part")]

mod machine;
mod talk;

use std::collections::{BTreeMap, VecDeque};
use std::path::Path;
use std::time::Duration;

use bytes::Bytes;
use quorate_controller::features::default_levels;
use quorate_metadata::{MetadataImage, MetadataVersion};
use quorate_server::disk::DiskDone;
use quorate_server::events::NodeEvent;
use quorate_server::io::{Address, ConnId, Input, Now, Output, Published};
use quorate_storage::vfs::MemVfs;
use quorate_storage::{FormatSpec, format};
use quorate_types::{
    DirectoryId, Endpoint, MonoTime, NodeId, Rng, VersionRange, Voter, VoterSet, WallTime,
};

pub use self::machine::Machine;
pub use self::talk::*;

pub const CLUSTER: &str = "a-cluster";
pub const PORT: u16 = 9092;
/// Where every machine keeps its log.
pub const DIR: &str = "/data";
pub const FRAME: Duration = Duration::from_micros(200);
pub const ROUND: Duration = Duration::from_millis(1);

/// The test, seen as a machine.
const TEST: NodeId = NodeId(0);

/// What a machine did, in the order of its outputs.
#[derive(Debug)]
pub enum Did {
    Publish(Box<Published>),
    Send(ConnId),
    Stop,
}

enum Happening {
    Input(Input),
    DiskRound,
}

/// See the module's documentation.
pub struct Lab {
    pub now: MonoTime,
    pub machines: BTreeMap<NodeId, Machine>,
    /// What every machine did.
    pub done: Vec<(NodeId, Did)>,
    rng: Rng,
    addresses: BTreeMap<Address, NodeId>,
    queue: BTreeMap<(MonoTime, u64), (NodeId, u64, Happening)>,
    queued: u64,
    ends: BTreeMap<(NodeId, ConnId), (NodeId, ConnId)>,
    conns: u64,
    inbox: BTreeMap<ConnId, VecDeque<Bytes>>,
    correlation: i32,
}

pub fn controller(n: i32) -> NodeId {
    NodeId(n)
}

pub fn broker(n: i32) -> NodeId {
    NodeId(10 + n)
}

pub fn address(id: NodeId) -> Address {
    Address::new(format!("m{id}"), PORT)
}

pub fn endpoint(id: NodeId, listener: &str) -> Endpoint {
    Endpoint {
        name: listener.to_owned(),
        host: address(id).host,
        port: PORT,
    }
}

impl Lab {
    /// A lab without machines.
    pub fn empty() -> Lab {
        Lab {
            now: MonoTime(1_000_000),
            machines: BTreeMap::new(),
            done: Vec::new(),
            rng: Rng::new(42),
            addresses: BTreeMap::new(),
            queue: BTreeMap::new(),
            queued: 0,
            ends: BTreeMap::new(),
            conns: 0,
            inbox: BTreeMap::new(),
            correlation: 0,
        }
    }

    /// Controllers 1, 2, … as the voters of a dynamic quorum, and brokers 11, 12, …; all running.
    pub fn new(controllers: i32, brokers: i32) -> Lab {
        let mut lab = Lab::empty();
        let ids = |count: i32, id: fn(i32) -> NodeId| (1..=count).map(id).collect::<Vec<_>>();
        let (controllers, brokers) = (ids(controllers, controller), ids(brokers, broker));
        let directories: BTreeMap<NodeId, DirectoryId> = controllers
            .iter()
            .chain(&brokers)
            .map(|id| (*id, DirectoryId(lab.rng.uuid())))
            .collect();
        let voters: VoterSet = controllers
            .iter()
            .map(|id| {
                let voter = Voter {
                    directory: Some(directories[id]),
                    endpoints: vec![endpoint(*id, "CONTROLLER")],
                    kraft_versions: VersionRange { min: 0, max: 1 },
                };
                (*id, voter)
            })
            .collect();
        for (&id, &directory) in &directories {
            let initial_voters = controllers.contains(&id).then(|| voters.clone());
            let disk = MemVfs::new();
            format_disk(&disk, id, directory, initial_voters);
            lab.add(id, disk, controllers.contains(&id));
        }
        let bootstrap: Vec<Address> = controllers.iter().map(|id| address(*id)).collect();
        for id in controllers.into_iter().chain(brokers) {
            lab.machine(id).bootstrap.clone_from(&bootstrap);
            lab.start(id);
        }
        lab
    }

    /// A lab that has come up: its active controller.
    pub fn up(controllers: i32, brokers: i32) -> (Lab, NodeId) {
        let mut lab = Lab::new(controllers, brokers);
        let active = lab.settle();
        (lab, active)
    }

    /// Adds a machine with that disk; it does not run yet.
    pub fn add(&mut self, id: NodeId, disk: MemVfs, is_controller: bool) {
        self.addresses.insert(address(id), id);
        self.machines
            .insert(id, Machine::new(id, disk, is_controller));
    }

    /// Another name of a machine.
    pub fn add_address(&mut self, id: NodeId, address: Address) {
        self.addresses.insert(address, id);
    }

    pub fn machine(&mut self, id: NodeId) -> &mut Machine {
        self.machines.get_mut(&id).unwrap()
    }

    /// Starts the process of a machine.
    pub fn start(&mut self, id: NodeId) {
        self.try_start(id).unwrap();
    }

    /// The same, or why it does not start.
    pub fn try_start(&mut self, id: NodeId) -> Result<(), String> {
        let now = self.clock();
        let mut rng = self.rng.fork();
        self.machine(id).start(&mut rng, now)?;
        self.drive(id);
        Ok(())
    }

    /// Kills the process of a machine; its files stay as they are.
    pub fn kill(&mut self, id: NodeId) {
        self.machine(id).end();
        self.cut_connections(id);
    }

    /// Asks the process of a machine to stop in good order.
    pub fn stop(&mut self, id: NodeId) {
        let life = self.machine(id).life;
        self.happen(id, life, Happening::Input(Input::Shutdown));
    }

    /// How long a machine that was asked to stop takes to do so.
    pub fn time_to_stop(&mut self, id: NodeId) -> Duration {
        let asked = self.now;
        self.stop(id);
        let within = Duration::from_secs(60);
        let stopped = self.run_until(within, |lab| lab.machines[&id].stopped.is_some());
        assert!(stopped, "{id} does not stop");
        assert_eq!(self.machine(id).fault(), None);
        self.now.since(asked)
    }

    /// Waits until a controller is active and all running brokers are in service.
    pub fn settle(&mut self) -> NodeId {
        let settled = self.run_until(Duration::from_secs(30), |lab| {
            let Some(image) = lab.active().and_then(|id| lab.image(id)) else {
                return false;
            };
            let brokers = lab
                .machines
                .values()
                .filter(|machine| !machine.is_controller);
            let mut running = brokers.filter(|machine| machine.is_running());
            running.all(|machine| {
                let known = |image: &MetadataImage| {
                    image
                        .broker(machine.id)
                        .is_some_and(|broker| !broker.fenced)
                };
                known(image) && lab.image(machine.id).is_some_and(known)
            })
        });
        assert!(settled, "the lab did not come up");
        self.active().unwrap()
    }

    /// The active controller.
    pub fn active(&self) -> Option<NodeId> {
        let machine = self.machines.values().find(|machine| machine.is_active())?;
        Some(machine.id)
    }

    /// What a machine has published.
    pub fn image(&self, id: NodeId) -> Option<&MetadataImage> {
        let published = self.machines[&id].published.as_ref()?;
        Some(&published.image)
    }

    pub fn has_topic(&self, id: NodeId, topic: &str) -> bool {
        self.image(id)
            .is_some_and(|image| image.topics().by_name(topic).is_some())
    }

    /// Lets time go on.
    pub fn run_for(&mut self, time: Duration) {
        self.run_until(time, |_| false);
    }

    /// Lets time go on until something holds; whether it does within that time.
    pub fn run_until(&mut self, within: Duration, holds: impl Fn(&Lab) -> bool) -> bool {
        let until = self.now + within;
        loop {
            if holds(self) {
                return true;
            }
            let happening = self.queue.keys().next().map(|(at, _)| *at);
            let deadline = self.machines.values().filter_map(Machine::deadline).min();
            let next = [happening, deadline].into_iter().flatten().min();
            match next {
                Some(at) if at <= until => self.step(at),
                _ => {
                    self.now = until;
                    return holds(self);
                }
            }
        }
    }

    /// Lets the disk of a machine hang, or go on.
    pub fn hang(&mut self, id: NodeId, hung: bool) {
        let machine = self.machine(id);
        machine.hung = hung;
        let life = machine.life;
        if machine.is_overdue() {
            self.later(Duration::ZERO, id, life, Happening::DiskRound);
        }
    }

    fn clock(&self) -> Now {
        Now {
            mono: self.now,
            wall: WallTime(1_700_000_000_000 + self.now.0 as i64 / 1000),
        }
    }

    fn step(&mut self, at: MonoTime) {
        self.now = self.now.max(at);
        let due = |lab: &Lab| {
            lab.queue
                .keys()
                .next()
                .is_some_and(|(at, _)| *at <= lab.now)
        };
        if due(self) {
            if let Some((_, (id, life, happening))) = self.queue.pop_first() {
                self.happen(id, life, happening);
            }
            return;
        }
        // A deadline that is not met by driving must not stop the clock.
        let now = self.now;
        let late = |machine: &Machine| machine.deadline().is_some_and(|at| at <= now);
        let late: Vec<NodeId> = self
            .machines
            .values()
            .filter(|machine| late(machine))
            .map(|machine| machine.id)
            .collect();
        late.into_iter().for_each(|id| self.drive(id));
        self.now = self.now + Duration::from_micros(1);
    }

    fn happen(&mut self, id: NodeId, life: u64, happening: Happening) {
        if id == TEST {
            match happening {
                Happening::Input(Input::Frame { conn, frame }) => {
                    self.inbox.entry(conn).or_default().push_back(frame);
                }
                Happening::Input(Input::Closed { conn }) => {
                    self.ends.remove(&(TEST, conn));
                }
                _ => {}
            }
            return;
        }
        let now = self.clock();
        let machine = self.machine(id);
        if machine.life != life || !machine.is_running() {
            return;
        }
        match happening {
            Happening::Input(input) => machine.handle(now, input),
            Happening::DiskRound => {
                let done: Vec<DiskDone> = machine.finish_round();
                done.into_iter()
                    .for_each(|done| machine.handle(now, Input::Disk(done)));
                self.start_round(id);
            }
        }
        self.drive(id);
    }

    fn drive(&mut self, id: NodeId) {
        let now = self.clock();
        self.machine(id).drive(now);
        while let Some(output) = self.machine(id).poll() {
            self.carry_out(id, output);
        }
    }

    fn carry_out(&mut self, id: NodeId, output: Output) {
        let life = self.machine(id).life;
        match output {
            Output::Connect { conn, to } => self.dial(id, life, conn, &to),
            Output::Send { conn, frame } => {
                self.done.push((id, Did::Send(conn)));
                self.pass(id, conn, |conn| Input::Frame { conn, frame });
            }
            Output::Close { conn } => {
                self.pass(id, conn, |conn| Input::Closed { conn });
                self.ends.remove(&(id, conn));
                let closed = Happening::Input(Input::Closed { conn });
                self.later(FRAME, id, life, closed);
            }
            Output::Disk(job) => {
                self.machine(id).jobs.push(job);
                self.start_round(id);
            }
            Output::Event(event) => self.machine(id).events.push(event),
            Output::Published(published) => {
                self.done.push((id, Did::Publish(published.clone())));
                self.machine(id).published = Some(*published);
            }
            Output::Stopped { fault } => {
                self.done.push((id, Did::Stop));
                self.machine(id).end();
                self.machine(id).stopped = Some(fault);
                self.cut_connections(id);
            }
        }
    }

    fn start_round(&mut self, id: NodeId) {
        let machine = self.machine(id);
        let life = machine.life;
        if machine.start_round() {
            self.later(ROUND, id, life, Happening::DiskRound);
        }
    }

    fn dial(&mut self, from: NodeId, life: u64, conn: ConnId, to: &Address) {
        let target = self.addresses.get(to).copied();
        let listening = target.filter(|id| self.machines[id].is_running());
        let outcome = match listening {
            Some(id) => {
                self.conns += 1;
                let accepted = ConnId::Accepted(self.conns);
                self.ends.insert((from, conn), (id, accepted));
                self.ends.insert((id, accepted), (from, conn));
                let life = self.machine(id).life;
                let input = Input::Accepted {
                    conn: accepted,
                    from: vec![127, 0, 0, 1],
                };
                self.later(FRAME, id, life, Happening::Input(input));
                Input::Connected { conn }
            }
            None => Input::ConnectFailed {
                conn,
                refused: true,
            },
        };
        self.later(FRAME, from, life, Happening::Input(outcome));
    }

    /// Sends something to the other end of a connection.
    fn pass(&mut self, from: NodeId, conn: ConnId, input: impl FnOnce(ConnId) -> Input) {
        let Some(&(to, conn)) = self.ends.get(&(from, conn)) else {
            return;
        };
        let life = self.machines.get(&to).map_or(0, |machine| machine.life);
        self.later(FRAME, to, life, Happening::Input(input(conn)));
    }

    fn cut_connections(&mut self, id: NodeId) {
        let ends = std::mem::take(&mut self.ends);
        let (own, others) = ends.into_iter().partition(|((node, _), _)| *node == id);
        self.ends = others;
        let own: BTreeMap<(NodeId, ConnId), (NodeId, ConnId)> = own;
        for (to, conn) in own.into_values() {
            let life = self.machines.get(&to).map_or(0, |machine| machine.life);
            let closed = Happening::Input(Input::Closed { conn });
            self.later(FRAME, to, life, closed);
        }
    }

    fn later(&mut self, after: Duration, id: NodeId, life: u64, happening: Happening) {
        self.queued += 1;
        self.queue
            .insert((self.now + after, self.queued), (id, life, happening));
    }
}

/// Formats a disk as `kafka-storage format` would.
pub fn format_disk(
    disk: &MemVfs,
    node: NodeId,
    directory: DirectoryId,
    initial_voters: Option<VoterSet>,
) {
    format_disk_of(CLUSTER, disk, node, directory, initial_voters);
}

/// The same for a node of that cluster.
pub fn format_disk_of(
    cluster_id: &str,
    disk: &MemVfs,
    node: NodeId,
    directory: DirectoryId,
    initial_voters: Option<VoterSet>,
) {
    let levels = default_levels(MetadataVersion::LATEST);
    let spec = FormatSpec {
        cluster_id: cluster_id.to_owned(),
        node,
        directory,
        features: levels
            .into_iter()
            .map(|(name, level)| (name.to_owned(), level))
            .collect(),
        records: Vec::new(),
        initial_voters,
        at: WallTime(1_700_000_000_000),
    };
    format(disk, Path::new(DIR), &spec).unwrap();
}

/// Whether an event of that kind was told.
pub fn told(machine: &Machine, is: impl Fn(&NodeEvent) -> bool) -> bool {
    machine.events.iter().any(is)
}
