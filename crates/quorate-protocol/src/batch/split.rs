//! Cutting a buffer into batches, and trusting no more of it than can be checked.

use bytes::Bytes;
use quorate_types::{Epoch, Offset};

use super::{BatchError, BatchView};

/// The batches at the start of `bytes`. A last batch that is cut off ends the walk without an error,
/// as Fetch answers may end in the middle of a batch; anything else that is no batch is one error,
/// and the last item. Checksums are not looked at.
pub fn split_batches(bytes: Bytes) -> BatchIter {
    BatchIter { rest: bytes }
}

/// See [`split_batches`].
#[derive(Debug, Clone)]
pub struct BatchIter {
    rest: Bytes,
}

impl BatchIter {
    /// What no batch was made of yet: after the end, the bytes of a batch that was cut off.
    pub fn rest(&self) -> &Bytes {
        &self.rest
    }
}

impl Iterator for BatchIter {
    type Item = Result<BatchView, BatchError>;

    fn next(&mut self) -> Option<Self::Item> {
        let first = BatchView::first(&self.rest).transpose()?;
        match &first {
            Ok(batch) => self.rest = self.rest.slice(batch.size()..),
            Err(_) => self.rest = Bytes::new(),
        }
        Some(first)
    }
}

/// What [`valid_prefix`] found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValidPrefix {
    /// Whole batches with right checksums, each starting where the one before ended, epochs never
    /// falling.
    pub batches: Vec<BatchView>,
    /// Why the rest was left out; `None` if nothing follows but perhaps a batch that is cut off.
    pub refused: Option<BatchError>,
}

impl ValidPrefix {
    /// The offset after the last batch, `from` if there is none.
    pub fn end_or(&self, from: Offset) -> Offset {
        self.batches.last().map_or(from, BatchView::end_offset)
    }
}

/// The longest prefix of `bytes` that continues a log which ends at `from`: what a follower may keep
/// of a Fetch answer, whatever the rest is.
pub fn valid_prefix(bytes: Bytes, from: Offset) -> ValidPrefix {
    let mut batches = Vec::new();
    let mut follows = (from, Epoch(0));
    let mut refused = None;
    for batch in split_batches(bytes) {
        match batch.and_then(|batch| continues(batch, follows)) {
            Ok(batch) => {
                follows = (batch.end_offset(), batch.epoch());
                batches.push(batch);
            }
            Err(error) => {
                refused = Some(error);
                break;
            }
        }
    }
    ValidPrefix { batches, refused }
}

fn continues(batch: BatchView, (end, epoch): (Offset, Epoch)) -> Result<BatchView, BatchError> {
    if batch.base_offset() != end {
        return Err(BatchError::Gap {
            expected: end.0,
            found: batch.base_offset().0,
        });
    }
    if batch.epoch() < epoch {
        return Err(BatchError::EpochFell {
            before: epoch.0,
            found: batch.epoch().0,
        });
    }
    batch.verify_crc()?;
    Ok(batch)
}
