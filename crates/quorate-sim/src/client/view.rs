//! What a broker shows its clients: topics and brokers, as an answer to Metadata has them.

use std::collections::BTreeMap;

use quorate_metadata::MetadataImage;
use quorate_protocol::messages::{MetadataRequest, MetadataResponse, Request};
use quorate_types::{NodeId, TopicId};

/// Topics with their ids and sizes, and the brokers that clients may use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct View {
    topics: BTreeMap<String, (TopicId, usize)>,
    brokers: Vec<NodeId>,
}

impl View {
    /// The request for everything.
    pub fn request() -> Request {
        MetadataRequest {
            topics: None,
            allow_auto_topic_creation: false,
            ..Default::default()
        }
        .into()
    }

    /// What an answer shows.
    pub fn of_answer(answer: &MetadataResponse) -> View {
        let topics = answer.topics.iter().map(|topic| {
            let name = topic.name.clone().unwrap_or_default();
            (name, (TopicId(topic.topic_id), topic.partitions.len()))
        });
        let mut brokers: Vec<NodeId> = answer
            .brokers
            .iter()
            .map(|broker| NodeId(broker.node_id))
            .collect();
        brokers.sort_unstable();
        View {
            topics: topics.collect(),
            brokers,
        }
    }

    /// What a broker that holds this metadata should show.
    pub fn of_image(image: &MetadataImage) -> View {
        let topics = image.topics().iter().map(|topic| {
            let sized = (topic.id(), topic.partition_count());
            (topic.name().to_string(), sized)
        });
        let usable = image.brokers().filter(|broker| !broker.fenced);
        View {
            topics: topics.collect(),
            brokers: usable.map(|broker| broker.id).collect(),
        }
    }
}
