//! The core's replies to peers: into Kafka's messages, with the bytes that the core never saw.

use bytes::Bytes;
use quorate_protocol::messages::{
    self, AddRaftVoterResponse, BeginQuorumEpochResponse, DescribeQuorumResponse,
    EndQuorumEpochResponse, FetchResponse, FetchSnapshotResponse, RemoveRaftVoterResponse,
    Response, UpdateRaftVoterResponse, VoteResponse,
};
use quorate_raft::RequestId;
use quorate_raft::rpc::{self, Fetched, Leadership};
use quorate_types::{Endpoint, ErrorCode, NodeId, Offset, OffsetAndEpoch, Uuid};

use super::wire::{TOPIC, choose, directory_to_wire, join, listeners, message};
use super::{Quorum, Reading, within_epoch};
use crate::disk::DiskJob;
use crate::io::{Now, Output};
use crate::tail::EncodedBatch;

impl Quorum {
    /// The core answers.
    pub(super) fn reply(&mut self, now: Now, to: RequestId, reply: rpc::Reply) {
        let Some(asked) = self.requests.get(&to).copied() else {
            return;
        };
        let listener = &self.config.listener;
        let response = match reply {
            rpc::Reply::Fetch(reply) => return self.reply_fetch(to, reply),
            rpc::Reply::FetchSnapshot(reply) => return self.reply_snapshot(to, reply),
            rpc::Reply::Vote(reply) => Response::Vote(vote_response(&reply, listener)),
            rpc::Reply::BeginQuorumEpoch(reply) => {
                Response::BeginQuorumEpoch(begin_response(&reply, listener))
            }
            rpc::Reply::EndQuorumEpoch(reply) => {
                Response::EndQuorumEpoch(end_response(&reply, listener))
            }
            rpc::Reply::DescribeQuorum(reply) => {
                Response::DescribeQuorum(describe_response(now, &reply, asked.version))
            }
            rpc::Reply::AddVoter(reply) => Response::AddRaftVoter(AddRaftVoterResponse {
                error_code: reply.error,
                error_message: reply.message,
                ..Default::default()
            }),
            rpc::Reply::RemoveVoter(reply) => Response::RemoveRaftVoter(RemoveRaftVoterResponse {
                error_code: reply.error,
                error_message: reply.message,
                ..Default::default()
            }),
            rpc::Reply::UpdateVoter(reply) => {
                Response::UpdateRaftVoter(update_response(&reply, listener))
            }
            // Versions are the RPC layer's to tell; the core is never asked.
            rpc::Reply::ProbeVersions(_) => return,
        };
        self.requests.remove(&to);
        self.answer(to.0, response);
    }

    fn reply_fetch(&mut self, to: RequestId, reply: rpc::FetchReply) {
        let Fetched::Records(range) = &reply.body else {
            return self.answer_fetch(to, &reply, &[]);
        };
        let limit = self.config.raft.max_fetch_bytes as usize;
        match self.tail.read(range.start, range.end, limit) {
            Some(batches) => {
                let records = within_epoch(batches, reply.leadership.epoch);
                self.answer_fetch(to, &reply, &records);
            }
            None => {
                let from = range.start;
                let reading = Reading::Fetch {
                    request: to,
                    reply: Box::new(reply),
                };
                self.read_from_disk(from, limit, reading);
            }
        }
    }

    /// Answers a fetch with the batches that were read for it.
    pub(super) fn answer_fetch(
        &mut self,
        to: RequestId,
        reply: &rpc::FetchReply,
        records: &[EncodedBatch],
    ) {
        if self.requests.remove(&to).is_some() {
            let response = fetch_response(reply, records, &self.config.listener);
            self.answer(to.0, Response::Fetch(response));
        }
    }

    fn reply_snapshot(&mut self, to: RequestId, reply: rpc::SnapshotReply) {
        if !reply.error.is_none() {
            return self.answer_snapshot(to, reply, Ok(Bytes::new()));
        }
        self.last_read += 1;
        let token = self.last_read;
        self.out.push(Output::Disk(DiskJob::ReadSnapshot {
            token,
            id: reply.id,
            position: reply.position,
            max_bytes: reply.max_bytes as usize,
        }));
        self.reads.insert(
            token,
            Reading::Snapshot {
                request: to,
                reply: Box::new(reply),
            },
        );
    }

    /// Answers a request for a piece of a snapshot with what was read of it.
    pub(super) fn answer_snapshot(
        &mut self,
        to: RequestId,
        reply: rpc::SnapshotReply,
        piece: Result<Bytes, String>,
    ) {
        if self.requests.remove(&to).is_none() {
            return;
        }
        // A snapshot that was deleted meanwhile is simply not there any more.
        let (error, piece) = match piece {
            Ok(piece) => (reply.error, piece),
            Err(_) => (ErrorCode::SnapshotNotFound, Bytes::new()),
        };
        let mut response = snapshot_response(&reply.leadership, error, &self.config.listener);
        let partition = response
            .topics
            .first_mut()
            .and_then(|topic| topic.partitions.first_mut());
        if let Some(partition) = partition {
            partition.snapshot_id.end_offset = reply.id.offset.0;
            partition.snapshot_id.epoch = reply.id.epoch.0;
            partition.size = i64::try_from(reply.size).unwrap_or(i64::MAX);
            partition.position = i64::try_from(reply.position).unwrap_or(i64::MAX);
            partition.unaligned_records = piece;
        }
        self.answer(to.0, Response::FetchSnapshot(response));
    }
}

/// The leader's address on the listener that the request came in on, if it is known.
fn leader_endpoint<'a>(leadership: &'a Leadership, listener: &str) -> Option<(i32, &'a Endpoint)> {
    let leader = leadership.leader?;
    let endpoint = choose(&leadership.endpoints, listener)?;
    Some((leader.0, endpoint))
}

/// The answers to Vote, Begin- and EndQuorumEpoch: one topic with one partition, and the leader's
/// endpoint beside it.
macro_rules! epoch_response {
    ($module:ident :: $response:ident, $reply:expr, $listener:expr $(, $field:ident : $value:expr)?) => {{
        use messages::$module::{NodeEndpoint, ResponsePartitionData, ResponseTopicData};
        let leadership = &$reply.leadership;
        $response {
            topics: vec![ResponseTopicData {
                topic_name: TOPIC.into(),
                partitions: vec![ResponsePartitionData {
                    error_code: $reply.error,
                    leader_id: NodeId::to_wire(leadership.leader),
                    leader_epoch: leadership.epoch.0,
                    $($field: $value,)?
                    ..Default::default()
                }],
                ..Default::default()
            }],
            node_endpoints: leader_endpoint(leadership, $listener)
                .map(|(node_id, endpoint)| NodeEndpoint {
                    node_id,
                    host: endpoint.host.clone(),
                    port: endpoint.port,
                    ..Default::default()
                })
                .into_iter()
                .collect(),
            ..Default::default()
        }
    }};
}

fn vote_response(reply: &rpc::VoteReply, listener: &str) -> VoteResponse {
    epoch_response!(vote::VoteResponse, reply, listener, vote_granted: reply.granted)
}

fn begin_response(reply: &rpc::EpochReply, listener: &str) -> BeginQuorumEpochResponse {
    epoch_response!(
        begin_quorum_epoch::BeginQuorumEpochResponse,
        reply,
        listener
    )
}

fn end_response(reply: &rpc::EpochReply, listener: &str) -> EndQuorumEpochResponse {
    epoch_response!(end_quorum_epoch::EndQuorumEpochResponse, reply, listener)
}

fn fetch_response(
    reply: &rpc::FetchReply,
    records: &[EncodedBatch],
    listener: &str,
) -> FetchResponse {
    use messages::fetch::{FetchableTopicResponse, NodeEndpoint, PartitionData};
    let mut partition = PartitionData {
        error_code: reply.error,
        high_watermark: Offset::to_wire(reply.high_watermark),
        log_start_offset: reply.log_start.0,
        records: Some(join(records)),
        ..Default::default()
    };
    partition.current_leader.leader_id = NodeId::to_wire(reply.leadership.leader);
    partition.current_leader.leader_epoch = reply.leadership.epoch.0;
    match reply.body {
        Fetched::Diverging(OffsetAndEpoch { offset, epoch }) => {
            partition.diverging_epoch.end_offset = offset.0;
            partition.diverging_epoch.epoch = epoch.0;
        }
        Fetched::Snapshot(OffsetAndEpoch { offset, epoch }) => {
            partition.snapshot_id.end_offset = offset.0;
            partition.snapshot_id.epoch = epoch.0;
        }
        Fetched::Nothing | Fetched::Records(_) => {}
    }
    FetchResponse {
        responses: vec![FetchableTopicResponse {
            topic: TOPIC.into(),
            topic_id: Uuid::METADATA_TOPIC,
            partitions: vec![partition],
            ..Default::default()
        }],
        node_endpoints: leader_endpoint(&reply.leadership, listener)
            .map(|(node_id, endpoint)| NodeEndpoint {
                node_id,
                host: endpoint.host.clone(),
                port: i32::from(endpoint.port),
                ..Default::default()
            })
            .into_iter()
            .collect(),
        ..Default::default()
    }
}

pub(super) fn snapshot_response(
    leadership: &Leadership,
    error: ErrorCode,
    listener: &str,
) -> FetchSnapshotResponse {
    use messages::fetch_snapshot::{
        NodeEndpoint, ResponsePartitionSnapshot, ResponseTopicSnapshot,
    };
    let mut partition = ResponsePartitionSnapshot {
        error_code: error,
        ..Default::default()
    };
    partition.current_leader.leader_id = NodeId::to_wire(leadership.leader);
    partition.current_leader.leader_epoch = leadership.epoch.0;
    FetchSnapshotResponse {
        topics: vec![ResponseTopicSnapshot {
            name: TOPIC.into(),
            partitions: vec![partition],
            ..Default::default()
        }],
        node_endpoints: leader_endpoint(leadership, listener)
            .map(|(node_id, endpoint)| NodeEndpoint {
                node_id,
                host: endpoint.host.clone(),
                port: endpoint.port,
                ..Default::default()
            })
            .into_iter()
            .collect(),
        ..Default::default()
    }
}

fn update_response(reply: &rpc::EpochReply, listener: &str) -> UpdateRaftVoterResponse {
    let mut response = UpdateRaftVoterResponse {
        error_code: reply.error,
        ..Default::default()
    };
    let leader = &mut response.current_leader;
    leader.leader_id = NodeId::to_wire(reply.leadership.leader);
    leader.leader_epoch = reply.leadership.epoch.0;
    if let Some((_, endpoint)) = leader_endpoint(&reply.leadership, listener) {
        leader.host.clone_from(&endpoint.host);
        leader.port = i32::from(endpoint.port);
    }
    response
}

fn describe_response(now: Now, reply: &rpc::DescribeReply, version: i16) -> DescribeQuorumResponse {
    use messages::describe_quorum::{
        Listener, Node, ReplicaState, ResponsePartitionData, ResponseTopicData,
    };
    let wall = |age: Option<std::time::Duration>| {
        age.map_or(-1, |age| {
            now.wall.0 - i64::try_from(age.as_millis()).unwrap_or(0)
        })
    };
    let states = |replicas: &[rpc::ReplicaStatus]| {
        let state = |status: &rpc::ReplicaStatus| ReplicaState {
            replica_id: status.replica.id.0,
            replica_directory_id: if version >= 2 {
                directory_to_wire(status.replica)
            } else {
                Uuid::ZERO
            },
            log_end_offset: Offset::to_wire(status.log_end),
            last_fetch_timestamp: wall(status.last_fetch),
            last_caught_up_timestamp: wall(status.last_caught_up),
            ..Default::default()
        };
        replicas.iter().map(state).collect::<Vec<_>>()
    };
    let leads = reply.error.is_none();
    DescribeQuorumResponse {
        topics: vec![ResponseTopicData {
            topic_name: TOPIC.into(),
            partitions: vec![ResponsePartitionData {
                error_code: reply.error,
                error_message: message(reply.error),
                leader_id: NodeId::to_wire(reply.leadership.leader),
                leader_epoch: reply.leadership.epoch.0,
                high_watermark: Offset::to_wire(reply.high_watermark),
                current_voters: if leads {
                    states(&reply.voters)
                } else {
                    Vec::new()
                },
                observers: if leads {
                    states(&reply.observers)
                } else {
                    Vec::new()
                },
                ..Default::default()
            }],
            ..Default::default()
        }],
        nodes: if version >= 2 && leads {
            let node = |(id, endpoints): &(NodeId, Vec<Endpoint>)| Node {
                node_id: id.0,
                listeners: listeners!(endpoints => Listener),
                ..Default::default()
            };
            reply.nodes.iter().map(node).collect()
        } else {
            Vec::new()
        },
        ..Default::default()
    }
}
