//! Calls to peers: which is under way, who must not be asked again yet.
//!
//! A peer has at most one call under way for the role of the moment. A change of role forgets the
//! calls of the role before; their answers still come, and are good only for learning an epoch.

use std::collections::BTreeMap;

use quorate_types::{MonoTime, NodeId, Offset, OffsetAndEpoch, ReplicaKey};

use crate::CallId;

/// Someone who can be called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Peer {
    Node(NodeId),
    Bootstrap(usize),
}

/// What a call asks, as far as its answer needs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    PreVote,
    Vote,
    Begin,
    End,
    Fetch { offset: Offset },
    Chunk { id: OffsetAndEpoch, position: u64 },
    AddVoter,
    RemoveVoter,
    UpdateVoter,
    Probe { voter: ReplicaKey },
}

impl Purpose {
    /// Only one of these is under way over all peers.
    fn is_fetch(self) -> bool {
        matches!(self, Purpose::Fetch { .. } | Purpose::Chunk { .. })
    }
}

/// A call under way.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pending {
    pub(crate) peer: Peer,
    pub(crate) purpose: Purpose,
    /// Whether the role that made it is still the one of the moment.
    pub(crate) current: bool,
}

/// Why a peer cannot be called now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Readiness {
    Ready,
    InFlight,
    BackingOff { until: MonoTime },
}

/// All calls under way, and the pauses of peers.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    last: u64,
    pending: BTreeMap<CallId, Pending>,
    pauses: BTreeMap<Peer, MonoTime>,
}

impl Calls {
    /// Starts a call.
    pub(crate) fn start(&mut self, peer: Peer, purpose: Purpose) -> CallId {
        self.last += 1;
        let id = CallId(self.last);
        self.pending.insert(
            id,
            Pending {
                peer,
                purpose,
                current: true,
            },
        );
        id
    }

    /// Ends a call; `None` if it was never started or ended before.
    pub(crate) fn end(&mut self, call: CallId) -> Option<Pending> {
        self.pending.remove(&call)
    }

    /// Lets a peer alone until then.
    pub(crate) fn pause(&mut self, peer: Peer, until: MonoTime) {
        self.pauses.insert(peer, until);
    }

    /// Forgets the calls of the role before and all pauses.
    pub(crate) fn reset(&mut self) {
        for pending in self.pending.values_mut() {
            pending.current = false;
        }
        self.pauses.clear();
    }

    /// Whether the peer can be called.
    pub(crate) fn readiness(&self, peer: Peer, now: MonoTime) -> Readiness {
        if self.current().any(|pending| pending.peer == peer) {
            return Readiness::InFlight;
        }
        match self.pauses.get(&peer) {
            Some(until) if *until > now => Readiness::BackingOff { until: *until },
            _ => Readiness::Ready,
        }
    }

    /// Whether a fetch, of records or of a snapshot, is under way.
    pub(crate) fn fetching(&self) -> bool {
        self.current().any(|pending| pending.purpose.is_fetch())
    }

    fn current(&self) -> impl Iterator<Item = &Pending> {
        self.pending.values().filter(|pending| pending.current)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reset_frees_the_peers_but_keeps_the_calls() {
        let mut calls = Calls::default();
        let peer = Peer::Node(NodeId(2));
        let call = calls.start(peer, Purpose::Fetch { offset: Offset(3) });
        assert_eq!(calls.readiness(peer, MonoTime(0)), Readiness::InFlight);
        assert!(calls.fetching());
        calls.reset();
        assert_eq!(calls.readiness(peer, MonoTime(0)), Readiness::Ready);
        assert!(!calls.fetching());
        assert!(!calls.end(call).unwrap().current);
        assert!(calls.end(call).is_none());
        calls.pause(peer, MonoTime(5));
        let until = MonoTime(5);
        assert_eq!(
            calls.readiness(peer, MonoTime(4)),
            Readiness::BackingOff { until }
        );
        assert_eq!(calls.readiness(peer, MonoTime(5)), Readiness::Ready);
    }
}
