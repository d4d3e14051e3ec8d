//! The network: connections as TCP gives them.
//!
//! - Frames of one connection arrive in their order, each late by a latency of its own.
//! - Between two machines either direction can be cut. What travels there then waits, as TCP sends
//!   again and again; when the cut ends it arrives late, or the connection is reset and all of it is
//!   lost.
//! - A process that ends closes its connections at once, after what it sent; a machine whose power
//!   is cut says nothing, and answers with a reset what it is sent after it is back.
//! - Nobody listens: refused. A machine that is off or cut away: silence until the dialer gives up.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use quorate_server::io::ConnId;
use quorate_types::{MonoTime, NodeId, Rng};

use crate::queue::{Event, Parcel, Queue};

/// Names a connection in the whole network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct LinkId(pub u64);

/// One of the two ends of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    /// The process that asked for it.
    Dialer,
    /// The process that took it.
    Acceptor,
}

impl Side {
    /// The other one.
    pub fn other(self) -> Side {
        match self {
            Side::Dialer => Side::Acceptor,
            Side::Acceptor => Side::Dialer,
        }
    }
}

/// One process's end of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct End {
    /// The machine.
    pub machine: NodeId,
    /// Which of its processes.
    pub life: u64,
    /// The process's name for the connection.
    pub conn: ConnId,
}

/// What becomes of something that arrives.
#[derive(Debug)]
pub enum Arrival {
    /// It is handed to a process.
    At(End, Parcel),
    /// The machine knows no such connection any more.
    Nobody(NodeId),
    /// It is lost, or waits.
    Lost,
}

/// What is under way in one direction.
#[derive(Debug, Default)]
struct Direction {
    /// When the last of it arrives.
    last: MonoTime,
    /// What waits for the end of a cut, in its order.
    stalled: VecDeque<Parcel>,
    /// How many of these were under way already when the cut came.
    caught: usize,
}

#[derive(Debug)]
struct Link {
    dialer: End,
    acceptor: End,
    to_dialer: Direction,
    to_acceptor: Direction,
}

impl Link {
    fn end(&self, side: Side) -> End {
        match side {
            Side::Dialer => self.dialer,
            Side::Acceptor => self.acceptor,
        }
    }

    fn towards(&mut self, side: Side) -> &mut Direction {
        match side {
            Side::Dialer => &mut self.to_dialer,
            Side::Acceptor => &mut self.to_acceptor,
        }
    }
}

/// All connections, and what is wrong between machines.
#[derive(Debug)]
pub struct Net {
    links: BTreeMap<LinkId, Link>,
    ends: BTreeMap<End, (LinkId, Side)>,
    cuts: BTreeSet<(NodeId, NodeId)>,
    latency: (Duration, Duration),
    slower: u32,
    accepted: u64,
    last_link: u64,
}

impl Net {
    /// A network without connections whose frames take between these times.
    pub fn new(latency: (Duration, Duration)) -> Net {
        Net {
            links: BTreeMap::new(),
            ends: BTreeMap::new(),
            cuts: BTreeSet::new(),
            latency,
            slower: 1,
            accepted: 0,
            last_link: 0,
        }
    }

    /// How long the next frame takes.
    pub fn latency(&self, rng: &mut Rng) -> Duration {
        rng.duration(self.latency.0, self.latency.1) * self.slower
    }

    /// Makes everything that many times as slow.
    pub fn set_slower(&mut self, times: u32) {
        self.slower = times;
    }

    /// Cuts one direction between two machines.
    pub fn cut(&mut self, from: NodeId, to: NodeId) {
        self.cuts.insert((from, to));
    }

    /// Whether nothing comes through in that direction.
    pub fn is_cut(&self, from: NodeId, to: NodeId) -> bool {
        self.cuts.contains(&(from, to))
    }

    /// Whether something is cut.
    pub fn has_cuts(&self) -> bool {
        !self.cuts.is_empty()
    }

    /// Makes a connection; says its name and what the acceptor calls it.
    pub fn connect(&mut self, dialer: End, acceptor: NodeId, life: u64) -> (LinkId, ConnId) {
        self.accepted += 1;
        self.last_link += 1;
        let id = LinkId(self.last_link);
        let conn = ConnId::Accepted(self.accepted);
        let acceptor = End {
            machine: acceptor,
            life,
            conn,
        };
        self.ends.insert(dialer, (id, Side::Dialer));
        self.ends.insert(acceptor, (id, Side::Acceptor));
        let link = Link {
            dialer,
            acceptor,
            to_dialer: Direction::default(),
            to_acceptor: Direction::default(),
        };
        self.links.insert(id, link);
        (id, conn)
    }

    /// The connection that a process calls so, and the process's side of it.
    pub fn link_of(&self, end: End) -> Option<(LinkId, Side)> {
        self.ends.get(&end).copied()
    }

    /// Who sits at that side, if the connection stands.
    pub fn end(&self, link: LinkId, side: Side) -> Option<End> {
        let end = self.links.get(&link)?.end(side);
        self.ends.contains_key(&end).then_some(end)
    }

    /// Sends something to that side.
    pub fn send(
        &mut self,
        now: MonoTime,
        rng: &mut Rng,
        queue: &mut Queue,
        link: LinkId,
        to: Side,
        parcel: Parcel,
    ) {
        let latency = self.latency(rng);
        let Some(found) = self.links.get_mut(&link) else {
            return;
        };
        let (from_machine, to_machine) = (found.end(to.other()).machine, found.end(to).machine);
        let cut = self.cuts.contains(&(from_machine, to_machine));
        let direction = found.towards(to);
        if cut || !direction.stalled.is_empty() {
            direction.stalled.push_back(parcel);
            return;
        }
        let at = (now + latency).max(direction.last + Duration::from_micros(1));
        direction.last = at;
        queue.add(
            at,
            Event::Arrive {
                link,
                side: to,
                parcel,
            },
        );
    }

    /// Something is about to arrive: it does, unless its way was cut meanwhile.
    pub fn arrives(&mut self, link: LinkId, side: Side, parcel: Parcel) -> Arrival {
        let Some(found) = self.links.get_mut(&link) else {
            return Arrival::Lost;
        };
        let (from, to) = (found.end(side.other()).machine, found.end(side).machine);
        if self.cuts.contains(&(from, to)) {
            let direction = found.towards(side);
            direction.stalled.insert(direction.caught, parcel);
            direction.caught += 1;
            return Arrival::Lost;
        }
        let end = found.end(side);
        if self.ends.contains_key(&end) {
            Arrival::At(end, parcel)
        } else {
            Arrival::Nobody(to)
        }
    }

    /// A process lets go of its end; the connection is gone once both have.
    pub fn let_go(&mut self, end: End) {
        let Some((id, side)) = self.ends.remove(&end) else {
            return;
        };
        let Some(link) = self.links.get(&id) else {
            return;
        };
        if !self.ends.contains_key(&link.end(side.other())) {
            self.links.remove(&id);
        }
    }

    /// The ends that a process holds.
    pub fn ends_of(&self, machine: NodeId, life: u64) -> Vec<End> {
        let ends = self.ends.keys();
        ends.filter(|end| end.machine == machine && end.life == life)
            .copied()
            .collect()
    }

    /// All connections between two machines, either way round.
    pub fn links_between(&self, one: NodeId, other: NodeId) -> Vec<LinkId> {
        let between = |link: &Link| {
            let (a, b) = (link.dialer.machine, link.acceptor.machine);
            (a, b) == (one, other) || (b, a) == (one, other)
        };
        self.links
            .iter()
            .filter(|(_, link)| between(link))
            .map(|(id, _)| *id)
            .collect()
    }

    /// All connections.
    pub fn links(&self) -> Vec<LinkId> {
        self.links.keys().copied().collect()
    }

    /// Resets a connection: what is under way is lost, both sides learn of it when they can.
    pub fn reset(&mut self, now: MonoTime, rng: &mut Rng, queue: &mut Queue, id: LinkId) {
        let Some(link) = self.links.remove(&id) else {
            return;
        };
        // A link of its own carries the news, so that nothing sent before can still arrive.
        self.last_link += 1;
        let news = LinkId(self.last_link);
        for (side, end) in [(Side::Dialer, link.dialer), (Side::Acceptor, link.acceptor)] {
            if let Some(known) = self.ends.get_mut(&end) {
                *known = (news, side);
            }
        }
        let (to_dialer, to_acceptor) = Default::default();
        let (dialer, acceptor) = (link.dialer, link.acceptor);
        self.links.insert(
            news,
            Link {
                dialer,
                acceptor,
                to_dialer,
                to_acceptor,
            },
        );
        for side in [Side::Dialer, Side::Acceptor] {
            self.send(now, rng, queue, news, side, Parcel::Closed);
        }
    }

    /// Ends all cuts; what waited arrives late, or its connection is reset.
    pub fn heal(&mut self, now: MonoTime, rng: &mut Rng, queue: &mut Queue) {
        self.cuts.clear();
        for id in self.links() {
            let Some(link) = self.links.get_mut(&id) else {
                continue;
            };
            if link.to_dialer.stalled.is_empty() && link.to_acceptor.stalled.is_empty() {
                continue;
            }
            if rng.one_in(2) {
                self.reset(now, rng, queue, id);
                continue;
            }
            for side in [Side::Dialer, Side::Acceptor] {
                let Some(link) = self.links.get_mut(&id) else {
                    continue;
                };
                link.towards(side).caught = 0;
                for parcel in std::mem::take(&mut link.towards(side).stalled) {
                    self.send(now, rng, queue, id, side, parcel);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    struct Rig {
        net: Net,
        queue: Queue,
        rng: Rng,
        now: MonoTime,
        link: LinkId,
    }

    const ONE: NodeId = NodeId(1);
    const OTHER: NodeId = NodeId(2);

    impl Rig {
        fn new(seed: u64) -> Rig {
            let mut net = Net::new((Duration::from_micros(100), Duration::from_millis(5)));
            let conn = ConnId::Dialed(1);
            let dialer = End {
                machine: ONE,
                life: 1,
                conn,
            };
            let (link, _) = net.connect(dialer, OTHER, 1);
            let (queue, rng) = (Queue::default(), Rng::new(seed));
            Rig {
                net,
                queue,
                rng,
                now: MonoTime::ZERO,
                link,
            }
        }

        fn send(&mut self, text: &'static str) {
            let parcel = Parcel::Frame(Bytes::from_static(text.as_bytes()));
            let Rig {
                net,
                queue,
                rng,
                now,
                link,
            } = self;
            net.send(*now, rng, queue, *link, Side::Acceptor, parcel);
        }

        /// What arrives within some time, in order.
        fn arriving(&mut self, within: Duration) -> Vec<String> {
            let until = self.now + within;
            let mut arrived = Vec::new();
            while let Some((at, event)) = self.queue.pop(until) {
                self.now = at;
                let Event::Arrive { link, side, parcel } = event else {
                    continue;
                };
                match self.net.arrives(link, side, parcel) {
                    Arrival::At(_, Parcel::Frame(frame)) => {
                        arrived.push(String::from_utf8_lossy(&frame).into_owned());
                    }
                    Arrival::At(end, Parcel::Closed) => {
                        arrived.push(format!("closed {}", end.machine))
                    }
                    _ => {}
                }
            }
            self.now = until;
            arrived
        }

        fn heal(&mut self) {
            self.net.heal(self.now, &mut self.rng, &mut self.queue);
        }
    }

    #[test]
    fn frames_of_one_connection_arrive_in_their_order() {
        let mut rig = Rig::new(1);
        for text in ["a", "b", "c", "d"] {
            rig.send(text);
        }
        assert_eq!(rig.arriving(Duration::from_secs(1)), ["a", "b", "c", "d"]);
    }

    #[test]
    fn what_a_cut_catches_arrives_late_and_in_order_or_is_lost_with_its_connection() {
        let (mut late, mut lost) = (0, 0);
        for seed in 0..20 {
            let mut rig = Rig::new(seed);
            rig.send("a");
            rig.send("b");
            rig.net.cut(ONE, OTHER);
            rig.send("c");
            assert!(rig.arriving(Duration::from_secs(1)).is_empty());
            rig.heal();
            let arrived = rig.arriving(Duration::from_secs(1));
            match arrived.len() {
                3 => {
                    assert_eq!(arrived, ["a", "b", "c"]);
                    late += 1;
                }
                _ => {
                    assert!(
                        arrived.iter().all(|text| text.starts_with("closed")),
                        "{arrived:?}"
                    );
                    lost += 1;
                }
            }
        }
        assert!(late > 0 && lost > 0, "{late} {lost}");
    }

    #[test]
    fn a_reset_loses_what_is_under_way_and_both_sides_learn_of_it() {
        let mut rig = Rig::new(1);
        rig.send("a");
        let Rig {
            net,
            queue,
            rng,
            now,
            link,
        } = &mut rig;
        net.reset(*now, rng, queue, *link);
        let mut arrived = rig.arriving(Duration::from_secs(1));
        arrived.sort();
        assert_eq!(arrived, ["closed 1", "closed 2"]);
    }

    #[test]
    fn a_connection_is_forgotten_when_both_sides_let_go() {
        let mut rig = Rig::new(1);
        let ends = [rig.net.ends_of(ONE, 1), rig.net.ends_of(OTHER, 1)].concat();
        assert_eq!(ends.len(), 2);
        rig.net.let_go(ends[0]);
        rig.send("a");
        assert!(rig.arriving(Duration::from_secs(1)).len() < 2);
        rig.net.let_go(ends[1]);
        assert!(rig.net.links().is_empty());
    }
}
