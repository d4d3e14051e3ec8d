//! Which snapshots count, and who is sent to one.

use quorate_raft::rpc::Fetched;
use quorate_raft::{Input, RoleName};
use quorate_types::{Offset, OffsetAndEpoch};

use crate::bench::{Bench, config, written};
use crate::node::voters;
use crate::rules::election;

/// A sole voter whose log holds 42 records, the last of epoch 3, and then its own in epoch 4.
fn leader() -> Bench {
    let mut boot = written(election(3, None, None), &[(1, 0), (3, 20)], 42);
    boot.static_voters = Some(voters(&[1], false));
    let bench = Bench::with(config(), boot);
    assert_eq!(bench.role(), RoleName::Leader);
    assert_eq!(bench.high_watermark(), Some(43));
    bench
}

fn add(bench: &mut Bench, offset: i64, epoch: i32) -> OffsetAndEpoch {
    let id = OffsetAndEpoch::new(offset, epoch);
    bench.input(Input::SnapshotAdded { id, size: 100 });
    id
}

/// What an observer with an empty log is told.
fn told_newcomer(bench: &mut Bench) -> Fetched<std::ops::Range<Offset>> {
    bench
        .fetch(9, 0, 0)
        .expect("there is something for it")
        .body
}

#[test]
fn r19_a_snapshot_is_named_by_where_it_ends_and_the_epoch_of_its_last_record() {
    let mut bench = leader();
    let named = |offset, epoch| {
        bench
            .raft
            .names_snapshot(OffsetAndEpoch::new(offset, epoch))
    };
    assert!(named(42, 3) && named(43, 4) && named(20, 1));
    for (offset, epoch) in [(42, 2), (42, 4), (43, 3), (20, 3), (44, 4), (0, 0), (0, 1)] {
        assert!(!named(offset, epoch), "({offset}, {epoch})");
    }
    add(&mut bench, 42, 4);
    assert!(matches!(told_newcomer(&mut bench), Fetched::Records(_)));
    let id = add(&mut bench, 42, 3);
    assert_eq!(told_newcomer(&mut bench), Fetched::Snapshot(id));
}

#[test]
fn r21_an_empty_follower_of_a_compacted_idle_leader_is_sent_to_the_snapshot_at_once() {
    let mut bench = leader();
    let id = add(&mut bench, 43, 4);
    bench.input(Input::Cleaned {
        log_start: id.offset,
        earliest: id,
    });
    assert_eq!(bench.raft.log_start(), bench.raft.log_end());
    assert_eq!(told_newcomer(&mut bench), Fetched::Snapshot(id));
    assert!(
        bench.fetch(9, 43, 4).is_none(),
        "with it, it has everything"
    );
    assert_eq!(bench.raft.log_end(), Offset(43), "nothing was written");
}

#[test]
fn r23_an_empty_observer_is_sent_to_the_snapshot_although_the_log_has_it_all() {
    let mut bench = leader();
    let id = add(&mut bench, 40, 3);
    assert_eq!(bench.raft.log_start(), Offset(0));
    assert_eq!(told_newcomer(&mut bench), Fetched::Snapshot(id));
}
