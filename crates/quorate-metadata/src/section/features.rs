//! Finalized feature levels.

use std::sync::Arc;

use im::OrdMap;

use crate::MetadataVersion;
use crate::change::{Change, diff};

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
}
