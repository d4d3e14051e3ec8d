//! Following: one fetch at a time, whose answer either lengthens the log, cuts it, or points to a
//! snapshot; and telling the leader about this voter.
//!
//! A fetch acknowledges everything before its offset, so a controller sends it only when all of that
//! is durable. After a truncation every node waits until that is durable.

use quorate_types::{Epoch, KRaftVersion, Offset, OffsetAndEpoch, Voter};

use crate::answers::is_reachable;
use crate::calls::{Peer, Purpose, Readiness};
use crate::role::{Following, Partial, Role};
use crate::rpc::{FetchAnswer, FetchRequest, Fetched, Request, UpdateVoterRequest};
use crate::{Batch, CallId, DiskOp, Fatal, Raft, Source};

impl Raft {
    /// Without a leader: asks some server that may know one.
    pub(crate) fn fetch_from_anyone(&mut self) {
        if self.calls.fetching() || !self.may_fetch() {
            return;
        }
        let mut ready = Vec::new();
        for peer in self.well_known_peers() {
            if self.is_ready(peer) {
                ready.push(peer);
            }
        }
        if let Some(peer) = ready.get(self.rng.index(ready.len())) {
            self.send_fetch(*peer);
        }
    }

    /// The bootstrap servers, and the voters where there are none, or where no leader will come by
    /// itself: at an observer.
    fn well_known_peers(&self) -> Vec<Peer> {
        let servers = self.config.bootstrap_servers;
        let mut peers: Vec<Peer> = (0..servers).map(Peer::Bootstrap).collect();
        if servers == 0 || !self.is_voter() {
            peers.extend(self.other_voters().into_iter().map(Peer::Node));
        }
        peers
    }

    /// Keeps one request at the leader: an update of this voter if it is due, a piece of a snapshot
    /// if one is being fetched, else a fetch. While the leader is to be let alone, somebody else is
    /// asked whether it still leads.
    pub(crate) fn fetch_from_leader(&mut self) {
        let Some(leader) = self.election.leader else {
            return;
        };
        if self.calls.fetching() {
            return;
        }
        match self.calls.readiness(Peer::Node(leader), self.now) {
            Readiness::InFlight => {}
            Readiness::BackingOff { until } => {
                self.wake_at(until);
                self.fetch_from_anyone();
            }
            Readiness::Ready if self.tell_leader(Peer::Node(leader)) => {}
            Readiness::Ready if !self.may_fetch() => {}
            Readiness::Ready => match self.partial_snapshot() {
                Some(partial) => self.send_chunk_request(Peer::Node(leader), partial),
                None => self.send_fetch(Peer::Node(leader)),
            },
        }
    }

    /// Whether everything that a fetch would acknowledge is durable.
    fn may_fetch(&self) -> bool {
        let counts = self.config.controller || self.voters().contains(self.config.local);
        self.installing.is_none() && self.log.settled(counts)
    }

    fn send_fetch(&mut self, peer: Peer) {
        let last = self.log.last();
        // What the leader said, also where the disk has not followed yet: or it would say it again.
        let told = match &self.role {
            Role::Follower(following) => following.leader_hw,
            _ => None,
        };
        let wait = self.config.fetch_max_wait.as_millis();
        let fetch = FetchRequest {
            replica: Some(self.config.local),
            epoch: self.election.epoch,
            offset: last.offset,
            last_epoch: last.epoch,
            max_wait_ms: i32::try_from(wait).unwrap_or(i32::MAX),
            high_watermark: Offset(Offset::to_wire(self.high_watermark.max(told))),
        };
        let purpose = Purpose::Fetch {
            offset: last.offset,
        };
        self.call(peer, purpose, Request::Fetch(fetch));
    }

    /// Uses the answer of a leader to a fetch from `offset`.
    pub(crate) fn on_fetched(
        &mut self,
        call: CallId,
        peer: Peer,
        offset: Offset,
        answer: FetchAnswer,
    ) {
        let from_leader = answer.leadership.leader == self.election.leader;
        if !matches!(self.role, Role::Follower(_)) || !from_leader || offset != self.log.end() {
            return self.pause(peer);
        }
        match answer.body {
            Fetched::Diverging(theirs) => self.on_diverged(peer, theirs),
            Fetched::Snapshot(id) => self.on_snapshot_offered(peer, id),
            Fetched::Records(_) | Fetched::Nothing => {
                let batches = match answer.body {
                    Fetched::Records(batches) => batches,
                    _ => Vec::new(),
                };
                let taken = self.accept(call, &batches);
                // More is committed than is here, and yet nothing came: as useless as nonsense.
                let withheld = answer.high_watermark > Some(self.log.end());
                if taken == 0 && (answer.damaged || withheld || !batches.is_empty()) {
                    return self.pause(peer);
                }
                self.note_good_fetch(answer.high_watermark);
            }
        }
    }

    /// Appends the batches that continue this log, up to the first that does not. Returns how many.
    fn accept(&mut self, call: CallId, batches: &[Batch]) -> usize {
        let base = self.log.end();
        let mut taken = 0;
        for batch in batches {
            if !self.continues(batch) {
                break;
            }
            self.take_in(batch);
            taken += 1;
        }
        if taken > 0 {
            let seq = self.disk(DiskOp::Append {
                from: Source::Fetched(call),
                base,
                end: self.log.end(),
            });
            self.log.appending(seq);
        }
        taken
    }

    fn continues(&self, batch: &Batch) -> bool {
        batch.base == self.log.end()
            && batch.end > batch.base
            && is_reachable(batch.end)
            && batch.epoch >= self.log.last_epoch()
            && batch.epoch <= self.election.epoch
            && (batch.control.len() as i64) <= batch.end - batch.base
    }

    /// The leader answers.
    pub(crate) fn note_leader_alive(&mut self) {
        self.restart_fetch_timer();
        self.leaderless = None;
        if let Role::Follower(following) = &mut self.role {
            following.fetched = true;
        }
    }

    /// The leader answers, and this log is a prefix of its own.
    fn note_good_fetch(&mut self, leader_hw: Option<Offset>) {
        self.note_leader_alive();
        if let Role::Follower(following) = &mut self.role {
            following.leader_hw = following.leader_hw.max(leader_hw);
        }
        self.advance_high_watermark();
    }

    pub(crate) fn restart_fetch_timer(&mut self) {
        let fetch_at = self.now + self.config.fetch_timeout;
        if let Role::Follower(following) = &mut self.role {
            following.fetch_at = fetch_at;
        }
    }

    /// Cuts the tail that the leader's log does not have. The high watermark moves only after the
    /// next fetch: until then this log is not known to be a prefix.
    fn on_diverged(&mut self, peer: Peer, theirs: OffsetAndEpoch) {
        if theirs.offset.0 < 0 || theirs.epoch < Epoch(0) {
            return self.pause(peer);
        }
        let to = self.log.agreement_with(theirs);
        let committed = self.high_watermark.unwrap_or(self.log.start());
        if to < committed {
            return self.fail(Fatal::TruncatesCommitted { to, committed });
        }
        if to >= self.log.end() {
            return self.pause(peer);
        }
        let seq = self.disk(DiskOp::Truncate { end: to });
        self.log.truncate(to, seq);
        self.history.truncate(to);
        self.note_leader_alive();
    }

    fn partial_snapshot(&self) -> Option<Partial> {
        match &self.role {
            Role::Follower(following) => following.snapshot,
            _ => None,
        }
    }

    /// Tells the leader this voter's endpoints and versions if it is time and it does not know them;
    /// an observer that is to join asks for that instead. Returns whether a request went out.
    fn tell_leader(&mut self, leader: Peer) -> bool {
        let again = self.now + self.config.fetch_timeout;
        let Role::Follower(following) = &mut self.role else {
            return false;
        };
        if self.now < following.update_at {
            let at = following.update_at;
            if self.has_something_to_tell() {
                self.wake_at(at);
            }
            return false;
        }
        following.update_at = again;
        if !self.has_something_to_tell() {
            return false;
        }
        if !self.is_voter() {
            self.ask_to_join(leader);
            return true;
        }
        let update = UpdateVoterRequest {
            epoch: self.election.epoch,
            voter: self.config.local,
            endpoints: self.config.endpoints.clone(),
            kraft_versions: self.config.kraft_versions,
        };
        self.call(leader, Purpose::UpdateVoter, Request::UpdateVoter(update));
        true
    }

    fn has_something_to_tell(&self) -> bool {
        let Role::Follower(Following { updated, .. }) = &self.role else {
            return false;
        };
        if self.config.endpoints.is_empty() || !self.config.controller {
            return false;
        }
        let dynamic = self.kraft_version() > KRaftVersion::STATIC;
        match (self.is_voter(), dynamic) {
            (true, false) => !updated,
            (true, true) => self.own_entry_if_changed().is_some(),
            (false, _) => dynamic && self.config.auto_join,
        }
    }

    /// This node's entry as it should stand in the voter set, if it stands there otherwise.
    pub(crate) fn own_entry_if_changed(&self) -> Option<Voter> {
        let entry = self.voters().get(self.config.local.id)?;
        if !self.is_voter() || self.config.endpoints.is_empty() {
            return None;
        }
        let own = Voter {
            directory: entry.directory,
            endpoints: self.config.endpoints.clone(),
            kraft_versions: self.config.kraft_versions,
        };
        (own != *entry).then_some(own)
    }

    /// The leader took the update, or never will.
    pub(crate) fn on_updated(&mut self, settled: bool) {
        if settled {
            self.restart_fetch_timer();
        }
        if let Role::Follower(following) = &mut self.role {
            following.updated |= settled;
        }
    }
}
