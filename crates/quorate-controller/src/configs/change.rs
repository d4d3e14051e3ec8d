//! One change of one configuration, and what it makes of the value.

use std::collections::BTreeMap;

use quorate_metadata::{ConfigKind, ConfigResource, MetadataImage};
use quorate_types::ErrorCode;

use super::groups::group_config;
use super::table::topic_config;
use super::value::{ConfigType, list};
use crate::error::ApiError;

/// What is to happen to a configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ConfigChange {
    /// It becomes this value.
    Set(String),
    /// It becomes what it is without one.
    Delete,
    /// A list gets these members, those that it does not have.
    Append(String),
    /// A list loses these members.
    Subtract(String),
}

/// The changes of one resource, by the name of the configuration.
pub(crate) type ConfigChanges = BTreeMap<String, ConfigChange>;

/// The values that come about, by the name of the configuration; `None` where there is none.
pub(crate) type NewValues = BTreeMap<String, Option<String>>;

impl ConfigChange {
    /// It becomes this value.
    pub fn set(value: &str) -> ConfigChange {
        ConfigChange::Set(value.to_string())
    }

    /// Reads the operation of a request.
    pub fn of(operation: i8, value: Option<&str>) -> Result<ConfigChange, ApiError> {
        let valued = |make: fn(String) -> ConfigChange| match value {
            Some(value) => Ok(make(value.to_string())),
            None => Err(ApiError::new(
                ErrorCode::InvalidRequest,
                "the operation needs a value",
            )),
        };
        match operation {
            0 => valued(ConfigChange::Set),
            1 => Ok(ConfigChange::Delete),
            2 => valued(ConfigChange::Append),
            3 => valued(ConfigChange::Subtract),
            other => {
                let message = format!("{other} is no operation on a configuration");
                Err(ApiError::new(ErrorCode::InvalidRequest, message))
            }
        }
    }
}

/// The values that the changes come to. Those that stay as they are are left out, but for brokers,
/// where Kafka writes them again.
pub(crate) fn new_values(
    image: &MetadataImage,
    resource: &ConfigResource,
    changes: &ConfigChanges,
) -> Result<NewValues, ApiError> {
    let mut values = NewValues::new();
    for (name, change) in changes {
        let current = image.configs().get(resource, name);
        let value = match change {
            ConfigChange::Set(value) => Some(value.clone()),
            ConfigChange::Delete => None,
            ConfigChange::Append(members) => {
                let mut parts = base_list(resource, name, current)?;
                for member in list(members) {
                    if !parts.iter().any(|part| part == member) {
                        parts.push(member.to_string());
                    }
                }
                Some(parts.join(","))
            }
            ConfigChange::Subtract(members) => {
                let mut parts = base_list(resource, name, current)?;
                let gone = list(members);
                parts.retain(|part| !gone.contains(&part.as_str()));
                Some(parts.join(","))
            }
        };
        if value.as_deref() != current || resource.kind == ConfigKind::BROKER {
            values.insert(name.clone(), value);
        }
    }
    Ok(values)
}

/// The members that a list has before it is appended to or subtracted from.
fn base_list(
    resource: &ConfigResource,
    name: &str,
    current: Option<&str>,
) -> Result<Vec<String>, ApiError> {
    let key = match resource.kind {
        ConfigKind::TOPIC => topic_config(name),
        ConfigKind::GROUP => group_config(name),
        // Those settings of a broker that stand behind lists of topics are lists themselves.
        ConfigKind::BROKER => super::table::topic_configs()
            .iter()
            .find(|key| key.synonyms.iter().any(|synonym| synonym.name == name)),
        _ => None,
    };
    let listed = key.filter(|key| key.kind == ConfigType::List);
    let is_metrics = resource.kind == ConfigKind::CLIENT_METRICS && super::metrics::is_list(name);
    if listed.is_none() && !is_metrics {
        let message = format!("{name} is not a list");
        return Err(ApiError::new(ErrorCode::InvalidConfig, message));
    }
    let base = current
        .or(listed.and_then(|key| key.default))
        .unwrap_or_default();
    Ok(list(base)
        .into_iter()
        .filter(|part| !part.is_empty())
        .map(str::to_string)
        .collect())
}
