//! Calls to peers: from the core into Kafka's messages, and the peers' answers back.
//!
//! What came with an answer but is not Raft's to see, the bytes of batches and snapshots, waits
//! here until Raft has said what to do with it.

use std::collections::VecDeque;
use std::time::Duration;

use quorate_protocol::batch::valid_prefix;
use quorate_protocol::messages::{
    self, AddRaftVoterRequest, ApiVersionsRequest, BeginQuorumEpochRequest, EndQuorumEpochRequest,
    FetchRequest, FetchResponse, FetchSnapshotRequest, FetchSnapshotResponse,
    RemoveRaftVoterRequest, Request, Response, UpdateRaftVoterRequest, VoteRequest,
};
use quorate_raft::rpc::{self, Fetched, Leadership};
use quorate_raft::{Batch, CallError, CallId, Destination, Input};
use quorate_types::{
    Endpoint, Epoch, ErrorCode, NodeId, Offset, OffsetAndEpoch, ReplicaKey, Uuid, VersionRange,
};

pub(super) use super::wire::choose;
use super::wire::{TOPIC, directory_to_wire, listeners, only, port};
use super::{Quorum, encoded};
use crate::io::{Address, Now};
use crate::links::{self, ConnNames};

/// A call that has not ended yet.
#[derive(Debug)]
pub(super) struct Calling {
    /// Where a fetch fetches from.
    fetch_offset: Offset,
}

impl Quorum {
    /// Carries out a call of the core.
    pub(super) fn call(
        &mut self,
        now: Now,
        names: &mut ConnNames,
        call: CallId,
        to: &Destination,
        body: &rpc::Request,
        timeout: Duration,
    ) {
        let address = match to {
            Destination::Node { id, endpoints } => {
                let endpoint = choose(endpoints, &self.config.listener);
                let address = endpoint.map(Address::from);
                if let Some(address) = &address {
                    self.nodes.insert(address.clone(), *id);
                }
                address
            }
            Destination::Bootstrap(index) => self.config.bootstrap.get(*index).cloned(),
        };
        let fetch_offset = match body {
            rpc::Request::Fetch(fetch) => fetch.offset,
            _ => Offset::ZERO,
        };
        self.calls.insert(call, Calling { fetch_offset });
        match address {
            Some(address) => {
                let request = self.request_of(body);
                self.links
                    .call(now.mono, names, &address, call.0, request, timeout);
            }
            None => self.links.fail_call(call.0),
        }
    }

    fn request_of(&self, body: &rpc::Request) -> Request {
        let cluster_id = Some(self.config.cluster_id.clone());
        match body {
            rpc::Request::Vote(vote) => Request::Vote(vote_request(cluster_id, vote)),
            rpc::Request::BeginQuorumEpoch(begin) => {
                Request::BeginQuorumEpoch(begin_request(cluster_id, begin))
            }
            rpc::Request::EndQuorumEpoch(end) => {
                Request::EndQuorumEpoch(end_request(cluster_id, end))
            }
            rpc::Request::Fetch(fetch) => Request::Fetch(fetch_request(cluster_id, fetch)),
            rpc::Request::FetchSnapshot(fetch) => {
                Request::FetchSnapshot(snapshot_request(cluster_id, fetch))
            }
            rpc::Request::AddVoter(add) => Request::AddRaftVoter(AddRaftVoterRequest {
                cluster_id,
                voter_id: add.voter.id.0,
                voter_directory_id: directory_to_wire(add.voter),
                listeners: listeners!(add.endpoints => messages::add_raft_voter::Listener),
                ack_when_committed: add.ack_when_committed,
                ..Default::default()
            }),
            rpc::Request::RemoveVoter(remove) => Request::RemoveRaftVoter(RemoveRaftVoterRequest {
                cluster_id,
                voter_id: remove.voter.id.0,
                voter_directory_id: directory_to_wire(remove.voter),
                ..Default::default()
            }),
            rpc::Request::UpdateVoter(update) => {
                Request::UpdateRaftVoter(update_request(cluster_id, update))
            }
            rpc::Request::DescribeQuorum | rpc::Request::ProbeVersions => {
                // The link asked for versions when it opened; asked again, the answer names the
                // features too.
                Request::ApiVersions(ApiVersionsRequest {
                    client_software_name: "quorate".into(),
                    client_software_version: env!("CARGO_PKG_VERSION").into(),
                    ..Default::default()
                })
            }
        }
    }

    /// A call has ended: the core learns of it, its bytes are kept while the core decides.
    pub(super) fn answered(
        &mut self,
        now: Now,
        names: &mut ConnNames,
        call: CallId,
        result: Result<Response, links::CallError>,
    ) {
        let Some(calling) = self.calls.remove(&call) else {
            return;
        };
        let result = match result {
            Ok(response) => self.answer_of(call, &calling, response),
            Err(links::CallError::TimedOut) => Err(CallError::TimedOut),
            Err(links::CallError::Disconnected) => Err(CallError::Disconnected),
            Err(links::CallError::Unsupported) => Err(CallError::Unsupported),
            Err(links::CallError::Malformed) => Err(CallError::Malformed),
        };
        let by_leader = matches!(
            &result,
            Ok(rpc::Answer::Fetch(answer)) if answer.error.is_none() && answer.high_watermark.is_some()
        );
        self.step(now, names, Input::Answer { call, result });
        if by_leader {
            self.came_into_contact();
        }
        self.fetched.remove(&call);
        self.chunks.remove(&call);
    }

    fn answer_of(
        &mut self,
        call: CallId,
        calling: &Calling,
        response: Response,
    ) -> Result<rpc::Answer, CallError> {
        match response {
            Response::Vote(response) => {
                refused(response.error_code)?;
                let endpoints = &response.node_endpoints;
                let endpoint = endpoints.first().map(|one| (one.host.clone(), one.port));
                let partition = the_partition(response.topics, |topic| topic.partitions)?;
                Ok(rpc::Answer::Vote(rpc::VoteReply {
                    error: partition.error_code,
                    leadership: self.leadership(
                        partition.leader_epoch,
                        partition.leader_id,
                        endpoint,
                    ),
                    granted: partition.vote_granted,
                }))
            }
            Response::BeginQuorumEpoch(response) => {
                refused(response.error_code)?;
                let endpoints = &response.node_endpoints;
                let endpoint = endpoints.first().map(|one| (one.host.clone(), one.port));
                let partition = the_partition(response.topics, |topic| topic.partitions)?;
                Ok(rpc::Answer::BeginQuorumEpoch(rpc::EpochReply {
                    error: partition.error_code,
                    leadership: self.leadership(
                        partition.leader_epoch,
                        partition.leader_id,
                        endpoint,
                    ),
                }))
            }
            Response::EndQuorumEpoch(response) => {
                refused(response.error_code)?;
                let endpoints = &response.node_endpoints;
                let endpoint = endpoints.first().map(|one| (one.host.clone(), one.port));
                let partition = the_partition(response.topics, |topic| topic.partitions)?;
                Ok(rpc::Answer::EndQuorumEpoch(rpc::EpochReply {
                    error: partition.error_code,
                    leadership: self.leadership(
                        partition.leader_epoch,
                        partition.leader_id,
                        endpoint,
                    ),
                }))
            }
            Response::Fetch(response) => self.fetch_answer(call, calling, response),
            Response::FetchSnapshot(response) => self.snapshot_answer(call, response),
            Response::AddRaftVoter(response) => Ok(rpc::Answer::AddVoter(rpc::ChangeReply {
                error: response.error_code,
                message: response.error_message,
            })),
            Response::RemoveRaftVoter(response) => Ok(rpc::Answer::RemoveVoter(rpc::ChangeReply {
                error: response.error_code,
                message: response.error_message,
            })),
            Response::UpdateRaftVoter(response) => {
                let leader = &response.current_leader;
                let endpoint = port(leader.port).map(|port| (leader.host.clone(), port));
                Ok(rpc::Answer::UpdateVoter(rpc::EpochReply {
                    error: response.error_code,
                    leadership: self.leadership(leader.leader_epoch, leader.leader_id, endpoint),
                }))
            }
            Response::ApiVersions(response) => {
                let features = &response.supported_features;
                let kraft = features
                    .iter()
                    .find(|feature| feature.name == "kraft.version");
                Ok(rpc::Answer::ProbeVersions(rpc::VersionsAnswer {
                    error: response.error_code,
                    kraft_versions: kraft.map(|range| VersionRange {
                        min: range.min_version,
                        max: range.max_version,
                    }),
                }))
            }
            _ => Err(CallError::Malformed),
        }
    }

    fn fetch_answer(
        &mut self,
        call: CallId,
        calling: &Calling,
        response: FetchResponse,
    ) -> Result<rpc::Answer, CallError> {
        refused(response.error_code)?;
        let endpoint = response
            .node_endpoints
            .first()
            .and_then(|node| Some((node.host.clone(), port(node.port)?)));
        let partition = the_partition(response.responses, |topic| topic.partitions)?;
        let diverging = &partition.diverging_epoch;
        let snapshot = &partition.snapshot_id;
        let mut damaged = false;
        let body = if diverging.epoch >= 0 {
            Fetched::Diverging(OffsetAndEpoch::new(diverging.end_offset, diverging.epoch))
        } else if snapshot.epoch >= 0 || snapshot.end_offset >= 0 {
            Fetched::Snapshot(OffsetAndEpoch::new(snapshot.end_offset, snapshot.epoch))
        } else {
            let bytes = partition.records.unwrap_or_default();
            let (batches, held, whole) = usable(bytes, calling.fetch_offset);
            damaged = !whole;
            if batches.is_empty() {
                Fetched::Nothing
            } else {
                self.fetched.insert(call, held);
                Fetched::Records(batches)
            }
        };
        let leader = &partition.current_leader;
        Ok(rpc::Answer::Fetch(rpc::FetchAnswer {
            error: partition.error_code,
            leadership: self.leadership(leader.leader_epoch, leader.leader_id, endpoint),
            high_watermark: Offset::from_wire(partition.high_watermark),
            body,
            damaged,
        }))
    }

    fn snapshot_answer(
        &mut self,
        call: CallId,
        response: FetchSnapshotResponse,
    ) -> Result<rpc::Answer, CallError> {
        refused(response.error_code)?;
        let endpoints = &response.node_endpoints;
        let endpoint = endpoints.first().map(|one| (one.host.clone(), one.port));
        let partition = the_partition(response.topics, |topic| topic.partitions)?;
        let leader = &partition.current_leader;
        let leadership = self.leadership(leader.leader_epoch, leader.leader_id, endpoint);
        let id = partition.snapshot_id;
        let len = partition.unaligned_records.len() as u64;
        self.chunks.insert(call, partition.unaligned_records);
        Ok(rpc::Answer::FetchSnapshot(rpc::SnapshotAnswer {
            error: partition.error_code,
            leadership,
            id: OffsetAndEpoch::new(id.end_offset, id.epoch),
            size: partition.size,
            position: partition.position,
            len,
        }))
    }

    /// The leadership that an answer names. Answers carry an address without the listener's name,
    /// which is the controllers' here.
    fn leadership(&self, epoch: i32, leader: i32, endpoint: Option<(String, u16)>) -> Leadership {
        let endpoints = endpoint.map(|(host, port)| Endpoint {
            name: self.config.listener.clone(),
            host,
            port,
        });
        Leadership {
            epoch: Epoch(epoch),
            leader: NodeId::from_wire(leader),
            endpoints: endpoints.into_iter().collect(),
        }
    }
}

/// The batches of a fetch answer that a log ending at `from` may take: as Raft sees them, with
/// their bytes, and whether nothing was wrong with the rest.
fn usable(
    bytes: bytes::Bytes,
    from: Offset,
) -> (Vec<Batch>, VecDeque<crate::tail::EncodedBatch>, bool) {
    let found = valid_prefix(bytes, from);
    let mut whole = found.refused.is_none();
    let (mut batches, mut held) = (Vec::new(), VecDeque::new());
    for view in found.batches {
        let control = if view.is_control() {
            match view.control_records() {
                Ok(control) => control,
                Err(_) => {
                    whole = false;
                    break;
                }
            }
        } else {
            Vec::new()
        };
        batches.push(Batch {
            base: view.base_offset(),
            end: view.end_offset(),
            epoch: view.epoch(),
            control,
        });
        held.extend(encoded(view));
    }
    (batches, held, whole)
}

fn refused(error: ErrorCode) -> Result<(), CallError> {
    if error.is_none() {
        Ok(())
    } else {
        Err(CallError::Refused(error))
    }
}

/// The one partition of the one topic of an answer.
fn the_partition<T, P>(
    topics: Vec<T>,
    partitions: impl FnOnce(T) -> Vec<P>,
) -> Result<P, CallError> {
    only(topics)
        .and_then(|topic| only(partitions(topic)))
        .ok_or(CallError::Malformed)
}

fn voter_id(voter: Option<ReplicaKey>) -> (i32, Uuid) {
    voter.map_or((-1, Uuid::ZERO), |key| (key.id.0, directory_to_wire(key)))
}

fn vote_request(cluster_id: Option<String>, vote: &rpc::VoteRequest) -> VoteRequest {
    use messages::vote::{RequestPartitionData, RequestTopicData};
    let (voter_id, voter_directory_id) = voter_id(vote.voter);
    VoteRequest {
        cluster_id,
        voter_id,
        topics: vec![RequestTopicData {
            topic_name: TOPIC.into(),
            partitions: vec![RequestPartitionData {
                replica_epoch: vote.epoch.0,
                replica_id: vote.candidate.id.0,
                replica_directory_id: directory_to_wire(vote.candidate),
                voter_directory_id,
                last_offset_epoch: vote.last.epoch.0,
                last_offset: vote.last.offset.0,
                pre_vote: vote.pre_vote,
                ..Default::default()
            }],
            ..Default::default()
        }],
        ..Default::default()
    }
}

fn begin_request(cluster_id: Option<String>, begin: &rpc::BeginRequest) -> BeginQuorumEpochRequest {
    use messages::begin_quorum_epoch::{LeaderEndpoint, RequestPartitionData, RequestTopicData};
    let (voter_id, voter_directory_id) = voter_id(begin.voter);
    BeginQuorumEpochRequest {
        cluster_id,
        voter_id,
        topics: vec![RequestTopicData {
            topic_name: TOPIC.into(),
            partitions: vec![RequestPartitionData {
                voter_directory_id,
                leader_id: begin.leader.0,
                leader_epoch: begin.epoch.0,
                ..Default::default()
            }],
            ..Default::default()
        }],
        leader_endpoints: listeners!(begin.endpoints => LeaderEndpoint),
        ..Default::default()
    }
}

fn end_request(cluster_id: Option<String>, end: &rpc::EndRequest) -> EndQuorumEpochRequest {
    use messages::end_quorum_epoch::{ReplicaInfo, RequestPartitionData, RequestTopicData};
    let candidate = |key: &ReplicaKey| ReplicaInfo {
        candidate_id: key.id.0,
        candidate_directory_id: directory_to_wire(*key),
        ..Default::default()
    };
    EndQuorumEpochRequest {
        cluster_id,
        topics: vec![RequestTopicData {
            topic_name: TOPIC.into(),
            partitions: vec![RequestPartitionData {
                leader_id: end.leader.0,
                leader_epoch: end.epoch.0,
                preferred_successors: end.successors.iter().map(|key| key.id.0).collect(),
                preferred_candidates: end.successors.iter().map(candidate).collect(),
                ..Default::default()
            }],
            ..Default::default()
        }],
        ..Default::default()
    }
}

fn fetch_request(cluster_id: Option<String>, fetch: &rpc::FetchRequest) -> FetchRequest {
    use messages::fetch::{FetchPartition, FetchTopic};
    let (replica_id, replica_directory_id) = voter_id(fetch.replica);
    let mut request = FetchRequest {
        cluster_id,
        max_wait_ms: fetch.max_wait_ms,
        max_bytes: 8 * 1024 * 1024,
        topics: vec![FetchTopic {
            topic: TOPIC.into(),
            topic_id: Uuid::METADATA_TOPIC,
            partitions: vec![FetchPartition {
                current_leader_epoch: fetch.epoch.0,
                fetch_offset: fetch.offset.0,
                last_fetched_epoch: fetch.last_epoch.0,
                replica_directory_id,
                high_watermark: fetch.high_watermark.0,
                ..Default::default()
            }],
            ..Default::default()
        }],
        ..Default::default()
    };
    request.replica_state.replica_id = replica_id;
    request
}

fn snapshot_request(
    cluster_id: Option<String>,
    fetch: &rpc::SnapshotRequest,
) -> FetchSnapshotRequest {
    use messages::fetch_snapshot::{RequestPartitionSnapshot, RequestTopicSnapshot};
    let (replica_id, replica_directory_id) = voter_id(fetch.replica);
    let mut partition = RequestPartitionSnapshot {
        current_leader_epoch: fetch.epoch.0,
        position: fetch.position,
        replica_directory_id,
        ..Default::default()
    };
    partition.snapshot_id.end_offset = fetch.id.offset.0;
    partition.snapshot_id.epoch = fetch.id.epoch.0;
    FetchSnapshotRequest {
        cluster_id,
        replica_id,
        max_bytes: fetch.max_bytes,
        topics: vec![RequestTopicSnapshot {
            name: TOPIC.into(),
            partitions: vec![partition],
            ..Default::default()
        }],
        ..Default::default()
    }
}

fn update_request(
    cluster_id: Option<String>,
    update: &rpc::UpdateVoterRequest,
) -> UpdateRaftVoterRequest {
    let mut request = UpdateRaftVoterRequest {
        cluster_id,
        current_leader_epoch: update.epoch.0,
        voter_id: update.voter.id.0,
        voter_directory_id: directory_to_wire(update.voter),
        listeners: listeners!(update.endpoints => messages::update_raft_voter::Listener),
        ..Default::default()
    };
    request.kraft_version_feature.min_supported_version = update.kraft_versions.min;
    request.kraft_version_feature.max_supported_version = update.kraft_versions.max;
    request
}
