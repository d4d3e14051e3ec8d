//! The features that this build supports, their ranges, and what each level needs.
//!
//! As in Kafka 4.2. `kraft.version` is agreed on by the quorum itself and stands here only for its
//! range.

use std::collections::BTreeMap;

use quorate_metadata::{Features, MetadataVersion};
use quorate_types::VersionRange;

/// One supported feature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SupportedFeature {
    /// Its name.
    pub name: &'static str,
    /// The lowest supported level.
    pub min: i16,
    /// The highest supported level.
    pub max: i16,
    /// The `metadata.version` from which on a freshly formatted cluster has the highest level;
    /// `None` where the level does not follow from it.
    pub by_default_from: Option<MetadataVersion>,
}

/// The features of a Kafka 4.2 controller, sorted by name.
pub const SUPPORTED_FEATURES: &[SupportedFeature] = &[
    feature(Features::ELR, 0, 1, Some(26)),
    feature("group.version", 0, 1, Some(22)),
    feature(Features::KRAFT, 0, 1, None),
    feature(
        MetadataVersion::FEATURE,
        MetadataVersion::MINIMUM.0,
        MetadataVersion::LATEST.0,
        None,
    ),
    feature("share.version", 0, 1, Some(28)),
    feature("streams.version", 0, 1, Some(29)),
    feature("transaction.version", 0, 2, Some(24)),
];

const fn feature(
    name: &'static str,
    min: i16,
    max: i16,
    by_default_from: Option<i16>,
) -> SupportedFeature {
    let by_default_from = match by_default_from {
        Some(level) => Some(MetadataVersion(level)),
        None => None,
    };
    SupportedFeature {
        name,
        min,
        max,
        by_default_from,
    }
}

/// The supported range of every feature, by name.
pub fn supported_features() -> BTreeMap<String, VersionRange> {
    SUPPORTED_FEATURES
        .iter()
        .map(|feature| {
            let range = VersionRange {
                min: feature.min,
                max: feature.max,
            };
            (feature.name.to_string(), range)
        })
        .collect()
}

/// The feature levels that a cluster formatted at `version` starts with, `metadata.version` first,
/// the others by name; levels of 0 are left out.
///
/// ```
/// use quorate_controller::features::default_levels;
/// use quorate_metadata::MetadataVersion;
///
/// let levels = default_levels(MetadataVersion(24));
/// assert_eq!(levels[0], ("metadata.version", 24));
/// assert_eq!(levels[1..], [("group.version", 1), ("transaction.version", 2)]);
/// ```
pub fn default_levels(version: MetadataVersion) -> Vec<(&'static str, i16)> {
    let others = SUPPORTED_FEATURES
        .iter()
        .filter(|feature| feature.by_default_from.is_some_and(|from| version >= from));
    std::iter::once((MetadataVersion::FEATURE, version.level()))
        .chain(others.map(|feature| (feature.name, feature.max)))
        .collect()
}

/// The `metadata.version` that a level of a feature cannot do without; `None` where any will do.
pub(crate) fn needed_metadata_version(feature: &str, level: i16) -> Option<MetadataVersion> {
    (feature == Features::ELR && level >= 1).then_some(MetadataVersion::V4_0_IV1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_release_brings_every_feature() {
        assert_eq!(
            default_levels(MetadataVersion::LATEST),
            [
                ("metadata.version", 29),
                ("eligible.leader.replicas.version", 1),
                ("group.version", 1),
                ("share.version", 1),
                ("streams.version", 1),
                ("transaction.version", 2),
            ]
        );
        assert_eq!(
            default_levels(MetadataVersion::MINIMUM),
            [("metadata.version", 7)]
        );
    }
}
