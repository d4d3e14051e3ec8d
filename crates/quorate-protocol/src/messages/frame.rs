//! Whole frames: a header and a message, without the size that goes in front of both.

use bytes::Bytes;

use super::{ApiKey, Request, RequestHeader, ResponseHeader};
use crate::codec::{Counter, DecodeError, DecodeProblem, EncodeError, Message, Reader, Writer};

/// Writes a request whose header says the version.
pub fn encode_request<M: Message>(header: &RequestHeader, body: &M) -> Result<Bytes, EncodeError> {
    let mut counter = Counter::default();
    header.write_to(&mut counter)?;
    let mut writer = Writer::with_capacity(counter.count() + body.size(header.api_version)?);
    header.write_to(&mut writer)?;
    body.encode(header.api_version, &mut writer)?;
    Ok(writer.freeze())
}

/// Reads a request. Bytes that follow it are ignored, as in Kafka.
pub fn decode_request(frame: &Bytes) -> Result<(RequestHeader, Request), DecodeError> {
    let mut reader = Reader::of(frame);
    let header = RequestHeader::read_from(&mut reader)?;
    let request = Request::decode(header.api_key, header.api_version, &mut reader)?;
    Ok((header, request))
}

/// Writes a response to a request of that API, version and correlation id.
pub fn encode_response<M: Message>(
    key: impl Into<ApiKey>,
    version: i16,
    correlation_id: i32,
    body: &M,
) -> Result<Bytes, EncodeError> {
    let header = ResponseHeader::new(correlation_id);
    let header_version = key.into().response_header_version(version);
    let size = header.size(header_version)? + body.size(version)?;
    let mut writer = Writer::with_capacity(size);
    header.encode(header_version, &mut writer)?;
    body.encode(version, &mut writer)?;
    Ok(writer.freeze())
}

/// Reads a response to a request of that version. Bytes that follow it are ignored, as in Kafka.
pub fn decode_response<M: Message>(
    version: i16,
    frame: &Bytes,
) -> Result<(ResponseHeader, M), DecodeError> {
    let mut reader = Reader::of(frame);
    let key = M::KEY.map(ApiKey::from_code).ok_or_else(|| {
        reader.error(DecodeProblem::Invalid {
            reason: "only responses of an API have a header",
        })
    })?;
    let header = ResponseHeader::decode(key.response_header_version(version), &mut reader)?;
    Ok((header, M::decode(version, &mut reader)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::{ApiVersionsRequest, ApiVersionsResponse, VoteResponse};
    use quorate_types::ErrorCode;

    #[test]
    fn api_versions_responses_have_the_oldest_header() {
        let body = ApiVersionsResponse {
            error_code: ErrorCode::UnsupportedVersion,
            ..ApiVersionsResponse::default()
        };
        let frame = encode_response(ApiKey::ApiVersions, 4, 9, &body).unwrap();
        assert_eq!(frame[..6], [0, 0, 0, 9, 0, 35]);
        let (header, read) = decode_response::<ApiVersionsResponse>(4, &frame).unwrap();
        assert_eq!((header.correlation_id, read), (9, body));
    }

    #[test]
    fn flexible_responses_have_tagged_fields_in_their_header() {
        let frame = encode_response(ApiKey::Vote, 2, 9, &VoteResponse::default()).unwrap();
        assert_eq!(frame[..5], [0, 0, 0, 9, 0]);
    }

    #[test]
    fn a_header_is_readable_whatever_the_version_behind_it() {
        let header = RequestHeader {
            api_key: ApiKey::ApiVersions.code(),
            api_version: 99,
            correlation_id: 1,
            ..RequestHeader::default()
        };
        assert_eq!(header.header_version(), 2);
        assert!(encode_request(&header, &ApiVersionsRequest::default()).is_err());
        let mut writer = Writer::default();
        header.write_to(&mut writer).unwrap();
        let frame = writer.freeze();
        assert_eq!(
            RequestHeader::read_from(&mut Reader::of(&frame)),
            Ok(header)
        );
        assert_eq!(
            decode_request(&frame).unwrap_err().problem(),
            DecodeProblem::UnsupportedVersion {
                message: "ApiVersionsRequest",
                version: 99
            }
        );
    }

    #[test]
    fn an_unknown_api_is_named_in_the_error() {
        let frame = Bytes::from_static(&[0x7f, 0, 0, 0, 0, 0, 0, 1, 0xff, 0xff]);
        assert_eq!(
            decode_request(&frame).unwrap_err().problem(),
            DecodeProblem::UnknownApiKey { key: 0x7f00 }
        );
    }
}
