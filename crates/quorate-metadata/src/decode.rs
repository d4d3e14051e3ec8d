//! Batches of the log as records for the image.

use quorate_engine::Batch;
use quorate_protocol::batch::{BatchError, BatchView};
use quorate_protocol::codec::DecodeError;
use quorate_protocol::records::VersionedRecord;
use quorate_types::Offset;

/// A record that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// The batch is malformed.
    #[error("the batch at {base}: {error}")]
    Batch {
        /// The batch's first offset.
        base: Offset,
        /// What is wrong.
        error: BatchError,
    },
    /// The record's value is malformed or of an unknown type or version.
    #[error("the record at {at}: {error}")]
    Record {
        /// The record's offset.
        at: Offset,
        /// What is wrong.
        error: DecodeError,
    },
}

/// The records of a data batch.
pub fn decode_records(batch: &BatchView) -> Result<Vec<VersionedRecord>, RecordError> {
    let base = batch.base_offset();
    let mut records = Vec::with_capacity(batch.count().min(1024));
    for value in batch.records() {
        let value = value.map_err(|error| RecordError::Batch { base, error })?;
        let at = base + records.len() as i64;
        let record = VersionedRecord::decode_frame(&value);
        records.push(record.map_err(|error| RecordError::Record { at, error })?);
    }
    Ok(records)
}

/// A batch of the log as a state machine takes it: a control batch has no records for it.
pub fn decode_batch(batch: &BatchView) -> Result<Batch<VersionedRecord>, RecordError> {
    let records = match batch.is_control() {
        true => Vec::new(),
        false => decode_records(batch)?,
    };
    Ok(Batch {
        base: batch.base_offset(),
        end: batch.end_offset(),
        epoch: batch.epoch(),
        at: batch.timestamp(),
        records,
    })
}
