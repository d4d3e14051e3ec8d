//! The six states of a node, and what each remembers while it lasts.
//!
//! The epoch, its leader and the vote outlive a state, so they are not here. The table below is what
//! the test `the_transition_table_holds` walks; "voter" means a controller in the voter set in force,
//! or one whose removal from it is not known to be committed.
//!
//! | From | When | To |
//! |---|---|---|
//! | Unattached | the election timeout passes at a voter | Prospective |
//! | Unattached | the election timeout passes at an observer | Unattached |
//! | Unattached | a leader is learnt | Follower |
//! | Unattached | a vote is granted | Unattached |
//! | Unattached | a larger epoch is learnt | Unattached |
//! | Prospective | a majority would vote | Candidate |
//! | Prospective | a peer knows no pre-vote | Candidate |
//! | Prospective | a majority would not, a leader is known | Follower |
//! | Prospective | a majority would not, no leader is known | Unattached |
//! | Prospective | the election timeout passes, a leader is known | Follower |
//! | Prospective | the election timeout passes, no leader is known | Prospective |
//! | Prospective | a leader is learnt | Follower |
//! | Prospective | a larger epoch is learnt | Unattached |
//! | Candidate | a majority votes | Leader |
//! | Candidate | a majority denies | Candidate |
//! | Candidate | the election timeout passes | Prospective |
//! | Candidate | a leader is learnt | Follower |
//! | Candidate | a larger epoch is learnt | Unattached |
//! | Leader | no majority fetches | Resigned |
//! | Leader | its disk hangs | Resigned |
//! | Leader | it is asked to resign | Resigned |
//! | Leader | it is asked to stop | Resigned |
//! | Leader | a larger epoch is learnt | Unattached |
//! | Leader | a larger epoch and its leader are learnt | Follower |
//! | Resigned | the election timeout passes | Prospective |
//! | Resigned | a larger epoch is learnt | Unattached |
//! | Resigned | a larger epoch and its leader are learnt | Follower |
//! | Follower | the fetch timeout passes at a voter | Prospective |
//! | Follower | the fetch timeout passes at an observer | Follower |
//! | Follower | the leader's process is gone | Prospective |
//! | Follower | the leader ends its epoch | Prospective |
//! | Follower | a larger epoch is learnt | Unattached |
//! | Follower | a larger epoch and its leader are learnt | Follower |
//!
//! Where a voter's Prospective runs out undecided without a leader it passes through Unattached with
//! no time left, and a Resigned whose time is up through Unattached in the next epoch: both campaign
//! again at once.

use std::collections::BTreeSet;
use std::fmt;

use quorate_types::{MonoTime, NodeId, Offset, OffsetAndEpoch, ReplicaKey};

use crate::DiskSeq;
use crate::leader::Leading;
use crate::votes::Votes;

/// The states of a node in the quorum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RoleName {
    /// Looks for a leader.
    Unattached,
    /// Asks whether it could win.
    Prospective,
    /// Asks for votes.
    Candidate,
    /// Leads.
    Leader,
    /// Led, and hands over.
    Resigned,
    /// Follows a leader.
    Follower,
}

impl fmt::Display for RoleName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// The state of the moment.
#[derive(Debug)]
pub(crate) enum Role {
    Unattached { election_at: MonoTime },
    Prospective(Nominee),
    Candidate(Nominee),
    Leader(Box<Leading>),
    Resigned(Resigned),
    Follower(Following),
}

/// An election under way.
#[derive(Debug)]
pub(crate) struct Nominee {
    pub(crate) votes: Votes,
    /// When it is given up.
    pub(crate) election_at: MonoTime,
}

/// A leader that no longer leads.
#[derive(Debug)]
pub(crate) struct Resigned {
    /// Until when it waits for others to be elected.
    pub(crate) election_at: MonoTime,
    /// The voters that have acknowledged the end of the epoch.
    pub(crate) acknowledged: BTreeSet<NodeId>,
    /// Who should campaign first; empty after a restart.
    pub(crate) successors: Vec<ReplicaKey>,
}

/// Following a leader.
#[derive(Debug)]
pub(crate) struct Following {
    /// When the leader has been silent for too long.
    pub(crate) fetch_at: MonoTime,
    /// Whether this leader has answered a fetch.
    pub(crate) fetched: bool,
    /// What this leader last said is committed.
    pub(crate) leader_hw: Option<Offset>,
    /// When this voter next considers telling the leader about itself.
    pub(crate) update_at: MonoTime,
    /// Whether this leader has been told (kraft.version 0).
    pub(crate) updated: bool,
    /// The snapshot that is fetched in place of records.
    pub(crate) snapshot: Option<Partial>,
}

/// A snapshot of which a part is here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Partial {
    pub(crate) id: OffsetAndEpoch,
    /// How much of it is here.
    pub(crate) position: u64,
    /// The operation that wrote the last piece.
    pub(crate) written: DiskSeq,
}

impl Partial {
    /// A snapshot of which nothing is here yet.
    pub(crate) fn of(id: OffsetAndEpoch) -> Partial {
        Partial {
            id,
            position: 0,
            written: DiskSeq(0),
        }
    }
}

impl Role {
    pub(crate) fn name(&self) -> RoleName {
        match self {
            Role::Unattached { .. } => RoleName::Unattached,
            Role::Prospective(_) => RoleName::Prospective,
            Role::Candidate(_) => RoleName::Candidate,
            Role::Leader(_) => RoleName::Leader,
            Role::Resigned(_) => RoleName::Resigned,
            Role::Follower(_) => RoleName::Follower,
        }
    }

    /// When the state ends by itself; for a leader when it must have heard from a majority.
    pub(crate) fn expires(&self) -> MonoTime {
        match self {
            Role::Unattached { election_at } => *election_at,
            Role::Prospective(nominee) | Role::Candidate(nominee) => nominee.election_at,
            Role::Leader(leading) => leading.check_at(),
            Role::Resigned(resigned) => resigned.election_at,
            Role::Follower(following) => following.fetch_at,
        }
    }
}
