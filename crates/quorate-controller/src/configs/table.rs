//! The configurations that a topic can have, as Kafka 4.2 defines them.
//!
//! One table says of every key its type, its default, what it accepts and which node settings stand
//! behind it. Everything that validates, resolves or describes a topic's configuration reads it.

use super::value::{Accepts, ConfigType};

/// A node setting that stands behind a topic's configuration, and how its number is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Synonym {
    /// The name of the node setting.
    pub name: &'static str,
    /// What one unit of its value is worth in the topic's configuration.
    pub unit: Unit,
}

/// The unit of a node setting against the topic's configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// The value is taken as it is.
    Same,
    /// The node counts minutes, the topic milliseconds.
    Minutes,
    /// The node counts hours, the topic milliseconds.
    Hours,
}

impl Unit {
    /// The node's value in the topic's unit; a value that is no number is left as it is.
    pub fn convert(self, value: &str) -> String {
        let factor: i64 = match self {
            Unit::Same => return value.to_string(),
            Unit::Minutes => 60_000,
            Unit::Hours => 3_600_000,
        };
        match value.trim().parse::<i64>() {
            Ok(number) => number.saturating_mul(factor).to_string(),
            Err(_) => value.to_string(),
        }
    }
}

/// One configuration of a topic.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ConfigKey {
    /// Its name.
    pub name: &'static str,
    /// The type of its values.
    pub kind: ConfigType,
    /// The value where nothing is set; `None` only for the internal one.
    pub default: Option<&'static str>,
    /// Which values of the type are valid.
    pub accepts: Accepts,
    /// Whether it is shown only where it is set.
    pub internal: bool,
    /// The node settings behind it, the one that is asked first at the head.
    pub synonyms: &'static [Synonym],
}

/// The number of replicas that must be in sync for a write with `acks=all`.
pub const MIN_INSYNC_REPLICAS: &str = "min.insync.replicas";
/// Whether a replica outside the ISR may be chosen as leader when nothing else is left.
pub const UNCLEAN_LEADER_ELECTION: &str = "unclean.leader.election.enable";
/// What happens to old segments: `delete`, `compact`, both or neither.
pub const CLEANUP_POLICY: &str = "cleanup.policy";
/// Whether segments move to remote storage.
pub const REMOTE_STORAGE: &str = "remote.storage.enable";
/// How long a record stays open to compaction at least.
pub const MIN_COMPACTION_LAG_MS: &str = "min.compaction.lag.ms";
/// How long a record stays out of compaction at most.
pub const MAX_COMPACTION_LAG_MS: &str = "max.compaction.lag.ms";

const MAX_LONG: &str = "9223372036854775807";
const WEEK_MS: &str = "604800000";
const CODECS: &[&str] = &["uncompressed", "zstd", "lz4", "snappy", "gzip", "producer"];

/// Every configuration of a topic, sorted by name.
pub fn topic_configs() -> &'static [ConfigKey] {
    TOPIC_CONFIGS
}

/// The configuration of that name.
pub fn topic_config(name: &str) -> Option<&'static ConfigKey> {
    let at = TOPIC_CONFIGS
        .binary_search_by(|key| key.name.cmp(name))
        .ok()?;
    TOPIC_CONFIGS.get(at)
}

const fn same(name: &'static str) -> Synonym {
    Synonym {
        name,
        unit: Unit::Same,
    }
}

const fn key(
    name: &'static str,
    kind: ConfigType,
    default: &'static str,
    accepts: Accepts,
    synonyms: &'static [Synonym],
) -> ConfigKey {
    ConfigKey {
        name,
        kind,
        default: Some(default),
        accepts,
        internal: false,
        synonyms,
    }
}

const TOPIC_CONFIGS: &[ConfigKey] = &[
    key(
        CLEANUP_POLICY,
        ConfigType::List,
        "delete",
        Accepts::Members(&["compact", "delete"]),
        &[same("log.cleanup.policy")],
    ),
    key(
        "compression.gzip.level",
        ConfigType::Int,
        "-1",
        Accepts::BetweenOr(1, 9, -1),
        &[same("compression.gzip.level")],
    ),
    key(
        "compression.lz4.level",
        ConfigType::Int,
        "9",
        Accepts::Between(1, 17),
        &[same("compression.lz4.level")],
    ),
    key(
        "compression.type",
        ConfigType::String,
        "producer",
        Accepts::OneOf(CODECS),
        &[same("compression.type")],
    ),
    key(
        "compression.zstd.level",
        ConfigType::Int,
        "3",
        Accepts::Between(-131_072, 22),
        &[same("compression.zstd.level")],
    ),
    key(
        "delete.retention.ms",
        ConfigType::Long,
        "86400000",
        Accepts::AtLeast(0),
        &[same("log.cleaner.delete.retention.ms")],
    ),
    key(
        "file.delete.delay.ms",
        ConfigType::Long,
        "60000",
        Accepts::AtLeast(0),
        &[same("log.segment.delete.delay.ms")],
    ),
    key(
        "flush.messages",
        ConfigType::Long,
        MAX_LONG,
        Accepts::AtLeast(1),
        &[same("log.flush.interval.messages")],
    ),
    key(
        "flush.ms",
        ConfigType::Long,
        MAX_LONG,
        Accepts::AtLeast(0),
        &[
            same("log.flush.interval.ms"),
            same("log.flush.scheduler.interval.ms"),
        ],
    ),
    key(
        "follower.replication.throttled.replicas",
        ConfigType::List,
        "",
        Accepts::ThrottledReplicas,
        &[],
    ),
    key(
        "index.interval.bytes",
        ConfigType::Int,
        "4096",
        Accepts::AtLeast(0),
        &[same("log.index.interval.bytes")],
    ),
    ConfigKey {
        name: "internal.segment.bytes",
        kind: ConfigType::Int,
        default: None,
        accepts: Accepts::Any,
        internal: true,
        synonyms: &[],
    },
    key(
        "leader.replication.throttled.replicas",
        ConfigType::List,
        "",
        Accepts::ThrottledReplicas,
        &[],
    ),
    key(
        "local.retention.bytes",
        ConfigType::Long,
        "-2",
        Accepts::AtLeast(-2),
        &[same("log.local.retention.bytes")],
    ),
    key(
        "local.retention.ms",
        ConfigType::Long,
        "-2",
        Accepts::AtLeast(-2),
        &[same("log.local.retention.ms")],
    ),
    key(
        MAX_COMPACTION_LAG_MS,
        ConfigType::Long,
        MAX_LONG,
        Accepts::AtLeast(1),
        &[same("log.cleaner.max.compaction.lag.ms")],
    ),
    key(
        "max.message.bytes",
        ConfigType::Int,
        "1048588",
        Accepts::AtLeast(0),
        &[same("message.max.bytes")],
    ),
    key(
        "message.timestamp.after.max.ms",
        ConfigType::Long,
        "3600000",
        Accepts::AtLeast(0),
        &[same("log.message.timestamp.after.max.ms")],
    ),
    key(
        "message.timestamp.before.max.ms",
        ConfigType::Long,
        MAX_LONG,
        Accepts::AtLeast(0),
        &[same("log.message.timestamp.before.max.ms")],
    ),
    key(
        "message.timestamp.type",
        ConfigType::String,
        "CreateTime",
        Accepts::OneOf(&["CreateTime", "LogAppendTime"]),
        &[same("log.message.timestamp.type")],
    ),
    key(
        "min.cleanable.dirty.ratio",
        ConfigType::Double,
        "0.5",
        Accepts::Between(0, 1),
        &[same("log.cleaner.min.cleanable.ratio")],
    ),
    key(
        MIN_COMPACTION_LAG_MS,
        ConfigType::Long,
        "0",
        Accepts::AtLeast(0),
        &[same("log.cleaner.min.compaction.lag.ms")],
    ),
    key(
        MIN_INSYNC_REPLICAS,
        ConfigType::Int,
        "1",
        Accepts::AtLeast(1),
        &[same(MIN_INSYNC_REPLICAS)],
    ),
    key(
        "preallocate",
        ConfigType::Boolean,
        "false",
        Accepts::Any,
        &[same("log.preallocate")],
    ),
    key(
        "remote.log.copy.disable",
        ConfigType::Boolean,
        "false",
        Accepts::Any,
        &[],
    ),
    key(
        "remote.log.delete.on.disable",
        ConfigType::Boolean,
        "false",
        Accepts::Any,
        &[],
    ),
    key(
        REMOTE_STORAGE,
        ConfigType::Boolean,
        "false",
        Accepts::Any,
        &[],
    ),
    key(
        "retention.bytes",
        ConfigType::Long,
        "-1",
        Accepts::Any,
        &[same("log.retention.bytes")],
    ),
    key(
        "retention.ms",
        ConfigType::Long,
        WEEK_MS,
        Accepts::AtLeast(-1),
        &[
            same("log.retention.ms"),
            Synonym {
                name: "log.retention.minutes",
                unit: Unit::Minutes,
            },
            Synonym {
                name: "log.retention.hours",
                unit: Unit::Hours,
            },
        ],
    ),
    key(
        "segment.bytes",
        ConfigType::Int,
        "1073741824",
        Accepts::AtLeast(1_048_576),
        &[same("log.segment.bytes")],
    ),
    key(
        "segment.index.bytes",
        ConfigType::Int,
        "10485760",
        Accepts::AtLeast(4),
        &[same("log.index.size.max.bytes")],
    ),
    key(
        "segment.jitter.ms",
        ConfigType::Long,
        "0",
        Accepts::AtLeast(0),
        &[
            same("log.roll.jitter.ms"),
            Synonym {
                name: "log.roll.jitter.hours",
                unit: Unit::Hours,
            },
        ],
    ),
    key(
        "segment.ms",
        ConfigType::Long,
        WEEK_MS,
        Accepts::AtLeast(1),
        &[
            same("log.roll.ms"),
            Synonym {
                name: "log.roll.hours",
                unit: Unit::Hours,
            },
        ],
    ),
    key(
        UNCLEAN_LEADER_ELECTION,
        ConfigType::Boolean,
        "false",
        Accepts::Any,
        &[same(UNCLEAN_LEADER_ELECTION)],
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_so_that_names_are_found() {
        assert!(
            TOPIC_CONFIGS
                .windows(2)
                .all(|pair| pair[0].name < pair[1].name)
        );
        for key in TOPIC_CONFIGS {
            assert_eq!(topic_config(key.name), Some(key));
        }
        assert_eq!(topic_config("no.such.config"), None);
    }

    #[test]
    fn every_default_is_valid() {
        for key in TOPIC_CONFIGS {
            if let Some(default) = key.default {
                assert_eq!(key.kind.check(key.name, default, &key.accepts), Ok(()));
            }
        }
    }

    #[test]
    fn node_settings_in_hours_are_milliseconds_for_a_topic() {
        assert_eq!(Unit::Hours.convert("168"), WEEK_MS);
        assert_eq!(Unit::Minutes.convert(" 2 "), "120000");
        assert_eq!(Unit::Same.convert("168"), "168");
        assert_eq!(Unit::Hours.convert("9223372036854775807"), MAX_LONG);
    }
}
