//! What it costs to write and read messages of the kinds and sizes that a cluster sends all day.
#![allow(missing_docs)]

use std::hint::black_box;

use bytes::Bytes;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use quorate_benches::{group, metadata};
use quorate_metadata::MetadataVersion;
use quorate_protocol::batch::encode_data_batch;
use quorate_protocol::codec::{Message, Reader};
use quorate_protocol::messages::create_topics::CreatableTopic;
use quorate_protocol::messages::fetch::{
    FetchPartition, FetchTopic, FetchableTopicResponse, PartitionData, ReplicaState,
};
use quorate_protocol::messages::metadata::{
    MetadataResponseBroker, MetadataResponsePartition, MetadataResponseTopic,
};
use quorate_protocol::messages::{
    BrokerHeartbeatRequest, CreateTopicsRequest, FetchRequest, FetchResponse, MetadataResponse,
};
use quorate_protocol::records::VersionedRecord;
use quorate_types::{Epoch, Offset, Uuid, WallTime};

/// Writes and reads a message.
fn both_ways<M: Message>(criterion: &mut Criterion, name: &str, version: i16, message: &M) {
    let bytes = message
        .to_bytes(version)
        .expect("a message of that version");
    let mut group = group(criterion, "codec");
    group.throughput(Throughput::Bytes(bytes.len() as u64));
    group.bench_function(format!("{name}/encode"), |bencher| {
        bencher.iter(|| black_box(message).to_bytes(version));
    });
    group.bench_function(format!("{name}/decode"), |bencher| {
        bencher.iter(|| M::decode(version, &mut Reader::of(black_box(&bytes))));
    });
}

fn fetch() -> FetchRequest {
    FetchRequest {
        replica_state: ReplicaState {
            replica_id: 2,
            ..Default::default()
        },
        max_wait_ms: 500,
        topics: vec![FetchTopic {
            topic_id: Uuid::METADATA_TOPIC,
            partitions: vec![FetchPartition {
                current_leader_epoch: 7,
                fetch_offset: 123_456,
                last_fetched_epoch: 7,
                log_start_offset: 0,
                replica_directory_id: Uuid([9; 16]),
                high_watermark: 123_450,
                ..Default::default()
            }],
            ..Default::default()
        }],
        ..Default::default()
    }
}

/// The answer to a follower that gets a create of one topic.
fn fetched() -> FetchResponse {
    let frames: Vec<Bytes> = metadata::records(1)[1..]
        .iter()
        .filter_map(|record| record.encode_frame().ok())
        .collect();
    let batch = encode_data_batch(Offset(123_456), Epoch(7), WallTime(0), &frames);
    FetchResponse {
        responses: vec![FetchableTopicResponse {
            topic_id: Uuid::METADATA_TOPIC,
            partitions: vec![PartitionData {
                high_watermark: 123_456,
                log_start_offset: 0,
                records: batch.ok(),
                ..Default::default()
            }],
            ..Default::default()
        }],
        ..Default::default()
    }
}

/// A hundred topics of ten partitions.
fn thousand_partitions() -> MetadataResponse {
    let partition = |n: usize| {
        let record = metadata::partition_record(n);
        MetadataResponsePartition {
            partition_index: record.partition_id,
            leader_id: record.leader,
            leader_epoch: record.leader_epoch,
            replica_nodes: record.replicas,
            isr_nodes: record.isr,
            ..Default::default()
        }
    };
    let topics = (0..100).map(|topic| MetadataResponseTopic {
        name: Some(format!("topic-{topic:07}")),
        topic_id: metadata::topic_id(topic).0,
        partitions: (topic * 10..topic * 10 + 10).map(partition).collect(),
        ..Default::default()
    });
    let brokers = (0..12).map(|node_id| MetadataResponseBroker {
        node_id,
        host: "broker.example.org".into(),
        port: 9092,
        ..Default::default()
    });
    MetadataResponse {
        brokers: brokers.collect(),
        cluster_id: Some("AAAAAAAAAAAAAAAAAAAAAQ".into()),
        controller_id: 1,
        topics: topics.collect(),
        ..Default::default()
    }
}

fn heartbeat() -> BrokerHeartbeatRequest {
    BrokerHeartbeatRequest {
        broker_id: 4,
        broker_epoch: 1234,
        current_metadata_offset: 123_456,
        ..Default::default()
    }
}

fn create_topics() -> CreateTopicsRequest {
    CreateTopicsRequest {
        topics: vec![CreatableTopic {
            name: "orders".into(),
            num_partitions: 3,
            replication_factor: 3,
            ..Default::default()
        }],
        ..Default::default()
    }
}

fn messages(criterion: &mut Criterion) {
    both_ways(criterion, "fetch-request", 17, &fetch());
    both_ways(criterion, "fetch-response", 17, &fetched());
    both_ways(
        criterion,
        "metadata-1000-partitions",
        12,
        &thousand_partitions(),
    );
    both_ways(criterion, "heartbeat", 1, &heartbeat());
    both_ways(criterion, "create-topics", 7, &create_topics());
}

fn record_frame(criterion: &mut Criterion) {
    let record = MetadataVersion::LATEST.versioned(metadata::partition_record(7));
    let frame = record.encode_frame().expect("a record of that version");
    let mut group = group(criterion, "codec");
    group.throughput(Throughput::Bytes(frame.len() as u64));
    group.bench_function("partition-record/encode", |bencher| {
        bencher.iter(|| black_box(&record).encode_frame());
    });
    group.bench_function("partition-record/decode", |bencher| {
        bencher.iter(|| VersionedRecord::decode_frame(black_box(&frame)));
    });
}

criterion_group!(benches, messages, record_frame);
criterion_main!(benches);
