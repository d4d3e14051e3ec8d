//! Features: which levels exist, which are finalized, and how they change.

mod table;
mod update;

pub use table::{SUPPORTED_FEATURES, SupportedFeature, default_levels, supported_features};
pub use update::take_kraft_version;
pub(crate) use update::{prepare_elr, update};

use quorate_metadata::MetadataVersion;
use quorate_protocol::records::MetadataRecord;

use crate::records;

/// The records that a log formatted at `version` starts with: the levels of [`default_levels`].
pub fn bootstrap_records(version: MetadataVersion) -> Vec<MetadataRecord> {
    default_levels(version)
        .into_iter()
        .map(|(name, level)| records::feature_level(name, level).data)
        .collect()
}
