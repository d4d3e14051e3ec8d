//! The state machine as a whole: takes an input, lets the role of the moment act, gives outputs.
//!
//! Every input runs through the same three steps: it is handled; timers that are due fire; and what
//! the role now wants and may (nothing it depends on waits for the disk) goes out. So an event never
//! has to remember what it unblocks.

use std::collections::VecDeque;

use quorate_types::{
    Endpoint, Epoch, ErrorCode, KRaftVersion, MonoTime, NodeId, Offset, OffsetAndEpoch, Rng,
    VoterSet,
};

use crate::calls::{Calls, Peer, Purpose, Readiness};
use crate::disk::DiskQueue;
use crate::history::History;
use crate::log::Log;
use crate::parked::Parked;
use crate::role::{Role, RoleName};
use crate::rpc::{self, Leadership, Reply, Request};
use crate::{
    Boot, BootError, Config, Destination, DiskOp, DiskSeq, ElectionState, Fatal, Input, Output,
    RequestId,
};

/// One node's part in the quorum. See the [crate](crate) for how it is driven.
#[derive(Debug)]
pub struct Raft {
    pub(crate) config: Config,
    pub(crate) rng: Rng,
    pub(crate) now: MonoTime,
    pub(crate) election: ElectionState,
    /// Where the leader listens, if it said so itself; else the voter set knows.
    pub(crate) leader_endpoints: Vec<Endpoint>,
    pub(crate) role: Role,
    pub(crate) log: Log,
    pub(crate) history: History,
    pub(crate) disk: DiskQueue,
    pub(crate) calls: Calls,
    pub(crate) parked: Parked,
    pub(crate) high_watermark: Option<Offset>,
    /// The epoch whose leader is known to be gone or to have given up.
    pub(crate) leaderless: Option<Epoch>,
    /// A snapshot is about to take the log's place.
    pub(crate) installing: Option<OffsetAndEpoch>,
    /// Until when the node may take to stop, once it was asked to.
    pub(crate) stopping: Option<MonoTime>,
    stopped: bool,
    failed: bool,
    told: Told,
    wake: Option<MonoTime>,
    outputs: VecDeque<Output>,
}

/// What the driver has been told last.
#[derive(Debug, Default)]
struct Told {
    leader: Option<(Epoch, Option<NodeId>, Option<Offset>)>,
    members: Option<(KRaftVersion, VoterSet)>,
    /// Of the history when the members were last looked at.
    revision: Option<u64>,
}

impl Raft {
    /// Starts from what the disk holds. The first outputs are ready at once.
    ///
    /// # Errors
    /// If the disk's content does not allow to take part safely.
    pub fn new(config: Config, boot: Boot, rng: Rng, now: MonoTime) -> Result<Raft, BootError> {
        boot.log.check()?;
        let fallback = boot.static_voters.unwrap_or_default();
        let mut raft = Raft {
            config,
            rng,
            now,
            election: ElectionState::default(),
            leader_endpoints: Vec::new(),
            role: Role::Unattached { election_at: now },
            log: Log::recovered(&boot.log),
            history: History::new(fallback, &boot.log.control),
            disk: DiskQueue::default(),
            calls: Calls::default(),
            parked: Parked::default(),
            high_watermark: None,
            leaderless: None,
            installing: None,
            stopping: None,
            stopped: false,
            failed: false,
            told: Told::default(),
            wake: None,
            outputs: VecDeque::new(),
        };
        if let Some(snapshot) = raft.log.latest_snapshot() {
            raft.output(Output::ReadFrom { snapshot });
            raft.raise_high_watermark(snapshot.offset);
        }
        raft.start(boot.election)?;
        raft.advance();
        Ok(raft)
    }

    /// Takes in what happened. Take all outputs before the next call.
    pub fn handle(&mut self, now: MonoTime, input: Input) {
        self.now = self.now.max(now);
        match input {
            Input::Request { from, body } => self.on_request(from, body),
            Input::RequestGone { from } => self.parked.forget(from),
            Input::Durable { .. } | Input::Answer { .. } if self.failed => {
                self.after_failure(input);
            }
            _ if self.failed => {}
            Input::Tick => {}
            Input::Answer { call, result } => self.on_answer(call, result),
            Input::PeerDown { node } => self.on_peer_down(node),
            Input::Durable { upto } => self.on_durable(upto),
            Input::DiskFailed { seq } => self.fail(Fatal::Disk { seq }),
            Input::SnapshotInstalled {
                id,
                size,
                voters,
                version,
            } => self.on_snapshot_installed(id, size, voters, version),
            Input::SnapshotAdded { id, size } => {
                if self.names_snapshot(id) {
                    self.log.add_snapshot(id, size);
                }
            }
            Input::Cleaned {
                log_start,
                earliest,
            } => self.log.cleaned(log_start, earliest),
            Input::Resign { epoch } => self.on_resign(epoch),
            Input::Shutdown { within } => self.stopping = Some(self.now + within),
        }
        self.advance();
    }

    /// The next thing to do.
    pub fn poll(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    /// When [`Input::Tick`] is due: the earliest moment at which something happens by itself.
    pub fn deadline(&self) -> Option<MonoTime> {
        self.wake
    }

    /// The highest epoch seen.
    pub fn epoch(&self) -> Epoch {
        self.election.epoch
    }

    /// The leader of that epoch, if known. A leader that resigned is still the one of its epoch.
    pub fn leader(&self) -> Option<NodeId> {
        self.election.leader
    }

    /// Where the leader listens, as far as known.
    pub fn leader_endpoints(&self) -> Vec<Endpoint> {
        match self.election.leader {
            Some(leader) if leader == self.config.local.id => self.config.endpoints.clone(),
            Some(leader) if self.leader_endpoints.is_empty() => self.endpoints_of(leader),
            Some(_) => self.leader_endpoints.clone(),
            None => Vec::new(),
        }
    }

    /// The state this node is in.
    pub fn role(&self) -> RoleName {
        self.role.name()
    }

    /// Whether this node is in the voter set in force.
    pub fn is_voter(&self) -> bool {
        self.config.controller && self.voters().contains(self.config.local)
    }

    /// The election state as it is written to disk, written or not.
    pub fn election(&self) -> ElectionState {
        self.election
    }

    /// The first offset of the log.
    pub fn log_start(&self) -> Offset {
        self.log.start()
    }

    /// The end of the log, durable or not.
    pub fn log_end(&self) -> Offset {
        self.log.end()
    }

    /// The end of the log and the epoch of its last record.
    pub fn last(&self) -> OffsetAndEpoch {
        self.log.last()
    }

    /// How much of the log is durable here.
    pub fn durable_end(&self) -> Offset {
        self.log.durable_end()
    }

    /// Everything before it is committed and durable here; `None` until known. Outlives changes of
    /// leader, unlike the one that a new leader answers fetches with.
    pub fn high_watermark(&self) -> Option<Offset> {
        self.high_watermark
    }

    /// The voter set in force: the last in the log, committed or not.
    pub fn voters(&self) -> &VoterSet {
        self.history.voters()
    }

    /// The `kraft.version` in force: the last in the log, committed or not.
    pub fn kraft_version(&self) -> KRaftVersion {
        self.history.version()
    }

    /// The `kraft.version` and the voter set of the log before `end`, which a snapshot that ends there
    /// has to name.
    pub fn members_before(&self, end: Offset) -> (KRaftVersion, &VoterSet) {
        self.history.before(end)
    }

    /// Whether a snapshot of this node's state may have that id: it ends in the log, not above the
    /// high watermark, and the record before its end is of its epoch.
    pub fn names_snapshot(&self, id: OffsetAndEpoch) -> bool {
        Some(id.offset) <= self.high_watermark && self.log.epoch_before(id.offset) == Some(id.epoch)
    }

    /// The last disk operation that was asked for.
    pub fn last_disk_seq(&self) -> DiskSeq {
        self.disk.issued()
    }

    /// Whether the node gave up after [`Output::Fatal`].
    pub fn is_failed(&self) -> bool {
        self.failed
    }

    fn on_request(&mut self, from: RequestId, body: Request) {
        if self.failed {
            return self.refuse(from, &body, ErrorCode::BrokerNotAvailable);
        }
        match body {
            Request::Vote(vote) => self.on_vote(from, &vote),
            Request::BeginQuorumEpoch(begin) => self.on_begin(from, begin),
            Request::EndQuorumEpoch(end) => self.on_end(from, end),
            Request::Fetch(fetch) => self.on_fetch(from, fetch),
            Request::FetchSnapshot(fetch) => self.on_fetch_snapshot(from, &fetch),
            Request::DescribeQuorum => {
                let reply = self.describe(self.now);
                self.reply(from, Reply::DescribeQuorum(reply));
            }
            Request::AddVoter(add) => self.on_add_voter(from, add),
            Request::RemoveVoter(remove) => self.on_remove_voter(from, &remove),
            Request::UpdateVoter(update) => self.on_update_voter(from, update),
            Request::ProbeVersions => {
                self.reply(from, Reply::ProbeVersions(ErrorCode::UnknownServerError));
            }
        }
    }

    fn on_durable(&mut self, upto: DiskSeq) {
        for output in self.disk.durable(upto) {
            self.outputs.push_back(output);
        }
        self.log.durable(upto);
        self.advance_high_watermark();
    }

    /// Timers, then calls, then news for the driver; finds out when it must look again.
    pub(crate) fn advance(&mut self) {
        self.wake = None;
        if !self.failed {
            while self.expire_role() {}
            self.expire_parked();
            self.expire_change();
            self.note_stopped();
            if let Some(at) = self.role_expiry().filter(|_| self.minds_its_timer()) {
                self.wake_at(at);
            }
        }
        if self.disk.election_durable() {
            self.make_calls();
        }
        self.tell();
    }

    fn make_calls(&mut self) {
        let silent = self.stopping.is_some() || self.failed;
        match self.role {
            Role::Resigned(_) => self.send_ends(),
            _ if silent => {}
            Role::Unattached { .. } => self.fetch_from_anyone(),
            Role::Prospective(_) | Role::Candidate(_) => self.ask_for_votes(),
            Role::Leader(_) => self.send_begins(),
            Role::Follower(_) => self.fetch_from_leader(),
        }
    }

    /// Whether the role's timer can still have an effect.
    fn minds_its_timer(&self) -> bool {
        match self.role {
            Role::Unattached { .. } | Role::Follower(_) => self.may_campaign(),
            _ => true,
        }
    }

    fn note_stopped(&mut self) {
        let Some(deadline) = self.stopping else {
            return;
        };
        let alone = self.voters().ids().all(|id| id == self.config.local.id);
        let leaving = matches!(self.role, Role::Leader(_) | Role::Resigned(_));
        if !leaving || alone || self.now >= deadline {
            if !std::mem::replace(&mut self.stopped, true) {
                self.output(Output::Stopped);
            }
        } else {
            self.wake_at(deadline);
        }
    }

    /// Reports leader and members where they differ from what was reported last.
    fn tell(&mut self) {
        let mine_from = match &self.role {
            Role::Leader(leading) => Some(leading.epoch_start),
            _ => None,
        };
        let stepped_down =
            mine_from.is_none() && self.election.leader == Some(self.config.local.id);
        let leader = self.election.leader.filter(|_| !stepped_down);
        let leader = (self.election.epoch, leader, mine_from);
        if self.told.leader != Some(leader) {
            self.told.leader = Some(leader);
            let (epoch, leader, mine_from) = leader;
            self.output(Output::Leader {
                epoch,
                leader,
                mine_from,
            });
        }
        let revision = self.history.revision();
        if self.told.revision != Some(revision) {
            self.told.revision = Some(revision);
            let members = (self.kraft_version(), self.voters().clone());
            if self.told.members.as_ref() != Some(&members) {
                self.told.members = Some(members.clone());
                let (version, voters) = members;
                self.output(Output::Members { version, voters });
            }
        }
    }

    /// Gives up for good: nothing is acknowledged, voted or believed durable any more. A leader still
    /// tells the others that it is over.
    pub(crate) fn fail(&mut self, reason: Fatal) {
        if matches!(self.role, Role::Leader(_)) {
            self.become_resigned();
        }
        self.failed = true;
        self.disk.fail();
        self.output(Output::Fatal { reason });
    }

    /// After a failure only the acknowledgement of the epoch's end is still of interest.
    fn after_failure(&mut self, input: Input) {
        if let Input::Answer { call, result } = input
            && let Some(pending) = self.calls.end(call)
            && let (Peer::Node(node), Role::Resigned(resigned)) = (pending.peer, &mut self.role)
        {
            match result {
                Ok(_) => {
                    resigned.acknowledged.insert(node);
                }
                Err(_) => self.pause(pending.peer),
            }
        }
    }
}

/// What all modules use.
impl Raft {
    pub(crate) fn output(&mut self, output: Output) {
        self.outputs.push_back(output);
    }

    pub(crate) fn disk(&mut self, op: DiskOp) -> DiskSeq {
        let (seq, output) = self.disk.issue(self.now, op);
        self.output(output);
        seq
    }

    /// Writes epoch, leader and vote; until that is durable no reply and no call goes out.
    pub(crate) fn save_election(&mut self) {
        self.disk(DiskOp::SaveElection(self.election));
    }

    pub(crate) fn reply(&mut self, to: RequestId, body: Reply) {
        if let Some(output) = self.disk.hold(Output::Reply { to, body }) {
            self.output(output);
        }
    }

    /// Answers with an error alone.
    pub(crate) fn refuse(&mut self, to: RequestId, request: &Request, error: ErrorCode) {
        let body = request.refusal(error, self.leadership());
        self.reply(to, body);
    }

    /// Epoch and leader as this node knows them; nothing while they may still be lost.
    pub(crate) fn leadership(&self) -> Leadership {
        if self.failed && !self.disk.election_durable() {
            return Leadership::default();
        }
        // A leader that cannot be reached is not named: Kafka's nodes end over that.
        let endpoints = self.leader_endpoints();
        let leads = matches!(self.role, Role::Leader(_) | Role::Resigned(_));
        let nameable = |leader: &NodeId| {
            self.is_routable(*leader, &endpoints) && (leads || *leader != self.config.local.id)
        };
        Leadership {
            epoch: self.election.epoch,
            leader: self.election.leader.filter(nameable),
            endpoints,
        }
    }

    pub(crate) fn endpoints_of(&self, node: NodeId) -> Vec<Endpoint> {
        self.voters()
            .get(node)
            .map(|voter| voter.endpoints.clone())
            .unwrap_or_default()
    }

    pub(crate) fn call(&mut self, peer: Peer, purpose: Purpose, body: Request) {
        let endpoints = match peer {
            Peer::Bootstrap(_) => Vec::new(),
            Peer::Node(id) => self.route_to(id),
        };
        self.call_at(peer, endpoints, purpose, body);
    }

    /// Calls a peer at endpoints that the quorum may not know.
    pub(crate) fn call_at(
        &mut self,
        peer: Peer,
        endpoints: Vec<Endpoint>,
        purpose: Purpose,
        body: Request,
    ) {
        let call = self.calls.start(peer, purpose);
        let to = match peer {
            Peer::Bootstrap(index) => Destination::Bootstrap(index),
            Peer::Node(id) => Destination::Node { id, endpoints },
        };
        self.output(Output::Call {
            call,
            to,
            body,
            timeout: self.config.request_timeout,
        });
    }

    fn route_to(&self, id: NodeId) -> Vec<Endpoint> {
        if self.election.leader == Some(id) {
            self.leader_endpoints()
        } else {
            self.endpoints_of(id)
        }
    }

    /// Whether a peer can be called now; if it pauses, the end of the pause wakes the node.
    pub(crate) fn is_ready(&mut self, peer: Peer) -> bool {
        match self.calls.readiness(peer, self.now) {
            Readiness::Ready => true,
            Readiness::InFlight => false,
            Readiness::BackingOff { until } => {
                self.wake_at(until);
                false
            }
        }
    }

    /// Lets a peer alone for the retry backoff.
    pub(crate) fn pause(&mut self, peer: Peer) {
        self.calls.pause(peer, self.now + self.config.retry_backoff);
    }

    pub(crate) fn wake_at(&mut self, at: MonoTime) {
        self.wake = Some(self.wake.map_or(at, |wake| wake.min(at)));
    }

    /// The voters but this node, ascending.
    pub(crate) fn other_voters(&self) -> Vec<NodeId> {
        let own = self.is_voter().then_some(self.config.local.id);
        self.voters().ids().filter(|id| Some(*id) != own).collect()
    }

    /// Whether this node's log takes it out of the voter set without the removal being known as
    /// committed. Such a node may be the only one that can win, as no voter has its log; it leads
    /// until the removal is committed (Ongaro's thesis, 4.2.2; Kafka has it wait as an observer).
    fn is_leaving(&self) -> bool {
        let settled = self.history.voters_at() < self.high_watermark;
        !settled && self.history.voters_before().contains(self.config.local)
    }

    /// Whether this node may stand for election at all.
    pub(crate) fn may_campaign(&self) -> bool {
        let stands = self.is_voter() || (self.config.controller && self.is_leaving());
        stands && self.installing.is_none() && self.stopping.is_none() && !self.failed
    }

    /// Whether a message addressed to that replica is for this node.
    pub(crate) fn is_addressed(&self, voter: Option<quorate_types::ReplicaKey>) -> bool {
        voter.is_none_or(|voter| voter.matches(self.config.local))
    }

    pub(crate) fn raise_high_watermark(&mut self, to: Offset) {
        if to > self.high_watermark.unwrap_or(Offset::ZERO) {
            self.high_watermark = Some(to);
            self.output(Output::HighWatermark(to));
        }
    }

    /// Moves the high watermark as far as role and disk allow.
    pub(crate) fn advance_high_watermark(&mut self) {
        match &self.role {
            Role::Leader(_) => self.advance_as_leader(),
            Role::Follower(following) => {
                if let Some(theirs) = following.leader_hw {
                    self.raise_high_watermark(theirs.min(self.log.durable_end()));
                }
            }
            _ => {}
        }
    }

    /// The quorum as seen from here, as DescribeQuorum answers it.
    pub fn describe(&self, now: MonoTime) -> rpc::DescribeReply {
        crate::describe::describe(self, now)
    }
}
