//! Images built from logs of stock Kafka equal those of the snapshots that lie beside them.

use std::fs;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use quorate_engine::{Batch, Replica};
use quorate_metadata::{
    KafkaMetadata, LoadedSnapshot, Loader, MetadataImage, MetadataVersion, SnapshotFile,
    SnapshotLoader, SnapshotRecords, decode_batch,
};
use quorate_protocol::batch::{encode_data_batch, split_batches};
use quorate_protocol::records::{MetadataRecord, VersionedRecord};
use quorate_types::{Offset, OffsetAndEpoch, WallTime};

type Outcome = Result<(), Box<dyn std::error::Error>>;

const CLUSTERS: [&str; 2] = ["dynamic", "static"];

fn files(cluster: &str, extension: &str) -> Vec<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data")
        .join(cluster);
    let mut files: Vec<PathBuf> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|found| found == extension))
        .collect();
    files.sort();
    assert!(!files.is_empty());
    files
}

fn log(cluster: &str) -> Vec<Batch<VersionedRecord>> {
    let mut batches = Vec::new();
    for file in files(cluster, "log") {
        for batch in split_batches(Bytes::from(fs::read(file).unwrap())) {
            batches.push(decode_batch(&batch.unwrap()).unwrap());
        }
    }
    batches
}

/// The snapshots that hold data, with their ids.
fn snapshots(cluster: &str) -> Vec<(OffsetAndEpoch, Bytes)> {
    let id = |path: &Path| {
        let stem = path.file_stem().unwrap().to_str().unwrap();
        let (offset, epoch) = stem.split_once('-').unwrap();
        OffsetAndEpoch::new(offset.parse().unwrap(), epoch.parse().unwrap())
    };
    files(cluster, "checkpoint")
        .iter()
        .map(|path| (id(path), Bytes::from(fs::read(path).unwrap())))
        .filter(|(id, _)| id.offset > Offset::ZERO)
        .collect()
}

fn load(id: OffsetAndEpoch, bytes: &Bytes) -> LoadedSnapshot {
    let mut loader = SnapshotLoader::new(id);
    // In pieces, as they come from a disk.
    for piece in bytes.chunks(1000) {
        loader.feed(Bytes::copy_from_slice(piece)).unwrap();
    }
    loader.finish().unwrap()
}

fn image_at(batches: &[Batch<VersionedRecord>], end: Offset) -> MetadataImage {
    let mut replica = Replica::<KafkaMetadata>::new();
    for batch in batches.iter().filter(|batch| batch.end <= end) {
        replica.apply_batch(batch).unwrap();
    }
    assert_eq!(replica.end(), end, "a snapshot ends where a batch does");
    let (image, end) = replica.stable();
    assert_eq!(
        end,
        replica.end(),
        "a snapshot is not made within a transaction"
    );
    image.clone()
}

#[test]
fn a_log_and_the_snapshot_beside_it_give_equal_images() {
    for cluster in CLUSTERS {
        let batches = log(cluster);
        for (id, bytes) in snapshots(cluster) {
            let snapshot = load(id, &bytes);
            let replayed = image_at(&batches, id.offset);
            assert_eq!(replayed, snapshot.image, "{cluster} at {id}");
            let last = batches
                .iter()
                .rfind(|batch| batch.end <= id.offset)
                .unwrap();
            assert_eq!(last.epoch, id.epoch);
        }
    }
}

#[test]
fn a_log_goes_on_from_each_of_its_snapshots() {
    for cluster in CLUSTERS {
        let batches = log(cluster);
        let end = batches.last().unwrap().end;
        let whole = image_at(&batches, end);
        for (id, bytes) in snapshots(cluster) {
            let mut loader = Loader::new();
            loader.load(load(id, &bytes));
            loader.commit(&batches).unwrap();
            loader.high_watermark(end);
            let (image, from) = loader.poll().unwrap();
            assert_eq!(loader.misfits(), (0, None));
            assert_eq!(
                (image, from.end.offset),
                (whole.clone(), end),
                "{cluster} from {id}"
            );
        }
    }
}

#[test]
fn every_snapshot_of_kafka_comes_back_from_one_of_ours() -> Outcome {
    for cluster in CLUSTERS {
        for (id, bytes) in snapshots(cluster) {
            let theirs = load(id, &bytes);
            let mut file =
                SnapshotFile::new(theirs.image.clone(), &theirs.header, id.epoch, WallTime(1))?;
            let mut written = Vec::new();
            while let Some(batch) = file.next_batch()? {
                written.extend_from_slice(&batch);
            }
            let ours = load(id, &Bytes::from(written));
            assert_eq!(ours, theirs, "{cluster} at {id}");
        }
    }
    Ok(())
}

/// The records of a snapshot file, in an order of ours: Kafka's follows its hash maps.
fn records(bytes: &Bytes) -> Vec<String> {
    let batches = split_batches(bytes.clone()).map(|batch| decode_batch(&batch.unwrap()).unwrap());
    let mut records: Vec<VersionedRecord> = batches.flat_map(|batch| batch.records).collect();
    for record in &mut records {
        match &mut record.data {
            MetadataRecord::RegisterBroker(broker) => {
                broker
                    .end_points
                    .sort_by(|one, other| one.name.cmp(&other.name));
                broker
                    .features
                    .sort_by(|one, other| one.name.cmp(&other.name));
                broker.log_dirs.sort();
            }
            MetadataRecord::RegisterController(controller) => {
                controller
                    .end_points
                    .sort_by(|one, other| one.name.cmp(&other.name));
                controller
                    .features
                    .sort_by(|one, other| one.name.cmp(&other.name));
            }
            MetadataRecord::ClientQuota(quota) => {
                quota
                    .entity
                    .sort_by(|one, other| one.entity_type.cmp(&other.entity_type));
            }
            _ => {}
        }
    }
    let mut lines: Vec<String> = records.iter().map(|record| format!("{record:?}")).collect();
    lines.sort();
    lines
}

#[test]
fn our_snapshots_hold_the_same_records_in_the_same_versions_as_kafkas() -> Outcome {
    for cluster in CLUSTERS {
        for (id, bytes) in snapshots(cluster) {
            let theirs = load(id, &bytes);
            let values = SnapshotRecords::new(theirs.image)?.flatten();
            let values: Vec<Bytes> = values
                .map(|record| record.encode_frame())
                .collect::<Result<_, _>>()?;
            let ours = encode_data_batch(Offset::ZERO, id.epoch, WallTime(0), &values)?;
            assert_eq!(records(&ours), records(&bytes), "{cluster} at {id}");
        }
    }
    Ok(())
}

#[test]
fn the_logs_hold_what_their_clusters_did() {
    let image = |cluster| {
        let batches = log(cluster);
        image_at(&batches, batches.last().unwrap().end)
    };
    let dynamic = image("dynamic");
    assert_eq!(
        dynamic.features().metadata_version(),
        MetadataVersion::LATEST
    );
    assert!(dynamic.topics().partition_count() > 0);
    assert!(dynamic.producer_ids().next.is_some());
    assert!(!dynamic.scram().is_empty());
    assert!(dynamic.client_quotas().entities().next().is_some());
    let fixed = image("static");
    assert!(!fixed.acls().is_empty());
    assert!(!fixed.delegation_tokens().is_empty());
    assert!(fixed.controllers().next().is_some());
}
