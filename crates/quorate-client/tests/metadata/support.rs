//! A client, and the answers that brokers give it.

use quorate_client::*;
use quorate_protocol::messages::metadata::{
    MetadataResponseBroker, MetadataResponsePartition, MetadataResponseTopic,
};
use quorate_protocol::messages::{MetadataRequest, MetadataResponse};
use quorate_types::{ErrorCode, MonoTime, Rng, Uuid};

pub(super) const NEWEST: i16 = 13;

pub(super) fn at(millis: u64) -> MonoTime {
    MonoTime(millis * 1000)
}

pub(super) fn client() -> ClientMetadata {
    ClientMetadata::new(
        ClientConfig::new([Address::new("bootstrap", 9092)]),
        Rng::new(7),
    )
}

pub(super) fn brokers(ids: &[i32]) -> Vec<MetadataResponseBroker> {
    ids.iter()
        .map(|id| MetadataResponseBroker {
            node_id: *id,
            host: format!("broker-{id}"),
            port: 9092,
            ..Default::default()
        })
        .collect()
}

/// A topic whose partitions are led by these, in these epochs.
pub(super) fn topic(name: &str, id: u8, leaders: &[(i32, i32)]) -> MetadataResponseTopic {
    let partition = |(index, (leader, epoch)): (usize, &(i32, i32))| MetadataResponsePartition {
        error_code: match leader {
            -1 => ErrorCode::LeaderNotAvailable,
            _ => ErrorCode::None,
        },
        partition_index: i32::try_from(index).expect("small"),
        leader_id: *leader,
        leader_epoch: *epoch,
        ..Default::default()
    };
    MetadataResponseTopic {
        name: Some(name.to_owned()),
        topic_id: Uuid([id; 16]),
        partitions: leaders.iter().enumerate().map(partition).collect(),
        ..Default::default()
    }
}

pub(super) fn refused(name: &str, error_code: ErrorCode) -> MetadataResponseTopic {
    MetadataResponseTopic {
        error_code,
        name: Some(name.to_owned()),
        ..Default::default()
    }
}

pub(super) fn response(topics: Vec<MetadataResponseTopic>) -> MetadataResponse {
    MetadataResponse {
        brokers: brokers(&[1, 2, 3]),
        controller_id: 2,
        topics,
        ..Default::default()
    }
}

pub(super) fn names(request: &MetadataRequest) -> Option<Vec<&str>> {
    let topics = request.topics.as_ref()?;
    Some(
        topics
            .iter()
            .filter_map(|topic| topic.name.as_deref())
            .collect(),
    )
}

/// Asks and answers; the client must want to ask.
pub(super) fn update(
    client: &mut ClientMetadata,
    millis: u64,
    topics: Vec<MetadataResponseTopic>,
) -> MetadataRequest {
    let call = client.poll_request(at(millis)).expect("an update is due");
    client.answered(at(millis), call.ticket, NEWEST, &response(topics));
    call.request
}

/// A client that knows `orders`, led by broker 1 in epoch 5, since time 0.
pub(super) fn informed() -> ClientMetadata {
    let mut client = client();
    client.add_topic(at(0), "orders");
    update(&mut client, 0, vec![topic("orders", 1, &[(1, 5)])]);
    client
}

pub(super) fn leader(
    client: &ClientMetadata,
    topic: &str,
    partition: i32,
) -> (Option<i32>, Option<i32>) {
    let current = client.leader(topic, partition);
    (
        current.node.map(|node| node.id.0),
        current.epoch.map(|epoch| epoch.0),
    )
}
