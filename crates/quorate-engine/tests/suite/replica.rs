//! The replica: transactions, gaps, and all or nothing.

use proptest::prelude::*;
use quorate_engine::{ApplyError, Batch, Bracket, Replica};
use quorate_types::{Epoch, Offset, OffsetAndEpoch, WallTime};

use crate::histories::read_plainly;
use crate::lease::{LeaseService, Leases, Misfit, Record};
use crate::rig::granted;

fn batches(lengths: &[usize], records: &[Record]) -> Vec<Batch<Record>> {
    let mut rest = records;
    let mut base = Offset(0);
    let mut batches = Vec::new();
    for length in lengths {
        let (now, later) = rest.split_at((*length).min(rest.len()));
        rest = later;
        let batch = match now {
            [] => Batch::control(base, base + 1, Epoch(1), WallTime(base.0)),
            _ => Batch::data(base, Epoch(1), WallTime(base.0), now.to_vec()),
        };
        base = batch.end;
        batches.push(batch);
    }
    batches
}

fn names(state: &Leases) -> String {
    state.held.keys().map(String::as_str).collect()
}

/// [A, Begin, B] [C, End, D], or with Abort for End.
fn two_batches(close: Record) -> Vec<Batch<Record>> {
    let lease = |name| granted(name, 1);
    let records = [
        vec![lease("a"), Record::Begin, lease("b")],
        vec![lease("c"), close, lease("d")],
    ];
    batches(&[3, 3], &records.concat())
}

#[test]
fn a_transaction_over_two_batches_becomes_visible_with_its_end() {
    let mut replica = Replica::<LeaseService>::new();
    let batches = two_batches(Record::End);
    replica.apply_batch(&batches[0]).unwrap();
    assert_eq!(
        (names(replica.stable().0).as_str(), replica.stable().1),
        ("a", Offset(1))
    );
    assert!(replica.snapshot().is_none());
    replica.apply_batch(&batches[1]).unwrap();
    assert_eq!(names(replica.stable().0), "abcd");
    let (_, end, at) = replica.snapshot().unwrap();
    assert_eq!((end, at), (OffsetAndEpoch::new(6, 1), WallTime(3)));
}

#[test]
fn an_aborted_transaction_is_forgotten_however_it_is_committed() {
    let batches = two_batches(Record::Abort);
    let mut apart = Replica::<LeaseService>::new();
    apart.apply_batch(&batches[0]).unwrap();
    apart.apply_batch(&batches[1]).unwrap();
    let mut together = Replica::<LeaseService>::new();
    together.apply_batches(&batches).unwrap();
    assert_eq!(names(apart.stable().0), "ad");
    assert_eq!(names(together.stable().0), "ad");
}

#[test]
fn brackets_that_do_not_match_are_refused() {
    let refused = |records: &[Record]| {
        let mut replica = Replica::<LeaseService>::new();
        replica
            .apply_batches(&batches(&[records.len()], records))
            .unwrap_err()
    };
    let error = |at: i64, bracket, open: Option<i64>| ApplyError::Bracket {
        at: Offset(at),
        bracket,
        open: open.map(Offset),
    };
    assert_eq!(refused(&[Record::End]), error(0, Bracket::End, None));
    assert_eq!(refused(&[Record::Abort]), error(0, Bracket::Abort, None));
    let twice = [Record::Begin, Record::Begin];
    assert_eq!(refused(&twice), error(1, Bracket::Begin, Some(0)));
}

#[test]
fn a_call_that_fails_changes_nothing() {
    let mut replica = Replica::<LeaseService>::new();
    let good = batches(&[2], &[granted("a", 1), Record::Begin]);
    replica.apply_batches(&good).unwrap();
    let twice = vec![granted("b", 1), Record::End, granted("b", 2)];
    let bad = Batch::data(Offset(2), Epoch(2), WallTime(9), twice);
    let error = replica.apply_batch(&bad).unwrap_err();
    let at = Offset(4);
    let misfit = Misfit::Held;
    assert_eq!(error, ApplyError::Misfit { at, misfit });
    assert_eq!(replica.end(), Offset(2));
    assert_eq!(replica.transaction(), Some(Offset(1)));
    assert_eq!(names(replica.stable().0), "a");
}

#[test]
fn batches_have_to_continue_the_log() {
    let mut replica = Replica::<LeaseService>::new();
    let all = batches(&[1, 0, 1], &[granted("a", 1), granted("b", 1)]);
    let gap = replica.apply_batch(&all[1]).unwrap_err();
    assert!(matches!(
        gap,
        ApplyError::Gap {
            expected: Offset(0),
            base: Offset(1),
            ..
        }
    ));
    replica.apply_batches(&all).unwrap();
    replica.apply_batches(&all).unwrap(); // what is known already is passed over
    assert_eq!(replica.stable().1, Offset(3));
    let mut short = Batch::data(Offset(3), Epoch(1), WallTime(1), vec![granted("c", 1)]);
    short.end = Offset(5);
    let shape = replica.apply_batch(&short).unwrap_err();
    assert!(matches!(shape, ApplyError::Shape { records: 1, .. }));
    let half_known = Batch::data(Offset(2), Epoch(1), WallTime(1), vec![granted("c", 1); 2]);
    let gap = replica.apply_batch(&half_known).unwrap_err();
    assert!(matches!(gap, ApplyError::Gap { .. }));
}

#[test]
fn a_snapshot_takes_the_place_of_the_log_before_it() {
    let mut source = Replica::<LeaseService>::new();
    let all = batches(&[2, 0], &[granted("a", 1), granted("b", 1)]);
    source.apply_batches(&all).unwrap();
    let (state, end, at) = source.snapshot().unwrap();
    let mut replica = Replica::<LeaseService>::new();
    replica.install(state.clone(), end, at);
    assert_eq!(replica.snapshot(), source.snapshot());
    let next = Batch::data(Offset(3), Epoch(1), WallTime(9), vec![granted("c", 1)]);
    replica.apply_batches(&[all[0].clone(), next]).unwrap();
    assert_eq!(names(replica.stable().0), "abc");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(256) })]

    #[test]
    fn however_the_log_is_cut_the_stable_state_is_the_same(
        kinds in prop::collection::vec(0..6u8, 1..40),
        lengths in prop::collection::vec(0..6usize, 1..40),
        calls in prop::collection::vec(1..5usize, 1..40),
    ) {
        let mut open = false;
        let records: Vec<Record> = kinds.iter().enumerate().map(|(index, kind)| {
            let bracket = match (kind, open) {
                (0, false) => Record::Begin,
                (0, true) => Record::End,
                (1, true) => Record::Abort,
                _ => return granted(&index.to_string(), 1),
            };
            open = !open;
            bracket
        }).collect();
        let all = batches(&lengths, &records);
        let mut replica = Replica::<LeaseService>::new();
        let mut rest = &all[..];
        for call in calls {
            let (now, later) = rest.split_at(call.min(rest.len()));
            rest = later;
            replica.apply_batches(now).unwrap();
            let (expected, visible) = read_plainly(&all, replica.end());
            prop_assert_eq!(replica.stable(), (&expected, visible));
            prop_assert_eq!(replica.snapshot().is_some(), visible == replica.end());
        }
    }
}
