//! The quorum's RPCs as data: what is left of Kafka's messages once cluster id, topic and partition
//! have been checked and bytes put aside.
//!
//! Numbers that a peer may send out of range (`-1` for "none", negative offsets) are kept as they
//! came: the core checks them and answers `INVALID_REQUEST` in Kafka's order of checks.

use std::time::Duration;

use quorate_types::{
    Endpoint, Epoch, ErrorCode, NodeId, Offset, OffsetAndEpoch, ReplicaKey, VersionRange,
};

use crate::Batch;

/// What one node asks another.
#[derive(Debug, Clone, PartialEq)]
pub enum Request {
    /// Vote (52), pre-vote or vote.
    Vote(VoteRequest),
    /// BeginQuorumEpoch (53).
    BeginQuorumEpoch(BeginRequest),
    /// EndQuorumEpoch (54).
    EndQuorumEpoch(EndRequest),
    /// Fetch (1).
    Fetch(FetchRequest),
    /// FetchSnapshot (59).
    FetchSnapshot(SnapshotRequest),
    /// DescribeQuorum (55); never sent by the core.
    DescribeQuorum,
    /// AddRaftVoter (80).
    AddVoter(AddVoterRequest),
    /// RemoveRaftVoter (81).
    RemoveVoter(RemoveVoterRequest),
    /// UpdateRaftVoter (82).
    UpdateVoter(UpdateVoterRequest),
    /// ApiVersions (18), by which a leader probes a voter to be; never taken as an input.
    ProbeVersions,
}

/// The answer that this node gives; of the kind of its request.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    /// To [`Request::Vote`].
    Vote(VoteReply),
    /// To [`Request::BeginQuorumEpoch`].
    BeginQuorumEpoch(EpochReply),
    /// To [`Request::EndQuorumEpoch`].
    EndQuorumEpoch(EpochReply),
    /// To [`Request::Fetch`].
    Fetch(FetchReply),
    /// To [`Request::FetchSnapshot`].
    FetchSnapshot(SnapshotReply),
    /// To [`Request::DescribeQuorum`].
    DescribeQuorum(DescribeReply),
    /// To [`Request::AddVoter`].
    AddVoter(ChangeReply),
    /// To [`Request::RemoveVoter`].
    RemoveVoter(ChangeReply),
    /// To [`Request::UpdateVoter`].
    UpdateVoter(EpochReply),
    /// To [`Request::ProbeVersions`], which only the RPC layer can answer.
    ProbeVersions(ErrorCode),
}

/// The answer that a call brought; of the kind of the call.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// To [`Request::Vote`].
    Vote(VoteReply),
    /// To [`Request::BeginQuorumEpoch`].
    BeginQuorumEpoch(EpochReply),
    /// To [`Request::EndQuorumEpoch`].
    EndQuorumEpoch(EpochReply),
    /// To [`Request::Fetch`].
    Fetch(FetchAnswer),
    /// To [`Request::FetchSnapshot`].
    FetchSnapshot(SnapshotAnswer),
    /// To [`Request::AddVoter`].
    AddVoter(ChangeReply),
    /// To [`Request::RemoveVoter`].
    RemoveVoter(ChangeReply),
    /// To [`Request::UpdateVoter`].
    UpdateVoter(EpochReply),
    /// To [`Request::ProbeVersions`].
    ProbeVersions(VersionsAnswer),
}

/// The epoch and leader that the answering node knows; every partition answer carries it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Leadership {
    /// Its epoch.
    pub epoch: Epoch,
    /// The leader of that epoch, if known.
    pub leader: Option<NodeId>,
    /// Where the leader listens: all listeners in a reply of this node (the RPC layer picks the one
    /// that the request came in on), the one named in `NodeEndpoints` in an answer; empty if unknown.
    pub endpoints: Vec<Endpoint>,
}

/// Asks for a vote, or whether one would be given.
#[derive(Debug, Clone, PartialEq)]
pub struct VoteRequest {
    /// Whom the candidate addresses; `None` if the request does not say.
    pub voter: Option<ReplicaKey>,
    /// Who wants to lead.
    pub candidate: ReplicaKey,
    /// The epoch to lead; for a pre-vote the candidate's current one.
    pub epoch: Epoch,
    /// The end of the candidate's log and the epoch of its last record.
    pub last: OffsetAndEpoch,
    /// Whether this is only the question (KIP-996).
    pub pre_vote: bool,
}

/// Gives or denies a vote.
#[derive(Debug, Clone, PartialEq)]
pub struct VoteReply {
    /// What was wrong with the request.
    pub error: ErrorCode,
    /// The voter's epoch and leader.
    pub leadership: Leadership,
    /// Whether the vote is (or would be) given.
    pub granted: bool,
}

/// A new leader announces itself.
#[derive(Debug, Clone, PartialEq)]
pub struct BeginRequest {
    /// Whom it addresses; `None` if the request does not say.
    pub voter: Option<ReplicaKey>,
    /// The leader.
    pub leader: NodeId,
    /// Its epoch.
    pub epoch: Epoch,
    /// Its listeners; empty below version 1.
    pub endpoints: Vec<Endpoint>,
}

/// A leader gives up.
#[derive(Debug, Clone, PartialEq)]
pub struct EndRequest {
    /// The leader.
    pub leader: NodeId,
    /// Its epoch.
    pub epoch: Epoch,
    /// Who should campaign first, best first; without directories below version 1.
    pub successors: Vec<ReplicaKey>,
    /// Its listeners; Kafka sends none.
    pub endpoints: Vec<Endpoint>,
}

/// The answer to Begin-, EndQuorumEpoch and UpdateVoter.
#[derive(Debug, Clone, PartialEq)]
pub struct EpochReply {
    /// What was wrong with the request.
    pub error: ErrorCode,
    /// The answering node's epoch and leader.
    pub leadership: Leadership,
}

/// Asks the leader for records from an offset on; thereby acknowledges everything before it.
#[derive(Debug, Clone, PartialEq)]
pub struct FetchRequest {
    /// Who fetches; `None` for a consumer (id −1), which gets no credit.
    pub replica: Option<ReplicaKey>,
    /// The epoch in which the fetcher believes the receiver to lead.
    pub epoch: Epoch,
    /// The end of the fetcher's log.
    pub offset: Offset,
    /// The epoch of the last record before it.
    pub last_epoch: Epoch,
    /// `MaxWaitMs` as on the wire: how long to wait for news.
    pub max_wait_ms: i32,
    /// The high watermark that the fetcher knows, as on the wire (version 18): −1 if unknown, the
    /// largest number if it does not want to be told at once.
    pub high_watermark: Offset,
}

/// What the leader gives. The driver adds the bytes of `records`: whole batches from its start on,
/// at least one, at most 8 MiB, none of an epoch later than that of `leadership`.
#[derive(Debug, Clone, PartialEq)]
pub struct FetchReply {
    /// What was wrong with the request.
    pub error: ErrorCode,
    /// The answering node's epoch and leader.
    pub leadership: Leadership,
    /// The leader's high watermark; `None` if unknown and on errors.
    pub high_watermark: Option<Offset>,
    /// The start of the leader's log.
    pub log_start: Offset,
    /// What the fetcher gets.
    pub body: Fetched<std::ops::Range<Offset>>,
}

/// What a fetch found; `R` says how records are represented.
#[derive(Debug, Clone, PartialEq)]
pub enum Fetched<R> {
    /// The fetcher's log is a prefix of the leader's, and there is nothing new.
    Nothing,
    /// The fetcher's log is a prefix of the leader's, which goes on like this.
    Records(R),
    /// The logs part: the leader's log has that epoch end there.
    Diverging(OffsetAndEpoch),
    /// The leader's log no longer reaches that far back; load this snapshot.
    Snapshot(OffsetAndEpoch),
}

/// What a fetch of ours brought.
#[derive(Debug, Clone, PartialEq)]
pub struct FetchAnswer {
    /// What was wrong with the request.
    pub error: ErrorCode,
    /// The answering node's epoch and leader.
    pub leadership: Leadership,
    /// The leader's high watermark.
    pub high_watermark: Option<Offset>,
    /// The batches whose lengths, CRCs and contiguity were found good, up to the first that was not.
    pub body: Fetched<Vec<Batch>>,
    /// Whether something after those batches was unusable: a bad CRC, a gap, nonsense. A last batch
    /// that is cut off is not.
    pub damaged: bool,
}

/// Asks for a piece of a snapshot.
#[derive(Debug, Clone, PartialEq)]
pub struct SnapshotRequest {
    /// Who fetches; `None` for a negative id.
    pub replica: Option<ReplicaKey>,
    /// The epoch in which the fetcher believes the receiver to lead.
    pub epoch: Epoch,
    /// Which snapshot.
    pub id: OffsetAndEpoch,
    /// Where the piece starts, as on the wire.
    pub position: i64,
    /// Most bytes wanted.
    pub max_bytes: i32,
}

/// A piece of a snapshot. The driver adds the bytes from `position` on.
#[derive(Debug, Clone, PartialEq)]
pub struct SnapshotReply {
    /// What was wrong with the request.
    pub error: ErrorCode,
    /// The answering node's epoch and leader.
    pub leadership: Leadership,
    /// Which snapshot.
    pub id: OffsetAndEpoch,
    /// Its size in bytes.
    pub size: u64,
    /// Where the piece starts.
    pub position: u64,
    /// Most bytes to send.
    pub max_bytes: u32,
}

/// A piece of a snapshot that a call of ours brought; the driver keeps its bytes.
#[derive(Debug, Clone, PartialEq)]
pub struct SnapshotAnswer {
    /// What was wrong with the request.
    pub error: ErrorCode,
    /// The answering node's epoch and leader.
    pub leadership: Leadership,
    /// Which snapshot, as on the wire.
    pub id: OffsetAndEpoch,
    /// The snapshot's size in bytes, as on the wire.
    pub size: i64,
    /// Where the piece starts, as on the wire.
    pub position: i64,
    /// How many bytes came.
    pub len: u64,
}

/// Makes a replica a voter.
#[derive(Debug, Clone, PartialEq)]
pub struct AddVoterRequest {
    /// The replica.
    pub voter: ReplicaKey,
    /// Where it listens.
    pub endpoints: Vec<Endpoint>,
    /// Whether to answer after the commit rather than after the append.
    pub ack_when_committed: bool,
}

/// Takes a voter out.
#[derive(Debug, Clone, PartialEq)]
pub struct RemoveVoterRequest {
    /// The voter.
    pub voter: ReplicaKey,
}

/// A voter tells the leader its endpoints and versions.
#[derive(Debug, Clone, PartialEq)]
pub struct UpdateVoterRequest {
    /// The epoch in which the voter believes the receiver to lead.
    pub epoch: Epoch,
    /// The voter.
    pub voter: ReplicaKey,
    /// Where it listens.
    pub endpoints: Vec<Endpoint>,
    /// The `kraft.version`s that it supports.
    pub kraft_versions: VersionRange,
}

/// The answer to Add- and RemoveVoter.
#[derive(Debug, Clone, PartialEq)]
pub struct ChangeReply {
    /// Why it was refused.
    pub error: ErrorCode,
    /// The same for a reader.
    pub message: Option<String>,
}

/// What a probed node offers.
#[derive(Debug, Clone, PartialEq)]
pub struct VersionsAnswer {
    /// What was wrong.
    pub error: ErrorCode,
    /// Its range for `kraft.version`, if it names one.
    pub kraft_versions: Option<VersionRange>,
}

/// The quorum as its leader sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct DescribeReply {
    /// `NOT_LEADER_OR_FOLLOWER` where this node does not lead; then only `leadership` counts.
    pub error: ErrorCode,
    /// The answering node's epoch and leader.
    pub leadership: Leadership,
    /// The high watermark.
    pub high_watermark: Option<Offset>,
    /// The voters, ascending by id.
    pub voters: Vec<ReplicaStatus>,
    /// The other replicas that fetch.
    pub observers: Vec<ReplicaStatus>,
    /// The voters' listeners, ascending by id.
    pub nodes: Vec<(NodeId, Vec<Endpoint>)>,
}

/// How far a replica is.
#[derive(Debug, Clone, PartialEq)]
pub struct ReplicaStatus {
    /// The replica.
    pub replica: ReplicaKey,
    /// The end of its log.
    pub log_end: Option<Offset>,
    /// How long ago it last fetched; the RPC layer turns that into wall time.
    pub last_fetch: Option<Duration>,
    /// How long ago it last had everything that the leader had.
    pub last_caught_up: Option<Duration>,
}

impl Request {
    /// The reply of the request's kind that carries an error and nothing else.
    pub fn refusal(&self, error: ErrorCode, leadership: Leadership) -> Reply {
        match self {
            Request::Vote(_) => Reply::Vote(VoteReply {
                error,
                leadership,
                granted: false,
            }),
            Request::BeginQuorumEpoch(_) => {
                Reply::BeginQuorumEpoch(EpochReply { error, leadership })
            }
            Request::EndQuorumEpoch(_) => Reply::EndQuorumEpoch(EpochReply { error, leadership }),
            Request::UpdateVoter(_) => Reply::UpdateVoter(EpochReply { error, leadership }),
            Request::Fetch(_) => Reply::Fetch(FetchReply {
                error,
                leadership,
                high_watermark: None,
                log_start: Offset(-1),
                body: Fetched::Nothing,
            }),
            Request::FetchSnapshot(fetch) => Reply::FetchSnapshot(SnapshotReply {
                error,
                leadership,
                id: fetch.id,
                size: 0,
                position: 0,
                max_bytes: 0,
            }),
            Request::DescribeQuorum => Reply::DescribeQuorum(DescribeReply {
                error,
                leadership,
                high_watermark: None,
                voters: Vec::new(),
                observers: Vec::new(),
                nodes: Vec::new(),
            }),
            Request::AddVoter(_) => Reply::AddVoter(ChangeReply::of(error)),
            Request::RemoveVoter(_) => Reply::RemoveVoter(ChangeReply::of(error)),
            Request::ProbeVersions => Reply::ProbeVersions(error),
        }
    }
}

impl ChangeReply {
    /// A reply without a message.
    pub fn of(error: ErrorCode) -> ChangeReply {
        ChangeReply {
            error,
            message: None,
        }
    }
}

impl Answer {
    /// The epoch and leader that the answering node knows, where the answer carries them.
    pub fn leadership(&self) -> Option<&Leadership> {
        match self {
            Answer::Vote(reply) => Some(&reply.leadership),
            Answer::BeginQuorumEpoch(reply)
            | Answer::EndQuorumEpoch(reply)
            | Answer::UpdateVoter(reply) => Some(&reply.leadership),
            Answer::Fetch(answer) => Some(&answer.leadership),
            Answer::FetchSnapshot(answer) => Some(&answer.leadership),
            Answer::AddVoter(_) | Answer::RemoveVoter(_) | Answer::ProbeVersions(_) => None,
        }
    }

    /// The error that the answer carries.
    pub fn error(&self) -> ErrorCode {
        match self {
            Answer::Vote(reply) => reply.error,
            Answer::BeginQuorumEpoch(reply)
            | Answer::EndQuorumEpoch(reply)
            | Answer::UpdateVoter(reply) => reply.error,
            Answer::Fetch(answer) => answer.error,
            Answer::FetchSnapshot(answer) => answer.error,
            Answer::AddVoter(reply) | Answer::RemoveVoter(reply) => reply.error,
            Answer::ProbeVersions(answer) => answer.error,
        }
    }
}
