//! Controlled shutdown, and directories that fail (R54, R57).

use quorate_protocol::messages::BrokerHeartbeatRequest;
use quorate_protocol::records::MetadataRecord;
use quorate_types::{DirectoryId, ErrorCode, NodeId};

use crate::cluster::{Cluster, directory, uuid};

#[test]
fn a_broker_that_leads_waits_until_the_others_know_its_leaders_have_moved() {
    let mut cluster = Cluster::of(3);
    cluster.create("t", &[&[1, 2, 3]]);
    let names = cluster.names(|cluster| assert!(!cluster.shut_down(1)));
    assert_eq!(
        names,
        ["BrokerRegistrationChangeRecord", "PartitionChangeRecord"]
    );
    assert_eq!(cluster.show("t"), "2 [2,3]");
    let last = cluster.solo.end().0 - 1;
    // Neither has applied it yet; then one; then both.
    assert!(!cluster.shut_down(1));
    for (id, offset, granted) in [(2, last, false), (3, last - 1, false), (3, last, true)] {
        let beat = BrokerHeartbeatRequest {
            current_metadata_offset: offset,
            ..cluster.beat(id)
        };
        cluster.heartbeat(beat);
        assert_eq!(cluster.shut_down(1), granted, "after {id} applied {offset}");
    }
    let broker = cluster.image().broker(NodeId(1)).expect("registered");
    assert!(broker.fenced && broker.in_controlled_shutdown);
}

#[test]
fn a_broker_that_leads_nothing_may_stop_at_once() {
    let mut cluster = Cluster::of(2);
    cluster.create("t", &[&[1, 2]]);
    let names = cluster.names(|cluster| assert!(cluster.shut_down(2)));
    assert_eq!(
        names,
        ["PartitionChangeRecord", "BrokerRegistrationChangeRecord"]
    );
    assert_eq!(cluster.show("t"), "1 [1]");
    // A fenced one in any case.
    let mut cluster = Cluster::of(1);
    cluster.fence(1);
    let names = cluster.names(|cluster| assert!(cluster.shut_down(1)));
    assert_eq!(names, ["BrokerRegistrationChangeRecord"]);
}

#[test]
fn after_a_fail_over_a_broker_that_shuts_down_is_let_go_without_a_second_change() {
    let mut cluster = Cluster::of(2);
    cluster.create("t", &[&[1, 2]]);
    cluster.create("lone", &[&[1]]);
    assert!(!cluster.shut_down(1));
    cluster.solo.fail_over();
    // It leads the lone partition no more: nobody does.
    let records = cluster.records(|cluster| assert!(cluster.shut_down(1)));
    let changes = records.iter().filter(|record| {
        matches!(&record.data, MetadataRecord::BrokerRegistrationChange(change)
            if change.in_controlled_shutdown > 0)
    });
    assert_eq!(changes.count(), 0);
}

#[test]
fn a_broker_that_shuts_down_may_not_join_an_isr_nor_hold_new_replicas() {
    let mut cluster = Cluster::of(3);
    cluster.create("t", &[&[1, 2]]);
    assert!(!cluster.shut_down(1));
    for at in 0..20 {
        let topic = crate::cluster::placed(&format!("p{at}"), 1, 2);
        assert_eq!(cluster.create_topic(topic).error_code, ErrorCode::None);
        let partition = cluster.partition(&format!("p{at}"), 0);
        assert!(!partition.has_replica(NodeId(1)), "{partition:?}");
    }
    let answer = cluster.create_topic(crate::cluster::placed("wide", 1, 3));
    assert_eq!(answer.error_code, ErrorCode::InvalidReplicationFactor);
}

#[test]
fn a_heartbeat_that_wants_a_fence_and_to_stop_gets_both() {
    let mut cluster = Cluster::of(2);
    cluster.create("t", &[&[1, 2]]);
    let beat = BrokerHeartbeatRequest {
        want_fence: true,
        want_shut_down: true,
        ..cluster.beat(1)
    };
    let answer = cluster.heartbeat(beat);
    assert!(answer.is_fenced && answer.should_shut_down);
    assert_eq!(cluster.show("t"), "2 [2]");
}

/// A broker 1 with two directories, of which the second holds `t`, and a broker 2.
fn two_directories() -> Cluster {
    let mut cluster = Cluster::new();
    let mut request = cluster.registration(1);
    request.log_dirs.push(uuid(0x0d, 101));
    cluster.send_registration(&request);
    cluster.unfence(1);
    cluster.register(2);
    cluster.unfence(2);
    let id = cluster.create("t", &[&[1, 2]]);
    assert_eq!(
        cluster.partition("t", 0).directories,
        [DirectoryId::UNASSIGNED, DirectoryId(directory(2))]
    );
    let code = crate::alter_partition::assign(&mut cluster, 1, uuid(0x0d, 101), id, 0);
    assert_eq!(code, ErrorCode::None);
    cluster
}

fn fail(cluster: &mut Cluster, id: i32, directories: &[quorate_types::Uuid]) -> Vec<&'static str> {
    let beat = BrokerHeartbeatRequest {
        offline_log_dirs: directories.to_vec(),
        ..cluster.beat(id)
    };
    cluster.names(|cluster| drop(cluster.heartbeat(beat)))
}

#[test]
fn a_directory_that_fails_takes_its_replicas_out_of_their_isrs() {
    let mut cluster = two_directories();
    let names = fail(&mut cluster, 1, &[uuid(0x0d, 101)]);
    assert_eq!(
        names,
        ["PartitionChangeRecord", "BrokerRegistrationChangeRecord"]
    );
    assert_eq!(cluster.show("t"), "2 [2]");
    let broker = cluster.image().broker(NodeId(1)).expect("registered");
    assert_eq!(broker.directories, [DirectoryId(directory(1))]);
    // Told again, it is known.
    assert_eq!(fail(&mut cluster, 1, &[uuid(0x0d, 101)]).len(), 0);
    // What lies nowhere does not fail.
    assert_eq!(fail(&mut cluster, 2, &[uuid(0x0d, 77)]).len(), 0);
}

#[test]
fn when_all_directories_fail_the_registration_keeps_its_list() {
    let mut cluster = two_directories();
    let names = fail(&mut cluster, 1, &[directory(1), uuid(0x0d, 101)]);
    assert_eq!(names, ["PartitionChangeRecord"]);
    assert_eq!(cluster.show("t"), "2 [2]");
    let broker = cluster.image().broker(NodeId(1)).expect("registered");
    assert_eq!(broker.directories.len(), 2);
}

#[test]
fn a_directory_of_a_deleted_topic_fails_in_peace() {
    let mut cluster = two_directories();
    cluster.set("t", "min.insync.replicas", "2");
    cluster.fence(2);
    cluster.fence(1);
    assert_eq!(cluster.show("t"), "- [] elr [1,2] last [1]");
    crate::topics::delete(&mut cluster, "t");
    cluster.unfence(1);
    let names = fail(&mut cluster, 1, &[uuid(0x0d, 101)]);
    assert_eq!(names, ["BrokerRegistrationChangeRecord"]);
}
