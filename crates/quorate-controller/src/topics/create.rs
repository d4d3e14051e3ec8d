//! CreateTopics.
//!
//! What is wrong with the request as a whole is looked for first: names that occur twice, too many
//! partitions. Then each topic by itself, the first fault wins:
//!
//! 1. its name is legal and collides with no other's; that it exists weighs more than its name
//! 2. its configuration is valid
//! 3. its replicas are those given, or can be placed
//! 4. the policy has nothing against it
//!
//! A topic that passes is written at once: its topic record, its configuration, its partitions.

use std::collections::{BTreeMap, BTreeSet};

use quorate_engine::Halt;
use quorate_metadata::ConfigResource;
use quorate_protocol::messages::create_topics::{
    CreatableTopic, CreatableTopicConfigs, CreatableTopicResult, CreateTopicsRequest,
    CreateTopicsResponse,
};
use quorate_types::{ErrorCode, NodeId, TopicId};

use super::assignment::{check_assignment, new_partition, place};
use super::name::{METADATA_TOPIC, check_name};
use crate::configs::{self, ConfigChange, MIN_INSYNC_REPLICAS, topic_configs};
use crate::controller::{Desk, KafkaController};
use crate::error::{ApiError, Bad};
use crate::partition::nodes;
use crate::policy::{NewTopic, NewTopicReplicas};
use crate::records::{self, NewPartition};

/// The most partitions that one request may create.
const PARTITIONS_MAX: i64 = 10_000;

/// Creates the topics that can be created.
pub(crate) fn create(
    controller: &KafkaController,
    draft: &mut Desk<'_>,
    request: &CreateTopicsRequest,
) -> Result<CreateTopicsResponse, Halt> {
    if request.validate_only {
        draft.dry_run();
    }
    let (names, duplicates) = names(request);
    let wanted = |topic: &&CreatableTopic| {
        names.contains(topic.name.as_str()) && topic.name != METADATA_TOPIC
    };
    let wanted: Vec<&CreatableTopic> = request.topics.iter().filter(wanted).collect();
    if partitions(controller, &wanted) > PARTITIONS_MAX {
        let message = format!("more than {PARTITIONS_MAX} partitions in one request");
        let error = ApiError::new(ErrorCode::PolicyViolation, message);
        return Ok(refused(request, &error));
    }
    let mut faults = faulty_names(draft, &wanted);
    let mut topics = Vec::with_capacity(request.topics.len());
    for topic in wanted {
        let result = match faults.remove(topic.name.as_str()) {
            Some(error) => Err(Bad::Item(error)),
            None => create_one(controller, draft, topic),
        };
        topics.push(match result {
            Ok(created) => created,
            Err(Bad::Item(error)) => failed(&topic.name, &error),
            Err(Bad::Halt(halt)) => return Err(halt),
        });
    }
    let duplicate = ApiError::new(
        ErrorCode::InvalidRequest,
        "the topic is named more than once",
    );
    topics.extend(duplicates.into_iter().map(|name| failed(name, &duplicate)));
    if names.contains(METADATA_TOPIC) {
        let error = ApiError::new(
            ErrorCode::InvalidRequest,
            "the metadata topic is not created",
        );
        topics.push(failed(METADATA_TOPIC, &error));
    }
    Ok(CreateTopicsResponse {
        topics,
        ..Default::default()
    })
}

/// The answer when none of the topics is even looked at.
pub(crate) fn refused(request: &CreateTopicsRequest, error: &ApiError) -> CreateTopicsResponse {
    let topics = request
        .topics
        .iter()
        .map(|topic| failed(&topic.name, error))
        .collect();
    CreateTopicsResponse {
        topics,
        ..Default::default()
    }
}

/// The names that occur once, and those that occur more than once.
fn names(request: &CreateTopicsRequest) -> (BTreeSet<&str>, BTreeSet<&str>) {
    let (mut once, mut more) = (BTreeSet::new(), BTreeSet::new());
    for topic in &request.topics {
        let name = topic.name.as_str();
        if more.contains(name) || !once.insert(name) {
            once.remove(name);
            more.insert(name);
        }
    }
    (once, more)
}

fn partitions(controller: &KafkaController, topics: &[&CreatableTopic]) -> i64 {
    let of = |topic: &&CreatableTopic| match topic.num_partitions {
        _ if !topic.assignments.is_empty() => topic.assignments.len() as i64,
        -1 => i64::from(controller.config().num_partitions),
        number => i64::from(number.max(0)),
    };
    topics.iter().map(of).sum()
}

/// What is wrong with the names, on the state before any of the topics is created.
fn faulty_names(draft: &Desk<'_>, topics: &[&CreatableTopic]) -> BTreeMap<String, ApiError> {
    let existing = draft.state().topics();
    let mut faults = BTreeMap::new();
    for topic in topics {
        let name = topic.name.as_str();
        let fault = if existing.by_name(name).is_some() {
            let message = format!("topic {name:?} already exists");
            Some(ApiError::new(ErrorCode::TopicAlreadyExists, message))
        } else if let Err(error) = check_name(name) {
            Some(ApiError::new(
                ErrorCode::InvalidTopicException,
                error.to_string(),
            ))
        } else {
            existing.colliding(name).map(|other| {
                let message = format!("the name {name:?} collides with the topic {other:?}");
                ApiError::new(ErrorCode::InvalidTopicException, message)
            })
        };
        faults.extend(fault.map(|fault| (name.to_string(), fault)));
    }
    faults
}

fn create_one(
    controller: &KafkaController,
    draft: &mut Desk<'_>,
    topic: &CreatableTopic,
) -> Result<CreatableTopicResult, Bad> {
    let config = checked_config(controller, draft, topic)?;
    let partitions = checked_partitions(controller, draft, topic)?;
    check_policy(controller, topic, &config, &partitions)?;
    let id = TopicId(draft.rng().uuid());
    write(draft, topic, id, &config, &partitions)?;
    let factor = partitions
        .first()
        .map_or(0, |partition| partition.replicas.len());
    Ok(CreatableTopicResult {
        name: topic.name.clone(),
        topic_id: id.0,
        num_partitions: i32::try_from(partitions.len()).unwrap_or(i32::MAX),
        replication_factor: i16::try_from(factor).unwrap_or(i16::MAX),
        configs: Some(effective_config(controller, draft, &config)),
        ..Default::default()
    })
}

/// The topic's configuration by name, if it is valid.
fn checked_config(
    controller: &KafkaController,
    draft: &Desk<'_>,
    topic: &CreatableTopic,
) -> Result<BTreeMap<String, String>, ApiError> {
    let mut config = BTreeMap::new();
    for entry in &topic.configs {
        let Some(value) = &entry.value else {
            let message = format!("the configuration {:?} has no value", entry.name);
            return Err(ApiError::new(ErrorCode::InvalidConfig, message));
        };
        config.insert(entry.name.clone(), value.clone());
    }
    let set = |(name, value): (&String, &String)| (name.clone(), ConfigChange::set(value));
    let resource = ConfigResource::topic(topic.name.as_str());
    let changes = config.iter().map(set).collect();
    configs::check(
        controller,
        draft.state(),
        &resource,
        &changes,
        configs::Existence::New,
    )?;
    Ok(config)
}

fn checked_partitions(
    controller: &KafkaController,
    draft: &mut Desk<'_>,
    topic: &CreatableTopic,
) -> Result<Vec<NewPartition>, ApiError> {
    if !topic.assignments.is_empty() {
        return assigned_partitions(draft, topic);
    }
    let refuse = |code, message: &str| Err(ApiError::new(code, message));
    let factor = match topic.replication_factor {
        -1 => controller.config().default_replication_factor,
        factor if factor > 0 => factor,
        _ => {
            let message = "the replication factor must be positive, or -1 for the default";
            return refuse(ErrorCode::InvalidReplicationFactor, message);
        }
    };
    let count = match topic.num_partitions {
        -1 => controller.config().num_partitions,
        count if count > 0 => count,
        _ => {
            let message = "the number of partitions must be positive, or -1 for the default";
            return refuse(ErrorCode::InvalidPartitions, message);
        }
    };
    let placed = place(controller, draft, 0, count, factor).map_err(|error| {
        let message = format!("{factor} replicas cannot be placed: {error}");
        ApiError::new(ErrorCode::InvalidReplicationFactor, message)
    })?;
    let image = draft.state();
    let start = |replicas: &Vec<NodeId>| {
        new_partition(image, replicas).ok_or_else(|| {
            let message = "no broker that could lead is active";
            ApiError::new(ErrorCode::InvalidReplicationFactor, message)
        })
    };
    placed.iter().map(start).collect()
}

fn assigned_partitions(
    draft: &Desk<'_>,
    topic: &CreatableTopic,
) -> Result<Vec<NewPartition>, ApiError> {
    if topic.replication_factor != -1 || topic.num_partitions != -1 {
        let message = "replicas are given, so replication factor and number of partitions must \
                       be -1";
        return Err(ApiError::new(ErrorCode::InvalidRequest, message));
    }
    let refuse = |message: String| Err(ApiError::new(ErrorCode::InvalidReplicaAssignment, message));
    let mut partitions = BTreeMap::new();
    let mut factor = None;
    for assignment in &topic.assignments {
        let index = assignment.partition_index;
        if partitions.contains_key(&index) {
            return refuse(format!("replicas of partition {index} are given twice"));
        }
        let replicas = nodes(&assignment.broker_ids);
        check_assignment(draft.state(), &replicas, factor)?;
        factor = Some(replicas.len());
        let Some(partition) = new_partition(draft.state(), &replicas) else {
            return refuse(format!("no replica of partition {index} is active"));
        };
        partitions.insert(index, partition);
    }
    if partitions
        .keys()
        .zip(0..)
        .any(|(index, expected)| *index != expected)
    {
        return refuse("partitions must be numbered from 0 without gaps".to_string());
    }
    Ok(partitions.into_values().collect())
}

fn check_policy(
    controller: &KafkaController,
    topic: &CreatableTopic,
    config: &BTreeMap<String, String>,
    partitions: &[NewPartition],
) -> Result<(), ApiError> {
    let Some(policy) = controller.create_topic_policy() else {
        return Ok(());
    };
    let factor = partitions
        .first()
        .map_or(0, |partition| partition.replicas.len());
    let replicas = if topic.assignments.is_empty() {
        NewTopicReplicas::Placed {
            partitions: partitions.len(),
            replication_factor: factor,
        }
    } else {
        let of = |partition: &NewPartition| nodes(&partition.replicas);
        NewTopicReplicas::Assigned(partitions.iter().map(of).collect())
    };
    policy.check(&NewTopic {
        name: &topic.name,
        replicas,
        configs: config,
    })
}

fn write(
    draft: &mut Desk<'_>,
    topic: &CreatableTopic,
    id: TopicId,
    config: &BTreeMap<String, String>,
    partitions: &[NewPartition],
) -> Result<(), Halt> {
    draft.push(records::topic(&topic.name, id))?;
    let resource = ConfigResource::topic(topic.name.as_str());
    for (name, value) in config {
        draft.push(records::config(&resource, name, Some(value)))?;
    }
    if draft.state().features().elr_enabled() && config.contains_key(MIN_INSYNC_REPLICAS) {
        draft.push(records::clear_elr(Some(&topic.name)))?;
    }
    let version = draft.state().features().metadata_version();
    for (index, partition) in (0..).zip(partitions) {
        draft.push(records::partition(partition, id, index, version))?;
    }
    Ok(())
}

fn effective_config(
    controller: &KafkaController,
    draft: &Desk<'_>,
    config: &BTreeMap<String, String>,
) -> Vec<CreatableTopicConfigs> {
    let resolver = controller.topic_configs(draft.state());
    let shown = |key: &&'static configs::ConfigKey| !key.internal || config.contains_key(key.name);
    topic_configs()
        .iter()
        .filter(shown)
        .map(|key| {
            let own = config.get(key.name).map(String::as_str);
            let layer = resolver.resolve_with(key, own);
            CreatableTopicConfigs {
                name: key.name.to_string(),
                value: layer.value,
                read_only: false,
                config_source: layer.source.wire(),
                is_sensitive: false,
                ..Default::default()
            }
        })
        .collect()
}

fn failed(name: &str, error: &ApiError) -> CreatableTopicResult {
    CreatableTopicResult {
        name: name.to_string(),
        error_code: error.code,
        error_message: error.message.clone(),
        ..Default::default()
    }
}
