//! Images for tests, made of records as a log would have them.

use quorate_engine::Machine;
use quorate_metadata::{KafkaMetadata, MetadataImage, PartitionId};
use quorate_protocol::records::{
    BrokerEndpoint, BrokerRegistrationChangeRecord, FeatureLevelRecord, MetadataRecord,
    PartitionChangeRecord, PartitionRecord, RegisterBrokerRecord, RemoveTopicRecord, TopicRecord,
    UnregisterBrokerRecord, VersionedRecord,
};
use quorate_types::{DirectoryId, NodeId, Offset, TopicId, Uuid};

/// The one directory of a broker.
pub(crate) fn directory_of(broker: i32) -> DirectoryId {
    let mut bytes = [0xd0; 16];
    bytes[15] = u8::try_from(broker).expect("a small id");
    DirectoryId(Uuid(bytes))
}

/// The id of the nth topic.
pub(crate) fn topic_id(n: u8) -> TopicId {
    TopicId(Uuid([n; 16]))
}

/// An image in the making.
#[derive(Debug, Clone, Default)]
pub(crate) struct Log {
    pub(crate) image: MetadataImage,
    pub(crate) end: Offset,
}

impl Log {
    /// A log that was bootstrapped with metadata.version 29.
    pub(crate) fn new() -> Log {
        let mut log = Log::default();
        log.level("metadata.version", 29);
        log
    }

    pub(crate) fn push(&mut self, record: MetadataRecord) -> &mut Log {
        let version = record.versions().max;
        let record = VersionedRecord {
            version,
            data: record,
        };
        KafkaMetadata::apply(&mut self.image, &record, self.end).expect("a record that fits");
        self.end += 1;
        self
    }

    pub(crate) fn level(&mut self, feature: &str, level: i16) -> &mut Log {
        self.push(MetadataRecord::FeatureLevel(FeatureLevelRecord {
            name: feature.to_owned(),
            feature_level: level,
            ..Default::default()
        }))
    }

    /// Registers a broker with a listener `PLAINTEXT` at port 9000 + id, fenced, in its one directory.
    /// Its epoch is the record's offset.
    pub(crate) fn broker(&mut self, id: i32) -> &mut Log {
        self.register(id, |_| {})
    }

    pub(crate) fn register(
        &mut self,
        id: i32,
        change: impl FnOnce(&mut RegisterBrokerRecord),
    ) -> &mut Log {
        let mut record = RegisterBrokerRecord {
            broker_id: id,
            incarnation_id: Uuid([u8::try_from(id).expect("a small id"); 16]),
            broker_epoch: self.end.0,
            end_points: vec![BrokerEndpoint {
                name: "PLAINTEXT".to_owned(),
                host: "localhost".to_owned(),
                port: 9000 + u16::try_from(id).expect("a small id"),
                ..Default::default()
            }],
            fenced: true,
            log_dirs: vec![directory_of(id).0],
            ..Default::default()
        };
        change(&mut record);
        self.push(MetadataRecord::RegisterBroker(record))
    }

    /// Changes a registration: fenced 1 or −1 (unfenced), in controlled shutdown 1.
    pub(crate) fn change(&mut self, id: i32, fenced: i8, shutting_down: i8) -> &mut Log {
        let epoch = self.epoch(id);
        self.push(MetadataRecord::BrokerRegistrationChange(
            BrokerRegistrationChangeRecord {
                broker_id: id,
                broker_epoch: epoch,
                fenced,
                in_controlled_shutdown: shutting_down,
                ..Default::default()
            },
        ))
    }

    pub(crate) fn unfence(&mut self, id: i32) -> &mut Log {
        self.change(id, -1, 0)
    }

    pub(crate) fn unregister(&mut self, id: i32) -> &mut Log {
        let epoch = self.epoch(id);
        self.push(MetadataRecord::UnregisterBroker(UnregisterBrokerRecord {
            broker_id: id,
            broker_epoch: epoch,
            ..Default::default()
        }))
    }

    pub(crate) fn topic(&mut self, n: u8, name: &str) -> &mut Log {
        self.push(MetadataRecord::Topic(TopicRecord {
            topic_id: topic_id(n).0,
            name: name.to_owned(),
            ..Default::default()
        }))
    }

    pub(crate) fn remove_topic(&mut self, n: u8) -> &mut Log {
        self.push(MetadataRecord::RemoveTopic(RemoveTopicRecord {
            topic_id: topic_id(n).0,
            ..Default::default()
        }))
    }

    /// A partition in epochs 0, led by the first of its ISR.
    pub(crate) fn partition(
        &mut self,
        n: u8,
        index: i32,
        replicas: &[i32],
        isr: &[i32],
    ) -> &mut Log {
        self.partition_with(n, index, replicas, isr, |_| {})
    }

    pub(crate) fn partition_with(
        &mut self,
        n: u8,
        index: i32,
        replicas: &[i32],
        isr: &[i32],
        change: impl FnOnce(&mut PartitionRecord),
    ) -> &mut Log {
        let mut record = PartitionRecord {
            partition_id: index,
            topic_id: topic_id(n).0,
            replicas: replicas.to_vec(),
            isr: isr.to_vec(),
            leader: isr.first().copied().unwrap_or(-1),
            leader_epoch: 0,
            partition_epoch: 0,
            directories: replicas.iter().map(|id| directory_of(*id).0).collect(),
            ..Default::default()
        };
        change(&mut record);
        self.push(MetadataRecord::Partition(record))
    }

    /// Changes a partition's ISR, and its leader if one is given.
    pub(crate) fn change_partition(
        &mut self,
        n: u8,
        index: i32,
        isr: &[i32],
        leader: Option<i32>,
    ) -> &mut Log {
        self.push(MetadataRecord::PartitionChange(PartitionChangeRecord {
            partition_id: index,
            topic_id: topic_id(n).0,
            isr: Some(isr.to_vec()),
            leader: leader.unwrap_or(-2),
            ..Default::default()
        }))
    }

    pub(crate) fn epoch(&self, broker: i32) -> i64 {
        self.image
            .broker(NodeId(broker))
            .expect("registered")
            .epoch
            .0
    }
}

pub(crate) fn partition_id(n: u8, index: i32) -> PartitionId {
    PartitionId::new(topic_id(n), index)
}
