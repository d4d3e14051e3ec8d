//! The cluster as the nodes tell it: what is news, and what only repeats what another node said.
//!
//! Every node tells every change when it applies it. A change is news if it was told with a later
//! end of the metadata than any before, and if it differs from what is known.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use quorate_server::events::NodeEvent;
use quorate_types::{Epoch, NodeId, Offset};

use crate::nodes::Told;

/// Something new about the cluster.
#[derive(Debug, Clone, PartialEq)]
pub enum News {
    /// A controller is active; how long nobody was before.
    Active {
        id: NodeId,
        epoch: Epoch,
        took: Duration,
    },
    /// A broker registered.
    Registered { broker: NodeId },
    /// A broker is in service.
    Unfenced { broker: NodeId },
    /// A broker is out of service; how long after it was killed, if it was.
    Fenced {
        broker: NodeId,
        took: Option<Duration>,
    },
    /// A broker went in good order.
    ShutDown { broker: NodeId },
    /// A topic is there.
    Created { topic: String, partitions: usize },
    /// A topic is gone.
    Deleted { topic: String },
    /// A partition has another leader.
    Leader {
        topic: String,
        partition: i32,
        from: Option<NodeId>,
        to: Option<NodeId>,
    },
    /// A node warns.
    Warning { node: NodeId, text: String },
}

/// What is known of the cluster.
#[derive(Debug)]
pub struct World {
    active: Option<(NodeId, Epoch)>,
    /// The quorum's leader as the node that saw the latest epoch sees it.
    leader: (Epoch, Option<NodeId>),
    /// Since when no controller is active.
    idle_since: Instant,
    killed: BTreeMap<NodeId, Instant>,
    end: Offset,
    fenced: BTreeMap<NodeId, bool>,
    topics: BTreeMap<String, usize>,
    leaders: BTreeMap<(String, i32), Option<NodeId>>,
    /// Events of nodes whose end is not told yet.
    pending: BTreeMap<NodeId, Vec<NodeEvent>>,
}

impl World {
    /// Nothing is known at the start.
    pub fn new(started: Instant) -> World {
        World {
            active: None,
            leader: (Epoch(0), None),
            idle_since: started,
            killed: BTreeMap::new(),
            end: Offset::ZERO,
            fenced: BTreeMap::new(),
            topics: BTreeMap::new(),
            leaders: BTreeMap::new(),
            pending: BTreeMap::new(),
        }
    }

    /// The active controller and its epoch.
    pub fn active(&self) -> Option<(NodeId, Epoch)> {
        self.active
    }

    /// The leader of the quorum, which may be a controller of another process.
    pub fn leader(&self) -> Option<NodeId> {
        self.leader.1
    }

    /// Whether the broker is in service.
    pub fn is_unfenced(&self, broker: NodeId) -> bool {
        self.fenced.get(&broker) == Some(&false)
    }

    /// A node was ended from here.
    pub fn ended(&mut self, at: Instant, node: NodeId) {
        self.killed.insert(node, at);
        self.pending.remove(&node);
        if self.active.is_some_and(|(id, _)| id == node) {
            self.active = None;
            self.idle_since = at;
        }
    }

    /// Takes in what a node tells; says what of it is news.
    pub fn hear(&mut self, told: Told) -> Vec<News> {
        let Told { at, node, event } = told;
        match event {
            NodeEvent::Active { epoch } => self.active_now(at, node, epoch).into_iter().collect(),
            NodeEvent::Inactive => {
                if self.active.is_some_and(|(id, _)| id == node) {
                    self.active = None;
                    self.idle_since = at;
                }
                Vec::new()
            }
            NodeEvent::Warning(text) => vec![News::Warning { node, text }],
            NodeEvent::QuorumLeader { epoch, leader } => {
                if epoch >= self.leader.0 {
                    self.leader = (epoch, leader);
                }
                Vec::new()
            }
            NodeEvent::Published { end } => {
                let events = self.pending.remove(&node).unwrap_or_default();
                if end <= self.end {
                    return Vec::new();
                }
                self.end = end;
                events
                    .into_iter()
                    .filter_map(|event| self.learn(at, event))
                    .collect()
            }
            change => {
                self.pending.entry(node).or_default().push(change);
                Vec::new()
            }
        }
    }

    fn active_now(&mut self, at: Instant, id: NodeId, epoch: Epoch) -> Option<News> {
        if self.active.is_some_and(|(_, known)| known >= epoch) {
            return None;
        }
        self.active = Some((id, epoch));
        Some(News::Active {
            id,
            epoch,
            took: at.duration_since(self.idle_since),
        })
    }

    fn learn(&mut self, at: Instant, event: NodeEvent) -> Option<News> {
        match event {
            NodeEvent::BrokerRegistered { broker, .. } => {
                self.fenced.insert(broker, true);
                Some(News::Registered { broker })
            }
            NodeEvent::BrokerUnfenced { broker } => {
                self.killed.remove(&broker);
                let was = self.fenced.insert(broker, false);
                (was != Some(false)).then_some(News::Unfenced { broker })
            }
            NodeEvent::BrokerFenced {
                broker,
                shutting_down,
            } => {
                if self.fenced.insert(broker, true) == Some(true) {
                    return None;
                }
                if shutting_down {
                    return Some(News::ShutDown { broker });
                }
                let killed = self.killed.remove(&broker);
                let took = killed.map(|killed| at.duration_since(killed));
                Some(News::Fenced { broker, took })
            }
            NodeEvent::TopicCreated {
                topic, partitions, ..
            } => {
                let news = self.topics.insert(topic.clone(), partitions).is_none();
                news.then_some(News::Created { topic, partitions })
            }
            NodeEvent::TopicDeleted { topic } => {
                self.leaders.retain(|(name, _), _| *name != topic);
                self.topics.remove(&topic).map(|_| News::Deleted { topic })
            }
            NodeEvent::LeaderChanged {
                topic,
                partition,
                from,
                to,
                ..
            } => {
                let known = self.leaders.insert((topic.clone(), partition), to);
                (known != Some(to)).then_some(News::Leader {
                    topic,
                    partition,
                    from,
                    to,
                })
            }
            _ => None,
        }
    }
}
