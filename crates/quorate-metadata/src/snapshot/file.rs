//! An image as the bytes of a snapshot file.

use bytes::Bytes;
use quorate_protocol::codec::EncodeError;
use quorate_protocol::records::VersionedRecord;
use quorate_protocol::snapshot::{SnapshotError, SnapshotHeader, SnapshotWriter};
use quorate_types::{Epoch, WallTime};

use super::{Losses, SnapshotRecords};
use crate::MetadataImage;

/// A batch of the file is closed when its records come to that many bytes; configuration values can
/// be long.
const BATCH_BYTES: usize = 1024 * 1024;

/// Yields the batches of a snapshot file: header, data, footer. Each is to be appended to the file.
///
/// How fast is up to whoever asks; the image may change meanwhile.
#[derive(Debug)]
pub struct SnapshotFile {
    state: State,
    records: SnapshotRecords,
    /// Records taken from the image and not yet in a batch, the next one last.
    waiting: Vec<VersionedRecord>,
    at: WallTime,
}

#[derive(Debug)]
enum State {
    Header(SnapshotWriter, Bytes),
    Data(SnapshotWriter),
    Done,
}

/// Why a snapshot cannot be written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SnapshotWriteError {
    /// Its `metadata.version` cannot say all of the image.
    #[error(transparent)]
    Lossy(#[from] Losses),
    /// A batch cannot be made.
    #[error(transparent)]
    Batch(#[from] SnapshotError),
    /// A record cannot be encoded.
    #[error(transparent)]
    Record(#[from] EncodeError),
}

impl SnapshotFile {
    /// The file for an image whose last record is of `epoch`, written at `at`.
    pub fn new(
        image: MetadataImage,
        header: &SnapshotHeader,
        epoch: Epoch,
        at: WallTime,
    ) -> Result<SnapshotFile, SnapshotWriteError> {
        let records = SnapshotRecords::new(image)?;
        let (writer, first) = SnapshotWriter::new(epoch, header, at)?;
        Ok(SnapshotFile {
            state: State::Header(writer, first),
            records,
            waiting: Vec::new(),
            at,
        })
    }

    /// The next batch; `None` after the footer.
    pub fn next_batch(&mut self) -> Result<Option<Bytes>, SnapshotWriteError> {
        match std::mem::replace(&mut self.state, State::Done) {
            State::Header(writer, header) => {
                self.state = State::Data(writer);
                Ok(Some(header))
            }
            State::Data(mut writer) => {
                let values = self.next_values()?;
                if values.is_empty() {
                    return Ok(Some(writer.finish(self.at)?));
                }
                let batch = writer.data(self.at, &values)?;
                self.state = State::Data(writer);
                Ok(Some(batch))
            }
            State::Done => Ok(None),
        }
    }

    fn next_values(&mut self) -> Result<Vec<Bytes>, EncodeError> {
        if self.waiting.is_empty() {
            self.waiting = self.records.next().unwrap_or_default();
            self.waiting.reverse();
        }
        let mut values = Vec::new();
        let mut bytes = 0;
        while bytes < BATCH_BYTES {
            let Some(record) = self.waiting.pop() else {
                break;
            };
            let frame = record.encode_frame()?;
            bytes += frame.len();
            values.push(frame);
        }
        Ok(values)
    }
}
