//! Whose turn it is: heartbeats, tasks, the rest.

use std::convert::Infallible;
use std::time::Duration;

use quorate_engine::{
    Domain, Draft, EngineConfig, Fault, Halt, Lane, Machine, Output, Solo, Ticket,
};
use quorate_types::{MonoTime, Offset};

use crate::lease::{Command, TTL};
use crate::rig::{Rig, acquire, look};

#[test]
fn heartbeats_go_first_and_nobody_starves() {
    let mut rig = Rig::with(EngineConfig {
        turn_decisions_max: 10,
        ..EngineConfig::default()
    });
    let admin = rig.submit_in(Lane::Admin, look("a"));
    let cluster = rig.submit_in(Lane::Cluster, look("a"));
    let beats: Vec<Ticket> = (0..40)
        .map(|_| rig.submit_in(Lane::Heartbeat, look("a")))
        .collect();
    let mut order = Vec::new();
    while rig.engine.deadline() == Some(MonoTime::ZERO) {
        rig.turn();
        for said in rig.said() {
            if let Output::Reply { ticket, .. } = said {
                order.push(ticket);
            }
        }
    }
    let at = |ticket| order.iter().position(|other| *other == ticket).unwrap();
    assert_eq!(order[..10], beats[..10]);
    assert!(at(cluster) < at(admin));
    assert!(at(admin) < at(beats[20]), "heartbeats starve the others");
    assert_eq!(order.len(), 42);
}

#[test]
fn tasks_run_when_they_are_due_and_only_on_the_leader() {
    let mut rig = Rig::active();
    rig.submit(acquire("a", 1));
    rig.turn();
    rig.commit();
    let mut runs = 0;
    let begin = rig.now;
    while rig.engine.state().held.contains_key("a") {
        rig.now = rig.engine.deadline().unwrap();
        rig.turn();
        rig.commit();
        runs += 1;
    }
    assert_eq!(rig.now, begin + TTL, "expired at the wrong time");
    assert_eq!(runs, 10);
    rig.engine.not_leader();
    assert_eq!(rig.engine.deadline(), None);
}

#[test]
fn heartbeats_that_wait_are_heard_before_a_task_expires_anything() {
    let mut rig = Rig::active();
    rig.submit(acquire("a", 1));
    rig.turn();
    rig.now = rig.now + TTL;
    let name = "a".to_string();
    rig.submit_in(Lane::Heartbeat, Command::Renew { name });
    rig.turn();
    rig.commit();
    assert!(rig.engine.state().held.contains_key("a"), "expired unheard");
}

/// Lets heartbeats pour in, more than turns can take, until the lease is expired; says how long that
/// took.
fn hold_up(rig: &mut Rig) -> Duration {
    let begin = rig.now;
    for _ in 0..8 {
        for _ in 0..8 {
            rig.submit_in(Lane::Heartbeat, look("a"));
        }
        rig.turn();
        rig.commit();
        if !rig.engine.state().held.contains_key("a") {
            return rig.now.since(begin);
        }
        rig.now = rig.now + Duration::from_millis(200);
    }
    panic!("never expired");
}

#[test]
fn heartbeats_hold_up_a_task_for_a_bounded_time() {
    let mut rig = Rig::with(EngineConfig {
        turn_decisions_max: 4,
        ..EngineConfig::default()
    });
    for _ in 0..2 {
        rig.submit_in(Lane::Heartbeat, acquire("a", 1));
        while rig.engine.deadline() == Some(MonoTime::ZERO) {
            rig.turn();
            rig.commit();
        }
        rig.now = rig.now + TTL;
        assert_eq!(hold_up(&mut rig), Duration::from_secs(1));
    }
}

/// Counts, and cannot count beyond three.
struct Counter;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("that is too much")]
struct TooMuch;

impl Machine for Counter {
    type State = u64;
    type Record = u64;
    type Misfit = TooMuch;

    fn apply(count: &mut u64, more: &u64, _at: Offset) -> Result<(), TooMuch> {
        *count += more;
        if *count > 3 { Err(TooMuch) } else { Ok(()) }
    }
}

impl Domain for Counter {
    type Command = Infallible;
    type Reply = ();
    type Soft = ();
    type Task = &'static str;

    fn claim(&self, _: &u64, _: MonoTime) {}

    fn decide(&self, _: &mut Draft<'_, Self>, never: &Infallible) -> Result<(), Halt> {
        match *never {}
    }

    fn tasks(&self) -> Vec<(&'static str, Duration)> {
        let second = Duration::from_secs(1);
        vec![("count", second), ("once", second)]
    }

    fn run(
        &self,
        draft: &mut Draft<'_, Self>,
        task: &'static str,
    ) -> Result<Option<Duration>, Halt> {
        draft.push(1)?;
        Ok((task == "count").then_some(Duration::from_secs(1)))
    }
}

#[test]
fn a_task_that_fails_is_reported_and_tried_again_later() {
    let mut solo = Solo::new(Counter, 1);
    solo.sleep(Duration::from_secs(2));
    assert_eq!(*solo.state(), 3);
    assert!(solo.faults().is_empty());
    solo.sleep(Duration::from_secs(299));
    assert_eq!(solo.faults().len(), 1, "{:?}", solo.faults());
    assert!(matches!(&solo.faults()[0], Fault::Task { task, .. } if task == "\"count\""));
    solo.sleep(Duration::from_secs(10));
    assert_eq!(solo.faults().len(), 2, "not tried again");
    assert_eq!(*solo.state(), 3);
    assert!(solo.log().is_leading(), "resigned for a task");
}
