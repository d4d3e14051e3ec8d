//! The ways from one state into another: what each writes, forgets and starts. When they are taken
//! stands in the table in [`role`](crate::role).

use std::collections::BTreeSet;

use quorate_types::{ControlRecord, Endpoint, Epoch, KRaftVersion, MonoTime, NodeId, ReplicaKey};

use crate::leader::Leading;
use crate::role::{Following, Nominee, Resigned, Role};
use crate::votes::Votes;
use crate::{Batch, BootError, DiskOp, ElectionState, Raft};

impl Raft {
    /// Takes up the state that the election state on disk and the log ask for; writes it again. The
    /// first that fits: (1) the log is ahead of the file, so the file is void; (2) this node led; (3)
    /// it voted for itself and knows of no winner; (4) it knows a leader that can be reached; (5) it
    /// knows too little. A sole voter does not wait.
    pub(crate) fn start(&mut self, saved: Option<ElectionState>) -> Result<(), BootError> {
        let log_epoch = self.log.last_epoch();
        let saved = match saved {
            Some(saved) => saved,
            None if self.config.controller && log_epoch > Epoch(0) => {
                return Err(BootError::VoteLost { log_epoch });
            }
            None => ElectionState::default(),
        };
        let local = self.config.local;
        let leader = saved.leader;
        self.election = saved;
        if saved.epoch < log_epoch {
            self.election = ElectionState {
                epoch: log_epoch,
                ..ElectionState::default()
            };
            self.role = self.waiting_anew();
        } else if leader == Some(local.id) {
            self.election.voted = None;
            self.role = self.resigned(Vec::new());
        } else if leader.is_none() && saved.voted.is_some_and(|voted| voted.matches(local)) {
            self.role = self.nominated(Role::Candidate);
        } else if let Some(leader) = leader
            && self.voters().contains_id(leader)
        {
            self.role = self.following();
        } else {
            self.role = self.waiting_anew();
        }
        self.save_election();
        let sole = self.is_voter() && self.voters().len() == 1;
        match &mut self.role {
            Role::Unattached { election_at } if sole => *election_at = self.now,
            Role::Resigned(resigned) if sole => resigned.election_at = self.now,
            Role::Follower(following) if sole => following.fetch_at = self.now,
            _ => {}
        }
        self.count_votes();
        Ok(())
    }

    /// Enters a larger epoch whose leader is not known, or is known only by its id.
    ///
    /// An election timeout that runs keeps its remaining time, unless a majority said no.
    pub(crate) fn become_unattached(&mut self, epoch: Epoch, leader: Option<NodeId>) {
        let election_at = match &self.role {
            Role::Prospective(nominee) if nominee.votes.lost(self.voters()) => None,
            Role::Unattached { .. }
            | Role::Prospective(_)
            | Role::Candidate(_)
            | Role::Resigned(_) => Some(self.role.expires()),
            Role::Leader(_) | Role::Follower(_) => None,
        };
        let role = match election_at {
            Some(election_at) => Role::Unattached { election_at },
            None => self.waiting_anew(),
        };
        self.leader_endpoints.clear();
        self.enter(role, epoch, leader);
        self.fail_parked();
    }

    /// Follows a leader in its epoch, which is this node's or larger.
    pub(crate) fn become_follower(
        &mut self,
        epoch: Epoch,
        leader: NodeId,
        endpoints: Vec<Endpoint>,
    ) {
        let again = self.leaderless == Some(epoch);
        let mut following = self.following();
        if let Role::Follower(following) = &mut following
            && again
        {
            let patience = self.config.death_stagger;
            following.fetch_at = self.now + self.rng.duration(patience * 4, patience * 8);
        }
        self.leader_endpoints = endpoints;
        self.enter(following, epoch, Some(leader));
        self.fail_parked();
    }

    /// Asks whether an election could be won; epoch, leader and vote stay.
    pub(crate) fn become_prospective(&mut self) {
        let role = self.nominated(Role::Prospective);
        self.set_role(role);
        self.count_votes();
    }

    /// Opens an epoch of its own by voting for itself.
    pub(crate) fn become_candidate(&mut self) {
        self.election = ElectionState {
            epoch: self.election.epoch.next(),
            leader: None,
            voted: Some(self.config.local),
        };
        self.leader_endpoints.clear();
        self.save_election();
        let role = self.nominated(Role::Candidate);
        self.set_role(role);
        self.count_votes();
    }

    /// Leads, and opens its epoch in the log.
    pub(crate) fn become_leader(&mut self, granting: Vec<NodeId>) {
        self.election.leader = Some(self.config.local.id);
        self.election.voted = None;
        self.save_election();
        let check_at = self.now + self.config.check_quorum_timeout();
        let leading = Leading::new(self.log.end(), check_at);
        self.set_role(Role::Leader(Box::new(leading)));
        let records = self.first_records(granting);
        self.append_control(records);
    }

    /// Stops leading without leaving the epoch.
    pub(crate) fn become_resigned(&mut self) {
        let successors = self.successors();
        let resigned = self.resigned(successors);
        self.set_role(resigned);
        self.fail_parked();
    }

    /// Appends a control batch of the leader's own.
    pub(crate) fn append_control(&mut self, records: Vec<ControlRecord>) {
        let base = self.log.end();
        let epoch = self.election.epoch;
        let batch = Batch {
            base,
            end: base + records.len() as i64,
            epoch,
            control: records.clone(),
        };
        self.take_in(&batch);
        let new_voters = records
            .iter()
            .any(|record| matches!(record, ControlRecord::Voters(_)));
        let check_at = self.now + self.config.check_quorum_timeout();
        if let Role::Leader(leading) = &mut self.role
            && new_voters
        {
            leading.restart_check(check_at);
        }
        let seq = self.disk(DiskOp::AppendControl {
            base,
            epoch,
            records,
        });
        self.log.appending(seq);
        self.wake_parked(false);
    }

    /// Lengthens log and history by a batch.
    pub(crate) fn take_in(&mut self, batch: &Batch) {
        self.log.append(batch);
        for (at, record) in (0..).zip(&batch.control) {
            self.history.note(batch.base + at, record);
        }
    }

    /// What opens the epoch in the log: its leader, and with voters in the log also the set where the
    /// log proper lacks it or has this node's own entry wrong.
    fn first_records(&self, granting: Vec<NodeId>) -> Vec<ControlRecord> {
        let voters = self.voters();
        let mut records = vec![ControlRecord::LeaderChange {
            leader: self.config.local.id,
            voters: voters.ids().collect(),
            granting,
        }];
        if self.kraft_version() == KRaftVersion::STATIC {
            return records;
        }
        let only_formatted = self.history.voters_at().is_none_or(|at| at.0 < 0);
        let own = self.own_entry_if_changed();
        if only_formatted || own.is_some() {
            let set = match own {
                Some(entry) => voters.with(self.config.local.id, entry),
                None => voters.clone(),
            };
            records.push(ControlRecord::KRaftVersion(self.kraft_version()));
            records.push(ControlRecord::Voters(set));
        }
        records
    }

    /// Common to all changes of state within and between epochs.
    fn enter(&mut self, role: Role, epoch: Epoch, leader: Option<NodeId>) {
        let voted = self.election.voted.filter(|_| epoch == self.election.epoch);
        let next = ElectionState {
            epoch,
            leader,
            voted,
        };
        if next != self.election {
            self.election = next;
            self.save_election();
        }
        self.set_role(role);
    }

    /// Leaves the state of the moment, with its calls, its partial snapshot and its voter change.
    fn set_role(&mut self, role: Role) {
        self.calls.reset();
        match std::mem::replace(&mut self.role, role) {
            Role::Follower(mut following) => self.drop_partial_snapshot(following.snapshot.take()),
            Role::Leader(mut leading) => self.drop_change(leading.change.take()),
            _ => {}
        }
    }

    fn waiting_anew(&mut self) -> Role {
        Role::Unattached {
            election_at: self.draw_election_timeout(),
        }
    }

    fn nominated(&mut self, role: fn(Nominee) -> Role) -> Role {
        role(Nominee {
            votes: Votes::of(self.config.local.id),
            election_at: self.draw_election_timeout(),
        })
    }

    fn following(&mut self) -> Role {
        Role::Follower(Following {
            fetch_at: self.now + self.config.fetch_timeout,
            fetched: false,
            leader_hw: None,
            update_at: self.now + self.config.fetch_timeout,
            updated: false,
            snapshot: None,
        })
    }

    fn resigned(&mut self, successors: Vec<ReplicaKey>) -> Role {
        Role::Resigned(Resigned {
            election_at: self.draw_election_timeout(),
            acknowledged: BTreeSet::new(),
            successors,
        })
    }

    pub(crate) fn draw_election_timeout(&mut self) -> MonoTime {
        let timeout = self.config.election_timeout;
        self.now + self.rng.duration(timeout, timeout * 2)
    }
}
