//! Short ways to make records and images.

use quorate_engine::Machine;
use quorate_metadata::{KafkaMetadata, MetadataImage, MetadataVersion, Reason, Topic};
use quorate_protocol::records::*;
use quorate_types::{Offset, TopicId, Uuid};

pub fn id(n: u8) -> TopicId {
    TopicId(Uuid([n; 16]))
}

pub fn topic(name: &str, n: u8) -> MetadataRecord {
    TopicRecord {
        name: name.into(),
        topic_id: id(n).0,
        ..Default::default()
    }
    .into()
}

pub fn remove(n: u8) -> MetadataRecord {
    RemoveTopicRecord {
        topic_id: id(n).0,
        ..Default::default()
    }
    .into()
}

pub fn partition(n: u8, index: i32, replicas: &[i32], leader: i32) -> PartitionRecord {
    PartitionRecord {
        topic_id: id(n).0,
        partition_id: index,
        replicas: replicas.to_vec(),
        isr: replicas.to_vec(),
        leader,
        leader_epoch: 0,
        partition_epoch: 0,
        ..Default::default()
    }
}

pub fn change(n: u8, index: i32) -> PartitionChangeRecord {
    PartitionChangeRecord {
        topic_id: id(n).0,
        partition_id: index,
        ..Default::default()
    }
}

pub fn broker(broker_id: i32, broker_epoch: i64) -> RegisterBrokerRecord {
    RegisterBrokerRecord {
        broker_id,
        broker_epoch,
        ..Default::default()
    }
}

pub fn feature(name: &str, feature_level: i16) -> MetadataRecord {
    FeatureLevelRecord {
        name: name.into(),
        feature_level,
        ..Default::default()
    }
    .into()
}

pub fn begin() -> MetadataRecord {
    BeginTransactionRecord::default().into()
}

pub fn versioned(record: impl Into<MetadataRecord>) -> VersionedRecord {
    MetadataVersion::LATEST.versioned(record)
}

pub fn apply(image: &mut MetadataImage, record: impl Into<MetadataRecord>) -> Result<(), Reason> {
    let result = KafkaMetadata::apply(image, &versioned(record), Offset(9));
    result.map_err(|misfit| {
        assert_eq!(misfit.at, Offset(9));
        misfit.why
    })
}

pub fn image(records: impl IntoIterator<Item = MetadataRecord>) -> MetadataImage {
    let mut image = MetadataImage::default();
    for record in records {
        apply(&mut image, record).unwrap();
    }
    image
}

pub fn more(
    image: &MetadataImage,
    records: impl IntoIterator<Item = MetadataRecord>,
) -> MetadataImage {
    let mut image = image.clone();
    for record in records {
        apply(&mut image, record).unwrap();
    }
    image
}

pub fn names<'a>(topics: impl Iterator<Item = Topic<'a>>) -> Vec<String> {
    topics.map(|topic| topic.name().to_string()).collect()
}
