//! Where an answer goes: straight into a frame, or into the Envelope that a broker wrapped around
//! the request.

use bytes::Bytes;
use quorate_protocol::codec::Reader;
use quorate_protocol::messages::{
    ApiKey, DescribeQuorumResponse, EnvelopeResponse, Request, RequestHeader, Response,
};
use quorate_types::ErrorCode;

use crate::frames;
use crate::inbound::{Inbound, Slot};
use crate::io::Output;

/// The place of an answer and the form it must have.
#[derive(Debug, Clone)]
pub(crate) struct ReplyTo {
    pub(crate) slot: Slot,
    header: Header,
    envelope: Option<Header>,
}

/// What an answer needs to know of its request's header.
#[derive(Debug, Clone, Copy)]
struct Header {
    api: ApiKey,
    version: i16,
    correlation: i32,
}

impl From<&RequestHeader> for Header {
    fn from(header: &RequestHeader) -> Header {
        Header {
            api: ApiKey::from_code(header.api_key),
            version: header.api_version,
            correlation: header.correlation_id,
        }
    }
}

impl ReplyTo {
    /// The answer to a request that came by itself.
    pub(crate) fn direct(slot: Slot, header: &RequestHeader) -> ReplyTo {
        ReplyTo {
            slot,
            header: header.into(),
            envelope: None,
        }
    }

    /// The answer to the request inside an envelope, which is answered by `self`.
    pub(crate) fn inside(&self, header: &RequestHeader) -> ReplyTo {
        ReplyTo {
            slot: self.slot,
            header: header.into(),
            envelope: Some(self.header),
        }
    }

    /// The same answer in version 0.
    pub(crate) fn in_version_0(mut self) -> ReplyTo {
        self.header.version = 0;
        self
    }

    /// The answer to an envelope whose content never came to be a request.
    pub(crate) fn envelope_itself(&self) -> ReplyTo {
        ReplyTo {
            envelope: Some(self.header),
            ..self.clone()
        }
    }

    /// The version that the answer must have.
    pub(crate) fn version(&self) -> i16 {
        self.header.version
    }

    /// Reads a request of this header's API and version.
    pub(crate) fn decode(&self, body: &Bytes) -> Option<Request> {
        let Header { api, version, .. } = self.header;
        Request::decode(api, version, &mut Reader::of(body)).ok()
    }

    /// Answers.
    pub(crate) fn send(&self, response: &Response, inbound: &mut Inbound, out: &mut Vec<Output>) {
        let Header {
            api,
            version,
            correlation,
        } = self.header;
        if self.envelope.is_some() && says_not_controller(response) {
            return self.send_envelope(ErrorCode::NotController, None, inbound, out);
        }
        match (
            frames::encode_response(api, version, correlation, response),
            self.envelope,
        ) {
            (Ok(frame), None) => inbound.answer(self.slot, frame, out),
            (Ok(frame), Some(_)) => {
                self.send_envelope(ErrorCode::None, Some(frame), inbound, out);
            }
            // A field that this version cannot express: Kafka's server drops the connection too.
            (Err(_), _) => inbound.refuse(self.slot.conn(), out),
        }
    }

    /// Answers that this node is not the active controller, as brokers want to hear it; `bare` is
    /// the answer for those that asked without an envelope.
    pub(crate) fn not_controller(
        &self,
        bare: &Response,
        inbound: &mut Inbound,
        out: &mut Vec<Output>,
    ) {
        match self.envelope {
            Some(_) => self.send_envelope(ErrorCode::NotController, None, inbound, out),
            None => self.send(bare, inbound, out),
        }
    }

    /// Answers the envelope itself.
    pub(crate) fn send_envelope(
        &self,
        error_code: ErrorCode,
        response_data: Option<Bytes>,
        inbound: &mut Inbound,
        out: &mut Vec<Output>,
    ) {
        let Some(Header {
            api,
            version,
            correlation,
        }) = self.envelope
        else {
            return;
        };
        let response = EnvelopeResponse {
            response_data,
            error_code,
            ..Default::default()
        };
        match frames::encode_response(api, version, correlation, &response.into()) {
            Ok(frame) => inbound.answer(self.slot, frame, out),
            Err(_) => inbound.refuse(self.slot.conn(), out),
        }
    }
}

/// Whether an answer of the quorum tells a broker to look for the leader elsewhere.
fn says_not_controller(response: &Response) -> bool {
    match response {
        Response::DescribeQuorum(DescribeQuorumResponse { topics, .. }) => topics
            .iter()
            .flat_map(|topic| &topic.partitions)
            .any(|partition| partition.error_code == ErrorCode::NotLeaderOrFollower),
        _ => false,
    }
}
