//! What goes into the core and what comes out of it: plain data.
//!
//! The driver keeps three orders and otherwise remembers nothing: disk operations are carried out in
//! the order of their [`DiskSeq`]; all outputs of one call are taken before the next call; messages
//! to one peer leave in the order they came out.

use std::time::Duration;

use quorate_types::{
    ControlRecord, Endpoint, Epoch, ErrorCode, KRaftVersion, NodeId, Offset, OffsetAndEpoch,
    VoterSet,
};

use crate::{ElectionState, rpc};

/// Names a request from a peer until it is answered; given out by the driver.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(pub u64);

/// Names a call to a peer until it is answered; given out by the core, never twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallId(pub u64);

/// The place of a disk operation in the one queue of them; the first is 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct DiskSeq(pub u64);

/// A batch of the log as Raft sees it: its bounds, and its records only if it is a control batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Batch {
    /// The offset of its first record.
    pub base: Offset,
    /// The offset after its last record.
    pub end: Offset,
    /// The epoch of the leader that wrote it.
    pub epoch: Epoch,
    /// What its records say if it is a control batch: the n-th stands at `base + n`.
    pub control: Vec<ControlRecord>,
}

impl Batch {
    /// A batch of `count` data records.
    pub fn data(base: Offset, count: i64, epoch: Epoch) -> Batch {
        Batch {
            base,
            end: base + count,
            epoch,
            control: Vec::new(),
        }
    }
}

/// What happened.
#[derive(Debug, Clone, PartialEq)]
pub enum Input {
    /// Time passed; due at [`Raft::deadline`](crate::Raft::deadline), harmless earlier.
    Tick,
    /// A peer asks. Cluster id, topic and partition were checked outside.
    Request {
        /// To be named in the one [`Output::Reply`] that follows, perhaps much later.
        from: RequestId,
        /// What it asks.
        body: rpc::Request,
    },
    /// The connection of that request is gone; no reply is wanted any more.
    RequestGone {
        /// The request.
        from: RequestId,
    },
    /// A call was answered or failed. Each call ends in exactly one of these, at the latest when its
    /// timeout has passed.
    Answer {
        /// The call.
        call: CallId,
        /// What came.
        result: Result<rpc::Answer, CallError>,
    },
    /// A peer's process is gone: its kernel closed the connection *and* refused a new one.
    PeerDown {
        /// The peer.
        node: NodeId,
    },
    /// All disk operations up to that one have been carried out and synced.
    Durable {
        /// The last of them.
        upto: DiskSeq,
    },
    /// That operation failed. This is final: the node stops voting and acknowledging.
    DiskFailed {
        /// The operation.
        seq: DiskSeq,
    },
    /// A [`DiskOp::InstallSnapshot`] is done (file synced and renamed, directory synced, log empty).
    SnapshotInstalled {
        /// Which.
        id: OffsetAndEpoch,
        /// Its size in bytes.
        size: u64,
        /// The voter set that it holds, if any.
        voters: Option<VoterSet>,
        /// The `kraft.version` that it holds.
        version: KRaftVersion,
    },
    /// This node wrote a snapshot of its own state.
    SnapshotAdded {
        /// Which; its end is not above the high watermark.
        id: OffsetAndEpoch,
        /// Its size in bytes.
        size: u64,
    },
    /// The log's head, and the snapshots before `earliest`, were deleted.
    Cleaned {
        /// The new start of the log.
        log_start: Offset,
        /// The earliest snapshot left.
        earliest: OffsetAndEpoch,
    },
    /// The state machine gives up leading; ignored if the epoch is over.
    Resign {
        /// The epoch it led.
        epoch: Epoch,
    },
    /// Stop: hand over if leading, then [`Output::Stopped`].
    Shutdown {
        /// The longest that the hand-over may take.
        within: Duration,
    },
}

/// What to do.
#[derive(Debug, Clone, PartialEq)]
pub enum Output {
    /// Do this on disk, after all earlier operations; one [`Input::Durable`] may cover many.
    Disk {
        /// Its place in the queue.
        seq: DiskSeq,
        /// What.
        op: DiskOp,
    },
    /// Answer a request. Withheld until the epoch it speaks of, and the vote it grants, is durable;
    /// the answer to a voter change until its record is committed.
    Reply {
        /// The request.
        to: RequestId,
        /// The answer.
        body: rpc::Reply,
    },
    /// Ask a peer. Withheld like replies; a controller's fetch also until all it acknowledges is
    /// durable.
    Call {
        /// To be named in the answer.
        call: CallId,
        /// Whom.
        to: Destination,
        /// What.
        body: rpc::Request,
        /// When to give up with [`CallError::TimedOut`].
        timeout: Duration,
    },
    /// Everything before that offset is committed, and durable here; only grows.
    HighWatermark(Offset),
    /// The leadership changed. Epochs never fall.
    Leader {
        /// The epoch.
        epoch: Epoch,
        /// Its leader, if known; `None` also once this node stopped leading it.
        leader: Option<NodeId>,
        /// If this node leads: where its epoch begins in the log. What lies before must be applied
        /// before the state machine acts as leader.
        mine_from: Option<Offset>,
    },
    /// The state machine must start over from that snapshot; what it has is void.
    ReadFrom {
        /// Which.
        snapshot: OffsetAndEpoch,
    },
    /// The voter set or the `kraft.version` in force changed, committed or not.
    Members {
        /// The version.
        version: KRaftVersion,
        /// The set.
        voters: VoterSet,
    },
    /// The node cannot go on; it neither votes nor acknowledges from here on.
    Fatal {
        /// Why.
        reason: Fatal,
    },
    /// The shutdown is complete; the driver may close the sockets.
    Stopped,
}

/// A change on disk.
#[derive(Debug, Clone, PartialEq)]
pub enum DiskOp {
    /// Replace `quorum-state` (temporary file, sync, rename, directory sync).
    SaveElection(ElectionState),
    /// Append batches that the driver holds, up to `end`.
    Append {
        /// Where the driver finds them.
        from: Source,
        /// The first offset, the log's end before.
        base: Offset,
        /// The log's end after; batches beyond it are dropped.
        end: Offset,
    },
    /// Encode and append one control batch of Raft's own.
    AppendControl {
        /// The first offset, the log's end before.
        base: Offset,
        /// The epoch.
        epoch: Epoch,
        /// The records.
        records: Vec<ControlRecord>,
    },
    /// Drop the log's tail; durable once later segments are unlinked and the directory is synced.
    Truncate {
        /// The log's end after.
        end: Offset,
    },
    /// Write the chunk that an answered call brought into the partial file of a snapshot; a chunk at
    /// position 0 starts the file anew.
    SnapshotChunk {
        /// Which snapshot.
        id: OffsetAndEpoch,
        /// The call whose answer holds the bytes.
        from: CallId,
        /// Where they go.
        position: u64,
    },
    /// Check the partial file, make it a snapshot, and empty the log: start = end = its end. Answered
    /// by [`Input::SnapshotInstalled`] and then [`Input::Durable`].
    InstallSnapshot {
        /// Which.
        id: OffsetAndEpoch,
    },
    /// Delete the partial file of a snapshot.
    DropSnapshot {
        /// Which.
        id: OffsetAndEpoch,
    },
}

/// Where the driver finds the bytes of an append.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// What the state machine passed beside [`Raft::append`](crate::Raft::append).
    Local,
    /// What the answer of that call brought. The driver may drop what is not named in an append once
    /// it has taken all outputs of the [`Input::Answer`].
    Fetched(CallId),
}

/// Whom to call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Destination {
    /// A known node.
    Node {
        /// Its id.
        id: NodeId,
        /// Where it listens, as far as known; the driver takes the one of its own listener's name,
        /// else the first.
        endpoints: Vec<Endpoint>,
    },
    /// The bootstrap server at that index of the driver's list.
    Bootstrap(usize),
}

/// Why a call brought no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// None came in time.
    #[error("no answer in time")]
    TimedOut,
    /// The connection could not be made or broke.
    #[error("disconnected")]
    Disconnected,
    /// The peer does not offer a version of the RPC that can carry the request.
    #[error("unsupported by the peer")]
    Unsupported,
    /// The answer made no sense.
    #[error("malformed answer")]
    Malformed,
    /// The peer refused the request as a whole (the error at the top of the answer).
    #[error("refused: {}", .0.name())]
    Refused(ErrorCode),
}

/// Why the leader did not take records; in every case nothing was appended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AppendError {
    /// This node does not lead that epoch.
    #[error("not the leader of that epoch")]
    NotLeader,
    /// The log's end is elsewhere; decide again with offsets from there.
    #[error("the log ends at {end}")]
    Moved {
        /// The log's end.
        end: Offset,
    },
    /// Too much waits for the disk; try again after the next flush.
    #[error("too many appends wait for the disk")]
    Full,
    /// The batches have gaps, another epoch, or no records.
    #[error("the batches are not contiguous records of the leader's epoch")]
    Invalid,
}

/// Why a node cannot go on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Fatal {
    /// A disk operation failed.
    #[error("disk operation {} failed; what it wrote may be lost", .seq.0)]
    Disk {
        /// Which.
        seq: DiskSeq,
    },
    /// The leader's log contradicts what is committed here.
    #[error("the leader asks to truncate to {to}, below the committed {committed}")]
    TruncatesCommitted {
        /// Where to.
        to: Offset,
        /// What is known as committed.
        committed: Offset,
    },
}
