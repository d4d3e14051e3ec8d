//! Counting votes: pure arithmetic over a voter set.

use std::collections::BTreeSet;

use quorate_types::{NodeId, VoterSet};

/// The answers of an election so far.
#[derive(Debug, Clone, Default)]
pub(crate) struct Votes {
    granted: BTreeSet<NodeId>,
    rejected: BTreeSet<NodeId>,
}

impl Votes {
    /// An election in which `own` votes for itself.
    pub(crate) fn of(own: NodeId) -> Votes {
        Votes {
            granted: BTreeSet::from([own]),
            rejected: BTreeSet::new(),
        }
    }

    /// Counts an answer; the first of each voter stands.
    pub(crate) fn count(&mut self, voter: NodeId, granted: bool) {
        if self.is_counted(voter) {
            return;
        }
        if granted {
            self.granted.insert(voter);
        } else {
            self.rejected.insert(voter);
        }
    }

    pub(crate) fn is_counted(&self, voter: NodeId) -> bool {
        self.granted.contains(&voter) || self.rejected.contains(&voter)
    }

    /// Whether a majority of the set gave its vote.
    pub(crate) fn won(&self, voters: &VoterSet) -> bool {
        self.granting(voters).count() >= voters.majority()
    }

    /// Whether so many denied it that no majority is left.
    pub(crate) fn lost(&self, voters: &VoterSet) -> bool {
        let denied = voters.ids().filter(|id| self.rejected.contains(id)).count();
        voters.len() - denied < voters.majority()
    }

    /// The voters of the set that gave their vote, ascending.
    pub(crate) fn granting<'a>(
        &'a self,
        voters: &'a VoterSet,
    ) -> impl Iterator<Item = NodeId> + 'a {
        voters.ids().filter(|id| self.granted.contains(id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_majority_wins_and_its_impossibility_loses() {
        let voters = VoterSet::of_ids([1, 2, 3, 4]);
        let mut votes = Votes::of(NodeId(1));
        votes.count(NodeId(9), true);
        votes.count(NodeId(2), true);
        assert!(!votes.won(&voters), "two of four, and a stranger");
        votes.count(NodeId(3), false);
        votes.count(NodeId(3), true);
        assert!(!votes.won(&voters), "the first answer stands");
        assert!(!votes.lost(&voters));
        votes.count(NodeId(4), false);
        assert!(votes.lost(&voters));
    }
}
