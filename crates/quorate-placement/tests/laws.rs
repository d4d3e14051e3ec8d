//! The laws catch who breaks them.

use quorate_placement::laws::{self, Law};
use quorate_placement::{
    PlacementError, PlacementSpec, ReplicaPlacer, StripedPlacer, UsableBroker,
};
use quorate_types::{NodeId, Rng};

/// A placer that spoils what the striped one answers.
struct Spoilt<F>(F);

impl<F: Fn(&mut Vec<Vec<NodeId>>, &[UsableBroker])> ReplicaPlacer for Spoilt<F> {
    fn place(
        &self,
        rng: &mut Rng,
        spec: PlacementSpec,
        brokers: &[UsableBroker],
    ) -> Result<Vec<Vec<NodeId>>, PlacementError> {
        let mut placed = StripedPlacer.place(rng, spec, brokers)?;
        (self.0)(&mut placed, brokers);
        Ok(placed)
    }
}

fn broken_by(spoil: impl Fn(&mut Vec<Vec<NodeId>>, &[UsableBroker])) -> Law {
    let violation = laws::check_many(&Spoilt(spoil), 1, 200).unwrap_err();
    assert!(
        violation
            .to_string()
            .contains(&format!("{:?}", violation.law))
    );
    violation.law
}

#[test]
fn a_missing_partition_is_noticed() {
    assert_eq!(broken_by(|placed, _| drop(placed.pop())), Law::Shape);
}

#[test]
fn a_missing_replica_is_noticed() {
    let spoil = |placed: &mut Vec<Vec<NodeId>>, _: &[UsableBroker]| {
        for partition in placed {
            partition.pop();
        }
    };
    assert_eq!(broken_by(spoil), Law::Shape);
}

#[test]
fn a_replica_given_twice_is_noticed() {
    let spoil = |placed: &mut Vec<Vec<NodeId>>, _: &[UsableBroker]| {
        for partition in placed {
            let leader = partition[0];
            partition.fill(leader);
        }
    };
    assert_eq!(broken_by(spoil), Law::Distinct);
}

#[test]
fn a_stranger_is_noticed() {
    let spoil = |placed: &mut Vec<Vec<NodeId>>, _: &[UsableBroker]| {
        placed
            .iter_mut()
            .for_each(|partition| partition[0] = NodeId(5000));
    };
    assert_eq!(broken_by(spoil), Law::Known);
}

#[test]
fn a_fenced_leader_is_noticed() {
    let spoil = |placed: &mut Vec<Vec<NodeId>>, brokers: &[UsableBroker]| {
        for partition in placed {
            let fenced = |id: &NodeId| brokers.iter().any(|b| b.id == *id && b.fenced);
            partition.sort_by_key(|id| !fenced(id));
        }
    };
    assert_eq!(broken_by(spoil), Law::LeaderUnfenced);
}

#[test]
fn a_dependence_on_the_order_of_brokers_is_noticed() {
    struct AsTheyCome;
    impl ReplicaPlacer for AsTheyCome {
        fn place(
            &self,
            _rng: &mut Rng,
            spec: PlacementSpec,
            brokers: &[UsableBroker],
        ) -> Result<Vec<Vec<NodeId>>, PlacementError> {
            let replicas = spec.validate(brokers)?;
            let ids = brokers.iter().filter(|broker| !broker.fenced);
            let ids: Vec<NodeId> = ids.map(|broker| broker.id).take(replicas).collect();
            Ok((0..spec.partitions).map(|_| ids.clone()).collect())
        }
    }
    let violation = laws::check_many(&AsTheyCome, 1, 200).unwrap_err();
    assert_eq!(violation.law, Law::Repeatable);
}

#[test]
fn a_wrong_refusal_is_noticed() {
    struct Never;
    impl ReplicaPlacer for Never {
        fn place(
            &self,
            _rng: &mut Rng,
            _spec: PlacementSpec,
            _brokers: &[UsableBroker],
        ) -> Result<Vec<Vec<NodeId>>, PlacementError> {
            Err(PlacementError::AllFenced)
        }
    }
    let violation = laws::check_many(&Never, 1, 200).unwrap_err();
    assert_eq!(violation.law, Law::Refusal);
}

/// Sorts unfenced brokers first and takes them from the front: a full rack before the next.
struct RackByRack;

impl ReplicaPlacer for RackByRack {
    fn place(
        &self,
        _rng: &mut Rng,
        spec: PlacementSpec,
        brokers: &[UsableBroker],
    ) -> Result<Vec<Vec<NodeId>>, PlacementError> {
        let replicas = spec.validate(brokers)?;
        let mut sorted = brokers.to_vec();
        sorted.sort_by_key(|broker| (broker.fenced, broker.rack.clone(), broker.id));
        let ids: Vec<NodeId> = sorted
            .iter()
            .map(|broker| broker.id)
            .take(replicas)
            .collect();
        Ok((0..spec.partitions).map(|_| ids.clone()).collect())
    }
}

#[test]
fn a_crowded_rack_is_noticed_but_no_breach_of_duty() {
    let brokers =
        [(0, "a"), (1, "a"), (2, "b")].map(|(id, rack)| UsableBroker::new(id, Some(rack)));
    let spec = PlacementSpec {
        start_partition: 0,
        partitions: 3,
        replication_factor: 2,
    };
    laws::check_duties(&RackByRack, 1, spec, &brokers).unwrap();
    let violation = laws::check(&RackByRack, 1, spec, &brokers).unwrap_err();
    assert_eq!(violation.law, Law::RacksSpread);
}

#[test]
fn a_fenced_broker_before_an_unfenced_one_is_noticed() {
    let spoil = |placed: &mut Vec<Vec<NodeId>>, brokers: &[UsableBroker]| {
        for partition in placed {
            let spare = |broker: &&UsableBroker| broker.fenced && !partition.contains(&broker.id);
            let rack = |id: NodeId| brokers.iter().find(|b| b.id == id).map(|b| &b.rack);
            let Some(spare) = brokers.iter().find(spare) else {
                continue;
            };
            let neighbour = |id: &NodeId| rack(*id) == Some(&spare.rack);
            if let Some(at) = partition.iter().skip(1).position(neighbour) {
                partition[at + 1] = spare.id;
            }
        }
    };
    assert_eq!(broken_by(spoil), Law::UnfencedFirst);
}

#[test]
fn a_favourite_is_noticed() {
    let violation = laws::check_balance(&RackByRack, 1).unwrap_err();
    assert_eq!(violation.law, Law::Balance);
}
