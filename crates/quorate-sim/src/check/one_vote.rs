//! Law: a voter votes for one candidate an epoch, and its epoch never falls, whatever happens to it.

use std::collections::{BTreeMap, VecDeque};

use quorate_raft::{DiskSeq, ElectionState};
use quorate_types::{Epoch, NodeId};

use crate::violation::{Verdict, Violation};

/// The votes that nodes have on their disks.
#[derive(Debug, Default)]
pub(super) struct OneVote {
    votes: BTreeMap<(NodeId, Epoch), NodeId>,
    epochs: BTreeMap<NodeId, Epoch>,
    /// What the disks have not reported yet; a vote that never got there was never given.
    pending: BTreeMap<NodeId, VecDeque<(DiskSeq, ElectionState)>>,
}

impl OneVote {
    /// A process starts.
    pub(super) fn started(&mut self, id: NodeId) {
        self.pending.remove(&id);
    }

    /// A node wants that saved.
    pub(super) fn saves(&mut self, id: NodeId, seq: DiskSeq, state: &ElectionState) {
        self.pending.entry(id).or_default().push_back((seq, *state));
    }

    /// A node's disk has done everything up to there.
    pub(super) fn durable(&mut self, id: NodeId, upto: DiskSeq) -> Verdict {
        while let Some((seq, state)) = self.pending.get(&id).and_then(|pending| pending.front()) {
            if *seq > upto {
                break;
            }
            let state = *state;
            self.saved(id, &state)?;
            self.pending.entry(id).or_default().pop_front();
        }
        Ok(())
    }

    /// The vote of a node in an epoch, as its disk has it.
    pub(super) fn of(&self, id: NodeId, epoch: Epoch) -> Option<NodeId> {
        self.votes.get(&(id, epoch)).copied()
    }

    fn saved(&mut self, id: NodeId, state: &ElectionState) -> Verdict {
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

    fn save(law: &mut OneVote, seq: u64, epoch: i32, voted: Option<i32>) -> Verdict {
        let voted = voted.map(|id| ReplicaKey::new(NodeId(id), None));
        let state = ElectionState {
            epoch: Epoch(epoch),
            leader: None,
            voted,
        };
        law.saves(NodeId(1), DiskSeq(seq), &state);
        law.durable(NodeId(1), DiskSeq(seq))
    }

    #[test]
    fn a_second_vote_is_noticed_even_after_a_restart() {
        let mut law = OneVote::default();
        assert!(save(&mut law, 1, 4, Some(2)).is_ok());
        assert!(save(&mut law, 2, 4, None).is_ok());
        law.started(NodeId(1));
        assert!(save(&mut law, 1, 4, Some(3)).is_err());
    }

    #[test]
    fn a_vote_that_was_never_saved_does_not_count() {
        let mut law = OneVote::default();
        let voted = Some(ReplicaKey::new(NodeId(2), None));
        let state = ElectionState {
            epoch: Epoch(4),
            leader: None,
            voted,
        };
        law.saves(NodeId(1), DiskSeq(1), &state);
        law.started(NodeId(1));
        assert!(save(&mut law, 1, 4, Some(3)).is_ok());
    }

    #[test]
    fn an_epoch_never_falls() {
        let mut law = OneVote::default();
        assert!(save(&mut law, 1, 4, None).is_ok());
        assert!(save(&mut law, 2, 3, None).is_err());
    }
}
