//! Waiting for metadata without blocking: what a caller holds while it waits.

use std::time::Duration;

use quorate_types::{ErrorCode, MonoTime};

use crate::{ClientMetadata, Fault, Version};

/// A wait for a newer version than one that was there.
///
/// Made by [`ClientMetadata::wait`]; ask it again after every answer and at its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wait {
    pub(crate) version: Version,
    pub(crate) until: MonoTime,
}

/// How a [`Wait`] stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WaitState {
    /// Nothing newer yet.
    Pending {
        /// When it ends at the latest.
        until: MonoTime,
    },
    /// There is a newer version.
    Updated(Version),
    /// The time is over.
    TimedOut,
    /// It will never come.
    Failed(Fault),
}

impl Wait {
    /// How it stands.
    pub fn check(self, metadata: &ClientMetadata, now: MonoTime) -> WaitState {
        if let Some(fault) = metadata.fault() {
            WaitState::Failed(fault)
        } else if metadata.version() > self.version {
            WaitState::Updated(metadata.version())
        } else if now >= self.until {
            WaitState::TimedOut
        } else {
            WaitState::Pending { until: self.until }
        }
    }
}

/// A producer's wait until it knows a partition: the topic is there and has that partition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartitionWait {
    topic: String,
    partition: Option<i32>,
    /// For how long in all: `max.block.ms`, of which the same call also waits for buffer space.
    until: MonoTime,
    wait: Option<Wait>,
}

/// How a [`PartitionWait`] stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartitionState {
    /// Not known yet; ask again after every answer and at that time.
    Pending {
        /// When it ends at the latest.
        until: MonoTime,
    },
    /// The topic has so many partitions, the asked one among them.
    Known {
        /// How many.
        partitions: usize,
    },
    /// The time is over; the error tells whether the topic or only the partition is missing.
    TimedOut(Missing),
    /// `TOPIC_AUTHORIZATION_FAILED` or `INVALID_TOPIC_EXCEPTION`.
    Refused(ErrorCode),
    /// It will never come.
    Failed(Fault),
}

/// What a producer waited for in vain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Missing {
    /// The topic is not known.
    #[error("the topic did not appear in time")]
    Topic,
    /// The topic has fewer partitions.
    #[error("the topic has only {partitions} partitions")]
    Partition {
        /// How many it has.
        partitions: usize,
    },
}

impl PartitionWait {
    /// Waits for the topic, and for that partition of it if one is given, for at most `max`.
    pub fn new(now: MonoTime, max: Duration, topic: &str, partition: Option<i32>) -> PartitionWait {
        PartitionWait {
            topic: topic.to_owned(),
            partition,
            until: now + max,
            wait: None,
        }
    }

    /// How it stands. Asks for updates as long as the partition is not there.
    pub fn check(&mut self, metadata: &mut ClientMetadata, now: MonoTime) -> PartitionState {
        if let Some(fault) = metadata.fault() {
            return PartitionState::Failed(fault);
        }
        metadata.add_topic(now, &self.topic);
        let snapshot = metadata.snapshot();
        if snapshot.unauthorized.contains(self.topic.as_str()) {
            return PartitionState::Refused(ErrorCode::TopicAuthorizationFailed);
        }
        if snapshot.invalid.contains(self.topic.as_str()) {
            return PartitionState::Refused(ErrorCode::InvalidTopicException);
        }
        let partitions = snapshot
            .topics
            .get(self.topic.as_str())
            .map(|topic| topic.partitions.len());
        let is_in_range = |partitions: usize| {
            self.partition
                .is_none_or(|index| usize::try_from(index).is_ok_and(|index| index < partitions))
        };
        match partitions {
            Some(partitions) if partitions > 0 && is_in_range(partitions) => {
                return PartitionState::Known { partitions };
            }
            _ if now >= self.until => {
                return PartitionState::TimedOut(match partitions {
                    Some(partitions) if partitions > 0 => Missing::Partition { partitions },
                    _ => Missing::Topic,
                });
            }
            _ => {}
        }
        self.ask(metadata);
        PartitionState::Pending { until: self.until }
    }

    /// Once for each version that did not have it.
    fn ask(&mut self, metadata: &mut ClientMetadata) {
        let version = metadata.version();
        if self.wait.is_none_or(|wait| wait.version < version) {
            metadata.request_update();
            self.wait = Some(Wait {
                version,
                until: self.until,
            });
        }
    }
}
