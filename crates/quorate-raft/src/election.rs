//! Elections: giving votes, asking for them, counting them, and the timers of those who wait.

use quorate_types::{Epoch, ErrorCode, MonoTime, NodeId, ReplicaKey};

use crate::answers::is_possible;
use crate::calls::{Peer, Purpose};
use crate::leader::Leading;
use crate::role::{Role, RoleName};
use crate::rpc::{Reply, Request, VoteReply, VoteRequest};
use crate::{Raft, RequestId};

impl Raft {
    /// Gives or denies a vote. In order: (1) numbers out of range; (2) an older epoch; (3) no
    /// candidate; (4) a larger epoch is adopted; (5) addressed to another; (6) the vote itself, which
    /// is on disk before the answer goes out.
    pub(crate) fn on_vote(&mut self, from: RequestId, vote: &VoteRequest) {
        let (error, granted) = match self.check_vote(vote) {
            Err(error) => (error, false),
            Ok(()) => {
                let granted = self.would_grant(vote);
                if granted && !vote.pre_vote {
                    self.grant(vote.candidate);
                }
                (ErrorCode::None, granted)
            }
        };
        let leadership = self.leadership();
        let reply = VoteReply {
            error,
            leadership,
            granted,
        };
        self.reply(from, Reply::Vote(reply));
    }

    fn check_vote(&mut self, vote: &VoteRequest) -> Result<(), ErrorCode> {
        let last_epoch_possible = if vote.pre_vote {
            vote.last.epoch <= vote.epoch
        } else {
            vote.last.epoch < vote.epoch
        };
        let possible = last_epoch_possible && is_possible(vote.epoch);
        if vote.last.offset.0 < 0 || vote.last.epoch < Epoch(0) || !possible {
            return Err(ErrorCode::InvalidRequest);
        }
        if vote.epoch < self.election.epoch {
            return Err(ErrorCode::FencedLeaderEpoch);
        }
        if vote.candidate.id < NodeId(0) {
            return Err(ErrorCode::InvalidRequest);
        }
        if vote.epoch > self.election.epoch {
            self.become_unattached(vote.epoch, None);
        }
        if !self.is_addressed(vote.voter) {
            return Err(ErrorCode::InvalidVoterKey);
        }
        Ok(())
    }

    /// Whether the candidate gets the vote in the state of the moment; its epoch is this node's.
    fn would_grant(&self, vote: &VoteRequest) -> bool {
        if vote.candidate.id == self.config.local.id {
            return false;
        }
        let up_to_date = vote.last >= self.log.last();
        if vote.pre_vote {
            return up_to_date
                && match &self.role {
                    Role::Leader(_) => false,
                    Role::Follower(following) => !following.fetched || self.is_leaderless(),
                    _ => true,
                };
        }
        match (&self.role, self.election.voted) {
            (Role::Unattached { .. } | Role::Prospective(_), Some(voted)) => {
                voted.matches(vote.candidate)
            }
            (Role::Unattached { .. } | Role::Prospective(_), None) => {
                self.election.leader.is_none() && up_to_date
            }
            _ => false,
        }
    }

    /// Writes the vote down and gives the candidate time.
    fn grant(&mut self, candidate: ReplicaKey) {
        let again = self.draw_election_timeout();
        match &mut self.role {
            Role::Unattached { election_at } => *election_at = again,
            Role::Prospective(nominee) => nominee.election_at = again,
            _ => {}
        }
        if self.election.voted != Some(candidate) {
            self.election.voted = Some(candidate);
            self.save_election();
        }
    }

    /// Whether the leader of this epoch is known to be gone or to have given up.
    pub(crate) fn is_leaderless(&self) -> bool {
        self.leaderless == Some(self.election.epoch)
    }

    /// Asks every voter that has not answered yet.
    pub(crate) fn ask_for_votes(&mut self) {
        let pre_vote = matches!(self.role, Role::Prospective(_));
        let purpose = if pre_vote {
            Purpose::PreVote
        } else {
            Purpose::Vote
        };
        for id in self.other_voters() {
            if self.votes_counted(id) || !self.is_ready(Peer::Node(id)) {
                continue;
            }
            let directory = self.voters().get(id).and_then(|voter| voter.directory);
            let request = VoteRequest {
                voter: Some(ReplicaKey::new(id, directory)),
                candidate: self.config.local,
                epoch: self.election.epoch,
                last: self.log.last(),
                pre_vote,
            };
            self.call(Peer::Node(id), purpose, Request::Vote(request));
        }
    }

    fn votes_counted(&self, voter: NodeId) -> bool {
        match &self.role {
            Role::Prospective(nominee) | Role::Candidate(nominee) => {
                nominee.votes.is_counted(voter)
            }
            _ => true,
        }
    }

    /// Counts an answer to a question that the state of the moment asked.
    ///
    /// A voter that denies because it still follows a leader that is known here to be gone will know
    /// better soon: it is asked again.
    pub(crate) fn on_vote_answered(&mut self, peer: Peer, purpose: Purpose, reply: &VoteReply) {
        let Peer::Node(voter) = peer else { return };
        let follows = reply.leadership.leader.is_some() && !reply.granted;
        if purpose == Purpose::PreVote && follows && self.is_leaderless() {
            let again = self.now + self.config.death_stagger;
            return self.calls.pause(peer, again);
        }
        match (&mut self.role, purpose) {
            (Role::Prospective(nominee), Purpose::PreVote)
            | (Role::Candidate(nominee), Purpose::Vote) => {
                nominee.votes.count(voter, reply.granted);
            }
            _ => return,
        }
        self.count_votes();
    }

    /// Draws the conclusion from the votes counted so far.
    pub(crate) fn count_votes(&mut self) {
        let voters = self.history.voters();
        match &self.role {
            Role::Prospective(nominee) if nominee.votes.won(voters) => self.become_candidate(),
            Role::Prospective(nominee) if nominee.votes.lost(voters) => self.give_up_pre_vote(),
            Role::Candidate(nominee) if nominee.votes.won(voters) => {
                let granting = nominee.votes.granting(voters).collect();
                self.become_leader(granting);
            }
            _ => {}
        }
    }

    /// A peer cannot answer pre-votes: without them the old way is the only one.
    pub(crate) fn on_pre_vote_unsupported(&mut self) {
        if self.role.name() == RoleName::Prospective {
            self.become_candidate();
        }
    }

    /// Back to the leader that was there before, or to looking for one.
    fn give_up_pre_vote(&mut self) {
        let epoch = self.election.epoch;
        let endpoints = self.leader_endpoints();
        match self.election.leader {
            Some(leader)
                if leader != self.config.local.id && self.is_routable(leader, &endpoints) =>
            {
                self.become_follower(epoch, leader, endpoints);
            }
            leader => self.become_unattached(epoch, leader),
        }
    }

    /// Fires the timer of the role if it is due. Returns whether the state changed.
    pub(crate) fn expire_role(&mut self) -> bool {
        if self.role_expiry().is_none_or(|at| self.now < at) {
            return false;
        }
        let campaigns = self.may_campaign();
        match &self.role {
            Role::Unattached { .. } | Role::Follower(_) | Role::Candidate(_) if campaigns => {
                self.become_prospective();
            }
            Role::Prospective(_) => self.give_up_pre_vote(),
            Role::Resigned(_) => self.become_unattached(self.election.epoch.next(), None),
            Role::Leader(_) => self.become_resigned(),
            _ => {
                self.restart_timer();
                return false;
            }
        }
        true
    }

    /// When the state of the moment ends by itself, if it does.
    pub(crate) fn role_expiry(&self) -> Option<MonoTime> {
        match &self.role {
            Role::Leader(leading) => self.leader_expiry(leading),
            Role::Resigned(_) if self.stopping.is_some() => None,
            role => Some(role.expires()),
        }
    }

    /// A leader steps down when no majority fetches any more or when its disk hangs. A sole voter
    /// would have nobody to yield to.
    fn leader_expiry(&self, leading: &Leading) -> Option<MonoTime> {
        if self.stopping.is_some() {
            return Some(self.now);
        }
        if self.other_voters().is_empty() {
            return None;
        }
        let timeout = self.config.check_quorum_timeout();
        let hangs_at = self.disk.busy_since().map(|since| since + timeout);
        Some(hangs_at.map_or(leading.check_at(), |at| at.min(leading.check_at())))
    }

    /// An observer's timer has no effect; it runs on in case the node becomes a voter.
    fn restart_timer(&mut self) {
        let election = self.draw_election_timeout();
        let fetch = self.now + self.config.fetch_timeout;
        match &mut self.role {
            Role::Unattached { election_at } => *election_at = election,
            Role::Candidate(nominee) => nominee.election_at = election,
            Role::Follower(following) => following.fetch_at = fetch,
            Role::Prospective(_) | Role::Resigned(_) | Role::Leader(_) => {}
        }
    }

    /// A process is gone. If it led, its followers do not wait for their fetch timeout: each asks
    /// after a pause by its rank among the remaining voters, so that the first usually wins alone.
    pub(crate) fn on_peer_down(&mut self, node: NodeId) {
        if self.election.leader != Some(node) || node == self.config.local.id {
            return;
        }
        self.leaderless = Some(self.election.epoch);
        let local = self.config.local.id;
        let remaining = self.voters().ids().filter(|id| *id != node);
        let rank = remaining.take_while(|id| *id < local).count() as u32;
        let stagger = self.config.death_stagger;
        let jitter = self.rng.duration(stagger / 10, stagger / 2);
        let campaign_at = self.now + stagger * rank + jitter;
        if let Role::Follower(following) = &mut self.role {
            following.fetch_at = following.fetch_at.min(campaign_at);
        }
    }
}
