//! The striped placer: Kafka's behaviour, and the laws.

use std::collections::BTreeSet;

use proptest::prelude::*;
use quorate_placement::{
    PlacementError, PlacementSpec, ReplicaPlacer, StripedPlacer, UsableBroker, laws,
};
use quorate_types::{NodeId, Rng};

fn spec(partitions: i32, replication_factor: i16) -> PlacementSpec {
    PlacementSpec {
        start_partition: 0,
        partitions,
        replication_factor,
    }
}

fn place(
    seed: u64,
    spec: PlacementSpec,
    brokers: &[UsableBroker],
) -> Result<Vec<Vec<i32>>, PlacementError> {
    let placed = StripedPlacer.place(&mut Rng::new(seed), spec, brokers)?;
    let ids = |partition: Vec<NodeId>| partition.into_iter().map(|id| id.0).collect();
    Ok(placed.into_iter().map(ids).collect())
}

fn fenced(broker: UsableBroker) -> UsableBroker {
    UsableBroker {
        fenced: true,
        ..broker
    }
}

#[test]
fn what_cannot_be_placed_is_refused() {
    let brokers = [
        UsableBroker::new(0, None),
        fenced(UsableBroker::new(1, None)),
    ];
    let refused = |spec, brokers: &[UsableBroker]| place(1, spec, brokers).unwrap_err();
    for replication_factor in [0, -1, i16::MIN] {
        assert_eq!(
            refused(spec(1, replication_factor), &brokers),
            PlacementError::NotPositive { replication_factor }
        );
    }
    assert_eq!(
        refused(spec(1, 1), &brokers[1..]),
        PlacementError::AllFenced
    );
    assert_eq!(refused(spec(1, 1), &[]), PlacementError::AllFenced);
    assert_eq!(
        refused(spec(1, 3), &brokers),
        PlacementError::TooFewBrokers {
            replication_factor: 3,
            brokers: 2
        }
    );
}

#[test]
fn no_partitions_need_no_places() {
    let brokers = [UsableBroker::new(0, None)];
    assert_eq!(place(1, spec(0, 1), &brokers), Ok(vec![]));
    assert_eq!(place(1, spec(-3, 1), &brokers), Ok(vec![]));
}

#[test]
fn one_rack_rotates_its_brokers() {
    let brokers = [0, 1, 2, 3].map(|id| UsableBroker::new(id, None));
    for seed in 0..20 {
        let placed = place(seed, spec(4, 3), &brokers).unwrap();
        let first = placed[0][0];
        for (step, partition) in placed.iter().enumerate() {
            let expected = [0, 1, 2].map(|next| (first + step as i32 + next) % 4);
            assert_eq!(*partition, expected, "seed {seed}");
        }
    }
}

#[test]
fn the_first_leader_is_drawn_by_chance() {
    let brokers = [0, 1, 2, 3].map(|id| UsableBroker::new(id, None));
    let first = |seed| place(seed, spec(1, 1), &brokers).unwrap()[0][0];
    let leaders: BTreeSet<i32> = (0..50).map(first).collect();
    assert_eq!(leaders, BTreeSet::from([0, 1, 2, 3]));
}

#[test]
fn after_a_round_the_order_changes() {
    let brokers = [0, 1, 2, 3].map(|id| UsableBroker::new(id, None));
    let repeats = |seed| {
        let placed = place(seed, spec(8, 3), &brokers).unwrap();
        placed[..4] == placed[4..]
    };
    let repeats = (0..100).filter(|seed| repeats(*seed)).count();
    assert!(
        repeats < 20,
        "{repeats} of 100 rounds are like the one before"
    );
}

#[test]
fn racks_take_turns_in_leading() {
    let brokers =
        [(0, "a"), (1, "b"), (2, "c")].map(|(id, rack)| UsableBroker::new(id, Some(rack)));
    let placed = place(5, spec(3, 3), &brokers).unwrap();
    let first = placed[0][0];
    for (step, partition) in placed.iter().enumerate() {
        let expected = [0, 1, 2].map(|next| (first + step as i32 + next) % 3);
        assert_eq!(*partition, expected);
    }
}

#[test]
fn brokers_without_a_rack_are_a_rack() {
    let brokers = [
        UsableBroker::new(0, None),
        UsableBroker::new(1, None),
        UsableBroker::new(2, Some("a")),
    ];
    for partition in place(3, spec(30, 2), &brokers).unwrap() {
        assert!(partition.contains(&2), "both in the nameless rack");
    }
}

#[test]
fn a_fenced_broker_follows_when_its_rack_has_no_other() {
    let brokers = [
        UsableBroker::new(0, Some("a")),
        UsableBroker::new(1, Some("b")),
        fenced(UsableBroker::new(2, Some("c"))),
        fenced(UsableBroker::new(3, Some("b"))),
    ];
    for partition in place(3, spec(30, 3), &brokers).unwrap() {
        assert_ne!(partition[0], 2, "a fenced leader");
        let replicas: BTreeSet<i32> = partition.into_iter().collect();
        assert_eq!(replicas, BTreeSet::from([0, 1, 2]));
    }
}

#[test]
fn a_full_cluster_is_used_to_the_last_broker() {
    let brokers = [
        UsableBroker::new(0, Some("a")),
        UsableBroker::new(1, Some("b")),
        fenced(UsableBroker::new(2, Some("b"))),
        fenced(UsableBroker::new(3, Some("b"))),
        fenced(UsableBroker::new(4, None)),
    ];
    for mut partition in place(9, spec(200, 5), &brokers).unwrap() {
        partition.sort_unstable();
        assert_eq!(partition, [0, 1, 2, 3, 4]);
    }
}

#[test]
fn the_stripes_are_balanced() {
    for seed in 0..10 {
        laws::check_balance(&StripedPlacer, seed).unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_laws_hold_on_random_clusters(seed: u64) {
        if let Err(violation) = laws::check_many(&StripedPlacer, seed, 20) {
            prop_assert!(false, "{violation}");
        }
    }

    /// Any ids, racks and factors, not only those that `check_many` draws.
    #[test]
    fn the_laws_hold_on_any_question(
        seed: u64,
        brokers in prop::collection::btree_map(0..10_000i32, (0..6u8, any::<bool>()), 0..20),
        partitions in -1..60i32,
        replication_factor in -1..12i16,
    ) {
        let brokers: Vec<UsableBroker> = brokers
            .into_iter()
            .map(|(id, (rack, fenced))| UsableBroker {
                id: NodeId(id),
                rack: (rack > 0).then(|| rack.to_string()),
                fenced,
            })
            .collect();
        let spec = spec(partitions, replication_factor);
        if let Err(violation) = laws::check(&StripedPlacer, seed, spec, &brokers) {
            prop_assert!(false, "{violation}");
        }
    }
}
