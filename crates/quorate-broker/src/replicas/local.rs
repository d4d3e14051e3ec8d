//! The replicas of one broker, as far as metadata knows them.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use quorate_metadata::{Delta, LocalReplica, MetadataImage, PartitionId, Section};
use quorate_types::{BrokerEpoch, DirectoryId, ErrorCode, LeaderEpoch, NodeId, PartitionEpoch};

use super::ReplicaHost;
use super::led::Led;
use crate::isr::{CommittedIsr, IsrChange};

/// What a leader wants of the controller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wish {
    /// Change the ISR.
    Change(PartitionId, IsrChange),
    /// Forget about the last change: the image brought something newer.
    Withdraw(PartitionId),
}

/// A replica that lies elsewhere than the log says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Misplaced {
    /// Whose replica.
    pub partition: PartitionId,
    /// Where it really lies.
    pub directory: DirectoryId,
}

#[derive(Debug, Clone)]
enum Role {
    Leads(Led),
    Follows { partition_epoch: PartitionEpoch },
}

/// A broker's replicas; see the [module](super).
#[derive(Debug)]
pub struct LocalReplicas {
    broker: NodeId,
    epoch: Option<BrokerEpoch>,
    replicas: BTreeMap<PartitionId, Role>,
    /// Partitions led here whose ISR lacks a replica: those to look at when brokers change.
    short: BTreeSet<PartitionId>,
    wishes: VecDeque<Wish>,
}

impl LocalReplicas {
    /// The replicas of a broker that has just started: none is known yet.
    pub fn new(broker: NodeId) -> LocalReplicas {
        LocalReplicas {
            broker,
            epoch: None,
            replicas: BTreeMap::new(),
            short: BTreeSet::new(),
            wishes: VecDeque::new(),
        }
    }

    /// The broker was registered with that epoch.
    pub fn registered(&mut self, epoch: BrokerEpoch) {
        self.epoch = Some(epoch);
    }

    /// Brings the replicas to where the delta's newer image wants them. Gives those whose directory
    /// the controller has to be told of.
    pub fn apply(
        &mut self,
        delta: &Delta,
        shutting_down: bool,
        host: &mut dyn ReplicaHost,
    ) -> Vec<Misplaced> {
        let changes = delta.local(self.broker);
        for replica in &changes.deletes {
            self.drop_role(replica.id);
            host.delete(replica);
        }
        for replica in &changes.leaders {
            if self.lead(replica) {
                host.become_leader(replica);
            }
        }
        for replica in &changes.followers {
            if self.follow(replica) {
                host.become_follower(replica);
                let out =
                    replica.partition.leader.is_none() || !replica.partition.in_isr(self.broker);
                if shutting_down && replica.new_leader_epoch && out {
                    host.stop_fetching(replica.id);
                }
            }
        }
        if delta.changed(Section::Cluster) {
            for partition in self.short.clone() {
                self.propose(partition, delta.after());
            }
        }
        for replica in &changes.leaders {
            self.propose(replica.id, delta.after());
        }
        let misplaced = |(partition, wanted): &(PartitionId, DirectoryId)| {
            let directory = host.directory(*partition)?;
            (directory != *wanted).then_some(Misplaced {
                partition: *partition,
                directory,
            })
        };
        changes.directories.iter().filter_map(misplaced).collect()
    }

    /// Whether `follower` may fetch the partition from here with that leader epoch; the error is the
    /// one to answer with.
    pub fn check_leader(
        &self,
        partition: PartitionId,
        follower: NodeId,
        epoch: LeaderEpoch,
    ) -> Result<(), ErrorCode> {
        match self.replicas.get(&partition) {
            None => Err(ErrorCode::UnknownTopicId),
            Some(Role::Follows { .. }) => Err(ErrorCode::NotLeaderOrFollower),
            Some(Role::Leads(led)) => led.check(follower, epoch),
        }
    }

    /// The follower has all that it needs to be in sync, and fetches under that broker epoch.
    pub fn caught_up(
        &mut self,
        partition: PartitionId,
        follower: NodeId,
        epoch: BrokerEpoch,
        image: &MetadataImage,
    ) {
        if let Some(Role::Leads(led)) = self.replicas.get_mut(&partition) {
            led.caught_up(follower, epoch);
            self.propose(partition, image);
        }
    }

    /// The follower lacks what was acknowledged for too long and must leave the ISR.
    pub fn fell_behind(&mut self, partition: PartitionId, follower: NodeId, image: &MetadataImage) {
        if let Some(Role::Leads(led)) = self.replicas.get_mut(&partition) {
            led.fell_behind(follower);
            self.propose(partition, image);
        }
    }

    /// The controller answered a change of the partition's ISR. A refusal is not followed by the same
    /// proposal at once, but by the next report of a follower or the next image.
    pub fn isr_resolved(
        &mut self,
        partition: PartitionId,
        result: &Result<CommittedIsr, ErrorCode>,
        image: &MetadataImage,
    ) {
        if let Some(Role::Leads(led)) = self.replicas.get_mut(&partition) {
            led.resolved(result);
            if result.is_ok() {
                self.propose(partition, image);
            }
            self.note_short(partition);
        }
    }

    /// The next thing to ask of the controller; in order.
    pub fn poll(&mut self) -> Option<Wish> {
        self.wishes.pop_front()
    }

    /// Whether there is a replica of the partition here.
    pub fn is_here(&self, partition: PartitionId) -> bool {
        self.replicas.contains_key(&partition)
    }

    /// How many partitions are led and followed here.
    pub fn counts(&self) -> (usize, usize) {
        let leads = self
            .replicas
            .values()
            .filter(|role| matches!(role, Role::Leads(_)))
            .count();
        (leads, self.replicas.len() - leads)
    }

    /// Gives false for a state that is older than what is known here.
    fn lead(&mut self, replica: &LocalReplica) -> bool {
        if self.is_old(replica) {
            return false;
        }
        match self.replicas.get_mut(&replica.id) {
            Some(Role::Leads(led)) => {
                if replica.partition.partition_epoch > led.partition_epoch {
                    self.wishes.push_back(Wish::Withdraw(replica.id));
                }
                led.update(&replica.partition);
            }
            _ => {
                let led = Led::new(&replica.partition);
                self.replicas.insert(replica.id, Role::Leads(led));
            }
        }
        self.note_short(replica.id);
        true
    }

    fn follow(&mut self, replica: &LocalReplica) -> bool {
        if self.is_old(replica) {
            return false;
        }
        self.drop_role(replica.id);
        let role = Role::Follows {
            partition_epoch: replica.partition.partition_epoch,
        };
        self.replicas.insert(replica.id, role);
        true
    }

    fn is_old(&self, replica: &LocalReplica) -> bool {
        let known = match self.replicas.get(&replica.id) {
            None => return false,
            Some(Role::Leads(led)) => led.partition_epoch,
            Some(Role::Follows { partition_epoch }) => *partition_epoch,
        };
        replica.partition.partition_epoch < known
    }

    /// The replica is not what it was; a leader's pending change goes with it.
    fn drop_role(&mut self, partition: PartitionId) {
        self.short.remove(&partition);
        if let Some(Role::Leads(_)) = self.replicas.remove(&partition) {
            self.wishes.push_back(Wish::Withdraw(partition));
        }
    }

    fn propose(&mut self, partition: PartitionId, image: &MetadataImage) {
        if let Some(Role::Leads(led)) = self.replicas.get_mut(&partition)
            && let Some(change) = led.propose(image, self.broker, self.epoch)
        {
            self.wishes.push_back(Wish::Change(partition, change));
        }
    }

    fn note_short(&mut self, partition: PartitionId) {
        match self.replicas.get(&partition) {
            Some(Role::Leads(led)) if led.is_short() => self.short.insert(partition),
            _ => self.short.remove(&partition),
        };
    }
}
