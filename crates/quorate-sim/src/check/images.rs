//! Laws: at one offset all nodes show the same metadata, which is what the committed log says there;
//! what a node shows only moves forward; indexes derived from the metadata are as if built anew.

use std::collections::{BTreeMap, BTreeSet};

use quorate_metadata::MetadataImage;
use quorate_server::io::Published;
use quorate_types::{NodeId, Offset};

use super::committed::Committed;
use crate::violation::{Verdict, Violation};

/// What was published.
#[derive(Debug, Default)]
pub(super) struct Images {
    newest: BTreeMap<NodeId, Published>,
    /// Offsets at which the indexes were compared already.
    indexed: BTreeSet<Offset>,
}

impl Images {
    /// A process that starts has published nothing.
    pub(super) fn started(&mut self, id: NodeId) {
        self.newest.remove(&id);
    }

    /// A node published something.
    pub(super) fn published(
        &mut self,
        id: NodeId,
        published: &Published,
        committed: &Committed,
    ) -> Verdict {
        let end = published.end;
        if let Some(before) = self.newest.get(&id)
            && before.end > end
        {
            let detail = format!("{id} showed {} and then {end}", before.end);
            return Err(Violation::new("what is shown moves forward", detail));
        }
        let Some(expected) = committed.image_at(end) else {
            let detail = format!(
                "{id} shows {end}, where nothing can be shown; {} is committed",
                committed.end()
            );
            return Err(Violation::new(
                "only what is committed and stable is shown",
                detail,
            ));
        };
        if *expected != published.image {
            let part = differing(expected, &published.image);
            let detail = format!("{id} shows other {part} at {end} than the log says");
            return Err(Violation::new("equal images at equal offsets", detail));
        }
        if self.indexed.insert(end)
            && let Some(index) = published.image.topics().index_fault()
        {
            let detail = format!("{index} at {end} on {id}");
            return Err(Violation::new("derived indexes equal rebuilt ones", detail));
        }
        self.newest.insert(id, published.clone());
        Ok(())
    }

    /// What a node published last.
    pub(super) fn newest(&self, id: NodeId) -> Option<&Published> {
        self.newest.get(&id)
    }
}

/// The first section in which two images differ.
fn differing(one: &MetadataImage, other: &MetadataImage) -> &'static str {
    let sections = [
        ("features", one.features() == other.features()),
        ("brokers or controllers", one.cluster() == other.cluster()),
        ("topics", one.topics() == other.topics()),
        ("configurations", one.configs() == other.configs()),
        ("producer ids", one.producer_ids() == other.producer_ids()),
    ];
    sections
        .iter()
        .find(|(_, equal)| !equal)
        .map_or("metadata", |(name, _)| name)
}
