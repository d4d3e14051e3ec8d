//! AlterPartitionReassignments and ListPartitionReassignments (KIP-455).
//!
//! While replicas move, a partition has those of the target and those that are to leave. It is done
//! once all targets are in the ISR, which may be at once.

use std::collections::BTreeMap;

use quorate_engine::Halt;
use quorate_metadata::{MetadataImage, Partition, PartitionId};
use quorate_protocol::messages::alter_partition_reassignments::{
    AlterPartitionReassignmentsRequest, AlterPartitionReassignmentsResponse, ReassignablePartition,
    ReassignablePartitionResponse, ReassignableTopicResponse,
};
use quorate_protocol::messages::list_partition_reassignments::{
    ListPartitionReassignmentsRequest, ListPartitionReassignmentsResponse,
    OngoingPartitionReassignment, OngoingTopicReassignment,
};
use quorate_types::{ErrorCode, NodeId, TopicId};

use super::change::{Change, Rules, nodes, wire};
use super::election::Election;
use super::moves::{default_directory, is_acceptable, push};
use crate::controller::{Desk, KafkaController};
use crate::error::{ApiError, Bad, outcome};
use crate::topics::check_assignment;

/// Starts, changes or cancels reassignments, each partition by itself.
pub(crate) fn reassign(
    controller: &KafkaController,
    draft: &mut Desk<'_>,
    request: &AlterPartitionReassignmentsRequest,
) -> Result<AlterPartitionReassignmentsResponse, Halt> {
    let may_resize = request.allow_replication_factor_change;
    let mut responses = Vec::with_capacity(request.topics.len());
    for topic in &request.topics {
        let mut partitions = Vec::with_capacity(topic.partitions.len());
        for target in &topic.partitions {
            let result = reassign_one(controller, draft, &topic.name, target, may_resize);
            let (error_code, error_message) = outcome(result)?;
            partitions.push(ReassignablePartitionResponse {
                partition_index: target.partition_index,
                error_code,
                error_message,
                ..Default::default()
            });
        }
        let name = topic.name.clone();
        responses.push(ReassignableTopicResponse {
            name,
            partitions,
            ..Default::default()
        });
    }
    Ok(AlterPartitionReassignmentsResponse {
        allow_replication_factor_change: may_resize,
        responses,
        ..Default::default()
    })
}

fn reassign_one(
    controller: &KafkaController,
    draft: &mut Desk<'_>,
    topic: &str,
    target: &ReassignablePartition,
    may_resize: bool,
) -> Result<(), Bad> {
    let image = draft.state();
    let found = image.topics().by_name(topic);
    let found = found.ok_or_else(|| unknown(format!("there is no topic {topic:?}")))?;
    let id = PartitionId::new(found.id(), target.partition_index);
    let before = found
        .partition(id.index)
        .ok_or_else(|| unknown(format!("topic {topic:?} has no partition {}", id.index)))?;
    let rules = Rules::of_topic(controller, image, id.topic)
        .ok_or_else(|| unknown(format!("there is no topic {topic:?}")))?;
    let (change, rules) = match &target.replicas {
        None => (cancel(&before, &rules)?, rules),
        Some(replicas) => {
            let change = move_to(image, &before, &nodes(replicas), may_resize)?;
            (change, rules.with(Election::Online))
        }
    };
    let record = change.build(
        &rules,
        |node| is_acceptable(image, &before, node),
        |node| default_directory(image, node),
    );
    push(draft, &rules, id, record)?;
    Ok(())
}

fn unknown(message: String) -> ApiError {
    ApiError::new(ErrorCode::UnknownTopicOrPartition, message)
}

/// Back to the replicas there were, without those that were being added.
fn cancel<'a>(before: &'a Partition, rules: &Rules) -> Result<Change<'a>, ApiError> {
    if !before.is_reassigning() {
        return Err(ErrorCode::NoReassignmentInProgress.into());
    }
    let stays = |node: &&NodeId| !before.adding.contains(node);
    let replicas: Vec<NodeId> = before.replicas.iter().filter(stays).copied().collect();
    let mut isr: Vec<NodeId> = before.isr.iter().filter(stays).copied().collect();
    if isr.is_empty() {
        let first = *replicas.first().ok_or_else(|| {
            let message = "every replica is one that is being added";
            ApiError::new(ErrorCode::InvalidReplicaAssignment, message)
        })?;
        if rules.election != Election::Unclean {
            let message = "no replica to go back to is in sync, and the topic does not allow an \
                           unclean election";
            return Err(ApiError::new(ErrorCode::InvalidReplicaAssignment, message));
        }
        // With ELR on an ISR may be empty, and the election says who leads how.
        if !rules.elr {
            isr.push(first);
        }
    }
    Ok(Change::of(before)
        .isr(isr)
        .assignment(replicas, Vec::new(), Vec::new()))
}

/// On to `target`, from what there is and from what was on its way.
fn move_to<'a>(
    image: &MetadataImage,
    before: &'a Partition,
    target: &[NodeId],
    may_resize: bool,
) -> Result<Change<'a>, ApiError> {
    check_assignment(image, target, None)?;
    if !may_resize {
        let stays = before
            .replicas
            .iter()
            .filter(|node| !before.removing.contains(node));
        let size = stays.count();
        if size != target.len() {
            let message = format!(
                "the partition has {size} replicas, the target {}, and the request does not allow \
                 a change of the replication factor",
                target.len()
            );
            return Err(ApiError::new(ErrorCode::InvalidReplicationFactor, message));
        }
    }
    let mut removing: Vec<NodeId> = before
        .replicas
        .iter()
        .filter(|node| !target.contains(node))
        .copied()
        .collect();
    let joins = |node: &&NodeId| !before.has_replica(**node) || before.adding.contains(node);
    let mut adding: Vec<NodeId> = target.iter().filter(joins).copied().collect();
    removing.sort_unstable();
    adding.sort_unstable();
    let replicas = target.iter().chain(&removing).copied().collect();
    Ok(Change::of(before).assignment(replicas, removing, adding))
}

/// The reassignments that are under way, of the partitions named or of all: a read.
pub fn list(
    image: &MetadataImage,
    request: &ListPartitionReassignmentsRequest,
) -> ListPartitionReassignmentsResponse {
    let topics = match &request.topics {
        None => {
            let mut ongoing: BTreeMap<TopicId, Vec<OngoingPartitionReassignment>> = BTreeMap::new();
            for (id, partition) in image.topics().reassigning() {
                ongoing
                    .entry(id.topic)
                    .or_default()
                    .push(describe(id.index, &partition));
            }
            ongoing
                .into_iter()
                .filter_map(|(id, partitions)| Some((image.topics().by_id(id)?, partitions)))
                .map(|(topic, partitions)| (topic.name().to_string(), partitions))
                .collect::<Vec<_>>()
        }
        Some(named) => named
            .iter()
            .filter_map(|named| {
                let topic = image.topics().by_name(&named.name)?;
                let ongoing = named.partition_indexes.iter().filter_map(|index| {
                    let partition = topic.partition(*index)?;
                    partition
                        .is_reassigning()
                        .then(|| describe(*index, &partition))
                });
                Some((named.name.clone(), ongoing.collect()))
            })
            .collect(),
    };
    let topics = topics
        .into_iter()
        .filter(|(_, partitions)| !partitions.is_empty())
        .map(|(name, partitions)| OngoingTopicReassignment {
            name,
            partitions,
            ..Default::default()
        })
        .collect();
    ListPartitionReassignmentsResponse {
        topics,
        ..Default::default()
    }
}

fn describe(partition_index: i32, partition: &Partition) -> OngoingPartitionReassignment {
    OngoingPartitionReassignment {
        partition_index,
        replicas: wire(&partition.replicas),
        adding_replicas: wire(&partition.adding),
        removing_replicas: wire(&partition.removing),
        ..Default::default()
    }
}
