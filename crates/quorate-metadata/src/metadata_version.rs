//! `metadata.version`: which records may be written, and in which form.

use std::fmt;

use quorate_protocol::records::{MetadataRecord, VersionedRecord};

/// A level of the feature `metadata.version`.
///
/// ```
/// use quorate_metadata::MetadataVersion;
///
/// assert!(MetadataVersion::V3_7_IV2.has_directories());
/// assert_eq!(MetadataVersion::LATEST.to_string(), "4.2-IV1");
/// assert_eq!("3.9-IV0".parse(), Ok(MetadataVersion(21)));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MetadataVersion(pub i16);

const NAMES: [&str; 23] = [
    "3.3-IV3", "3.4-IV0", "3.5-IV0", "3.5-IV1", "3.5-IV2", "3.6-IV0", "3.6-IV1", "3.6-IV2",
    "3.7-IV0", "3.7-IV1", "3.7-IV2", "3.7-IV3", "3.7-IV4", "3.8-IV0", "3.9-IV0", "4.0-IV0",
    "4.0-IV1", "4.0-IV2", "4.0-IV3", "4.1-IV0", "4.1-IV1", "4.2-IV0", "4.2-IV1",
];

impl MetadataVersion {
    /// The feature's name.
    pub const FEATURE: &'static str = "metadata.version";
    /// 3.3-IV3, the lowest level that Kafka 4 supports.
    pub const MINIMUM: MetadataVersion = MetadataVersion(7);
    /// RegisterBroker v2.
    pub const V3_4_IV0: MetadataVersion = MetadataVersion(8);
    /// SCRAM credentials in the log.
    pub const V3_5_IV2: MetadataVersion = MetadataVersion(11);
    /// A shrinking ISR no longer bumps the leader epoch.
    pub const V3_6_IV0: MetadataVersion = MetadataVersion(12);
    /// Metadata transactions.
    pub const V3_6_IV1: MetadataVersion = MetadataVersion(13);
    /// Delegation tokens in the log.
    pub const V3_6_IV2: MetadataVersion = MetadataVersion(14);
    /// Controller registrations.
    pub const V3_7_IV0: MetadataVersion = MetadataVersion(15);
    /// Directories of brokers and replicas (KIP-858).
    pub const V3_7_IV2: MetadataVersion = MetadataVersion(17);
    /// Eligible leader replicas (KIP-966).
    pub const V4_0_IV1: MetadataVersion = MetadataVersion(23);
    /// The highest level known here.
    pub const LATEST: MetadataVersion = MetadataVersion(29);

    /// Levels at which the records changed: a downgrade over one of them loses something.
    const RECORDS_CHANGED: [i16; 7] = [8, 11, 13, 14, 15, 17, 23];

    /// The level, if it is one of those known here.
    pub fn from_level(level: i16) -> Option<MetadataVersion> {
        let version = MetadataVersion(level);
        (MetadataVersion::MINIMUM..=MetadataVersion::LATEST)
            .contains(&version)
            .then_some(version)
    }

    /// The feature level.
    pub fn level(self) -> i16 {
        self.0
    }

    /// Whether SCRAM credentials may be written.
    pub fn has_scram(self) -> bool {
        self >= MetadataVersion::V3_5_IV2
    }

    /// Whether records may be bracketed as a transaction.
    pub fn has_transactions(self) -> bool {
        self >= MetadataVersion::V3_6_IV1
    }

    /// Whether delegation tokens may be written.
    pub fn has_delegation_tokens(self) -> bool {
        self >= MetadataVersion::V3_6_IV2
    }

    /// Whether controllers register.
    pub fn has_controller_registration(self) -> bool {
        self >= MetadataVersion::V3_7_IV0
    }

    /// Whether replicas and brokers name their directories.
    pub fn has_directories(self) -> bool {
        self >= MetadataVersion::V3_7_IV2
    }

    /// Whether partitions may have eligible leader replicas.
    pub fn has_elr(self) -> bool {
        self >= MetadataVersion::V4_0_IV1
    }

    /// Whether an ISR that shrinks bumps the leader epoch.
    pub fn bumps_leader_epoch_on_shrink(self) -> bool {
        self < MetadataVersion::V3_6_IV0
    }

    /// The version in which RegisterBroker is written.
    pub fn register_broker_version(self) -> i16 {
        if self.has_directories() {
            3
        } else if self >= MetadataVersion::V3_4_IV0 {
            2
        } else {
            1
        }
    }

    /// The version in which BrokerRegistrationChange is written.
    pub fn broker_registration_change_version(self) -> i16 {
        if self.has_directories() { 2 } else { 1 }
    }

    /// The version in which Partition is written.
    pub fn partition_version(self) -> i16 {
        if self.has_elr() {
            2
        } else if self.has_directories() {
            1
        } else {
            0
        }
    }

    /// The version in which PartitionChange is written.
    pub fn partition_change_version(self) -> i16 {
        self.partition_version()
    }

    /// The version in which that record is written.
    pub fn record_version(self, record: &MetadataRecord) -> i16 {
        match record {
            MetadataRecord::RegisterBroker(_) => self.register_broker_version(),
            MetadataRecord::BrokerRegistrationChange(_) => {
                self.broker_registration_change_version()
            }
            MetadataRecord::Partition(_) => self.partition_version(),
            MetadataRecord::PartitionChange(_) => self.partition_change_version(),
            _ => 0,
        }
    }

    /// The record in the version in which it is written.
    pub fn versioned(self, record: impl Into<MetadataRecord>) -> VersionedRecord {
        let data = record.into();
        VersionedRecord {
            version: self.record_version(&data),
            data,
        }
    }

    /// Whether records changed between the two levels, so that going back from the higher to the
    /// lower one is lossy.
    pub fn records_differ(self, other: MetadataVersion) -> bool {
        let (low, high) = (self.min(other), self.max(other));
        Self::RECORDS_CHANGED
            .iter()
            .any(|level| low.0 < *level && *level <= high.0)
    }
}

impl fmt::Display for MetadataVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = usize::try_from(self.0 - MetadataVersion::MINIMUM.0)
            .ok()
            .and_then(|index| NAMES.get(index));
        match name {
            Some(name) => f.pad(name),
            None => write!(f, "level {}", self.0),
        }
    }
}

/// A text that names no `metadata.version` known here.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{text:?} is no metadata.version: a release such as 4.2-IV1 or a level from 7 to 29 is wanted"
)]
pub struct UnknownMetadataVersion {
    /// What was given.
    pub text: String,
}

impl std::str::FromStr for MetadataVersion {
    type Err = UnknownMetadataVersion;

    /// Reads a level (`29`) or a release (`4.2-IV1`).
    fn from_str(text: &str) -> Result<MetadataVersion, UnknownMetadataVersion> {
        let by_name = NAMES.iter().position(|name| *name == text);
        let level = match by_name {
            Some(index) => i16::try_from(index)
                .ok()
                .map(|i| i + MetadataVersion::MINIMUM.0),
            None => text.parse().ok(),
        };
        level
            .and_then(MetadataVersion::from_level)
            .ok_or_else(|| UnknownMetadataVersion {
                text: text.chars().take(64).collect(),
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_level_has_a_name_that_comes_back() {
        for level in 7..=29 {
            let version = MetadataVersion(level);
            assert_eq!(version.to_string().parse(), Ok(version));
            assert_eq!(level.to_string().parse(), Ok(version));
        }
        assert!("4.9-IV0".parse::<MetadataVersion>().is_err());
        assert!("30".parse::<MetadataVersion>().is_err());
        assert_eq!(MetadataVersion(14).to_string(), "3.6-IV2");
        assert_eq!(MetadataVersion(23).to_string(), "4.0-IV1");
        assert_eq!(MetadataVersion(40).to_string(), "level 40");
    }

    #[test]
    fn a_downgrade_over_changed_records_is_lossy() {
        let v = MetadataVersion;
        assert!(!v(29).records_differ(v(23)));
        assert!(v(29).records_differ(v(22)));
        assert!(v(7).records_differ(v(8)));
        assert!(!v(17).records_differ(v(22)));
    }
}
