//! What images cost in time and memory; run by hand:
//! `cargo test --release -p quorate-metadata --test cost -- --ignored --nocapture`
#![allow(clippy::disallowed_methods)]

use std::time::{Duration, Instant};

use quorate_engine::Machine;
use quorate_metadata::{Delta, KafkaMetadata, MetadataImage, MetadataVersion, PartitionId};
use quorate_protocol::records::{
    PartitionChangeRecord, PartitionRecord, TopicRecord, VersionedRecord,
};
use quorate_types::{NodeId, Offset, Rng, TopicId, Uuid};

const PER_TOPIC: usize = 10;
const BROKERS: usize = 12;

fn topic_id(n: usize) -> Uuid {
    let mut rng = Rng::new(n as u64);
    let (high, low) = (rng.next_u64().to_be_bytes(), rng.next_u64().to_be_bytes());
    Uuid(std::array::from_fn(|place| {
        if place < 8 {
            high[place]
        } else {
            low[place - 8]
        }
    }))
}

fn records(topics: usize) -> impl Iterator<Item = VersionedRecord> {
    let version = MetadataVersion::LATEST;
    (0..topics).flat_map(move |n| {
        let topic = TopicRecord {
            name: format!("topic-{n:07}"),
            topic_id: topic_id(n),
            ..Default::default()
        };
        let partitions = (0..PER_TOPIC).map(move |index| {
            let first = n * PER_TOPIC + index;
            let replicas: Vec<i32> = (0..3).map(|r| ((first + r * 5) % BROKERS) as i32).collect();
            version.versioned(PartitionRecord {
                partition_id: index as i32,
                topic_id: topic_id(n),
                isr: replicas.clone(),
                leader: replicas[0],
                leader_epoch: 0,
                partition_epoch: 0,
                directories: replicas.iter().map(|r| Uuid([*r as u8 + 1; 16])).collect(),
                replicas,
                ..Default::default()
            })
        });
        std::iter::once(version.versioned(topic)).chain(partitions)
    })
}

fn shrink(id: PartitionId, isr: &[NodeId], without: NodeId) -> VersionedRecord {
    let left: Vec<i32> = isr
        .iter()
        .filter(|node| **node != without)
        .map(|node| node.0)
        .collect();
    MetadataVersion::LATEST.versioned(PartitionChangeRecord {
        partition_id: id.index,
        topic_id: id.topic.0,
        leader: left.first().copied().unwrap_or(-1),
        isr: Some(left),
        ..Default::default()
    })
}

fn resident_bytes() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: usize = statm.split(' ').nth(1).unwrap().parse().unwrap();
    pages * 4096
}

/// The shortest of a few runs: what others do on the machine only makes it longer.
fn best(mut run: impl FnMut() -> Duration) -> Duration {
    (0..5).map(|_| run()).min().unwrap_or_default()
}

fn each(took: Duration, count: usize) -> String {
    format!("{:.0} ns", took.as_nanos() as f64 / count as f64)
}

#[test]
#[ignore = "a measurement"]
fn cost_of_a_hundred_thousand_partitions() {
    measure(100_000);
}

#[test]
#[ignore = "a measurement"]
fn cost_of_a_million_partitions() {
    measure(1_000_000);
}

fn measure(partitions: usize) {
    let log: Vec<_> = records(partitions / PER_TOPIC).collect();
    let mut image = MetadataImage::default();
    let before = resident_bytes();
    let start = Instant::now();
    for (at, record) in log.iter().enumerate() {
        KafkaMetadata::apply(&mut image, record, Offset(at as i64)).unwrap();
    }
    let took = start.elapsed();
    let bytes = (resident_bytes() - before) / partitions;
    println!(
        "{partitions} partitions: {bytes} B each, created in {} each",
        each(took, partitions)
    );

    let mut rng = Rng::new(1);
    let count = 20_000;
    let ids: Vec<PartitionId> = (0..count)
        .map(|_| {
            let topic = TopicId(topic_id(rng.index(partitions / PER_TOPIC)));
            PartitionId::new(topic, rng.index(PER_TOPIC) as i32)
        })
        .collect();
    let changes: Vec<_> = ids
        .iter()
        .map(|id| {
            let partition = image.topics().partition(*id).unwrap();
            shrink(*id, &partition.isr, partition.isr[2])
        })
        .collect();

    let alone = best(|| {
        let mut alone = image.clone();
        let start = Instant::now();
        for change in &changes {
            KafkaMetadata::apply(&mut alone, change, Offset(0)).unwrap();
        }
        start.elapsed()
    });
    println!("change, one version: {}", each(alone, count));

    let mut kept = Vec::new();
    let took = best(|| {
        kept = vec![image.clone()];
        let start = Instant::now();
        for change in &changes {
            let mut next = kept[kept.len() - 1].clone();
            KafkaMetadata::apply(&mut next, change, Offset(0)).unwrap();
            kept.push(next);
        }
        start.elapsed()
    });
    println!("change, all versions kept: {}", each(took, count));

    let took = best(|| {
        let start = Instant::now();
        let deltas = kept
            .windows(2)
            .map(|two| Delta::new(two[0].clone(), two[1].clone()));
        let found: usize = deltas.map(|delta| delta.partitions().count()).sum();
        assert!(found > count / 2, "most changes change something");
        start.elapsed()
    });
    println!("delta of one change: {}", each(took, count));
    drop(kept);

    let took = best(|| {
        let start = Instant::now();
        let found = ids
            .iter()
            .filter(|id| image.topics().partition(**id).is_some())
            .count();
        assert_eq!(found, count);
        start.elapsed()
    });
    println!("read a partition: {}", each(took, count));

    let start = Instant::now();
    let mut fenced = image.clone();
    let broker = NodeId(3);
    let decided: Vec<_> = image
        .topics()
        .in_isr_of(broker)
        .map(|(id, partition)| shrink(id, &partition.isr, broker))
        .collect();
    for change in &decided {
        KafkaMetadata::apply(&mut fenced, change, Offset(0)).unwrap();
    }
    println!(
        "fence a broker of {} replicas: {:?}",
        decided.len(),
        start.elapsed()
    );

    let start = Instant::now();
    let local = Delta::new(image.clone(), fenced).local(NodeId(8));
    let moved = local.leaders.len() + local.followers.len();
    println!(
        "local changes of another broker: {moved} in {:?}",
        start.elapsed()
    );

    let start = Instant::now();
    let local = Delta::new(MetadataImage::default(), image).local(NodeId(8));
    let all = local.leaders.len() + local.followers.len();
    println!("local changes of a start: {all} in {:?}", start.elapsed());
}
