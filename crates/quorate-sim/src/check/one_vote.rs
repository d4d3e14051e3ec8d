//! Law: a voter votes for one candidate an epoch, and its epoch never falls, whatever happens to it.

use std::collections::BTreeMap;

use quorate_raft::ElectionState;
use quorate_types::{Epoch, NodeId};

use crate::violation::{Verdict, Violation};

/// The votes that nodes wanted to be on their disks.
#[derive(Debug, Default)]
pub(super) struct OneVote {
    votes: BTreeMap<(NodeId, Epoch), NodeId>,
    epochs: BTreeMap<NodeId, Epoch>,
}

impl OneVote {
    /// A process that starts may find an older epoch than the one that its disk never took.
    pub(super) fn started(&mut self, id: NodeId) {
        self.epochs.remove(&id);
    }

    /// A node saves that.
    pub(super) fn saves(&mut self, id: NodeId, state: &ElectionState) -> Verdict {
        let law = "one vote an epoch";
        if let Some(before) = self.epochs.insert(id, state.epoch)
            && before > state.epoch
        {
            let detail = format!("{id} goes from epoch {before} back to {}", state.epoch);
            return Err(Violation::new(law, detail));
        }
        // The file of a static quorum names no directory, so that one votes for ids there.
        let Some(vote) = state.voted.map(|key| key.id) else {
            return Ok(());
        };
        match self.votes.insert((id, state.epoch), vote) {
            Some(before) if before != vote => {
                let detail = format!("{id} votes for {before} and {vote} in {}", state.epoch);
                Err(Violation::new(law, detail))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use quorate_types::ReplicaKey;

    use super::*;

    fn state(epoch: i32, voted: Option<i32>) -> ElectionState {
        let voted = voted.map(|id| ReplicaKey::new(NodeId(id), None));
        ElectionState {
            epoch: Epoch(epoch),
            leader: None,
            voted,
        }
    }

    #[test]
    fn a_second_vote_is_noticed_even_after_a_restart() {
        let mut law = OneVote::default();
        assert!(law.saves(NodeId(1), &state(4, Some(2))).is_ok());
        assert!(law.saves(NodeId(1), &state(4, None)).is_ok());
        law.started(NodeId(1));
        assert!(law.saves(NodeId(1), &state(4, Some(3))).is_err());
    }

    #[test]
    fn an_epoch_may_fall_only_with_the_process() {
        let mut law = OneVote::default();
        assert!(law.saves(NodeId(1), &state(4, None)).is_ok());
        assert!(law.saves(NodeId(1), &state(3, None)).is_err());
    }
}
