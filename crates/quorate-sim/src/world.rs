//! The world: machines, network and time, and the one loop that moves them.
//!
//! It does for nodes what the runtime does, and nothing else: frames and disk jobs go where they
//! say, time passes, and everything that comes out is shown to the laws.

use std::collections::BTreeMap;
use std::time::Duration;

use bytes::Bytes;
use quorate_server::events::NodeEvent;
use quorate_server::io::{Address, Input, Node, Now, Output};
use quorate_types::{MonoTime, NodeId, Rng, WallTime};

use crate::check::Checks;
use crate::client::{Fact, Outcome};
use crate::counts::Counts;
use crate::history::{History, hash_bytes};
use crate::machine::{Machine, Power, Role};
use crate::net::{Arrival, End, LinkId, Net, Side};
use crate::queue::{Event, Parcel, Queue};
use crate::spec::{PORT, Spec};
use crate::trace;
use crate::violation::{Verdict, Violation};

/// When the world begins, on the wall.
const FIRST_WALL_MS: i64 = 1_700_000_000_000;

/// How often a node may want to be driven at one instant.
const SPINS_MAX: u32 = 2_000;

/// One run's world.
pub struct World {
    /// What the cluster is like.
    pub spec: Spec,
    /// The virtual time.
    pub now: MonoTime,
    /// The generator of everything that is left to chance.
    pub rng: Rng,
    /// All machines.
    pub machines: BTreeMap<NodeId, Machine>,
    /// The network.
    pub net: Net,
    /// The laws.
    pub checks: Checks,
    /// What happened.
    pub history: History,
    /// What happened, counted.
    pub counts: Counts,
    pub(crate) queue: Queue,
    wall_ms: i64,
}

impl World {
    /// A world in which every node has just been started for the first time.
    pub fn new(spec: Spec, mut rng: Rng, history: History) -> Result<World, (Violation, History)> {
        let voters: Vec<NodeId> = spec.controllers.iter().map(|(id, _)| *id).collect();
        let mut world = World {
            now: MonoTime::ZERO,
            rng: rng.fork(),
            machines: BTreeMap::new(),
            net: Net::new(spec.net_latency),
            checks: Checks::new(&voters),
            history,
            counts: Counts::default(),
            queue: Queue::default(),
            wall_ms: FIRST_WALL_MS,
            spec,
        };
        match world.populate() {
            Ok(()) => Ok(world),
            Err(violation) => Err((violation, world.history)),
        }
    }

    fn populate(&mut self) -> Verdict {
        let controllers = self
            .spec
            .controllers
            .iter()
            .map(|(id, dir)| (*id, Role::Controller(*dir)));
        let brokers = self
            .spec
            .brokers
            .iter()
            .map(|(id, dir)| (*id, Role::Broker(*dir)));
        let clients = self.spec.clients.iter().map(|id| (*id, Role::Client));
        let roles: Vec<(NodeId, Role)> = controllers.chain(brokers).chain(clients).collect();
        for (id, role) in roles {
            let machine = Machine::new(id, role, &self.spec, self.at().wall)
                .map_err(|error| Violation::new("a directory can be formatted", error))?;
            self.machines.insert(id, machine);
            self.start(id)?;
        }
        Ok(())
    }

    /// Both times of this instant.
    pub fn at(&self) -> Now {
        let since_start = i64::try_from(self.now.0 / 1000).unwrap_or(i64::MAX);
        Now {
            mono: self.now,
            wall: WallTime(self.wall_ms + since_start),
        }
    }

    /// Lets the wall clock jump.
    pub fn jump_wall(&mut self, by_ms: i64) {
        self.wall_ms += by_ms;
        self.counts.clock_jumps += 1;
        self.note(None, || format!("the wall clock jumps by {by_ms} ms"));
    }

    /// Lets time pass.
    pub fn run_until(&mut self, until: MonoTime) -> Verdict {
        while let Some((at, event)) = self.queue.pop(until) {
            self.now = at;
            self.counts.events += 1;
            self.happen(event)?;
        }
        self.now = until;
        Ok(())
    }

    /// Lets time pass.
    pub fn run_for(&mut self, time: Duration) -> Verdict {
        self.run_until(self.now + time)
    }

    /// Starts a machine's process; its disk must allow it.
    pub fn start(&mut self, id: NodeId) -> Verdict {
        let now = self.at();
        let Some(machine) = self.machines.get_mut(&id) else {
            return Ok(());
        };
        let started = machine
            .start(&self.spec, &mut self.rng, now)
            .map_err(|error| {
                Violation::new(
                    "a node starts from what a crash left",
                    format!("{id}: {error}"),
                )
            })?;
        if let Some(started) = started {
            let (end, notes) = (started.recovered.end, started.recovered.notes.len());
            self.note(Some(id), || {
                format!("starts, its log ends at {end}, {notes} notes")
            });
            self.checks.started(id, &started)?;
        }
        self.history.mix(id.0 as u64);
        self.drive(id)
    }

    /// A line of the history.
    pub fn note<T: std::fmt::Display>(&mut self, id: Option<NodeId>, text: impl FnOnce() -> T) {
        self.history.line(self.now, id, text);
    }

    fn happen(&mut self, event: Event) -> Verdict {
        match event {
            Event::Dial {
                from,
                life,
                conn,
                to,
            } => self.dialed(
                End {
                    machine: from,
                    life,
                    conn,
                },
                &to,
            ),
            Event::DialFailed {
                from,
                life,
                conn,
                refused,
            } => self.input(from, life, Input::ConnectFailed { conn, refused }),
            Event::Arrive { link, side, parcel } => self.arrive(link, side, parcel),
            Event::Wake { machine, life } => self.wake(machine, life),
            Event::Disk { machine, life } => self.disk_round(machine, life),
            Event::Quiet { machine, life } => self.disk_settles(machine, life),
        }
    }

    /// A request for a connection reaches the machine that it is for.
    fn dialed(&mut self, dialer: End, to: &Address) -> Verdict {
        let found = self
            .machines
            .values()
            .find(|machine| Spec::host(machine.id) == to.host);
        let Some(target) = found.map(|machine| machine.id) else {
            return Ok(());
        };
        let from = dialer.machine;
        let (there, life) = (&self.machines[&target], self.machines[&target].life);
        let silent = there.power == Power::Off
            || self.net.is_cut(from, target)
            || self.net.is_cut(target, from);
        if silent || there.process.is_none() {
            let after = match silent {
                true => self.spec.connect_timeout,
                false => self.net.latency(&mut self.rng),
            };
            let (life, conn) = (dialer.life, dialer.conn);
            let event = Event::DialFailed {
                from,
                life,
                conn,
                refused: !silent,
            };
            self.queue.add_after(self.now, after, event);
            return Ok(());
        }
        if self
            .machines
            .get(&from)
            .is_none_or(|m| m.life != dialer.life || m.process.is_none())
        {
            return Ok(());
        }
        let (link, accepted) = self.net.connect(dialer, target, life);
        self.send(link, Side::Dialer, Parcel::Connected);
        let address = from.0.to_be_bytes().to_vec();
        self.input(
            target,
            life,
            Input::Accepted {
                conn: accepted,
                from: address,
            },
        )
    }

    fn arrive(&mut self, link: LinkId, side: Side, parcel: Parcel) -> Verdict {
        match self.net.arrives(link, side, parcel) {
            Arrival::At(
                End {
                    machine,
                    life,
                    conn,
                },
                parcel,
            ) => match parcel {
                Parcel::Connected => self.input(machine, life, Input::Connected { conn }),
                Parcel::Frame(frame) => {
                    let hash = hash_bytes(machine.0 as u64, &frame);
                    self.history.mix(hash ^ self.now.0);
                    self.input(machine, life, Input::Frame { conn, frame })
                }
                Parcel::Closed => {
                    self.net.let_go(End {
                        machine,
                        life,
                        conn,
                    });
                    self.input(machine, life, Input::Closed { conn })
                }
            },
            Arrival::Nobody(machine) => {
                // A machine that knows nothing of the connection says so, if it can.
                if self
                    .machines
                    .get(&machine)
                    .is_some_and(|m| m.power == Power::On)
                {
                    self.send(link, side.other(), Parcel::Closed);
                }
                Ok(())
            }
            Arrival::Lost => Ok(()),
        }
    }

    fn send(&mut self, link: LinkId, to: Side, parcel: Parcel) {
        self.net
            .send(self.now, &mut self.rng, &mut self.queue, link, to, parcel);
    }

    fn wake(&mut self, id: NodeId, life: u64) -> Verdict {
        let Some(machine) = self.machines.get_mut(&id) else {
            return Ok(());
        };
        // A later wish may have replaced the one that this comes from.
        if machine.life != life || machine.wake_at.is_none_or(|at| at > self.now) {
            return Ok(());
        }
        machine.wake_at = None;
        self.drive(id)
    }

    /// Hands something to a process, if it still runs.
    pub(crate) fn input(&mut self, id: NodeId, life: u64, input: Input) -> Verdict {
        let now = self.at();
        if self.history.is_traced()
            && let Some(line) = trace::input(&input)
        {
            self.history.line(self.now, Some(id), || line);
        }
        let Some(machine) = self.machines.get_mut(&id).filter(|m| m.life == life) else {
            return Ok(());
        };
        let Some(process) = &mut machine.process else {
            return Ok(());
        };
        process.handle(now, input);
        if self.spec.round.is_zero() {
            return self.drive(id);
        }
        let at = self.now + self.rng.duration(Duration::ZERO, self.spec.round);
        self.wake_by(id, life, at);
        Ok(())
    }

    /// Lets a process do what is due, and carries out what comes of it.
    pub(crate) fn drive(&mut self, id: NodeId) -> Verdict {
        let now = self.at();
        let Some(machine) = self.machines.get_mut(&id) else {
            return Ok(());
        };
        let (life, Some(process)) = (machine.life, &mut machine.process) else {
            return Ok(());
        };
        process.drive(now);
        let mut outputs = Vec::new();
        while let Some(output) = process.poll() {
            let last = matches!(output, Output::Stopped { .. });
            outputs.push(output);
            if last {
                break;
            }
        }
        for output in &outputs {
            if let Output::Disk(job) = output {
                self.checks.job(id, job)?;
            }
        }
        if let Some(quorum) = process.quorum() {
            self.checks.rested(id, quorum)?;
        }
        let facts = process.facts();
        let failed = machine.write_failed;
        let mut stopped = false;
        for output in outputs {
            stopped |= self.carry_out(id, life, output)?;
        }
        if failed && !stopped {
            let detail = format!("{id} goes on although a write failed");
            return Err(Violation::new("a failed write ends a node", detail));
        }
        for fact in facts {
            self.learn(id, &fact)?;
        }
        self.schedule(id, life)
    }

    /// Sees to it that a process is driven when it wants to be.
    fn schedule(&mut self, id: NodeId, life: u64) -> Verdict {
        let Some(machine) = self.machines.get_mut(&id).filter(|m| m.life == life) else {
            return Ok(());
        };
        let Some(deadline) = machine
            .process
            .as_ref()
            .and_then(|process| process.deadline())
        else {
            return Ok(());
        };
        if deadline > self.now {
            machine.spins = 0;
        } else {
            machine.spins += 1;
            if machine.spins > SPINS_MAX {
                let detail = format!("{id} wants to be driven again and again at {}", self.now.0);
                return Err(Violation::new("no node spins", detail));
            }
        }
        // What is due already is due after a moment: the machine needs some time for each round.
        let at = deadline.max(self.now + Duration::from_micros(5));
        self.wake_by(id, life, at);
        Ok(())
    }

    /// A process is driven at that time, or sooner.
    fn wake_by(&mut self, id: NodeId, life: u64, at: MonoTime) {
        if let Some(machine) = self.machines.get_mut(&id)
            && machine.wake_at.is_none_or(|planned| planned > at)
        {
            machine.wake_at = Some(at);
            self.queue.add(at, Event::Wake { machine: id, life });
        }
    }

    /// Carries out one output; whether the process ended with it.
    fn carry_out(&mut self, id: NodeId, life: u64, output: Output) -> Result<bool, Violation> {
        match output {
            Output::Connect { conn, to } => {
                debug_assert_eq!(to.port, PORT);
                let after = self.net.latency(&mut self.rng);
                self.queue.add_after(
                    self.now,
                    after,
                    Event::Dial {
                        from: id,
                        life,
                        conn,
                        to,
                    },
                );
            }
            Output::Send { conn, frame } => {
                let from = End {
                    machine: id,
                    life,
                    conn,
                };
                self.send_frame(from, frame)?;
            }
            Output::Close { conn } => self.close(End {
                machine: id,
                life,
                conn,
            }),
            Output::Disk(job) => {
                if self.history.is_traced()
                    && let Some(line) = trace::job(&job)
                {
                    self.note(Some(id), || line);
                }
                if let Some(machine) = self.machines.get_mut(&id)
                    && machine.disk.submit(job)
                {
                    let after = machine.disk.latency(&mut self.rng, self.spec.disk_latency);
                    self.queue
                        .add_after(self.now, after, Event::Disk { machine: id, life });
                }
            }
            Output::Event(event) => {
                if let NodeEvent::Active { epoch } = &event {
                    self.checks.active(id, *epoch)?;
                    self.history.mix(epoch.0 as u64);
                }
                let written = matches!(event, NodeEvent::SnapshotWritten { .. });
                self.counts.snapshots += u64::from(written);
                self.note(Some(id), || event);
            }
            Output::Published(published) => {
                self.history.mix(published.end.0 as u64);
                self.checks.published(id, &published)?;
            }
            Output::Stopped { fault } => {
                self.stopped(id, fault)?;
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn send_frame(&mut self, from: End, frame: Bytes) -> Verdict {
        let Some((link, side)) = self.net.link_of(from) else {
            return Ok(());
        };
        let asks = side == Side::Dialer;
        if self.history.is_traced() {
            let to = self.net.end(link, side.other()).map(|end| end.machine);
            let line = trace::sent(&frame, asks, to);
            self.note(Some(from.machine), || line);
        }
        self.checks.sent(from.machine, link, asks, &frame)?;
        self.send(link, side.other(), Parcel::Frame(frame));
        Ok(())
    }

    fn close(&mut self, from: End) {
        if let Some((link, side)) = self.net.link_of(from) {
            self.send(link, side.other(), Parcel::Closed);
            self.net.let_go(from);
        }
    }

    /// Lets the connections of a process that has ended go; its kernel tells the peers if it can.
    pub(crate) fn hang_up(&mut self, id: NodeId, life: u64, tells: bool) {
        for end in self.net.ends_of(id, life) {
            match tells {
                true => self.close(end),
                false => self.net.let_go(end),
            }
        }
    }

    /// A node said that it has ended.
    fn stopped(&mut self, id: NodeId, fault: Option<String>) -> Verdict {
        let Some(machine) = self.machines.get_mut(&id) else {
            return Ok(());
        };
        machine.process = None;
        let (life, ill) = (machine.life, machine.disk.is_ill());
        machine.disk.close();
        self.hang_up(id, life, true);
        match fault {
            None => {
                self.counts.shutdowns += 1;
                self.note(Some(id), || "ends in good order");
                Ok(())
            }
            Some(fault) if ill => {
                self.note(Some(id), || format!("ends: {fault}"));
                Ok(())
            }
            Some(fault) => {
                let detail = format!("{id} ends although its disk is well: {fault}");
                Err(Violation::new("a node ends only if its disk fails", detail))
            }
        }
    }

    fn learn(&mut self, id: NodeId, fact: &Fact) -> Verdict {
        match fact {
            Fact::Learnt(op, outcome) => {
                let unknown = matches!(outcome, Outcome::Unknown(_));
                self.counts.unknown_outcomes += u64::from(unknown);
                self.note(Some(id), || format!("{op}: {outcome}"));
            }
            Fact::Saw(..) => self.counts.views += 1,
            Fact::Voters(outcome) => {
                self.counts.voter_changes += u64::from(outcome.ends_with("NONE"));
                self.note(Some(id), || outcome);
            }
            Fact::Asked(_) | Fact::Looks(_) => {}
        }
        self.checks.fact(id, fact)
    }
}
