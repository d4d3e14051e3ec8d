//! What a delta means for the replicas on one broker.

use std::sync::Arc;

use quorate_types::{DirectoryId, NodeId};

use super::Delta;
use crate::{Partition, PartitionId, Topics};

/// What the replicas on one broker have to do, each list ordered by partition.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LocalChanges {
    /// Replicas that are no longer there: the topic is gone, or the replica moved away.
    pub deletes: Vec<LocalDelete>,
    /// Partitions that the broker leads and that changed.
    pub leaders: Vec<LocalReplica>,
    /// Partitions that the broker follows, or that have no leader, and that changed.
    pub followers: Vec<LocalReplica>,
    /// Replicas that are new here or lie in another directory than before.
    pub directories: Vec<(PartitionId, DirectoryId)>,
}

/// A replica to delete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalDelete {
    /// The partition.
    pub id: PartitionId,
    /// Its topic's name.
    pub topic: Arc<str>,
}

/// A replica whose partition changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalReplica {
    /// The partition.
    pub id: PartitionId,
    /// Its topic's name.
    pub topic: Arc<str>,
    /// How it is now.
    pub partition: Partition,
    /// Whether the leader epoch is new: a leader starts its epoch, a follower fetches anew.
    pub new_leader_epoch: bool,
    /// Whether the broker did not hold it before.
    pub new_here: bool,
}

impl LocalChanges {
    /// Those of [`leaders`](Self::leaders) that the broker was just elected for.
    pub fn elected_leaders(&self) -> impl Iterator<Item = &LocalReplica> {
        self.leaders.iter().filter(|leader| leader.new_leader_epoch)
    }

    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.deletes.is_empty()
            && self.leaders.is_empty()
            && self.followers.is_empty()
            && self.directories.is_empty()
    }

    pub(super) fn new(delta: &Delta, broker: NodeId) -> LocalChanges {
        let mut changes = LocalChanges::default();
        for change in delta.partitions() {
            let here = |partition: &Partition| partition.has_replica(broker);
            let before = change.before.as_ref().filter(|partition| here(partition));
            match change.after.filter(here) {
                Some(after) => {
                    let topic = name_of(delta.after.topics(), change.key);
                    changes.replica(broker, change.key, topic, before, after);
                }
                None if before.is_some() => changes.deletes.push(LocalDelete {
                    id: change.key,
                    topic: name_of(delta.before.topics(), change.key),
                }),
                None => {}
            }
        }
        changes.deletes.sort_unstable_by_key(|delete| delete.id);
        changes.leaders.sort_unstable_by_key(|leader| leader.id);
        changes
            .followers
            .sort_unstable_by_key(|follower| follower.id);
        changes.directories.sort_unstable_by_key(|(id, _)| *id);
        changes
    }

    /// `before` is `None` if the broker did not hold the partition.
    fn replica(
        &mut self,
        broker: NodeId,
        id: PartitionId,
        topic: Arc<str>,
        before: Option<&Partition>,
        after: Partition,
    ) {
        let directory = after.directory(broker);
        if before.and_then(|before| before.directory(broker)) != directory {
            self.directories
                .extend(directory.map(|directory| (id, directory)));
        }
        if before.is_some_and(|before| before.partition_epoch == after.partition_epoch) {
            return;
        }
        let leads = after.leader == Some(broker);
        let replica = LocalReplica {
            id,
            topic,
            new_leader_epoch: before.is_none_or(|b| b.leader_epoch != after.leader_epoch),
            new_here: before.is_none(),
            partition: after,
        };
        if leads {
            self.leaders.push(replica);
        } else {
            self.followers.push(replica);
        }
    }
}

fn name_of(topics: &Topics, id: PartitionId) -> Arc<str> {
    topics
        .by_id(id.topic)
        .map_or_else(|| Arc::from(""), |topic| topic.name().clone())
}
