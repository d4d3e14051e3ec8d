//! The settings of a controller that are plain numbers and flags, put where they belong.

use std::time::Duration;

use quorate::node::{ControllerSpec, Limits};
use quorate::storage::Retention;

use crate::settings::Settings;

/// Puts settings into a controller.
pub fn tune(spec: &mut ControllerSpec, settings: &Settings) {
    quorum(spec, settings);
    log(spec, settings);
    let millis = |key| millis(settings, key);
    let controller = &mut spec.settings;
    if let Some(partitions) = int(settings, "num.partitions") {
        controller.num_partitions = partitions;
    }
    if let Some(factor) = int(settings, "default.replication.factor") {
        controller.default_replication_factor = factor;
    }
    controller.delete_topic_enable = settings.flag("delete.topic.enable");
    controller.broker_session_timeout = millis("broker.session.timeout.ms");
    controller.broker_heartbeat_interval = millis("broker.heartbeat.interval.ms");
    controller.max_idle_interval =
        Some(millis("metadata.max.idle.interval.ms")).filter(|interval| !interval.is_zero());
    let seconds = int(settings, "leader.imbalance.check.interval.seconds");
    controller.leader_imbalance_check_interval = seconds
        .filter(|_| settings.flag("auto.leader.rebalance.enable"))
        .map(Duration::from_secs);
    controller.unclean_election_interval = millis("unclean.leader.election.interval.ms");
    controller.node_settings = settings.for_topics();
}

/// What a connection may cost.
pub fn limits(settings: &Settings) -> Limits {
    let mut limits = Limits::default();
    if let Some(bytes) = int(settings, "socket.request.max.bytes") {
        limits.frame_bytes = bytes;
    }
    limits
}

fn quorum(spec: &mut ControllerSpec, settings: &Settings) {
    let millis = |key| millis(settings, key);
    let raft = &mut spec.raft;
    raft.election_timeout = millis("controller.quorum.election.timeout.ms");
    raft.fetch_timeout = millis("controller.quorum.fetch.timeout.ms");
    raft.request_timeout = millis("controller.quorum.request.timeout.ms");
    raft.retry_backoff = millis("controller.quorum.retry.backoff.ms");
    raft.max_backoff = millis("controller.quorum.election.backoff.max.ms");
    raft.auto_join = settings.flag("controller.quorum.auto.join.enable");
}

fn log(spec: &mut ControllerSpec, settings: &Settings) {
    let internal = int(settings, "internal.metadata.log.segment.bytes");
    if let Some(bytes) = internal.or_else(|| int(settings, "metadata.log.segment.bytes")) {
        spec.log.segment_bytes = bytes;
    }
    if let Some(span) = settings.number("metadata.log.segment.ms") {
        spec.log.segment_ms = span;
    }
    let snapshots = &mut spec.snapshots;
    if let Some(bytes) = int(settings, "metadata.log.max.record.bytes.between.snapshots") {
        snapshots.max_bytes = bytes;
    }
    snapshots.max_age = millis(settings, "metadata.log.max.snapshot.interval.ms");
    // What is negative stands for no limit.
    snapshots.retention = Retention {
        bytes: int(settings, "metadata.max.retention.bytes"),
        age_ms: settings
            .number("metadata.max.retention.ms")
            .filter(|age| *age >= 0),
    };
}

/// A number that fits; settings are checked, so only what may be negative does not.
fn int<T: TryFrom<i64>>(settings: &Settings, key: &str) -> Option<T> {
    settings
        .number(key)
        .and_then(|number| T::try_from(number).ok())
}

fn millis(settings: &Settings, key: &str) -> Duration {
    Duration::from_millis(int(settings, key).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use quorate::types::{Endpoint, NodeId};

    use super::*;

    fn tuned(text: &str) -> ControllerSpec {
        let file = Path::new("c.properties");
        let settings = Settings::read(file, text.as_bytes(), &[]).unwrap();
        let mut spec = blank();
        tune(&mut spec, &settings);
        spec
    }

    fn blank() -> ControllerSpec {
        let endpoint = Endpoint {
            name: "CONTROLLER".into(),
            host: "localhost".into(),
            port: 1,
        };
        ControllerSpec::new(NodeId(1), "cluster", PathBuf::new(), endpoint)
    }

    #[test]
    fn an_empty_file_changes_nothing() {
        let (blank, tuned) = (blank(), tuned(""));
        assert_eq!(format!("{tuned:?}"), format!("{blank:?}"));
        let settings = Settings::read(Path::new("c"), b"", &[]).unwrap();
        assert_eq!(limits(&settings).frame_bytes, Limits::default().frame_bytes);
    }

    #[test]
    fn what_is_set_arrives() {
        let spec = tuned(
            "controller.quorum.fetch.timeout.ms=300\ncontroller.quorum.auto.join.enable=true\n\
             num.partitions=7\ndefault.replication.factor=3\ndelete.topic.enable=false\n\
             metadata.log.segment.bytes=8388608\nmetadata.max.retention.bytes=-1\n\
             metadata.log.max.snapshot.interval.ms=5000\nmetadata.max.idle.interval.ms=0\n\
             auto.leader.rebalance.enable=false\nlog.retention.hours=3\nbroker.rack=a\n",
        );
        assert_eq!(spec.raft.fetch_timeout, Duration::from_millis(300));
        assert!(spec.raft.auto_join);
        assert_eq!(spec.log.segment_bytes, 8_388_608);
        assert_eq!(spec.snapshots.retention.bytes, None);
        assert_eq!(spec.snapshots.max_age, Duration::from_secs(5));
        let settings = &spec.settings;
        assert_eq!(
            (settings.num_partitions, settings.default_replication_factor),
            (7, 3)
        );
        assert!(!settings.delete_topic_enable);
        assert_eq!(settings.max_idle_interval, None);
        assert_eq!(settings.leader_imbalance_check_interval, None);
        let topics: Vec<_> = settings.node_settings.iter().collect();
        assert!(topics.contains(&(&"log.retention.hours".into(), &"3".into())));
        assert!(!settings.node_settings.contains_key("broker.rack"));
    }

    #[test]
    fn the_internal_segment_size_takes_precedence() {
        let spec = tuned(
            "internal.metadata.log.segment.bytes=10240\nmetadata.log.segment.bytes=8388608\n",
        );
        assert_eq!(spec.log.segment_bytes, 10_240);
    }
}
