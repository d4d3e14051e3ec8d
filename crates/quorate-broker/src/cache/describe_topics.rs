//! DescribeTopicPartitions (KIP-966): topics page by page, with their eligible leader replicas.
//!
//! Topics come by name. An answer has at most so many partitions; its cursor names the first that it
//! has not, which need not exist any more when it is asked for. Partitions carry no errors.

use std::collections::BTreeSet;

use quorate_metadata::{Partition, Topic};
use quorate_protocol::messages::describe_topic_partitions::{
    Cursor, DescribeTopicPartitionsResponsePartition, DescribeTopicPartitionsResponseTopic,
};
use quorate_protocol::messages::{DescribeTopicPartitionsRequest, DescribeTopicPartitionsResponse};
use quorate_types::{ErrorCode, NodeId};

use super::partitions::{View, ids};
use super::{Asker, MetadataCache, NOT_ASKED, is_internal, is_valid};

impl MetadataCache {
    /// Answers DescribeTopicPartitions.
    pub fn describe_topic_partitions(
        &self,
        asker: &Asker<'_>,
        request: &DescribeTopicPartitionsRequest,
    ) -> DescribeTopicPartitionsResponse {
        let (first_topic, first_partition) = match &request.cursor {
            Some(cursor) => (cursor.topic_name.as_str(), cursor.partition_index),
            None => ("", 0),
        };
        let asked: BTreeSet<&str> = request
            .topics
            .iter()
            .map(|topic| topic.name.as_str())
            .collect();
        let cursor_is_asked_for =
            request.cursor.is_none() || asked.is_empty() || asked.contains(first_topic);
        if first_partition < 0 || !cursor_is_asked_for {
            return invalid(request);
        }
        let most = request
            .response_partition_limit
            .min(self.config.most_partitions);
        let mut page = Page {
            view: View {
                image: self.image(),
                listener: asker.listener,
            },
            asker,
            room: usize::try_from(most).unwrap_or(0).max(1),
            response: DescribeTopicPartitionsResponse::default(),
        };
        let start = |name: &str| {
            if name == first_topic {
                first_partition
            } else {
                0
            }
        };
        if asked.is_empty() {
            for topic in self.image().topics().iter_from(first_topic) {
                if asker.access.may_describe_topic(topic.name())
                    && !page.add(topic, start(topic.name()))
                {
                    break;
                }
            }
        } else {
            self.describe_named(&mut page, asked.range(first_topic..), start);
        }
        page.response
    }

    /// Topics that the client may not see come last, after the page, and say nothing.
    fn describe_named<'a>(
        &self,
        page: &mut Page<'_>,
        names: impl Iterator<Item = &'a &'a str>,
        start: impl Fn(&str) -> i32,
    ) {
        let (allowed, denied): (Vec<&str>, Vec<&str>) =
            names.partition(|name| page.asker.access.may_describe_topic(name));
        for name in allowed {
            let goes_on = match self.image().topics().by_name(name) {
                Some(topic) => page.add(topic, start(name)),
                None => page.add_unknown(name),
            };
            if !goes_on {
                break;
            }
        }
        for name in denied {
            let mut topic = without_partitions(name, ErrorCode::TopicAuthorizationFailed);
            topic.is_internal = false;
            page.response.topics.push(topic);
        }
    }
}

/// An answer in the making.
struct Page<'a> {
    view: View<'a>,
    asker: &'a Asker<'a>,
    /// How many partitions still fit.
    room: usize,
    response: DescribeTopicPartitionsResponse,
}

impl Page<'_> {
    /// Adds a topic's partitions from `first` on. Gives false when the page is full.
    fn add(&mut self, topic: Topic<'_>, first: i32) -> bool {
        if self.is_full(topic.name()) {
            return false;
        }
        let mut rest = topic.partitions_from(first);
        let partitions: Vec<_> = rest
            .by_ref()
            .take(self.room)
            .map(|(index, partition)| self.partition(index, &partition))
            .collect();
        self.room -= partitions.len();
        self.response
            .topics
            .push(DescribeTopicPartitionsResponseTopic {
                error_code: ErrorCode::None,
                name: Some(topic.name().to_string()),
                topic_id: topic.id().0,
                is_internal: is_internal(topic.name()),
                partitions,
                topic_authorized_operations: self.asker.access.topic_operations(topic.name()),
                ..Default::default()
            });
        match rest.next() {
            None => true,
            Some((next, _)) => {
                self.response.next_cursor = Some(cursor(topic.name(), next));
                false
            }
        }
    }

    fn add_unknown(&mut self, name: &str) -> bool {
        if self.is_full(name) {
            return false;
        }
        let error = match is_valid(name) {
            true => ErrorCode::UnknownTopicOrPartition,
            false => ErrorCode::InvalidTopicException,
        };
        let mut topic = without_partitions(name, error);
        topic.topic_authorized_operations = self.asker.access.topic_operations(name);
        self.response.topics.push(topic);
        true
    }

    /// Whether the page ends before the topic of that name; if so, that is where the next starts.
    fn is_full(&mut self, name: &str) -> bool {
        if self.room == 0 {
            self.response.next_cursor = Some(cursor(name, 0));
        }
        self.room == 0
    }

    fn partition(
        &self,
        index: i32,
        partition: &Partition,
    ) -> DescribeTopicPartitionsResponsePartition {
        DescribeTopicPartitionsResponsePartition {
            error_code: ErrorCode::None,
            partition_index: index,
            leader_id: NodeId::to_wire(self.view.leader(partition).ok()),
            leader_epoch: partition.leader_epoch.0,
            replica_nodes: ids(&partition.replicas),
            isr_nodes: ids(&partition.isr),
            eligible_leader_replicas: Some(ids(&partition.elr)),
            last_known_elr: Some(ids(&partition.last_known_elr)),
            offline_replicas: self.view.offline_replicas(partition),
            ..Default::default()
        }
    }
}

fn cursor(topic: &str, partition: i32) -> Cursor {
    Cursor {
        topic_name: topic.to_owned(),
        partition_index: partition,
        ..Default::default()
    }
}

fn without_partitions(name: &str, error: ErrorCode) -> DescribeTopicPartitionsResponseTopic {
    DescribeTopicPartitionsResponseTopic {
        error_code: error,
        name: Some(name.to_owned()),
        is_internal: is_internal(name),
        topic_authorized_operations: NOT_ASKED,
        ..Default::default()
    }
}

/// A cursor that makes no sense: the error at every topic asked for.
fn invalid(request: &DescribeTopicPartitionsRequest) -> DescribeTopicPartitionsResponse {
    let refuse = |name: &str| DescribeTopicPartitionsResponseTopic {
        is_internal: false,
        ..without_partitions(name, ErrorCode::InvalidRequest)
    };
    DescribeTopicPartitionsResponse {
        topics: request
            .topics
            .iter()
            .map(|topic| refuse(&topic.name))
            .collect(),
        ..Default::default()
    }
}
