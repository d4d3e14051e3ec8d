//! Answers to calls: what every answer teaches about epochs and leaders, before it is used for what
//! was asked.
//!
//! In order: (1) an answer of an older epoch, or from a peer that is behind, is ignored; (2) a larger
//! epoch, or an error that points elsewhere, is followed; (3) a leader that was not known is
//! followed, and the answer is used if it carries no error; (4) any other error lets the peer alone
//! for a while. Where Kafka ends its process over an answer that contradicts what it knows (a second
//! leader for an epoch, itself as a leader that it is not), it is ignored here: a stranger must not
//! harm a stable node.

use quorate_types::{Endpoint, Epoch, ErrorCode, NodeId, Offset};

use crate::calls::{Peer, Pending, Purpose};
use crate::role::Role;
use crate::rpc::{Answer, Leadership};
use crate::{CallError, CallId, Raft};

/// What a leadership named by a peer meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Learnt {
    /// It is older than what is known, or contradicts it.
    Ignored,
    /// Nothing new.
    Known,
    /// The node changed its epoch, its leader, or the way to it.
    News,
}

impl Raft {
    pub(crate) fn on_answer(&mut self, call: CallId, result: Result<Answer, CallError>) {
        let Some(pending) = self.calls.end(call) else {
            return;
        };
        match result {
            Ok(answer) if pending.current => self.on_current_answer(call, pending, answer),
            Ok(answer) => {
                let newer = |leadership: &&Leadership| leadership.epoch > self.election.epoch;
                if let Some(leadership) = answer.leadership().filter(newer).cloned() {
                    self.learn(&leadership);
                }
            }
            Err(error) if pending.current => self.on_call_failed(pending, error),
            Err(_) => {}
        }
    }

    fn on_call_failed(&mut self, pending: Pending, error: CallError) {
        self.pause(pending.peer);
        let unsupported = matches!(
            error,
            CallError::Unsupported | CallError::Refused(ErrorCode::UnsupportedVersion)
        );
        match pending.purpose {
            Purpose::PreVote if unsupported => self.on_pre_vote_unsupported(),
            Purpose::UpdateVoter if unsupported => self.on_updated(true),
            Purpose::Probe { voter } => self.on_probed(voter, None),
            _ => {}
        }
    }

    fn on_current_answer(&mut self, call: CallId, pending: Pending, answer: Answer) {
        let usable = match answer.leadership() {
            Some(leadership) => {
                let leadership = leadership.clone();
                self.heed(pending.peer, answer.error(), &leadership, pending.purpose)
            }
            None => true,
        };
        if !usable {
            return;
        }
        match (pending.purpose, answer) {
            (Purpose::PreVote | Purpose::Vote, Answer::Vote(reply)) => {
                self.on_vote_answered(pending.peer, pending.purpose, &reply);
            }
            (Purpose::Begin, Answer::BeginQuorumEpoch(_)) => {}
            (Purpose::End, Answer::EndQuorumEpoch(_)) => self.on_end_acknowledged(pending.peer),
            (Purpose::Fetch { offset }, Answer::Fetch(answer)) => {
                self.on_fetched(call, pending.peer, offset, answer);
            }
            (Purpose::Chunk { id, position }, Answer::FetchSnapshot(answer)) => {
                self.on_chunk(call, pending.peer, id, position, &answer);
            }
            (Purpose::UpdateVoter, Answer::UpdateVoter(reply)) => {
                self.on_updated(reply.error == ErrorCode::None);
            }
            (Purpose::AddVoter, Answer::AddVoter(_))
            | (Purpose::RemoveVoter, Answer::RemoveVoter(_)) => {}
            (Purpose::Probe { voter }, Answer::ProbeVersions(answer)) => {
                let usable = answer.error == ErrorCode::None;
                self.on_probed(voter, usable.then_some(answer.kraft_versions));
            }
            // An answer of another kind than the call: the peer, or the driver, is confused.
            _ => self.pause(pending.peer),
        }
    }

    /// Follows what the answer says about the leadership. Returns whether its rest may be used.
    fn heed(
        &mut self,
        peer: Peer,
        error: ErrorCode,
        leadership: &Leadership,
        purpose: Purpose,
    ) -> bool {
        let behind = leadership.epoch < self.election.epoch;
        if behind || error == ErrorCode::UnknownLeaderEpoch {
            self.pause(peer);
            return false;
        }
        let elsewhere = matches!(
            error,
            ErrorCode::FencedLeaderEpoch | ErrorCode::NotLeaderOrFollower
        );
        let ahead = leadership.epoch > self.election.epoch;
        let learnt = self.learn(leadership);
        if ahead || elsewhere {
            if learnt != Learnt::News {
                self.pause(peer);
            }
            return false;
        }
        let tolerated = match purpose {
            Purpose::Chunk { .. } => error == ErrorCode::SnapshotNotFound,
            Purpose::UpdateVoter => error == ErrorCode::UnsupportedVersion,
            _ => false,
        };
        if error != ErrorCode::None && !tolerated {
            self.pause(peer);
            return false;
        }
        true
    }

    /// Takes in an epoch and its leader as a peer names them.
    pub(crate) fn learn(&mut self, theirs: &Leadership) -> Learnt {
        let known = self.election;
        let local = self.config.local.id;
        if theirs.epoch < known.epoch || !is_possible(theirs.epoch) {
            return Learnt::Ignored;
        }
        let named = theirs.leader;
        if named == Some(local) && theirs.epoch == known.epoch && known.leader != named {
            return Learnt::Ignored;
        }
        if theirs.epoch > known.epoch {
            match named {
                Some(leader) if leader != local && self.is_routable(leader, &theirs.endpoints) => {
                    self.become_follower(theirs.epoch, leader, theirs.endpoints.clone());
                }
                _ => self.become_unattached(theirs.epoch, named),
            }
            return Learnt::News;
        }
        let Some(leader) = named else {
            return Learnt::Known;
        };
        if known.leader.is_some_and(|known| known != leader) {
            return Learnt::Ignored;
        }
        self.learn_leader_of_own_epoch(leader, theirs)
    }

    fn learn_leader_of_own_epoch(&mut self, leader: NodeId, theirs: &Leadership) -> Learnt {
        let local = self.config.local.id;
        let more_endpoints = theirs.endpoints.len() > self.leader_endpoints().len();
        match self.role {
            Role::Leader(_) | Role::Resigned(_) => Learnt::Known,
            Role::Follower(_) | Role::Prospective(_) if self.election.leader.is_some() => {
                if more_endpoints {
                    self.leader_endpoints = theirs.endpoints.clone();
                    return Learnt::News;
                }
                Learnt::Known
            }
            _ if leader != local && self.is_routable(leader, &theirs.endpoints) => {
                self.become_follower(self.election.epoch, leader, theirs.endpoints.clone());
                Learnt::News
            }
            _ => {
                if self.election.leader.is_none() {
                    self.election.leader = Some(leader);
                    self.save_election();
                }
                Learnt::Known
            }
        }
    }

    /// Whether the leader can be called: it said where it listens, or the voter set does.
    pub(crate) fn is_routable(&self, leader: NodeId, endpoints: &[Endpoint]) -> bool {
        !endpoints.is_empty() || self.voters().contains_id(leader)
    }
}

/// Whether an epoch can have been reached by elections; adopting the largest numbers would leave no
/// room for the next election.
pub(crate) fn is_possible(epoch: Epoch) -> bool {
    epoch <= Epoch(i32::MAX / 2)
}

/// Whether an offset can have been reached by appends; beyond, arithmetic would run over.
pub(crate) fn is_reachable(offset: Offset) -> bool {
    (Offset::ZERO..=Offset(i64::MAX / 2)).contains(&offset)
}
