//! Laws: at one offset all nodes show the same metadata, which is what the committed log says there;
//! what a node shows only moves forward; indexes derived from the metadata are as if built anew.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;

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
            let difference = differing(expected, &published.image);
            let detail = format!("{id} at {end}: {difference}");
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

/// What differs first between two images: what the log says, and what is shown.
fn differing(log: &MetadataImage, shown: &MetadataImage) -> String {
    first("broker", log.brokers(), shown.brokers())
        .or_else(|| first("controller", log.controllers(), shown.controllers()))
        .or_else(|| first("feature", log.features().iter(), shown.features().iter()))
        .or_else(|| {
            let names = |image: &MetadataImage| -> Vec<String> {
                image
                    .topics()
                    .iter()
                    .map(|topic| topic.name().to_string())
                    .collect()
            };
            first("topic", names(log).iter(), names(shown).iter())
        })
        .or_else(|| {
            let partitions = |image: &MetadataImage| -> Vec<_> {
                let of = |topic: quorate_metadata::Topic<'_>| -> Vec<_> {
                    let id = topic.id();
                    topic
                        .partitions()
                        .map(|(index, partition)| (id, index, partition))
                        .collect()
                };
                image.topics().iter().flat_map(of).collect()
            };
            first(
                "partition",
                partitions(log).iter(),
                partitions(shown).iter(),
            )
        })
        .or_else(|| {
            first(
                "configuration",
                log.configs().iter(),
                shown.configs().iter(),
            )
        })
        .unwrap_or_else(|| "something".to_owned())
}

fn first<T: PartialEq + Debug>(
    what: &str,
    mut log: impl Iterator<Item = T>,
    mut shown: impl Iterator<Item = T>,
) -> Option<String> {
    loop {
        match (log.next(), shown.next()) {
            (None, None) => return None,
            (one, other) if one == other => {}
            (one, other) => {
                return Some(format!("{what}: the log says {one:?}, shown is {other:?}"));
            }
        }
    }
}
