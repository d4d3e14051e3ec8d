//! Who leads when brokers come and go, with and without eligible leader replicas (R49–R51).

use std::time::Duration;

use quorate_types::{ErrorCode, NodeId};

use crate::alter_partition::set_isr;
use crate::cluster::Cluster;

/// Partition 0 of `t` after each fencing in turn.
fn fenced(cluster: &mut Cluster, order: &[i32]) -> Vec<String> {
    let step = |id: &i32| {
        cluster.fence(*id);
        cluster.show("t")
    };
    order.iter().map(step).collect()
}

#[test]
fn who_leaves_an_isr_below_the_minimum_stays_eligible() {
    let mut cluster = Cluster::of(3);
    cluster.create_with("t", &[&[1, 2, 3]], &[("min.insync.replicas", "2")]);
    assert_eq!(
        fenced(&mut cluster, &[3, 2, 1]),
        ["1 [1,2]", "1 [1] elr [2]", "- [] elr [1,2] last [1]"]
    );
    cluster.unfence(3);
    assert_eq!(cluster.show("t"), "- [] elr [1,2] last [1]");
    cluster.unfence(2);
    assert_eq!(cluster.show("t"), "2 [2] elr [1]");
}

#[test]
fn the_minimum_is_capped_by_the_number_of_replicas() {
    let mut cluster = Cluster::of(2);
    cluster.create_with("t", &[&[1, 2]], &[("min.insync.replicas", "3")]);
    assert_eq!(
        fenced(&mut cluster, &[2, 1]),
        ["1 [1] elr [2]", "- [] elr [1,2] last [1]"]
    );
    cluster.unfence(2);
    assert_eq!(cluster.show("t"), "2 [2] elr [1]");
    cluster.unfence(1);
    assert_eq!(set_isr(&mut cluster, "t", &[1, 2]), ErrorCode::None);
    assert_eq!(cluster.show("t"), "2 [1,2]");
}

#[test]
fn without_elr_the_last_member_stays_in_the_isr() {
    let mut cluster = Cluster::without_elr(3);
    cluster.create_with("t", &[&[1, 2, 3]], &[("min.insync.replicas", "2")]);
    assert_eq!(
        fenced(&mut cluster, &[3, 2, 1]),
        ["1 [1,2]", "1 [1]", "- [1]"]
    );
    cluster.unfence(2);
    assert_eq!(cluster.show("t"), "- [1]");
    cluster.unfence(1);
    assert_eq!(cluster.show("t"), "1 [1]");
}

#[test]
fn changing_the_minimum_clears_the_elr() {
    let mut cluster = Cluster::of(3);
    cluster.create_with("t", &[&[1, 2, 3]], &[("min.insync.replicas", "2")]);
    fenced(&mut cluster, &[3, 2]);
    let names = cluster.names(|cluster| cluster.set("t", "min.insync.replicas", "1"));
    assert_eq!(names, ["ConfigRecord", "ClearElrRecord"]);
    assert_eq!(cluster.show("t"), "1 [1]");
}

#[test]
fn the_last_known_leader_is_elected_when_nobody_is_eligible() {
    let mut cluster = Cluster::of(2);
    cluster.create_with("t", &[&[1, 2]], &[("min.insync.replicas", "2")]);
    fenced(&mut cluster, &[2, 1]);
    cluster.sleep(9100);
    // Both come back as new processes that do not say they stopped cleanly.
    cluster.register(1);
    assert_eq!(cluster.show("t"), "- [] elr [2] last [1]");
    cluster.register(2);
    assert_eq!(cluster.show("t"), "- [] last [1]");
    cluster.unfence(2);
    assert_eq!(cluster.show("t"), "- [] last [1]");
    cluster.unfence(1);
    assert_eq!(cluster.show("t"), "1! [1]");
}

#[test]
fn a_clean_shutdown_keeps_a_broker_eligible() {
    let mut cluster = Cluster::of(2);
    cluster.create_with("t", &[&[1, 2]], &[("min.insync.replicas", "2")]);
    fenced(&mut cluster, &[2, 1]);
    cluster.sleep(9100);
    let mut clean = cluster.registration(2);
    clean.previous_broker_epoch = cluster.epoch(2);
    cluster.send_registration(&clean);
    assert_eq!(cluster.show("t"), "- [] elr [1,2] last [1]");
    cluster.unfence(2);
    assert_eq!(cluster.show("t"), "2 [2] elr [1]");
    // A request too old to say so counts as unclean.
    let mut old = cluster.registration(1);
    old.previous_broker_epoch = cluster.epoch(1);
    cluster.speaking(2, |cluster| drop(cluster.send_registration(&old)));
    assert_eq!(cluster.show("t"), "2 [2]");
}

#[test]
fn a_registration_that_cleans_up_has_the_batchs_first_offset_as_epoch() {
    let mut cluster = Cluster::of(2);
    cluster.create_with("t", &[&[1, 2]], &[("min.insync.replicas", "2")]);
    cluster.fence(2);
    for _ in 0..3 {
        cluster.sleep(4000);
        cluster.unfence(1);
    }
    assert_eq!(cluster.show("t"), "1 [1] elr [2]");
    let base = cluster.solo.end();
    let names = cluster.names(|cluster| {
        cluster.register(2);
    });
    assert_eq!(names, ["PartitionChangeRecord", "RegisterBrokerRecord"]);
    assert_eq!(cluster.epoch(2), base.0);
    let registered = cluster.image().broker(NodeId(2)).expect("registered");
    assert_eq!(registered.at, base + 1);
    assert_eq!(cluster.show("t"), "1 [1]");
}

#[test]
fn enabling_unclean_elections_elects_on_the_next_sweep() {
    let mut cluster = Cluster::without_elr(2);
    cluster.create("t", &[&[1, 2]]);
    cluster.fence(2);
    cluster.fence(1);
    cluster.unfence(2);
    assert_eq!(cluster.show("t"), "- [1]");
    cluster.set("t", "unclean.leader.election.enable", "true");
    assert_eq!(cluster.show("t"), "- [1]");
    for _ in 0..75 {
        cluster.sleep(4000);
        cluster.unfence(2);
    }
    assert_eq!(cluster.show("t"), "2! [2]");
}

#[test]
fn an_unclean_election_is_not_needed_where_there_is_a_leader() {
    let mut cluster = Cluster::without_elr(2);
    cluster.create("t", &[&[1, 2]]);
    let needed = |result: Vec<(String, i32, ErrorCode)>| result[0].2;
    assert_eq!(
        needed(cluster.elect(1, Some(("t", 0)))),
        ErrorCode::ElectionNotNeeded
    );
    cluster.fence(2);
    cluster.fence(1);
    assert_eq!(
        needed(cluster.elect(1, Some(("t", 0)))),
        ErrorCode::EligibleLeadersNotAvailable
    );
    cluster.unfence(2);
    assert_eq!(needed(cluster.elect(1, Some(("t", 0)))), ErrorCode::None);
    assert_eq!(cluster.show("t"), "2! [2]");
}

#[test]
fn a_preferred_election_moves_the_leader_only_within_the_isr() {
    let mut cluster = Cluster::of(3);
    cluster.create("t", &[&[1, 2, 3]]);
    cluster.create("u", &[&[2, 3]]);
    let preferred = |cluster: &mut Cluster| cluster.elect(0, Some(("t", 0)))[0].2;
    assert_eq!(preferred(&mut cluster), ErrorCode::ElectionNotNeeded);
    cluster.fence(1);
    assert_eq!(cluster.show("t"), "2 [2,3]");
    assert_eq!(
        preferred(&mut cluster),
        ErrorCode::PreferredLeaderNotAvailable
    );
    cluster.unfence(1);
    // It is back, but not in sync yet.
    assert_eq!(
        preferred(&mut cluster),
        ErrorCode::PreferredLeaderNotAvailable
    );
    assert_eq!(set_isr(&mut cluster, "t", &[1, 2, 3]), ErrorCode::None);
    // All topics are listed, those that need nothing without their partitions.
    assert_eq!(cluster.elect(0, None), [("t".into(), 0, ErrorCode::None)]);
    assert_eq!(cluster.show("t"), "1 [1,2,3]");
    assert_eq!(cluster.elect(0, None), []);
}

#[test]
fn a_preferred_election_finds_nobody_where_all_are_fenced() {
    let mut cluster = Cluster::of(3);
    cluster.create_with("t", &[&[1, 2, 3]], &[("min.insync.replicas", "2")]);
    fenced(&mut cluster, &[3, 2, 1]);
    assert_eq!(
        cluster.elect(0, Some(("t", 0)))[0].2,
        ErrorCode::PreferredLeaderNotAvailable
    );
}

#[test]
fn elections_of_what_does_not_exist_are_refused_by_item() {
    let mut cluster = Cluster::of(1);
    cluster.create("t", &[&[1]]);
    assert_eq!(
        cluster.elect(0, Some(("t", 1)))[0].2,
        ErrorCode::UnknownTopicOrPartition
    );
    assert_eq!(
        cluster.elect(0, Some(("u", 0)))[0].2,
        ErrorCode::UnknownTopicOrPartition
    );
    let answer: quorate_protocol::messages::ElectLeadersResponse =
        cluster.ask(quorate_protocol::messages::ElectLeadersRequest {
            election_type: 2,
            ..Default::default()
        });
    assert_eq!(answer.error_code, ErrorCode::InvalidRequest);
}

#[test]
fn leaders_move_back_to_the_preferred_replicas_in_limited_sweeps() {
    let mut cluster = Cluster::with(|config| {
        config.leader_imbalance_check_interval = Some(Duration::from_secs(5));
        config.max_elections_per_run = 2;
    });
    cluster.start(2);
    for name in ["a", "b", "c"] {
        cluster.create(name, &[&[1, 2]]);
    }
    cluster.fence(1);
    cluster.unfence(1);
    for name in ["a", "b", "c"] {
        assert_eq!(set_isr(&mut cluster, name, &[1, 2]), ErrorCode::None);
        assert_eq!(cluster.show(name), "2 [1,2]");
    }
    let names = cluster.names(|cluster| cluster.sleep(5000));
    assert_eq!(names, ["PartitionChangeRecord"; 2]);
    let names = cluster.names(|cluster| cluster.sleep(10));
    assert_eq!(names, ["PartitionChangeRecord"; 1]);
    for name in ["a", "b", "c"] {
        assert_eq!(cluster.show(name), "1 [1,2]");
    }
}

#[test]
fn a_no_op_is_written_every_half_second_busy_or_not() {
    let mut cluster = Cluster::with(|config| {
        config.max_idle_interval = Some(Duration::from_millis(500));
    });
    let names = cluster.names(|cluster| cluster.sleep(2000));
    assert_eq!(names, ["NoOpRecord"; 4]);
}
