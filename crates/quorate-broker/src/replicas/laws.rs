//! What is expected of a replica host, whoever wrote it, in a form that can be run.
//!
//! [`check`] tells a host a random story, as [`LocalReplicas`](super::LocalReplicas) would, and
//! watches what it holds.
//!
//! ```
//! use quorate_broker::replicas::{MemoryReplicas, laws};
//! use quorate_types::{DirectoryId, NodeId, Rng};
//!
//! let directory = DirectoryId(Rng::new(1).uuid());
//! let mut host = MemoryReplicas::new(NodeId(1), directory);
//! laws::check(&mut host, NodeId(1), 42, 1000).unwrap();
//! ```

use std::collections::BTreeMap;
use std::sync::Arc;

use quorate_metadata::{LocalDelete, LocalReplica, Partition, PartitionId};
use quorate_types::{DirectoryId, LeaderEpoch, NodeId, PartitionEpoch, Rng, TopicId};

use super::ReplicaHost;

/// A law that every host keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Law {
    /// A partition that the broker leads or follows has a replica here, whether it fetches or not.
    Held,
    /// A replica stays in its directory as long as it is here.
    Stays,
    /// A deleted replica is not here, and deleting what is not here does nothing.
    Gone,
}

/// A law was broken; the seed tells the same story again.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{law:?} is broken for {partition} at step {step} of seed {seed}")]
pub struct Violation {
    /// Which law.
    pub law: Law,
    /// For which partition.
    pub partition: PartitionId,
    /// At which step.
    pub step: usize,
    /// Of which story.
    pub seed: u64,
}

const PARTITIONS: u64 = 6;

/// Tells `host`, which holds nothing yet, a story of so many steps about the replicas of `broker`.
///
/// # Errors
/// The first law that is broken.
pub fn check(
    host: &mut dyn ReplicaHost,
    broker: NodeId,
    seed: u64,
    steps: usize,
) -> Result<(), Violation> {
    let mut rng = Rng::new(seed);
    let topic = TopicId(rng.uuid());
    let mut held: BTreeMap<PartitionId, (LocalReplica, DirectoryId)> = BTreeMap::new();
    for step in 0..steps {
        let index = i32::try_from(rng.below(PARTITIONS)).unwrap_or(0);
        let id = PartitionId::new(topic, index);
        let violated = |law| Violation {
            law,
            partition: id,
            step,
            seed,
        };
        match rng.below(8) {
            0 | 1 => {
                host.delete(&LocalDelete {
                    id,
                    topic: Arc::from("topic"),
                });
                held.remove(&id);
            }
            2 if held.contains_key(&id) => host.stop_fetching(id),
            _ => {
                let before = held.get(&id).map(|(replica, _)| replica);
                let next = next_state(&mut rng, broker, id, before);
                match next.partition.leader == Some(broker) {
                    true => host.become_leader(&next),
                    false => host.become_follower(&next),
                }
                let directory = host.directory(id).ok_or_else(|| violated(Law::Held))?;
                let first = held.get(&id).map_or(directory, |(_, first)| *first);
                held.insert(id, (next, first));
            }
        }
        match (host.directory(id), held.get(&id)) {
            (Some(_), None) => return Err(violated(Law::Gone)),
            (None, Some(_)) => return Err(violated(Law::Held)),
            (Some(now), Some((_, first))) if now != *first => return Err(violated(Law::Stays)),
            _ => {}
        }
    }
    Ok(())
}

/// The partition's next state: another partition epoch, and perhaps another leader.
fn next_state(
    rng: &mut Rng,
    broker: NodeId,
    id: PartitionId,
    before: Option<&LocalReplica>,
) -> LocalReplica {
    let other = NodeId(broker.0 + 1);
    let mut partition = before.map_or_else(
        || Partition {
            replicas: vec![broker, other],
            directories: vec![DirectoryId::UNASSIGNED; 2],
            isr: vec![broker, other],
            ..Default::default()
        },
        |before| before.partition.clone(),
    );
    let new_leader_epoch = before.is_none() || rng.one_in(2);
    partition.partition_epoch = PartitionEpoch(partition.partition_epoch.0 + 1);
    if new_leader_epoch {
        partition.leader_epoch = LeaderEpoch(partition.leader_epoch.0 + 1);
        partition.leader = [Some(broker), Some(other), None][rng.index(3)];
    }
    LocalReplica {
        id,
        topic: Arc::from("topic"),
        partition,
        new_leader_epoch,
        new_here: before.is_none(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Keeps what it deletes, and moves what it is told about.
    #[derive(Default)]
    struct Careless {
        held: BTreeMap<PartitionId, u8>,
        keeps: bool,
    }

    impl ReplicaHost for Careless {
        fn become_leader(&mut self, replica: &LocalReplica) {
            let moves = self.held.entry(replica.id).or_default();
            if !self.keeps {
                *moves = moves.wrapping_add(1);
            }
        }

        fn become_follower(&mut self, replica: &LocalReplica) {
            self.become_leader(replica);
        }

        fn delete(&mut self, replica: &LocalDelete) {
            if !self.keeps {
                self.held.remove(&replica.id);
            }
        }

        fn directory(&self, partition: PartitionId) -> Option<DirectoryId> {
            let moves = self.held.get(&partition)?;
            Some(DirectoryId(quorate_types::Uuid([*moves; 16])))
        }
    }

    #[test]
    fn a_host_that_breaks_a_law_is_found_out() {
        let broken = |keeps| {
            let mut host = Careless {
                keeps,
                ..Default::default()
            };
            check(&mut host, NodeId(1), 7, 1000)
                .expect_err("careless")
                .law
        };
        assert_eq!(broken(true), Law::Gone);
        assert_eq!(broken(false), Law::Stays);
    }
}
