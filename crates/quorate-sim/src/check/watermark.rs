//! Law: the high watermark of a node never falls while the node runs.

use std::collections::BTreeMap;

use quorate_types::{NodeId, Offset};

use crate::violation::Violation;

/// The high watermarks as they were last seen.
#[derive(Debug, Default)]
pub(super) struct Watermarks {
    seen: BTreeMap<NodeId, Offset>,
    /// The highest that any process of a node knew.
    highest: BTreeMap<NodeId, Offset>,
}

impl Watermarks {
    /// A process that starts knows none.
    pub(super) fn started(&mut self, id: NodeId) {
        self.seen.remove(&id);
    }

    /// What a node, or one of its processes before, once knew to be committed.
    pub(super) fn highest(&self, id: NodeId) -> Offset {
        self.highest.get(&id).copied().unwrap_or_default()
    }

    /// A node's high watermark is that; whether it is news.
    pub(super) fn is(&mut self, id: NodeId, high: Offset) -> Result<bool, Violation> {
        let highest = self.highest.entry(id).or_default();
        *highest = high.max(*highest);
        match self.seen.insert(id, high) {
            Some(before) if before > high => {
                let detail = format!("that of {id} was {before} and is {high}");
                Err(Violation::new("the high watermark never falls", detail))
            }
            Some(before) => Ok(before < high),
            None => Ok(true),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_watermark_may_start_over_with_a_process_only() {
        let mut law = Watermarks::default();
        assert_eq!(law.is(NodeId(1), Offset(5)), Ok(true));
        assert_eq!(law.is(NodeId(1), Offset(5)), Ok(false));
        law.started(NodeId(1));
        assert_eq!(law.is(NodeId(1), Offset(3)), Ok(true));
        assert!(law.is(NodeId(1), Offset(2)).is_err());
        assert_eq!(law.highest(NodeId(1)), Offset(5));
    }
}
