//! One seed from its start to its verdict.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use quorate_types::{NodeId, Offset, Rng};

use crate::check::Unsettled;
use crate::counts::Counts;
use crate::faults::pause;
use crate::history::History;
use crate::machine::Role;
use crate::spec::Spec;
use crate::violation::{Verdict, Violation};
use crate::world::World;

/// How long the cluster works in peace before the faults begin, at most.
const WARM_UP: Duration = Duration::from_secs(20);

/// How long the cluster has to settle after the faults.
const SETTLE: Duration = Duration::from_secs(60);

/// How often it is looked at while it settles.
const LOOK: Duration = Duration::from_millis(100);

/// What to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// How many faults.
    pub steps: u32,
    /// Whether to keep the history as lines.
    pub trace: bool,
    /// How many brokers; by the seed if not said.
    pub brokers: Option<usize>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            steps: 8,
            trace: false,
            brokers: None,
        }
    }
}

/// What came of one seed.
#[derive(Debug, Clone)]
pub struct Report {
    /// The seed.
    pub seed: u64,
    /// The law that did not hold, if any.
    pub violation: Option<Violation>,
    /// Stands for everything that happened.
    pub history: u64,
    /// The virtual time that passed.
    pub time: Duration,
    /// The time that the cluster took to settle, if it did.
    pub settled_after: Option<Duration>,
    /// How many records were committed.
    pub committed: Offset,
    /// How many epochs had a leader.
    pub epochs: usize,
    /// How many changes clients saw done.
    pub acknowledged: usize,
    /// What happened, counted.
    pub counts: Counts,
    /// The history, if it was to be kept.
    pub lines: Vec<String>,
}

/// Runs one seed.
pub fn run(seed: u64, options: Options) -> Report {
    let mut rng = Rng::new(seed);
    let spec = Spec::draw(&mut rng, options.brokers);
    let mut world = match World::new(spec, rng, History::new(options.trace)) {
        Ok(world) => world,
        Err((violation, history)) => return stillborn(seed, violation, history),
    };
    let mut settled_after = None;
    let played = catch_unwind(AssertUnwindSafe(|| {
        play(&mut world, options, &mut settled_after)
    }));
    let violation = match played {
        Ok(verdict) => verdict.err(),
        Err(panic) => Some(Violation::new("nothing panics", panic_text(&*panic))),
    };
    Report {
        seed,
        violation,
        history: world.history.hash(),
        time: world.now.since(quorate_types::MonoTime::ZERO),
        settled_after,
        committed: world.checks.committed_end(),
        epochs: world.checks.epochs_led(),
        acknowledged: world.checks.acknowledged(),
        counts: world.counts,
        lines: world.history.into_lines(),
    }
}

fn stillborn(seed: u64, violation: Violation, history: History) -> Report {
    Report {
        seed,
        violation: Some(violation),
        history: history.hash(),
        time: Duration::ZERO,
        settled_after: None,
        committed: Offset::ZERO,
        epochs: 0,
        acknowledged: 0,
        counts: Counts::default(),
        lines: history.into_lines(),
    }
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("a panic")
        .to_owned()
}

/// The faults, and then the time to settle.
fn play(world: &mut World, options: Options, settled_after: &mut Option<Duration>) -> Verdict {
    // Most runs begin with a cluster that works; some disturb it from its birth on.
    if !world.rng.one_in(5) {
        settle(world, WARM_UP)?;
    }
    for _ in 0..options.steps {
        world.disturb()?;
        let pause = pause(&mut world.rng);
        world.run_for(pause)?;
    }
    world.mend()?;
    *settled_after = Some(settle(world, SETTLE)?);
    world.checks.everything_acknowledged()
}

/// Runs until the cluster works and everybody has seen it; says how long that took.
fn settle(world: &mut World, within: Duration) -> Result<Duration, Violation> {
    let start = world.now;
    let creates = world.checks.creates();
    let mut target = None;
    loop {
        let missing = missing(world, creates, &mut target);
        let Some(missing) = missing else {
            return Ok(world.now.since(start));
        };
        if world.now.since(start) >= within {
            let detail = format!("after {} s: {missing}", within.as_secs());
            return Err(Violation::new("what is mended works again", detail));
        }
        world.run_for(LOOK)?;
        restart_stopped(world)?;
    }
}

/// A node that was told to stop before all was mended may end only now.
fn restart_stopped(world: &mut World) -> Verdict {
    let stopped = |id: &NodeId| {
        let machine = &world.machines[id];
        machine.role != Role::Client && machine.process.is_none()
    };
    let down: Vec<NodeId> = world.machines.keys().copied().filter(stopped).collect();
    match down.is_empty() {
        true => Ok(()),
        false => world.mend(),
    }
}

/// What the cluster still lacks. `target` is where the log ended when it first worked.
fn missing(world: &World, creates: usize, target: &mut Option<Offset>) -> Option<Unsettled> {
    let nodes = || {
        world
            .machines
            .values()
            .filter(|machine| machine.role != Role::Client)
    };
    let ids = || nodes().map(|machine| machine.id);
    if let Some(down) = nodes().find(|machine| machine.process.is_none()) {
        return Some(Unsettled::Down(down.id));
    }
    let active = |machine: &&crate::machine::Machine| {
        machine
            .process
            .as_ref()
            .is_some_and(|process| process.is_active())
    };
    if nodes().find(active).is_none() {
        return Some(Unsettled::NoActive);
    }
    if world.checks.creates() == creates {
        return Some(Unsettled::NoCreate);
    }
    let brokers = nodes().filter(|machine| matches!(machine.role, Role::Broker(_)));
    if let Some(fenced) = world
        .checks
        .fenced(brokers.map(|machine| (machine.id, machine.incarnation)))
    {
        return Some(fenced);
    }
    if let Some(unserved) = world.checks.unserved() {
        return Some(unserved);
    }
    let target = *target.get_or_insert(world.checks.committed_end());
    world.checks.behind(ids(), target)
}
