//! The fixed header of a batch, and the judgement of its lengths before anything relies on them.

use quorate_types::{Epoch, Offset, WallTime};

use super::{BATCH_HEADER_BYTES, BatchError, MAX_BATCH_BYTES};

/// Where the length field ends: what it counts starts here.
pub(super) const LENGTH_END: usize = 12;
/// Where the bytes under the checksum start.
pub(super) const CRC_END: usize = 21;
pub(super) const CONTROL_BIT: i16 = 0x20;
const COMPRESSION_MASK: i16 = 0x07;

/// The header of a batch: 61 bytes, checked for lengths that contradict one another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BatchHeader {
    /// The offset of the first record.
    pub base_offset: Offset,
    /// The size of the batch in bytes, header included; at most [`MAX_BATCH_BYTES`].
    pub size: usize,
    /// The epoch of the leader that wrote the batch.
    pub epoch: Epoch,
    /// CRC-32C of all that follows the field itself.
    pub crc: u32,
    /// Bit 5: control batch; bits 0–2: compression.
    pub attributes: i16,
    /// When the batch was opened, by the leader's clock.
    pub timestamp: WallTime,
    /// The number of records, at least 1.
    pub count: i32,
}

impl BatchHeader {
    /// Reads the header at the start of `bytes`; `None` if fewer than 61 bytes are there and what
    /// is there may still become a header.
    pub fn parse(bytes: &[u8]) -> Result<Option<BatchHeader>, BatchError> {
        let Some(bytes) = bytes.first_chunk::<BATCH_HEADER_BYTES>() else {
            return Ok(None);
        };
        let size = size_of(i32_at(bytes, 8))?;
        let magic = i8::from_be_bytes([bytes[16]]);
        if magic != 2 {
            return Err(BatchError::Magic { magic });
        }
        let header = BatchHeader {
            base_offset: Offset(i64_at(bytes, 0)),
            size,
            epoch: Epoch(i32_at(bytes, 12)),
            crc: u32::from_be_bytes(array_at(bytes, 17)),
            attributes: i16::from_be_bytes(array_at(bytes, 21)),
            timestamp: WallTime(i64_at(bytes, 35)),
            count: i32_at(bytes, 57),
        };
        header.check(i32_at(bytes, 23))?;
        Ok(Some(header))
    }

    /// The offset after the last record.
    pub fn end_offset(&self) -> Offset {
        self.base_offset + i64::from(self.count)
    }

    /// Whether the batch holds control records.
    pub fn is_control(&self) -> bool {
        self.attributes & CONTROL_BIT != 0
    }

    /// The codec the records are compressed with, 0 for none.
    pub(super) fn compression(&self) -> u8 {
        (self.attributes & COMPRESSION_MASK) as u8
    }

    fn check(&self, last_offset_delta: i32) -> Result<(), BatchError> {
        let field = |field, value| Err(BatchError::Header { field, value });
        let Offset(base) = self.base_offset;
        if base < 0 || base.checked_add(i64::from(self.count)).is_none() {
            return field("base offset", base);
        }
        if self.epoch.0 < 0 {
            return field("partition leader epoch", i64::from(self.epoch.0));
        }
        if self.count < 1 {
            return field("record count", i64::from(self.count));
        }
        if last_offset_delta != self.count - 1 {
            return field("last offset delta", i64::from(last_offset_delta));
        }
        Ok(())
    }
}

fn size_of(length: i32) -> Result<usize, BatchError> {
    usize::try_from(length)
        .ok()
        .map(|length| length.saturating_add(LENGTH_END))
        .filter(|size| (BATCH_HEADER_BYTES..=MAX_BATCH_BYTES).contains(size))
        .ok_or(BatchError::Length { length })
}

fn array_at<const N: usize>(bytes: &[u8; BATCH_HEADER_BYTES], at: usize) -> [u8; N] {
    std::array::from_fn(|index| bytes[at + index])
}

fn i32_at(bytes: &[u8; BATCH_HEADER_BYTES], at: usize) -> i32 {
    i32::from_be_bytes(array_at(bytes, at))
}

fn i64_at(bytes: &[u8; BATCH_HEADER_BYTES], at: usize) -> i64 {
    i64::from_be_bytes(array_at(bytes, at))
}
