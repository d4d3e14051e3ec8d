//! The frame around a metadata record: which record of which version follows.

use bytes::Bytes;

use super::MetadataRecord;
use crate::codec::{Counter, DecodeError, DecodeProblem, EncodeError, Reader, Sink, Writer};

/// The only version of the frame that there is.
pub const FRAME_VERSION: u32 = 1;

/// A metadata record and the version that it is written in.
#[derive(Debug, Clone, PartialEq)]
pub struct VersionedRecord {
    /// The version of the record's type.
    pub version: i16,
    /// The record.
    pub data: MetadataRecord,
}

impl VersionedRecord {
    /// Joins a record and its version.
    pub fn new(version: i16, data: impl Into<MetadataRecord>) -> VersionedRecord {
        VersionedRecord {
            version,
            data: data.into(),
        }
    }

    /// Reads the value of a data record of the log; nothing may be left over.
    pub fn decode_frame(frame: &Bytes) -> Result<VersionedRecord, DecodeError> {
        let mut reader = Reader::of(frame);
        let frame_version = reader.read_uvarint()?;
        if frame_version != FRAME_VERSION {
            return Err(reader.error(DecodeProblem::UnknownFrameVersion {
                version: frame_version,
            }));
        }
        let key = reader.read_uvarint()?;
        let version = i16::try_from(reader.read_uvarint()?)
            .map_err(|_| reader.error(DecodeProblem::VarintTooLong))?;
        let data = MetadataRecord::read_body(key, version, &mut reader)?;
        reader.finish()?;
        Ok(VersionedRecord { version, data })
    }

    /// Writes the value of a data record of the log.
    pub fn encode_frame(&self) -> Result<Bytes, EncodeError> {
        let mut writer = Writer::with_capacity(self.frame_size()?);
        self.write(&mut writer)?;
        Ok(writer.freeze())
    }

    /// How many bytes [`encode_frame`](VersionedRecord::encode_frame) writes.
    pub fn frame_size(&self) -> Result<usize, EncodeError> {
        let mut counter = Counter::default();
        self.write(&mut counter)?;
        Ok(counter.count())
    }

    fn write<S: Sink>(&self, sink: &mut S) -> Result<(), EncodeError> {
        sink.put_uvarint(FRAME_VERSION);
        sink.put_uvarint(self.data.key() as u32);
        // The body refuses versions that are not known, so a negative one goes nowhere.
        sink.put_uvarint(self.version as u32);
        self.data.write_body(self.version, sink)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::{NoOpRecord, TopicRecord};

    fn problem(frame: &'static [u8]) -> DecodeProblem {
        let result = VersionedRecord::decode_frame(&Bytes::from_static(frame));
        result.unwrap_err().problem()
    }

    #[test]
    fn frames_that_are_not_understood_are_refused() {
        assert_eq!(
            problem(&[0, 20, 0, 0]),
            DecodeProblem::UnknownFrameVersion { version: 0 }
        );
        assert_eq!(
            problem(&[1, 6, 0, 0]),
            DecodeProblem::UnknownRecordKey { key: 6 }
        );
        assert_eq!(
            problem(&[1, 20, 1, 0]),
            DecodeProblem::UnsupportedVersion {
                message: "NoOpRecord",
                version: 1
            }
        );
        assert_eq!(
            problem(&[1, 20, 0, 0, 0]),
            DecodeProblem::Trailing { left: 1 }
        );
    }

    #[test]
    fn a_version_that_does_not_exist_is_not_written() {
        let record = VersionedRecord::new(1, TopicRecord::default());
        assert!(record.encode_frame().is_err());
        assert!(
            VersionedRecord::new(-1, NoOpRecord::default())
                .frame_size()
                .is_err()
        );
    }
}
