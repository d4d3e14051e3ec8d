//! The first decision of a new active controller: what an empty log must start with.
//!
//! | Log | Records |
//! |---|---|
//! | no metadata.version | BeginTransaction, the bootstrap records, with ELR the cluster's `min.insync.replicas`, EndTransaction; without brackets before metadata.version 13 |
//! | the same, a transaction left open | AbortTransaction, then all of the above |
//! | metadata.version known, a transaction open | AbortTransaction |

use quorate_engine::Halt;
use quorate_metadata::{Features, MetadataVersion};
use quorate_protocol::records::MetadataRecord;

use crate::controller::{Desk, KafkaController};
use crate::features;
use crate::records;

/// The name of the transaction, which tools show.
const NAME: &str = "Bootstrap records";

/// Writes what is missing.
pub(crate) fn open(controller: &KafkaController, draft: &mut Desk<'_>) -> Result<(), Halt> {
    if draft.transaction().is_some() {
        let reason = "the controller that began it is not active any more";
        draft.push(records::abort_transaction(reason))?;
    }
    if draft.state().features().has_metadata_version() {
        return Ok(());
    }
    let bootstrap = &controller.config().bootstrap;
    let level = |feature: &str| {
        bootstrap.iter().find_map(|record| match record {
            MetadataRecord::FeatureLevel(level) if level.name == feature => {
                Some(level.feature_level)
            }
            _ => None,
        })
    };
    let version = level(MetadataVersion::FEATURE).and_then(MetadataVersion::from_level);
    let bracketed = version
        .unwrap_or(MetadataVersion::LATEST)
        .has_transactions();
    if bracketed {
        draft.push(records::begin_transaction(NAME))?;
    }
    if version.is_none() {
        let latest = MetadataVersion::LATEST.level();
        draft.push(records::feature_level(MetadataVersion::FEATURE, latest))?;
    }
    for record in bootstrap {
        draft.push(records::plain(record.clone()))?;
    }
    if level(Features::ELR).is_some_and(|level| level > 0) {
        features::prepare_elr(controller, draft)?;
    }
    if bracketed {
        draft.push(records::end_transaction())?;
    }
    Ok(())
}
