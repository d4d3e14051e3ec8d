//! Beginnings and endings of epochs: a leader's announcement, and its farewell that tells the voters
//! in which order to campaign.

use std::time::Duration;

use quorate_types::{Endpoint, Epoch, ErrorCode, NodeId, ReplicaKey};

use crate::answers::Learnt;
use crate::calls::{Peer, Purpose};
use crate::role::Role;
use crate::rpc::{BeginRequest, EndRequest, EpochReply, Leadership, Reply, Request};
use crate::{Raft, RequestId};

impl Raft {
    /// A leader announces itself. In order: (1) an older epoch; (2) no leader; (3) it is followed;
    /// (4) addressed to another.
    pub(crate) fn on_begin(&mut self, from: RequestId, begin: BeginRequest) {
        let error = match self.heed_leader(begin.leader, begin.epoch, begin.endpoints) {
            Err(error) => error,
            Ok(()) if !self.is_addressed(begin.voter) => ErrorCode::InvalidVoterKey,
            Ok(()) => ErrorCode::None,
        };
        let leadership = self.leadership();
        self.reply(
            from,
            Reply::BeginQuorumEpoch(EpochReply { error, leadership }),
        );
    }

    /// A leader gives up. In order: (1) an older epoch; (2) no leader; (3) it is followed, as its
    /// epoch is still the one of the moment; (4) this node campaigns when its turn has come.
    pub(crate) fn on_end(&mut self, from: RequestId, end: EndRequest) {
        let error = match self.heed_leader(end.leader, end.epoch, end.endpoints) {
            Err(error) => error,
            Ok(()) => {
                self.take_turn(end.leader, &end.successors);
                ErrorCode::None
            }
        };
        let leadership = self.leadership();
        self.reply(
            from,
            Reply::EndQuorumEpoch(EpochReply { error, leadership }),
        );
    }

    /// Follows the leader that a request names as its sender.
    fn heed_leader(
        &mut self,
        leader: NodeId,
        epoch: Epoch,
        endpoints: Vec<Endpoint>,
    ) -> Result<(), ErrorCode> {
        if epoch < self.election.epoch {
            return Err(ErrorCode::FencedLeaderEpoch);
        }
        if leader < NodeId(0) {
            return Err(ErrorCode::InvalidRequest);
        }
        let named = Leadership {
            epoch,
            leader: Some(leader),
            endpoints,
        };
        match self.learn(&named) {
            // A second leader for the epoch, or this node itself: whoever says so is confused.
            Learnt::Ignored => Err(ErrorCode::UnknownServerError),
            Learnt::Known | Learnt::News => Ok(()),
        }
    }

    /// Lets the fetch timer run out when it is this node's turn to campaign.
    fn take_turn(&mut self, leader: NodeId, successors: &[ReplicaKey]) {
        if !matches!(self.role, Role::Follower(_)) || self.election.leader != Some(leader) {
            return;
        }
        let local = self.config.local;
        let position = successors.iter().position(|key| key.matches(local));
        let pause = turn(position, successors.len(), self.config.max_backoff);
        self.leaderless = Some(self.election.epoch);
        if let Role::Follower(following) = &mut self.role {
            following.fetch_at = self.now + pause;
        }
    }

    /// Tells each voter that has not acknowledged it yet that the epoch is over.
    pub(crate) fn send_ends(&mut self) {
        for id in self.other_voters() {
            let Role::Resigned(resigned) = &self.role else {
                return;
            };
            if resigned.acknowledged.contains(&id) {
                continue;
            }
            let end = EndRequest {
                leader: self.config.local.id,
                epoch: self.election.epoch,
                successors: resigned.successors.clone(),
                endpoints: self.config.endpoints.clone(),
            };
            if self.is_ready(Peer::Node(id)) {
                self.call(Peer::Node(id), Purpose::End, Request::EndQuorumEpoch(end));
            }
        }
    }

    pub(crate) fn on_end_acknowledged(&mut self, peer: Peer) {
        if let (Peer::Node(id), Role::Resigned(resigned)) = (peer, &mut self.role) {
            resigned.acknowledged.insert(id);
        }
    }
}

/// How long the voter at a position of the list lets those before it try: not at all at the head or
/// if nobody is listed, then doubling up to `max`, which also holds for those not listed.
fn turn(position: Option<usize>, listed: usize, max: Duration) -> Duration {
    if listed == 0 {
        return Duration::ZERO;
    }
    match position {
        Some(0) => Duration::ZERO,
        Some(position) => {
            let halvings = u32::try_from(listed - position).unwrap_or(u32::MAX);
            max.checked_div(2u32.saturating_pow(halvings))
                .unwrap_or_default()
        }
        None => max,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn successors_take_turns_by_doubling_pauses() {
        let max = Duration::from_millis(1000);
        let ms = |position, listed| turn(position, listed, max).as_millis();
        assert_eq!(ms(None, 0), 0, "a leader that restarted lists nobody");
        assert_eq!(ms(Some(0), 3), 0);
        assert_eq!((ms(Some(1), 3), ms(Some(2), 3)), (250, 500));
        assert_eq!(ms(Some(1), 2), 500);
        assert_eq!(ms(None, 3), 1000);
        assert_eq!(ms(Some(1), 200), 0, "far from the end of a long list");
    }
}
