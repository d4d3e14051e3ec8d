//! Finding where a segment has to be cut, and what its index is then.

use std::io;

use quorate_protocol::batch::{BATCH_HEADER_BYTES, BatchHeader};
use quorate_types::{Epoch, Offset};

use super::index::SparseIndex;
use super::scan::{Follows, read_chunk, scan};
use super::shared::Segment;
use crate::error::{At, StorageError};

/// What is left of a segment.
#[derive(Debug)]
pub(crate) struct Cut {
    pub(crate) end: Offset,
    pub(crate) size: u64,
    pub(crate) index: SparseIndex,
}

/// Cuts the segment in thought, before the batch that holds `end`. The batches are walked from the
/// last point of the index before it.
pub(crate) fn cut_segment(segment: &Segment, end: Offset) -> Result<Cut, StorageError> {
    let mut index = segment.index.clone();
    let from = index.find(segment.base, end);
    index.cut(from);
    let mut cut = Cut {
        end: base_at(segment, from)?.unwrap_or(segment.base),
        size: from,
        index,
    };
    let follows = Follows {
        end: cut.end,
        epoch: Epoch(0),
    };
    let walked = scan(
        &*segment.file,
        from,
        segment.size,
        follows,
        |position, batch| {
            if batch.end_offset() > end {
                return Err(Stop::Reached);
            }
            cut.index.note(segment.base, batch.header(), position);
            cut.end = batch.end_offset();
            cut.size = position + batch.size() as u64;
            Ok(())
        },
    );
    let bad = match walked {
        Err(Stop::Reached) => None,
        Err(Stop::Io(error)) => return Err(error).at("read", &segment.path),
        Ok(scanned) => scanned.bad.map(|error| (scanned.position, error)),
    };
    match bad {
        None => Ok(cut),
        Some((position, error)) => Err(StorageError::BadBatch {
            path: segment.path.clone(),
            position,
            error,
        }),
    }
}

/// The base offset of the batch at that position of the segment.
fn base_at(segment: &Segment, position: u64) -> Result<Option<Offset>, StorageError> {
    let header = read_chunk(&*segment.file, position, BATCH_HEADER_BYTES as u64)
        .at("read", &segment.path)?;
    let header = BatchHeader::parse(&header).map_err(|error| StorageError::BadBatch {
        path: segment.path.clone(),
        position,
        error,
    })?;
    Ok(header.map(|header| header.base_offset))
}

enum Stop {
    Io(io::Error),
    Reached,
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Stop {
        Stop::Io(error)
    }
}
