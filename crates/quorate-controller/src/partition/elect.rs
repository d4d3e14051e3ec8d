//! ElectLeaders, and the periodic elections of preferred and of unclean leaders.

use quorate_engine::Halt;
use quorate_metadata::PartitionId;
use quorate_protocol::messages::elect_leaders::{
    ElectLeadersRequest, ElectLeadersResponse, PartitionResult, ReplicaElectionResult,
};
use quorate_types::ErrorCode;

use super::change::{Change, Rules};
use super::election::Election;
use super::moves::{default_directory, is_acceptable, push};
use crate::controller::{Desk, KafkaController};
use crate::error::{ApiError, Bad, outcome};

/// Elects leaders of the partitions named, or of all.
pub(crate) fn elect(
    controller: &KafkaController,
    draft: &mut Desk<'_>,
    request: &ElectLeadersRequest,
) -> Result<ElectLeadersResponse, Halt> {
    draft.cut_anywhere();
    let mode = match request.election_type {
        0 => Election::Preferred,
        1 => Election::Unclean,
        _ => {
            let error_code = ErrorCode::InvalidRequest;
            return Ok(ElectLeadersResponse {
                error_code,
                ..Default::default()
            });
        }
    };
    let replica_election_results = match &request.topic_partitions {
        None => elect_all(controller, draft, mode)?,
        Some(topics) => {
            let mut results = Vec::with_capacity(topics.len());
            for topic in topics {
                let mut partition_result = Vec::with_capacity(topic.partitions.len());
                for index in &topic.partitions {
                    let elected = elect_named(controller, draft, &topic.topic, *index, mode);
                    partition_result.push(result_of(*index, outcome(elected)?));
                }
                let topic = topic.topic.clone();
                results.push(ReplicaElectionResult {
                    topic,
                    partition_result,
                    ..Default::default()
                });
            }
            results
        }
    };
    Ok(ElectLeadersResponse {
        replica_election_results,
        ..Default::default()
    })
}

/// Every topic is listed, with those partitions that an election was needed for.
fn elect_all(
    controller: &KafkaController,
    draft: &mut Desk<'_>,
    mode: Election,
) -> Result<Vec<ReplicaElectionResult>, Halt> {
    // Those that need no election are left out of the answer, so only the others are looked at.
    let needy: Vec<PartitionId> = match mode {
        Election::Preferred => ids(draft.state().topics().not_preferred()),
        Election::Unclean | Election::Online => ids(draft.state().topics().leaderless()),
    };
    let mut found = std::collections::BTreeMap::new();
    for id in needy {
        let elected = elect_one(controller, draft, id, mode);
        let result = result_of(id.index, outcome(elected)?);
        if result.error_code != ErrorCode::ElectionNotNeeded {
            found.entry(id.topic).or_insert_with(Vec::new).push(result);
        }
    }
    let topics = draft.state().topics().iter();
    Ok(topics
        .map(|topic| ReplicaElectionResult {
            topic: topic.name().to_string(),
            partition_result: found.remove(&topic.id()).unwrap_or_default(),
            ..Default::default()
        })
        .collect())
}

fn elect_named(
    controller: &KafkaController,
    draft: &mut Desk<'_>,
    topic: &str,
    index: i32,
    mode: Election,
) -> Result<(), Bad> {
    let Some(found) = draft.state().topics().by_name(topic) else {
        let message = format!("there is no topic {topic:?}");
        return Err(ApiError::new(ErrorCode::UnknownTopicOrPartition, message).into());
    };
    let id = PartitionId::new(found.id(), index);
    elect_one(controller, draft, id, mode)
}

fn elect_one(
    controller: &KafkaController,
    draft: &mut Desk<'_>,
    id: PartitionId,
    mode: Election,
) -> Result<(), Bad> {
    let image = draft.state();
    let Some(partition) = image.topics().partition(id) else {
        let message = format!("the topic has no partition {}", id.index);
        return Err(ApiError::new(ErrorCode::UnknownTopicOrPartition, message).into());
    };
    let needed = match mode {
        Election::Preferred => !partition.has_preferred_leader(),
        Election::Unclean | Election::Online => partition.leader.is_none(),
    };
    if !needed {
        return Err(ErrorCode::ElectionNotNeeded.into());
    }
    let rules = Rules::of_topic(controller, image, id.topic)
        .ok_or(ErrorCode::UnknownTopicOrPartition)?
        .with(mode);
    let record = Change::of(&partition).build(
        &rules,
        |node| is_acceptable(image, &partition, node),
        |node| default_directory(image, node),
    );
    if push(draft, &rules, id, record)? {
        return Ok(());
    }
    Err(match mode {
        Election::Preferred => ErrorCode::PreferredLeaderNotAvailable.into(),
        Election::Unclean | Election::Online => ErrorCode::EligibleLeadersNotAvailable.into(),
    })
}

fn result_of(
    partition_id: i32,
    (error_code, error_message): (ErrorCode, Option<String>),
) -> PartitionResult {
    PartitionResult {
        partition_id,
        error_code,
        error_message,
        ..Default::default()
    }
}

fn ids<P>(partitions: impl Iterator<Item = (PartitionId, P)>) -> Vec<PartitionId> {
    partitions.map(|(id, _)| id).collect()
}

/// Moves leaders to the preferred replicas, at most as many as one run may; says whether there may
/// be more to move.
pub(crate) fn preferred_sweep(
    controller: &KafkaController,
    draft: &mut Desk<'_>,
) -> Result<bool, Halt> {
    draft.cut_anywhere();
    let candidates = ids(draft.state().topics().not_preferred());
    sweep(controller, draft, candidates, Election::Preferred)
}

/// Elects leaders of leaderless partitions whose topic allows an unclean election; says whether
/// there may be more.
pub(crate) fn unclean_sweep(
    controller: &KafkaController,
    draft: &mut Desk<'_>,
) -> Result<bool, Halt> {
    draft.cut_anywhere();
    let image = draft.state();
    let configs = controller.topic_configs(image);
    let allowed = |id: &PartitionId| {
        let topic = image.topics().by_id(id.topic);
        topic.is_some_and(|topic| configs.unclean_leader_election(topic.name()))
    };
    let candidates = ids(image.topics().leaderless());
    let candidates = candidates.into_iter().filter(allowed).collect();
    sweep(controller, draft, candidates, Election::Unclean)
}

fn sweep(
    controller: &KafkaController,
    draft: &mut Desk<'_>,
    candidates: Vec<PartitionId>,
    mode: Election,
) -> Result<bool, Halt> {
    let start = draft.records().len();
    for id in candidates {
        if draft.records().len() - start >= controller.config().max_elections_per_run {
            return Ok(true);
        }
        match elect_one(controller, draft, id, mode) {
            Ok(()) | Err(Bad::Item(_)) => {}
            Err(Bad::Halt(halt)) => return Err(halt),
        }
    }
    Ok(false)
}
