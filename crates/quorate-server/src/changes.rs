//! What changed between two published versions of the metadata, as events that people follow.

use quorate_metadata::{Delta, Section};

use crate::events::NodeEvent;

/// The events of a delta: brokers first, for topics follow them.
pub fn events(delta: &Delta) -> Vec<NodeEvent> {
    let mut events = Vec::new();
    if delta.changed(Section::Cluster) {
        brokers(delta, &mut events);
    }
    if delta.changed(Section::Topics) {
        topics(delta, &mut events);
    }
    events
}

fn brokers(delta: &Delta, events: &mut Vec<NodeEvent>) {
    for change in delta.brokers() {
        let broker = change.key;
        let Some(after) = change.after else {
            events.push(NodeEvent::BrokerRemoved { broker });
            continue;
        };
        let before = change.before;
        if before.is_none_or(|before| before.epoch != after.epoch) {
            events.push(NodeEvent::BrokerRegistered {
                broker,
                epoch: after.epoch,
            });
        }
        let was_fenced = before.is_none_or(|before| before.fenced);
        if was_fenced && !after.fenced {
            events.push(NodeEvent::BrokerUnfenced { broker });
        }
        if !was_fenced && after.fenced {
            let shutting_down = after.in_controlled_shutdown;
            events.push(NodeEvent::BrokerFenced {
                broker,
                shutting_down,
            });
        }
    }
}

fn topics(delta: &Delta, events: &mut Vec<NodeEvent>) {
    for topic in delta.topics_deleted() {
        events.push(NodeEvent::TopicDeleted {
            topic: topic.name().to_string(),
        });
    }
    for topic in delta.topics_created() {
        events.push(NodeEvent::TopicCreated {
            topic: topic.name().to_string(),
            id: topic.id(),
            partitions: topic.partition_count(),
        });
    }
    for change in delta.partitions() {
        let (Some(before), Some(after)) = (change.before, change.after) else {
            continue;
        };
        if before.leader == after.leader {
            continue;
        }
        let Some(topic) = delta.after().topics().by_id(change.key.topic) else {
            continue;
        };
        events.push(NodeEvent::LeaderChanged {
            topic: topic.name().to_string(),
            partition: change.key.index,
            from: before.leader,
            to: after.leader,
            epoch: after.leader_epoch,
        });
    }
}
