//! What is too much is refused or waits; it never costs the leadership.

use std::time::Duration;

use quorate_engine::{Domain, Draft, EngineConfig, Halt, Lane, Machine, Refused, Solo, Ticket};
use quorate_types::{MonoTime, Offset};

use crate::lease::{Reply, TTL};
use crate::rig::{Rig, acquire, acquire_all, look, ok, refused, stable};

#[test]
fn a_decision_of_exactly_two_batches_is_cut_into_two() {
    let mut rig = Rig::active();
    for (count, lengths) in [
        (20_000, vec![10_000, 10_000]),
        (10_000, vec![10_000]),
        (10_001, vec![10_000, 1]),
    ] {
        let from = rig.end();
        let ticket = rig.submit(acquire_all(count, count, false));
        rig.turn();
        rig.commit();
        let batches = rig.appended(from);
        let cut: Vec<usize> = batches.iter().map(Vec::len).collect();
        assert_eq!(cut, lengths);
        assert_eq!(rig.said()[1], ok(ticket, Reply::Took(count as usize)));
    }
}

#[test]
fn an_atomic_decision_of_too_many_records_is_refused_alone() {
    let mut rig = Rig::active();
    let first = rig.submit(acquire("a", 1));
    let large = rig.submit(acquire_all(10_001, 2, true));
    let last = rig.submit(acquire("b", 3));
    let fits = rig.submit(acquire_all(10_000, 4, true));
    rig.turn();
    rig.commit();
    assert_eq!(
        rig.said(),
        [
            refused(large, Refused::TooLarge),
            stable(10_004),
            ok(first, Reply::Granted { token: Offset(2) }),
            ok(last, Reply::Granted { token: Offset(3) }),
            ok(fits, Reply::Took(10_000)),
        ]
    );
    assert!(rig.gauge.log.is_leading());
}

#[test]
fn a_batch_of_too_many_bytes_is_refused_alone_or_cut_smaller() {
    let mut rig = Rig::active();
    rig.gauge.log.batch_records_max = 5;
    let first = rig.submit(acquire("a", 1));
    let large = rig.submit(acquire_all(6, 2, true));
    let cut = rig.submit(acquire_all(12, 3, false));
    let last = rig.submit(acquire("b", 4));
    while rig.engine.deadline() == Some(MonoTime::ZERO) {
        rig.turn();
    }
    rig.commit();
    let said = rig.said();
    for reply in [
        refused(large, Refused::TooLarge),
        ok(first, Reply::Granted { token: Offset(2) }),
        ok(cut, Reply::Took(12)),
        ok(last, Reply::Granted { token: Offset(15) }),
    ] {
        assert!(said.contains(&reply), "{reply:?} is missing in {said:?}");
    }
    assert!(rig.gauge.log.is_leading());
}

#[test]
fn a_full_log_makes_commands_wait() {
    let mut rig = Rig::active();
    let first = rig.submit(acquire("a", 1));
    rig.turn();
    rig.gauge.full = true;
    let second = rig.submit(acquire("b", 2));
    let expiring = Ticket(99);
    let expires = rig.now + Duration::from_millis(1);
    let command = acquire("c", 3);
    rig.engine
        .submit(expiring, Lane::Admin, command, Some(expires));
    rig.turn();
    assert_eq!(rig.said(), []);
    assert_eq!(rig.engine.deadline(), Some(expires));
    rig.now = expires;
    rig.turn();
    assert_eq!(rig.said(), [refused(expiring, Refused::Expired)]);
    rig.gauge.full = false;
    rig.commit();
    assert_eq!(
        rig.engine.deadline(),
        Some(MonoTime::ZERO),
        "waits for nothing"
    );
    rig.turn();
    rig.commit();
    assert_eq!(
        rig.said(),
        [
            stable(3),
            ok(first, Reply::Granted { token: Offset(2) }),
            stable(4),
            ok(second, Reply::Granted { token: Offset(3) }),
        ]
    );
}

#[test]
fn what_an_idle_log_has_no_room_for_is_turned_away() {
    let mut rig = Rig::active();
    rig.gauge.full = true;
    let first = rig.submit(acquire("a", 1));
    let second = rig.submit(look("a"));
    rig.turn();
    assert_eq!(
        rig.said(),
        [refused(first, Refused::Busy), ok(second, Reply::Free),]
    );
}

#[test]
fn a_full_lane_refuses_and_the_others_do_not() {
    let mut rig = Rig::with(EngineConfig {
        lane_commands_max: 2,
        ..EngineConfig::default()
    });
    assert_eq!(rig.engine.room(Lane::Admin), 2);
    rig.submit(look("a"));
    rig.submit(look("a"));
    assert_eq!(rig.engine.room(Lane::Admin), 0);
    let one_too_many = rig.submit(look("a"));
    rig.submit_in(Lane::Heartbeat, look("a"));
    assert_eq!(rig.said(), [refused(one_too_many, Refused::Busy)]);
}

#[test]
fn a_command_expires_in_the_queue_only() {
    let mut rig = Rig::active();
    let expires = rig.now + Duration::from_secs(1);
    rig.engine
        .submit(Ticket(1), Lane::Admin, acquire("a", 1), Some(expires));
    rig.turn();
    rig.engine
        .submit(Ticket(2), Lane::Admin, acquire("b", 2), Some(expires));
    rig.now = expires;
    rig.turn();
    assert_eq!(rig.said(), [refused(Ticket(2), Refused::Expired)]);
    rig.commit();
    let token = Offset(2);
    assert_eq!(rig.said()[1], ok(Ticket(1), Reply::Granted { token }));
}

#[test]
fn nothing_is_decided_while_too_many_replies_wait() {
    let mut rig = Rig::with(EngineConfig {
        parked_max: 2,
        ..EngineConfig::default()
    });
    for owner in 0..3 {
        rig.submit(acquire(&format!("{owner}"), owner));
    }
    rig.turn();
    assert_eq!(rig.end(), Offset(4));
    assert_eq!(rig.engine.deadline(), None);
    rig.turn();
    assert_eq!(rig.end(), Offset(4));
    rig.commit();
    rig.turn();
    assert_eq!(rig.end(), Offset(5));
}

#[test]
fn what_waits_for_room_keeps_its_order() {
    let mut rig = Rig::active();
    rig.submit(acquire("x", 0));
    rig.turn();
    rig.gauge.full = true;
    for owner in 1..=3 {
        rig.submit(acquire("a", owner));
    }
    rig.turn();
    rig.gauge.full = false;
    rig.commit();
    rig.turn();
    rig.commit();
    assert_eq!(rig.engine.state().held["a"], (1, Offset(3)));
}

#[test]
fn a_task_waits_for_room_as_well() {
    let mut rig = Rig::active();
    rig.submit(acquire("a", 1));
    rig.turn();
    rig.now = rig.now + TTL;
    rig.gauge.full = true;
    rig.turn();
    assert_eq!(rig.end(), Offset(3));
    rig.gauge.full = false;
    rig.commit();
    rig.turn();
    rig.commit();
    assert!(rig.engine.state().held.is_empty(), "the task was forgotten");
}

#[test]
fn a_turn_with_many_records_leaves_the_rest_for_the_next() {
    let mut rig = Rig::with(EngineConfig {
        turn_records_max: 10,
        ..EngineConfig::default()
    });
    for owner in 1..=3 {
        rig.submit(acquire_all(6, owner, true));
    }
    rig.turn();
    assert_eq!(rig.end(), Offset(14));
    assert_eq!(rig.engine.deadline(), Some(MonoTime::ZERO));
    rig.turn();
    assert_eq!(rig.end(), Offset(20));
}

/// Pushes one record too many and goes on as if nothing had happened.
struct Careless;

impl Machine for Careless {
    type State = u64;
    type Record = ();
    type Misfit = std::convert::Infallible;

    fn apply(count: &mut u64, (): &(), _: Offset) -> Result<(), Self::Misfit> {
        *count += 1;
        Ok(())
    }
}

impl Domain for Careless {
    type Command = u64;
    type Reply = u64;
    type Soft = ();
    type Task = ();

    fn claim(&self, _: &u64, _: MonoTime) {}

    fn decide(&self, draft: &mut Draft<'_, Self>, count: &u64) -> Result<u64, Halt> {
        for _ in 0..*count {
            let _ignored = draft.push(());
        }
        Ok(*draft.state())
    }
}

#[test]
fn a_halt_cannot_be_ignored() {
    let mut solo = Solo::new(Careless, 1);
    assert_eq!(solo.decide(10_002), Err(Refused::TooLarge));
    assert_eq!(solo.decide(3), Ok(3));
    assert_eq!(solo.records_from(Offset::ZERO).len(), 3);
}

#[test]
fn what_waits_for_room_keeps_its_order_when_going_one_by_one() {
    let mut rig = Rig::active();
    rig.gauge.log.batch_records_max = 5;
    rig.gauge.room_for = Some(1);
    rig.submit(acquire_all(6, 0, true));
    rig.submit(acquire("b", 1));
    for owner in 2..=4 {
        rig.submit(acquire("a", owner));
    }
    rig.turn();
    assert_eq!(rig.end(), Offset(3));
    rig.gauge.room_for = None;
    rig.commit();
    rig.turn();
    rig.commit();
    assert_eq!(rig.engine.state().held["a"], (2, Offset(3)));
}
