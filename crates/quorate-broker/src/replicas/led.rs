//! One partition that is led here: who is in sync, and what the controller knows of it.
//!
//! | Change | Becomes |
//! |---|---|
//! | none | proposed, when a follower may join or must go |
//! | proposed | none, when the controller commits or refuses it for good; waiting, when it says that our metadata is old |
//! | any | none, when the image brings a newer partition epoch |

use std::collections::BTreeMap;

use quorate_metadata::{LeaderRecovery, MetadataImage, Partition};
use quorate_types::{BrokerEpoch, ErrorCode, LeaderEpoch, NodeId, PartitionEpoch};

use crate::isr::{AfterRefusal, CommittedIsr, IsrChange};

/// Whether a change of the ISR is under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change {
    None,
    Proposed,
    /// The controller knows more than we do: nothing is proposed until the image does too.
    AwaitsMetadata,
}

/// A partition that is led here.
#[derive(Debug, Clone)]
pub(super) struct Led {
    pub(super) leader_epoch: LeaderEpoch,
    pub(super) partition_epoch: PartitionEpoch,
    replicas: Vec<NodeId>,
    /// As committed by the controller.
    isr: Vec<NodeId>,
    change: Change,
    /// Followers that are in sync in this leader epoch, and the broker epoch that they fetch under.
    in_sync: BTreeMap<NodeId, BrokerEpoch>,
    /// Followers that fell behind and have to leave the ISR.
    lagging: Vec<NodeId>,
}

impl Led {
    pub(super) fn new(partition: &Partition) -> Led {
        Led {
            leader_epoch: partition.leader_epoch,
            partition_epoch: partition.partition_epoch,
            replicas: partition.replicas.clone(),
            isr: partition.isr.clone(),
            change: Change::None,
            in_sync: BTreeMap::new(),
            lagging: Vec::new(),
        }
    }

    /// The image shows the partition, at an epoch that is not older than ours. What was under way is
    /// done or pointless by then, unless nothing changed.
    pub(super) fn update(&mut self, partition: &Partition) {
        if partition.leader_epoch != self.leader_epoch {
            *self = Led::new(partition);
            return;
        }
        if partition.partition_epoch > self.partition_epoch {
            self.change = Change::None;
        }
        self.partition_epoch = partition.partition_epoch;
        self.replicas.clone_from(&partition.replicas);
        self.isr.clone_from(&partition.isr);
        let is_replica = |id: &NodeId| partition.replicas.contains(id);
        self.in_sync.retain(|follower, _| is_replica(follower));
        self.lagging.retain(is_replica);
    }

    /// Whether a follower may fetch with that leader epoch.
    pub(super) fn check(&self, follower: NodeId, epoch: LeaderEpoch) -> Result<(), ErrorCode> {
        if epoch < self.leader_epoch {
            Err(ErrorCode::FencedLeaderEpoch)
        } else if epoch > self.leader_epoch || !self.replicas.contains(&follower) {
            // A replica that we do not know of yet: it knows a newer state, so it comes again.
            Err(ErrorCode::UnknownLeaderEpoch)
        } else {
            Ok(())
        }
    }

    pub(super) fn caught_up(&mut self, follower: NodeId, epoch: BrokerEpoch) {
        if self.replicas.contains(&follower) {
            self.in_sync.insert(follower, epoch);
            self.lagging.retain(|lagging| *lagging != follower);
        }
    }

    pub(super) fn fell_behind(&mut self, follower: NodeId) {
        self.in_sync.remove(&follower);
        if self.isr.contains(&follower) && !self.lagging.contains(&follower) {
            self.lagging.push(follower);
        }
    }

    /// Whether some replica is out of the ISR.
    pub(super) fn is_short(&self) -> bool {
        self.isr.len() < self.replicas.len()
    }

    /// The change to propose now, if there is one; it is then under way.
    pub(super) fn propose(
        &mut self,
        image: &MetadataImage,
        local: NodeId,
        local_epoch: Option<BrokerEpoch>,
    ) -> Option<IsrChange> {
        if self.change != Change::None {
            return None;
        }
        let mut isr = self.isr.clone();
        isr.retain(|member| *member == local || !self.lagging.contains(member));
        let joining = self
            .in_sync
            .iter()
            .filter(|(follower, epoch)| may_join(image, **follower, **epoch))
            .map(|(follower, _)| *follower)
            .filter(|follower| !self.isr.contains(follower));
        isr.extend(joining);
        if isr == self.isr {
            return None;
        }
        self.change = Change::Proposed;
        let epoch_of = |member: NodeId| match member == local {
            true => local_epoch,
            false => self.in_sync.get(&member).copied(),
        };
        Some(IsrChange {
            leader_epoch: self.leader_epoch,
            partition_epoch: self.partition_epoch,
            isr: isr
                .iter()
                .map(|member| (*member, epoch_of(*member)))
                .collect(),
            // With no data to recover, a leader is done recovering as soon as it leads.
            recovery: LeaderRecovery::Recovered,
        })
    }

    /// Takes the controller's answer. An answer of another leader epoch or of an older state says
    /// nothing about now.
    pub(super) fn resolved(&mut self, result: &Result<CommittedIsr, ErrorCode>) {
        match result {
            Ok(committed)
                if committed.leader_epoch == self.leader_epoch
                    && committed.partition_epoch >= self.partition_epoch =>
            {
                self.partition_epoch = committed.partition_epoch;
                self.isr.clone_from(&committed.isr);
                let isr = &self.isr;
                self.lagging.retain(|lagging| isr.contains(lagging));
                self.change = Change::None;
            }
            Ok(_) => {}
            Err(error) => match AfterRefusal::of(*error) {
                AfterRefusal::AwaitMetadata => self.change = Change::AwaitsMetadata,
                AfterRefusal::Revert | AfterRefusal::Repeat => self.change = Change::None,
            },
        }
    }
}

/// Unfenced, not shutting down, and still the same process that fetched.
fn may_join(image: &MetadataImage, follower: NodeId, epoch: BrokerEpoch) -> bool {
    image
        .broker(follower)
        .is_some_and(|broker| broker.is_active() && broker.epoch == epoch)
}
