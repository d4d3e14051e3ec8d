//! What each metadata record does to an image. This is the only way an image changes.

use quorate_engine::{Bracket, Machine};
use quorate_protocol::records::{
    ClearElrRecord, FeatureLevelRecord, MetadataRecord, VersionedRecord,
};
use quorate_types::{Offset, TopicId};

use crate::{MetadataImage, Misfit, Partition, PartitionId, Reason};

/// The state machine of Kafka's metadata log.
///
/// A record that does not fit leaves the image as it was. What a record has beyond the fields known
/// here (unknown tagged fields) never reaches the image.
///
/// ```
/// use quorate_engine::Machine;
/// use quorate_metadata::{KafkaMetadata, MetadataImage};
/// use quorate_protocol::records::{RemoveTopicRecord, TopicRecord, VersionedRecord};
/// use quorate_types::{Offset, Uuid};
///
/// let topic = TopicRecord { name: "foo".into(), topic_id: Uuid([7; 16]), ..Default::default() };
/// let mut image = MetadataImage::default();
/// KafkaMetadata::apply(&mut image, &VersionedRecord::new(0, topic), Offset(0))?;
/// assert!(image.topics().by_name("foo").is_some());
///
/// let wrong = RemoveTopicRecord { topic_id: Uuid([8; 16]), ..Default::default() };
/// let misfit = KafkaMetadata::apply(&mut image, &VersionedRecord::new(0, wrong), Offset(1));
/// assert_eq!(
///     misfit.unwrap_err().to_string(),
///     "RemoveTopicRecord at offset 1 does not fit: there is no topic CAgICAgICAgICAgICAgICA",
/// );
/// # Ok::<(), quorate_metadata::Misfit>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KafkaMetadata;

impl Machine for KafkaMetadata {
    type State = MetadataImage;
    type Record = VersionedRecord;
    type Misfit = Misfit;

    fn apply(
        image: &mut MetadataImage,
        record: &VersionedRecord,
        at: Offset,
    ) -> Result<(), Misfit> {
        image.apply(&record.data, at).map_err(|why| Misfit {
            record: record.data.name(),
            at,
            why,
        })
    }

    fn bracket(record: &VersionedRecord) -> Bracket {
        match record.data {
            MetadataRecord::BeginTransaction(_) => Bracket::Begin,
            MetadataRecord::EndTransaction(_) => Bracket::End,
            MetadataRecord::AbortTransaction(_) => Bracket::Abort,
            _ => Bracket::No,
        }
    }
}

impl MetadataImage {
    fn apply(&mut self, record: &MetadataRecord, at: Offset) -> Result<(), Reason> {
        match record {
            MetadataRecord::RegisterBroker(record) => self.cluster.register_broker(record, at),
            MetadataRecord::UnregisterBroker(record) => self.cluster.unregister_broker(record),
            MetadataRecord::BrokerRegistrationChange(record) => self.cluster.change_broker(record),
            MetadataRecord::FenceBroker(record) => {
                self.cluster.fence_broker(record.id, record.epoch, true)
            }
            MetadataRecord::UnfenceBroker(record) => {
                self.cluster.fence_broker(record.id, record.epoch, false)
            }
            MetadataRecord::RegisterController(record) => self.cluster.register_controller(record),
            MetadataRecord::FeatureLevel(record) => self.set_level(record),
            MetadataRecord::RemoveAccessControlEntry(record) => self.acls.remove(record),
            MetadataRecord::RemoveUserScramCredential(record) => self.scram.remove(record),
            MetadataRecord::Topic(record) => {
                self.topics.create(record.topic_id.into(), &record.name)
            }
            MetadataRecord::RemoveTopic(record) => self.remove_topic(record.topic_id.into()),
            MetadataRecord::Partition(record) => {
                let id = PartitionId::new(record.topic_id.into(), record.partition_id);
                self.topics.put(id, Partition::from_record(record)?)
            }
            MetadataRecord::PartitionChange(record) => {
                let id = PartitionId::new(record.topic_id.into(), record.partition_id);
                self.topics.update(id, |partition| partition.merged(record))
            }
            MetadataRecord::ClearElr(record) => self.clear_elr(record),
            other => {
                self.apply_what_always_fits(other);
                Ok(())
            }
        }
    }

    fn apply_what_always_fits(&mut self, record: &MetadataRecord) {
        match record {
            MetadataRecord::Config(record) => self.configs.set(record),
            MetadataRecord::ClientQuota(record) => self.client_quotas.set(record),
            MetadataRecord::ProducerIds(record) => self.producer_ids.advance(record),
            MetadataRecord::AccessControlEntry(record) => self.acls.add(record),
            MetadataRecord::UserScramCredential(record) => self.scram.set(record),
            MetadataRecord::DelegationToken(record) => self.delegation_tokens.set(record),
            MetadataRecord::RemoveDelegationToken(record) => self.delegation_tokens.remove(record),
            // No-ops and the state of a migration from ZooKeeper say nothing about the cluster;
            // transactions are the replica's business.
            _ => {}
        }
    }

    /// Without the feature, a snapshot has no eligible leader replicas; so that an image that was
    /// replayed is the one that was loaded, they go when the feature does. No partition epoch grows.
    fn set_level(&mut self, record: &FeatureLevelRecord) -> Result<(), Reason> {
        let had_elr = self.features.elr_enabled();
        self.features.set_level(record)?;
        if had_elr && !self.features.elr_enabled() {
            for id in self.topics.with_elr(None) {
                self.topics
                    .update(id, |partition| Ok(partition.forgetting_elr()))?;
            }
        }
        Ok(())
    }

    /// The topic's configuration goes with it.
    fn remove_topic(&mut self, id: TopicId) -> Result<(), Reason> {
        let name = self.topics.remove(id)?;
        self.configs.topic_removed(name);
        Ok(())
    }

    fn clear_elr(&mut self, record: &ClearElrRecord) -> Result<(), Reason> {
        let topic = match record.topic_name.as_str() {
            "" => None,
            name => match self.topics.by_name(name) {
                Some(topic) => Some(topic.id()),
                None => return Err(Reason::UnknownTopicName(name.to_owned())),
            },
        };
        for id in self.topics.with_elr(topic) {
            self.topics
                .update(id, |partition| Ok(partition.without_elr()))?;
        }
        Ok(())
    }
}
