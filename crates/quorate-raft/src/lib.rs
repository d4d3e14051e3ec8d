//! The Raft log and high-watermark state machine of KRaft (KIP-595), without I/O and without bytes.
//!
//! [`Raft`] is one node's part in the quorum that replicates a metadata log: elections with pre-vote
//! (KIP-996) and check-quorum, hand-over, replication by Fetch with long polls, truncation, the high
//! watermark, observers, snapshots (KIP-630) and voter changes (KIP-853). Kafka 4.2 controllers and
//! brokers can be its peers.
//!
//! It reads no clock, socket, file or source of chance: [`Input`]s go in with the time of the moment,
//! [`Output`]s come out, and [`Raft::deadline`] says when time alone makes a difference. It knows
//! batches by their bounds ([`Batch`]); only control records reach it decoded. It does not know
//! Kafka's wire format, metadata records, cluster ids, or where bytes are kept.
//!
//! # How it is driven
//! After each [`Raft::handle`] or [`Raft::append`] take all outputs with [`Raft::poll`] and carry them
//! out in their order. Disk operations form one queue; report progress with [`Input::Durable`]. The
//! core withholds what must not be seen before something is durable, so a driver has no such duties:
//!
//! | Output | appears only when durable is |
//! |---|---|
//! | any reply or call of an epoch; a granted vote; a vote request; an announcement | the election state of that epoch |
//! | a fetch of a controller or voter | everything before its offset |
//! | a fetch of a broker | every truncation and install before it |
//! | the leader's high watermark | a majority's end beyond the epoch's start, and this node's own |
//! | a follower's high watermark | as much here |
//! | the reply to a voter change | its record, at a majority |
//!
//! A fetch reply with records waits for nothing: it may precede the leader's own flush.
//!
//! # Invariants
//! - At most one leader an epoch; a vote is never taken back, nor is an epoch, across restarts.
//! - Nothing below the high watermark is ever truncated: a leader that asks for it is
//!   [`Fatal`].
//! - After a failed disk operation nothing is voted, acknowledged or believed durable any more.
//! - At most one fetch is under way, over all peers; at most one call a peer and state.
//!
//! # Where it differs from Kafka 4.2
//! It is stricter: only flushed bytes count, on the leader too; of a damaged fetch answer the valid
//! prefix is kept; a leader whose disk hangs resigns; a lost vote is an error. Peers that contradict
//! themselves are ignored where Kafka ends its process. And it is faster to fail over: the followers
//! of a leader whose process is known to be gone ([`Input::PeerDown`]), or that said farewell, ask
//! for pre-votes at once, and give them. A leader that resigned says so to its state machine at once.
//! A voter that its own log removes campaigns on until the removal is committed, since it may be the
//! only one that can win.
//!
//! [`MemoryQuorum`] is a driver for the tests of what stands on top.
//!
//! # Example
//! Three nodes in memory, with disks that are always fast and a network that never fails, elect a
//! leader and commit ten records:
//!
//! ```
//! use std::collections::{BTreeMap, VecDeque};
//! use quorate_raft::{
//!     Batch, Boot, Config, Destination, Input, Output, Raft, RequestId, RoleName, rpc,
//! };
//! use quorate_types::{MonoTime, NodeId, Offset, ReplicaKey, Rng, VoterSet};
//!
//! let boot = Boot { static_voters: Some(VoterSet::of_ids([1, 2, 3])), ..Boot::default() };
//! let mut nodes: BTreeMap<NodeId, Raft> = BTreeMap::new();
//! for id in [1, 2, 3] {
//!     let config = Config::new(ReplicaKey::new(NodeId(id), None));
//!     let raft = Raft::new(config, boot.clone(), Rng::new(id as u64), MonoTime::ZERO)?;
//!     nodes.insert(NodeId(id), raft);
//! }
//! // What a disk would hold: here every node's log has the leader's batches, by reference.
//! let mut log: Vec<Batch> = Vec::new();
//! let mut callers = BTreeMap::new();
//! let mut now = MonoTime::ZERO;
//! let mut appended = false;
//! let mut committed = BTreeMap::new();
//! while committed.values().filter(|end| **end == Offset(11)).count() < 3 {
//!     // The driver: carries out outputs until nobody has any, then lets time pass.
//!     let mut inputs: VecDeque<(NodeId, Input)> = VecDeque::new();
//!     for (id, raft) in &mut nodes {
//!         while let Some(output) = raft.poll() {
//!             match output {
//!                 Output::Disk { seq, op } => {
//!                     if let quorate_raft::DiskOp::AppendControl { base, epoch, records } = op {
//!                         let end = base + records.len() as i64;
//!                         log.push(Batch { base, end, epoch, control: records });
//!                     }
//!                     inputs.push_back((*id, Input::Durable { upto: seq }));
//!                 }
//!                 Output::Call { call, to: Destination::Node { id: to, .. }, body, .. } => {
//!                     let from = RequestId(callers.len() as u64);
//!                     callers.insert(from, (*id, call));
//!                     inputs.push_back((to, Input::Request { from, body }));
//!                 }
//!                 Output::Reply { to, body } => {
//!                     let (caller, call) = callers[&to];
//!                     let answer = match body {
//!                         rpc::Reply::Vote(reply) => rpc::Answer::Vote(reply),
//!                         rpc::Reply::BeginQuorumEpoch(reply) => rpc::Answer::BeginQuorumEpoch(reply),
//!                         rpc::Reply::Fetch(reply) => rpc::Answer::Fetch(rpc::FetchAnswer {
//!                             error: reply.error,
//!                             leadership: reply.leadership,
//!                             high_watermark: reply.high_watermark,
//!                             body: match reply.body {
//!                                 rpc::Fetched::Records(range) => rpc::Fetched::Records(
//!                                     log.iter().filter(|batch| range.contains(&batch.base)).cloned().collect(),
//!                                 ),
//!                                 _ => rpc::Fetched::Nothing,
//!                             },
//!                             damaged: false,
//!                         }),
//!                         other => panic!("{other:?} is not part of this story"),
//!                     };
//!                     inputs.push_back((caller, Input::Answer { call, result: Ok(answer) }));
//!                 }
//!                 Output::HighWatermark(end) => {
//!                     committed.insert(*id, end);
//!                 }
//!                 _ => {}
//!             }
//!         }
//!     }
//!     for raft in nodes.values_mut() {
//!         if raft.role() == RoleName::Leader && !std::mem::replace(&mut appended, true) {
//!             let batch = Batch::data(raft.log_end(), 10, raft.epoch());
//!             log.push(batch.clone());
//!             // The batches pass before anybody reads them; raft says when they go to disk.
//!             raft.append(now, batch.epoch, batch.base, &[batch])?;
//!         }
//!     }
//!     if inputs.is_empty() {
//!         now = nodes.values().filter_map(Raft::deadline).min().unwrap_or(now).max(now);
//!         inputs.extend(nodes.keys().map(|id| (*id, Input::Tick)));
//!     }
//!     for (id, input) in inputs {
//!         if let Some(raft) = nodes.get_mut(&id) {
//!             raft.handle(now, input);
//!         }
//!     }
//! }
//! assert_eq!(nodes.values().filter(|raft| raft.role() == RoleName::Leader).count(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![warn(missing_docs)]
#![forbid(unsafe_code)]

mod answers;
mod boot;
mod calls;
mod config;
mod describe;
mod disk;
mod election;
mod follow;
mod handover;
mod history;
mod io;
mod lead;
mod leader;
mod log;
mod membership;
mod memory;
mod parked;
mod raft;
mod role;
pub mod rpc;
mod snapshot;
mod transitions;
mod votes;

pub use boot::{Boot, BootError, ElectionState, LogSummary};
pub use config::Config;
pub use io::{
    AppendError, Batch, CallError, CallId, Destination, DiskOp, DiskSeq, Fatal, Input, Output,
    RequestId, Source,
};
pub use membership::UpgradeError;
pub use memory::{MemoryBatch, MemoryEvent, MemoryQuorum};
pub use raft::Raft;
pub use role::RoleName;
