//! Finalized levels, and producer ids.

use quorate_protocol::messages::update_features::FeatureUpdateKey;
use quorate_protocol::messages::{
    AllocateProducerIdsRequest, AllocateProducerIdsResponse, ControllerRegistrationRequest,
    ControllerRegistrationResponse, UpdateFeaturesRequest, UpdateFeaturesResponse,
};
use quorate_types::{ErrorCode, NodeId};

use crate::cluster::Cluster;

const UPGRADE: i8 = 1;
const SAFE_DOWNGRADE: i8 = 2;
const UNSAFE_DOWNGRADE: i8 = 3;

fn update(cluster: &mut Cluster, updates: &[(&str, i16, i8)]) -> UpdateFeaturesResponse {
    let update = |(feature, level, upgrade_type): &(&str, i16, i8)| FeatureUpdateKey {
        feature: (*feature).into(),
        max_version_level: *level,
        upgrade_type: *upgrade_type,
        ..Default::default()
    };
    cluster.ask(UpdateFeaturesRequest {
        feature_updates: updates.iter().map(update).collect(),
        ..Default::default()
    })
}

fn code(cluster: &mut Cluster, feature: &str, level: i16, upgrade_type: i8) -> ErrorCode {
    update(cluster, &[(feature, level, upgrade_type)]).error_code
}

#[test]
fn levels_move_within_what_everyone_supports() {
    const MV: &str = "metadata.version";
    let mut cluster = Cluster::at(22);
    cluster.start(1);
    let cluster = &mut cluster;
    let bad = ErrorCode::InvalidUpdateVersion;
    let steps = [
        (MV, 30, UPGRADE, bad),
        (MV, 6, UNSAFE_DOWNGRADE, bad),
        (MV, -1, UNSAFE_DOWNGRADE, bad),
        (MV, 25, SAFE_DOWNGRADE, bad),
        (MV, 25, 0, bad),
        (MV, 25, 4, bad),
        (MV, 25, UPGRADE, ErrorCode::None),
        (MV, 25, SAFE_DOWNGRADE, ErrorCode::None),
        (MV, 24, UPGRADE, bad),
        (MV, 24, SAFE_DOWNGRADE, ErrorCode::None),
        // Records changed at 23.
        (MV, 22, SAFE_DOWNGRADE, bad),
        (MV, 22, UNSAFE_DOWNGRADE, bad),
        ("no.such", 1, UPGRADE, bad),
        ("kraft.version", 1, UPGRADE, bad),
        ("transaction.version", 3, UPGRADE, bad),
        ("transaction.version", 2, UPGRADE, ErrorCode::None),
        ("transaction.version", 0, SAFE_DOWNGRADE, ErrorCode::None),
    ];
    for (feature, level, upgrade_type, expected) in steps {
        let end = cluster.solo.end();
        assert_eq!(
            code(cluster, feature, level, upgrade_type),
            expected,
            "{feature} to {level}"
        );
        assert_eq!(
            cluster.solo.end() != end,
            expected.is_none(),
            "{feature} to {level}"
        );
    }
    assert_eq!(cluster.image().features().metadata_version().level(), 24);
    assert_eq!(cluster.image().features().level("transaction.version"), 0);
}

#[test]
fn elr_needs_its_metadata_version_in_the_proposed_set() {
    const ELR: &str = "eligible.leader.replicas.version";
    let mut cluster = Cluster::at(22);
    assert_eq!(
        code(&mut cluster, ELR, 1, UPGRADE),
        ErrorCode::InvalidUpdateVersion
    );
    let both = [(ELR, 1, UPGRADE), ("metadata.version", 23, UPGRADE)];
    assert_eq!(update(&mut cluster, &both).error_code, ErrorCode::None);
    assert!(cluster.image().features().elr_enabled());
}

#[test]
fn turning_elr_on_makes_min_insync_replicas_the_clusters() {
    let mut cluster = Cluster::at(25);
    cluster.start(2);
    let changes = [(0, "min.insync.replicas", Some("2"))];
    assert_eq!(cluster.configure((4, "1"), &changes), ErrorCode::None);
    let records = cluster.names(|cluster| {
        let level = code(cluster, "eligible.leader.replicas.version", 1, UPGRADE);
        assert_eq!(level, ErrorCode::None);
    });
    assert_eq!(
        records,
        ["ConfigRecord", "ConfigRecord", "FeatureLevelRecord"]
    );
    let broker = quorate_metadata::ConfigResource::new(quorate_metadata::ConfigKind::BROKER, "1");
    assert_eq!(
        cluster
            .image()
            .configs()
            .get(&broker, "min.insync.replicas"),
        None
    );
    assert_eq!(
        cluster.image().configs().cluster("min.insync.replicas"),
        Some("1")
    );
}

#[test]
fn one_level_that_cannot_be_refuses_all() {
    let mut cluster = Cluster::at(25);
    let updates = [
        ("metadata.version", 26, UPGRADE),
        ("group.version", 9, UPGRADE),
    ];
    let answer = update(&mut cluster, &updates);
    assert_eq!(answer.error_code, ErrorCode::InvalidUpdateVersion);
    assert!(
        answer
            .error_message
            .is_some_and(|message| message.contains("group.version"))
    );
    assert_eq!(cluster.image().features().metadata_version().level(), 25);
}

#[test]
fn results_are_listed_up_to_version_1() {
    let mut cluster = Cluster::at(25);
    let updates = [("metadata.version", 26, UPGRADE)];
    assert!(update(&mut cluster, &updates).results.is_empty());
    let updates = [("metadata.version", 27, UPGRADE)];
    let answer = cluster.speaking(1, |cluster| update(cluster, &updates));
    assert_eq!(answer.results.len(), 1);
}

#[test]
fn a_feature_waits_for_brokers_and_for_every_controller_of_the_quorum() {
    let mut cluster = Cluster::with(|config| {
        config.quorum = vec![NodeId(100), NodeId(101)];
        config.bootstrap =
            quorate_controller::features::bootstrap_records(quorate_metadata::MetadataVersion(25));
    });
    let bad = ErrorCode::InvalidUpdateVersion;
    // The other controller has not said what it supports.
    assert_eq!(code(&mut cluster, "metadata.version", 26, UPGRADE), bad);
    let features = cluster.registration(1).features;
    let feature = |max| {
        let features = features.iter().map(|feature| {
            quorate_protocol::messages::controller_registration::Feature {
                name: feature.name.clone(),
                min_supported_version: feature.min_supported_version,
                max_supported_version: feature.max_supported_version.min(max),
                ..Default::default()
            }
        });
        ControllerRegistrationRequest {
            controller_id: 101,
            features: features.collect(),
            ..Default::default()
        }
    };
    let _: ControllerRegistrationResponse = cluster.ask(feature(25));
    assert_eq!(code(&mut cluster, "metadata.version", 26, UPGRADE), bad);
    let _: ControllerRegistrationResponse = cluster.ask(feature(29));
    assert_eq!(
        code(&mut cluster, "metadata.version", 26, UPGRADE),
        ErrorCode::None
    );
    let mut broker = cluster.registration(1);
    for feature in &mut broker.features {
        feature.max_supported_version = feature.max_supported_version.min(26);
    }
    assert_eq!(
        cluster.send_registration(&broker).error_code,
        ErrorCode::None
    );
    assert_eq!(code(&mut cluster, "metadata.version", 27, UPGRADE), bad);
}

#[test]
fn the_quorums_own_version_is_taken_out_of_a_request() {
    let key = |feature: &str| FeatureUpdateKey {
        feature: feature.into(),
        ..Default::default()
    };
    let mut request = UpdateFeaturesRequest {
        feature_updates: ["group.version", "kraft.version", "share.version"]
            .map(key)
            .to_vec(),
        ..Default::default()
    };
    let taken = quorate_controller::features::take_kraft_version(&mut request);
    assert_eq!(taken, Some(key("kraft.version")));
    assert_eq!(
        request.feature_updates,
        [key("group.version"), key("share.version")]
    );
    assert_eq!(
        quorate_controller::features::take_kraft_version(&mut request),
        None
    );
}

#[test]
fn producer_ids_are_given_out_in_blocks_of_a_thousand() {
    let mut cluster = Cluster::of(1);
    let request = AllocateProducerIdsRequest {
        broker_id: 1,
        broker_epoch: cluster.epoch(1),
        ..Default::default()
    };
    for start in [0, 1000, 2000] {
        let answer: AllocateProducerIdsResponse = cluster.ask(request.clone());
        assert_eq!(
            (
                answer.error_code,
                answer.producer_id_start,
                answer.producer_id_len
            ),
            (ErrorCode::None, start, 1000)
        );
    }
    assert_eq!(cluster.image().producer_ids().next, Some(3000));
    let stale = AllocateProducerIdsRequest {
        broker_epoch: 0,
        ..request
    };
    let answer: AllocateProducerIdsResponse = cluster.ask(stale);
    assert_eq!(answer.error_code, ErrorCode::StaleBrokerEpoch);
}
