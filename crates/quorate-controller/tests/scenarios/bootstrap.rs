//! What a log starts with.

use quorate_controller::features::bootstrap_records;
use quorate_metadata::MetadataVersion;
use quorate_protocol::records::MetadataRecord;
use quorate_types::Offset;

use crate::cluster::Cluster;

#[test]
fn an_empty_log_is_given_features_and_min_insync_replicas_as_one_transaction() {
    let cluster = Cluster::new();
    let names: Vec<_> = cluster.log().iter().map(MetadataRecord::name).collect();
    assert_eq!(names[0], "BeginTransactionRecord");
    assert_eq!(names[1..7], ["FeatureLevelRecord"; 6]);
    assert_eq!(names[7..], ["ConfigRecord", "EndTransactionRecord"]);
    let MetadataRecord::FeatureLevel(first) = &cluster.log()[1] else {
        panic!("no level")
    };
    assert_eq!(
        (first.name.as_str(), first.feature_level),
        ("metadata.version", 29)
    );
    assert_eq!(
        cluster.image().configs().cluster("min.insync.replicas"),
        Some("1")
    );
    // One batch holds it all, behind the control batch of the epoch.
    let batches = cluster.solo.log().batches();
    assert_eq!(batches.len(), 2);
    assert_eq!((batches[1].base, batches[1].end), (Offset(1), Offset(10)));
}

#[test]
fn the_clusters_min_insync_replicas_starts_at_the_static_value() {
    let cluster = Cluster::with(|config| {
        config
            .node_settings
            .insert("min.insync.replicas".into(), "2".into());
    });
    assert_eq!(
        cluster.image().configs().cluster("min.insync.replicas"),
        Some("2")
    );
}

#[test]
fn before_transactions_the_bootstrap_records_are_one_plain_batch() {
    let cluster = Cluster::at(12);
    let names: Vec<_> = cluster.log().iter().map(MetadataRecord::name).collect();
    assert_eq!(names, ["FeatureLevelRecord"]);
    assert_eq!(
        cluster.image().features().metadata_version(),
        MetadataVersion(12)
    );
}

#[test]
fn without_bootstrap_records_the_latest_version_alone_is_written() {
    let cluster = Cluster::with(|config| config.bootstrap.clear());
    let names: Vec<_> = cluster.log().iter().map(MetadataRecord::name).collect();
    assert_eq!(
        names,
        [
            "BeginTransactionRecord",
            "FeatureLevelRecord",
            "EndTransactionRecord"
        ]
    );
    assert_eq!(
        cluster.image().features().metadata_version(),
        MetadataVersion::LATEST
    );
    assert!(!cluster.image().features().elr_enabled());
}

#[test]
fn a_new_leader_adds_nothing_to_a_log_that_has_started() {
    let mut cluster = Cluster::new();
    let names = cluster.names(|cluster| cluster.solo.fail_over());
    assert_eq!(names, [""; 0]);
}

#[test]
fn levels_are_formatted_by_metadata_version() {
    let levels = |version| bootstrap_records(MetadataVersion(version)).len();
    assert_eq!(
        (levels(7), levels(22), levels(24), levels(26), levels(29)),
        (1, 2, 3, 4, 6)
    );
}
