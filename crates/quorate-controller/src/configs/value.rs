//! Types and valid values of configurations: the check of a single value.

use std::fmt;

/// The type of a configuration's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConfigType {
    /// `true` or `false`, in any case.
    Boolean,
    /// Text.
    String,
    /// A 32-bit integer.
    Int,
    /// A 64-bit integer.
    Long,
    /// A floating-point number.
    Double,
    /// Texts, separated by commas.
    List,
}

/// Which values of its type a configuration accepts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Accepts {
    /// All of them.
    Any,
    /// Numbers not below this one.
    AtLeast(i64),
    /// Numbers between these two, both included.
    Between(i64, i64),
    /// Numbers between the first two, or the third.
    BetweenOr(i64, i64, i64),
    /// One of these texts.
    OneOf(&'static [&'static str]),
    /// A list of these texts, perhaps an empty one.
    Members(&'static [&'static str]),
    /// `*`, or a list of `partition:broker`.
    ThrottledReplicas,
}

/// Why a value is not valid for its configuration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid value {value:?} for {name}: {reason}")]
pub struct InvalidValue {
    /// The configuration.
    pub name: String,
    /// The value, cut to a readable length.
    pub value: String,
    /// What is expected of it.
    pub reason: String,
}

impl ConfigType {
    /// The number that stands for the type in an answer of DescribeConfigs.
    pub const fn wire(self) -> i8 {
        match self {
            ConfigType::Boolean => 1,
            ConfigType::String => 2,
            ConfigType::Int => 3,
            ConfigType::Long => 5,
            ConfigType::Double => 6,
            ConfigType::List => 7,
        }
    }

    /// Checks that `value` is one of this type and accepted.
    pub fn check(self, name: &str, value: &str, accepts: &Accepts) -> Result<(), InvalidValue> {
        let trimmed = value.trim();
        let fault = match self {
            ConfigType::Boolean => boolean(trimmed)
                .is_none()
                .then(|| "true or false".to_string()),
            ConfigType::String => accepts.text(trimmed),
            ConfigType::Int => match trimmed.parse::<i32>() {
                Ok(number) => accepts.number(f64::from(number)),
                Err(_) => Some("a 32-bit integer".to_string()),
            },
            ConfigType::Long => match trimmed.parse::<i64>() {
                Ok(number) => accepts.integer(number),
                Err(_) => Some("a 64-bit integer".to_string()),
            },
            ConfigType::Double => match trimmed.parse::<f64>() {
                Ok(number) => accepts.number(number),
                Err(_) => Some("a number".to_string()),
            },
            ConfigType::List => accepts.list(&list(trimmed)),
        };
        match fault {
            None => Ok(()),
            Some(expected) => Err(InvalidValue {
                name: name.to_string(),
                value: value.chars().take(80).collect(),
                reason: format!("expected {expected}"),
            }),
        }
    }
}

/// The boolean that a text stands for.
pub(crate) fn boolean(text: &str) -> Option<bool> {
    let text = text.trim();
    if text.eq_ignore_ascii_case("true") {
        Some(true)
    } else if text.eq_ignore_ascii_case("false") {
        Some(false)
    } else {
        None
    }
}

/// The members of a list, as text; none for an empty text.
pub(crate) fn list(text: &str) -> Vec<&str> {
    let text = text.trim();
    if text.is_empty() {
        Vec::new()
    } else {
        text.split(',').map(str::trim).collect()
    }
}

impl Accepts {
    /// What was expected instead of `number`, if it is not accepted.
    fn integer(&self, number: i64) -> Option<String> {
        let fits = match *self {
            Accepts::AtLeast(low) => number >= low,
            Accepts::Between(low, high) => (low..=high).contains(&number),
            Accepts::BetweenOr(low, high, other) => {
                (low..=high).contains(&number) || number == other
            }
            _ => true,
        };
        (!fits).then(|| self.to_string())
    }

    fn number(&self, number: f64) -> Option<String> {
        // Bounds of 32-bit integers and ratios are exact in a double.
        let fits = match *self {
            Accepts::AtLeast(low) => number >= low as f64,
            Accepts::Between(low, high) => number >= low as f64 && number <= high as f64,
            Accepts::BetweenOr(low, high, other) => {
                (number >= low as f64 && number <= high as f64) || number == other as f64
            }
            _ => true,
        };
        (!fits).then(|| self.to_string())
    }

    fn text(&self, text: &str) -> Option<String> {
        match self {
            Accepts::OneOf(texts) if !texts.contains(&text) => Some(self.to_string()),
            _ => None,
        }
    }

    fn list(&self, members: &[&str]) -> Option<String> {
        let fits = match self {
            Accepts::Members(texts) => members.iter().all(|member| texts.contains(member)),
            Accepts::ThrottledReplicas => {
                members == ["*"] || members.iter().all(|member| throttled_replica(member))
            }
            _ => true,
        };
        (!fits).then(|| self.to_string())
    }
}

fn throttled_replica(member: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    member.is_empty()
        || member
            .split_once(':')
            .is_some_and(|(partition, broker)| digits(partition) && digits(broker))
}

impl fmt::Display for Accepts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Accepts::Any => write!(f, "any value"),
            Accepts::AtLeast(low) => write!(f, "at least {low}"),
            Accepts::Between(low, high) => write!(f, "{low} to {high}"),
            Accepts::BetweenOr(low, high, other) => write!(f, "{low} to {high}, or {other}"),
            Accepts::OneOf(texts) => write!(f, "one of {}", texts.join(", ")),
            Accepts::Members(texts) => write!(f, "a list of {}", texts.join(", ")),
            Accepts::ThrottledReplicas => write!(f, "* or a list of partition:broker"),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::configs::table::topic_config;

    fn valid(name: &str, value: &str) -> bool {
        let key = topic_config(name).unwrap();
        key.kind.check(name, value, &key.accepts).is_ok()
    }

    #[test]
    fn values_are_checked_by_type_and_range() {
        let cases = [
            ("min.insync.replicas", "1", true),
            ("min.insync.replicas", "0", false),
            ("min.insync.replicas", " 2 ", true),
            ("min.insync.replicas", "2147483648", false),
            ("min.insync.replicas", "two", false),
            ("retention.ms", "-1", true),
            ("retention.ms", "-2", false),
            ("retention.ms", "9223372036854775807", true),
            ("retention.bytes", "-9", true),
            ("cleanup.policy", "compact, delete", true),
            ("cleanup.policy", "", true),
            ("cleanup.policy", "compact,", false),
            ("cleanup.policy", "shred", false),
            ("compression.type", "zstd", true),
            ("compression.type", "ZSTD", false),
            ("compression.gzip.level", "-1", true),
            ("compression.gzip.level", "0", false),
            ("compression.zstd.level", "-131072", true),
            ("compression.lz4.level", "18", false),
            ("min.cleanable.dirty.ratio", "0.25", true),
            ("min.cleanable.dirty.ratio", "1.01", false),
            ("preallocate", "TRUE", true),
            ("preallocate", "yes", false),
            ("leader.replication.throttled.replicas", "*", true),
            ("leader.replication.throttled.replicas", "0:1,12:3", true),
            ("leader.replication.throttled.replicas", "0:1,*", false),
            ("leader.replication.throttled.replicas", "0-1", false),
            ("segment.bytes", "1048575", false),
        ];
        for (name, value, expected) in cases {
            assert_eq!(valid(name, value), expected, "{name}={value}");
        }
    }

    #[test]
    fn a_refusal_names_the_key_the_value_and_what_is_expected() {
        let key = topic_config("retention.ms").unwrap();
        let error = key.kind.check(key.name, "soon", &key.accepts).unwrap_err();
        assert_eq!(
            error.to_string(),
            "invalid value \"soon\" for retention.ms: expected a 64-bit integer"
        );
    }
}
