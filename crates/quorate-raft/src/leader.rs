//! What a leader knows of its replicas, and the two conclusions it draws: the high watermark, and
//! whether it still has a majority. Pure bookkeeping; what is done about it stands in `lead`.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use quorate_types::{Endpoint, MonoTime, NodeId, Offset, ReplicaKey, VersionRange, VoterSet};

use crate::membership::Change;

/// Far more brokers than a cluster has.
const MAX_REPLICAS: usize = 10_000;

/// How far a replica is, by its own fetches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Progress {
    /// The end of its log; what it acknowledges.
    pub(crate) end: Option<Offset>,
    pub(crate) last_fetch: Option<MonoTime>,
    /// When it last had everything.
    pub(crate) caught_up: Option<MonoTime>,
    /// The leader's end at its last fetch.
    leader_end: Option<Offset>,
}

/// What a voter told the leader about itself (kraft.version 0).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reported {
    pub(crate) voter: ReplicaKey,
    pub(crate) endpoints: Vec<Endpoint>,
    pub(crate) kraft_versions: VersionRange,
}

/// The state of a leader.
#[derive(Debug)]
pub(crate) struct Leading {
    /// Where the epoch begins in the log.
    pub(crate) epoch_start: Offset,
    /// What a majority has, once that reaches into this epoch.
    pub(crate) high_watermark: Option<Offset>,
    /// Every replica that fetched, voters and observers; a static voter without its directory.
    progress: BTreeMap<ReplicaKey, Progress>,
    /// The voters heard from since the timer was last set.
    heard: BTreeSet<NodeId>,
    check_at: MonoTime,
    swept_at: MonoTime,
    /// When each voter is to be told (again) who leads.
    begin_at: BTreeMap<NodeId, MonoTime>,
    pub(crate) reported: BTreeMap<NodeId, Reported>,
    /// The voter change under way.
    pub(crate) change: Option<Change>,
}

impl Leading {
    /// A leader that begins at `epoch_start` and has heard from nobody.
    pub(crate) fn new(epoch_start: Offset, check_at: MonoTime) -> Leading {
        Leading {
            epoch_start,
            high_watermark: None,
            progress: BTreeMap::new(),
            heard: BTreeSet::new(),
            check_at,
            swept_at: MonoTime::ZERO,
            begin_at: BTreeMap::new(),
            reported: BTreeMap::new(),
            change: None,
        }
    }

    /// Credits a fetch from `end` by a replica whose log is a prefix of the leader's. Observers
    /// beyond a limit are not kept in mind.
    pub(crate) fn fetched(
        &mut self,
        now: MonoTime,
        replica: ReplicaKey,
        end: Offset,
        leader_end: Offset,
    ) {
        if self.progress.len() >= MAX_REPLICAS && !self.progress.contains_key(&replica) {
            return;
        }
        if replica.directory.is_some() {
            // It may have been known by its id alone before the voters moved into the log.
            self.progress.remove(&ReplicaKey::new(replica.id, None));
        }
        let progress = self.progress.entry(replica).or_default();
        if end >= leader_end {
            progress.caught_up = Some(now);
        } else if progress.leader_end.is_some_and(|before| end >= before) {
            progress.caught_up = progress.caught_up.max(progress.last_fetch);
        }
        progress.end = Some(end);
        progress.last_fetch = Some(now);
        progress.leader_end = Some(leader_end);
    }

    /// Notes a sign of life of a voter; restarts the timer once a majority, the leader included if it
    /// is a voter, gave one. Postpones telling that voter who leads.
    pub(crate) fn heard(
        &mut self,
        now: MonoTime,
        from: NodeId,
        local: NodeId,
        voters: &VoterSet,
        timeout: Duration,
    ) {
        if from != local && voters.contains_id(from) {
            self.heard.insert(from);
        }
        let own = usize::from(voters.contains_id(local));
        let others = self
            .heard
            .iter()
            .filter(|id| voters.contains_id(**id))
            .count();
        if others + own >= voters.majority() {
            self.heard.clear();
            self.check_at = now + timeout;
        }
    }

    /// Gives the voters of a new set a whole period to be heard in: with one voter nobody was.
    pub(crate) fn restart_check(&mut self, check_at: MonoTime) {
        self.heard.clear();
        self.check_at = check_at;
    }

    pub(crate) fn check_at(&self) -> MonoTime {
        self.check_at
    }

    /// When that voter is to be told who leads; at once if it never was.
    pub(crate) fn begin_due(&self, voter: NodeId) -> MonoTime {
        self.begin_at.get(&voter).copied().unwrap_or(MonoTime::ZERO)
    }

    pub(crate) fn postpone_begin(&mut self, voter: NodeId, until: MonoTime) {
        self.begin_at.insert(voter, until);
    }

    /// What is known of a replica, by the key that the voter set has for it.
    pub(crate) fn progress_of(&self, replica: ReplicaKey) -> Progress {
        self.progress.get(&replica).copied().unwrap_or_default()
    }

    /// All replicas that fetched, ascending.
    pub(crate) fn replicas(&self) -> impl Iterator<Item = (ReplicaKey, Progress)> + '_ {
        self.progress
            .iter()
            .map(|(key, progress)| (*key, *progress))
    }

    /// Forgets the observers that have been silent for `timeout`; looks only now and then.
    pub(crate) fn forget_observers(&mut self, now: MonoTime, timeout: Duration, voters: &VoterSet) {
        if now.since(self.swept_at) < timeout / 10 {
            return;
        }
        self.swept_at = now;
        let before = now - timeout;
        self.progress.retain(|key, progress| {
            voters.contains(*key) || progress.last_fetch.is_some_and(|at| at >= before)
        });
    }

    /// What a majority has on disk, and this node as well, if that lies in this epoch.
    pub(crate) fn majority_end(
        &self,
        local: ReplicaKey,
        durable_end: Offset,
        voters: &VoterSet,
    ) -> Option<Offset> {
        let own = voters.contains(local);
        let ends = voters.keys().map(|key| {
            if own && key.id == local.id {
                Some(durable_end)
            } else {
                self.progress_of(key).end
            }
        });
        majority_end(ends.collect())
            .map(|end| end.min(durable_end))
            .filter(|end| *end > self.epoch_start)
    }
}

/// The largest end that a majority has reached; unknown ends count as nothing.
fn majority_end(mut ends: Vec<Option<Offset>>) -> Option<Offset> {
    ends.sort_unstable_by(|a, b| b.cmp(a));
    ends.get(ends.len() / 2).copied().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(of: &[i64]) -> Vec<Option<Offset>> {
        of.iter().map(|end| Offset::from_wire(*end)).collect()
    }

    #[test]
    fn the_majoritys_end() {
        let cases: [(&[i64], Option<i64>); 6] = [
            (&[7], Some(7)),
            (&[7, -1], None),
            (&[7, 5], Some(5)),
            (&[7, 5, -1], Some(5)),
            (&[9, 7, 5, 3], Some(5)),
            (&[], None),
        ];
        for (of, expected) in cases {
            assert_eq!(majority_end(ends(of)), expected.map(Offset), "{of:?}");
        }
    }

    #[test]
    fn a_replica_caught_up_when_it_reached_the_end_of_its_fetch_before() {
        let key = ReplicaKey::new(NodeId(2), None);
        let mut leading = Leading::new(Offset(0), MonoTime(0));
        leading.fetched(MonoTime(1), key, Offset(0), Offset(5));
        assert_eq!(leading.progress_of(key).caught_up, None);
        leading.fetched(MonoTime(2), key, Offset(5), Offset(9));
        assert_eq!(leading.progress_of(key).caught_up, Some(MonoTime(1)));
        leading.fetched(MonoTime(3), key, Offset(9), Offset(9));
        assert_eq!(leading.progress_of(key).caught_up, Some(MonoTime(3)));
    }

    #[test]
    fn the_timer_restarts_only_when_a_majority_was_heard() {
        let voters = VoterSet::of_ids([1, 2, 3, 4, 5]);
        let mut leading = Leading::new(Offset(0), MonoTime(10));
        let timeout = Duration::from_micros(10);
        for (at, from) in [(1, 2), (2, 2), (3, 9), (4, 1)] {
            leading.heard(MonoTime(at), NodeId(from), NodeId(1), &voters, timeout);
            assert_eq!(leading.check_at(), MonoTime(10), "{from} at {at}");
        }
        leading.heard(MonoTime(5), NodeId(3), NodeId(1), &voters, timeout);
        assert_eq!(leading.check_at(), MonoTime(15));
        let others = voters.without(NodeId(1));
        for (at, from) in [(6, 2), (7, 3)] {
            leading.heard(MonoTime(at), NodeId(from), NodeId(1), &others, timeout);
            assert_eq!(
                leading.check_at(),
                MonoTime(15),
                "a leader outside the set does not count"
            );
        }
        leading.heard(MonoTime(8), NodeId(4), NodeId(1), &others, timeout);
        assert_eq!(leading.check_at(), MonoTime(18));
    }
}
