//! Taking office, losing it, leading on, standing by.

use quorate_engine::{
    Batch, Engine, EngineConfig, Fault, Lane, Log, MemoryLog, Output, Refused, Ticket,
};
use quorate_types::{Epoch, MonoTime, Offset, OffsetAndEpoch, Rng, WallTime};

use crate::lease::{Command, LeaseService, Record, Reply};
use crate::rig::{Rig, acquire, acquire_all, granted, look, ok, refused, stable};

#[test]
fn a_standby_refuses_commands() {
    let mut engine = Engine::new(LeaseService, Rng::new(1), EngineConfig::default());
    engine.submit(Ticket(7), Lane::Admin, look("a"), None);
    assert_eq!(engine.poll(), Some(refused(Ticket(7), Refused::NotActive)));
    assert_eq!(engine.deadline(), None);
}

#[test]
fn a_leader_is_active_only_after_all_before_its_epoch_is_applied() {
    let mut log = MemoryLog::new();
    log.elect();
    log.append(
        Epoch(1),
        Offset(1),
        &[vec![Record::Founded], vec![granted("a", 1)]],
    )
    .unwrap();
    let (epoch, start) = log.elect();
    let mut engine = Engine::new(LeaseService, Rng::new(1), EngineConfig::default());
    engine.leader(epoch, start);
    for end in [Offset::ZERO, Offset(2)] {
        engine.committed(&log.read(Offset::ZERO, end));
        assert_eq!(engine.deadline(), None);
        engine.turn(MonoTime(1), WallTime(1), &mut log);
        assert_eq!(engine.active(), None);
    }
    engine.committed(&log.read(Offset(2), Offset(3)));
    assert_eq!(engine.deadline(), Some(MonoTime::ZERO));
    engine.turn(MonoTime(1), WallTime(1), &mut log);
    assert_eq!(engine.active(), Some(epoch));
    assert_eq!(engine.reads_from(), None);
    let renewed = &engine.soft().unwrap().renewed;
    assert_eq!(
        renewed.get("a"),
        Some(&MonoTime(1)),
        "claimed with a full session"
    );
}

#[test]
fn an_empty_log_is_opened_before_the_leader_is_active() {
    let mut rig = Rig::with(EngineConfig::default());
    assert_eq!(rig.appended(Offset::ZERO), [vec![Record::Founded]]);
    assert_eq!(rig.engine.active(), Some(Epoch(1)));
    rig.engine.not_leader();
    rig.elect();
    rig.turn();
    assert_eq!(
        rig.said(),
        [
            Output::Inactive { epoch: Epoch(1) },
            Output::Active { epoch: Epoch(2) },
        ]
    );
    assert_eq!(rig.appended(Offset::ZERO).len(), 1, "founded again");
}

#[test]
fn a_record_that_does_not_fit_is_never_appended_and_costs_the_leadership() {
    let mut rig = Rig::active();
    let first = rig.submit(acquire("a", 1));
    let bug = rig.submit(Command::Bug {
        owner: 2,
        from: Offset::ZERO,
    });
    let last = rig.submit(acquire("b", 3));
    let end = rig.end();
    rig.turn();
    assert_eq!(rig.end(), end);
    assert!(!rig.gauge.log.is_leading(), "did not resign");
    let said = rig.said();
    assert_eq!(said[0], refused(bug, Refused::Fault));
    assert!(matches!(&said[1], Output::Fault(Fault::Deciding { ticket, .. }) if *ticket == bug));
    assert_eq!(
        said[2..],
        [
            refused(first, Refused::NotActive),
            refused(last, Refused::NotActive),
            Output::Inactive { epoch: Epoch(1) },
        ]
    );
    assert!(rig.engine.state().held.is_empty());
}

#[test]
fn losing_leadership_completes_what_is_known_to_be_committed() {
    let mut rig = Rig::active();
    let known = rig.submit(acquire("a", 1));
    let unknown = rig.submit(acquire("b", 2));
    rig.turn();
    let later = rig.submit(look("a"));
    rig.turn();
    let queued = rig.submit(look("a"));
    // Only the first of the turn's batches is committed, for which no version was kept.
    rig.engine.high_watermark(Offset(3));
    assert_eq!(rig.said(), []);
    rig.engine.not_leader();
    assert_eq!(
        rig.said(),
        [
            refused(unknown, Refused::OutcomeUnknown),
            refused(later, Refused::OutcomeUnknown),
            refused(queued, Refused::NotActive),
            Output::Inactive { epoch: Epoch(1) },
        ]
    );
    let from = rig.engine.reads_from().unwrap();
    assert_eq!(from, Offset(2));
    rig.engine.committed(&rig.gauge.log.read(from, Offset(3)));
    let token = Offset(2);
    assert_eq!(rig.said(), [stable(3), ok(known, Reply::Granted { token })]);
    assert!(!rig.engine.state().held.contains_key("b"));
}

#[test]
fn a_log_that_has_another_leader_says_so() {
    let mut rig = Rig::active();
    rig.gauge.log.depose();
    let ticket = rig.submit(acquire("a", 1));
    rig.turn();
    assert_eq!(
        rig.said(),
        [
            refused(ticket, Refused::NotActive),
            Output::Inactive { epoch: Epoch(1) },
        ]
    );
    assert_eq!(rig.engine.reads_from(), Some(rig.end()));
}

#[test]
fn leading_on_in_the_next_epoch_keeps_what_waits() {
    let mut rig = Rig::active();
    let parked = rig.submit(acquire("a", 1));
    rig.turn();
    let queued = rig.submit(acquire("b", 2));
    rig.elect();
    rig.turn();
    rig.commit();
    assert_eq!(
        rig.said(),
        [
            Output::Active { epoch: Epoch(2) },
            stable(5),
            ok(parked, Reply::Granted { token: Offset(2) }),
            ok(queued, Reply::Granted { token: Offset(4) }),
        ]
    );
    let (_, end, _) = rig.engine.snapshot().unwrap();
    assert_eq!(end, OffsetAndEpoch::new(5, 2));
}

#[test]
fn leading_again_after_others_did_starts_anew() {
    let mut rig = Rig::active();
    let parked = rig.submit(acquire("a", 1));
    rig.turn();
    rig.gauge.log.truncate(Offset(2));
    rig.gauge.log.elect(); // another one
    let (epoch, start) = rig.gauge.log.elect();
    rig.engine.leader(epoch, start);
    rig.engine
        .committed(&rig.gauge.log.read(Offset(2), rig.gauge.log.end()));
    rig.turn();
    assert_eq!(
        rig.said(),
        [
            refused(parked, Refused::OutcomeUnknown),
            Output::Inactive { epoch: Epoch(1) },
            stable(4),
            Output::Active { epoch: Epoch(3) },
        ]
    );
}

#[test]
fn what_is_committed_and_does_not_fit_breaks_the_replica_for_good() {
    let mut engine = Engine::new(LeaseService, Rng::new(1), EngineConfig::default());
    let batch = |base, records| Batch::data(Offset(base), Epoch(1), WallTime(1), records);
    engine.committed(&[batch(0, vec![granted("a", 1)])]);
    let released = |name: &str| Record::Released {
        name: name.to_string(),
    };
    engine.committed(&[batch(1, vec![released("a"), released("b")])]);
    assert_eq!(engine.poll(), Some(stable(1)));
    assert!(matches!(
        engine.poll(),
        Some(Output::Fault(Fault::Replaying { .. }))
    ));
    assert!(
        engine.state().held.contains_key("a"),
        "half a batch is visible"
    );
    assert_eq!(engine.reads_from(), None);
    engine.submit(Ticket(1), Lane::Admin, look("a"), None);
    assert_eq!(engine.poll(), Some(refused(Ticket(1), Refused::Fault)));
    // Elected all the same, it steps down.
    let mut log = MemoryLog::new();
    let (epoch, start) = log.elect();
    engine.leader(epoch, start);
    assert_eq!(engine.deadline(), Some(MonoTime::ZERO));
    engine.turn(MonoTime(1), WallTime(1), &mut log);
    assert!(!log.is_leading());
    assert_eq!(engine.deadline(), None);
}

#[test]
fn a_snapshot_brings_a_standby_up_to_date() {
    let mut rig = Rig::active();
    rig.submit(acquire("a", 1));
    rig.turn();
    rig.commit();
    let (state, end, at) = rig.engine.snapshot().unwrap();
    assert_eq!((end, at), (OffsetAndEpoch::new(3, 1), WallTime(1_000_000)));
    let mut standby = Engine::new(LeaseService, Rng::new(2), EngineConfig::default());
    standby.install(state.clone(), end, at);
    assert_eq!(standby.poll(), Some(stable(3)));
    assert_eq!(standby.state(), rig.engine.state());
    assert_eq!(standby.reads_from(), Some(Offset(3)));
}

#[test]
fn a_decision_that_fails_only_on_the_moved_log_leaves_the_others_answered() {
    let mut rig = Rig::active();
    let first = rig.submit(acquire("a", 1));
    let from = rig.end() + 2;
    let bug = rig.submit(Command::Bug { owner: 2, from });
    let last = rig.submit(acquire("b", 3));
    rig.gauge.slip_in = 1;
    rig.turn();
    let said = rig.said();
    assert_eq!(said[0], refused(bug, Refused::Fault));
    assert_eq!(
        said[2..4],
        [
            refused(first, Refused::NotActive),
            refused(last, Refused::NotActive),
        ]
    );
    assert!(rig.appended(Offset(2)).is_empty());
}

#[test]
fn losing_the_lead_while_going_one_by_one_answers_everybody() {
    let mut rig = Rig::active();
    rig.gauge.log.batch_records_max = 5;
    rig.gauge.lead_for = Some(1);
    let first = rig.submit(acquire("a", 1));
    let second = rig.submit(acquire("b", 2));
    let third = rig.submit(acquire_all(6, 3, true));
    rig.turn();
    rig.commit();
    assert_eq!(
        rig.said(),
        [
            refused(first, Refused::OutcomeUnknown),
            refused(second, Refused::NotActive),
            refused(third, Refused::NotActive),
            Output::Inactive { epoch: Epoch(1) },
        ]
    );
}

#[test]
fn being_told_twice_changes_nothing() {
    let mut rig = Rig::active();
    rig.submit(acquire("a", 1));
    rig.turn();
    rig.engine.leader(Epoch(1), Offset(0));
    assert_eq!(rig.said(), []);
    assert_eq!(rig.engine.active(), Some(Epoch(1)));
}

#[test]
fn a_leader_that_was_never_active_does_not_stop_being_it() {
    let mut rig = Rig::active();
    rig.engine.not_leader();
    rig.said();
    rig.submit(Command::Begin);
    rig.said();
    let mut fresh = Engine::new(LeaseService, Rng::new(1), EngineConfig::default());
    fresh.leader(Epoch(1), Offset(0));
    rig.gauge.full = true;
    fresh.turn(rig.now, WallTime(0), &mut rig.gauge);
    assert!(fresh.deadline() > Some(rig.now), "tries again at once");
    fresh.not_leader();
    assert_eq!(fresh.poll(), None);
}

#[test]
fn a_snapshot_on_an_active_node_ends_its_activity() {
    let mut rig = Rig::active();
    let (state, end, at) = rig.engine.snapshot().unwrap();
    let state = state.clone();
    let later = OffsetAndEpoch::new(end.offset.0 + 10, 2);
    rig.engine.install(state, later, at);
    assert_eq!(
        rig.said(),
        [Output::Inactive { epoch: Epoch(1) }, stable(12)]
    );
    assert_eq!(rig.engine.reads_from(), Some(Offset(12)));
}

#[test]
fn an_end_is_named_by_the_epoch_of_the_record_before_it() {
    let mut rig = Rig::active();
    rig.submit(acquire("a", 1));
    rig.turn();
    rig.gauge.log.append_control();
    rig.elect();
    rig.turn();
    for (high_watermark, epoch) in [(3, 1), (4, 1), (5, 2)] {
        rig.engine.high_watermark(Offset(high_watermark));
        let (_, end, _) = rig.engine.snapshot().unwrap();
        assert_eq!(end, OffsetAndEpoch::new(high_watermark, epoch));
    }
}
