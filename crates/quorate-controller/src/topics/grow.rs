//! CreatePartitions: more partitions for topics that exist.

use std::collections::BTreeSet;

use quorate_engine::Halt;
use quorate_protocol::messages::create_partitions::{
    CreatePartitionsRequest, CreatePartitionsResponse, CreatePartitionsTopic,
    CreatePartitionsTopicResult,
};
use quorate_types::ErrorCode;

use super::assignment::{check_assignment, new_partition, place};
use crate::controller::{Desk, KafkaController};
use crate::error::{ApiError, Bad, outcome};
use crate::partition::nodes;
use crate::records::{self, NewPartition};

/// Grows the topics that can be grown.
pub(crate) fn grow(
    controller: &KafkaController,
    draft: &mut Desk<'_>,
    request: &CreatePartitionsRequest,
) -> Result<CreatePartitionsResponse, Halt> {
    if request.validate_only {
        draft.dry_run();
    }
    let mut seen = BTreeSet::new();
    let doubled: BTreeSet<&str> = request
        .topics
        .iter()
        .filter(|topic| !seen.insert(topic.name.as_str()))
        .map(|topic| topic.name.as_str())
        .collect();
    let mut results = Vec::with_capacity(request.topics.len());
    for name in &doubled {
        let error = ApiError::new(
            ErrorCode::InvalidRequest,
            "the topic is named more than once",
        );
        results.push(result_of(name, (error.code, error.message)));
    }
    for topic in &request.topics {
        if !doubled.contains(topic.name.as_str()) {
            let grown = grow_one(controller, draft, topic);
            results.push(result_of(&topic.name, outcome(grown)?));
        }
    }
    Ok(CreatePartitionsResponse {
        results,
        ..Default::default()
    })
}

/// The answer when none of the topics is even looked at.
pub(crate) fn refused(
    request: &CreatePartitionsRequest,
    error: &ApiError,
) -> CreatePartitionsResponse {
    let failed =
        |topic: &CreatePartitionsTopic| result_of(&topic.name, (error.code, error.message.clone()));
    let results = request.topics.iter().map(failed).collect();
    CreatePartitionsResponse {
        results,
        ..Default::default()
    }
}

fn grow_one(
    controller: &KafkaController,
    draft: &mut Desk<'_>,
    request: &CreatePartitionsTopic,
) -> Result<(), Bad> {
    let image = draft.state();
    let unknown = || Bad::from(ErrorCode::UnknownTopicOrPartition);
    let topic = image.topics().by_name(&request.name).ok_or_else(unknown)?;
    let id = topic.id();
    let start = i32::try_from(topic.partition_count()).unwrap_or(i32::MAX);
    let first = topic
        .partitions()
        .next()
        .map(|(_, first)| first.replicas.len());
    let factor = first.ok_or_else(unknown)?;
    if request.count <= start {
        let message = format!(
            "the topic has {start} partitions, {} are no more",
            request.count
        );
        return Err(ApiError::new(ErrorCode::InvalidPartitions, message).into());
    }
    let added = request.count - start;
    let partitions = match &request.assignments {
        Some(assignments) => {
            if assignments.len() != usize::try_from(added).unwrap_or(usize::MAX) {
                let message = format!(
                    "{added} partitions are added, but {} are assigned",
                    assignments.len()
                );
                return Err(ApiError::new(ErrorCode::InvalidReplicaAssignment, message).into());
            }
            let mut partitions = Vec::with_capacity(assignments.len());
            for (assignment, index) in assignments.iter().zip(start..) {
                partitions.push(assigned(draft, &assignment.broker_ids, factor, index)?);
            }
            partitions
        }
        None => placed(controller, draft, start, added, factor)?,
    };
    let version = draft.state().features().metadata_version();
    for (index, partition) in (start..).zip(&partitions) {
        draft.push(records::partition(partition, id, index, version))?;
    }
    Ok(())
}

fn assigned(
    draft: &Desk<'_>,
    replicas: &[i32],
    factor: usize,
    index: i32,
) -> Result<NewPartition, ApiError> {
    let replicas = nodes(replicas);
    check_assignment(draft.state(), &replicas, Some(factor))?;
    new_partition(draft.state(), &replicas).ok_or_else(|| {
        let message = format!("no replica of partition {index} is active");
        ApiError::new(ErrorCode::InvalidReplicaAssignment, message)
    })
}

fn placed(
    controller: &KafkaController,
    draft: &mut Desk<'_>,
    start: i32,
    added: i32,
    factor: usize,
) -> Result<Vec<NewPartition>, ApiError> {
    let refuse = |message: String| ApiError::new(ErrorCode::InvalidReplicationFactor, message);
    // More than an atomic decision can hold: not even worth placing.
    if added > 10_000 {
        let message = format!("{added} partitions are too many for one request");
        return Err(ApiError::new(ErrorCode::PolicyViolation, message));
    }
    let factor = i16::try_from(factor).unwrap_or(i16::MAX);
    let placed = place(controller, draft, start, added, factor)
        .map_err(|error| refuse(format!("{factor} replicas cannot be placed: {error}")))?;
    let image = draft.state();
    placed
        .iter()
        .map(|replicas| {
            let partition = new_partition(image, replicas);
            partition.ok_or_else(|| refuse("no broker that could lead is active".to_string()))
        })
        .collect()
}

fn result_of(
    name: &str,
    (error_code, error_message): (ErrorCode, Option<String>),
) -> CreatePartitionsTopicResult {
    CreatePartitionsTopicResult {
        name: name.to_string(),
        error_code,
        error_message,
        ..Default::default()
    }
}
