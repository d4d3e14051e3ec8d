//! An image as the records that make it.

use std::sync::Arc;

use quorate_protocol::records::{FeatureLevelRecord, MetadataRecord, TopicRecord, VersionedRecord};

use super::Losses;
use crate::section::ScramKey;
use crate::{
    AclId, ConfigResource, MetadataImage, MetadataVersion, PartitionId, QuotaEntity, Topic,
};

/// About how many records one call gives.
const BATCH: usize = 1024;

/// Yields the records of an image in Kafka's order of snapshots, in the versions that its
/// `metadata.version` asks for, about a thousand a call.
///
/// It holds a clone of the image, so the image may change meanwhile.
#[derive(Debug, Clone)]
pub struct SnapshotRecords {
    image: MetadataImage,
    version: MetadataVersion,
    stage: Stage,
}

/// What comes next; where it holds a key, what comes after that key.
#[derive(Debug, Clone)]
enum Stage {
    Features,
    Nodes,
    /// The topic and how many of its partitions were written.
    Topics(Option<(Arc<str>, i32)>),
    Configs(Option<ConfigResource>),
    Quotas(Option<QuotaEntity>),
    ProducerIds,
    Acls(Option<AclId>),
    Scram(Option<ScramKey>),
    Tokens(Option<Arc<str>>),
    Done,
}

impl SnapshotRecords {
    /// The records of the image at its own `metadata.version`.
    ///
    /// # Errors
    /// If that version cannot say all of it, which takes a log that was not written by its rules.
    pub fn new(image: MetadataImage) -> Result<SnapshotRecords, Losses> {
        let version = image.features.metadata_version();
        let lost = image.losses(version);
        match lost.is_empty() {
            true => Ok(SnapshotRecords::lossy(image)),
            false => Err(Losses { version, lost }),
        }
    }

    /// The records of the image as a cluster at `version` would have it.
    ///
    /// # Errors
    /// If that version cannot say all of it.
    pub fn at_version(
        image: &MetadataImage,
        version: MetadataVersion,
    ) -> Result<SnapshotRecords, Losses> {
        SnapshotRecords::new(with_version(image, version))
    }

    /// The records of the image as a cluster at `version` would have it, without what that version
    /// cannot say.
    pub fn at_version_lossy(image: &MetadataImage, version: MetadataVersion) -> SnapshotRecords {
        SnapshotRecords::lossy(with_version(image, version))
    }

    fn lossy(image: MetadataImage) -> SnapshotRecords {
        SnapshotRecords {
            version: image.features.metadata_version(),
            image,
            stage: Stage::Features,
        }
    }

    /// One step of the current stage; leaves the stage as it should be next.
    fn step(&mut self, out: &mut Vec<VersionedRecord>) {
        let room = BATCH.saturating_sub(out.len());
        self.stage = match std::mem::replace(&mut self.stage, Stage::Done) {
            Stage::Features => {
                self.write(out, self.image.features.to_records());
                Stage::Nodes
            }
            Stage::Nodes => {
                self.nodes(out);
                Stage::Topics(None)
            }
            Stage::Topics(place) => match self.topic(place, room, out) {
                Some(place) => Stage::Topics(Some(place)),
                None => Stage::Configs(None),
            },
            Stage::Configs(after) => {
                match self.write_keyed(out, self.image.configs.to_records(after), room) {
                    Some(last) => Stage::Configs(Some(last)),
                    None => Stage::Quotas(None),
                }
            }
            Stage::Quotas(after) => {
                match self.write_keyed(out, self.image.client_quotas.to_records(after), room) {
                    Some(last) => Stage::Quotas(Some(last)),
                    None => Stage::ProducerIds,
                }
            }
            Stage::ProducerIds => {
                self.write(out, self.image.producer_ids.to_record());
                Stage::Acls(None)
            }
            Stage::Acls(after) => {
                let acls = self.image.acls.to_records(after).map(one);
                match self.write_keyed(out, acls, room) {
                    Some(last) => Stage::Acls(Some(last)),
                    None => Stage::Scram(None),
                }
            }
            Stage::Scram(after) => {
                let scram = self.image.scram.to_records(after).map(one);
                let scram = scram.filter(|_| self.version.has_scram());
                match self.write_keyed(out, scram, room) {
                    Some(last) => Stage::Scram(Some(last)),
                    None => Stage::Tokens(None),
                }
            }
            Stage::Tokens(after) => {
                let tokens = self.image.delegation_tokens.to_records(after).map(one);
                let tokens = tokens.filter(|_| self.version.has_delegation_tokens());
                self.write_keyed(out, tokens, room)
                    .map_or(Stage::Done, |last| Stage::Tokens(Some(last)))
            }
            Stage::Done => Stage::Done,
        };
    }

    fn nodes(&self, out: &mut Vec<VersionedRecord>) {
        self.write(
            out,
            self.image
                .brokers()
                .map(|broker| broker.to_record(self.version)),
        );
        let controllers = self
            .image
            .controllers()
            .map(|controller| controller.to_record());
        self.write(
            out,
            controllers.filter(|_| self.version.has_controller_registration()),
        );
    }

    /// Writes the rest of one topic, or the next one, as far as there is room; gives the place to go
    /// on from, `None` after the last topic.
    fn topic(
        &self,
        place: Option<(Arc<str>, i32)>,
        room: usize,
        out: &mut Vec<VersionedRecord>,
    ) -> Option<(Arc<str>, i32)> {
        let topics = &self.image.topics;
        let (topic, first) = match &place {
            Some((name, first)) if *first != i32::MAX => (topics.by_name(name)?, *first),
            Some((name, _)) => (
                topics.iter_from(name).find(|topic| topic.name() != name)?,
                0,
            ),
            None => (topics.iter().next()?, 0),
        };
        if first == 0 {
            self.write(out, [topic_record(topic)]);
        }
        let mut next = i32::MAX;
        for (written, (index, partition)) in topic.partitions_from(first).enumerate() {
            if written >= room {
                next = index;
                break;
            }
            let id = PartitionId::new(topic.id(), index);
            let record = partition.to_record(id, self.version, &self.image.features);
            self.write(out, [record]);
        }
        Some((topic.name().clone(), next))
    }

    fn write<R: Into<MetadataRecord>>(
        &self,
        out: &mut Vec<VersionedRecord>,
        records: impl IntoIterator<Item = R>,
    ) {
        out.extend(
            records
                .into_iter()
                .map(|record| self.version.versioned(record)),
        );
    }

    /// Writes the records of key after key while there is room; gives the last key, `None` if there
    /// was none left.
    fn write_keyed<K, R: Into<MetadataRecord>>(
        &self,
        out: &mut Vec<VersionedRecord>,
        keyed: impl Iterator<Item = (K, Vec<R>)>,
        room: usize,
    ) -> Option<K> {
        let mut last = None;
        let full = out.len() + room.max(1);
        for (key, records) in keyed {
            self.write(out, records);
            last = Some(key);
            if out.len() >= full {
                break;
            }
        }
        last
    }
}

impl Iterator for SnapshotRecords {
    type Item = Vec<VersionedRecord>;

    fn next(&mut self) -> Option<Vec<VersionedRecord>> {
        let mut out = Vec::new();
        while out.len() < BATCH && !matches!(self.stage, Stage::Done) {
            self.step(&mut out);
        }
        (!out.is_empty()).then_some(out)
    }
}

fn with_version(image: &MetadataImage, version: MetadataVersion) -> MetadataImage {
    let mut image = image.clone();
    let level = FeatureLevelRecord {
        name: MetadataVersion::FEATURE.to_owned(),
        feature_level: version.level(),
        ..Default::default()
    };
    // A level that is not known here would be read as the lowest one.
    let known = image.features.set_level(&level);
    debug_assert!(known.is_ok(), "{version} is not known");
    image
}

fn topic_record(topic: Topic<'_>) -> TopicRecord {
    TopicRecord {
        name: topic.name().to_string(),
        topic_id: topic.id().0,
        ..Default::default()
    }
}

fn one<K, R>((key, record): (K, R)) -> (K, Vec<R>) {
    (key, vec![record])
}
