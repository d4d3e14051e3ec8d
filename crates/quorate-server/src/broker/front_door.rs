//! What clients ask a broker, and who answers it.
//!
//! | request | answered by |
//! |---|---|
//! | Metadata and other reads | the metadata cache |
//! | what changes metadata, DescribeQuorum | the active controller, through an Envelope (KIP-590) |
//! | Fetch of another broker | the replicas that are led here |
//! | Produce, ListOffsets, Fetch of a consumer | nobody: there is no user data; they are refused |
//! | FindCoordinator | nobody: there are no groups; it is told to try later |

use std::time::Duration;

use bytes::Bytes;
use quorate_broker::cache::{self, Asker, FORWARDABLE};
use quorate_controller::configs::DescribeContext;
use quorate_controller::{ApiError, Operation, describe_configs};
use quorate_protocol::DefaultPrincipalData;
use quorate_protocol::codec::{Message, Reader, Sink, Writer};
use quorate_protocol::messages::{
    self, ApiKey, CreateTopicsRequest, DescribeQuorumResponse, EnvelopeRequest, EnvelopeResponse,
    FetchRequest, FetchResponse, ListOffsetsRequest, ListOffsetsResponse, ProduceRequest,
    ProduceResponse, Request, RequestHeader, Response, encode_request,
};
use quorate_types::ErrorCode;

use super::BrokerNode;
use super::errands::{Lane, Owner, Target};
use crate::io::{ConnId, Now};
use crate::links::CallError;
use crate::replies::ReplyTo;

/// How long a client's request may wait for an active controller.
const FORWARD_TIMEOUT: Duration = Duration::from_secs(60);

/// The APIs that a broker answers itself.
const OWN: [ApiKey; 9] = [
    ApiKey::Produce,
    ApiKey::Fetch,
    ApiKey::ListOffsets,
    ApiKey::Metadata,
    ApiKey::FindCoordinator,
    ApiKey::ApiVersions,
    ApiKey::DescribeConfigs,
    ApiKey::DescribeCluster,
    ApiKey::DescribeTopicPartitions,
];

/// Why requests for records are refused.
const NO_DATA: &str = "this broker keeps metadata only: it stores and serves no records";

/// The APIs of a broker's listener, by key: its own, and those that it forwards.
pub(super) fn apis() -> impl Iterator<Item = (i16, quorate_types::VersionRange)> {
    let forwarded = FORWARDABLE.iter().map(|key| ApiKey::from_code(*key));
    OWN.into_iter()
        .chain(forwarded)
        .filter_map(|api| Some((api.code(), api.versions()?)))
}

impl BrokerNode {
    /// A request came in. One that cannot be understood ends its connection, as in Kafka.
    pub(super) fn request_frame(&mut self, now: Now, conn: ConnId, frame: &Bytes) {
        let Some(slot) = self.inbound.asked(conn) else {
            return;
        };
        let mut reader = Reader::of(frame);
        let Ok(header) = RequestHeader::read_from(&mut reader) else {
            return self.inbound.refuse(conn, &mut self.scratch);
        };
        let to = ReplyTo::direct(slot, &header);
        let api = ApiKey::from_code(header.api_key);
        if api == ApiKey::ApiVersions {
            return self.api_versions(to, &header, &mut reader);
        }
        let offered = self.apis.offers(header.api_key);
        if !offered.is_some_and(|range| range.contains(header.api_version)) {
            return self.inbound.refuse(conn, &mut self.scratch);
        }
        let body = frame.slice(reader.position()..);
        match Request::decode(api, header.api_version, &mut reader) {
            Ok(_) if FORWARDABLE.contains(&header.api_key) => {
                self.forward(now, to, frame.clone(), body);
            }
            Ok(request) => self.answer(now, &to, &header, request),
            Err(_) => self.inbound.refuse(conn, &mut self.scratch),
        }
    }

    fn api_versions(&mut self, to: ReplyTo, header: &RequestHeader, reader: &mut Reader<'_>) {
        let version = header.api_version;
        let request = match Request::decode(ApiKey::ApiVersions, version, reader) {
            Ok(Request::ApiVersions(request)) => Some(request),
            _ => None,
        };
        let kraft_version = self.quorum.raft().kraft_version();
        let cache = self.broker.cache();
        let (version, response) =
            cache.api_versions(&self.apis, version, request.as_ref(), kraft_version);
        let to = if version == 0 { to.in_version_0() } else { to };
        to.send(&response.into(), &mut self.inbound, &mut self.scratch);
    }

    fn answer(&mut self, now: Now, to: &ReplyTo, header: &RequestHeader, request: Request) {
        let version = header.api_version;
        let asker = Asker::unrestricted(&self.listener, version);
        let cache = self.broker.cache();
        let response: Response = match request {
            Request::Metadata(request) => {
                let answer = cache.metadata(&asker, &request, &mut self.rng);
                if !answer.create.is_empty() {
                    self.auto_create(now, answer.create);
                }
                answer.response.into()
            }
            Request::DescribeCluster(request) => cache
                .describe_cluster(&asker, &request, &mut self.rng)
                .into(),
            Request::DescribeTopicPartitions(request) => {
                cache.describe_topic_partitions(&asker, &request).into()
            }
            Request::DescribeConfigs(request) => {
                let (image, node, settings) = (cache.image(), self.node, &self.settings);
                describe_configs(
                    DescribeContext {
                        image,
                        node,
                        settings,
                    },
                    &request,
                )
                .into()
            }
            Request::FindCoordinator(request) => cache::find_coordinator(version, &request).into(),
            Request::Fetch(request) => match self.broker.fetched(now.mono, &request) {
                Ok(response) => response.into(),
                Err(_) => no_records(&request).into(),
            },
            Request::ListOffsets(request) => no_offsets(&request).into(),
            // With acks=0 nobody reads an answer; a closed connection is all that can be said.
            Request::Produce(request) if request.acks == 0 => {
                return self.inbound.refuse(to.slot.conn(), &mut self.scratch);
            }
            Request::Produce(request) => not_stored(&request).into(),
            _ => return self.inbound.refuse(to.slot.conn(), &mut self.scratch),
        };
        to.send(&response, &mut self.inbound, &mut self.scratch);
    }

    /// Hands a client's request on, whole, to the active controller.
    fn forward(&mut self, now: Now, to: ReplyTo, frame: Bytes, body: Bytes) {
        let address = self.inbound.address(to.slot.conn()).to_vec();
        let Some(envelope) = envelope(frame, address) else {
            return self.inbound.refuse(to.slot.conn(), &mut self.scratch);
        };
        let owner = Owner::Client { to, body };
        let timeout = Some(FORWARD_TIMEOUT);
        self.errands.take_on(
            now.mono,
            Lane::Forward,
            Target::ActiveController,
            envelope.into(),
            owner,
            timeout,
        );
    }

    /// Creates topics that a client asked about and that are not there yet.
    fn auto_create(&mut self, now: Now, mut topics: Vec<String>) {
        topics.retain(|topic| self.auto_creating.insert(topic.clone()));
        if topics.is_empty() {
            return;
        }
        let wanted = topics
            .iter()
            .map(|name| messages::create_topics::CreatableTopic {
                name: name.clone(),
                num_partitions: -1,
                replication_factor: -1,
                ..Default::default()
            });
        let timeout = Duration::from_secs(30);
        let request = CreateTopicsRequest {
            topics: wanted.collect(),
            timeout_ms: 30_000,
            ..Default::default()
        };
        let header = RequestHeader {
            api_key: ApiKey::CreateTopics.code(),
            api_version: 7,
            client_id: Some(self.node.to_string()),
            ..Default::default()
        };
        let frame = encode_request(&header, &request).ok();
        let Some(envelope) = frame.and_then(|frame| envelope(frame, vec![127, 0, 0, 1])) else {
            return;
        };
        let owner = Owner::AutoCreate(topics);
        self.errands.take_on(
            now.mono,
            Lane::Forward,
            Target::ActiveController,
            envelope.into(),
            owner,
            Some(timeout),
        );
    }

    /// A forwarded request has ended.
    pub(super) fn forwarded(
        &mut self,
        to: &ReplyTo,
        body: &Bytes,
        result: Result<Response, CallError>,
    ) {
        let error = match result {
            Ok(Response::Envelope(EnvelopeResponse {
                error_code: ErrorCode::None,
                response_data: Some(response),
                ..
            })) => {
                // The inner response carries the client's own correlation id.
                return self.inbound.answer(to.slot, response, &mut self.scratch);
            }
            // The controller could not read what we could: the versions do not fit.
            Ok(Response::Envelope(EnvelopeResponse {
                error_code: ErrorCode::UnsupportedVersion,
                ..
            })) => return self.inbound.refuse(to.slot.conn(), &mut self.scratch),
            Err(CallError::TimedOut) => ErrorCode::RequestTimedOut,
            _ => ErrorCode::UnknownServerError,
        };
        let refusal = to.decode(body).and_then(|request| refusal(request, error));
        match refusal {
            Some(response) => to.send(&response, &mut self.inbound, &mut self.scratch),
            None => self.inbound.refuse(to.slot.conn(), &mut self.scratch),
        }
    }
}

/// The answer to a forwarded request that came to nothing.
fn refusal(request: Request, error_code: ErrorCode) -> Option<Response> {
    match Operation::of(request) {
        Ok(operation) => Some(operation.refused(&ApiError::from(error_code)).into()),
        Err(Request::DescribeQuorum(_)) => Some(
            DescribeQuorumResponse {
                error_code,
                ..Default::default()
            }
            .into(),
        ),
        Err(_) => None,
    }
}

/// A client's request in an envelope. Clients are not authenticated, so all are one principal.
fn envelope(frame: Bytes, client_host_address: Vec<u8>) -> Option<EnvelopeRequest> {
    let principal = DefaultPrincipalData {
        principal_type: "User".into(),
        name: "ANONYMOUS".into(),
        ..Default::default()
    };
    let mut writer = Writer::with_capacity(32);
    writer.put_i16(0);
    principal.encode(0, &mut writer).ok()?;
    Some(EnvelopeRequest {
        request_data: frame,
        request_principal: Some(writer.freeze()),
        client_host_address: client_host_address.into(),
        ..Default::default()
    })
}

fn not_stored(request: &ProduceRequest) -> ProduceResponse {
    use messages::produce::{PartitionProduceResponse, TopicProduceResponse};
    let topics = request.topic_data.iter().map(|topic| TopicProduceResponse {
        name: topic.name.clone(),
        topic_id: topic.topic_id,
        partition_responses: topic
            .partition_data
            .iter()
            .map(|partition| PartitionProduceResponse {
                index: partition.index,
                error_code: ErrorCode::InvalidRequest,
                error_message: Some(NO_DATA.to_owned()),
                base_offset: -1,
                ..Default::default()
            })
            .collect(),
        ..Default::default()
    });
    ProduceResponse {
        responses: topics.collect(),
        ..Default::default()
    }
}

fn no_records(request: &FetchRequest) -> FetchResponse {
    use messages::fetch::{FetchableTopicResponse, PartitionData};
    let topics = request.topics.iter().map(|topic| FetchableTopicResponse {
        topic: topic.topic.clone(),
        topic_id: topic.topic_id,
        partitions: topic
            .partitions
            .iter()
            .map(|partition| PartitionData {
                partition_index: partition.partition,
                error_code: ErrorCode::InvalidRequest,
                high_watermark: -1,
                records: Some(Bytes::new()),
                ..Default::default()
            })
            .collect(),
        ..Default::default()
    });
    FetchResponse {
        responses: topics.collect(),
        ..Default::default()
    }
}

fn no_offsets(request: &ListOffsetsRequest) -> ListOffsetsResponse {
    use messages::list_offsets::{ListOffsetsPartitionResponse, ListOffsetsTopicResponse};
    let topics = request.topics.iter().map(|topic| ListOffsetsTopicResponse {
        name: topic.name.clone(),
        partitions: topic
            .partitions
            .iter()
            .map(|partition| ListOffsetsPartitionResponse {
                partition_index: partition.partition_index,
                error_code: ErrorCode::InvalidRequest,
                ..Default::default()
            })
            .collect(),
        ..Default::default()
    });
    ListOffsetsResponse {
        topics: topics.collect(),
        ..Default::default()
    }
}
