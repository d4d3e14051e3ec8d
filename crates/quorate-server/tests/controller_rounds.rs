//! What leaves a controller in which round.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use quorate_controller::{ControllerConfig, KafkaController};
use quorate_engine::EngineConfig;
use quorate_protocol::messages::alter_client_quotas::{EntityData, OpData, RequestEntryData};
use quorate_protocol::messages::fetch::{FetchPartition, FetchTopic, ReplicaState};
use quorate_protocol::messages::{
    AlterClientQuotasRequest, ApiKey, FetchRequest, Request, RequestHeader, Response,
};
use quorate_raft::Config;
use quorate_server::controller::{ControllerIdentity, ControllerNode, ControllerNodeConfig};
use quorate_server::disk::{DiskJob, DiskWorker};
use quorate_server::io::{ConnId, Input, Node, Now, Output};
use quorate_server::quorum::QuorumConfig;
use quorate_server::{boot, frames};
use quorate_storage::vfs::MemVfs;
use quorate_storage::{LogConfig, MetadataLog};
use quorate_types::{
    ErrorCode, IncarnationId, MonoTime, NodeId, ReplicaKey, Rng, Uuid, VoterSet, WallTime,
};

const CLUSTER: &str = "a cluster";
const OBSERVER: ConnId = ConnId::Accepted(1);
const CLIENT: ConnId = ConnId::Accepted(2);

/// The only voter of its quorum, and its disk.
struct Alone {
    node: ControllerNode,
    worker: DiskWorker,
    now: MonoTime,
    jobs: Vec<DiskJob>,
    sent: Vec<(ConnId, Bytes)>,
}

impl Alone {
    fn active() -> Alone {
        let disk = Arc::new(MemVfs::new());
        let (log, recovered) = MetadataLog::open(disk, Path::new("/d"), LogConfig::default())
            .expect("an empty log can be opened");
        let voters = Some(VoterSet::of_ids([1]));
        let boot = boot::boot(&recovered, voters, true).expect("an empty log can be started from");
        let config = ControllerNodeConfig {
            quorum: QuorumConfig {
                raft: Config::new(ReplicaKey::new(NodeId(1), None)),
                cluster_id: CLUSTER.into(),
                listener: "CONTROLLER".into(),
                bootstrap: Vec::new(),
                tail_bytes: 1 << 20,
                snapshots: Default::default(),
            },
            controller: KafkaController::new(ControllerConfig::new(NodeId(1), CLUSTER)),
            engine: EngineConfig::default(),
            identity: ControllerIdentity {
                incarnation: IncarnationId(Uuid([1; 16])),
                listeners: Vec::new(),
            },
        };
        let now = MonoTime::ZERO;
        let node = ControllerNode::new(config, boot, Rng::new(1), moment(now));
        let mut alone = Alone {
            node: node.expect("a quorum of one"),
            worker: DiskWorker::new(log),
            now,
            jobs: Vec::new(),
            sent: Vec::new(),
        };
        for conn in [OBSERVER, CLIENT] {
            let from = vec![127, 0, 0, 1];
            alone
                .node
                .handle(moment(now), Input::Accepted { conn, from });
        }
        for _ in 0..100 {
            alone.now = alone.now + Duration::from_millis(100);
            alone.settle();
        }
        assert!(alone.node.is_active());
        alone
    }

    fn ask(&mut self, conn: ConnId, version: i16, request: impl Into<Request>) {
        let request = request.into();
        let header = RequestHeader {
            api_key: request.key().code(),
            api_version: version,
            ..Default::default()
        };
        let frame = frames::encode_request(&header, &request).expect("a request of that version");
        let input = Input::Frame { conn, frame };
        self.node.handle(moment(self.now), input);
    }

    /// One round, without the disk.
    fn round(&mut self) {
        self.node.drive(moment(self.now));
        while let Some(output) = self.node.poll() {
            match output {
                Output::Disk(job) => self.jobs.push(job),
                Output::Send { conn, frame } => self.sent.push((conn, frame)),
                Output::Stopped { fault } => panic!("the node stopped: {fault:?}"),
                _ => {}
            }
        }
    }

    /// Rounds until the disk has nothing to do.
    fn settle(&mut self) {
        self.round();
        while !self.jobs.is_empty() {
            for done in self.worker.run(std::mem::take(&mut self.jobs)) {
                self.node.handle(moment(self.now), Input::Disk(done));
            }
            self.round();
        }
    }

    fn fetch(&self) -> FetchRequest {
        let raft = self.node.quorum().raft();
        FetchRequest {
            replica_state: ReplicaState {
                replica_id: 9,
                ..Default::default()
            },
            max_wait_ms: 500,
            topics: vec![FetchTopic {
                topic_id: Uuid::METADATA_TOPIC,
                partitions: vec![FetchPartition {
                    current_leader_epoch: raft.epoch().0,
                    last_fetched_epoch: raft.epoch().0,
                    fetch_offset: raft.log_end().0,
                    ..Default::default()
                }],
                ..Default::default()
            }],
            ..Default::default()
        }
    }
}

fn moment(mono: MonoTime) -> Now {
    let wall = WallTime(i64::try_from(mono.0 / 1000).unwrap_or_default());
    Now { mono, wall }
}

fn quota() -> AlterClientQuotasRequest {
    AlterClientQuotasRequest {
        entries: vec![RequestEntryData {
            entity: vec![EntityData {
                entity_type: "user".into(),
                entity_name: Some("alice".into()),
                ..Default::default()
            }],
            ops: vec![OpData {
                key: "producer_byte_rate".into(),
                value: 1024.0,
                ..Default::default()
            }],
            ..Default::default()
        }],
        ..Default::default()
    }
}

fn answer(api: ApiKey, version: i16, frame: &Bytes) -> Response {
    frames::decode_response(api, version, 0, frame).expect("an answer of that version")
}

#[test]
fn followers_get_an_append_before_it_is_flushed_here() {
    let mut alone = Alone::active();
    let fetch = alone.fetch();
    let from = fetch.topics[0].partitions[0].fetch_offset;
    alone.ask(OBSERVER, 17, fetch);
    alone.settle();
    assert!(alone.sent.is_empty(), "there is nothing to fetch yet");

    alone.ask(CLIENT, 1, quota());
    alone.round();
    assert!(!alone.jobs.is_empty(), "the append waits for the disk");
    let [(OBSERVER, frame)] = &alone.sent[..] else {
        panic!("{:?}", alone.sent);
    };
    let Response::Fetch(fetched) = answer(ApiKey::Fetch, 17, frame) else {
        panic!("an answer to a fetch");
    };
    let partition = &fetched.responses[0].partitions[0];
    assert!(
        partition
            .records
            .as_ref()
            .is_some_and(|records| !records.is_empty())
    );
    assert!(
        partition.high_watermark <= from,
        "nothing of it is committed"
    );
}

#[test]
fn a_client_is_answered_once_its_records_are_committed_and_before_followers_hear_of_that() {
    let mut alone = Alone::active();
    alone.ask(CLIENT, 1, quota());
    alone.round();
    assert!(
        alone.sent.is_empty(),
        "nothing is answered before it is on the disk"
    );
    let mut fetch = alone.fetch();
    let from = alone.node.quorum().raft().high_watermark();
    fetch.topics[0].partitions[0].high_watermark = from.expect("a leader's high watermark").0;
    alone.ask(OBSERVER, 18, fetch);
    alone.settle();
    let order: Vec<ConnId> = alone.sent.iter().map(|(conn, _)| *conn).collect();
    assert_eq!(order, [CLIENT, OBSERVER]);
    let Response::AlterClientQuotas(altered) =
        answer(ApiKey::AlterClientQuotas, 1, &alone.sent[0].1)
    else {
        panic!("an answer to the client");
    };
    assert_eq!(altered.entries[0].error_code, ErrorCode::None);
}
