//! Voter changes (KIP-853): one at a time, each a voter set in the log that is in force as soon as it
//! is appended.
//!
//! Refused until the high watermark of this epoch is known and while the last set is uncommitted, so
//! that two sets in force never have disjoint majorities. A change that was appended occupies its
//! place until it is committed; that its request timed out changes nothing about that.

use quorate_types::{
    ControlRecord, Endpoint, ErrorCode, KRaftVersion, MonoTime, Offset, ReplicaKey, VersionRange,
    Voter, VoterSet,
};
use std::time::Duration;

use crate::calls::{Peer, Purpose};
use crate::leader::Reported;
use crate::role::Role;
use crate::rpc::{
    AddVoterRequest, ChangeReply, EpochReply, RemoveVoterRequest, Reply, Request,
    UpdateVoterRequest,
};
use crate::{Raft, RequestId};

/// How recently a replica must have fetched to become a voter.
const FRESHNESS: Duration = Duration::from_secs(3600);

/// A voter change under way.
#[derive(Debug)]
pub(crate) struct Change {
    /// Who is to be answered, if nobody has been yet.
    asked_by: Option<(RequestId, Request)>,
    expires: MonoTime,
    stage: Stage,
}

#[derive(Debug)]
enum Stage {
    /// The voter to be is asked for its versions.
    Probing {
        request: AddVoterRequest,
        asked: bool,
    },
    /// The set is in the log, up to there.
    Appended { end: Offset },
}

/// Why `kraft.version` cannot be raised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UpgradeError {
    /// This node does not lead that epoch.
    #[error("not the leader of that epoch")]
    NotLeader,
    /// Versions only grow, and only known ones can be reached.
    #[error("kraft.version cannot go from {from} to {to}", from = .from.0, to = .to.0)]
    Unreachable {
        /// The version in force.
        from: KRaftVersion,
        /// The version asked for.
        to: KRaftVersion,
    },
    /// A voter has not reported its directory and versions, or does not support the version.
    #[error("voter {voter} has not reported support for it")]
    Unsupported {
        /// The voter.
        voter: quorate_types::NodeId,
    },
}

impl Raft {
    /// Adds a voter. In order: (1)–(4) [`Raft::check_change`]; (5) the id must be new; (6) the node is
    /// asked for its versions; (7) they must hold the finalized one; (8) it must have caught up; (9)
    /// the set is appended; (10) and committed.
    pub(crate) fn on_add_voter(&mut self, from: RequestId, add: AddVoterRequest) {
        let checked = self.check_leader(None).and_then(|()| {
            if !is_key(add.voter) || !self.has_default_endpoint(&add.endpoints) {
                return Err(ErrorCode::InvalidRequest);
            }
            self.check_change(true)?;
            if self.voters().contains_id(add.voter.id) {
                return Err(ErrorCode::DuplicateVoter);
            }
            Ok(())
        });
        let request = Request::AddVoter(add.clone());
        if let Err(error) = checked {
            return self.refuse(from, &request, error);
        }
        let stage = Stage::Probing {
            request: add,
            asked: false,
        };
        self.begin_change(from, request, stage);
    }

    /// Takes a voter out. In order: (1)–(4) [`Raft::check_change`]; (5) exactly that voter must be in
    /// the set, and not be its last; (6) the set is appended; (7) once it is committed a leader that
    /// is no voter any more resigns.
    pub(crate) fn on_remove_voter(&mut self, from: RequestId, remove: &RemoveVoterRequest) {
        let checked = self.check_leader(None).and_then(|()| {
            if !is_key(remove.voter) {
                return Err(ErrorCode::InvalidRequest);
            }
            self.check_change(true)?;
            if !self.voters().contains(remove.voter) || self.voters().len() == 1 {
                return Err(ErrorCode::VoterNotFound);
            }
            Ok(())
        });
        let request = Request::RemoveVoter(remove.clone());
        if let Err(error) = checked {
            return self.refuse(from, &request, error);
        }
        let voters = self.voters().without(remove.voter.id);
        let end = self.log.end() + 1;
        self.begin_change(from, request, Stage::Appended { end });
        self.append_control(vec![ControlRecord::Voters(voters)]);
        self.advance_high_watermark();
    }

    /// Takes in what a voter says about itself: into the set where that is in the log, else into
    /// memory for as long as this node leads.
    pub(crate) fn on_update_voter(&mut self, from: RequestId, update: UpdateVoterRequest) {
        let checked = self.check_update(&update);
        if checked.is_ok() {
            self.hear(Some(update.voter));
            self.take_update(update);
        }
        let error = checked.err().unwrap_or(ErrorCode::None);
        let leadership = self.leadership();
        self.reply(from, Reply::UpdateVoter(EpochReply { error, leadership }));
    }

    fn check_update(&self, update: &UpdateVoterRequest) -> Result<(), ErrorCode> {
        self.check_leader(Some(update.epoch))?;
        let range = update.kraft_versions;
        let sane = range.min >= 0 && range.max >= range.min;
        if !is_key(update.voter) || !self.has_default_endpoint(&update.endpoints) || !sane {
            return Err(ErrorCode::InvalidRequest);
        }
        if update.voter.id == self.config.local.id {
            return Err(ErrorCode::UnknownServerError);
        }
        self.check_change(false)?;
        if !range.contains(self.kraft_version().0) {
            return Err(ErrorCode::InvalidRequest);
        }
        if !self.voters().contains(update.voter) {
            return Err(ErrorCode::VoterNotFound);
        }
        Ok(())
    }

    fn take_update(&mut self, update: UpdateVoterRequest) {
        if self.kraft_version() == KRaftVersion::STATIC {
            if let Role::Leader(leading) = &mut self.role {
                let reported = Reported {
                    voter: update.voter,
                    endpoints: update.endpoints,
                    kraft_versions: update.kraft_versions,
                };
                leading.reported.insert(update.voter.id, reported);
            }
            return;
        }
        let voter = Voter {
            directory: update.voter.directory,
            endpoints: update.endpoints,
            kraft_versions: update.kraft_versions,
        };
        let voters = self.voters().with(update.voter.id, voter);
        if voters != *self.voters() {
            self.append_control(vec![ControlRecord::Voters(voters)]);
        }
    }

    /// What has to hold before the set is changed: (1) no change is pending; (2) this epoch has a high
    /// watermark; (3) the set is in the log (`dynamic`); (4) and committed.
    fn check_change(&self, dynamic: bool) -> Result<(), ErrorCode> {
        let Role::Leader(leading) = &self.role else {
            return Err(ErrorCode::NotLeaderOrFollower);
        };
        let Some(committed) = leading.high_watermark.filter(|_| leading.change.is_none()) else {
            return Err(ErrorCode::RequestTimedOut);
        };
        if dynamic && self.kraft_version() == KRaftVersion::STATIC {
            return Err(ErrorCode::UnsupportedVersion);
        }
        if self.history.voters_at().is_some_and(|at| at >= committed) {
            return Err(ErrorCode::RequestTimedOut);
        }
        Ok(())
    }

    fn has_default_endpoint(&self, endpoints: &[Endpoint]) -> bool {
        let default = self.config.endpoints.first();
        default.is_none_or(|default| endpoints.iter().any(|known| known.name == default.name))
            && !endpoints.is_empty()
    }

    fn begin_change(&mut self, from: RequestId, request: Request, stage: Stage) {
        let expires = self.now + self.config.request_timeout;
        if let Role::Leader(leading) = &mut self.role {
            leading.change = Some(Change {
                asked_by: Some((from, request)),
                expires,
                stage,
            });
        }
    }

    fn change(&mut self) -> Option<&mut Change> {
        match &mut self.role {
            Role::Leader(leading) => leading.change.as_mut(),
            _ => None,
        }
    }

    /// Asks the voter to be for its versions, once.
    pub(crate) fn send_probe(&mut self) {
        let Some(Change {
            stage: Stage::Probing { request, asked },
            ..
        }) = self.change()
        else {
            return;
        };
        if std::mem::replace(asked, true) {
            return;
        }
        let (voter, endpoints) = (request.voter, request.endpoints.clone());
        let purpose = Purpose::Probe { voter };
        self.call_at(
            Peer::Node(voter.id),
            endpoints,
            purpose,
            Request::ProbeVersions,
        );
    }

    /// The voter to be answered (`Some`, with its range if it named one) or did not.
    pub(crate) fn on_probed(&mut self, voter: ReplicaKey, answer: Option<Option<VersionRange>>) {
        let request = match self.change() {
            Some(Change {
                stage: Stage::Probing { request, .. },
                ..
            }) if request.voter == voter => request.clone(),
            _ => return,
        };
        match self.check_new_voter(voter, answer) {
            Ok(range) => self.append_new_voter(&request, range),
            Err(error) => self.finish_change(error),
        }
    }

    fn check_new_voter(
        &self,
        voter: ReplicaKey,
        answer: Option<Option<VersionRange>>,
    ) -> Result<VersionRange, ErrorCode> {
        let Role::Leader(leading) = &self.role else {
            return Err(ErrorCode::NotLeaderOrFollower);
        };
        let finalized = self.kraft_version().0;
        let range = answer
            .ok_or(ErrorCode::RequestTimedOut)?
            .filter(|range| range.contains(finalized))
            .ok_or(ErrorCode::InvalidRequest)?;
        let progress = leading.progress_of(voter);
        let since = self.now - FRESHNESS;
        let fresh = progress.last_fetch.is_some_and(|at| at >= since);
        if !fresh || progress.caught_up.is_none() {
            return Err(ErrorCode::RequestTimedOut);
        }
        Ok(range)
    }

    fn append_new_voter(&mut self, request: &AddVoterRequest, kraft_versions: VersionRange) {
        let voter = Voter {
            directory: request.voter.directory,
            endpoints: request.endpoints.clone(),
            kraft_versions,
        };
        let voters = self.voters().with(request.voter.id, voter);
        let end = self.log.end() + 1;
        let mut answered = None;
        if let Some(change) = self.change() {
            change.stage = Stage::Appended { end };
            if !request.ack_when_committed {
                answered = change.asked_by.take();
            }
        }
        self.append_control(vec![ControlRecord::Voters(voters)]);
        self.answer_change(answered, ErrorCode::None);
        self.advance_high_watermark();
    }

    /// The change's time is over: its request is told so. A change in the log stays.
    pub(crate) fn expire_change(&mut self) {
        let now = self.now;
        let Some(change) = self.change() else { return };
        if change.asked_by.is_none() {
            return;
        }
        let expires = change.expires;
        if expires > now {
            return self.wake_at(expires);
        }
        match change.stage {
            Stage::Probing { .. } => self.finish_change(ErrorCode::RequestTimedOut),
            Stage::Appended { .. } => {
                let asked_by = change.asked_by.take();
                self.answer_change(asked_by, ErrorCode::RequestTimedOut);
            }
        }
    }

    /// Everything before `end` is committed: so may be the change, and the removal of this leader.
    pub(crate) fn on_committed(&mut self, end: Offset) {
        if let Some(Change {
            stage: Stage::Appended { end: appended },
            ..
        }) = self.change()
            && *appended <= end
        {
            self.finish_change(ErrorCode::None);
        }
        let settled = self.history.voters_at().is_none_or(|at| at < end);
        if settled && !self.is_voter() {
            self.become_resigned();
        }
    }

    fn finish_change(&mut self, error: ErrorCode) {
        if let Role::Leader(leading) = &mut self.role
            && let Some(change) = leading.change.take()
        {
            self.answer_change(change.asked_by, error);
        }
    }

    /// Leadership ended under a change; whether it survives is for the next leader's log to say.
    pub(crate) fn drop_change(&mut self, change: Option<Change>) {
        if let Some(change) = change {
            self.answer_change(change.asked_by, ErrorCode::NotLeaderOrFollower);
        }
    }

    fn answer_change(&mut self, asked_by: Option<(RequestId, Request)>, error: ErrorCode) {
        match asked_by {
            Some((to, Request::AddVoter(_))) => {
                self.reply(to, Reply::AddVoter(ChangeReply::of(error)));
            }
            Some((to, Request::RemoveVoter(_))) => {
                self.reply(to, Reply::RemoveVoter(ChangeReply::of(error)));
            }
            _ => {}
        }
    }

    /// As an observer: asks to be made a voter, and before that to take out the entry of a disk that
    /// this node had before.
    pub(crate) fn ask_to_join(&mut self, leader: Peer) {
        let local = self.config.local;
        match self.voters().get(local.id) {
            Some(old) => {
                let voter = ReplicaKey::new(local.id, old.directory);
                let remove = RemoveVoterRequest { voter };
                self.call(leader, Purpose::RemoveVoter, Request::RemoveVoter(remove));
            }
            None => {
                let add = AddVoterRequest {
                    voter: local,
                    endpoints: self.config.endpoints.clone(),
                    ack_when_committed: false,
                };
                self.call(leader, Purpose::AddVoter, Request::AddVoter(add));
            }
        }
    }

    /// Raises `kraft.version` from 0 to 1: writes the version and the set that the voters reported
    /// into the log. With `validate_only` nothing is written. The caller appends a record behind it
    /// and waits for its commit.
    ///
    /// # Errors
    /// Nothing was appended; see [`UpgradeError`].
    pub fn upgrade_kraft(
        &mut self,
        now: MonoTime,
        epoch: quorate_types::Epoch,
        to: KRaftVersion,
        validate_only: bool,
    ) -> Result<(), UpgradeError> {
        self.now = self.now.max(now);
        let Role::Leader(leading) = &self.role else {
            return Err(UpgradeError::NotLeader);
        };
        if epoch != self.election.epoch || self.is_failed() {
            return Err(UpgradeError::NotLeader);
        }
        let from = self.kraft_version();
        if to == from {
            return Ok(());
        }
        if to < from || to > KRaftVersion::LATEST {
            return Err(UpgradeError::Unreachable { from, to });
        }
        let reported = |id| match leading.reported.get(&id) {
            _ if id == self.config.local.id => Some(Reported {
                voter: self.config.local,
                endpoints: self.config.endpoints.clone(),
                kraft_versions: self.config.kraft_versions,
            }),
            reported => reported.cloned(),
        };
        let mut voters = VoterSet::default();
        for voter in self.voters().ids() {
            let Some(entry) = reported(voter).filter(|entry| {
                entry.kraft_versions.contains(to.0) && entry.voter.directory.is_some()
            }) else {
                return Err(UpgradeError::Unsupported { voter });
            };
            let entry = Voter {
                directory: entry.voter.directory,
                endpoints: entry.endpoints,
                kraft_versions: entry.kraft_versions,
            };
            voters = voters.with(voter, entry);
        }
        if !validate_only {
            self.append_control(vec![
                ControlRecord::KRaftVersion(to),
                ControlRecord::Voters(voters),
            ]);
            self.advance();
        }
        Ok(())
    }
}

/// Whether the key names a replica for good: a node and its directory.
fn is_key(key: ReplicaKey) -> bool {
    key.id.0 >= 0 && key.directory.is_some()
}
