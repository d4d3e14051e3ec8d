//! A placer of one's own: leaders live in the rack where the producers are.
//!
//! `cargo run --example custom_placer`
//!
//! The placer keeps every duty that the controller relies on, and spreads replicas over racks. It
//! breaks one law knowingly: brokers outside the home rack lead nothing. The laws say so, and the
//! charts show it.

use std::collections::BTreeMap;

use quorate_placement::{
    PlacementError, PlacementSpec, ReplicaPlacer, StripedPlacer, UsableBroker, laws,
};
use quorate_types::{NodeId, Rng};

/// Leaders in one rack while it has an unfenced broker; the other replicas round the racks; among
/// equals whoever holds least.
struct HomeRack {
    home: &'static str,
}

/// How many partitions a broker leads and holds so far, and its place in the queue of equals.
#[derive(Clone, Copy, Default)]
struct Load {
    leads: usize,
    holds: usize,
    rank: usize,
}

impl ReplicaPlacer for HomeRack {
    fn place(
        &self,
        rng: &mut Rng,
        spec: PlacementSpec,
        brokers: &[UsableBroker],
    ) -> Result<Vec<Vec<NodeId>>, PlacementError> {
        let replicas = spec.validate(brokers)?;
        // By id, so that the order in which the brokers are given does not matter.
        let mut loads: BTreeMap<NodeId, Load> = brokers
            .iter()
            .map(|broker| (broker.id, Load::default()))
            .collect();
        let mut placed = Vec::new();
        for _ in 0..spec.partitions {
            draw_ranks(rng, &mut loads);
            let mut partition: Vec<NodeId> = Vec::new();
            while partition.len() < replicas {
                let free = brokers
                    .iter()
                    .filter(|broker| !partition.contains(&broker.id));
                let next = free.min_by_key(|broker| {
                    self.price(broker, loads[&broker.id], &partition, brokers)
                });
                let Some(next) = next else { break };
                if let Some(load) = loads.get_mut(&next.id) {
                    load.leads += usize::from(partition.is_empty());
                    load.holds += 1;
                }
                partition.push(next.id);
            }
            placed.push(partition);
        }
        Ok(placed)
    }
}

impl HomeRack {
    /// What it costs to put the next replica on a broker, the weightiest concern first.
    fn price(
        &self,
        broker: &UsableBroker,
        load: Load,
        partition: &[NodeId],
        brokers: &[UsableBroker],
    ) -> impl Ord + use<> {
        let leads = partition.is_empty();
        let away = broker.rack.as_deref() != Some(self.home);
        let neighbours = brokers.iter().filter(|other| other.rack == broker.rack);
        let crowd = neighbours
            .filter(|other| partition.contains(&other.id))
            .count();
        let burden = if leads { load.leads } else { load.holds };
        (
            leads && broker.fenced,
            leads && away,
            crowd,
            broker.fenced,
            burden,
            load.rank,
        )
    }
}

/// Brokers with equal loads take turns by chance.
fn draw_ranks(rng: &mut Rng, loads: &mut BTreeMap<NodeId, Load>) {
    let mut ranks: Vec<usize> = (0..loads.len()).collect();
    rng.shuffle(&mut ranks);
    for (load, rank) in loads.values_mut().zip(ranks) {
        load.rank = rank;
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let home_rack = HomeRack { home: "rack-1" };
    let brokers: Vec<UsableBroker> = (1..=6)
        .map(|id| UsableBroker::new(id, Some(&format!("rack-{}", (id + 1) / 2))))
        .collect();
    show("Kafka's stripes", &StripedPlacer, &brokers)?;
    show("Leaders at home", &home_rack, &brokers)?;

    println!("The laws, for leaders at home:");
    laws::check_many(&home_rack, 1, 500)?;
    println!("  kept on 500 random clusters: duties, spread over racks, unfenced first");
    match laws::check_balance(&home_rack, 1) {
        Ok(()) => println!("  kept: balance"),
        Err(violation) => println!(
            "  broken knowingly: {:?}, {}",
            violation.law, violation.seen
        ),
    }
    Ok(())
}

/// Prints where a topic's partitions go and what that makes of each broker.
fn show(
    name: &str,
    placer: &dyn ReplicaPlacer,
    brokers: &[UsableBroker],
) -> Result<(), PlacementError> {
    let spec = PlacementSpec {
        start_partition: 0,
        partitions: 12,
        replication_factor: 3,
    };
    let placed = placer.place(&mut Rng::new(42), spec, brokers)?;
    println!("{name}: 12 partitions, 3 replicas, the leader in brackets\n");
    println!("             partition");
    for broker in brokers {
        let mark = |partition: &Vec<NodeId>| match partition.iter().position(|id| *id == broker.id)
        {
            Some(0) => "[#]",
            Some(_) => " # ",
            None => " . ",
        };
        let row: String = placed.iter().map(mark).collect();
        let rack = broker.rack.as_deref().unwrap_or("-");
        println!("  {} {rack}  {row}", broker.id);
    }
    println!();
    Ok(())
}
