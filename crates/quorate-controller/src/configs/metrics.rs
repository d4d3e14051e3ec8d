//! The configurations that a subscription to client metrics can have (KIP-714).

use std::collections::BTreeMap;

use quorate_types::ErrorCode;

use super::table::ConfigKey;
use super::value::{Accepts, ConfigType, list};
use crate::error::ApiError;

const MATCH: &str = "match";
const INTERVAL_MS: &str = "interval.ms";

/// What clients can be told apart by.
const SELECTORS: [&str; 6] = [
    "client_id",
    "client_instance_id",
    "client_software_name",
    "client_software_version",
    "client_source_address",
    "client_source_port",
];

const fn key(
    name: &'static str,
    kind: ConfigType,
    default: &'static str,
    accepts: Accepts,
) -> ConfigKey {
    ConfigKey {
        name,
        kind,
        default: Some(default),
        accepts,
        internal: false,
        synonyms: &[],
    }
}

/// Every configuration of a subscription, sorted by name.
pub(crate) const METRICS_CONFIGS: &[ConfigKey] = &[
    key(
        INTERVAL_MS,
        ConfigType::Int,
        "300000",
        Accepts::Between(100, 3_600_000),
    ),
    key(MATCH, ConfigType::List, "", Accepts::Any),
    key("metrics", ConfigType::List, "", Accepts::Any),
];

/// Whether the configuration of that name is a list.
pub(crate) fn is_list(name: &str) -> bool {
    METRICS_CONFIGS
        .iter()
        .any(|key| key.name == name && key.kind == ConfigType::List)
}

/// Checks all that a subscription would be configured with.
pub(crate) fn check(all: &BTreeMap<&str, &str>) -> Result<(), ApiError> {
    let refuse = |message: String| Err(ApiError::new(ErrorCode::InvalidRequest, message));
    for (name, value) in all {
        let Some(key) = METRICS_CONFIGS.iter().find(|key| key.name == *name) else {
            return refuse(format!(
                "subscriptions to metrics have no configuration {name:?}"
            ));
        };
        if let Err(error) = key.kind.check(name, value, &key.accepts) {
            return refuse(error.to_string());
        }
    }
    let selectors = all.get(MATCH).copied().unwrap_or_default();
    for pattern in list(selectors) {
        let selector = pattern.split_once('=');
        let known = |(name, value): (&str, &str)| {
            SELECTORS.contains(&name.trim()) && !value.trim().is_empty() && !value.contains('=')
        };
        if !selector.is_some_and(known) {
            let message = format!("{pattern:?} matches no clients: expected name=pattern");
            return Err(ApiError::new(ErrorCode::InvalidConfig, message));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subscriptions_are_checked_by_key_interval_and_selector() {
        let code = |name, value| check(&BTreeMap::from([(name, value)])).map_err(|e| e.code);
        assert_eq!(code("interval.ms", "100"), Ok(()));
        assert_eq!(code("interval.ms", "99"), Err(ErrorCode::InvalidRequest));
        assert_eq!(code("period.ms", "100"), Err(ErrorCode::InvalidRequest));
        assert_eq!(
            code("match", "client_id=a.*, client_source_port=9092"),
            Ok(())
        );
        assert_eq!(
            code("match", "client_name=a"),
            Err(ErrorCode::InvalidConfig)
        );
        assert_eq!(code("match", "client_id"), Err(ErrorCode::InvalidConfig));
    }
}
