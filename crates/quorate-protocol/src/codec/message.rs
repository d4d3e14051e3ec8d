//! A whole message or record: a struct with a name and versions of its own.

use bytes::Bytes;
use quorate_types::VersionRange;

use super::{Counter, DecodeError, DecodeProblem, EncodeError, Form, Reader, Wire, Writer};

/// A message: request, response, metadata record, or the body of a control record.
///
/// `#[derive(Message)]` implements it; see the [module](super) for an example.
pub trait Message: Wire + Default + Clone + PartialEq + std::fmt::Debug {
    /// The API's key, or the record's; `None` for what is known by its place alone.
    const KEY: Option<i16>;
    /// Kafka's name of the message.
    const NAME: &str;
    /// The versions known here.
    const VERSIONS: VersionRange;
    /// The first flexible version (KIP-482), if there is one.
    const FLEXIBLE_FROM: Option<i16>;

    /// Whether that version is flexible.
    fn flexible(version: i16) -> bool {
        Self::FLEXIBLE_FROM.is_some_and(|first| version >= first)
    }

    /// The form of that version, for writing.
    fn encode_form(version: i16) -> Result<Form, EncodeError> {
        if Self::VERSIONS.contains(version) {
            Ok(Form::new(version, Self::flexible(version)))
        } else {
            Err(EncodeError::UnsupportedVersion {
                message: Self::NAME,
                version,
            })
        }
    }

    /// Writes the message.
    fn encode(&self, version: i16, writer: &mut Writer) -> Result<(), EncodeError> {
        self.write(Self::encode_form(version)?, writer)
    }

    /// How many bytes [`encode`](Message::encode) writes.
    fn size(&self, version: i16) -> Result<usize, EncodeError> {
        let mut counter = Counter::default();
        self.write(Self::encode_form(version)?, &mut counter)?;
        Ok(counter.count())
    }

    /// The message in a buffer of just its size.
    fn to_bytes(&self, version: i16) -> Result<Bytes, EncodeError> {
        let mut writer = Writer::with_capacity(self.size(version)?);
        self.encode(version, &mut writer)?;
        Ok(writer.freeze())
    }

    /// Reads a message. Bytes that follow it are left in the reader: ask
    /// [`Reader::finish`] where there must be none.
    fn decode(version: i16, reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        if !Self::VERSIONS.contains(version) {
            return Err(reader.error(DecodeProblem::UnsupportedVersion {
                message: Self::NAME,
                version,
            }));
        }
        Self::read(Form::new(version, Self::flexible(version)), reader)
    }
}
