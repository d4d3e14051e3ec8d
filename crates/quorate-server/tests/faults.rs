//! Disks that fail, fill up or hang: nothing is acknowledged that is not on a majority of disks, the
//! node says why it stops, and the others go on.

mod common;

use std::time::Duration;

use common::*;
use quorate_storage::vfs::Crash;
use quorate_types::{ErrorCode, NodeId};

/// The others of three controllers.
fn others(active: NodeId) -> [NodeId; 2] {
    match active.0 {
        1 => [controller(2), controller(3)],
        2 => [controller(1), controller(3)],
        _ => [controller(1), controller(2)],
    }
}

/// Sends a creation to the active controller and waits until it is over one way or the other; what it
/// was answered with.
fn create_at(lab: &mut Lab, active: NodeId, topic: &str) -> Option<ErrorCode> {
    lab.call(active, &creation(&[topic]))
        .map(|answer| created(&answer))
}

/// A controller with a broken disk has stopped and said so; the two others go on without it.
fn assert_stopped(lab: &mut Lab, broken: NodeId, why: &str) {
    let fault = lab.machine(broken).fault().unwrap_or_default().to_owned();
    assert!(fault.contains("/data/__cluster_metadata-0/"), "{fault}");
    assert!(fault.contains(why), "{fault}");
    assert!(!lab.machine(broken).is_running());
    let active = lab.settle();
    assert_ne!(active, broken);
    assert_eq!(create_at(lab, active, "afterwards"), Some(ErrorCode::None));
}

#[test]
fn nothing_is_answered_before_a_majority_of_disks_has_it() {
    let (mut lab, active) = Lab::up(3, 1);
    let [first, second] = others(active);
    lab.hang(first, true);
    lab.hang(second, true);
    let (conn, _) = lab.start_call(active, &creation(&["orders"]));
    // Well within the time after which the leader would give up for lack of followers.
    lab.run_for(Duration::from_millis(900));
    assert_eq!(lab.waiting(conn), 0, "only the leader's own disk has it");
    assert!(!lab.has_topic(active, "orders"));
    lab.hang(second, false);
    assert!(lab.run_until(Duration::from_millis(100), |lab| lab.waiting(conn) > 0));
    assert!(lab.has_topic(active, "orders"));
}

#[test]
fn what_was_answered_survives_the_loss_of_power_everywhere() {
    let (mut lab, active) = Lab::up(3, 1);
    let conn = lab.connect(active);
    for number in 0..20 {
        lab.ask(conn, 7, &creation(&[&format!("topic-{number}")]));
    }
    // The power goes as soon as the tenth answer is out.
    assert!(lab.run_until(SOON, |lab| lab.waiting(conn) >= 10));
    let answered = lab.waiting(conn);
    for id in (1..=3).map(controller) {
        lab.kill(id);
        lab.machine(id).disk.crash(Crash::LoseUnsynced);
    }
    for id in (1..=3).map(controller) {
        lab.start(id);
    }
    let active = lab.settle();
    for number in 0..answered {
        assert!(
            lab.has_topic(active, &format!("topic-{number}")),
            "{number}"
        );
    }
}

#[test]
fn what_is_answered_was_published_first() {
    let (mut lab, active) = Lab::up(3, 1);
    let conn = lab.connect(active);
    lab.run_for(FRAME * 2);
    lab.done.clear();
    lab.ask(conn, 7, &creation(&["orders"]));
    lab.answer(conn).unwrap();
    let done: Vec<&Did> = lab
        .done
        .iter()
        .filter(|(id, _)| *id == active)
        .map(|(_, did)| did)
        .collect();
    let shown = |did: &&&Did| match did {
        Did::Publish(published) => published.image.topics().by_name("orders").is_some(),
        _ => false,
    };
    let published = done.iter().position(|did| shown(&did)).unwrap();
    // The test's connection is the newest that the node accepted.
    let newest = done
        .iter()
        .filter_map(|did| match did {
            Did::Send(conn) => Some(*conn),
            _ => None,
        })
        .max_by_key(|conn| match conn {
            quorate_server::io::ConnId::Accepted(number) => *number,
            quorate_server::io::ConnId::Dialed(_) => 0,
        });
    let answered = done
        .iter()
        .position(|did| matches!(did, Did::Send(conn) if Some(*conn) == newest))
        .unwrap();
    assert!(published < answered, "{done:?}");
}

#[test]
fn an_active_controller_whose_sync_fails_stops_and_says_why() {
    let (mut lab, active) = Lab::up(3, 1);
    lab.machine(active).disk.fail_syncs(0, u64::MAX);
    assert_eq!(create_at(&mut lab, active, "orders"), None);
    assert_stopped(&mut lab, active, "sync");
}

#[test]
fn an_active_controller_whose_disk_is_full_stops_and_says_why() {
    for space in [0, 1, 60] {
        let (mut lab, active) = Lab::up(3, 1);
        lab.machine(active).disk.set_space_left(Some(space));
        assert_eq!(create_at(&mut lab, active, "orders"), None);
        assert_stopped(&mut lab, active, "space");
    }
}

#[test]
fn a_controller_alone_with_a_full_disk_acknowledges_nothing_and_comes_back_with_space() {
    let (mut lab, active) = Lab::up(1, 1);
    assert_eq!(create_at(&mut lab, active, "before"), Some(ErrorCode::None));
    lab.machine(active).disk.set_space_left(Some(30));
    assert_eq!(create_at(&mut lab, active, "lost"), None);
    assert!(lab.machine(active).fault().unwrap().contains("space"));
    lab.machine(active).disk.set_space_left(None);
    lab.start(active);
    lab.settle();
    assert!(lab.has_topic(active, "before"));
    assert!(!lab.has_topic(active, "lost"));
    assert_eq!(create_at(&mut lab, active, "after"), Some(ErrorCode::None));
}

#[test]
fn a_follower_whose_disk_fails_stops_and_the_others_go_on() {
    for full in [false, true] {
        let (mut lab, active) = Lab::up(3, 1);
        let [follower, _] = others(active);
        let disk = &lab.machine(follower).disk;
        if full {
            disk.set_space_left(Some(10));
        } else {
            disk.fail_syncs(0, u64::MAX);
        }
        assert_eq!(create_at(&mut lab, active, "orders"), Some(ErrorCode::None));
        lab.run_for(Duration::from_millis(100));
        assert_eq!(lab.active(), Some(active), "nothing changes for the others");
        assert_stopped(&mut lab, follower, if full { "space" } else { "sync" });
    }
}

#[test]
fn a_failed_controller_started_again_on_a_mended_disk_catches_up() {
    let (mut lab, active) = Lab::up(3, 1);
    lab.machine(active).disk.set_space_left(Some(40));
    create_at(&mut lab, active, "orders");
    let next = lab.settle();
    assert_eq!(
        create_at(&mut lab, next, "afterwards"),
        Some(ErrorCode::None)
    );
    lab.machine(active).disk.set_space_left(None);
    lab.start(active);
    assert!(lab.run_until(SOON, |lab| lab.has_topic(active, "afterwards")));
}

#[test]
fn a_leader_whose_disk_hangs_resigns_and_acknowledges_nothing() {
    let (mut lab, active) = Lab::up(3, 1);
    lab.hang(active, true);
    let (conn, _) = lab.start_call(active, &creation(&["orders"]));
    // One and a half times the fetch timeout of two seconds, and the round on its way.
    let resigned = lab.run_until(Duration::from_millis(3100), |lab| {
        !lab.machines[&active].leads()
    });
    assert!(resigned);
    if let Some(frame) = lab.answer(conn) {
        let answer = read(creation(&[]).key(), 7, 1, &frame);
        assert_ne!(created(&answer), ErrorCode::None);
    }
    let taken = lab.run_until(SOON, |lab| lab.active().is_some_and(|id| id != active));
    assert!(taken, "another takes over");
    let next = lab.active().unwrap();
    assert_eq!(
        create_at(&mut lab, next, "afterwards"),
        Some(ErrorCode::None)
    );
    lab.hang(active, false);
    assert!(lab.run_until(SOON, |lab| lab.has_topic(active, "afterwards")));
}

#[test]
fn a_log_that_cannot_be_read_any_more_stops_its_node() {
    let (mut lab, active) = Lab::up(3, 1);
    let [follower, _] = others(active);
    // Started again, it must read what it has applied before.
    lab.kill(follower);
    lab.machine(follower).published = None;
    lab.start(follower);
    lab.machine(follower)
        .disk
        .fail_reads_of(Some("00000000000000000000.log"));
    assert!(lab.run_until(SOON, |lab| lab.machines[&follower].stopped.is_some()));
    assert_stopped(&mut lab, follower, "read");
}

#[test]
fn a_broker_whose_disk_fails_stops_and_says_why() {
    for full in [false, true] {
        let (mut lab, active) = Lab::up(3, 2);
        let disk = &lab.machine(broker(1)).disk;
        if full {
            disk.set_space_left(Some(10));
        } else {
            disk.fail_syncs(0, u64::MAX);
        }
        assert_eq!(create_at(&mut lab, active, "orders"), Some(ErrorCode::None));
        assert!(lab.run_until(SOON, |lab| lab.machines[&broker(1)].stopped.is_some()));
        let fault = lab.machine(broker(1)).fault().unwrap().to_owned();
        assert!(fault.contains("/data/__cluster_metadata-0/"), "{fault}");
        // Its session runs out like that of any other broker that is gone.
        let fenced = lab.run_until(Duration::from_secs(15), |lab| {
            let image = lab.active().and_then(|id| lab.image(id));
            image.is_some_and(|image| image.broker(broker(1)).is_some_and(|broker| broker.fenced))
        });
        assert!(fenced);
        assert_eq!(lab.settle(), active);
    }
}
