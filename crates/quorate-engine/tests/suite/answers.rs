//! Deciding, appending, committing, answering, in this order.

use quorate_types::Offset;

use crate::lease::{Command, Reply};
use crate::rig::{Rig, acquire, acquire_all, granted, look, ok, stable};

#[test]
fn a_reply_waits_for_its_commit_and_comes_after_the_state() {
    let mut rig = Rig::active();
    let ticket = rig.submit(acquire("a", 1));
    rig.turn();
    assert_eq!(rig.said(), []);
    assert!(
        rig.engine.state().held.is_empty(),
        "published before the commit"
    );
    rig.commit();
    assert_eq!(rig.engine.state().held["a"], (1, Offset(2)));
    let token = Offset(2);
    assert_eq!(
        rig.said(),
        [stable(3), ok(ticket, Reply::Granted { token })]
    );
}

#[test]
fn an_answer_without_records_waits_for_what_it_was_decided_on() {
    let mut rig = Rig::active();
    let first = rig.submit(acquire("a", 1));
    rig.turn();
    let second = rig.submit(look("a"));
    rig.turn();
    assert_eq!(rig.said(), []);
    rig.commit();
    let third = rig.submit(look("b"));
    rig.turn();
    let token = Offset(2);
    assert_eq!(
        rig.said(),
        [
            stable(3),
            ok(first, Reply::Granted { token }),
            ok(second, Reply::Held { by: 1, token }),
            ok(third, Reply::Free),
        ]
    );
}

#[test]
fn a_turn_appends_once_with_a_batch_for_each_decision() {
    let mut rig = Rig::active();
    rig.submit(acquire("a", 1));
    rig.submit(acquire_all(2, 2, true));
    rig.submit(look("a"));
    rig.submit(acquire("a", 3));
    let before = rig.gauge.appends;
    rig.turn();
    assert_eq!(rig.gauge.appends, before + 1);
    let both = vec![granted("2-0", 2), granted("2-1", 2)];
    assert_eq!(rig.appended(Offset(2)), [vec![granted("a", 1)], both]);
}

#[test]
fn a_moved_log_is_decided_on_again() {
    let mut rig = Rig::active();
    rig.submit(acquire("a", 1));
    let ticket = rig.submit(acquire("b", 2));
    rig.gauge.slip_in = 2;
    rig.turn();
    rig.commit();
    let token = Offset(5); // after a at 4, after the control batches at 2 and 3
    assert!(rig.said().contains(&ok(ticket, Reply::Granted { token })));
    assert_eq!(rig.engine.state().held["b"], (2, token));
    assert_eq!(rig.engine.stable_end(), rig.end());
}

#[test]
fn a_dry_run_leaves_nothing_behind() {
    let mut rig = Rig::active();
    let probe = |name: &str, owner| Command::Probe {
        name: name.to_string(),
        owner,
    };
    let first = rig.submit(acquire("a", 1));
    let second = rig.submit(probe("b", 2));
    let third = rig.submit(probe("b", 3));
    let fourth = rig.submit(acquire("b", 4));
    rig.turn();
    rig.commit();
    let token = Offset(3);
    let replies = rig.said();
    assert_eq!(
        replies[1..],
        [
            ok(first, Reply::Granted { token: Offset(2) }),
            ok(second, Reply::Granted { token }),
            ok(third, Reply::Granted { token }),
            ok(fourth, Reply::Granted { token }),
        ]
    );
    assert_eq!(rig.appended(Offset(2)).len(), 2);
    let soft = rig.engine.soft().unwrap();
    assert_eq!(soft.renewed.len(), 2);
}

#[test]
fn a_domain_learns_where_its_decision_ended() {
    let mut rig = Rig::active();
    rig.submit(acquire_all(3, 1, true));
    rig.gauge.slip_in = 1;
    rig.turn();
    assert_eq!(rig.engine.soft().unwrap().last_end, Some(Offset(6)));
    rig.submit(look("a"));
    rig.turn();
    assert_eq!(rig.engine.soft().unwrap().last_end, Some(Offset(6)));
}

#[test]
fn the_soft_state_follows_each_record_at_its_offset() {
    let mut rig = Rig::active();
    rig.submit(acquire_all(2, 1, true));
    rig.submit(acquire("a", 2));
    rig.gauge.slip_in = 1;
    rig.turn();
    let followed = &rig.engine.soft().unwrap().followed;
    assert_eq!(
        followed[1..], // after the opening
        [
            (Offset(3), granted("1-0", 1)),
            (Offset(4), granted("1-1", 1)),
            (Offset(5), granted("a", 2)),
        ]
    );
}
