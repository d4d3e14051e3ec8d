//! AlterPartition: a leader proposes its ISR.

use quorate_engine::Halt;
use quorate_metadata::{LeaderRecovery, MetadataImage, Partition, PartitionId};
use quorate_protocol::messages::alter_partition::{
    AlterPartitionRequest, AlterPartitionResponse, BrokerState, RequestPartitionData,
    ResponsePartitionData, ResponseTopicData,
};
use quorate_types::{BrokerEpoch, ErrorCode, LeaderEpoch, NodeId, PartitionEpoch, TopicId};

use super::change::{Change, LEADER_UNCHANGED, Rules, wire};
use super::moves::{default_directory, is_acceptable, push};
use crate::cluster::has_epoch;
use crate::controller::{Desk, KafkaController};
use crate::error::Bad;

/// Decides every partition of the request by itself; `version` is the request's.
pub(crate) fn alter(
    controller: &KafkaController,
    draft: &mut Desk<'_>,
    request: &AlterPartitionRequest,
    version: i16,
) -> Result<AlterPartitionResponse, Halt> {
    draft.cut_anywhere();
    let sender = NodeId(request.broker_id);
    if !has_epoch(draft.state(), sender, BrokerEpoch(request.broker_epoch)) {
        let error_code = ErrorCode::StaleBrokerEpoch;
        return Ok(AlterPartitionResponse {
            error_code,
            ..Default::default()
        });
    }
    let mut topics = Vec::with_capacity(request.topics.len());
    for topic in &request.topics {
        let mut partitions = Vec::with_capacity(topic.partitions.len());
        for proposed in &topic.partitions {
            let proposal = Proposal::of(sender, proposed, version);
            let id = PartitionId::new(TopicId(topic.topic_id), proposed.partition_index);
            let answer = match proposal.decide(controller, draft, id) {
                Ok(now) => state_of(proposed.partition_index, &now),
                Err(Bad::Item(error)) => ResponsePartitionData {
                    partition_index: proposed.partition_index,
                    error_code: error.code,
                    ..Default::default()
                },
                Err(Bad::Halt(halt)) => return Err(halt),
            };
            partitions.push(answer);
        }
        let topic_id = topic.topic_id;
        topics.push(ResponseTopicData {
            topic_id,
            partitions,
            ..Default::default()
        });
    }
    Ok(AlterPartitionResponse {
        topics,
        ..Default::default()
    })
}

/// What a leader proposes for one partition.
struct Proposal {
    sender: NodeId,
    leader_epoch: LeaderEpoch,
    partition_epoch: PartitionEpoch,
    /// Each member with the epoch by which the leader knows it; −1 where it does not say.
    isr: Vec<(NodeId, BrokerEpoch)>,
    recovery: i8,
}

impl Proposal {
    fn of(sender: NodeId, proposed: &RequestPartitionData, version: i16) -> Proposal {
        let isr = if version < 3 {
            proposed
                .new_isr
                .iter()
                .map(|id| (NodeId(*id), BrokerEpoch(-1)))
                .collect()
        } else {
            let member =
                |state: &BrokerState| (NodeId(state.broker_id), BrokerEpoch(state.broker_epoch));
            proposed.new_isr_with_epochs.iter().map(member).collect()
        };
        Proposal {
            sender,
            leader_epoch: LeaderEpoch(proposed.leader_epoch),
            partition_epoch: PartitionEpoch(proposed.partition_epoch),
            isr,
            recovery: proposed.leader_recovery_state,
        }
    }

    /// Makes the change, if it may be made; the partition as it is then.
    fn decide(
        &self,
        controller: &KafkaController,
        draft: &mut Desk<'_>,
        id: PartitionId,
    ) -> Result<Partition, Bad> {
        let image = draft.state();
        let topic = (!id.topic.0.is_zero())
            .then(|| image.topics().by_id(id.topic))
            .flatten();
        let topic = topic.ok_or(ErrorCode::UnknownTopicId)?;
        let before = topic
            .partition(id.index)
            .ok_or(ErrorCode::UnknownTopicOrPartition)?;
        let recovery = self.check(image, &before)?;
        let rules =
            Rules::of_topic(controller, image, id.topic).ok_or(ErrorCode::UnknownTopicId)?;
        let isr = self.isr.iter().map(|(node, _)| *node).collect();
        let record = Change::of(&before).isr(isr).recovery(recovery).build(
            &rules,
            |node| is_acceptable(image, &before, node),
            |node| default_directory(image, node),
        );
        let leader = record
            .as_ref()
            .map_or(LEADER_UNCHANGED, |record| record.leader);
        push(draft, &rules, id, record)?;
        if leader != LEADER_UNCHANGED && leader != self.sender.0 {
            return Err(ErrorCode::NewLeaderElected.into());
        }
        let after = draft.state().topics().partition(id);
        Ok(after.ok_or(ErrorCode::UnknownTopicOrPartition)?)
    }

    /// Whether the proposal is one that the partition's leader may make now.
    fn check(
        &self,
        image: &MetadataImage,
        before: &Partition,
    ) -> Result<LeaderRecovery, ErrorCode> {
        if self.leader_epoch > before.leader_epoch || self.partition_epoch > before.partition_epoch
        {
            // The sender has seen what we have not: we are not the controller any more.
            return Err(ErrorCode::NotController);
        }
        if self.leader_epoch < before.leader_epoch {
            return Err(ErrorCode::FencedLeaderEpoch);
        }
        if Some(self.sender) != before.leader {
            return Err(ErrorCode::InvalidRequest);
        }
        if self.partition_epoch < before.partition_epoch {
            return Err(ErrorCode::InvalidUpdateVersion);
        }
        let recovery = self.check_members(before)?;
        if self
            .isr
            .iter()
            .all(|(node, epoch)| is_eligible(image, *node, *epoch))
        {
            Ok(recovery)
        } else {
            Err(ErrorCode::IneligibleReplica)
        }
    }

    fn check_members(&self, before: &Partition) -> Result<LeaderRecovery, ErrorCode> {
        let mut members: Vec<NodeId> = self.isr.iter().map(|(node, _)| *node).collect();
        let holds_leader = members.contains(&self.sender);
        let known = members.iter().all(|member| before.has_replica(*member));
        members.sort_unstable();
        let distinct = members.windows(2).all(|pair| pair[0] != pair[1]);
        let recovery = LeaderRecovery::from_wire(self.recovery).ok_or(ErrorCode::InvalidRequest)?;
        let recovering = recovery == LeaderRecovery::Recovering;
        let has_recovered = before.leader_recovery == LeaderRecovery::Recovered;
        if !holds_leader
            || !known
            || !distinct
            || (recovering && members.len() > 1)
            || (recovering && has_recovered)
        {
            return Err(ErrorCode::InvalidRequest);
        }
        Ok(recovery)
    }
}

/// Whether the broker may be in an ISR, if it is still the one that the leader means.
fn is_eligible(image: &MetadataImage, node: NodeId, epoch: BrokerEpoch) -> bool {
    image.broker(node).is_some_and(|broker| {
        broker.is_active() && (epoch == BrokerEpoch(-1) || broker.epoch == epoch)
    })
}

fn state_of(index: i32, partition: &Partition) -> ResponsePartitionData {
    ResponsePartitionData {
        partition_index: index,
        error_code: ErrorCode::None,
        leader_id: NodeId::to_wire(partition.leader),
        leader_epoch: partition.leader_epoch.0,
        isr: wire(&partition.isr),
        leader_recovery_state: partition.leader_recovery.to_wire(),
        partition_epoch: partition.partition_epoch.0,
        ..Default::default()
    }
}
