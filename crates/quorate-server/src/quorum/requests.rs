//! Requests of peers: from Kafka's messages into the core. `responses.rs` is the way back.
//!
//! What every request must satisfy (cluster id, exactly the one topic and partition) is checked
//! here, in Kafka's order; everything else is the core's to judge.

use quorate_protocol::messages::{
    self, AddRaftVoterResponse, BeginQuorumEpochRequest, BeginQuorumEpochResponse,
    DescribeQuorumRequest, DescribeQuorumResponse, EndQuorumEpochRequest, EndQuorumEpochResponse,
    FetchRequest, FetchResponse, FetchSnapshotRequest, FetchSnapshotResponse,
    RemoveRaftVoterResponse, Request, Response, UpdateRaftVoterResponse, VoteRequest, VoteResponse,
};
use quorate_raft::rpc::{self, Leadership};
use quorate_raft::{Input, RequestId};
use quorate_types::{Epoch, ErrorCode, NodeId, Offset, OffsetAndEpoch, Uuid, VersionRange};

use super::responses::snapshot_response;
use super::wire::{TOPIC, listeners, message, only, replica};
use super::{Quorum, QuorumEvent};
use crate::io::Now;
use crate::links::ConnNames;

/// The partition that a request names, if it names exactly the one of the metadata log.
macro_rules! the_partition {
    ($topics:expr) => {
        only($topics)
            .filter(|topic| topic.topic_name == TOPIC)
            .and_then(|topic| only(topic.partitions))
            .filter(|partition| partition.partition_index == 0)
    };
}

/// An answer with nothing in it but an error.
macro_rules! refusal {
    ($response:ident, $error:expr) => {
        Box::new(Response::from($response {
            error_code: $error,
            ..Default::default()
        }))
    };
}

/// A request that the core has not answered yet.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asked {
    pub(super) version: i16,
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

    pub(super) fn answer(&mut self, token: u64, response: Response) {
        self.events.push_back(QuorumEvent::Answer {
            token,
            response: Box::new(response),
        });
    }

    /// What must hold of a request: it names no other cluster, and the one partition.
    fn admit<P>(&self, cluster_id: Option<&str>, partition: Option<P>) -> Result<P, ErrorCode> {
        if self.stranger(cluster_id) {
            return Err(ErrorCode::InconsistentClusterId);
        }
        partition.ok_or(ErrorCode::InvalidRequest)
    }

    /// Whether a request that names a cluster means another one.
    fn stranger(&self, cluster_id: Option<&str>) -> bool {
        cluster_id.is_some_and(|id| id != self.config.cluster_id)
    }

    fn vote(&self, request: VoteRequest) -> Checked {
        let partition = self
            .admit(
                request.cluster_id.as_deref(),
                the_partition!(request.topics),
            )
            .map_err(|error| refusal!(VoteResponse, error))?;
        Ok(rpc::Request::Vote(rpc::VoteRequest {
            voter: replica(request.voter_id, partition.voter_directory_id),
            candidate: candidate(partition.replica_id, partition.replica_directory_id),
            epoch: Epoch(partition.replica_epoch),
            last: OffsetAndEpoch::new(partition.last_offset, partition.last_offset_epoch),
            pre_vote: partition.pre_vote,
        }))
    }

    fn begin(&self, request: BeginQuorumEpochRequest) -> Checked {
        let partition = self
            .admit(
                request.cluster_id.as_deref(),
                the_partition!(request.topics),
            )
            .map_err(|error| refusal!(BeginQuorumEpochResponse, error))?;
        Ok(rpc::Request::BeginQuorumEpoch(rpc::BeginRequest {
            voter: replica(request.voter_id, partition.voter_directory_id),
            leader: NodeId(partition.leader_id),
            epoch: Epoch(partition.leader_epoch),
            endpoints: listeners!(request.leader_endpoints => Endpoint),
        }))
    }

    fn end(&self, request: EndQuorumEpochRequest, version: i16) -> Checked {
        let partition = self
            .admit(
                request.cluster_id.as_deref(),
                the_partition!(request.topics),
            )
            .map_err(|error| refusal!(EndQuorumEpochResponse, error))?;
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
        let topic = only(request.topics).filter(|topic| topic.topic_id == Uuid::METADATA_TOPIC);
        let partition = topic.and_then(|topic| only(topic.partitions));
        let partition = self
            .admit(
                request.cluster_id.as_deref(),
                partition.filter(|partition| partition.partition == 0),
            )
            .map_err(|error| refusal!(FetchResponse, error))?;
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
        let refuse = |error| Err(refusal!(FetchSnapshotResponse, error));
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
            return Err(refusal!(
                AddRaftVoterResponse,
                ErrorCode::InconsistentClusterId
            ));
        }
        Ok(rpc::Request::AddVoter(rpc::AddVoterRequest {
            voter: candidate(request.voter_id, request.voter_directory_id),
            endpoints: listeners!(request.listeners => Endpoint),
            ack_when_committed: request.ack_when_committed,
        }))
    }

    fn remove_voter(&self, request: messages::RemoveRaftVoterRequest) -> Checked {
        if self.stranger(request.cluster_id.as_deref()) {
            return Err(refusal!(
                RemoveRaftVoterResponse,
                ErrorCode::InconsistentClusterId
            ));
        }
        Ok(rpc::Request::RemoveVoter(rpc::RemoveVoterRequest {
            voter: candidate(request.voter_id, request.voter_directory_id),
        }))
    }

    fn update_voter(&self, request: messages::UpdateRaftVoterRequest) -> Checked {
        if self.stranger(request.cluster_id.as_deref()) {
            return Err(refusal!(
                UpdateRaftVoterResponse,
                ErrorCode::InconsistentClusterId
            ));
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
}

/// A replica key whose id may be out of range, which the core finds out.
fn candidate(id: i32, directory: Uuid) -> quorate_types::ReplicaKey {
    let directory = directory.non_zero().map(quorate_types::DirectoryId);
    quorate_types::ReplicaKey::new(NodeId(id), directory)
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
