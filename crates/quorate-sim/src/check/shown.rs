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
    asked: BTreeMap<NodeId, Offset>,
}

impl Shown {
    /// A client asks a broker that has published everything up to `end`.
    pub(super) fn asked(&mut self, client: NodeId, end: Offset) {
        self.asked.insert(client, end);
    }

    /// A broker showed a client that.
    pub(super) fn answered(
        &mut self,
        client: NodeId,
        broker: NodeId,
        view: &View,
        committed: &Committed,
    ) -> Verdict {
        let Some(since) = self.asked.remove(&client) else {
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
