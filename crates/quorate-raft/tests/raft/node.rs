//! One node of the simulated cluster: a core, its disk, and what a driver keeps for it.

use std::collections::BTreeMap;

use quorate_raft::{Batch, CallId, Config, Fatal, Raft, RoleName, rpc};
use quorate_types::{
    DirectoryId, Endpoint, Epoch, NodeId, Offset, OffsetAndEpoch, ReplicaKey, Uuid, VersionRange,
    Voter, VoterSet,
};

use crate::disk::{Disk, Entry, Files, Snapshot};

/// What an answer carries beside what the core sees.
#[derive(Debug, Clone, Default)]
pub struct Payload {
    pub entries: Vec<Entry>,
    pub snapshot: Option<Snapshot>,
}

/// A node, running or not.
pub struct Node {
    pub config: Config,
    pub static_voters: Option<VoterSet>,
    pub raft: Option<Raft>,
    pub disk: Disk,
    /// Counts starts; messages to an earlier one are void.
    pub incarnation: u32,
    /// Calls that are not answered yet.
    pub open: BTreeMap<CallId, ()>,
    /// Bytes of the answer that is being handled.
    pub payload: BTreeMap<CallId, Payload>,
    /// The state machine's batches that were passed to the core.
    pub local: Vec<Entry>,
    /// The partial snapshot.
    pub partial: Option<(OffsetAndEpoch, Snapshot)>,
    /// What the core told.
    pub high_watermark: Option<Offset>,
    pub leads_from: Option<(Epoch, Offset)>,
    pub checked: Offset,
    pub fatal: Option<Fatal>,
    pub stopped: bool,
    /// Whether peers may call the core's connections: false while its process is down.
    pub up: bool,
}

impl Node {
    pub fn new(config: Config, static_voters: Option<VoterSet>, files: Files) -> Node {
        Node {
            config,
            static_voters,
            raft: None,
            disk: Disk::new(files),
            incarnation: 0,
            open: BTreeMap::new(),
            payload: BTreeMap::new(),
            local: Vec::new(),
            partial: None,
            high_watermark: None,
            leads_from: None,
            checked: Offset::ZERO,
            fatal: None,
            stopped: false,
            up: false,
        }
    }

    pub fn id(&self) -> NodeId {
        self.config.local.id
    }

    pub fn raft(&self) -> &Raft {
        self.raft.as_ref().expect("the node runs")
    }

    pub fn is(&self, role: RoleName) -> bool {
        self.raft.as_ref().is_some_and(|raft| raft.role() == role)
    }

    /// Forgets what a process forgets.
    pub fn forget(&mut self) {
        self.raft = None;
        self.up = false;
        self.open.clear();
        self.payload.clear();
        self.local.clear();
        self.partial = None;
        self.high_watermark = None;
        self.leads_from = None;
        self.checked = Offset::ZERO;
        self.stopped = false;
    }

    /// Turns what the core replied into what the caller will see.
    pub fn answer(&self, reply: rpc::Reply, max_batches: usize) -> (rpc::Answer, Payload) {
        let mut payload = Payload::default();
        let answer = match reply {
            rpc::Reply::Vote(reply) => rpc::Answer::Vote(reply),
            rpc::Reply::BeginQuorumEpoch(reply) => rpc::Answer::BeginQuorumEpoch(reply),
            rpc::Reply::EndQuorumEpoch(reply) => rpc::Answer::EndQuorumEpoch(reply),
            rpc::Reply::UpdateVoter(reply) => rpc::Answer::UpdateVoter(reply),
            rpc::Reply::AddVoter(reply) => rpc::Answer::AddVoter(reply),
            rpc::Reply::RemoveVoter(reply) => rpc::Answer::RemoveVoter(reply),
            rpc::Reply::ProbeVersions(error) => rpc::Answer::ProbeVersions(rpc::VersionsAnswer {
                error,
                kraft_versions: None,
            }),
            rpc::Reply::DescribeQuorum(_) => unreachable!("no node asks for that"),
            rpc::Reply::Fetch(reply) => {
                let body = match reply.body {
                    rpc::Fetched::Records(range) => {
                        payload.entries =
                            self.disk.current.read(range.start, range.end, max_batches);
                        payload
                            .entries
                            .retain(|entry| entry.batch.epoch <= reply.leadership.epoch);
                        let batches: Vec<Batch> = payload
                            .entries
                            .iter()
                            .map(|entry| entry.batch.clone())
                            .collect();
                        rpc::Fetched::Records(batches)
                    }
                    rpc::Fetched::Nothing => rpc::Fetched::Nothing,
                    rpc::Fetched::Diverging(at) => rpc::Fetched::Diverging(at),
                    rpc::Fetched::Snapshot(id) => rpc::Fetched::Snapshot(id),
                };
                rpc::Answer::Fetch(rpc::FetchAnswer {
                    error: reply.error,
                    leadership: reply.leadership,
                    high_watermark: reply.high_watermark,
                    body,
                    damaged: false,
                })
            }
            rpc::Reply::FetchSnapshot(reply) => {
                payload.snapshot = self.disk.current.snapshots.get(&reply.id).cloned();
                rpc::Answer::FetchSnapshot(rpc::SnapshotAnswer {
                    error: reply.error,
                    leadership: reply.leadership,
                    id: reply.id,
                    size: reply.size as i64,
                    position: reply.position as i64,
                    // Small pieces, so that several are needed.
                    len: u64::from(reply.max_bytes)
                        .min(reply.size - reply.position)
                        .min(25),
                })
            }
        };
        (answer, payload)
    }
}

/// The endpoint of a node.
pub fn endpoint(id: i32) -> Endpoint {
    Endpoint {
        name: "CONTROLLER".into(),
        host: format!("n{id}"),
        port: 9093,
    }
}

/// The n-th directory of a node.
pub fn directory(id: i32, n: u8) -> DirectoryId {
    let mut bytes = [0x40; 16];
    bytes[0] = n;
    bytes[12..].copy_from_slice(&id.to_be_bytes());
    DirectoryId(Uuid(bytes))
}

pub fn key(id: i32) -> ReplicaKey {
    ReplicaKey::new(NodeId(id), Some(directory(id, 1)))
}

/// A voter set of those ids, with directories (kraft.version 1) or without.
pub fn voters(ids: &[i32], dynamic: bool) -> VoterSet {
    ids.iter()
        .map(|id| {
            let voter = Voter {
                directory: dynamic.then(|| directory(*id, 1)),
                endpoints: vec![endpoint(*id)],
                kraft_versions: VersionRange { min: 0, max: 1 },
            };
            (NodeId(*id), voter)
        })
        .collect()
}
