//! What is between the brackets becomes visible together or never.

use quorate_engine::Refused;
use quorate_types::Offset;

use crate::lease::{Command, Record, Reply};
use crate::rig::{Rig, acquire, ok, refused, stable};

#[test]
fn a_transaction_holds_back_state_replies_and_snapshots() {
    let mut rig = Rig::active();
    let begin = rig.submit(Command::Begin);
    let inside = rig.submit(acquire("a", 1));
    rig.turn();
    rig.commit();
    assert_eq!(rig.said(), []);
    assert_eq!(rig.engine.stable_end(), Offset(2));
    assert_eq!(rig.engine.snapshot(), None);
    let end = rig.submit(Command::Close { abort: false });
    rig.turn();
    rig.commit();
    assert_eq!(
        rig.said(),
        [
            stable(5),
            ok(begin, Reply::Done),
            ok(inside, Reply::Granted { token: Offset(3) }),
            ok(end, Reply::Done),
        ]
    );
    assert!(rig.engine.snapshot().is_some());
}

#[test]
fn what_was_decided_in_an_aborted_transaction_is_not_acknowledged() {
    let mut rig = Rig::active();
    let begin = rig.submit(Command::Begin);
    let inside = rig.submit(acquire("a", 1));
    let abort = rig.submit(Command::Close { abort: true });
    let after = rig.submit(acquire("a", 2));
    rig.turn();
    rig.commit();
    assert_eq!(
        rig.said(),
        [
            refused(begin, Refused::OutcomeUnknown),
            refused(inside, Refused::OutcomeUnknown),
            stable(6),
            ok(abort, Reply::Done),
            ok(after, Reply::Granted { token: Offset(5) }),
        ]
    );
}

#[test]
fn a_new_leader_aborts_the_transaction_it_finds_open() {
    let mut rig = Rig::active();
    rig.submit(acquire("a", 1));
    rig.submit(Command::Begin);
    rig.submit(acquire("b", 2));
    rig.turn();
    rig.commit();
    rig.engine.not_leader();
    rig.elect();
    let from = rig.engine.reads_from().unwrap();
    rig.engine
        .committed(&rig.gauge.log.read(from, rig.gauge.log.end()));
    rig.turn();
    rig.commit();
    assert_eq!(rig.appended(Offset(5)), [vec![Record::Abort]]);
    let held: Vec<&String> = rig.engine.state().held.keys().collect();
    assert_eq!(held, ["a"]);
    assert_eq!(rig.engine.stable_end(), rig.end());
}

#[test]
fn a_transaction_whose_end_is_not_known_to_be_committed_is_not_acknowledged() {
    let mut rig = Rig::active();
    let begin = rig.submit(Command::Begin);
    let inside = rig.submit(acquire("a", 1));
    let end = rig.submit(Command::Close { abort: false });
    rig.turn();
    rig.engine.high_watermark(Offset(4)); // all but the end
    rig.engine.not_leader();
    let said = rig.said();
    let unknown = [begin, inside, end].map(|ticket| refused(ticket, Refused::OutcomeUnknown));
    assert_eq!(said[..3], unknown);
}

#[test]
fn a_transaction_whose_end_is_known_to_be_committed_is_acknowledged_after_the_lead_is_lost() {
    let mut rig = Rig::active();
    let begin = rig.submit(Command::Begin);
    let end = rig.submit(Command::Close { abort: false });
    rig.submit(acquire("a", 1));
    rig.turn();
    rig.engine.high_watermark(Offset(4)); // all but the last
    rig.engine.not_leader();
    rig.said();
    let committed = rig.gauge.log.read(Offset(2), Offset(4));
    rig.engine.committed(&committed);
    assert_eq!(
        rig.said(),
        [stable(4), ok(begin, Reply::Done), ok(end, Reply::Done)]
    );
}
