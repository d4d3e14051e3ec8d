//! Law: a broker answers its clients with metadata that was true at some moment since it was asked,
//! or at the last that it had published then.

use std::collections::BTreeMap;

use quorate_types::{NodeId, Offset};

use super::committed::Committed;
use crate::client::View;
use crate::violation::{Verdict, Violation};

/// The questions that are not answered, by client: where the broker's metadata ended then.
#[derive(Debug, Default)]
pub(super) struct Shown {
    asked: BTreeMap<NodeId, (NodeId, Offset)>,
}

impl Shown {
    /// A process starts: it begins to show things from the start, also to those that wait for it.
    pub(super) fn started(&mut self, id: NodeId) {
        for (broker, end) in self.asked.values_mut() {
            if *broker == id {
                *end = Offset::ZERO;
            }
        }
    }

    /// A client asks a broker that has published everything up to `end`.
    pub(super) fn asked(&mut self, client: NodeId, broker: NodeId, end: Offset) {
        self.asked.insert(client, (broker, end));
    }

    /// A broker showed a client that.
    pub(super) fn answered(
        &mut self,
        client: NodeId,
        broker: NodeId,
        view: &View,
        committed: &Committed,
    ) -> Verdict {
        let Some((_, since)) = self.asked.remove(&client) else {
            return Ok(());
        };
        let mut images = committed.images_since(since);
        if images.any(|image| View::of_image(image) == *view) {
            return Ok(());
        }
        let detail = format!("{broker} shows {view:?}, which was never so since {since}");
        Err(Violation::new("brokers show what was true", detail))
    }
}

#[cfg(test)]
mod tests {
    use quorate_metadata::MetadataImage;

    use super::*;

    const CLIENT: NodeId = NodeId(101);
    const BROKER: NodeId = NodeId(11);

    #[test]
    fn a_broker_may_show_the_past_only_after_a_start() {
        let committed = Committed::new();
        let nothing = View::of_image(&MetadataImage::default());
        let mut law = Shown::default();
        law.asked(CLIENT, BROKER, Offset(17));
        assert!(law.answered(CLIENT, BROKER, &nothing, &committed).is_err());
        law.asked(CLIENT, BROKER, Offset(17));
        law.started(BROKER);
        assert_eq!(law.answered(CLIENT, BROKER, &nothing, &committed), Ok(()));
    }
}
