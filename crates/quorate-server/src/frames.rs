//! Whole frames: a header and whichever message follows it.

use bytes::Bytes;
use quorate_protocol::codec::{DecodeError, DecodeProblem, EncodeError, Message, Reader, Writer};
use quorate_protocol::messages::{ApiKey, Request, RequestHeader, Response, ResponseHeader};

/// A request's frame, in the version that the header names.
pub fn encode_request(header: &RequestHeader, request: &Request) -> Result<Bytes, EncodeError> {
    let mut writer = Writer::with_capacity(64 + request.size(header.api_version)?);
    header.write_to(&mut writer)?;
    request.encode(header.api_version, &mut writer)?;
    Ok(writer.freeze())
}

/// A response's frame.
pub fn encode_response(
    api: ApiKey,
    version: i16,
    correlation: i32,
    response: &Response,
) -> Result<Bytes, EncodeError> {
    let header = ResponseHeader::new(correlation);
    let header_version = api.response_header_version(version);
    let size = header.size(header_version)? + response.size(version)?;
    let mut writer = Writer::with_capacity(size);
    header.encode(header_version, &mut writer)?;
    response.encode(version, &mut writer)?;
    Ok(writer.freeze())
}

/// The response in a frame, which must answer the request of that correlation id.
pub fn decode_response(
    api: ApiKey,
    version: i16,
    correlation: i32,
    frame: &Bytes,
) -> Result<Response, DecodeError> {
    let mut reader = Reader::of(frame);
    let header = ResponseHeader::decode(api.response_header_version(version), &mut reader)?;
    if header.correlation_id != correlation {
        let reason = "the response answers another request";
        return Err(reader.error(DecodeProblem::Invalid { reason }));
    }
    // A server that does not know our version of ApiVersions answers in version 0.
    let version = if api == ApiKey::ApiVersions && reader.remaining() >= 2 {
        let unsupported = frame.get(reader.position()..reader.position() + 2) == Some(&[0, 35]);
        if unsupported { 0 } else { version }
    } else {
        version
    };
    let response = Response::decode(api, version, &mut reader)?;
    reader.finish()?;
    Ok(response)
}
