//! Finalized feature levels.

use std::sync::Arc;

use im::OrdMap;

use quorate_protocol::records::FeatureLevelRecord;

use crate::change::{Change, diff};
use crate::{MetadataVersion, Reason};

/// The finalized level of every feature but `kraft.version`, which lives in control records.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Features {
    pub(crate) levels: OrdMap<Arc<str>, i16>,
}

impl Features {
    /// The feature that lets partitions keep eligible leader replicas (KIP-966).
    pub const ELR: &'static str = "eligible.leader.replicas.version";
    /// The feature of the quorum's own protocol.
    pub const KRAFT: &'static str = "kraft.version";

    /// The finalized `metadata.version`; [`MetadataVersion::MINIMUM`] until one was set.
    pub fn metadata_version(&self) -> MetadataVersion {
        self.levels
            .get(MetadataVersion::FEATURE)
            .and_then(|level| MetadataVersion::from_level(*level))
            .unwrap_or(MetadataVersion::MINIMUM)
    }

    /// Whether a `metadata.version` was ever set: a log without one was never bootstrapped.
    pub fn has_metadata_version(&self) -> bool {
        self.levels.contains_key(MetadataVersion::FEATURE)
    }

    /// The finalized level of the feature; 0 for one that is not finalized.
    pub fn level(&self, name: &str) -> i16 {
        self.levels.get(name).copied().unwrap_or(0)
    }

    /// Whether partitions keep eligible leader replicas.
    pub fn elr_enabled(&self) -> bool {
        self.level(Features::ELR) >= 1
    }

    /// All finalized features and their levels, by name, `metadata.version` among them.
    pub fn iter(&self) -> impl Iterator<Item = (&str, i16)> {
        self.levels.iter().map(|(name, level)| (&**name, *level))
    }

    pub(crate) fn changes<'a>(
        &'a self,
        after: &'a Features,
    ) -> impl Iterator<Item = Change<&'a str, i16>> {
        diff(&self.levels, &after.levels).map(|change| change.map_key(|name| &**name).map(|l| *l))
    }

    /// Sets a level; 0 removes the feature. `kraft.version` is passed over: it lives in control
    /// records, and old logs that have it here are wrong.
    pub(crate) fn set_level(&mut self, record: &FeatureLevelRecord) -> Result<(), Reason> {
        let (name, level) = (record.name.as_str(), record.feature_level);
        if name == Features::KRAFT {
            return Ok(());
        }
        if name == MetadataVersion::FEATURE && MetadataVersion::from_level(level).is_none() {
            return Err(Reason::UnknownMetadataVersion(level));
        }
        if level == 0 {
            self.levels.remove(name);
        } else {
            self.levels.insert(name.into(), level);
        }
        Ok(())
    }

    /// The records that set these levels, `metadata.version` first, which readers have to know.
    pub(crate) fn to_records(&self) -> impl Iterator<Item = FeatureLevelRecord> {
        let is_version = |name: &str| name == MetadataVersion::FEATURE;
        let version = self.iter().filter(move |(name, _)| is_version(name));
        let others = self.iter().filter(move |(name, _)| !is_version(name));
        version
            .chain(others)
            .map(|(name, level)| FeatureLevelRecord {
                name: name.to_owned(),
                feature_level: level,
                ..Default::default()
            })
    }
}
