//! Random histories of a lease service on three nodes: commands, turns, commits, elections that lose
//! what was not committed, control batches in between, snapshots.
//!
//! After each step, on each node: what is stable is what the log says up to there, as a second, plain
//! reading of the log has it. And of what was answered: what was granted is in the log for good, what
//! was refused never was, and no answer told of anything that was not stable.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::lease::{Command, LeaseService, Leases, Record, Reply};
use proptest::prelude::*;
use quorate_engine::{
    Batch, Engine, EngineConfig, Fault, Lane, MemoryLog, Output, Refused, Ticket,
};
use quorate_types::{Epoch, MonoTime, Offset, Rng, WallTime};

const NODES: usize = 3;

#[derive(Debug, Clone)]
enum Step {
    Submit {
        node: usize,
        name: u8,
        kind: u8,
    },
    Turn(usize),
    Sleep(u64),
    /// Commits up to a batch end that is this far between what was and what could be.
    Commit(u8),
    /// Tells a node what is committed.
    Tell(usize),
    /// Elects a node, with a log that keeps this much of what was not committed.
    Elect {
        node: usize,
        keep: u8,
    },
    /// Tells a node that it does not lead, if it does not.
    Depose(usize),
    Control,
    /// Takes a snapshot on one node and starts another with it.
    Snapshot {
        from: usize,
        to: usize,
    },
}

/// Stands for the node that leads.
const LEADER: usize = NODES;

fn step() -> impl Strategy<Value = Step> {
    let node = prop_oneof![3 => Just(LEADER), 1 => 0..NODES];
    prop_oneof![
        8 => (node.clone(), 0..4u8, any::<u8>())
            .prop_map(|(node, name, kind)| Step::Submit { node, name, kind }),
        8 => node.clone().prop_map(Step::Turn),
        2 => (1..4000u64).prop_map(Step::Sleep),
        5 => any::<u8>().prop_map(Step::Commit),
        6 => node.clone().prop_map(Step::Tell),
        2 => (node.clone(), any::<u8>()).prop_map(|(node, keep)| Step::Elect { node, keep }),
        1 => node.clone().prop_map(Step::Depose),
        2 => Just(Step::Control),
        1 => (node.clone(), node).prop_map(|(from, to)| Step::Snapshot { from, to }),
    ]
}

struct Node {
    engine: Engine<LeaseService>,
    stable: Offset,
    leads: bool,
}

struct Cluster {
    nodes: Vec<Node>,
    log: MemoryLog<Record>,
    leader: usize,
    start: Offset,
    committed: Offset,
    now: MonoTime,
    /// The command of each ticket and what became of it.
    commands: Vec<Command>,
    answers: BTreeMap<Ticket, Result<Reply, Refused>>,
    /// What was answered in this step.
    fresh: Vec<Ticket>,
}

impl Cluster {
    fn new() -> Cluster {
        let config = EngineConfig {
            batch_records_max: 4,
            turn_decisions_max: 5,
            lane_commands_max: 8,
            ..EngineConfig::default()
        };
        let node = |seed| Node {
            engine: Engine::new(LeaseService, Rng::new(seed), config.clone()),
            stable: Offset::ZERO,
            leads: false,
        };
        let mut cluster = Cluster {
            nodes: (0..NODES as u64).map(node).collect(),
            log: MemoryLog::new(),
            leader: 0,
            start: Offset::ZERO,
            committed: Offset::ZERO,
            now: MonoTime(1),
            commands: Vec::new(),
            answers: BTreeMap::new(),
            fresh: Vec::new(),
        };
        cluster.log.batch_records_max = 3; // smaller than the engine believes
        cluster.elect(0, 0);
        cluster
    }

    fn step(&mut self, step: &Step) {
        let leader = self.leader;
        let meant = |node| if node == LEADER { leader } else { node };
        match *step {
            Step::Submit { node, name, kind } => self.submit(meant(node), name, kind),
            Step::Turn(node) => self.turn(meant(node)),
            Step::Sleep(millis) => self.now = self.now + Duration::from_millis(millis),
            Step::Commit(share) => self.commit(share),
            Step::Tell(node) => self.tell(meant(node)),
            Step::Elect { node, keep } => self.elect(meant(node), keep),
            Step::Depose(node) => self.depose(meant(node)),
            Step::Control if self.log.is_leading() => self.log.append_control(),
            Step::Control => {}
            Step::Snapshot { from, to } => self.snapshot(meant(from), meant(to)),
        }
        for node in 0..NODES {
            self.listen(node);
        }
        self.check_stable();
        for ticket in std::mem::take(&mut self.fresh) {
            self.check_answer(ticket, &self.answers[&ticket]);
        }
    }

    fn submit(&mut self, node: usize, name: u8, kind: u8) {
        let owner = self.commands.len() as u32;
        let name = format!("lease-{name}");
        let names = |count: u32| (0..count).map(|n| format!("own-{owner}-{n}")).collect();
        let command = match kind % 16 {
            0..=5 => Command::Acquire { name, owner },
            6..=7 => Command::Probe { name, owner },
            8 => Command::Renew { name },
            9..=10 => Command::Look { name },
            11 => Command::AcquireAll {
                names: names(9),
                owner,
                atomic: false,
            },
            12 => Command::AcquireAll {
                names: names(u32::from(kind) % 7),
                owner,
                atomic: true,
            },
            13 => Command::Begin,
            14 => Command::Close { abort: kind > 128 },
            _ if kind > 200 => Command::Bug {
                owner,
                from: self.log.end() + i64::from(kind / 16 % 2),
            },
            _ => Command::Acquire { name, owner },
        };
        let lane = Lane::ALL[usize::from(kind) % 3];
        let expires = (kind.is_multiple_of(5)).then_some(self.now + Duration::from_secs(1));
        let ticket = Ticket(self.commands.len() as u64);
        self.commands.push(command.clone());
        self.nodes[node]
            .engine
            .submit(ticket, lane, command, expires);
    }

    fn turn(&mut self, node: usize) {
        let engine = &mut self.nodes[node].engine;
        engine.turn(self.now, WallTime(self.now.0 as i64), &mut self.log);
    }

    fn commit(&mut self, share: u8) {
        let ends = self.log.batches().iter().map(|batch| batch.end);
        // A leader counts replicas only for what it appended itself.
        let ends: Vec<Offset> = ends
            .filter(|end| *end > self.committed.max(self.start))
            .collect();
        if let Some(end) = ends.get(usize::from(share) * ends.len() / 256) {
            self.committed = *end;
        }
    }

    fn tell(&mut self, node: usize) {
        // What was committed since is heard of from the new leader, after that it leads.
        self.depose(node);
        let engine = &mut self.nodes[node].engine;
        if let Some(from) = engine.reads_from() {
            engine.committed(&self.log.read(from, self.committed));
        }
        engine.high_watermark(self.committed);
    }

    fn elect(&mut self, node: usize, keep: u8) {
        let end = self.log.end();
        let kept = (end - self.committed) * i64::from(keep) / 255;
        self.log.truncate(self.committed + kept);
        let (epoch, start) = self.log.elect();
        (self.leader, self.start) = (node, start);
        // The others learn of it late; but a log is cut only where a new leader was heard of.
        for other in 0..NODES {
            let lost = self.log.end() < end + 1;
            if other != node && (lost || keep.is_multiple_of(2)) {
                self.depose(other);
            }
        }
        let node = &mut self.nodes[node];
        if !node.leads || kept < end - self.committed {
            node.engine.not_leader();
        }
        node.leads = true;
        node.engine.leader(epoch, start);
    }

    fn depose(&mut self, node: usize) {
        if node != self.leader {
            self.nodes[node].engine.not_leader();
            self.nodes[node].leads = false;
        }
    }

    fn snapshot(&mut self, from: usize, to: usize) {
        let Some((state, end, at)) = self.nodes[from].engine.snapshot() else {
            return;
        };
        let state = state.clone();
        let target = &mut self.nodes[to];
        if target
            .engine
            .reads_from()
            .is_some_and(|from| from < end.offset)
            && to != self.leader
        {
            target.engine.install(state, end, at);
        }
    }

    /// Takes in what a node says. Whatever it answers must be stable there by then.
    fn listen(&mut self, node: usize) {
        let node = &mut self.nodes[node];
        while let Some(output) = node.engine.poll() {
            match output {
                Output::Stable { end } => {
                    assert!(
                        end > node.stable,
                        "stable went from {} to {end}",
                        node.stable
                    );
                    assert!(end <= self.committed, "{end} is not committed");
                    node.stable = end;
                }
                Output::Reply { ticket, result } => {
                    if let Ok(Reply::Granted { token } | Reply::Held { token, .. }) = result
                        && !matches!(self.commands[ticket.0 as usize], Command::Probe { .. })
                    {
                        assert!(token < node.stable, "{token} was told before it was stable");
                    }
                    self.fresh.push(ticket);
                    let before = self.answers.insert(ticket, result);
                    assert_eq!(before, None, "{ticket:?} was answered twice");
                }
                Output::Fault(fault) => {
                    let Fault::Deciding { ticket, .. } = fault else {
                        panic!("{fault}");
                    };
                    let command = &self.commands[ticket.0 as usize];
                    assert!(matches!(command, Command::Bug { .. }), "{fault}");
                    node.leads = false;
                }
                Output::Active { .. } => {}
                Output::Inactive { .. } => node.leads = false,
            }
        }
    }

    /// The law of the replica.
    fn check_stable(&self) {
        for (index, node) in self.nodes.iter().enumerate() {
            let end = node.engine.stable_end();
            assert!(end <= self.committed.max(node.stable));
            let (expected, visible) = read_plainly(self.log.batches(), end);
            assert_eq!(*node.engine.state(), expected, "node {index} at {end}");
            assert_eq!(visible, end, "node {index} shows an open transaction");
        }
    }

    /// The laws of the answers.
    fn check_answer(&self, ticket: Ticket, result: &Result<Reply, Refused>) {
        let command = &self.commands[ticket.0 as usize];
        let written = self.written_by(ticket.0 as u32);
        match (command, result) {
            (_, Err(Refused::OutcomeUnknown)) => {}
            (Command::Acquire { .. }, Ok(Reply::Granted { token })) => {
                assert_eq!(written, [*token], "{command:?} was granted");
                assert!(*token < self.committed);
            }
            (Command::AcquireAll { .. }, Ok(Reply::Took(count))) => {
                assert_eq!(written.len(), *count, "{command:?}");
                assert!(written.iter().all(|at| *at < self.committed));
            }
            _ => assert_eq!(written, [], "{command:?} got {result:?}"),
        }
    }

    fn written_by(&self, id: u32) -> Vec<Offset> {
        let mut written = Vec::new();
        for (at, record) in records(self.log.batches()) {
            if matches!(record, Record::Granted { owner, .. } if *owner == id) {
                written.push(at);
            }
        }
        written
    }

    /// Elects a node, lets it do all that waits, and checks that every command was answered.
    fn settle(&mut self, node: usize) {
        self.step(&Step::Elect { node, keep: 255 });
        for _ in 0..20 {
            self.step(&Step::Commit(255));
            for node in 0..NODES {
                self.step(&Step::Tell(node));
                self.step(&Step::Depose(node));
                self.step(&Step::Turn(node));
            }
            if !self.log.is_leading() {
                self.step(&Step::Elect { node, keep: 255 });
            }
        }
        let close = Command::Close { abort: false };
        let ticket = Ticket(self.commands.len() as u64);
        self.commands.push(close.clone());
        self.nodes[node]
            .engine
            .submit(ticket, Lane::Admin, close, None);
        for _ in 0..3 {
            self.step(&Step::Turn(node));
            self.step(&Step::Commit(255));
            (0..NODES).for_each(|node| self.step(&Step::Tell(node)));
        }
        assert_eq!(self.answers[&ticket], Ok(Reply::Done));
        for (ticket, result) in &self.answers {
            self.check_answer(*ticket, result);
        }
        assert_eq!(
            self.answers.len(),
            self.commands.len(),
            "not all were answered"
        );
        let states: Vec<&Leases> = self.nodes.iter().map(|node| node.engine.state()).collect();
        assert!(
            states.iter().all(|state| *state == states[0]),
            "the nodes differ"
        );
        assert_eq!(self.nodes[node].engine.stable_end(), self.log.end());
    }
}

fn records(batches: &[Batch<Record>]) -> impl Iterator<Item = (Offset, &Record)> {
    let at = |batch: &'_ Batch<Record>| (batch.base.0..).map(Offset);
    batches
        .iter()
        .flat_map(move |batch| at(batch).zip(&batch.records))
}

/// The state that the log up to `end` makes visible, and where that ends, without any of the engine's
/// code: transactions are looked up ahead instead of being held back.
pub fn read_plainly(batches: &[Batch<Record>], end: Offset) -> (Leases, Offset) {
    let log: Vec<(Offset, &Record)> = records(batches).filter(|(at, _)| *at < end).collect();
    let mut state = Leases::default();
    let mut rest = &log[..];
    while let Some(((at, record), tail)) = rest.split_first() {
        rest = tail;
        match record {
            Record::Begin => {
                let closes =
                    |(_, record): &(Offset, &Record)| matches!(record, Record::End | Record::Abort);
                match tail.iter().position(closes) {
                    None => return (state, *at),
                    Some(close) if *tail[close].1 == Record::Abort => rest = &tail[close..],
                    Some(_) => {}
                }
            }
            Record::End | Record::Abort => {}
            Record::Founded => state.founded = true,
            Record::Granted { name, owner } => {
                state.held.insert(name.clone(), (*owner, *at));
            }
            Record::Released { name } => {
                state.held.remove(name);
            }
        }
    }
    (state, end)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(128) })]

    #[test]
    fn every_history_keeps_the_laws(
        steps in prop::collection::vec(step(), 1..150),
        last in 0..NODES,
    ) {
        let mut cluster = Cluster::new();
        for step in &steps {
            cluster.step(step);
        }
        cluster.settle(last);
    }
}

#[test]
fn the_histories_reach_what_they_are_about() {
    let mut rng = Rng::new(11);
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for _ in 0..60 {
        let mut cluster = Cluster::new();
        for _ in 0..150 {
            let node = rng.index(NODES);
            let leader = cluster.leader;
            let step = match rng.below(8) {
                0..=1 => Step::Submit {
                    node: leader,
                    name: rng.below(4) as u8,
                    kind: rng.below(256) as u8,
                },
                2..=3 => Step::Turn(leader),
                4 => Step::Commit(rng.below(256) as u8),
                5 => Step::Tell(node),
                6 if rng.one_in(4) => Step::Elect {
                    node,
                    keep: rng.below(256) as u8,
                },
                6 => Step::Tell(leader),
                _ => Step::Control,
            };
            cluster.step(&step);
        }
        cluster.settle(0);
        for answer in cluster.answers.values() {
            let kind = match answer {
                Ok(Reply::Granted { .. }) => "granted".to_string(),
                Ok(Reply::Held { .. }) => "held".to_string(),
                Ok(Reply::Took(_)) => "took".to_string(),
                Ok(_) => "other".to_string(),
                Err(refused) => format!("{refused:?}"),
            };
            *seen.entry(kind).or_default() += 1;
        }
        let epochs = cluster.log.batches().iter().map(|batch| batch.epoch);
        *seen.entry("epochs".to_string()).or_default() +=
            epochs.max().unwrap_or(Epoch(0)).0 as usize;
    }
    for kind in [
        "granted",
        "held",
        "took",
        "NotActive",
        "OutcomeUnknown",
        "TooLarge",
        "Fault",
    ] {
        assert!(
            seen.get(kind).is_some_and(|count| *count > 5),
            "{kind}: {seen:?}"
        );
    }
}
