//! Every key of Kafka that concerns a controller: its type, what is allowed, its default, and what
//! becomes of it here. `docs/operations.md` shows this table; a test holds the two together.

use super::key::Kind::{Flag, List, Never, Number, OneOf, Real, Text};
use super::key::{Section, honoured, ignored};

/// The keys, by what they are about.
pub const SECTIONS: &[Section] = &[
    Section {
        title: "Who this node is",
        keys: &[
            honoured(
                "node.id",
                Number {
                    min: 0,
                    max: i32::MAX as i64,
                },
                "",
                "",
            ),
            honoured(
                "broker.id",
                Number {
                    min: i32::MIN as i64,
                    max: i32::MAX as i64,
                },
                "-1",
                "the old name of `node.id`, taken where that is not set",
            ),
            honoured(
                "process.roles",
                List,
                "",
                "must be `controller`: brokers are Kafka's own programs",
            ),
        ],
    },
    Section {
        title: "The quorum",
        keys: &[
            honoured("controller.quorum.bootstrap.servers", List, "", ""),
            honoured("controller.quorum.voters", List, "", ""),
            honoured("controller.quorum.auto.join.enable", Flag, "false", ""),
            honoured(
                "controller.quorum.election.timeout.ms",
                Number {
                    min: 0,
                    max: i32::MAX as i64,
                },
                "1000",
                "",
            ),
            honoured(
                "controller.quorum.fetch.timeout.ms",
                Number {
                    min: 0,
                    max: i32::MAX as i64,
                },
                "2000",
                "",
            ),
            honoured(
                "controller.quorum.request.timeout.ms",
                Number {
                    min: 0,
                    max: i32::MAX as i64,
                },
                "2000",
                "",
            ),
            honoured(
                "controller.quorum.retry.backoff.ms",
                Number {
                    min: 0,
                    max: i32::MAX as i64,
                },
                "20",
                "",
            ),
            honoured(
                "controller.quorum.election.backoff.max.ms",
                Number {
                    min: 0,
                    max: i32::MAX as i64,
                },
                "1000",
                "",
            ),
            ignored(
                "controller.quorum.append.linger.ms",
                Number {
                    min: 0,
                    max: i32::MAX as i64,
                },
                "25",
                "nothing waits to be written: what comes while the disk is busy shares the next write",
            ),
        ],
    },
    Section {
        title: "Listeners",
        keys: &[
            honoured("listeners", List, "PLAINTEXT://:9092", ""),
            honoured("advertised.listeners", List, "", ""),
            honoured("controller.listener.names", List, "", ""),
            honoured(
                "listener.security.protocol.map",
                Text,
                "SASL_SSL:SASL_SSL,PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT",
                "the controller's listener must be PLAINTEXT",
            ),
            ignored(
                "early.start.listeners",
                List,
                "",
                "every listener is open from the start",
            ),
            honoured(
                "socket.request.max.bytes",
                Number {
                    min: 1,
                    max: i32::MAX as i64,
                },
                "104857600",
                "",
            ),
            ignored(
                "socket.listen.backlog.size",
                Number {
                    min: 1,
                    max: i32::MAX as i64,
                },
                "50",
                "128",
            ),
            ignored(
                "socket.send.buffer.bytes",
                Number {
                    min: i32::MIN as i64,
                    max: i32::MAX as i64,
                },
                "102400",
                "the system's default",
            ),
            ignored(
                "socket.receive.buffer.bytes",
                Number {
                    min: i32::MIN as i64,
                    max: i32::MAX as i64,
                },
                "102400",
                "the system's default",
            ),
            ignored(
                "connections.max.idle.ms",
                Number {
                    min: i64::MIN,
                    max: i64::MAX,
                },
                "600000",
                "idle connections stay open",
            ),
            ignored(
                "max.connections",
                Number {
                    min: 0,
                    max: i32::MAX as i64,
                },
                "2147483647",
                "not limited",
            ),
            ignored(
                "max.connections.per.ip",
                Number {
                    min: 0,
                    max: i32::MAX as i64,
                },
                "2147483647",
                "not limited",
            ),
            ignored("max.connections.per.ip.overrides", Text, "", "not limited"),
            ignored(
                "max.connection.creation.rate",
                Number {
                    min: 0,
                    max: i32::MAX as i64,
                },
                "2147483647",
                "not limited",
            ),
            ignored(
                "num.network.threads",
                Number {
                    min: 1,
                    max: i32::MAX as i64,
                },
                "3",
                "one thread serves all sockets",
            ),
            ignored(
                "num.io.threads",
                Number {
                    min: 1,
                    max: i32::MAX as i64,
                },
                "8",
                "one thread decides, one writes",
            ),
            ignored(
                "queued.max.requests",
                Number {
                    min: 1,
                    max: i32::MAX as i64,
                },
                "500",
                "128 unanswered requests a connection",
            ),
            ignored(
                "queued.max.request.bytes",
                Number {
                    min: i64::MIN,
                    max: i64::MAX,
                },
                "-1",
                "not limited as a whole",
            ),
        ],
    },
    Section {
        title: "Files",
        keys: &[
            honoured("log.dirs", List, "", ""),
            honoured("log.dir", List, "/tmp/kafka-logs", ""),
            honoured("metadata.log.dir", Text, "", ""),
            honoured(
                "metadata.log.segment.bytes",
                Number {
                    min: 8388608,
                    max: i32::MAX as i64,
                },
                "1073741824",
                "",
            ),
            honoured(
                "internal.metadata.log.segment.bytes",
                Number {
                    min: i32::MIN as i64,
                    max: i32::MAX as i64,
                },
                "",
                "takes precedence, without a minimum",
            ),
            honoured(
                "metadata.log.segment.ms",
                Number {
                    min: i64::MIN,
                    max: i64::MAX,
                },
                "604800000",
                "",
            ),
            honoured(
                "metadata.log.max.record.bytes.between.snapshots",
                Number {
                    min: 1,
                    max: i64::MAX,
                },
                "20971520",
                "",
            ),
            honoured(
                "metadata.log.max.snapshot.interval.ms",
                Number {
                    min: 0,
                    max: i64::MAX,
                },
                "3600000",
                "",
            ),
            honoured(
                "metadata.max.retention.bytes",
                Number {
                    min: i64::MIN,
                    max: i64::MAX,
                },
                "104857600",
                "",
            ),
            honoured(
                "metadata.max.retention.ms",
                Number {
                    min: i64::MIN,
                    max: i64::MAX,
                },
                "604800000",
                "",
            ),
            honoured(
                "metadata.max.idle.interval.ms",
                Number {
                    min: 0,
                    max: i32::MAX as i64,
                },
                "500",
                "",
            ),
            ignored(
                "internal.metadata.delete.delay.millis",
                Number {
                    min: i64::MIN,
                    max: i64::MAX,
                },
                "60000",
                "deleted at once",
            ),
            ignored(
                "internal.metadata.max.batch.size.in.bytes",
                Number {
                    min: i32::MIN as i64,
                    max: i32::MAX as i64,
                },
                "8388608",
                "8 MiB",
            ),
            ignored(
                "internal.metadata.max.fetch.size.in.bytes",
                Number {
                    min: i32::MIN as i64,
                    max: i32::MAX as i64,
                },
                "8388608",
                "8 MiB",
            ),
        ],
    },
    Section {
        title: "Brokers",
        keys: &[
            honoured(
                "broker.session.timeout.ms",
                Number {
                    min: i32::MIN as i64,
                    max: i32::MAX as i64,
                },
                "9000",
                "",
            ),
            honoured(
                "broker.heartbeat.interval.ms",
                Number {
                    min: i32::MIN as i64,
                    max: i32::MAX as i64,
                },
                "2000",
                "",
            ),
        ],
    },
    Section {
        title: "Topics and partitions",
        keys: &[
            honoured(
                "num.partitions",
                Number {
                    min: 1,
                    max: i32::MAX as i64,
                },
                "1",
                "",
            ),
            honoured(
                "default.replication.factor",
                Number {
                    min: i32::MIN as i64,
                    max: i32::MAX as i64,
                },
                "1",
                "",
            ),
            honoured(
                "min.insync.replicas",
                Number {
                    min: 1,
                    max: i32::MAX as i64,
                },
                "1",
                "",
            ),
            honoured("delete.topic.enable", Flag, "true", ""),
            honoured("auto.leader.rebalance.enable", Flag, "true", ""),
            honoured(
                "leader.imbalance.check.interval.seconds",
                Number {
                    min: 1,
                    max: i64::MAX,
                },
                "300",
                "",
            ),
            honoured("unclean.leader.election.enable", Flag, "false", ""),
            honoured(
                "unclean.leader.election.interval.ms",
                Number {
                    min: 1,
                    max: i64::MAX,
                },
                "300000",
                "",
            ),
        ],
    },
    Section {
        title: "What topics have unless they are configured otherwise",
        keys: &[
            honoured(
                "compression.type",
                OneOf(&["uncompressed", "zstd", "lz4", "snappy", "gzip", "producer"]),
                "producer",
                "told to clients that describe a topic",
            ),
            honoured(
                "compression.gzip.level",
                Number { min: -1, max: 9 },
                "-1",
                "told to clients that describe a topic",
            ),
            honoured(
                "compression.lz4.level",
                Number { min: 1, max: 17 },
                "9",
                "told to clients that describe a topic",
            ),
            honoured(
                "compression.zstd.level",
                Number {
                    min: -131072,
                    max: 22,
                },
                "3",
                "told to clients that describe a topic",
            ),
            honoured(
                "log.cleanup.policy",
                OneOf(&["compact", "delete"]),
                "delete",
                "told to clients that describe a topic",
            ),
            honoured(
                "log.cleaner.delete.retention.ms",
                Number {
                    min: 0,
                    max: i64::MAX,
                },
                "86400000",
                "told to clients that describe a topic",
            ),
            honoured(
                "log.cleaner.max.compaction.lag.ms",
                Number {
                    min: 1,
                    max: i64::MAX,
                },
                "9223372036854775807",
                "told to clients that describe a topic",
            ),
            honoured(
                "log.cleaner.min.cleanable.ratio",
                Real { min: 0.0, max: 1.0 },
                "0.5",
                "told to clients that describe a topic",
            ),
            honoured(
                "log.cleaner.min.compaction.lag.ms",
                Number {
                    min: 0,
                    max: i64::MAX,
                },
                "0",
                "told to clients that describe a topic",
            ),
            honoured(
                "log.flush.interval.messages",
                Number {
                    min: 1,
                    max: i64::MAX,
                },
                "9223372036854775807",
                "told to clients that describe a topic",
            ),
            honoured(
                "log.flush.interval.ms",
                Number {
                    min: i64::MIN,
                    max: i64::MAX,
                },
                "",
                "told to clients that describe a topic",
            ),
            honoured(
                "log.flush.scheduler.interval.ms",
                Number {
                    min: i64::MIN,
                    max: i64::MAX,
                },
                "9223372036854775807",
                "told to clients that describe a topic",
            ),
            honoured(
                "log.index.interval.bytes",
                Number {
                    min: 0,
                    max: i32::MAX as i64,
                },
                "4096",
                "told to clients that describe a topic",
            ),
            honoured(
                "log.index.size.max.bytes",
                Number {
                    min: 4,
                    max: i32::MAX as i64,
                },
                "10485760",
                "told to clients that describe a topic",
            ),
            honoured(
                "log.local.retention.bytes",
                Number {
                    min: -2,
                    max: i64::MAX,
                },
                "-2",
                "told to clients that describe a topic",
            ),
            honoured(
                "log.local.retention.ms",
                Number {
                    min: -2,
                    max: i64::MAX,
                },
                "-2",
                "told to clients that describe a topic",
            ),
            honoured(
                "log.message.timestamp.after.max.ms",
                Number {
                    min: 0,
                    max: i64::MAX,
                },
                "3600000",
                "told to clients that describe a topic",
            ),
            honoured(
                "log.message.timestamp.before.max.ms",
                Number {
                    min: 0,
                    max: i64::MAX,
                },
                "9223372036854775807",
                "told to clients that describe a topic",
            ),
            honoured(
                "log.message.timestamp.type",
                OneOf(&["CreateTime", "LogAppendTime"]),
                "CreateTime",
                "told to clients that describe a topic",
            ),
            honoured(
                "log.preallocate",
                Flag,
                "false",
                "told to clients that describe a topic",
            ),
            honoured(
                "log.retention.bytes",
                Number {
                    min: i64::MIN,
                    max: i64::MAX,
                },
                "-1",
                "told to clients that describe a topic",
            ),
            honoured(
                "log.retention.hours",
                Number {
                    min: i32::MIN as i64,
                    max: i32::MAX as i64,
                },
                "168",
                "told to clients that describe a topic",
            ),
            honoured(
                "log.retention.minutes",
                Number {
                    min: i32::MIN as i64,
                    max: i32::MAX as i64,
                },
                "",
                "told to clients that describe a topic",
            ),
            honoured(
                "log.retention.ms",
                Number {
                    min: i64::MIN,
                    max: i64::MAX,
                },
                "",
                "told to clients that describe a topic",
            ),
            honoured(
                "log.roll.hours",
                Number {
                    min: 1,
                    max: i32::MAX as i64,
                },
                "168",
                "told to clients that describe a topic",
            ),
            honoured(
                "log.roll.jitter.hours",
                Number {
                    min: 0,
                    max: i32::MAX as i64,
                },
                "0",
                "told to clients that describe a topic",
            ),
            honoured(
                "log.roll.jitter.ms",
                Number {
                    min: i64::MIN,
                    max: i64::MAX,
                },
                "",
                "told to clients that describe a topic",
            ),
            honoured(
                "log.roll.ms",
                Number {
                    min: i64::MIN,
                    max: i64::MAX,
                },
                "",
                "told to clients that describe a topic",
            ),
            honoured(
                "log.segment.bytes",
                Number {
                    min: 1048576,
                    max: i32::MAX as i64,
                },
                "1073741824",
                "told to clients that describe a topic",
            ),
            honoured(
                "log.segment.delete.delay.ms",
                Number {
                    min: 0,
                    max: i64::MAX,
                },
                "60000",
                "told to clients that describe a topic",
            ),
            honoured(
                "message.max.bytes",
                Number {
                    min: 0,
                    max: i32::MAX as i64,
                },
                "1048588",
                "told to clients that describe a topic",
            ),
        ],
    },
    Section {
        title: "Security",
        keys: &[
            honoured(
                "authorizer.class.name",
                Never,
                "",
                "access rules are not enforced by this version",
            ),
            ignored(
                "super.users",
                Text,
                "",
                "no authorizer, so nothing to be exempt from",
            ),
            ignored(
                "allow.everyone.if.no.acl.found",
                Flag,
                "false",
                "no authorizer, so everyone may do everything",
            ),
            honoured(
                "create.topic.policy.class.name",
                Never,
                "",
                "a class of the JVM cannot be loaded",
            ),
            honoured(
                "alter.config.policy.class.name",
                Never,
                "",
                "a class of the JVM cannot be loaded",
            ),
            ignored(
                "principal.builder.class",
                Text,
                "org.apache.kafka.common.security.authenticator.DefaultKafkaPrincipalBuilder",
                "every client is `User:ANONYMOUS`",
            ),
            ignored(
                "sasl.mechanism.controller.protocol",
                Text,
                "GSSAPI",
                "the controller's listener has no SASL",
            ),
            ignored(
                "delegation.token.secret.key",
                Text,
                "",
                "delegation tokens are not served by this version",
            ),
            ignored(
                "delegation.token.max.lifetime.ms",
                Number {
                    min: 1,
                    max: i64::MAX,
                },
                "604800000",
                "as above",
            ),
            ignored(
                "delegation.token.expiry.time.ms",
                Number {
                    min: 1,
                    max: i64::MAX,
                },
                "86400000",
                "as above",
            ),
            ignored(
                "delegation.token.expiry.check.interval.ms",
                Number {
                    min: 1,
                    max: i64::MAX,
                },
                "3600000",
                "as above",
            ),
            honoured(
                "config.providers",
                Never,
                "",
                "values that come from elsewhere cannot be read; write them into the file",
            ),
        ],
    },
    Section {
        title: "Others",
        keys: &[
            ignored(
                "controller.quota.window.num",
                Number {
                    min: 1,
                    max: i32::MAX as i64,
                },
                "11",
                "no quota on changes",
            ),
            ignored(
                "controller.quota.window.size.seconds",
                Number {
                    min: 1,
                    max: i32::MAX as i64,
                },
                "1",
                "no quota on changes",
            ),
            ignored(
                "controller.performance.sample.period.ms",
                Number {
                    min: 100,
                    max: i64::MAX,
                },
                "60000",
                "not measured",
            ),
            ignored(
                "controller.performance.always.log.threshold.ms",
                Number {
                    min: 0,
                    max: i64::MAX,
                },
                "2000",
                "not measured",
            ),
            ignored(
                "server.max.startup.time.ms",
                Number {
                    min: 0,
                    max: i64::MAX,
                },
                "9223372036854775807",
                "a controller waits for its quorum for as long as it takes",
            ),
            honoured(
                "unstable.feature.versions.enable",
                OneOf(&["false"]),
                "false",
                "only stable versions are known",
            ),
            honoured(
                "unstable.api.versions.enable",
                OneOf(&["false"]),
                "false",
                "only stable versions are known",
            ),
        ],
    },
];
