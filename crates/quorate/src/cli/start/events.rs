//! What happens to a node, as log lines. Lines are written by a thread of their own, because a node
//! must not wait for whoever reads them.

use std::sync::mpsc;
use std::thread::{self, JoinHandle};

use anyhow::Context;
use quorate::node::OnEvent;
use quorate::server::events::NodeEvent;
use quorate::types::NodeId;
use tracing::{Level, debug, enabled, info, warn};

/// Logs each event it is given. The thread ends when the node has, and all is written.
pub fn log() -> anyhow::Result<(OnEvent, JoinHandle<()>)> {
    let (told, events) = mpsc::channel();
    let writer = thread::Builder::new()
        .name("events".into())
        .spawn(move || events.into_iter().for_each(|event| line(&event)))
        .context("cannot start a thread")?;
    let is_detailed = enabled!(Level::DEBUG);
    let on_event = move |event: NodeEvent| {
        if is_detailed || !is_detail(&event) {
            // The thread does not end before this is dropped.
            let _ = told.send(event);
        }
    };
    Ok((Box::new(on_event), writer))
}

/// Whether an event is one of many and says little alone.
fn is_detail(event: &NodeEvent) -> bool {
    matches!(
        event,
        NodeEvent::Published { .. } | NodeEvent::LeaderChanged { .. }
    )
}

fn line(event: &NodeEvent) {
    let wire = NodeId::to_wire;
    match event {
        NodeEvent::QuorumLeader { epoch, leader } => info!(
            event = "quorum_leader",
            epoch = epoch.0,
            leader = wire(*leader),
            "{event}"
        ),
        NodeEvent::Active { epoch } => info!(event = "active", epoch = epoch.0, "{event}"),
        NodeEvent::Inactive => info!(event = "inactive", "{event}"),
        NodeEvent::BrokerRegistered { broker, epoch } => info!(
            event = "broker_registered",
            broker = broker.0,
            epoch = epoch.0,
            "{event}"
        ),
        NodeEvent::BrokerUnfenced { broker } => {
            info!(event = "broker_unfenced", broker = broker.0, "{event}");
        }
        NodeEvent::BrokerFenced {
            broker,
            shutting_down: true,
        } => info!(event = "broker_shut_down", broker = broker.0, "{event}"),
        NodeEvent::BrokerFenced { broker, .. } => {
            warn!(event = "broker_fenced", broker = broker.0, "{event}");
        }
        NodeEvent::BrokerRemoved { broker } => {
            info!(event = "broker_removed", broker = broker.0, "{event}");
        }
        NodeEvent::TopicCreated {
            topic,
            id,
            partitions,
        } => info!(
            event = "topic_created",
            topic = topic.as_str(),
            id = id.to_string().as_str(),
            partitions = partitions,
            "{event}"
        ),
        NodeEvent::TopicDeleted { topic } => {
            info!(event = "topic_deleted", topic = topic.as_str(), "{event}");
        }
        NodeEvent::LeaderChanged {
            topic,
            partition,
            from,
            to,
            epoch,
        } => debug!(
            event = "leader_changed",
            topic = topic.as_str(),
            partition = partition,
            from = wire(*from),
            to = wire(*to),
            epoch = epoch.0,
            "{event}"
        ),
        NodeEvent::Warning(text) => warn!(event = "warning", "{text}"),
        NodeEvent::Published { end } => debug!(event = "published", end = end.0, "{event}"),
        other => info!("{other}"),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_event_is_explained_in_the_documentation() {
        let document = include_str!("../../../../../docs/operations.md");
        let source = include_str!("events.rs");
        let names = source.split("event = \"").skip(1);
        let names: Vec<&str> = names.filter_map(|rest| rest.split('"').next()).collect();
        for name in names.iter().filter(|name| name.len() > 1) {
            assert!(document.contains(&format!("`{name}`")), "{name}");
        }
        assert!(names.len() > 10);
    }
}
