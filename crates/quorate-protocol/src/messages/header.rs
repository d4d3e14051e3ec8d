//! What stands in front of every request and response.

use super::ApiKey;
use crate::codec::{DecodeError, EncodeError, Form, Message, Reader, Sink, UnknownTags, Wire};

/// In front of a request.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(versions = 1..=2, flexible = 2)]
pub struct RequestHeader {
    /// The key of the API.
    pub api_key: i16,
    /// The request's version.
    pub api_version: i16,
    /// Any number; the answer carries it back.
    pub correlation_id: i32,
    /// A name that the client gave itself; null if it did not.
    #[field(classic)]
    pub client_id: Option<String>,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

impl RequestHeader {
    /// The version of this header, which follows from what it says.
    pub fn header_version(&self) -> i16 {
        ApiKey::from_code(self.api_key).request_header_version(self.api_version)
    }

    /// Reads a header in the version that its first four bytes ask for. An API that is not known
    /// is read in version 1, so that whoever asks can tell which one it was.
    pub fn read_from(reader: &mut Reader<'_>) -> Result<RequestHeader, DecodeError> {
        let form = Form::new(1, false);
        let mut header = RequestHeader {
            api_key: reader.read_i16()?,
            api_version: reader.read_i16()?,
            correlation_id: reader.read_i32()?,
            client_id: Wire::read(form, reader)
                .map_err(|error| error.within("RequestHeader.client_id"))?,
            unknown_tags: UnknownTags::default(),
        };
        if header.header_version() >= 2 {
            header.unknown_tags = reader.read_tags(|_, _| Ok(false))?;
        }
        Ok(header)
    }

    /// Writes the header in its own version.
    pub fn write_to<S: Sink>(&self, sink: &mut S) -> Result<(), EncodeError> {
        self.write(RequestHeader::encode_form(self.header_version())?, sink)
    }
}

/// In front of a response.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[message(versions = 0..=1, flexible = 1)]
pub struct ResponseHeader {
    /// The request's correlation id.
    pub correlation_id: i32,
    /// Tagged fields that are not known here.
    pub unknown_tags: UnknownTags,
}

impl ResponseHeader {
    /// The header that answers a request of that correlation id.
    pub fn new(correlation_id: i32) -> ResponseHeader {
        ResponseHeader {
            correlation_id,
            ..ResponseHeader::default()
        }
    }
}
