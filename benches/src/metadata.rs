//! Metadata of a chosen size: topics of ten partitions with three replicas, spread over brokers.

use quorate_engine::Machine;
use quorate_metadata::{KafkaMetadata, MetadataImage, MetadataVersion, Misfit, PartitionId};
use quorate_protocol::records::{
    FeatureLevelRecord, PartitionChangeRecord, PartitionRecord, TopicRecord, VersionedRecord,
};
use quorate_types::{NodeId, Offset, Rng, TopicId, Uuid};

/// Partitions of each topic.
pub const PARTITIONS: usize = 10;

/// How many brokers hold the replicas; their ids count from 0.
pub const BROKERS: usize = 12;

/// The id of the n-th topic.
pub fn topic_id(n: usize) -> TopicId {
    TopicId(Rng::new(n as u64).uuid())
}

/// The partition of that number, counted over all topics.
pub fn partition_id(n: usize) -> PartitionId {
    PartitionId::new(topic_id(n / PARTITIONS), (n % PARTITIONS) as i32)
}

/// The record that makes the partition of that number.
pub fn partition_record(n: usize) -> PartitionRecord {
    let replicas: Vec<i32> = (0..3).map(|r| ((n + r * 5) % BROKERS) as i32).collect();
    let id = partition_id(n);
    PartitionRecord {
        partition_id: id.index,
        topic_id: id.topic.0,
        isr: replicas.clone(),
        leader: replicas[0],
        leader_epoch: 0,
        partition_epoch: 0,
        directories: replicas.iter().map(|r| Uuid([*r as u8 + 1; 16])).collect(),
        replicas,
        ..Default::default()
    }
}

/// The records that make an image of that many partitions.
pub fn records(partitions: usize) -> Vec<VersionedRecord> {
    let version = MetadataVersion::LATEST;
    let feature = FeatureLevelRecord {
        name: "metadata.version".to_owned(),
        feature_level: version.level(),
        ..Default::default()
    };
    let mut records = vec![version.versioned(feature)];
    for n in 0..partitions {
        if n % PARTITIONS == 0 {
            let topic = TopicRecord {
                name: format!("topic-{:07}", n / PARTITIONS),
                topic_id: topic_id(n / PARTITIONS).0,
                ..Default::default()
            };
            records.push(version.versioned(topic));
        }
        records.push(version.versioned(partition_record(n)));
    }
    records
}

/// An image of that many partitions.
///
/// # Errors
/// None, as long as the records above fit one another.
pub fn image(partitions: usize) -> Result<MetadataImage, Misfit> {
    let mut image = MetadataImage::default();
    for (at, record) in records(partitions).iter().enumerate() {
        KafkaMetadata::apply(&mut image, record, Offset(at as i64))?;
    }
    Ok(image)
}

/// The change that takes a broker out of a partition's ISR, and its leadership with it.
pub fn shrink(id: PartitionId, isr: &[NodeId], without: NodeId) -> VersionedRecord {
    let left = isr.iter().filter(|node| **node != without);
    let left: Vec<i32> = left.map(|node| node.0).collect();
    MetadataVersion::LATEST.versioned(PartitionChangeRecord {
        partition_id: id.index,
        topic_id: id.topic.0,
        leader: left.first().copied().unwrap_or(-1),
        isr: Some(left),
        ..Default::default()
    })
}

/// Changes of that many partitions, drawn at random: the last replica leaves the ISR.
pub fn shrinks(image: &MetadataImage, partitions: usize, count: usize) -> Vec<VersionedRecord> {
    let mut rng = Rng::new(1);
    (0..count)
        .filter_map(|_| {
            let id = partition_id(rng.index(partitions));
            let partition = image.topics().partition(id)?;
            let last = *partition.isr.last()?;
            Some(shrink(id, &partition.isr, last))
        })
        .collect()
}
