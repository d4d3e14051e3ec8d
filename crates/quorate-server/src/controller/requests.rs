//! What comes in on a controller's listener, and who answers it.
//!
//! | request | answered by |
//! |---|---|
//! | the quorum's own | [`Quorum`](crate::quorum::Quorum) |
//! | UpdateFeatures | the engine, and the quorum where it names `kraft.version` |
//! | reads that any controller may answer | the published image |
//! | everything that changes metadata | the engine, if it is active |
//! | Envelope | whoever answers the request inside |

use bytes::Bytes;
use quorate_broker::cache::{FORWARDABLE, unsupported_version};
use quorate_controller::configs::DescribeContext;
use quorate_controller::{
    ApiError, Command, Operation, RequestContext, describe_cluster, describe_configs,
    list_reassignments,
};
use quorate_engine::Ticket;
use quorate_protocol::DefaultPrincipalData;
use quorate_protocol::codec::{Message, Reader};
use quorate_protocol::messages::{
    ApiKey, ApiVersionsRequest, DescribeDelegationTokenResponse,
    DescribeUserScramCredentialsResponse, EnvelopeRequest, Request, RequestHeader, Response,
    SaslAuthenticateResponse, SaslHandshakeResponse,
};
use quorate_types::ErrorCode;

use super::{ControllerNode, Parked, api_versions};
use crate::io::{ConnId, Now};
use crate::replies::ReplyTo;

/// Who asks, as the engine wants to know it.
struct Asker {
    principal: String,
    client_id: Option<String>,
}

impl ControllerNode {
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
        if !api_versions::listed(api, header.api_version) {
            return if api == ApiKey::ApiVersions {
                let to = to.in_version_0();
                let response = Response::from(unsupported_version());
                to.send(&response, &mut self.inbound, &mut self.scratch);
            } else {
                self.inbound.refuse(conn, &mut self.scratch);
            };
        }
        let body = frame.slice(reader.position()..);
        match Request::decode(api, header.api_version, &mut reader) {
            Ok(Request::Envelope(envelope)) => self.envelope(now, &to, &envelope),
            Ok(request) => {
                let asker = Asker {
                    principal: "User:ANONYMOUS".into(),
                    client_id: header.client_id.clone(),
                };
                self.request(now, to, body, request, asker);
            }
            Err(_) => self.inbound.refuse(conn, &mut self.scratch),
        }
    }

    /// Unwraps a request that a broker forwards.
    fn envelope(&mut self, now: Now, to: &ReplyTo, envelope: &EnvelopeRequest) {
        match unwrap(to, envelope) {
            Ok((inner, body, request, asker)) => self.request(now, inner, body, request, asker),
            Err(error) => {
                to.envelope_itself().send_envelope(
                    error,
                    None,
                    &mut self.inbound,
                    &mut self.scratch,
                );
            }
        }
    }

    fn request(&mut self, now: Now, to: ReplyTo, body: Bytes, request: Request, asker: Asker) {
        let token = self.next_token();
        let version = to.version();
        let rest = self
            .quorum
            .request(now, &mut self.names, token, version, request);
        let Some(mut request) = rest else {
            self.asked.insert(token, to);
            return;
        };
        if let Request::UpdateFeatures(update) = &mut request
            && let Err(refused) = self.begin_upgrade(now, Ticket(token), update)
        {
            let response = Response::from(refused);
            return to.send(&response, &mut self.inbound, &mut self.scratch);
        }
        if let Some(response) = self.read(&request, version) {
            return to.send(&response, &mut self.inbound, &mut self.scratch);
        }
        let Ok(operation) = Operation::of(request) else {
            return self.inbound.refuse(to.slot.conn(), &mut self.scratch);
        };
        let context = RequestContext {
            principal: asker.principal,
            client_id: asker.client_id,
            api_version: version,
            listener: self.quorum.config().listener.clone(),
            arrived: now.mono,
        };
        let command = Command { context, operation };
        let (lane, expires) = (command.lane(), command.expires(self.config()));
        self.parked.insert(Ticket(token), Parked { to, body });
        self.engine.submit(Ticket(token), lane, command, expires);
    }

    /// Answers what needs no decision, from the published metadata.
    fn read(&self, request: &Request, version: i16) -> Option<Response> {
        let image = &self.published;
        let config = self.config();
        Some(match request {
            Request::ApiVersions(request) => self.api_versions(request, version).into(),
            Request::DescribeConfigs(request) => {
                let (node, settings) = (config.node_id, &config.node_settings);
                describe_configs(
                    DescribeContext {
                        image,
                        node,
                        settings,
                    },
                    request,
                )
                .into()
            }
            Request::DescribeCluster(request) => describe_cluster(
                image,
                &config.cluster_id,
                &self.quorum.config().listener,
                self.quorum.raft().leader(),
                request,
                version,
            )
            .into(),
            Request::ListPartitionReassignments(request) => {
                if self.engine.active().is_none() {
                    let operation = Operation::from(request.clone());
                    let error = ApiError::from(ErrorCode::NotController);
                    return Some(operation.refused(&error).into());
                }
                list_reassignments(image, request).into()
            }
            // The listener takes no other authentication than none.
            Request::SaslHandshake(_) => SaslHandshakeResponse {
                error_code: ErrorCode::IllegalSaslState,
                ..Default::default()
            }
            .into(),
            Request::SaslAuthenticate(_) => SaslAuthenticateResponse {
                error_code: ErrorCode::IllegalSaslState,
                ..Default::default()
            }
            .into(),
            // Listed by Kafka's controllers, and answered like this by them too.
            Request::DescribeDelegationToken(_) => DescribeDelegationTokenResponse {
                error_code: ErrorCode::UnknownServerError,
                ..Default::default()
            }
            .into(),
            Request::DescribeUserScramCredentials(_) => DescribeUserScramCredentialsResponse {
                error_code: ErrorCode::UnknownServerError,
                ..Default::default()
            }
            .into(),
            _ => return None,
        })
    }

    fn api_versions(
        &self,
        request: &ApiVersionsRequest,
        version: i16,
    ) -> quorate_protocol::messages::ApiVersionsResponse {
        let kraft_version = self.quorum.raft().kraft_version();
        api_versions::answer(
            request,
            version,
            &self.published,
            self.features_end,
            kraft_version,
        )
    }
}

/// The request in an envelope, or the envelope's own error.
fn unwrap(
    to: &ReplyTo,
    envelope: &EnvelopeRequest,
) -> Result<(ReplyTo, Bytes, Request, Asker), ErrorCode> {
    if !matches!(envelope.client_host_address.len(), 4 | 16) {
        return Err(ErrorCode::InvalidRequest);
    }
    let data = &envelope.request_data;
    let mut reader = Reader::of(data);
    let header =
        RequestHeader::read_from(&mut reader).map_err(|_| ErrorCode::UnsupportedVersion)?;
    let api = ApiKey::from_code(header.api_key);
    if !FORWARDABLE.contains(&header.api_key) {
        return Err(ErrorCode::InvalidRequest);
    }
    let body = data.slice(reader.position()..);
    let request = Request::decode(api, header.api_version, &mut reader)
        .map_err(|_| ErrorCode::UnsupportedVersion)?;
    let principal = envelope.request_principal.as_ref().and_then(principal);
    let asker = Asker {
        principal: principal.ok_or(ErrorCode::PrincipalDeserializationFailure)?,
        client_id: header.client_id.clone(),
    };
    Ok((to.inside(&header), body, request, asker))
}

/// A serialized principal: two bytes of version, then `DefaultPrincipalData`.
fn principal(bytes: &Bytes) -> Option<String> {
    let mut reader = Reader::of(bytes);
    let version = reader.read_i16().ok()?;
    let data = DefaultPrincipalData::decode(version, &mut reader).ok()?;
    Some(format!("{}:{}", data.principal_type, data.name))
}
