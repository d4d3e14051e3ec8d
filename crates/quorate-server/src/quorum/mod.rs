//! One node's part in the quorum: the Raft core joined with its bytes, its peers and its disk.
//!
//! - Raft knows offsets; the bytes of batches pass from socket or engine to disk through here, and
//!   the newest stay in the [`LogTail`].
//! - Every output of the core is carried out before the core is entered again.
//! - Voters are answered before observers: a commit waits for their disks.
//! - Committed batches are read from the tail, or from disk where a reader has fallen behind.

mod calls;
mod links;
mod members;
mod requests;
mod responses;
mod snapshots;
mod wire;

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use bytes::Bytes;
use quorate_metadata::LoadedSnapshot;
use quorate_protocol::batch::{self, BatchView, MAX_BATCH_BYTES};
use quorate_protocol::messages::Response;
use quorate_raft::{
    AppendError, Batch, Boot, BootError, CallId, Config, DiskOp, DiskSeq, Fatal, Input, Raft,
    RequestId, Source, rpc,
};
use quorate_types::{Epoch, KRaftVersion, MonoTime, NodeId, Offset, OffsetAndEpoch, Rng};

use crate::disk::{self, DiskDone, DiskJob};
use crate::io::{Address, Now, Output};
use crate::links::{ConnNames, Links};
use crate::snapshots::{SnapshotConfig, Snapshots};
use crate::tail::{EncodedBatch, LogTail};

/// What [`Quorum`] needs to know besides what Raft does.
#[derive(Debug, Clone)]
pub struct QuorumConfig {
    /// Raft's own settings.
    pub raft: Config,
    /// The cluster's id; requests that name another are refused.
    pub cluster_id: String,
    /// The name of the listener on which controllers are reached.
    pub listener: String,
    /// `controller.quorum.bootstrap.servers`.
    pub bootstrap: Vec<Address>,
    /// About how many bytes of the newest batches stay in memory.
    pub tail_bytes: usize,
    /// When snapshots are written and dropped.
    pub snapshots: SnapshotConfig,
}

/// What the quorum tells the node it is part of.
#[derive(Debug)]
pub enum QuorumEvent {
    /// A request of a peer is answered.
    Answer {
        /// The request, as [`Quorum::request`] was given it.
        token: u64,
        /// The answer.
        response: Box<Response>,
    },
    /// Everything before that offset is committed.
    HighWatermark(Offset),
    /// The leadership changed.
    Leader {
        /// The epoch.
        epoch: Epoch,
        /// Its leader, if known.
        leader: Option<NodeId>,
        /// If this node leads: where its epoch begins.
        mine_from: Option<Offset>,
    },
    /// Start over from that snapshot; what was applied before is void.
    Snapshot(Box<LoadedSnapshot>),
    /// Batches that were asked for with [`Quorum::read_committed`] arrived from disk: ask again.
    ReadReady,
    /// This node wrote a snapshot.
    SnapshotWritten(OffsetAndEpoch),
    /// Something went wrong that the node can live with.
    Warning(String),
    /// The node cannot go on.
    Fatal(String),
    /// The hand-over is complete.
    Stopped,
}

/// What [`Quorum::read_committed`] found.
#[derive(Debug)]
pub enum CommittedRead {
    /// These batches come next; none if everything committed was read.
    Batches(Vec<EncodedBatch>),
    /// The disk was asked; [`QuorumEvent::ReadReady`] says when to ask again.
    Pending,
}

/// A batch read that the disk works on.
#[derive(Debug)]
enum Reading {
    /// For a fetch that is to be answered.
    Fetch {
        request: RequestId,
        reply: Box<rpc::FetchReply>,
    },
    /// For a piece of a snapshot that is to be answered.
    Snapshot {
        request: RequestId,
        reply: Box<rpc::SnapshotReply>,
    },
    /// For the reader of committed batches.
    Committed { from: Offset },
}

/// See the module's documentation.
#[derive(Debug)]
pub struct Quorum {
    config: QuorumConfig,
    raft: Raft,
    links: Links,
    tail: LogTail,
    calls: BTreeMap<CallId, calls::Calling>,
    nodes: BTreeMap<Address, NodeId>,
    /// Batches of fetch answers that Raft is looking at.
    fetched: BTreeMap<CallId, VecDeque<EncodedBatch>>,
    /// Chunks of snapshots that Raft is looking at.
    chunks: BTreeMap<CallId, Bytes>,
    /// Batches that the engine passed beside an append.
    local: VecDeque<EncodedBatch>,
    requests: BTreeMap<RequestId, requests::Asked>,
    reads: BTreeMap<u64, Reading>,
    last_read: u64,
    committed_from_disk: Option<(Offset, Vec<EncodedBatch>)>,
    /// Whether a snapshot is to be told of, before which nothing is read.
    loading: bool,
    /// Whether this node leads or a leader answered it: what is on disk is not shown before, for
    /// nobody can say how old it is.
    in_contact: bool,
    /// What was found on disk before there was contact.
    untold: VecDeque<QuorumEvent>,
    /// The snapshot that is to be loaded, or was last.
    to_load: OffsetAndEpoch,
    snapshots: Snapshots,
    events: VecDeque<QuorumEvent>,
    out: Vec<Output>,
}

impl Quorum {
    /// Starts from what the disk holds.
    ///
    /// # Errors
    /// If the disk's content does not allow to take part safely.
    pub fn new(
        config: QuorumConfig,
        boot: Boot,
        rng: Rng,
        now: Now,
        names: &mut ConnNames,
    ) -> Result<Quorum, BootError> {
        let end = boot.log.end;
        let client_id = format!("raft-client-{}", config.raft.local.id);
        let mut quorum = Quorum {
            links: Links::new(client_id, config.raft.retry_backoff),
            tail: LogTail::new(end, config.tail_bytes),
            raft: Raft::new(config.raft.clone(), boot, rng, now.mono)?,
            snapshots: Snapshots::new(config.snapshots.clone(), end, now.mono),
            config,
            calls: BTreeMap::new(),
            nodes: BTreeMap::new(),
            fetched: BTreeMap::new(),
            chunks: BTreeMap::new(),
            local: VecDeque::new(),
            requests: BTreeMap::new(),
            reads: BTreeMap::new(),
            last_read: 0,
            committed_from_disk: None,
            loading: false,
            in_contact: false,
            untold: VecDeque::new(),
            to_load: OffsetAndEpoch::default(),
            events: VecDeque::new(),
            out: Vec::new(),
        };
        quorum.carry_out(now, names);
        Ok(quorum)
    }

    /// Lets time act.
    pub fn tick(&mut self, now: Now, names: &mut ConnNames) {
        self.clean_snapshots(now);
        self.links.tick(now.mono, names);
        self.settle_links(now, names);
        if self
            .raft
            .deadline()
            .is_some_and(|deadline| deadline <= now.mono)
        {
            self.step(now, names, Input::Tick);
        }
    }

    /// When [`tick`](Quorum::tick) is due.
    pub fn deadline(&self) -> Option<MonoTime> {
        [
            self.raft.deadline(),
            self.links.deadline(),
            Some(self.snapshots.deadline()),
        ]
        .into_iter()
        .flatten()
        .min()
    }

    /// The next report.
    pub fn poll(&mut self) -> Option<QuorumEvent> {
        self.events.pop_front()
    }

    /// Whether there is nothing to report.
    pub fn is_quiet(&self) -> bool {
        self.events.is_empty()
    }

    /// Moves what is to be done outside to `out`.
    pub fn drain(&mut self, out: &mut Vec<Output>) {
        self.links.drain(&mut self.out);
        out.append(&mut self.out);
    }

    /// Gives up leading `epoch`.
    pub fn resign(&mut self, now: Now, names: &mut ConnNames, epoch: Epoch) {
        self.step(now, names, Input::Resign { epoch });
    }

    /// Hands over; [`QuorumEvent::Stopped`] ends it.
    pub fn shut_down(&mut self, now: Now, names: &mut ConnNames, within: Duration) {
        self.step(now, names, Input::Shutdown { within });
    }

    /// Appends the leader's records, each item of `batches` as one batch.
    ///
    /// # Errors
    /// Nothing was appended; see [`AppendRefused`].
    pub fn append(
        &mut self,
        now: Now,
        names: &mut ConnNames,
        epoch: Epoch,
        base: Offset,
        batches: &[Vec<Bytes>],
    ) -> Result<(), AppendRefused> {
        let mut next = base;
        let mut encoded = Vec::with_capacity(batches.len());
        for values in batches {
            let bytes = batch::encode_data_batch(next, epoch, now.wall, values)
                .map_err(|_| AppendRefused::TooLarge)?;
            if bytes.len() > MAX_BATCH_BYTES {
                return Err(AppendRefused::TooLarge);
            }
            let end = next + values.len() as i64;
            encoded.push(EncodedBatch {
                base: next,
                end,
                epoch,
                bytes,
            });
            next = end;
        }
        let shapes: Vec<Batch> = encoded
            .iter()
            .map(|batch| Batch::data(batch.base, batch.end - batch.base, epoch))
            .collect();
        self.raft.append(now.mono, epoch, base, &shapes)?;
        self.local.extend(encoded);
        self.carry_out(now, names);
        Ok(())
    }

    /// What comes next for a reader of committed batches that has read up to `from`.
    pub fn read_committed(&mut self, from: Offset, max_bytes: usize) -> CommittedRead {
        if self.loading {
            return CommittedRead::Pending;
        }
        let limit = self.raft.high_watermark().unwrap_or(Offset::ZERO);
        if from >= limit {
            return CommittedRead::Batches(Vec::new());
        }
        if let Some(batches) = self.tail.read(from, limit, max_bytes) {
            self.count(&batches);
            return CommittedRead::Batches(batches);
        }
        match self.committed_from_disk.take() {
            Some((start, mut batches)) if start == from => {
                batches.retain(|batch| batch.end <= limit);
                self.count(&batches);
                return CommittedRead::Batches(batches);
            }
            _ => {}
        }
        let asked = self
            .reads
            .values()
            .any(|reading| matches!(reading, Reading::Committed { from: start } if *start == from));
        if !asked {
            self.read_from_disk(from, max_bytes, Reading::Committed { from });
        }
        CommittedRead::Pending
    }

    /// The Raft core, to look at.
    pub fn raft(&self) -> &Raft {
        &self.raft
    }

    /// The quorum's settings.
    pub fn config(&self) -> &QuorumConfig {
        &self.config
    }

    /// Where the leader listens on the controllers' listener, if it is known.
    pub fn leader_address(&self) -> Option<(NodeId, Address)> {
        let leader = self.raft.leader()?;
        let endpoints = match self.raft.voters().get(leader) {
            Some(voter) if !voter.endpoints.is_empty() => voter.endpoints.clone(),
            _ => self.raft.leader_endpoints(),
        };
        let endpoint = calls::choose(&endpoints, &self.config.listener)?;
        Some((leader, Address::from(endpoint)))
    }

    /// The disk reports.
    pub fn disk(&mut self, now: Now, names: &mut ConnNames, done: DiskDone) {
        match done {
            DiskDone::Durable { upto } => {
                self.step(now, names, Input::Durable { upto });
                self.tail.evict(self.raft.durable_end());
            }
            DiskDone::Failed { seq, error } => {
                self.events.push_back(QuorumEvent::Fatal(error));
                self.step(now, names, Input::DiskFailed { seq });
            }
            DiskDone::Installed {
                upto,
                id,
                size,
                voters,
                version,
            } => {
                self.tail.reset(id.offset);
                self.snapshots.log_emptied();
                self.step(
                    now,
                    names,
                    Input::SnapshotInstalled {
                        id,
                        size,
                        voters,
                        version,
                    },
                );
                self.step(now, names, Input::Durable { upto });
            }
            // A later snapshot has taken this one's place meanwhile, and is on its way.
            DiskDone::Loaded { id, .. } if id != self.to_load => {}
            DiskDone::Loaded {
                result: Ok(snapshot),
                ..
            } => {
                self.snapshots.loaded(now.mono);
                self.tell_state(QuorumEvent::Snapshot(snapshot));
            }
            DiskDone::Loaded {
                result: Err(error), ..
            } => {
                self.events.push_back(QuorumEvent::Fatal(error));
            }
            DiskDone::Read { token, result } => self.disk_read(token, result),
            DiskDone::Snapshot { id, result } => self.snapshot_step(now, names, id, result),
            DiskDone::Cleaned { result } => self.cleaned(now, names, result),
            DiskDone::ReadSnapshot { token, result } => {
                if let Some(Reading::Snapshot { request, reply }) = self.reads.remove(&token) {
                    self.answer_snapshot(request, *reply, result);
                }
            }
        }
    }

    fn disk_read(&mut self, token: u64, result: Result<Vec<Bytes>, String>) {
        let batches = match result {
            Ok(batches) => batches,
            // What was written can not be read any more: nothing that this node says can be
            // relied on.
            Err(error) => {
                self.events.push_back(QuorumEvent::Fatal(error));
                return;
            }
        };
        let batches: Vec<EncodedBatch> = batches
            .into_iter()
            .filter_map(|bytes| encoded(BatchView::new(bytes).ok()?))
            .collect();
        match self.reads.remove(&token) {
            Some(Reading::Fetch { request, reply }) => {
                let records = within_epoch(batches, reply.leadership.epoch);
                self.answer_fetch(request, &reply, &records);
            }
            Some(Reading::Committed { from }) => {
                self.committed_from_disk = Some((from, batches));
                self.events.push_back(QuorumEvent::ReadReady);
            }
            Some(Reading::Snapshot { .. }) | None => {}
        }
    }

    fn read_from_disk(&mut self, from: Offset, max_bytes: usize, reading: Reading) {
        self.last_read += 1;
        let token = self.last_read;
        self.reads.insert(token, reading);
        self.out.push(Output::Disk(DiskJob::Read {
            token,
            from,
            max_bytes,
        }));
    }

    /// Tells how far the log can be applied, as soon as there was contact with a leader.
    fn tell_state(&mut self, event: QuorumEvent) {
        if !self.in_contact {
            return self.untold.push_back(event);
        }
        if matches!(event, QuorumEvent::Snapshot(_)) {
            self.loading = false;
        }
        self.events.push_back(event);
    }

    /// This node leads, or a leader answered it: from now on it shows what it has.
    fn came_into_contact(&mut self) {
        self.in_contact = true;
        for event in std::mem::take(&mut self.untold) {
            self.tell_state(event);
        }
    }

    /// Enters the core and carries out what comes of it.
    fn step(&mut self, now: Now, names: &mut ConnNames, input: Input) {
        self.raft.handle(now.mono, input);
        self.carry_out(now, names);
    }

    fn carry_out(&mut self, now: Now, names: &mut ConnNames) {
        let mut to_observers = Vec::new();
        while let Some(output) = self.raft.poll() {
            use quorate_raft::Output as Raft;
            match output {
                Raft::Disk { seq, op } => self.write(now, seq, op),
                Raft::Reply { to, body } if self.is_observers(to) => to_observers.push((to, body)),
                Raft::Reply { to, body } => self.reply(now, to, body),
                Raft::Call {
                    call,
                    to,
                    body,
                    timeout,
                } => {
                    self.call(now, names, call, &to, &body, timeout);
                }
                Raft::HighWatermark(offset) => {
                    self.tell_state(QuorumEvent::HighWatermark(offset));
                }
                Raft::Leader {
                    epoch,
                    leader,
                    mine_from,
                } => {
                    if mine_from.is_some() {
                        self.came_into_contact();
                    }
                    self.events.push_back(QuorumEvent::Leader {
                        epoch,
                        leader,
                        mine_from,
                    });
                }
                Raft::ReadFrom { snapshot } => {
                    self.loading = true;
                    self.to_load = snapshot;
                    self.committed_from_disk = None;
                    self.out.push(Output::Disk(DiskJob::Load { id: snapshot }));
                }
                // Read where it is needed, from the core itself.
                Raft::Members { .. } => {}
                // The disk's own words were told before.
                Raft::Fatal {
                    reason: Fatal::Disk { .. },
                } => {}
                Raft::Fatal { reason } => {
                    self.events
                        .push_back(QuorumEvent::Fatal(reason.to_string()));
                }
                Raft::Stopped => self.events.push_back(QuorumEvent::Stopped),
            }
        }
        for (to, body) in to_observers {
            self.reply(now, to, body);
        }
        self.settle_links(now, names);
    }

    fn write(&mut self, now: Now, seq: DiskSeq, op: DiskOp) {
        let op = match op {
            DiskOp::SaveElection(state) => disk::DiskOp::SaveElection {
                state,
                version: self.raft.kraft_version(),
                voters: self.raft.voters().ids().collect(),
            },
            DiskOp::Append { from, base, end } => {
                let batches = self.take_batches(from, base, end);
                disk::DiskOp::Append { batches }
            }
            DiskOp::AppendControl {
                base,
                epoch,
                records,
            } => {
                // Control records are small and of known kinds: encoding them cannot fail.
                let bytes = batch::encode_control_batch(base, epoch, now.wall, &records)
                    .expect("control records fit a batch");
                let end = base + records.len() as i64;
                self.snapshots.appended(end, bytes.len());
                self.tail.push(EncodedBatch {
                    base,
                    end,
                    epoch,
                    bytes: bytes.clone(),
                });
                disk::DiskOp::Append {
                    batches: vec![bytes],
                }
            }
            DiskOp::Truncate { end } => {
                self.tail.truncate(end);
                self.snapshots.truncated(end);
                disk::DiskOp::Truncate { end }
            }
            DiskOp::SnapshotChunk { id, from, position } => disk::DiskOp::SnapshotChunk {
                id,
                position,
                bytes: self.chunks.remove(&from).unwrap_or_default(),
            },
            DiskOp::InstallSnapshot { id } => disk::DiskOp::InstallSnapshot { id },
            DiskOp::DropSnapshot { id } => disk::DiskOp::DropSnapshot { id },
        };
        self.out.push(Output::Disk(DiskJob::Write { seq, op }));
    }

    /// The bytes of an append, which also become the log's tail.
    fn take_batches(&mut self, from: Source, base: Offset, end: Offset) -> Vec<Bytes> {
        let held = match from {
            Source::Local => Some(&mut self.local),
            Source::Fetched(call) => self.fetched.get_mut(&call),
        };
        let mut batches = Vec::new();
        let Some(held) = held else { return batches };
        while let Some(batch) = held.front() {
            if batch.end > end {
                break;
            }
            debug_assert!(
                batch.base >= base,
                "Raft appends what it was given, in order"
            );
            batches.push(batch.bytes.clone());
            self.snapshots.appended(batch.end, batch.bytes.len());
            self.tail.push(batch.clone());
            held.pop_front();
        }
        batches
    }
}

/// Why records were not appended.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AppendRefused {
    /// Raft did not take them.
    #[error(transparent)]
    Raft(#[from] AppendError),
    /// A batch would be larger than Kafka takes.
    #[error("a batch is larger than {MAX_BATCH_BYTES} bytes")]
    TooLarge,
}

/// The versions of the quorum's own protocol that this build knows.
pub const KRAFT_VERSIONS: quorate_types::VersionRange = quorate_types::VersionRange {
    min: KRaftVersion::STATIC.0,
    max: KRaftVersion::LATEST.0,
};

fn encoded(view: BatchView) -> Option<EncodedBatch> {
    Some(EncodedBatch {
        base: view.base_offset(),
        end: view.end_offset(),
        epoch: view.epoch(),
        bytes: view.into_bytes(),
    })
}

/// The batches up to the first of a later epoch: a truncation may have raced the read.
fn within_epoch(batches: Vec<EncodedBatch>, epoch: Epoch) -> Vec<EncodedBatch> {
    batches
        .into_iter()
        .take_while(|batch| batch.epoch <= epoch)
        .collect()
}
