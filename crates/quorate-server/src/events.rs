//! What a person may want to see of a node: elections, fencing, topics, leaders.
//!
//! Events are told after the fact and carry no duties; tools print them, tests wait for them.

use std::fmt;

use quorate_types::{BrokerEpoch, Epoch, LeaderEpoch, NodeId, Offset, OffsetAndEpoch, TopicId};

/// Something that happened to a node or to the metadata it has applied.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum NodeEvent {
    /// The quorum has a leader, or lost it, as this node sees it.
    QuorumLeader {
        /// The epoch.
        epoch: Epoch,
        /// Its leader, if known.
        leader: Option<NodeId>,
    },
    /// This node's controller is active: it has applied everything before its epoch.
    Active {
        /// The epoch in which it is active.
        epoch: Epoch,
    },
    /// This node's controller is active no more.
    Inactive,
    /// A broker registered.
    BrokerRegistered {
        /// The broker.
        broker: NodeId,
        /// Its new epoch.
        epoch: BrokerEpoch,
    },
    /// A broker may lead and be chosen from now on.
    BrokerUnfenced {
        /// The broker.
        broker: NodeId,
    },
    /// A broker was fenced: it leads nothing any more.
    BrokerFenced {
        /// The broker.
        broker: NodeId,
        /// Whether it had asked to shut down.
        shutting_down: bool,
    },
    /// A broker's registration was removed.
    BrokerRemoved {
        /// The broker.
        broker: NodeId,
    },
    /// A topic was created.
    TopicCreated {
        /// Its name.
        topic: String,
        /// Its id.
        id: TopicId,
        /// How many partitions it has.
        partitions: usize,
    },
    /// A topic was deleted.
    TopicDeleted {
        /// Its name.
        topic: String,
    },
    /// A partition has another leader.
    LeaderChanged {
        /// The topic.
        topic: String,
        /// The partition.
        partition: i32,
        /// The leader before.
        from: Option<NodeId>,
        /// The leader now.
        to: Option<NodeId>,
        /// The epoch of the new leader.
        epoch: LeaderEpoch,
    },
    /// This node wrote a snapshot of the metadata.
    SnapshotWritten {
        /// The end of what it contains.
        id: OffsetAndEpoch,
    },
    /// Something is wrong that an operator should look at; the node goes on as the text says.
    Warning(String),
    /// The published metadata moved to this end; the events of that move came before.
    Published {
        /// The first offset that is not in it.
        end: Offset,
    },
}

fn node(id: Option<NodeId>) -> String {
    id.map_or_else(|| "none".into(), |id| id.to_string())
}

impl fmt::Display for NodeEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NodeEvent::QuorumLeader {
                epoch,
                leader: Some(leader),
            } => {
                write!(f, "controller {leader} leads the quorum in epoch {epoch}")
            }
            NodeEvent::QuorumLeader {
                epoch,
                leader: None,
            } => {
                write!(f, "the quorum has no leader in epoch {epoch}")
            }
            NodeEvent::Active { epoch } => write!(f, "active controller in epoch {epoch}"),
            NodeEvent::Inactive => write!(f, "not the active controller any more"),
            NodeEvent::BrokerRegistered { broker, epoch } => {
                write!(f, "broker {broker} registered, broker epoch {epoch}")
            }
            NodeEvent::BrokerUnfenced { broker } => write!(f, "broker {broker} unfenced"),
            NodeEvent::BrokerFenced {
                broker,
                shutting_down: true,
            } => {
                write!(f, "broker {broker} fenced after its controlled shutdown")
            }
            NodeEvent::BrokerFenced {
                broker,
                shutting_down: false,
            } => {
                write!(f, "broker {broker} fenced")
            }
            NodeEvent::BrokerRemoved { broker } => write!(f, "broker {broker} unregistered"),
            NodeEvent::TopicCreated {
                topic, partitions, ..
            } => {
                write!(f, "topic {topic} created, {partitions} partitions")
            }
            NodeEvent::TopicDeleted { topic } => write!(f, "topic {topic} deleted"),
            NodeEvent::LeaderChanged {
                topic,
                partition,
                from,
                to,
                epoch,
            } => write!(
                f,
                "{topic}-{partition} led by {} (was {}), leader epoch {epoch}",
                node(*to),
                node(*from)
            ),
            NodeEvent::SnapshotWritten { id } => write!(f, "snapshot {id} written"),
            NodeEvent::Warning(text) => f.write_str(text),
            NodeEvent::Published { end } => write!(f, "metadata published up to {end}"),
        }
    }
}
