//! Law: an epoch has at most one leader, and at most one active controller.

use std::collections::BTreeMap;

use quorate_types::{Epoch, NodeId};

use crate::violation::Violation;

/// Who was seen to lead which epoch.
#[derive(Debug)]
pub(super) struct OneLeader {
    what: &'static str,
    epochs: BTreeMap<Epoch, NodeId>,
}

impl OneLeader {
    /// `what` names what there must be one of.
    pub(super) fn new(what: &'static str) -> OneLeader {
        OneLeader {
            what,
            epochs: BTreeMap::new(),
        }
    }

    /// That node leads that epoch; whether it is news.
    pub(super) fn leads(&mut self, epoch: Epoch, id: NodeId) -> Result<bool, Violation> {
        match self.epochs.insert(epoch, id) {
            None => Ok(true),
            Some(known) if known == id => Ok(false),
            Some(known) => {
                let detail = format!(
                    "{known} and {id} are both {what} of epoch {epoch}",
                    what = self.what
                );
                Err(Violation::new("one leader an epoch", detail))
            }
        }
    }

    /// How many epochs were led.
    pub(super) fn len(&self) -> usize {
        self.epochs.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_leader_of_an_epoch_is_noticed() {
        let mut law = OneLeader::new("leader");
        assert_eq!(law.leads(Epoch(3), NodeId(1)), Ok(true));
        assert_eq!(law.leads(Epoch(3), NodeId(1)), Ok(false));
        assert_eq!(law.leads(Epoch(4), NodeId(2)), Ok(true));
        assert!(law.leads(Epoch(3), NodeId(2)).is_err());
    }
}
