//! What a client knows of its cluster: nodes, topics, leaders.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use quorate_types::{ErrorCode, LeaderEpoch, NodeId, TopicId};

use crate::Address;

/// A broker as clients see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// Its id.
    pub id: NodeId,
    /// Where it listens.
    pub address: Address,
    /// Its rack.
    pub rack: Option<String>,
}

/// One partition, as the answer that was believed last had it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PartitionInfo {
    /// What the broker said was wrong with it.
    pub error: ErrorCode,
    /// Who leads.
    pub leader: Option<NodeId>,
    /// In which epoch; `None` from brokers whose epochs are not reliable.
    pub leader_epoch: Option<LeaderEpoch>,
    /// Who holds it.
    pub replicas: Vec<NodeId>,
    /// Who is in sync.
    pub isr: Vec<NodeId>,
    /// Who holds it and cannot be reached.
    pub offline: Vec<NodeId>,
}

/// One topic.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TopicInfo {
    /// Its id; `None` from brokers that do not tell.
    pub id: Option<TopicId>,
    /// Whether coordinators keep their state in it.
    pub internal: bool,
    /// Its partitions by number.
    pub partitions: BTreeMap<i32, PartitionInfo>,
}

/// Everything a client knows of its cluster at one [`Version`](crate::Version).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ClusterSnapshot {
    /// The cluster's id.
    pub cluster_id: Option<String>,
    /// The brokers by id; empty while only bootstrap servers are known.
    pub nodes: BTreeMap<NodeId, Node>,
    /// The broker that takes administrative requests.
    pub controller: Option<NodeId>,
    /// The topics by name.
    pub topics: BTreeMap<Arc<str>, TopicInfo>,
    /// Topics that were asked for and that this client may not see.
    pub unauthorized: BTreeSet<Arc<str>>,
    /// Topics that were asked for and that no cluster can have.
    pub invalid: BTreeSet<Arc<str>>,
}

impl ClusterSnapshot {
    /// One partition.
    pub fn partition(&self, topic: &str, index: i32) -> Option<&PartitionInfo> {
        self.topics.get(topic)?.partitions.get(&index)
    }

    /// The topic of that id, by name.
    pub fn topic_name(&self, id: TopicId) -> Option<&Arc<str>> {
        self.topics
            .iter()
            .find(|(_, topic)| topic.id == Some(id))
            .map(|(name, _)| name)
    }
}
