//! Answers that a broker of Kafka 4.2.0 gave, byte by byte.

use bytes::Bytes;
use quorate_protocol::messages::{
    DescribeClusterRequest, MetadataRequest, MetadataResponse, decode_response, encode_response,
};
use quorate_types::{Rng, Uuid};

use super::PLAINTEXT;
use super::pages::paged;
use crate::cache::{Asker, CacheConfig, MetadataCache};
use crate::testing::Log;

/// A recorded exchange with a broker of Kafka 4.2.0.
struct Recorded {
    version: i16,
    response: Bytes,
}

fn recorded(case: &str) -> Recorded {
    let lines = include_str!("../../../tests/data/front-door.jsonl").lines();
    let line = lines
        .map(|line| serde_json::from_str::<serde_json::Value>(line).expect("json"))
        .find(|line| line["case"] == case)
        .expect("a recorded case");
    let hex = line["response"].as_str().expect("hex");
    let bytes = (0..hex.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&hex[at..at + 2], 16).expect("hex"))
        .collect::<Vec<u8>>();
    Recorded {
        version: i16::try_from(line["version"].as_i64().expect("a version")).expect("an i16"),
        response: Bytes::from(bytes),
    }
}

fn correlation_id(frame: &Bytes) -> i32 {
    i32::from_be_bytes(frame[..4].try_into().expect("a header"))
}

/// The cluster of the recordings: brokers 4, 5 and 6, topics `audit` and `orders`.
fn recorded_cluster() -> Log {
    let mut log = Log::new();
    for id in [4, 5, 6] {
        log.register(id, |broker| {
            broker.rack = Some(format!("rack-{id}"));
            broker.end_points[0].port = 29090 + u16::try_from(id).expect("small");
        });
        log.unfence(id);
    }
    log
}

fn topic(log: &mut Log, name: &str, id: &str, replicas: &[&[i32]]) {
    let id: Uuid = id.parse().expect("a uuid");
    log.push(quorate_protocol::records::MetadataRecord::Topic(
        quorate_protocol::records::TopicRecord {
            name: name.to_owned(),
            topic_id: id,
            ..Default::default()
        },
    ));
    for (index, replicas) in replicas.iter().enumerate() {
        let index = i32::try_from(index).expect("small");
        log.partition_with(0, index, replicas, replicas, |partition| {
            partition.topic_id = id
        });
    }
}

fn recorded_topics(log: &mut Log) {
    topic(
        log,
        "audit",
        "WH5Y8u8QRXydMaXM2NDmlg",
        &[&[4, 5], &[5, 6], &[6, 4]],
    );
    topic(
        log,
        "orders",
        "MRaAxNUZR8e6R461h7Ux8g",
        &[
            &[5, 6, 4],
            &[6, 4, 5],
            &[4, 5, 6],
            &[6, 5, 4],
            &[5, 4, 6],
            &[4, 6, 5],
            &[5, 6, 4],
            &[6, 4, 5],
            &[4, 5, 6],
        ],
    );
}

fn recorded_cache(log: &Log) -> MetadataCache {
    let mut cache = MetadataCache::new("mTGiFOYvQA-l7MVmesF4UQ", CacheConfig::default());
    cache.publish(log.image.clone(), log.end);
    cache
}

#[test]
fn described_topics_are_kafkas_byte_for_byte() {
    let mut log = recorded_cluster();
    recorded_topics(&mut log);
    let recorded = recorded("topics-of-three");
    let asker = Asker::unrestricted(PLAINTEXT, recorded.version);
    let request = paged(&["audit", "orders"], 2000, None);
    let response = recorded_cache(&log).describe_topic_partitions(&asker, &request);
    let id = correlation_id(&recorded.response);
    let frame = encode_response(75, recorded.version, id, &response).expect("encodable");
    assert_eq!(frame, recorded.response);
}

#[test]
fn a_described_cluster_is_kafkas_byte_for_byte() {
    let log = recorded_cluster();
    let recorded = recorded("cluster-of-three");
    let asker = Asker::unrestricted(PLAINTEXT, recorded.version);
    let request = DescribeClusterRequest::default();
    let mut response = recorded_cache(&log).describe_cluster(&asker, &request, &mut Rng::new(1));
    assert!((4..=6).contains(&response.controller_id));
    response.controller_id = 5;
    let id = correlation_id(&recorded.response);
    let frame = encode_response(60, recorded.version, id, &response).expect("encodable");
    assert_eq!(frame, recorded.response);
}

#[test]
fn after_a_crash_the_answers_are_kafkas() {
    let mut log = recorded_cluster();
    topic(&mut log, "audit", "WH5Y8u8QRXydMaXM2NDmlg", &[]);
    let asker = Asker::unrestricted(PLAINTEXT, 13);
    let recorded = recorded("metadata-after-a-crash");
    let (_, mut theirs): (_, MetadataResponse) =
        decode_response(recorded.version, &recorded.response).expect("readable");
    theirs
        .topics
        .retain(|topic| topic.name.as_deref() == Some("audit"));
    // Kafka's order of partitions is that of a hash map.
    theirs.topics[0]
        .partitions
        .sort_by_key(|partition| partition.partition_index);
    theirs.controller_id = 4;
    let audit: Uuid = "WH5Y8u8QRXydMaXM2NDmlg".parse().expect("a uuid");
    // (replicas, ISR, leader epoch)
    let partitions: [(&[i32], &[i32], i32); 3] =
        [(&[6, 5], &[5], 2), (&[4, 6], &[4], 1), (&[6, 4], &[4], 1)];
    for (index, (replicas, isr, leader_epoch)) in partitions.into_iter().enumerate() {
        log.partition_with(
            0,
            i32::try_from(index).expect("small"),
            replicas,
            isr,
            |partition| {
                partition.topic_id = audit;
                partition.leader_epoch = leader_epoch;
            },
        );
    }
    log.change(6, 1, 0);
    let request = MetadataRequest {
        topics: None,
        ..Default::default()
    };
    let mut ours = recorded_cache(&log)
        .metadata(&asker, &request, &mut Rng::new(1))
        .response;
    ours.controller_id = 4;
    assert_eq!(ours, theirs);
}
