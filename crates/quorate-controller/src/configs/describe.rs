//! DescribeConfigs: what is configured, and what is in force. A read.
//!
//! Topics and groups are described from their tables. Of a broker only what was set while it runs is
//! known here; its settings file is its own.

use std::collections::BTreeMap;

use quorate_metadata::{ConfigKind, ConfigResource, MetadataImage};
use quorate_protocol::messages::describe_configs::{
    DescribeConfigsRequest, DescribeConfigsResource, DescribeConfigsResourceResult,
    DescribeConfigsResponse, DescribeConfigsResult, DescribeConfigsSynonym,
};
use quorate_types::{ErrorCode, NodeId};

use super::effective::{Layer, TopicConfigs};
use super::groups::GROUP_CONFIGS;
use super::metrics::METRICS_CONFIGS;
use super::table::{ConfigKey, topic_configs};
use crate::error::ApiError;
use crate::topics::check_name;

/// The number of a group's or a subscription's own value in an answer.
const GROUP_SOURCE: i8 = 8;
const METRICS_SOURCE: i8 = 7;
const DEFAULT_SOURCE: i8 = 5;
const BROKER_SOURCE: i8 = 2;
const CLUSTER_SOURCE: i8 = 3;
/// The number of a type that is not known.
const UNKNOWN_TYPE: i8 = 0;

/// From where configurations are described.
#[derive(Debug, Clone, Copy)]
pub struct DescribeContext<'a> {
    /// The metadata.
    pub image: &'a MetadataImage,
    /// The node that answers: its own settings stand behind those of topics.
    pub node: NodeId,
    /// Its static settings, as in [`ControllerConfig::node_settings`](crate::ControllerConfig).
    pub settings: &'a BTreeMap<String, String>,
}

/// Describes the resources that the request names.
pub fn describe(
    context: DescribeContext<'_>,
    request: &DescribeConfigsRequest,
) -> DescribeConfigsResponse {
    let results = request.resources.iter().map(|resource| {
        let described = describe_one(context, resource, request.include_synonyms);
        let (error_code, error_message, configs) = match described {
            Ok(configs) => (ErrorCode::None, Some(String::new()), configs),
            Err(error) => (error.code, error.message, Vec::new()),
        };
        DescribeConfigsResult {
            error_code,
            error_message,
            resource_type: resource.resource_type,
            resource_name: resource.resource_name.clone(),
            configs,
            ..Default::default()
        }
    });
    DescribeConfigsResponse {
        results: results.collect(),
        ..Default::default()
    }
}

fn describe_one(
    context: DescribeContext<'_>,
    resource: &DescribeConfigsResource,
    synonyms: bool,
) -> Result<Vec<DescribeConfigsResourceResult>, ApiError> {
    let wanted = |name: &str| match &resource.configuration_keys {
        Some(keys) if !keys.is_empty() => keys.iter().any(|key| key == name),
        _ => true,
    };
    let name = resource.resource_name.as_str();
    let mut configs = match ConfigKind(resource.resource_type) {
        ConfigKind::TOPIC => topic(context, name, synonyms)?,
        ConfigKind::BROKER => broker(context, name)?,
        ConfigKind::GROUP => own_or_default(context, resource, GROUP_CONFIGS, GROUP_SOURCE)?,
        ConfigKind::CLIENT_METRICS => {
            own_or_default(context, resource, METRICS_CONFIGS, METRICS_SOURCE)?
        }
        _ => {
            let message = format!("resources of type {} are unknown", resource.resource_type);
            return Err(ApiError::new(ErrorCode::InvalidRequest, message));
        }
    };
    configs.retain(|config| wanted(&config.name));
    Ok(configs)
}

fn topic(
    context: DescribeContext<'_>,
    name: &str,
    synonyms: bool,
) -> Result<Vec<DescribeConfigsResourceResult>, ApiError> {
    check_name(name)
        .map_err(|error| ApiError::new(ErrorCode::InvalidTopicException, error.to_string()))?;
    if context.image.topics().by_name(name).is_none() {
        return Err(ErrorCode::UnknownTopicOrPartition.into());
    }
    let resolver = TopicConfigs::new(context.image, context.node, context.settings);
    let configs = context.image.configs();
    let described = topic_configs().iter().filter_map(|key| {
        let own = configs.topic(name, key.name);
        if key.internal && own.is_none() {
            return None;
        }
        let layers: Vec<Layer> = resolver.layers(key, own).collect();
        let first = layers.first()?;
        let mut result = described(key, first.value.clone(), first.source.wire());
        if synonyms {
            let named = layers.iter().filter(|layer| layer.value.is_some());
            result.synonyms = named
                .map(|layer| DescribeConfigsSynonym {
                    name: layer.name.to_string(),
                    value: layer.value.clone(),
                    source: layer.source.wire(),
                    ..Default::default()
                })
                .collect();
        }
        Some(result)
    });
    Ok(described.collect())
}

fn broker(
    context: DescribeContext<'_>,
    name: &str,
) -> Result<Vec<DescribeConfigsResourceResult>, ApiError> {
    if !name.is_empty() && name.parse::<u32>().is_err() {
        let message = format!("{name:?} is no broker's id");
        return Err(ApiError::new(ErrorCode::InvalidRequest, message));
    }
    let source = if name.is_empty() {
        CLUSTER_SOURCE
    } else {
        BROKER_SOURCE
    };
    let behind_topics: BTreeMap<&str, &ConfigKey> = topic_configs()
        .iter()
        .flat_map(|key| key.synonyms.iter().map(move |synonym| (synonym.name, key)))
        .collect();
    let resource = ConfigResource::new(ConfigKind::BROKER, name);
    let entries = context.image.configs().entries(&resource);
    Ok(entries
        .map(|(key, value)| {
            let known = behind_topics.get(key);
            // What is not known to be harmless might be a password.
            let sensitive = known.is_none() && is_secret(key);
            DescribeConfigsResourceResult {
                name: key.to_string(),
                value: (!sensitive).then(|| value.to_string()),
                config_source: source,
                is_sensitive: sensitive,
                config_type: known.map_or(UNKNOWN_TYPE, |key| key.kind.wire()),
                ..Default::default()
            }
        })
        .collect())
}

fn is_secret(key: &str) -> bool {
    [
        "password",
        "secret",
        "sasl.jaas.config",
        "keystore.key",
        "certificate.chain",
    ]
    .iter()
    .any(|part| key.contains(part))
}

fn own_or_default(
    context: DescribeContext<'_>,
    resource: &DescribeConfigsResource,
    table: &'static [ConfigKey],
    source: i8,
) -> Result<Vec<DescribeConfigsResourceResult>, ApiError> {
    let name = resource.resource_name.as_str();
    if name.is_empty() {
        let message = "the resource has no name";
        return Err(ApiError::new(ErrorCode::InvalidRequest, message));
    }
    let target = ConfigResource::new(ConfigKind(resource.resource_type), name);
    let own: BTreeMap<&str, &str> = context.image.configs().entries(&target).collect();
    let known = table.iter().map(|key| match own.get(key.name) {
        Some(value) => described(key, Some((*value).to_string()), source),
        None => described(key, key.default.map(str::to_string), DEFAULT_SOURCE),
    });
    Ok(known.collect())
}

fn described(
    key: &ConfigKey,
    value: Option<String>,
    config_source: i8,
) -> DescribeConfigsResourceResult {
    DescribeConfigsResourceResult {
        name: key.name.to_string(),
        value,
        config_source,
        config_type: key.kind.wire(),
        ..Default::default()
    }
}
