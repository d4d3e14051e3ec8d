//! A controller of another domain: feature flags on three replicas, with real consensus, no Kafka.
//!
//! The domain says what a flag is and when it changes; the engine decides where the leader is,
//! applies everywhere and answers what is committed; Raft replicates, here from memory to memory.
//! `cargo run --example compose_controller`, `cargo test --example compose_controller`

use std::collections::BTreeMap;

use quorate_engine::{AppendError as LogError, Batch, Domain, Draft, Engine, EngineConfig, Halt};
use quorate_engine::{Lane, Log, Machine, Output, Refused, Ticket};
use quorate_raft::{AppendError, BootError, MemoryBatch, MemoryEvent, MemoryQuorum};
use quorate_types::{Epoch, MonoTime, NodeId, Offset, Rng, WallTime};

/// What is asked for, and what stands in the log: a flag is to be on or off.
#[derive(Clone, Copy)]
struct Flag(&'static str, bool);

struct FlagService;

impl Machine for FlagService {
    type State = BTreeMap<&'static str, (bool, Offset)>; // and which record made it so
    type Record = Flag;
    type Misfit = std::convert::Infallible;

    fn apply(flags: &mut Self::State, flag: &Flag, at: Offset) -> Result<(), Self::Misfit> {
        flags.insert(flag.0, (flag.1, at));
        Ok(())
    }
}

impl Domain for FlagService {
    type Command = Flag;
    type Reply = Offset; // of the record that made it so
    type Soft = ();
    type Task = ();

    fn claim(&self, _: &Self::State, _: MonoTime) {}

    fn decide(&self, draft: &mut Draft<'_, Self>, wish: &Flag) -> Result<Offset, Halt> {
        if draft.state().get(wish.0).map(|flag| flag.0) != Some(wish.1) {
            draft.push(*wish)?;
        }
        Ok(draft.state()[wish.0].1)
    }
}

/// What a node's engine takes for its log is that node's part in the quorum.
struct RaftLog<'a>(&'a mut MemoryQuorum<Flag>, NodeId);

impl Log<Flag> for RaftLog<'_> {
    fn append(&mut self, epoch: Epoch, at: Offset, new: &[Vec<Flag>]) -> Result<(), LogError> {
        let appended = self.0.append(self.1, epoch, at, new);
        appended.map_err(|error| match error {
            AppendError::Moved { end } => LogError::Moved { end },
            AppendError::Full => LogError::Full,
            _ => LogError::NotLeader,
        })
    }

    fn resign(&mut self, epoch: Epoch) {
        self.0.resign(self.1, epoch);
    }
}

struct Cluster {
    quorum: MemoryQuorum<Flag>,
    engines: BTreeMap<NodeId, Engine<FlagService>>,
}

impl Cluster {
    fn start() -> Result<Cluster, BootError> {
        let quorum = MemoryQuorum::new([1, 2, 3], 7)?;
        let engine = || Engine::new(FlagService, Rng::new(7), EngineConfig::default());
        let engines = quorum.nodes().map(|id| (id, engine())).collect();
        Ok(Cluster { quorum, engines })
    }

    /// Asks all, of whom only the active controller decides, until it has.
    fn set(&mut self, name: &'static str, on: bool) -> Offset {
        loop {
            for engine in self.engines.values_mut() {
                engine.submit(Ticket(0), Lane::Admin, Flag(name, on), None);
            }
            let mut answers = Vec::new();
            while answers.len() < self.engines.len() {
                answers.extend(self.step());
            }
            if let Some(since) = answers.into_iter().find_map(Result::ok) {
                return since;
            }
        }
    }

    /// Moves a message or lets time pass; then every engine does what follows from it.
    fn step(&mut self) -> Vec<Result<Offset, Refused>> {
        let due = self.engines.values().filter_map(Engine::deadline).min();
        self.quorum.step(due);
        let mut answers = Vec::new();
        for (id, engine) in &mut self.engines {
            while let Some(event) = self.quorum.poll(*id) {
                match event {
                    MemoryEvent::HighWatermark(end) => engine.high_watermark(end),
                    MemoryEvent::Leads(epoch, start) => engine.leader(epoch, start),
                    MemoryEvent::Follows(_) => engine.not_leader(),
                }
            }
            if let Some(from) = engine.reads_from() {
                let batch = |it: MemoryBatch<Flag>| Batch {
                    records: it.records,
                    ..Batch::control(it.base, it.end, it.epoch, WallTime(0))
                };
                let read = self.quorum.committed(*id, from);
                engine.committed(&read.into_iter().map(batch).collect::<Vec<_>>());
            }
            let mut log = RaftLog(&mut self.quorum, *id);
            engine.turn(log.0.now(), WallTime(0), &mut log);
            while let Some(output) = engine.poll() {
                if let Output::Reply { result, .. } = output {
                    answers.push(result);
                }
            }
        }
        answers
    }
}

/// A flag is turned on, the active controller dies, and its heir is asked for the same and more.
fn failover() -> Result<[Offset; 3], BootError> {
    let mut cluster = Cluster::start()?;
    let on = cluster.set("dark-mode", true);
    let active = cluster.quorum.leader().expect("it has just decided");
    cluster.quorum.crash(active);
    cluster.engines.remove(&active);
    let still = cluster.set("dark-mode", true);
    Ok([on, still, cluster.set("dark-mode", false)])
}

fn main() -> Result<(), BootError> {
    let [on, still, off] = failover()?;
    println!("on by record {on}; after a crash still by {still}, until off by {off}");
    Ok(())
}

#[test]
fn flags_outlive_the_active_controller() {
    let [on, still, off] = failover().expect("nothing fails to start in memory");
    assert_eq!(still, on);
    assert!(off > on);
}
