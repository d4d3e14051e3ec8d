//! Leading: taking records, serving fetches, moving the high watermark, and staying known.

use quorate_types::{Endpoint, Epoch, ErrorCode, MonoTime, NodeId, Offset, ReplicaKey};

use crate::calls::{Peer, Purpose};
use crate::leader::Leading;
use crate::log::Position;
use crate::role::Role;
use crate::rpc::{BeginRequest, FetchReply, FetchRequest, Fetched, Reply, Request};
use crate::{AppendError, Batch, DiskOp, Raft, RequestId, Source};

impl Raft {
    /// Appends the leader's own records: compare-and-append. The batches must be contiguous from
    /// `base`, of the leader's `epoch`, and hold data; the driver keeps their bytes until the
    /// [`DiskOp::Append`] from [`Source::Local`] that comes out. Appended does not mean committed.
    ///
    /// # Errors
    /// Nothing was appended; see [`AppendError`].
    pub fn append(
        &mut self,
        now: MonoTime,
        epoch: Epoch,
        base: Offset,
        batches: &[Batch],
    ) -> Result<(), AppendError> {
        self.now = self.now.max(now);
        let leads = matches!(self.role, Role::Leader(_)) && self.stopping.is_none();
        if self.is_failed() || !leads || epoch != self.election.epoch {
            return Err(AppendError::NotLeader);
        }
        let end = self.log.end();
        if base != end {
            return Err(AppendError::Moved { end });
        }
        if !is_leaders_own(batches, base, epoch) {
            return Err(AppendError::Invalid);
        }
        if self.log.pending_len() >= self.config.max_unflushed_appends {
            return Err(AppendError::Full);
        }
        for batch in batches {
            self.take_in(batch);
        }
        let seq = self.disk(DiskOp::Append {
            from: Source::Local,
            base,
            end: self.log.end(),
        });
        self.log.appending(seq);
        self.wake_parked(false);
        self.advance();
        Ok(())
    }

    /// Serves a fetch. In order: (1) numbers out of range; (2) is this node the leader of that epoch;
    /// (3) the fetcher's log is placed, and if it is a prefix the fetch is credited; (4) it is
    /// answered, or parked if there is nothing to say.
    pub(crate) fn on_fetch(&mut self, from: RequestId, fetch: FetchRequest) {
        let numbers = fetch.max_wait_ms >= 0
            && fetch.offset.0 >= 0
            && fetch.last_epoch >= Epoch(0)
            && fetch.last_epoch <= fetch.epoch;
        let checked = if numbers {
            self.check_leader(Some(fetch.epoch))
        } else {
            Err(ErrorCode::InvalidRequest)
        };
        let own = fetch
            .replica
            .is_some_and(|key| key.id == self.config.local.id);
        let checked = match checked {
            Ok(()) if own => Err(ErrorCode::UnknownServerError),
            checked => checked,
        };
        if let Err(error) = checked {
            return self.refuse(from, &Request::Fetch(fetch), error);
        }
        if let (Some(replica), Position::Valid) = (fetch.replica, self.position_of(&fetch)) {
            self.credit(replica, fetch.offset);
        }
        match self.evaluate(&fetch) {
            Some(reply) => self.reply(from, Reply::Fetch(reply)),
            None => self.parked.park(self.now, from, fetch),
        }
    }

    /// The check that comes first at everything only a leader answers.
    pub(crate) fn check_leader(&self, epoch: Option<Epoch>) -> Result<(), ErrorCode> {
        if epoch.is_some_and(|epoch| epoch < self.election.epoch) {
            return Err(ErrorCode::FencedLeaderEpoch);
        }
        if epoch.is_some_and(|epoch| epoch > self.election.epoch) {
            return Err(ErrorCode::UnknownLeaderEpoch);
        }
        if !matches!(self.role, Role::Leader(_)) {
            return Err(ErrorCode::NotLeaderOrFollower);
        }
        if self.stopping.is_some() {
            return Err(ErrorCode::BrokerNotAvailable);
        }
        Ok(())
    }

    fn position_of(&self, fetch: &FetchRequest) -> Position {
        self.log.position_of(fetch.offset, fetch.last_epoch)
    }

    /// Notes how far a replica is. Its log is a prefix of this one, so it acknowledges all of it.
    fn credit(&mut self, replica: ReplicaKey, end: Offset) {
        let (now, leader_end) = (self.now, self.log.end());
        let key = self.key_in_set(replica);
        let timeout = self.config.observer_timeout;
        if let Role::Leader(leading) = &mut self.role {
            leading.fetched(now, key, end, leader_end);
            leading.forget_observers(now, timeout, self.history.voters());
        }
        self.hear(Some(replica));
        self.advance_high_watermark();
    }

    /// Notes a sign of life; that of a voter keeps the leader in office.
    pub(crate) fn hear(&mut self, replica: Option<ReplicaKey>) {
        let voters = self.history.voters();
        let Some(replica) = replica.filter(|replica| voters.contains(*replica)) else {
            return;
        };
        let timeout = self.config.check_quorum_timeout();
        let begin = self.now + self.config.begin_interval();
        if let Role::Leader(leading) = &mut self.role {
            leading.heard(self.now, replica.id, self.config.local.id, voters, timeout);
            leading.postpone_begin(replica.id, begin);
        }
    }

    /// Where a voter listens, by its own report if there is one.
    pub(crate) fn known_endpoints(&self, leading: &Leading, id: NodeId) -> Vec<Endpoint> {
        match leading.reported.get(&id) {
            Some(reported) => reported.endpoints.clone(),
            None if id == self.config.local.id && !self.config.endpoints.is_empty() => {
                self.config.endpoints.clone()
            }
            None => self.endpoints_of(id),
        }
    }

    /// The replica as the voter set names it: a static voter has no directory there.
    pub(crate) fn key_in_set(&self, replica: ReplicaKey) -> ReplicaKey {
        match self.voters().get(replica.id) {
            Some(voter) if voter.directory.is_none() => ReplicaKey::new(replica.id, None),
            _ => replica,
        }
    }

    /// The answer to a fetch, unless it has to wait for something to say.
    fn evaluate(&self, fetch: &FetchRequest) -> Option<FetchReply> {
        let Role::Leader(leading) = &self.role else {
            return None;
        };
        let reply = self.fetch_reply(leading, fetch);
        let nothing_new = matches!(reply.body, Fetched::Nothing)
            && fetch.high_watermark.0 >= Offset::to_wire(leading.high_watermark);
        (!nothing_new || fetch.max_wait_ms == 0).then_some(reply)
    }

    fn fetch_reply(&self, leading: &Leading, fetch: &FetchRequest) -> FetchReply {
        let end = self.log.end();
        let body = match self.position_of(fetch) {
            Position::Valid if fetch.offset < end => Fetched::Records(fetch.offset..end),
            Position::Valid => Fetched::Nothing,
            Position::Diverging(at) => Fetched::Diverging(at),
            Position::Snapshot(id) => Fetched::Snapshot(id),
        };
        FetchReply {
            error: ErrorCode::None,
            leadership: self.leadership(),
            high_watermark: leading.high_watermark,
            log_start: self.log.start(),
            body,
        }
    }

    /// Looks at the parked fetches again; after a move of the high watermark all are answered.
    pub(crate) fn wake_parked(&mut self, all: bool) {
        let end = self.log.end();
        let woken = self.parked.take_if(|_, fetch| all || fetch.offset < end);
        self.answer_parked(woken);
    }

    /// Answers the parked fetches whose time is over.
    pub(crate) fn expire_parked(&mut self) {
        let now = self.now;
        let expired = self.parked.take_if(|until, _| until <= now);
        self.answer_parked(expired);
        if let Some(at) = self.parked.next_expiry() {
            self.wake_at(at);
        }
    }

    fn answer_parked(&mut self, fetches: Vec<(RequestId, FetchRequest)>) {
        for (from, fetch) in fetches {
            if let Role::Leader(leading) = &self.role {
                let reply = self.fetch_reply(leading, &fetch);
                self.reply(from, Reply::Fetch(reply));
            }
        }
    }

    /// Sends all parked fetches away: this node leads no more.
    pub(crate) fn fail_parked(&mut self) {
        for (from, fetch) in self.parked.take() {
            self.refuse(from, &Request::Fetch(fetch), ErrorCode::NotLeaderOrFollower);
        }
    }

    /// The leader's high watermark: what a majority has on disk, beyond the epoch's start, and never
    /// more than is durable here.
    pub(crate) fn advance_as_leader(&mut self) {
        let durable_end = self.log.durable_end();
        let (local, voters) = (self.config.local, self.history.voters());
        let Role::Leader(leading) = &mut self.role else {
            return;
        };
        let reached = leading.majority_end(local, durable_end, voters);
        if reached > leading.high_watermark {
            leading.high_watermark = reached;
            if let Some(end) = reached {
                self.raise_high_watermark(end);
                self.wake_parked(true);
                self.on_committed(end);
            }
        }
    }

    /// Tells the voters that have not fetched for a while, or never, who leads.
    pub(crate) fn send_begins(&mut self) {
        let local = self.config.local.id;
        for id in self.other_voters() {
            let due = match &self.role {
                Role::Leader(leading) => leading.begin_due(id),
                _ => return,
            };
            if due > self.now {
                self.wake_at(due);
                continue;
            }
            if !self.is_ready(Peer::Node(id)) {
                continue;
            }
            let directory = self.voters().get(id).and_then(|voter| voter.directory);
            let begin = BeginRequest {
                voter: Some(ReplicaKey::new(id, directory)),
                leader: local,
                epoch: self.election.epoch,
                endpoints: self.config.endpoints.clone(),
            };
            self.call(
                Peer::Node(id),
                Purpose::Begin,
                Request::BeginQuorumEpoch(begin),
            );
            let again = self.now + self.config.begin_interval();
            if let Role::Leader(leading) = &mut self.role {
                leading.postpone_begin(id, again);
            }
            self.wake_at(again);
        }
        self.send_probe();
    }

    /// The other voters by how far they are, the furthest first.
    pub(crate) fn successors(&self) -> Vec<ReplicaKey> {
        let Role::Leader(leading) = &self.role else {
            return Vec::new();
        };
        let others = self.other_voters();
        let is_other = |key: &ReplicaKey| others.contains(&key.id);
        let mut keys: Vec<ReplicaKey> = self.voters().keys().filter(is_other).collect();
        keys.sort_by_key(|key| std::cmp::Reverse(leading.progress_of(*key).end));
        keys
    }

    /// The state machine gives up leading.
    pub(crate) fn on_resign(&mut self, epoch: Epoch) {
        if matches!(self.role, Role::Leader(_)) && epoch == self.election.epoch {
            self.become_resigned();
        }
    }
}

/// Whether the batches are data records of that epoch, without gaps from `base` on.
fn is_leaders_own(batches: &[Batch], base: Offset, epoch: Epoch) -> bool {
    let mut end = base;
    for batch in batches {
        let fits = batch.base == end && batch.end > batch.base && batch.epoch == epoch;
        if !fits || !batch.control.is_empty() {
            return false;
        }
        end = batch.end;
    }
    end > base
}
