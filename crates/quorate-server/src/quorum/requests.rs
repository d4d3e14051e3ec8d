//! Requests of peers: from Kafka's messages into the core, and its replies back.
//!
//! What every request must satisfy (cluster id, exactly the one topic and partition) is checked
//! here, in Kafka's order; everything else is the core's to judge.

use quorate_protocol::messages::{
    self, AddRaftVoterResponse, BeginQuorumEpochRequest, BeginQuorumEpochResponse,
    DescribeQuorumRequest, DescribeQuorumResponse, EndQuorumEpochRequest, EndQuorumEpochResponse,
    FetchRequest, FetchResponse, FetchSnapshotRequest, FetchSnapshotResponse,
    RemoveRaftVoterResponse, Request, Response, UpdateRaftVoterResponse, VoteRequest, VoteResponse,
};
use quorate_raft::rpc::{self, Fetched, Leadership};
use quorate_raft::{Input, RequestId};
use quorate_types::{
    Endpoint, Epoch, ErrorCode, NodeId, Offset, OffsetAndEpoch, Uuid, VersionRange,
};

use super::wire::{TOPIC, choose, directory_to_wire, join, listeners, message, only, replica};
use super::{Quorum, QuorumEvent, Reading, within_epoch};
use crate::disk::DiskJob;
use crate::io::{Now, Output};
use crate::links::ConnNames;
use crate::tail::EncodedBatch;

/// A request that the core has not answered yet.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asked {
    version: i16,
    /// Whether it is the fetch of a replica that does not vote.
    observers: bool,
}

/// A request that the core can judge, or the answer that it gets right away.
type Checked = Result<rpc::Request, Box<Response>>;

impl Quorum {
    /// A peer asks; [`QuorumEvent::Answer`] with this token follows, perhaps much later.
    ///
    /// Returns the request if it is none of the quorum's.
    pub fn request(
        &mut self,
        now: Now,
        names: &mut ConnNames,
        token: u64,
        version: i16,
        request: Request,
    ) -> Option<Request> {
        let checked = match request {
            Request::Vote(request) => self.vote(request),
            Request::BeginQuorumEpoch(request) => self.begin(request),
            Request::EndQuorumEpoch(request) => self.end(request, version),
            Request::Fetch(request) => self.fetch(request, version),
            Request::FetchSnapshot(request) => self.fetch_snapshot(request),
            Request::DescribeQuorum(request) => self.describe_quorum(&request),
            Request::AddRaftVoter(request) => self.add_voter(request),
            Request::RemoveRaftVoter(request) => self.remove_voter(request),
            Request::UpdateRaftVoter(request) => self.update_voter(request),
            other => return Some(other),
        };
        match checked {
            Ok(body) => {
                let from = RequestId(token);
                let observers = match &body {
                    rpc::Request::Fetch(fetch) => fetch
                        .replica
                        .is_none_or(|replica| !self.raft.voters().contains(replica)),
                    _ => false,
                };
                self.requests.insert(from, Asked { version, observers });
                self.step(now, names, Input::Request { from, body });
            }
            Err(response) => self.answer(token, *response),
        }
        None
    }

    /// The connection of a request is gone.
    pub fn request_gone(&mut self, now: Now, names: &mut ConnNames, token: u64) {
        let from = RequestId(token);
        if self.requests.remove(&from).is_some() {
            self.step(now, names, Input::RequestGone { from });
        }
    }

    /// Whether a request is the fetch of a replica that does not vote.
    pub(super) fn is_observers(&self, request: RequestId) -> bool {
        let asked = self.requests.get(&request);
        asked.is_some_and(|asked| asked.observers)
    }

    fn answer(&mut self, token: u64, response: Response) {
        self.events.push_back(QuorumEvent::Answer {
            token,
            response: Box::new(response),
        });
    }

    /// Whether a request that names a cluster means another one.
    fn stranger(&self, cluster_id: Option<&str>) -> bool {
        cluster_id.is_some_and(|id| id != self.config.cluster_id)
    }

    fn vote(&self, request: VoteRequest) -> Checked {
        let refuse = |error_code| {
            Err(Box::new(Response::Vote(VoteResponse {
                error_code,
                ..Default::default()
            })))
        };
        if self.stranger(request.cluster_id.as_deref()) {
            return refuse(ErrorCode::InconsistentClusterId);
        }
        let topic = only(request.topics).filter(|topic| topic.topic_name == TOPIC);
        let partition = topic.and_then(|topic| only(topic.partitions));
        let Some(partition) = partition.filter(|partition| partition.partition_index == 0) else {
            return refuse(ErrorCode::InvalidRequest);
        };
        Ok(rpc::Request::Vote(rpc::VoteRequest {
            voter: replica(request.voter_id, partition.voter_directory_id),
            candidate: candidate(partition.replica_id, partition.replica_directory_id),
            epoch: Epoch(partition.replica_epoch),
            last: OffsetAndEpoch::new(partition.last_offset, partition.last_offset_epoch),
            pre_vote: partition.pre_vote,
        }))
    }

    fn begin(&self, request: BeginQuorumEpochRequest) -> Checked {
        let refuse = |error_code| {
            let response = BeginQuorumEpochResponse {
                error_code,
                ..Default::default()
            };
            Err(Box::new(Response::BeginQuorumEpoch(response)))
        };
        if self.stranger(request.cluster_id.as_deref()) {
            return refuse(ErrorCode::InconsistentClusterId);
        }
        let topic = only(request.topics).filter(|topic| topic.topic_name == TOPIC);
        let partition = topic.and_then(|topic| only(topic.partitions));
        let Some(partition) = partition.filter(|partition| partition.partition_index == 0) else {
            return refuse(ErrorCode::InvalidRequest);
        };
        Ok(rpc::Request::BeginQuorumEpoch(rpc::BeginRequest {
            voter: replica(request.voter_id, partition.voter_directory_id),
            leader: NodeId(partition.leader_id),
            epoch: Epoch(partition.leader_epoch),
            endpoints: listeners!(request.leader_endpoints => Endpoint),
        }))
    }

    fn end(&self, request: EndQuorumEpochRequest, version: i16) -> Checked {
        let refuse = |error_code| {
            let response = EndQuorumEpochResponse {
                error_code,
                ..Default::default()
            };
            Err(Box::new(Response::EndQuorumEpoch(response)))
        };
        if self.stranger(request.cluster_id.as_deref()) {
            return refuse(ErrorCode::InconsistentClusterId);
        }
        let topic = only(request.topics).filter(|topic| topic.topic_name == TOPIC);
        let partition = topic.and_then(|topic| only(topic.partitions));
        let Some(partition) = partition.filter(|partition| partition.partition_index == 0) else {
            return refuse(ErrorCode::InvalidRequest);
        };
        let successors = if version == 0 {
            let ids = partition.preferred_successors.iter();
            ids.filter_map(|id| replica(*id, Uuid::ZERO)).collect()
        } else {
            let candidates = partition.preferred_candidates.iter();
            candidates
                .filter_map(|one| replica(one.candidate_id, one.candidate_directory_id))
                .collect()
        };
        Ok(rpc::Request::EndQuorumEpoch(rpc::EndRequest {
            leader: NodeId(partition.leader_id),
            epoch: Epoch(partition.leader_epoch),
            successors,
            endpoints: listeners!(request.leader_endpoints => Endpoint),
        }))
    }

    fn fetch(&self, request: FetchRequest, version: i16) -> Checked {
        let refuse = |error_code| {
            Err(Box::new(Response::Fetch(FetchResponse {
                error_code,
                ..Default::default()
            })))
        };
        if self.stranger(request.cluster_id.as_deref()) {
            return refuse(ErrorCode::InconsistentClusterId);
        }
        let topic = only(request.topics).filter(|topic| topic.topic_id == Uuid::METADATA_TOPIC);
        let partition = topic.and_then(|topic| only(topic.partitions));
        let Some(partition) = partition.filter(|partition| partition.partition == 0) else {
            return refuse(ErrorCode::InvalidRequest);
        };
        let id = if version < 15 {
            request.replica_id
        } else {
            request.replica_state.replica_id
        };
        Ok(rpc::Request::Fetch(rpc::FetchRequest {
            replica: replica(id, partition.replica_directory_id),
            epoch: Epoch(partition.current_leader_epoch),
            offset: Offset(partition.fetch_offset),
            last_epoch: Epoch(partition.last_fetched_epoch),
            max_wait_ms: request.max_wait_ms,
            high_watermark: Offset(partition.high_watermark),
        }))
    }

    fn fetch_snapshot(&self, request: FetchSnapshotRequest) -> Checked {
        let refuse = |error_code| {
            let response = FetchSnapshotResponse {
                error_code,
                ..Default::default()
            };
            Err(Box::new(Response::FetchSnapshot(response)))
        };
        if self.stranger(request.cluster_id.as_deref()) {
            return refuse(ErrorCode::InconsistentClusterId);
        }
        let Some(topic) = only(request.topics) else {
            return refuse(ErrorCode::InvalidRequest);
        };
        let (name, Some(partition)) = (topic.name, only(topic.partitions)) else {
            return refuse(ErrorCode::InvalidRequest);
        };
        if name != TOPIC || partition.partition != 0 {
            let leadership = Leadership::default();
            let error = ErrorCode::UnknownTopicOrPartition;
            let mut response = snapshot_response(&leadership, error, &self.config.listener);
            if let Some(topic) = response.topics.first_mut() {
                topic.name = name;
                topic
                    .partitions
                    .iter_mut()
                    .for_each(|item| item.index = partition.partition);
            }
            return Err(Box::new(Response::FetchSnapshot(response)));
        }
        let id = partition.snapshot_id;
        Ok(rpc::Request::FetchSnapshot(rpc::SnapshotRequest {
            replica: replica(request.replica_id, partition.replica_directory_id),
            epoch: Epoch(partition.current_leader_epoch),
            id: OffsetAndEpoch::new(id.end_offset, id.epoch),
            position: partition.position,
            max_bytes: request.max_bytes,
        }))
    }

    fn describe_quorum(&self, request: &DescribeQuorumRequest) -> Checked {
        let [topic] = &request.topics[..] else {
            return Err(Box::new(unknown_partitions(request)));
        };
        let one = topic.partitions.len() == 1 && topic.partitions[0].partition_index == 0;
        if topic.topic_name == TOPIC && one {
            Ok(rpc::Request::DescribeQuorum)
        } else {
            Err(Box::new(unknown_partitions(request)))
        }
    }

    fn add_voter(&self, request: messages::AddRaftVoterRequest) -> Checked {
        if self.stranger(request.cluster_id.as_deref()) {
            let error_code = ErrorCode::InconsistentClusterId;
            let response = AddRaftVoterResponse {
                error_code,
                ..Default::default()
            };
            return Err(Box::new(Response::AddRaftVoter(response)));
        }
        Ok(rpc::Request::AddVoter(rpc::AddVoterRequest {
            voter: candidate(request.voter_id, request.voter_directory_id),
            endpoints: listeners!(request.listeners => Endpoint),
            ack_when_committed: request.ack_when_committed,
        }))
    }

    fn remove_voter(&self, request: messages::RemoveRaftVoterRequest) -> Checked {
        if self.stranger(request.cluster_id.as_deref()) {
            let error_code = ErrorCode::InconsistentClusterId;
            let response = RemoveRaftVoterResponse {
                error_code,
                ..Default::default()
            };
            return Err(Box::new(Response::RemoveRaftVoter(response)));
        }
        Ok(rpc::Request::RemoveVoter(rpc::RemoveVoterRequest {
            voter: candidate(request.voter_id, request.voter_directory_id),
        }))
    }

    fn update_voter(&self, request: messages::UpdateRaftVoterRequest) -> Checked {
        if self.stranger(request.cluster_id.as_deref()) {
            let error_code = ErrorCode::InconsistentClusterId;
            let response = UpdateRaftVoterResponse {
                error_code,
                ..Default::default()
            };
            return Err(Box::new(Response::UpdateRaftVoter(response)));
        }
        let range = request.kraft_version_feature;
        Ok(rpc::Request::UpdateVoter(rpc::UpdateVoterRequest {
            epoch: Epoch(request.current_leader_epoch),
            voter: candidate(request.voter_id, request.voter_directory_id),
            endpoints: listeners!(request.listeners => Endpoint),
            kraft_versions: VersionRange {
                min: range.min_supported_version,
                max: range.max_supported_version,
            },
        }))
    }

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
            return self.answer_snapshot(to, reply, Ok(bytes::Bytes::new()));
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
        piece: Result<bytes::Bytes, String>,
    ) {
        if self.requests.remove(&to).is_none() {
            return;
        }
        // A snapshot that was deleted meanwhile is simply not there any more.
        let (error, piece) = match piece {
            Ok(piece) => (reply.error, piece),
            Err(_) => (ErrorCode::SnapshotNotFound, bytes::Bytes::new()),
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

/// A replica key whose id may be out of range, which the core finds out.
fn candidate(id: i32, directory: Uuid) -> quorate_types::ReplicaKey {
    let directory = directory.non_zero().map(quorate_types::DirectoryId);
    quorate_types::ReplicaKey::new(NodeId(id), directory)
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

fn snapshot_response(
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

/// The answer to a DescribeQuorum that asks for anything but the one partition.
fn unknown_partitions(request: &DescribeQuorumRequest) -> Response {
    use messages::describe_quorum::{ResponsePartitionData, ResponseTopicData};
    let topics = request.topics.iter().map(|topic| ResponseTopicData {
        topic_name: topic.topic_name.clone(),
        partitions: topic
            .partitions
            .iter()
            .map(|partition| ResponsePartitionData {
                partition_index: partition.partition_index,
                error_code: ErrorCode::UnknownTopicOrPartition,
                error_message: message(ErrorCode::UnknownTopicOrPartition),
                ..Default::default()
            })
            .collect(),
        ..Default::default()
    });
    Response::DescribeQuorum(DescribeQuorumResponse {
        topics: topics.collect(),
        ..Default::default()
    })
}
