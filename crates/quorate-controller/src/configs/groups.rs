//! The configurations that a group can have, as Kafka 4.2 defines them.

use std::collections::BTreeMap;

use quorate_types::ErrorCode;

use super::table::ConfigKey;
use super::value::{Accepts, ConfigType};
use crate::error::ApiError;

const fn number(name: &'static str, default: &'static str, least: i64) -> ConfigKey {
    text(name, ConfigType::Int, default, Accepts::AtLeast(least))
}

const fn text(
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

/// Every configuration of a group, sorted by name.
pub(crate) const GROUP_CONFIGS: &[ConfigKey] = &[
    number("consumer.heartbeat.interval.ms", "5000", 1),
    number("consumer.session.timeout.ms", "45000", 1),
    text(
        "share.auto.offset.reset",
        ConfigType::String,
        "latest",
        Accepts::Any,
    ),
    number("share.heartbeat.interval.ms", "5000", 1),
    text(
        "share.isolation.level",
        ConfigType::String,
        "read_uncommitted",
        Accepts::OneOf(&["read_committed", "read_uncommitted"]),
    ),
    number("share.record.lock.duration.ms", "30000", 1000),
    number("share.session.timeout.ms", "45000", 1),
    number("streams.heartbeat.interval.ms", "5000", 1),
    number("streams.initial.rebalance.delay.ms", "3000", 0),
    number("streams.num.standby.replicas", "0", 0),
    number("streams.session.timeout.ms", "45000", 1),
];

/// What the brokers' default settings allow: configuration, least, most.
const BOUNDS: &[(&str, i64, i64)] = &[
    ("consumer.heartbeat.interval.ms", 5000, 15_000),
    ("consumer.session.timeout.ms", 45_000, 60_000),
    ("share.heartbeat.interval.ms", 5000, 15_000),
    ("share.record.lock.duration.ms", 15_000, 60_000),
    ("share.session.timeout.ms", 45_000, 60_000),
    ("streams.heartbeat.interval.ms", 5000, 15_000),
    ("streams.num.standby.replicas", 0, 2),
    ("streams.session.timeout.ms", 45_000, 60_000),
];

/// The configuration of that name.
pub(crate) fn group_config(name: &str) -> Option<&'static ConfigKey> {
    let at = GROUP_CONFIGS
        .binary_search_by(|key| key.name.cmp(name))
        .ok()?;
    GROUP_CONFIGS.get(at)
}

/// Checks all that a group would be configured with.
pub(crate) fn check(all: &BTreeMap<&str, &str>) -> Result<(), ApiError> {
    let refuse = |message: String| Err(ApiError::new(ErrorCode::InvalidConfig, message));
    for (name, value) in all {
        let Some(key) = group_config(name) else {
            return refuse(format!("groups have no configuration {name:?}"));
        };
        if let Err(error) = key.kind.check(name, value, &key.accepts) {
            return refuse(error.to_string());
        }
        if *name == "share.auto.offset.reset" && !is_offset_reset(value.trim()) {
            return refuse(format!(
                "{value:?} is no {name}: expected earliest, latest or by_duration:PnDTnHnMnS"
            ));
        }
        let bounds = BOUNDS.iter().find(|(bounded, ..)| bounded == name);
        if let (Some((_, least, most)), Ok(number)) = (bounds, value.trim().parse::<i64>())
            && !(*least..=*most).contains(&number)
        {
            return refuse(format!(
                "{name} must be within {least} and {most}, not {number}"
            ));
        }
    }
    Ok(())
}

fn is_offset_reset(value: &str) -> bool {
    let duration = value.strip_prefix("by_duration:");
    matches!(value, "earliest" | "latest") || duration.is_some_and(is_duration)
}

/// Whether the text is a duration of ISO 8601 in days, hours, minutes and seconds.
fn is_duration(text: &str) -> bool {
    let Some(rest) = text.strip_prefix('P') else {
        return false;
    };
    let (days, time) = match rest.split_once('T') {
        Some((days, time)) => (days, Some(time)),
        None => (rest, None),
    };
    let days_fit = days.is_empty() || parts_fit(days, "D");
    match time {
        Some(time) => days_fit && parts_fit(time, "HMS"),
        None => !days.is_empty() && days_fit,
    }
}

/// Whether the text is numbers, each followed by one of the units, which come in their order.
fn parts_fit(text: &str, units: &str) -> bool {
    let mut left = units;
    let mut digits = 0;
    for character in text.chars() {
        if character.is_ascii_digit() || (character == '.' && digits > 0) {
            digits += 1;
            continue;
        }
        let Some(at) = left.find(character) else {
            return false;
        };
        if digits == 0 {
            return false;
        }
        (left, digits) = (&left[at + 1..], 0);
    }
    digits == 0 && left.len() < units.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_its_defaults_are_valid() {
        assert!(
            GROUP_CONFIGS
                .windows(2)
                .all(|pair| pair[0].name < pair[1].name)
        );
        let defaults = GROUP_CONFIGS
            .iter()
            .map(|key| (key.name, key.default.unwrap()));
        assert_eq!(check(&defaults.collect()), Ok(()));
    }

    #[test]
    fn offsets_are_reset_by_name_or_by_duration() {
        for good in [
            "latest",
            "earliest",
            "by_duration:P1D",
            "by_duration:P1DT2H30M4.5S",
        ] {
            assert!(is_offset_reset(good), "{good}");
        }
        for bad in [
            "",
            "none",
            "by_duration:",
            "by_duration:P",
            "by_duration:PT",
            "by_duration:-P1D",
            "by_duration:P1H",
            "by_duration:PT1M2H",
        ] {
            assert!(!is_offset_reset(bad), "{bad}");
        }
    }

    #[test]
    fn timeouts_stay_within_what_brokers_allow() {
        let set = |name, value| check(&BTreeMap::from([(name, value)]));
        assert_eq!(set("consumer.session.timeout.ms", "45000"), Ok(()));
        assert!(set("consumer.session.timeout.ms", "44999").is_err());
        assert!(set("consumer.no.such", "1").is_err());
    }
}
