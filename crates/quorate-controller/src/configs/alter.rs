//! IncrementalAlterConfigs and AlterConfigs: each resource by itself, all of its changes or none.

use std::collections::BTreeMap;

use quorate_engine::Halt;
use quorate_metadata::{ConfigKind, ConfigResource, MetadataImage};
use quorate_protocol::messages::alter_configs::{
    AlterConfigsRequest, AlterConfigsResourceResponse as LegacyAnswer, AlterConfigsResponse,
};
use quorate_protocol::messages::incremental_alter_configs::{
    AlterConfigsResource, AlterConfigsResourceResponse, IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
};
use quorate_types::ErrorCode;

use super::change::{ConfigChange, ConfigChanges, NewValues};
use super::table::MIN_INSYNC_REPLICAS;
use super::validate::{Existence, check, check_values};
use crate::controller::{Desk, KafkaController};
use crate::error::ApiError;
use crate::records;

/// A type and a name, as requests and answers have them.
type Address = (i8, String);

/// Changes configurations one by one.
pub(crate) fn alter(
    controller: &KafkaController,
    draft: &mut Desk<'_>,
    request: &IncrementalAlterConfigsRequest,
) -> Result<IncrementalAlterConfigsResponse, Halt> {
    if request.validate_only {
        draft.dry_run();
    }
    let address =
        |resource: &AlterConfigsResource| (resource.resource_type, resource.resource_name.clone());
    let outcomes = each(
        draft,
        &request.resources,
        address,
        |image, named, target| {
            let changes = changes(named)?;
            check(controller, image, target, &changes, Existence::Expected)
        },
    )?;
    let responses = outcomes
        .into_iter()
        .map(
            |((resource_type, resource_name), error)| AlterConfigsResourceResponse {
                error_code: error.code,
                error_message: error.message,
                resource_type,
                resource_name,
                ..Default::default()
            },
        )
        .collect();
    Ok(IncrementalAlterConfigsResponse {
        responses,
        ..Default::default()
    })
}

/// Replaces the configuration of resources: what is not named is deleted.
pub(crate) fn alter_legacy(
    controller: &KafkaController,
    draft: &mut Desk<'_>,
    request: &AlterConfigsRequest,
) -> Result<AlterConfigsResponse, Halt> {
    use quorate_protocol::messages::alter_configs::AlterConfigsResource as Named;
    if request.validate_only {
        draft.dry_run();
    }
    let address = |resource: &Named| (resource.resource_type, resource.resource_name.clone());
    let outcomes = each(
        draft,
        &request.resources,
        address,
        |image, named, target| {
            let wanted = named
                .configs
                .iter()
                .map(|entry| (entry.name.as_str(), &entry.value));
            let wanted: BTreeMap<&str, &Option<String>> = wanted.collect();
            let mut values = NewValues::new();
            for (name, value) in &wanted {
                let current = image.configs().get(target, name);
                if value.as_deref() != current || target.kind == ConfigKind::BROKER {
                    values.insert((*name).to_string(), (*value).clone());
                }
            }
            let altered = values.clone();
            for (name, _) in image.configs().entries(target) {
                if !wanted.contains_key(name) {
                    values.insert(name.to_string(), None);
                }
            }
            check_values(
                controller,
                image,
                target,
                &values,
                &altered,
                Existence::Expected,
            )?;
            Ok(values)
        },
    )?;
    let responses = outcomes
        .into_iter()
        .map(|((resource_type, resource_name), error)| LegacyAnswer {
            error_code: error.code,
            error_message: error.message,
            resource_type,
            resource_name,
            ..Default::default()
        })
        .collect();
    Ok(AlterConfigsResponse {
        responses,
        ..Default::default()
    })
}

/// Goes through the resources: what is decided of one is written before the next is looked at.
/// Changes of `min.insync.replicas` drop the ELRs that rest on it, at the end.
fn each<R>(
    draft: &mut Desk<'_>,
    resources: &[R],
    address: impl Fn(&R) -> Address,
    decide: impl Fn(&MetadataImage, &R, &ConfigResource) -> Result<NewValues, ApiError>,
) -> Result<Vec<(Address, ApiError)>, Halt> {
    let mut times: BTreeMap<Address, usize> = BTreeMap::new();
    for resource in resources {
        *times.entry(address(resource)).or_default() += 1;
    }
    let mut outcomes = Vec::with_capacity(times.len());
    let mut elrs = Vec::new();
    for resource in resources {
        let named = address(resource);
        let Some(count) = times.remove(&named) else {
            continue;
        };
        let result = resource_of(&named, count).and_then(|target| {
            let values = decide(draft.state(), resource, &target)?;
            Ok((target, values))
        });
        let error = match result {
            Ok((target, values)) => {
                write(draft, &target, &values, &mut elrs)?;
                ApiError::plain(ErrorCode::None)
            }
            Err(error) => error,
        };
        outcomes.push((named, error));
    }
    if draft.state().features().elr_enabled() {
        for topic in elrs {
            draft.push(records::clear_elr(topic.as_deref()))?;
        }
    }
    Ok(outcomes)
}

fn write(
    draft: &mut Desk<'_>,
    target: &ConfigResource,
    values: &NewValues,
    elrs: &mut Vec<Option<String>>,
) -> Result<(), Halt> {
    for (name, value) in values {
        draft.push(records::config(target, name, value.as_deref()))?;
        if name == MIN_INSYNC_REPLICAS {
            let topic = (target.kind == ConfigKind::TOPIC).then(|| target.name.to_string());
            elrs.push(topic);
        }
    }
    Ok(())
}

fn resource_of((kind, name): &Address, times: usize) -> Result<ConfigResource, ApiError> {
    let kind = ConfigKind(*kind);
    let known = [
        ConfigKind::TOPIC,
        ConfigKind::BROKER,
        ConfigKind::BROKER_LOGGER,
        ConfigKind::CLIENT_METRICS,
        ConfigKind::GROUP,
    ];
    if !known.contains(&kind) {
        let message = format!("{} is no type of resource", kind.0);
        return Err(ApiError::new(ErrorCode::UnsupportedVersion, message));
    }
    if times > 1 {
        let message = "the resource is named more than once";
        return Err(ApiError::new(ErrorCode::InvalidRequest, message));
    }
    if kind == ConfigKind::BROKER_LOGGER {
        let message = "levels of loggers are changed at the node itself";
        return Err(ApiError::new(ErrorCode::InvalidRequest, message));
    }
    Ok(ConfigResource::new(kind, name.as_str()))
}

fn changes(resource: &AlterConfigsResource) -> Result<ConfigChanges, ApiError> {
    let mut changes = ConfigChanges::new();
    for entry in &resource.configs {
        let change = ConfigChange::of(entry.config_operation, entry.value.as_deref())?;
        if changes.insert(entry.name.clone(), change).is_some() {
            let message = format!("{} is changed more than once", entry.name);
            return Err(ApiError::new(ErrorCode::InvalidRequest, message));
        }
    }
    Ok(changes)
}
