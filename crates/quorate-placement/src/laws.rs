//! What is expected of a placer, whoever wrote it, in a form that can be run.
//!
//! [`check`] is for one question, [`check_many`] asks many of random clusters, [`check_balance`] looks
//! at shares over many partitions. The [`Duty`] laws are what the controller relies on. The others
//! say what a good placer does; one with other goals may break them knowingly, by checking
//! [`check_duties`] only.
//!
//! ```
//! use quorate_placement::{laws, StripedPlacer};
//!
//! laws::check_many(&StripedPlacer, 7, 50).unwrap();
//! laws::check_balance(&StripedPlacer, 7).unwrap();
//! ```
//!
//! [`Duty`]: Law

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use quorate_types::{NodeId, Rng};

use crate::placer::{PlacementError, PlacementSpec, ReplicaPlacer, UsableBroker};

/// A law that every placer is expected to keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Law {
    /// Duty: what can be placed is placed, and what cannot is refused for the right reason.
    Refusal,
    /// Duty: as many lists as partitions, as many replicas in each as the factor says.
    Shape,
    /// Duty: a broker holds one replica of a partition.
    Distinct,
    /// Duty: only the brokers given are used.
    Known,
    /// Duty: the first replica, the preferred leader, is not fenced.
    LeaderUnfenced,
    /// Duty: the same seed and brokers give the same answer, in whatever order the brokers come.
    Repeatable,
    /// Quality: racks hold equally many replicas of a partition, as far as they have brokers.
    RacksSpread,
    /// Quality: within a rack a fenced broker is used only when the unfenced ones are.
    UnfencedFirst,
    /// Quality: of many partitions each broker leads and holds its share, in racks of one size.
    Balance,
}

/// A law was broken; says by which question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// Which law.
    pub law: Law,
    /// What the generator was seeded with.
    pub seed: u64,
    /// What was to be placed.
    pub spec: PlacementSpec,
    /// On which brokers.
    pub brokers: Vec<UsableBroker>,
    /// What was seen.
    pub seen: String,
}

impl std::error::Error for Violation {}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Violation { law, seed, .. } = self;
        writeln!(f, "{law:?} is broken: {}", self.seen)?;
        writeln!(f, "seed {seed}, {:?}, on", self.spec)?;
        for broker in &self.brokers {
            let rack = broker.rack.as_deref().unwrap_or("(none)");
            let fenced = if broker.fenced { ", fenced" } else { "" };
            writeln!(f, "  broker {} in rack {rack}{fenced}", broker.id)?;
        }
        Ok(())
    }
}

/// Checks every law but [`Law::Balance`] on one question.
///
/// # Errors
/// The first law that is broken.
pub fn check(
    placer: &dyn ReplicaPlacer,
    seed: u64,
    spec: PlacementSpec,
    brokers: &[UsableBroker],
) -> Result<(), Violation> {
    let question = Question {
        placer,
        seed,
        spec,
        brokers,
    };
    for partition in question.check_duties()? {
        question.check_racks(&partition)?;
    }
    Ok(())
}

/// Checks the laws that are duties on one question.
///
/// # Errors
/// The first law that is broken.
pub fn check_duties(
    placer: &dyn ReplicaPlacer,
    seed: u64,
    spec: PlacementSpec,
    brokers: &[UsableBroker],
) -> Result<(), Violation> {
    let question = Question {
        placer,
        seed,
        spec,
        brokers,
    };
    question.check_duties().map(|_| ())
}

/// Checks every law but [`Law::Balance`] on `cases` random clusters, drawn from `seed`.
///
/// # Errors
/// The first law that is broken.
pub fn check_many(placer: &dyn ReplicaPlacer, seed: u64, cases: usize) -> Result<(), Violation> {
    let mut rng = Rng::new(seed);
    for _ in 0..cases {
        let (spec, brokers) = random_question(&mut rng);
        check(placer, rng.next_u64(), spec, &brokers)?;
    }
    Ok(())
}

/// Checks [`Law::Balance`] on clusters of equal racks: of many partitions each broker leads, and
/// holds, between half and twice the fair share.
///
/// # Errors
/// The first cluster where it is broken.
pub fn check_balance(placer: &dyn ReplicaPlacer, seed: u64) -> Result<(), Violation> {
    const CLUSTERS: [(usize, usize); 6] = [(1, 1), (1, 4), (2, 2), (3, 1), (3, 2), (4, 3)];
    for (racks, rack_brokers) in CLUSTERS {
        let brokers: Vec<UsableBroker> = (0..racks * rack_brokers)
            .map(|index| {
                let rack = format!("rack-{}", index % racks);
                UsableBroker::new(index as i32, Some(&rack))
            })
            .collect();
        for replication_factor in (1..=3).filter(|factor| *factor as usize <= brokers.len()) {
            let spec = PlacementSpec {
                start_partition: 0,
                partitions: 200 * brokers.len() as i32,
                replication_factor,
            };
            let question = Question {
                placer,
                seed,
                spec,
                brokers: &brokers,
            };
            question.check_balance()?;
        }
    }
    Ok(())
}

/// A cluster of up to four racks and nine brokers, some fenced, and something to place on it that is
/// now and then impossible.
fn random_question(rng: &mut Rng) -> (PlacementSpec, Vec<UsableBroker>) {
    let racks = rng.below(5);
    let fenced_one_in = rng.below(5);
    let brokers = (0..rng.below(10)).map(|_| {
        let rack = rng.below(racks + 1);
        UsableBroker {
            id: NodeId(rng.below(1000) as i32),
            rack: (rack > 0).then(|| format!("rack-{rack}")),
            fenced: rng.one_in(fenced_one_in),
        }
    });
    let by_id: BTreeMap<NodeId, UsableBroker> = brokers.map(|broker| (broker.id, broker)).collect();
    let spec = PlacementSpec {
        start_partition: rng.below(3) as i32,
        partitions: rng.below(40) as i32,
        replication_factor: rng.below(6) as i16,
    };
    let mut brokers: Vec<UsableBroker> = by_id.into_values().collect();
    rng.shuffle(&mut brokers);
    (spec, brokers)
}

/// A question to a placer.
struct Question<'a> {
    placer: &'a dyn ReplicaPlacer,
    seed: u64,
    spec: PlacementSpec,
    brokers: &'a [UsableBroker],
}

impl Question<'_> {
    fn check_duties(&self) -> Result<Vec<Vec<NodeId>>, Violation> {
        let answer = self.ask(self.brokers);
        let mut reversed = self.brokers.to_vec();
        reversed.reverse();
        for again in [self.ask(self.brokers), self.ask(&reversed)] {
            let seen = || format!("first {answer:?}, then {again:?}");
            self.hold(Law::Repeatable, again == answer, seen)?;
        }
        let possible = self.spec.validate(self.brokers);
        let seen = || format!("{answer:?} where {possible:?} was right");
        let right = possible.err() == answer.as_ref().err().copied();
        self.hold(Law::Refusal, right, seen)?;
        let placed = answer.unwrap_or_default();
        if let Ok(replicas) = possible {
            let partitions = usize::try_from(self.spec.partitions).unwrap_or(0);
            let seen = || format!("{} partitions", placed.len());
            self.hold(Law::Shape, placed.len() == partitions, seen)?;
            for partition in &placed {
                self.check_partition(partition, replicas)?;
            }
        }
        Ok(placed)
    }

    fn check_partition(&self, partition: &[NodeId], replicas: usize) -> Result<(), Violation> {
        let seen = || format!("a partition on {partition:?}");
        self.hold(Law::Shape, partition.len() == replicas, seen)?;
        let distinct: BTreeSet<&NodeId> = partition.iter().collect();
        self.hold(Law::Distinct, distinct.len() == replicas, seen)?;
        let known = partition.iter().all(|id| self.broker(*id).is_some());
        self.hold(Law::Known, known, seen)?;
        let leader = partition.first().and_then(|id| self.broker(*id));
        let unfenced = leader.is_some_and(|leader| !leader.fenced);
        self.hold(Law::LeaderUnfenced, unfenced, seen)
    }

    fn check_racks(&self, partition: &[NodeId]) -> Result<(), Violation> {
        let seen = || format!("a partition on {partition:?}");
        let racks: BTreeSet<Option<&str>> = self.brokers.iter().map(rack).collect();
        let is_used = |broker: &UsableBroker| partition.contains(&broker.id);
        let mut counts = Vec::new();
        for name in racks {
            let (used, unused): (Vec<_>, Vec<_>) = self
                .brokers
                .iter()
                .filter(|broker| rack(broker) == name)
                .partition(|broker| is_used(broker));
            let fenced_used = used.iter().any(|broker| broker.fenced);
            let unfenced_unused = unused.iter().any(|broker| !broker.fenced);
            self.hold(Law::UnfencedFirst, !(fenced_used && unfenced_unused), seen)?;
            counts.push((used.len(), unused.len()));
        }
        let most = counts.iter().map(|(used, _)| *used).max().unwrap_or(0);
        let spread = counts
            .iter()
            .all(|(used, unused)| *unused == 0 || used + 1 >= most);
        self.hold(Law::RacksSpread, spread, seen)
    }

    fn check_balance(&self) -> Result<(), Violation> {
        let placed = self.ask(self.brokers).unwrap_or_default();
        let leaders = placed.iter().filter_map(|partition| partition.first());
        self.check_shares("leads", leaders)?;
        self.check_shares("holds", placed.iter().flatten())
    }

    fn check_shares<'a>(
        &self,
        verb: &str,
        ids: impl Iterator<Item = &'a NodeId>,
    ) -> Result<(), Violation> {
        let mut shares: BTreeMap<NodeId, usize> =
            self.brokers.iter().map(|broker| (broker.id, 0)).collect();
        let mut total = 0;
        for id in ids {
            *shares.entry(*id).or_default() += 1;
            total += 1;
        }
        let fair = total / self.brokers.len().max(1);
        for (id, share) in shares {
            let seen = || format!("broker {id} {verb} {share} where {fair} were fair");
            let balanced = share * 2 >= fair && share <= fair * 2 && fair > 0;
            self.hold(Law::Balance, balanced, seen)?;
        }
        Ok(())
    }

    fn ask(&self, brokers: &[UsableBroker]) -> Result<Vec<Vec<NodeId>>, PlacementError> {
        let mut rng = Rng::new(self.seed);
        self.placer.place(&mut rng, self.spec, brokers)
    }

    fn broker(&self, id: NodeId) -> Option<&UsableBroker> {
        self.brokers.iter().find(|broker| broker.id == id)
    }

    fn hold(&self, law: Law, held: bool, seen: impl Fn() -> String) -> Result<(), Violation> {
        if held {
            return Ok(());
        }
        Err(Violation {
            law,
            seed: self.seed,
            spec: self.spec,
            brokers: self.brokers.to_vec(),
            seen: seen(),
        })
    }
}

fn rack(broker: &UsableBroker) -> Option<&str> {
    broker.rack.as_deref()
}
