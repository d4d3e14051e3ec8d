//! The quorum changes while it works: `kraft.version` is raised, voters come and go.

mod common;

use std::time::Duration;

use common::*;
use quorate_protocol::messages::add_raft_voter::Listener;
use quorate_protocol::messages::update_features::FeatureUpdateKey;
use quorate_protocol::messages::{
    AddRaftVoterRequest, RemoveRaftVoterRequest, Request, Response, UpdateFeaturesRequest,
    UpdateFeaturesResponse,
};
use quorate_raft::Raft;
use quorate_storage::vfs::MemVfs;
use quorate_types::{
    DirectoryId, ErrorCode, KRaftVersion, NodeId, Uuid, VersionRange, Voter, VoterSet,
};

fn raft(lab: &Lab, id: NodeId) -> &Raft {
    lab.machines[&id].quorum().unwrap().raft()
}

fn voters(lab: &Lab, id: NodeId) -> Vec<NodeId> {
    raft(lab, id).voters().ids().collect()
}

/// Controllers 1 to 3 that know each other from their configuration, as they did before KIP-853.
fn static_quorum() -> (Lab, NodeId) {
    let mut lab = Lab::empty();
    let ids: Vec<NodeId> = (1..=3).map(controller).collect();
    let voter = |id: &NodeId| {
        let voter = Voter {
            directory: None,
            endpoints: vec![endpoint(*id, "CONTROLLER")],
            kraft_versions: VersionRange { min: 0, max: 0 },
        };
        (*id, voter)
    };
    let voters: VoterSet = ids.iter().map(voter).collect();
    for id in &ids {
        add(&mut lab, *id);
        lab.machine(*id).static_voters = Some(voters.clone());
        lab.start(*id);
    }
    let active = lab.settle();
    lab.run_for(Duration::from_secs(5));
    (lab, active)
}

fn directory(id: NodeId) -> DirectoryId {
    DirectoryId(Uuid([id.0 as u8 + 100; 16]))
}

/// A controller that was formatted to join.
fn add(lab: &mut Lab, id: NodeId) {
    let disk = MemVfs::new();
    format_disk(&disk, id, directory(id), None);
    lab.add(id, disk, true);
    lab.machine(id).bootstrap = (1..=3).map(controller).map(address).collect();
}

fn update(features: &[(&str, i16)], upgrade_type: i8, validate_only: bool) -> Request {
    let key = |(feature, level): &(&str, i16)| FeatureUpdateKey {
        feature: (*feature).to_owned(),
        max_version_level: *level,
        upgrade_type,
        ..Default::default()
    };
    Request::from(UpdateFeaturesRequest {
        feature_updates: features.iter().map(key).collect(),
        validate_only,
        ..Default::default()
    })
}

fn updated(lab: &mut Lab, active: NodeId, request: &Request) -> UpdateFeaturesResponse {
    match lab.call(active, request) {
        Some(Response::UpdateFeatures(response)) => response,
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_upgrade_of_kraft_version_is_answered_once_it_is_committed() {
    let (mut lab, active) = static_quorum();
    assert_eq!(raft(&lab, active).kraft_version(), KRaftVersion::STATIC);
    let request = update(&[("kraft.version", 1)], 1, true);
    let answer = updated(&mut lab, active, &request);
    assert_eq!(answer.error_code, ErrorCode::None, "{answer:?}");
    assert_eq!(raft(&lab, active).kraft_version(), KRaftVersion::STATIC);

    let others: Vec<NodeId> = (1..=3).map(controller).filter(|id| *id != active).collect();
    for id in &others {
        lab.hang(*id, true);
    }
    let (conn, _) = lab.start_call(active, &update(&[("kraft.version", 1)], 1, false));
    lab.run_for(Duration::from_millis(600));
    assert_eq!(raft(&lab, active).kraft_version(), KRaftVersion::DYNAMIC);
    assert_eq!(lab.waiting(conn), 0, "no majority has it");
    for id in &others {
        lab.hang(*id, false);
    }
    assert!(lab.run_until(SOON, |lab| lab.waiting(conn) == 1));
    let there = |lab: &Lab| {
        let dynamic = |id: NodeId| raft(lab, id).kraft_version() == KRaftVersion::DYNAMIC;
        (1..=3).map(controller).all(dynamic)
    };
    assert!(lab.run_until(SOON, there));
    let entry = raft(&lab, active).voters().get(active).unwrap();
    assert_eq!(entry.directory, Some(directory(active)));
}

#[test]
fn kraft_version_stands_beside_other_features_and_all_or_none_is_done() {
    let (mut lab, active) = static_quorum();
    // As `kafka-features upgrade --release-version` asks; but no such level exists.
    let request = update(&[("metadata.version", 30), ("kraft.version", 1)], 1, false);
    let answer = updated(&mut lab, active, &request);
    assert_eq!(answer.error_code, ErrorCode::InvalidUpdateVersion);
    assert_eq!(raft(&lab, active).kraft_version(), KRaftVersion::STATIC);

    let request = update(&[("metadata.version", 29), ("kraft.version", 1)], 1, false);
    for _ in 0..2 {
        // The second time there is nothing left to do.
        let answer = updated(&mut lab, active, &request);
        assert_eq!(answer.error_code, ErrorCode::None, "{answer:?}");
        assert_eq!(raft(&lab, active).kraft_version(), KRaftVersion::DYNAMIC);
    }
    for upgrade_type in 1..=3 {
        let request = update(&[("kraft.version", 0)], upgrade_type, false);
        let answer = updated(&mut lab, active, &request);
        assert_eq!(answer.error_code, ErrorCode::InvalidUpdateVersion);
    }
    let answer = updated(&mut lab, active, &update(&[("kraft.version", 2)], 1, false));
    assert_eq!(answer.error_code, ErrorCode::InvalidUpdateVersion);
    assert_eq!(lab.active(), Some(active), "nobody had to step down");
}

#[test]
fn who_is_not_active_refuses_an_upgrade_whole() {
    let (mut lab, active) = static_quorum();
    let standby = (1..=3).map(controller).find(|id| *id != active).unwrap();
    let answer = updated(
        &mut lab,
        standby,
        &update(&[("kraft.version", 1)], 1, false),
    );
    assert_eq!(answer.error_code, ErrorCode::NotController);
    assert_eq!(raft(&lab, active).kraft_version(), KRaftVersion::STATIC);
}

fn add_voter(lab: &mut Lab, active: NodeId, id: NodeId) -> ErrorCode {
    let endpoint = endpoint(id, "CONTROLLER");
    let request = Request::from(AddRaftVoterRequest {
        cluster_id: Some(CLUSTER.to_owned()),
        timeout_ms: 5000,
        voter_id: id.0,
        voter_directory_id: directory(id).0,
        listeners: vec![Listener {
            name: endpoint.name,
            host: endpoint.host,
            port: endpoint.port,
            ..Default::default()
        }],
        ack_when_committed: true,
        ..Default::default()
    });
    match lab.call(active, &request) {
        Some(Response::AddRaftVoter(response)) => response.error_code,
        other => panic!("{other:?}"),
    }
}

fn remove_voter(lab: &mut Lab, active: NodeId, id: NodeId, directory: DirectoryId) -> ErrorCode {
    let request = Request::from(RemoveRaftVoterRequest {
        cluster_id: Some(CLUSTER.to_owned()),
        voter_id: id.0,
        voter_directory_id: directory.0,
        ..Default::default()
    });
    match lab.call(active, &request) {
        Some(Response::RemoveRaftVoter(response)) => response.error_code,
        other => panic!("{other:?}"),
    }
}

#[test]
fn voters_join_and_leave_and_the_leader_too() {
    let (mut lab, active) = static_quorum();
    let request = update(&[("kraft.version", 1)], 1, false);
    assert_eq!(
        updated(&mut lab, active, &request).error_code,
        ErrorCode::None
    );

    // One that never started is refused, and nothing is written for it.
    let end = raft(&lab, active).voters().clone();
    assert_eq!(
        add_voter(&mut lab, active, controller(4)),
        ErrorCode::RequestTimedOut
    );
    assert_eq!(raft(&lab, active).voters(), &end);

    add(&mut lab, controller(4));
    lab.start(controller(4));
    let caught_up = |lab: &Lab| {
        let here = raft(lab, controller(4)).high_watermark();
        here.is_some() && here == raft(lab, active).high_watermark()
    };
    assert!(lab.run_until(SOON, caught_up));
    assert_eq!(add_voter(&mut lab, active, controller(4)), ErrorCode::None);
    assert_eq!(
        add_voter(&mut lab, active, controller(4)),
        ErrorCode::DuplicateVoter
    );
    assert_eq!(voters(&lab, active).len(), 4);

    let stranger = DirectoryId(Uuid([1; 16]));
    let gone = (1..=3).map(controller).find(|id| *id != active).unwrap();
    let refused = remove_voter(&mut lab, active, gone, stranger);
    assert_eq!(refused, ErrorCode::VoterNotFound);
    assert_eq!(
        remove_voter(&mut lab, active, gone, directory(gone)),
        ErrorCode::None
    );
    assert!(!voters(&lab, active).contains(&gone));

    // The leader goes last: it answers, and hands over.
    let removed = remove_voter(&mut lab, active, active, directory(active));
    assert_eq!(removed, ErrorCode::None);
    let moved = |lab: &Lab| lab.active().is_some_and(|now| now != active);
    assert!(lab.run_until(SOON, moved));
    let now = lab.active().unwrap();
    assert_eq!(voters(&lab, now).len(), 2);
    // Those that left follow as observers, and disturb nobody.
    let epoch = raft(&lab, now).epoch();
    lab.run_for(Duration::from_secs(20));
    assert_eq!(raft(&lab, now).epoch(), epoch);
    for left in [gone, active] {
        assert_eq!(
            raft(&lab, left).high_watermark(),
            raft(&lab, now).high_watermark()
        );
    }
}
