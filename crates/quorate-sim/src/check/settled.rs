//! Law: once the faults have ended, the cluster works again within a bounded time.

use std::fmt;

use quorate_metadata::MetadataImage;
use quorate_types::{IncarnationId, NodeId, Offset};

use super::Checks;

/// What is still missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unsettled {
    /// No controller is active.
    NoActive,
    /// No client's create has been done since.
    NoCreate,
    /// A broker is not registered, or fenced.
    Fenced(NodeId),
    /// Partitions have no leader.
    Leaderless(usize),
    /// A partition's replicas are not all in sync.
    OutOfSync(String),
    /// A node does not run.
    Down(NodeId),
    /// A node has not published everything up to there.
    Behind(NodeId, Offset),
}

impl Checks {
    /// How many creates clients saw done.
    pub fn creates(&self) -> usize {
        self.acknowledged.creates()
    }

    /// A broker that is not at work, as of what is committed: its running process must be the one
    /// that registered.
    pub fn fenced(
        &self,
        brokers: impl Iterator<Item = (NodeId, Option<IncarnationId>)>,
    ) -> Option<Unsettled> {
        fenced(self.image(), brokers)
    }

    /// Partitions that are not served as they should be, as of what is committed.
    pub fn unserved(&self) -> Option<Unsettled> {
        let topics = self.image().topics();
        if topics.leaderless_count() > 0 {
            return Some(Unsettled::Leaderless(topics.leaderless_count()));
        }
        topics.iter().find_map(|topic| {
            let short = |(_, partition): &(i32, quorate_metadata::Partition)| {
                partition.isr.len() < partition.replicas.len()
            };
            let (index, partition) = topic.partitions().find(short)?;
            let text = format!("{}-{index}: {partition:?}", topic.name());
            Some(Unsettled::OutOfSync(text))
        })
    }

    /// A node that has not published everything up to `target`.
    pub fn behind(
        &self,
        mut nodes: impl Iterator<Item = NodeId>,
        target: Offset,
    ) -> Option<Unsettled> {
        let behind = |id: &NodeId| self.newest(*id).is_none_or(|newest| newest.end < target);
        nodes.find(behind).map(|id| Unsettled::Behind(id, target))
    }
}

fn fenced(
    image: &MetadataImage,
    mut brokers: impl Iterator<Item = (NodeId, Option<IncarnationId>)>,
) -> Option<Unsettled> {
    let at_work = |(id, incarnation): &(NodeId, Option<IncarnationId>)| {
        image.broker(*id).is_some_and(|broker| {
            let same = *incarnation == Some(broker.incarnation);
            same && !broker.fenced && !broker.in_controlled_shutdown
        })
    };
    brokers
        .find(|broker| !at_work(broker))
        .map(|(id, _)| Unsettled::Fenced(id))
}

impl fmt::Display for Unsettled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unsettled::NoActive => f.write_str("no controller is active"),
            Unsettled::NoCreate => f.write_str("no create was acknowledged"),
            Unsettled::Fenced(id) => write!(f, "broker {id} is fenced or not registered"),
            Unsettled::Leaderless(count) => write!(f, "{count} partitions have no leader"),
            Unsettled::OutOfSync(which) => write!(f, "not all replicas are in sync: {which}"),
            Unsettled::Down(id) => write!(f, "{id} does not run"),
            Unsettled::Behind(id, target) => write!(f, "{id} has not published up to {target}"),
        }
    }
}
