//! The bytes of a snapshot file as an image.

use bytes::Bytes;
use quorate_engine::Machine;
use quorate_protocol::snapshot::{SnapshotError, SnapshotHeader, SnapshotPart, SnapshotReader};
use quorate_types::OffsetAndEpoch;

use crate::{KafkaMetadata, MetadataImage, Misfit, RecordError, decode_records};

/// Reads a snapshot file in pieces of any size and builds its image.
#[derive(Debug)]
pub struct SnapshotLoader {
    reader: SnapshotReader,
    id: OffsetAndEpoch,
    header: Option<SnapshotHeader>,
    image: MetadataImage,
}

/// A snapshot that was read to its end.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadedSnapshot {
    /// What it holds.
    pub image: MetadataImage,
    /// Its id: the end of what it contains.
    pub id: OffsetAndEpoch,
    /// What its header says: the append time of the last record contained, and the quorum.
    pub header: SnapshotHeader,
}

/// Why bytes are not a snapshot of metadata.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SnapshotLoadError {
    /// The file is malformed.
    #[error(transparent)]
    File(#[from] SnapshotError),
    /// A record cannot be read.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// A record does not fit those before it.
    #[error(transparent)]
    Misfit(#[from] Misfit),
    /// The bytes end before the footer.
    #[error("the file ends after {position} bytes, before its footer")]
    Incomplete {
        /// How many bytes could be read.
        position: u64,
    },
}

impl SnapshotLoader {
    /// Starts reading the snapshot of that id.
    pub fn new(id: OffsetAndEpoch) -> SnapshotLoader {
        SnapshotLoader {
            reader: SnapshotReader::new(),
            id,
            header: None,
            image: MetadataImage::default(),
        }
    }

    /// Takes bytes that follow on those taken before.
    pub fn feed(&mut self, bytes: Bytes) -> Result<(), SnapshotLoadError> {
        self.reader.feed(bytes);
        while let Some(part) = self.reader.next_part()? {
            match part {
                SnapshotPart::Header(header) => self.header = Some(header),
                SnapshotPart::Data(batch) => {
                    for record in decode_records(&batch)? {
                        // All that is known of a record's offset is that it lies before the end.
                        KafkaMetadata::apply(&mut self.image, &record, self.id.offset - 1)?;
                    }
                }
                SnapshotPart::Footer => {}
            }
        }
        Ok(())
    }

    /// The image, once all bytes were taken.
    pub fn finish(self) -> Result<LoadedSnapshot, SnapshotLoadError> {
        match self.header {
            Some(header) if self.reader.is_complete() => Ok(LoadedSnapshot {
                image: self.image,
                id: self.id,
                header,
            }),
            _ => Err(SnapshotLoadError::Incomplete {
                position: self.reader.position(),
            }),
        }
    }
}
