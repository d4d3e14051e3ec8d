//! Registration, sessions, fencing (R39, R40, R42, R44, R45, R35).

use quorate_protocol::messages::broker_registration::BrokerRegistrationRequest;
use quorate_protocol::messages::controller_registration::{
    ControllerRegistrationRequest, Listener as ControllerListener,
};
use quorate_protocol::messages::{BrokerHeartbeatRequest, ControllerRegistrationResponse};
use quorate_protocol::records::MetadataRecord;
use quorate_types::{BrokerEpoch, ErrorCode, NodeId};

use crate::cluster::{Case, Cluster, directory, uuid};

/// The answer to a registration that `change` made different, and that nothing was written if it
/// was refused.
fn refused(
    cluster: &mut Cluster,
    change: impl FnOnce(&mut BrokerRegistrationRequest),
) -> ErrorCode {
    let mut request = cluster.registration(7);
    change(&mut request);
    let before = cluster.solo.end();
    let code = cluster.send_registration(&request).error_code;
    assert_eq!(
        cluster.solo.end() != before,
        code.is_none(),
        "records of a refusal"
    );
    code
}

#[test]
fn a_new_process_starts_fenced_with_the_first_offset_of_its_batch_as_epoch() {
    let mut cluster = Cluster::new();
    let at = cluster.solo.end();
    let records = cluster.records(|cluster| {
        cluster.register(1);
    });
    let [record] = records.as_slice() else {
        panic!("{records:?}")
    };
    assert_eq!(record.version, 3);
    let MetadataRecord::RegisterBroker(registered) = &record.data else {
        panic!("{record:?}")
    };
    assert_eq!((registered.broker_epoch, registered.fenced), (at.0, true));
    let broker = cluster.image().broker(NodeId(1)).expect("registered");
    assert_eq!((broker.epoch, broker.at), (BrokerEpoch(at.0), at));
}

#[test]
fn registrations_are_refused_by_the_first_thing_wrong_with_them() {
    let mut cluster = Cluster::of(1);
    let cluster = &mut cluster;
    let cases: Vec<Case<BrokerRegistrationRequest>> = vec![
        (ErrorCode::InconsistentClusterId, |r| {
            r.cluster_id = "another".into()
        }),
        (ErrorCode::InconsistentClusterId, |r| {
            r.cluster_id = "another".into();
            r.log_dirs.clear();
        }),
        (ErrorCode::InvalidRequest, |r| r.broker_id = -1),
        (ErrorCode::BrokerIdNotRegistered, |r| {
            r.is_migrating_zk_broker = true
        }),
        (ErrorCode::InvalidRegistration, |r| r.log_dirs.clear()),
        (ErrorCode::InvalidRegistration, |r| {
            r.log_dirs.push(r.log_dirs[0])
        }),
        (ErrorCode::InvalidRegistration, |r| {
            r.log_dirs.push(quorate_types::Uuid::reserved(99))
        }),
        (ErrorCode::InvalidRegistration, |r| {
            r.log_dirs = vec![directory(1)]
        }),
        (ErrorCode::InvalidRequest, |r| r.listeners[0].name.clear()),
        (ErrorCode::InvalidRequest, |r| r.listeners[0].host.clear()),
        (ErrorCode::InvalidRequest, |r| r.listeners[0].port = 0),
        (ErrorCode::InvalidRequest, |r| {
            r.listeners[0].security_protocol = 4
        }),
        (ErrorCode::UnsupportedVersion, |r| {
            r.features[3].max_supported_version = 28
        }),
        (ErrorCode::UnsupportedVersion, |r| {
            r.features[0].max_supported_version = 0
        }),
        (ErrorCode::UnsupportedVersion, |r| {
            r.features[0].min_supported_version = 2
        }),
        // A feature that is finalized must be named.
        (ErrorCode::UnsupportedVersion, |r| {
            r.features.retain(|f| f.name != "group.version")
        }),
        (ErrorCode::InvalidRegistration, |r| {
            r.features.retain(|f| f.name != "metadata.version")
        }),
        // kraft.version is not finalized in the log, and counts as 0.
        (ErrorCode::UnsupportedVersion, |r| {
            r.features
                .iter_mut()
                .find(|f| f.name == "kraft.version")
                .unwrap()
                .min_supported_version = 1;
        }),
    ];
    for (at, (expected, change)) in cases.into_iter().enumerate() {
        assert_eq!(refused(cluster, change), expected, "case {at}");
    }
    // Nothing is wrong with a range that starts at 0, or with a feature that nobody knows.
    let code = refused(cluster, |request| {
        request.features[0].min_supported_version = 0;
        request
            .features
            .push(quorate_protocol::messages::broker_registration::Feature {
                name: "future.version".into(),
                max_supported_version: 3,
                ..Default::default()
            });
    });
    assert_eq!(code, ErrorCode::None);
}

#[test]
fn directories_are_not_asked_for_before_they_exist() {
    let mut cluster = Cluster::at(16);
    let mut request = cluster.registration(1);
    request.log_dirs.clear();
    let records = cluster.records(|cluster| {
        assert_eq!(
            cluster.send_registration(&request).error_code,
            ErrorCode::None
        );
    });
    assert_eq!(records[0].version, 2);
    assert_eq!(register_version(7), 1);
}

fn register_version(version: i16) -> i16 {
    let records = Cluster::at(version).records(|cluster| {
        cluster.register(1);
    });
    records[0].version
}

#[test]
fn a_second_process_waits_until_the_session_of_the_first_has_run_out() {
    let mut cluster = Cluster::new();
    let x = cluster.registration(1);
    let first = cluster.send_registration(&x).broker_epoch;
    // Before its first heartbeat nobody knows whether it lives: another may take its place.
    let y = cluster.registration(1);
    let second = cluster.send_registration(&y).broker_epoch;
    assert!(second > first);
    cluster.unfence(1);
    // Fenced by itself, it still lives.
    cluster.sleep(2000);
    cluster.fence(1);
    cluster.sleep(9000);
    let z = cluster.registration(1);
    let end = cluster.solo.end();
    let answer = cluster.send_registration(&z);
    assert_eq!(answer.error_code, ErrorCode::DuplicateBrokerRegistration);
    assert_eq!(cluster.solo.end(), end);
    cluster.sleep(10);
    let third = cluster.send_registration(&z);
    assert_eq!(third.error_code, ErrorCode::None);
    assert!(third.broker_epoch > second);
}

#[test]
fn a_heartbeat_of_an_old_epoch_is_stale_and_prolongs_nobodys_session() {
    let mut cluster = Cluster::new();
    let old = cluster.register(1);
    let new = cluster.register(1);
    assert!(new > old);
    cluster.unfence(1);
    cluster.sleep(8000);
    let stale = BrokerHeartbeatRequest {
        broker_epoch: old,
        ..cluster.beat(1)
    };
    assert_eq!(
        cluster.heartbeat(stale).error_code,
        ErrorCode::StaleBrokerEpoch
    );
    let unknown = BrokerHeartbeatRequest {
        broker_id: 9,
        ..cluster.beat(1)
    };
    assert_eq!(
        cluster.heartbeat(unknown).error_code,
        ErrorCode::StaleBrokerEpoch
    );
    cluster.sleep(1500);
    assert!(
        cluster
            .image()
            .broker(NodeId(1))
            .expect("registered")
            .fenced
    );
}

#[test]
fn the_same_process_keeps_its_epoch_and_has_to_apply_its_newer_registration() {
    let mut cluster = Cluster::new();
    let request = cluster.registration(1);
    let epoch = cluster.send_registration(&request).broker_epoch;
    let registered = cluster.solo.end().0 - 1;
    let again = cluster.send_registration(&request);
    assert_eq!(again.broker_epoch, epoch);
    let behind = BrokerHeartbeatRequest {
        current_metadata_offset: registered,
        ..cluster.beat(1)
    };
    let answer = cluster.heartbeat(behind);
    assert_eq!((answer.is_caught_up, answer.is_fenced), (false, true));
    cluster.unfence(1);
    // Registered again while it takes part, it goes on taking part.
    cluster.send_registration(&request);
    assert!(
        !cluster
            .image()
            .broker(NodeId(1))
            .expect("registered")
            .fenced
    );
}

#[test]
fn a_broker_that_is_always_one_record_behind_a_busy_log_unfences() {
    let mut cluster = Cluster::new();
    cluster.register(1);
    cluster.register(2);
    cluster.unfence(2);
    for at in 0..5 {
        cluster.create(&format!("busy-{at}"), &[&[2]]);
    }
    let behind = BrokerHeartbeatRequest {
        current_metadata_offset: cluster.solo.end().0 - 2,
        ..cluster.beat(1)
    };
    let answer = cluster.heartbeat(behind);
    assert_eq!((answer.is_caught_up, answer.is_fenced), (true, false));
}

#[test]
fn a_broker_that_has_not_applied_its_registration_stays_fenced() {
    let mut cluster = Cluster::new();
    let epoch = cluster.register(1);
    for offset in [-1, epoch - 1] {
        let beat = BrokerHeartbeatRequest {
            current_metadata_offset: offset,
            ..cluster.beat(1)
        };
        let answer = cluster.heartbeat(beat);
        assert_eq!((answer.is_caught_up, answer.is_fenced), (false, true));
    }
    let beat = BrokerHeartbeatRequest {
        current_metadata_offset: epoch,
        want_fence: true,
        ..cluster.beat(1)
    };
    let answer = cluster.heartbeat(beat);
    assert_eq!((answer.is_caught_up, answer.is_fenced), (true, true));
}

#[test]
fn two_brokers_that_fall_silent_together_are_both_fenced_within_one_check() {
    let mut cluster = Cluster::of(3);
    cluster.create("t", &[&[1, 2, 3]]);
    for _ in 0..4 {
        cluster.sleep(2000);
        cluster.unfence(3);
    }
    assert_eq!(cluster.show("t"), "1 [1,2,3]");
    let names = cluster.names(|cluster| cluster.sleep(9000 / 8));
    assert_eq!(cluster.show("t"), "3 [3]");
    let expected = ["PartitionChangeRecord", "BrokerRegistrationChangeRecord"];
    assert_eq!(names, [expected, expected].concat());
}

#[test]
fn after_a_fail_over_the_living_are_left_alone_and_the_dead_get_one_session() {
    let mut cluster = Cluster::of(2);
    cluster.create("t", &[&[1, 2]]);
    cluster.sleep(8000);
    cluster.solo.fail_over();
    for _ in 0..4 {
        cluster.sleep(2000);
        cluster.unfence(2);
    }
    assert_eq!(cluster.show("t"), "1 [1,2]");
    cluster.sleep(1125);
    assert_eq!(cluster.show("t"), "2 [2]");
}

#[test]
fn after_a_fail_over_a_fenced_broker_may_register_at_once() {
    let mut cluster = Cluster::of(1);
    cluster.fence(1);
    let request = cluster.registration(1);
    let answer = cluster.send_registration(&request);
    assert_eq!(answer.error_code, ErrorCode::DuplicateBrokerRegistration);
    cluster.solo.fail_over();
    assert_eq!(
        cluster.send_registration(&request).error_code,
        ErrorCode::None
    );
}

#[test]
fn a_broker_that_is_unregistered_leaves_isr_and_elr_and_may_come_back() {
    let mut cluster = Cluster::of(3);
    cluster.create_with("t", &[&[1, 2]], &[("min.insync.replicas", "2")]);
    cluster.fence(2);
    assert_eq!(cluster.show("t"), "1 [1] elr [2]");
    assert_eq!(cluster.unregister(2), ErrorCode::None);
    assert_eq!(cluster.show("t"), "1 [1]");
    assert_eq!(cluster.unregister(2), ErrorCode::BrokerIdNotRegistered);
    let names = cluster.names(|cluster| assert_eq!(cluster.unregister(1), ErrorCode::None));
    assert_eq!(names, ["PartitionChangeRecord", "UnregisterBrokerRecord"]);
    assert_eq!(cluster.show("t"), "- [] last [1]");
    cluster.register(1);
    cluster.unfence(1);
    assert_eq!(cluster.show("t"), "1! [1]");
}

#[test]
fn controllers_register_with_what_they_say_of_themselves() {
    let mut cluster = Cluster::new();
    let listener = ControllerListener {
        name: "CONTROLLER".into(),
        host: "localhost".into(),
        port: 9093,
        ..Default::default()
    };
    let request = ControllerRegistrationRequest {
        controller_id: 100,
        incarnation_id: uuid(0x0c, 1),
        listeners: vec![listener],
        ..Default::default()
    };
    let answer: ControllerRegistrationResponse = cluster.ask(request.clone());
    assert_eq!(answer.error_code, ErrorCode::None);
    let endpoint = cluster
        .image()
        .controller(NodeId(100))
        .and_then(|c| c.endpoint("CONTROLLER"));
    assert_eq!(endpoint.map(|endpoint| endpoint.port), Some(9093));
    let mut unnamed = request.clone();
    unnamed.listeners[0].name.clear();
    let answer: ControllerRegistrationResponse = cluster.ask(unnamed);
    assert_eq!(answer.error_code, ErrorCode::InvalidRequest);
    let answer: ControllerRegistrationResponse = Cluster::at(14).ask(request);
    assert_eq!(answer.error_code, ErrorCode::UnsupportedVersion);
}
