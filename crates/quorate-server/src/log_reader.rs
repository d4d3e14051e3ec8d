//! Committed batches of the log as records of the metadata.

use quorate_engine::Batch;
use quorate_metadata::{RecordError, decode_batch};
use quorate_protocol::batch::BatchView;
use quorate_protocol::records::VersionedRecord;

use crate::tail::EncodedBatch;

/// Decodes committed batches. Control batches come out without records.
///
/// # Errors
/// At the first batch or record that cannot be read; nothing after it can be applied either.
pub(crate) fn decode(batches: &[EncodedBatch]) -> Result<Vec<Batch<VersionedRecord>>, RecordError> {
    let decode = |batch: &EncodedBatch| {
        let view = BatchView::new(batch.bytes.clone()).map_err(|error| RecordError::Batch {
            base: batch.base,
            error,
        })?;
        decode_batch(&view)
    };
    batches.iter().map(decode).collect()
}
