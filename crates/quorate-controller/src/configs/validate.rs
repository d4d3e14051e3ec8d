//! Whether a resource may be configured as a request wants it.

use std::collections::BTreeMap;

use quorate_metadata::{ConfigKind, ConfigResource, MetadataImage};
use quorate_types::{ErrorCode, NodeId};

use super::change::{ConfigChanges, NewValues, new_values};
use super::table::{
    CLEANUP_POLICY, MAX_COMPACTION_LAG_MS, MIN_COMPACTION_LAG_MS, MIN_INSYNC_REPLICAS,
    REMOTE_STORAGE, topic_config,
};
use super::value::boolean;
use super::{groups, metrics};
use crate::controller::KafkaController;
use crate::error::ApiError;
use crate::topics::check_name;

/// The longest value of a configuration, in characters.
const VALUE_MAX: usize = 32_767;

/// Whether the resource must exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Existence {
    /// It is being created.
    New,
    /// It must be there.
    Expected,
}

/// Checks the changes of one resource, all or nothing, and says which values come about.
pub(crate) fn check(
    controller: &KafkaController,
    image: &MetadataImage,
    resource: &ConfigResource,
    changes: &ConfigChanges,
    existence: Existence,
) -> Result<NewValues, ApiError> {
    let values = new_values(image, resource, changes)?;
    check_values(controller, image, resource, &values, &values, existence)?;
    Ok(values)
}

/// Checks the values that come about; `altered` are those among them that the request names.
pub(crate) fn check_values(
    controller: &KafkaController,
    image: &MetadataImage,
    resource: &ConfigResource,
    values: &NewValues,
    altered: &NewValues,
    existence: Existence,
) -> Result<(), ApiError> {
    for (name, value) in values {
        check_min_insync(image, resource, name, value.as_deref())?;
        if value
            .as_ref()
            .is_some_and(|value| value.encode_utf16().count() > VALUE_MAX)
        {
            let message = format!("the value of {name} is longer than {VALUE_MAX} characters");
            return Err(ApiError::new(ErrorCode::InvalidConfig, message));
        }
    }
    check_resource_name(resource)?;
    let mut all: BTreeMap<&str, &str> = image.configs().entries(resource).collect();
    for (name, value) in values {
        match value {
            Some(value) => all.insert(name, value),
            None => all.remove(name.as_str()),
        };
    }
    match resource.kind {
        ConfigKind::TOPIC => check_topic(controller, image, &all)?,
        ConfigKind::GROUP => groups::check(&all)?,
        ConfigKind::CLIENT_METRICS => metrics::check(&all)?,
        // What a broker accepts only brokers know; they check before they forward.
        _ => {}
    }
    if existence == Existence::Expected {
        check_existence(controller, image, resource)?;
    }
    match controller.alter_config_policy() {
        Some(policy) => {
            let changes = altered
                .iter()
                .map(|(name, value)| (name.as_str(), value.as_deref()));
            policy.check(resource, &changes.collect())
        }
        None => Ok(()),
    }
}

/// With ELR on, the whole cluster must agree on `min.insync.replicas`.
fn check_min_insync(
    image: &MetadataImage,
    resource: &ConfigResource,
    name: &str,
    value: Option<&str>,
) -> Result<(), ApiError> {
    let concerned = image.features().elr_enabled()
        && resource.kind == ConfigKind::BROKER
        && name == MIN_INSYNC_REPLICAS;
    if !concerned {
        return Ok(());
    }
    let refuse = |message: &str| Err(ApiError::new(ErrorCode::InvalidConfig, message));
    match (resource.name.is_empty(), value) {
        (false, _) => refuse("with ELR on, min.insync.replicas is not set for a single broker"),
        (true, None) => refuse("with ELR on, the cluster's min.insync.replicas is not deleted"),
        (true, Some(_)) => Ok(()),
    }
}

fn check_resource_name(resource: &ConfigResource) -> Result<(), ApiError> {
    let refuse = |message: String| Err(ApiError::new(ErrorCode::InvalidRequest, message));
    let name = &*resource.name;
    match resource.kind {
        ConfigKind::TOPIC if name.is_empty() => refuse("a topic's name is missing".to_string()),
        ConfigKind::TOPIC => check_name(name)
            .map_err(|error| ApiError::new(ErrorCode::InvalidTopicException, error.to_string())),
        ConfigKind::BROKER if name.is_empty() => Ok(()),
        ConfigKind::BROKER => match name.parse::<i32>() {
            Ok(id) if id >= 0 => Ok(()),
            _ => refuse(format!("{name:?} is no broker's id")),
        },
        ConfigKind::GROUP if name.is_empty() => refuse("a group's name is missing".to_string()),
        ConfigKind::CLIENT_METRICS if name.is_empty() => {
            refuse("a subscription's name is missing".to_string())
        }
        ConfigKind::GROUP | ConfigKind::CLIENT_METRICS => Ok(()),
        other => refuse(format!(
            "resources of type {} are not configured here",
            other.0
        )),
    }
}

fn check_topic(
    controller: &KafkaController,
    image: &MetadataImage,
    all: &BTreeMap<&str, &str>,
) -> Result<(), ApiError> {
    let refuse = |message: String| Err(ApiError::new(ErrorCode::InvalidConfig, message));
    for (name, value) in all {
        let Some(key) = topic_config(name) else {
            return refuse(format!("topics have no configuration {name:?}"));
        };
        if let Err(error) = key.kind.check(name, value, &key.accepts) {
            return refuse(error.to_string());
        }
    }
    let resolver = controller.topic_configs(image);
    let in_force = |name: &str| {
        let key = topic_config(name)?;
        resolver.resolve_with(key, all.get(name).copied()).value
    };
    let number = |name: &str| in_force(name).and_then(|value| value.trim().parse::<i64>().ok());
    let (min, max) = (number(MIN_COMPACTION_LAG_MS), number(MAX_COMPACTION_LAG_MS));
    if let (Some(min), Some(max)) = (min, max)
        && min > max
    {
        return refuse(format!(
            "{MIN_COMPACTION_LAG_MS} ({min}) is greater than {MAX_COMPACTION_LAG_MS} ({max})"
        ));
    }
    if all.get(REMOTE_STORAGE).and_then(|value| boolean(value)) == Some(true) {
        let policy = all.get(CLEANUP_POLICY).copied().unwrap_or("delete");
        return refuse(format!(
            "tiered storage is off, so {REMOTE_STORAGE} cannot be set (with {CLEANUP_POLICY} \
             {policy})"
        ));
    }
    Ok(())
}

fn check_existence(
    controller: &KafkaController,
    image: &MetadataImage,
    resource: &ConfigResource,
) -> Result<(), ApiError> {
    match resource.kind {
        ConfigKind::TOPIC if image.topics().by_name(&resource.name).is_none() => {
            let message = format!("there is no topic {:?}", resource.name);
            Err(ApiError::new(ErrorCode::UnknownTopicOrPartition, message))
        }
        ConfigKind::BROKER if !resource.name.is_empty() => {
            let id = NodeId(resource.name.parse().unwrap_or(-1));
            let config = controller.config();
            let is_controller = id == config.node_id
                || config.quorum.contains(&id)
                || image.controller(id).is_some();
            if is_controller || image.broker(id).is_some() {
                return Ok(());
            }
            let message = format!("broker {id} is not registered");
            Err(ApiError::new(ErrorCode::BrokerIdNotRegistered, message))
        }
        _ => Ok(()),
    }
}
