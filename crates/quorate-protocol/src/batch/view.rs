//! One whole batch, as the bytes it is.

use bytes::Bytes;
use quorate_types::{ControlRecord, Epoch, Offset, WallTime};

use super::header::CRC_END;
use super::{BATCH_HEADER_BYTES, BatchError, BatchHeader, RawRecord, RawRecords, Records};
use crate::control;

/// A whole batch in a shared buffer. Cloning it copies no bytes.
///
/// Its lengths are checked; its checksum is not until [`BatchView::verify_crc`] is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatchView {
    header: BatchHeader,
    bytes: Bytes,
}

impl BatchView {
    /// The batch that `bytes` is, from its first byte to its last.
    pub fn new(bytes: Bytes) -> Result<BatchView, BatchError> {
        let left = bytes.len();
        match BatchView::first(&bytes)? {
            Some(batch) if batch.size() == left => Ok(batch),
            Some(batch) => Err(BatchError::Trailing {
                left: left - batch.size(),
            }),
            None => Err(BatchError::Trailing { left }),
        }
    }

    /// The batch at the start of `bytes`; `None` if it is cut off.
    pub fn first(bytes: &Bytes) -> Result<Option<BatchView>, BatchError> {
        Ok(BatchHeader::parse(bytes)?
            .filter(|header| header.size <= bytes.len())
            .map(|header| BatchView {
                header,
                bytes: bytes.slice(..header.size),
            }))
    }

    /// The header.
    pub fn header(&self) -> &BatchHeader {
        &self.header
    }

    /// The offset of the first record.
    pub fn base_offset(&self) -> Offset {
        self.header.base_offset
    }

    /// The offset after the last record.
    pub fn end_offset(&self) -> Offset {
        self.header.end_offset()
    }

    /// The epoch of the leader that wrote the batch.
    pub fn epoch(&self) -> Epoch {
        self.header.epoch
    }

    /// Whether the batch holds control records.
    pub fn is_control(&self) -> bool {
        self.header.is_control()
    }

    /// When the batch was opened, by the leader's clock.
    pub fn timestamp(&self) -> WallTime {
        self.header.timestamp
    }

    /// The number of records, at least 1.
    pub fn count(&self) -> usize {
        self.header.count as usize
    }

    /// The size in bytes, header included.
    pub fn size(&self) -> usize {
        self.header.size
    }

    /// The batch's bytes.
    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// The batch's bytes.
    pub fn into_bytes(self) -> Bytes {
        self.bytes
    }

    /// Compares the checksum in the header with the bytes under it.
    pub fn verify_crc(&self) -> Result<(), BatchError> {
        let computed = crc32c::crc32c(&self.bytes[CRC_END..]);
        let stored = self.header.crc;
        if computed == stored {
            Ok(())
        } else {
            Err(BatchError::Crc { stored, computed })
        }
    }

    /// The values of a data batch; one error for a control batch, a compressed one, or a record
    /// that Kafka's reader would refuse.
    pub fn records(&self) -> Records {
        Records(if self.is_control() {
            RawRecords::failed(self.wrong_kind())
        } else {
            self.raw_records()
        })
    }

    /// The records of a control batch, decoded.
    pub fn control_records(&self) -> Result<Vec<ControlRecord>, BatchError> {
        if !self.is_control() {
            return Err(self.wrong_kind());
        }
        self.raw_records()
            .enumerate()
            .map(|(index, record)| self.control_record(index, &record?))
            .collect()
    }

    /// The records as they stand, of either kind.
    pub fn raw_records(&self) -> RawRecords {
        match self.header.compression() {
            0 => RawRecords::new(
                self.base_offset().0,
                self.is_control(),
                self.count(),
                self.bytes.slice(BATCH_HEADER_BYTES..),
            ),
            codec => RawRecords::failed(BatchError::Compressed { codec }),
        }
    }

    fn control_record(
        &self,
        index: usize,
        record: &RawRecord,
    ) -> Result<ControlRecord, BatchError> {
        let base = self.base_offset().0;
        // A control record without a key was refused before.
        let key = record.key.clone().unwrap_or_default();
        control::decode(&key, &record.value).map_err(|error| BatchError::Control {
            base,
            index,
            error,
        })
    }

    fn wrong_kind(&self) -> BatchError {
        BatchError::Kind {
            base: self.base_offset().0,
            control: self.is_control(),
        }
    }
}
