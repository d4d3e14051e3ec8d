//! Kafka's placement: stripes across racks, and across the brokers of each rack.
//!
//! Goals, the first first:
//! 1. Leaders are unfenced brokers.
//! 2. The replicas of a partition are spread over as many racks as there are, and evenly.
//! 3. Within a rack unfenced brokers go before fenced ones.
//! 4. Over many partitions every broker gets the same share, if the racks are of one size.
//!
//! How:
//! - The brokers without a rack form a rack of their own, which sorts first.
//! - Each rack deals its unfenced and its fenced brokers like two decks of cards. For each partition
//!   a deck starts anew, one card further than for the partition before.
//! - The leader comes from the next rack that has an unfenced broker; the others go round all racks,
//!   passing over the leader's the first time.
//! - Where the dealing starts is chance, so that small topics do not all lie on the same brokers; and
//!   after as many partitions as there are unfenced brokers everything is shuffled, so that the same
//!   neighbours do not meet for ever.
//!
//! Racks of different sizes get equal shares, so a broker in a small rack gets more. With racks and
//! brokers a rack having a common divisor, leaders repeat within one round; the shuffle evens it out.

use std::collections::BTreeMap;

use quorate_types::{NodeId, Rng};

use crate::placer::{PlacementError, PlacementSpec, ReplicaPlacer, UsableBroker};

/// Places replicas in stripes, as Kafka's controller does.
///
/// ```
/// use quorate_placement::{PlacementSpec, ReplicaPlacer, StripedPlacer, UsableBroker};
/// use quorate_types::Rng;
///
/// let brokers = [(0, "a"), (1, "a"), (2, "b"), (3, "b")]
///     .map(|(id, rack)| UsableBroker::new(id, Some(rack)));
/// let spec = PlacementSpec { start_partition: 0, partitions: 8, replication_factor: 2 };
/// let placed = StripedPlacer.place(&mut Rng::new(1), spec, &brokers).unwrap();
/// // Each partition has one replica in rack a (0, 1) and one in rack b (2, 3).
/// assert!(placed.iter().all(|replicas| replicas.iter().filter(|id| id.0 < 2).count() == 1));
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct StripedPlacer;

impl ReplicaPlacer for StripedPlacer {
    fn place(
        &self,
        rng: &mut Rng,
        spec: PlacementSpec,
        brokers: &[UsableBroker],
    ) -> Result<Vec<Vec<NodeId>>, PlacementError> {
        let replicas = spec.validate(brokers)?;
        let mut stripes = Stripes::new(rng, brokers);
        let partitions = 0..spec.partitions;
        Ok(partitions.map(|_| stripes.next(rng, replicas)).collect())
    }
}

/// The racks in the order in which they are visited.
struct Stripes {
    racks: Vec<Rack>,
    /// The rack where the next partition starts.
    offset: usize,
    /// The partitions placed since the last shuffle.
    epoch: usize,
    unfenced: usize,
}

impl Stripes {
    fn new(rng: &mut Rng, brokers: &[UsableBroker]) -> Stripes {
        let mut by_rack: BTreeMap<Option<&str>, [Vec<NodeId>; 2]> = BTreeMap::new();
        for broker in brokers {
            let decks = by_rack.entry(broker.rack.as_deref()).or_default();
            decks[usize::from(broker.fenced)].push(broker.id);
        }
        let racks = by_rack.into_values().map(|[unfenced, fenced]| Rack {
            fenced: Deck::new(rng, fenced),
            unfenced: Deck::new(rng, unfenced),
        });
        let racks: Vec<Rack> = racks.collect();
        Stripes {
            offset: rng.index(racks.len()),
            racks,
            epoch: 0,
            unfenced: brokers.iter().filter(|broker| !broker.fenced).count(),
        }
    }

    /// The replicas of the next partition.
    ///
    /// Ends because some broker is unfenced and there are at least as many brokers as `replicas`.
    fn next(&mut self, rng: &mut Rng, replicas: usize) -> Vec<NodeId> {
        if self.epoch == self.unfenced && self.unfenced > 1 {
            self.shuffle(rng);
        }
        let racks = self.racks.len();
        let mut placed = Vec::with_capacity(replicas);
        let mut leader_rack = self.offset;
        while placed.is_empty() {
            match self.racks[leader_rack].unfenced.next(self.epoch) {
                Some(leader) => placed.push(leader),
                None => leader_rack = (leader_rack + 1) % racks,
            }
        }
        let mut rack = self.offset;
        let mut pass_over = Some(leader_rack);
        while placed.len() < replicas {
            if pass_over == Some(rack) {
                pass_over = None;
            } else {
                placed.extend(self.racks[rack].next(self.epoch));
            }
            rack = (rack + 1) % racks;
        }
        self.epoch += 1;
        self.offset = (self.offset + 1) % racks;
        placed
    }

    fn shuffle(&mut self, rng: &mut Rng) {
        rng.shuffle(&mut self.racks);
        for rack in &mut self.racks {
            rack.fenced.shuffle(rng);
            rack.unfenced.shuffle(rng);
        }
        self.epoch = 0;
    }
}

/// The brokers of a rack.
struct Rack {
    fenced: Deck,
    unfenced: Deck,
}

impl Rack {
    fn next(&mut self, epoch: usize) -> Option<NodeId> {
        let unfenced = self.unfenced.next(epoch);
        unfenced.or_else(|| self.fenced.next(epoch))
    }
}

/// Brokers that are dealt one after the other, each once an epoch.
struct Deck {
    brokers: Vec<NodeId>,
    /// Where the dealing starts in this epoch.
    offset: usize,
    /// How many have been dealt in this epoch.
    dealt: usize,
    /// The epoch of the last deal; `None` after a shuffle, when whatever comes next is new.
    epoch: Option<usize>,
}

impl Deck {
    fn new(rng: &mut Rng, mut brokers: Vec<NodeId>) -> Deck {
        brokers.sort_unstable();
        Deck {
            offset: rng.index(brokers.len()),
            brokers,
            dealt: 0,
            epoch: Some(0),
        }
    }

    fn next(&mut self, epoch: usize) -> Option<NodeId> {
        if self.brokers.is_empty() {
            return None;
        }
        if self.epoch != Some(epoch) {
            self.epoch = Some(epoch);
            self.dealt = 0;
            self.offset = (self.offset + 1) % self.brokers.len();
        }
        if self.dealt == self.brokers.len() {
            return None;
        }
        let next = (self.offset + self.dealt) % self.brokers.len();
        self.dealt += 1;
        self.brokers.get(next).copied()
    }

    fn shuffle(&mut self, rng: &mut Rng) {
        rng.shuffle(&mut self.brokers);
        self.epoch = None;
    }
}
