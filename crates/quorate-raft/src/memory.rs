//! The trivial driver: a whole quorum in memory, for the tests and examples of what stands on Raft.
//!
//! Every disk is fast and keeps what it was given, messages arrive in the order they were sent, and
//! time jumps to whatever is due next; processes crash and come back. It shows all that a driver has
//! to do, and is a consensus that another state machine can be tried on. It is no test of Raft
//! itself: nothing is lost, late or doubled here.

use std::collections::{BTreeMap, VecDeque};

use quorate_types::{ControlRecord, Epoch, MonoTime, NodeId, Offset, ReplicaKey, Rng, VoterSet};

use crate::rpc::{self, Answer, FetchAnswer, Fetched, Reply};
use crate::{
    AppendError, Batch, Boot, BootError, CallError, CallId, Config, Destination, DiskOp,
    ElectionState, Input, LogSummary, Output, Raft, RequestId, RoleName,
};

/// A batch with its records.
#[derive(Debug, Clone, PartialEq)]
pub struct MemoryBatch<R> {
    /// The offset of its first record.
    pub base: Offset,
    /// The offset after its last record.
    pub end: Offset,
    /// The epoch of the leader that wrote it.
    pub epoch: Epoch,
    /// Its records, one an offset; none for others if it is a control batch.
    pub records: Vec<R>,
    control: Vec<ControlRecord>,
}

impl<R> MemoryBatch<R> {
    fn new(bounds: Batch, records: Vec<R>) -> MemoryBatch<R> {
        MemoryBatch {
            base: bounds.base,
            end: bounds.end,
            epoch: bounds.epoch,
            records,
            control: bounds.control,
        }
    }

    /// The batch as Raft sees it.
    fn bounds(&self) -> Batch {
        Batch {
            base: self.base,
            end: self.end,
            epoch: self.epoch,
            control: self.control.clone(),
        }
    }
}

/// What a node of a [`MemoryQuorum`] tells the state machine above it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryEvent {
    /// Everything before that offset is committed.
    HighWatermark(Offset),
    /// This node leads that epoch, which begins at that offset.
    Leads(Epoch, Offset),
    /// This node does not lead that epoch, or no more.
    Follows(Epoch),
}

#[derive(Debug)]
struct Node<R> {
    /// `None` while its process is down.
    raft: Option<Raft>,
    /// Of the disk: the vote and the log.
    election: Option<ElectionState>,
    log: Vec<MemoryBatch<R>>,
    /// What is to be written once Raft says so.
    held: Vec<MemoryBatch<R>>,
    events: VecDeque<MemoryEvent>,
}

/// A request that was not answered yet.
#[derive(Debug)]
struct Calling {
    caller: NodeId,
    call: CallId,
    to: NodeId,
}

#[derive(Debug)]
struct Mail<R> {
    to: NodeId,
    input: Input,
    /// The records of a fetch answer.
    batches: Vec<MemoryBatch<R>>,
}

/// A static quorum of voters in memory, each with a log of records `R`.
///
/// ```
/// use quorate_raft::MemoryQuorum;
///
/// let mut quorum = MemoryQuorum::new([1, 2, 3], 7)?;
/// let leader = loop {
///     quorum.step(None);
///     if let Some(leader) = quorum.leader() {
///         break leader;
///     }
/// };
/// let raft = quorum.raft(leader).unwrap();
/// let (epoch, base) = (raft.epoch(), raft.log_end());
/// quorum.append(leader, epoch, base, &[vec!["a", "b"]])?;
/// while !quorum.nodes().all(|id| quorum.high_watermark(id) >= base + 2) {
///     quorum.step(None);
/// }
///
/// quorum.crash(leader);
/// let heir = quorum.nodes().next().unwrap();
/// let read = quorum.committed(heir, base);
/// assert_eq!(read[0].records, ["a", "b"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct MemoryQuorum<R> {
    now: MonoTime,
    rng: Rng,
    voters: VoterSet,
    nodes: BTreeMap<NodeId, Node<R>>,
    mail: VecDeque<Mail<R>>,
    calls: BTreeMap<RequestId, Calling>,
    last_request: u64,
}

impl<R: Clone> MemoryQuorum<R> {
    /// Starts voters with these ids on empty disks.
    ///
    /// # Errors
    /// None that an empty disk could cause.
    pub fn new(
        ids: impl IntoIterator<Item = i32>,
        seed: u64,
    ) -> Result<MemoryQuorum<R>, BootError> {
        let ids: Vec<i32> = ids.into_iter().collect();
        let mut quorum = MemoryQuorum {
            now: MonoTime::ZERO,
            rng: Rng::new(seed),
            voters: VoterSet::of_ids(ids.iter().copied()),
            nodes: BTreeMap::new(),
            mail: VecDeque::new(),
            calls: BTreeMap::new(),
            last_request: 0,
        };
        for id in ids {
            let node = Node {
                raft: None,
                election: None,
                log: Vec::new(),
                held: Vec::new(),
                events: VecDeque::new(),
            };
            quorum.nodes.insert(NodeId(id), node);
            quorum.restart(NodeId(id))?;
        }
        Ok(quorum)
    }

    /// Delivers the next message; if there is none, lets time pass until some node is due, but not
    /// beyond `until`.
    pub fn step(&mut self, until: Option<MonoTime>) {
        if let Some(Mail { to, input, batches }) = self.mail.pop_front() {
            if let Some(node) = self.nodes.get_mut(&to) {
                node.held.extend(batches);
                self.enter(to, input);
            }
            return;
        }
        let running = self.nodes.values().filter_map(|node| node.raft.as_ref());
        let due = running.filter_map(Raft::deadline).chain(until).min();
        self.now = due.unwrap_or(self.now).max(self.now);
        let ids: Vec<NodeId> = self.nodes().collect();
        for id in ids {
            self.enter(id, Input::Tick);
        }
    }

    /// What a node tells the state machine above it next.
    pub fn poll(&mut self, id: NodeId) -> Option<MemoryEvent> {
        self.nodes.get_mut(&id)?.events.pop_front()
    }

    /// Appends to the log of the leader, each item of `batches` as one batch.
    ///
    /// # Errors
    /// As [`Raft::append`]; [`AppendError::NotLeader`] for a node that is down.
    pub fn append(
        &mut self,
        id: NodeId,
        epoch: Epoch,
        base: Offset,
        batches: &[Vec<R>],
    ) -> Result<(), AppendError> {
        let Some((node, raft)) = self.nodes.get_mut(&id).and_then(Node::running) else {
            return Err(AppendError::NotLeader);
        };
        let mut end = base;
        let mut bounds = Vec::new();
        for records in batches {
            bounds.push(Batch::data(end, records.len() as i64, epoch));
            end += records.len() as i64;
        }
        raft.append(self.now, epoch, base, &bounds)?;
        let appended = bounds.into_iter().zip(batches.iter().cloned());
        node.extend(appended.map(|(bounds, records)| MemoryBatch::new(bounds, records)));
        self.carry_out(id);
        Ok(())
    }

    /// Makes a leader give up an epoch.
    pub fn resign(&mut self, id: NodeId, epoch: Epoch) {
        self.enter(id, Input::Resign { epoch });
    }

    /// Ends a node's process. Its peers' kernels notice, its disk stays.
    pub fn crash(&mut self, id: NodeId) {
        let Some(node) = self.nodes.get_mut(&id) else {
            return;
        };
        node.raft = None;
        node.held.clear();
        node.events.clear();
        self.mail.retain(|mail| mail.to != id);
        self.calls.retain(|_, calling| calling.caller != id);
        for (request, calling) in std::mem::take(&mut self.calls) {
            if calling.to == id {
                let result = Err(CallError::Disconnected);
                self.answer(calling.caller, calling.call, result, Vec::new());
            } else {
                self.calls.insert(request, calling);
            }
        }
        for peer in self.nodes().collect::<Vec<_>>() {
            self.send(peer, Input::PeerDown { node: id }, Vec::new());
        }
    }

    /// Starts a node's process on what its disk holds; a running one is left alone.
    ///
    /// # Errors
    /// None that a disk of this quorum could cause.
    pub fn restart(&mut self, id: NodeId) -> Result<(), BootError> {
        let Some(node) = self.nodes.get_mut(&id).filter(|node| node.raft.is_none()) else {
            return Ok(());
        };
        let config = Config::new(ReplicaKey::new(id, None));
        let boot = Boot {
            election: node.election,
            log: summary(&node.log),
            static_voters: Some(self.voters.clone()),
        };
        node.raft = Some(Raft::new(config, boot, self.rng.fork(), self.now)?);
        self.carry_out(id);
        Ok(())
    }

    /// The time of the moment, the same for all.
    pub fn now(&self) -> MonoTime {
        self.now
    }

    /// The nodes that run.
    pub fn nodes(&self) -> impl Iterator<Item = NodeId> + use<'_, R> {
        let up = |(id, node): (&NodeId, &Node<R>)| node.raft.as_ref().map(|_| *id);
        self.nodes.iter().filter_map(up)
    }

    /// The core of a node that runs, to look at.
    pub fn raft(&self, id: NodeId) -> Option<&Raft> {
        self.nodes.get(&id)?.raft.as_ref()
    }

    /// The node that leads the latest epoch, if one does.
    pub fn leader(&self) -> Option<NodeId> {
        let leads = |id: &NodeId| {
            self.raft(*id)
                .is_some_and(|raft| raft.role() == RoleName::Leader)
        };
        self.nodes()
            .filter(leads)
            .max_by_key(|id| self.raft(*id).map(Raft::epoch))
    }

    /// What a node knows as committed; zero while it is down.
    pub fn high_watermark(&self, id: NodeId) -> Offset {
        let known = self.raft(id).and_then(Raft::high_watermark);
        known.unwrap_or(Offset::ZERO)
    }

    /// The batches from `from` on that a node knows as committed.
    pub fn committed(&self, id: NodeId, from: Offset) -> Vec<MemoryBatch<R>> {
        let end = self.high_watermark(id);
        let within = |batch: &&MemoryBatch<R>| batch.base >= from && batch.end <= end;
        let log = self.nodes.get(&id).map_or(&[][..], |node| &node.log);
        log.iter().filter(within).cloned().collect()
    }

    fn enter(&mut self, id: NodeId, input: Input) {
        if let Some((_, raft)) = self.nodes.get_mut(&id).and_then(Node::running) {
            raft.handle(self.now, input);
            self.carry_out(id);
        }
    }

    /// Carries out all outputs of one call, in their order.
    fn carry_out(&mut self, id: NodeId) {
        while let Some((_, raft)) = self.nodes.get_mut(&id).and_then(Node::running) {
            let Some(output) = raft.poll() else { return };
            match output {
                Output::Disk { seq, op } => {
                    if let Some(node) = self.nodes.get_mut(&id) {
                        node.write(op);
                    }
                    self.send(id, Input::Durable { upto: seq }, Vec::new());
                }
                Output::Call { call, to, body, .. } => self.call(id, call, &to, body),
                Output::Reply { to, body } => self.reply(id, to, body),
                Output::HighWatermark(end) => {
                    self.tell(id, MemoryEvent::HighWatermark(end));
                }
                Output::Leader {
                    epoch, mine_from, ..
                } => {
                    let event = match mine_from {
                        Some(start) => MemoryEvent::Leads(epoch, start),
                        None => MemoryEvent::Follows(epoch),
                    };
                    self.tell(id, event);
                }
                // There are no snapshots here, no change of voters, and no disk that fails.
                Output::ReadFrom { .. }
                | Output::Members { .. }
                | Output::Fatal { .. }
                | Output::Stopped => {}
            }
        }
    }

    fn tell(&mut self, id: NodeId, event: MemoryEvent) {
        if let Some(node) = self.nodes.get_mut(&id) {
            node.events.push_back(event);
        }
    }

    fn send(&mut self, to: NodeId, input: Input, batches: Vec<MemoryBatch<R>>) {
        self.mail.push_back(Mail { to, input, batches });
    }

    fn answer(
        &mut self,
        to: NodeId,
        call: CallId,
        result: Result<Answer, CallError>,
        batches: Vec<MemoryBatch<R>>,
    ) {
        self.send(to, Input::Answer { call, result }, batches);
    }

    fn call(&mut self, caller: NodeId, call: CallId, to: &Destination, body: rpc::Request) {
        match to {
            Destination::Node { id: to, .. } if self.raft(*to).is_some() => {
                let to = *to;
                self.last_request += 1;
                let from = RequestId(self.last_request);
                self.calls.insert(from, Calling { caller, call, to });
                self.send(to, Input::Request { from, body }, Vec::new());
            }
            _ => self.answer(caller, call, Err(CallError::Disconnected), Vec::new()),
        }
    }

    fn reply(&mut self, id: NodeId, to: RequestId, reply: Reply) {
        let Some(Calling { caller, call, .. }) = self.calls.remove(&to) else {
            return;
        };
        let mut batches = Vec::new();
        let answer = match reply {
            Reply::Vote(reply) => Ok(Answer::Vote(reply)),
            Reply::BeginQuorumEpoch(reply) => Ok(Answer::BeginQuorumEpoch(reply)),
            Reply::EndQuorumEpoch(reply) => Ok(Answer::EndQuorumEpoch(reply)),
            Reply::Fetch(reply) => {
                let body = match reply.body {
                    Fetched::Records(range) => {
                        let log = self.nodes.get(&id).map_or(&[][..], |node| &node.log);
                        let within = |batch: &&MemoryBatch<R>| range.contains(&batch.base);
                        batches = log.iter().filter(within).cloned().collect();
                        Fetched::Records(batches.iter().map(MemoryBatch::bounds).collect())
                    }
                    Fetched::Nothing => Fetched::Nothing,
                    Fetched::Diverging(end) => Fetched::Diverging(end),
                    Fetched::Snapshot(id) => Fetched::Snapshot(id),
                };
                Ok(Answer::Fetch(FetchAnswer {
                    error: reply.error,
                    leadership: reply.leadership,
                    high_watermark: reply.high_watermark,
                    body,
                    damaged: false,
                }))
            }
            _ => Err(CallError::Unsupported),
        };
        self.answer(caller, call, answer, batches);
    }
}

impl<R> Node<R> {
    /// What is held, and the core, of a node that runs.
    fn running(&mut self) -> Option<(&mut Vec<MemoryBatch<R>>, &mut Raft)> {
        Some((&mut self.held, self.raft.as_mut()?))
    }

    fn write(&mut self, op: DiskOp) {
        match op {
            DiskOp::SaveElection(state) => self.election = Some(state),
            DiskOp::Append { base, end, .. } => {
                let inside = |batch: &mut MemoryBatch<R>| batch.base >= base && batch.end <= end;
                self.log.extend(self.held.extract_if(.., inside));
            }
            DiskOp::AppendControl {
                base,
                epoch,
                records,
            } => {
                let end = base + records.len() as i64;
                let bounds = Batch {
                    base,
                    end,
                    epoch,
                    control: records,
                };
                self.log.push(MemoryBatch::new(bounds, Vec::new()));
            }
            DiskOp::Truncate { end } => self.log.retain(|batch| batch.end <= end),
            // Nobody writes snapshots here, so nobody fetches any.
            DiskOp::SnapshotChunk { .. }
            | DiskOp::InstallSnapshot { .. }
            | DiskOp::DropSnapshot { .. } => {}
        }
    }
}

/// What a node that starts on that log has to know of it.
fn summary<R>(log: &[MemoryBatch<R>]) -> LogSummary {
    let mut summary = LogSummary::default();
    for batch in log {
        summary.end = batch.end;
        if summary
            .epochs
            .last()
            .is_none_or(|last| last.0 < batch.epoch)
        {
            summary.epochs.push((batch.epoch, batch.base));
        }
        let offsets = (0..).map(|index| batch.base + index);
        let control = batch.control.iter().cloned();
        summary.control.extend(offsets.zip(control));
    }
    summary
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settle(quorum: &mut MemoryQuorum<u32>, upto: Offset) -> NodeId {
        for _ in 0..10_000 {
            let leader = quorum.leader();
            let known = |id: NodeId| quorum.high_watermark(id) >= upto;
            if let Some(leader) = leader.filter(|_| quorum.nodes().all(known)) {
                return leader;
            }
            quorum.step(None);
        }
        panic!("nobody leads, or {upto} is not committed");
    }

    #[test]
    fn a_node_that_comes_back_has_what_it_wrote_and_gets_what_it_missed() {
        let mut quorum = MemoryQuorum::new([1, 2, 3], 1).unwrap();
        let first = settle(&mut quorum, Offset(1));
        let epoch = quorum.raft(first).unwrap().epoch();
        quorum
            .append(first, epoch, Offset(1), &[vec![10], vec![20, 30]])
            .unwrap();
        settle(&mut quorum, Offset(4));

        quorum.crash(first);
        assert_eq!(quorum.nodes().count(), 2);
        let refused = quorum.append(first, epoch, Offset(4), &[vec![40]]);
        assert_eq!(refused, Err(AppendError::NotLeader));
        let second = settle(&mut quorum, Offset(5));
        let epoch = quorum.raft(second).unwrap().epoch();
        quorum
            .append(second, epoch, Offset(5), &[vec![40]])
            .unwrap();

        quorum.restart(first).unwrap();
        assert_eq!(quorum.raft(first).unwrap().log_end(), Offset(4));
        settle(&mut quorum, Offset(6));
        let records = quorum.committed(first, Offset::ZERO).into_iter();
        let records: Vec<u32> = records.flat_map(|batch| batch.records).collect();
        assert_eq!(records, [10, 20, 30, 40]);
    }
}
