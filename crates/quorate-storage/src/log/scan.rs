//! Reading a segment batch by batch, and looking for good batches behind a bad one.

use std::io;

use bytes::Bytes;
use quorate_protocol::batch::{
    BATCH_HEADER_BYTES, BatchError, BatchHeader, BatchView, split_batches,
};
use quorate_types::{Epoch, Offset};

use crate::vfs::{VfsFile, read_full};

/// How much is read at once.
const CHUNK_BYTES: u64 = 1024 * 1024;

/// What the next batch of a log has to continue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Follows {
    pub(crate) end: Offset,
    pub(crate) epoch: Epoch,
}

impl Follows {
    /// Whether a batch follows; its checksum is not looked at.
    pub(crate) fn check(self, batch: &BatchHeader) -> Result<Follows, BatchError> {
        if batch.base_offset != self.end {
            return Err(BatchError::Gap {
                expected: self.end.0,
                found: batch.base_offset.0,
            });
        }
        if batch.epoch < self.epoch {
            return Err(BatchError::EpochFell {
                before: self.epoch.0,
                found: batch.epoch.0,
            });
        }
        Ok(Follows {
            end: batch.end_offset(),
            epoch: batch.epoch,
        })
    }
}

/// Where a scan ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ScanEnd {
    /// After the last good batch.
    pub(crate) position: u64,
    /// What the batch after that would have to continue.
    pub(crate) follows: Follows,
    /// What stands there instead of a good batch; `None` at the end of the file.
    pub(crate) bad: Option<BatchError>,
}

/// Reads the batches of a file of `len` bytes from `position` on while they are good: whole, with the
/// right checksum, each following on the one before. `visit` is told of each and where it lies.
pub(crate) fn scan<E: From<io::Error>>(
    file: &dyn VfsFile,
    mut position: u64,
    len: u64,
    mut follows: Follows,
    mut visit: impl FnMut(u64, &BatchView) -> Result<(), E>,
) -> Result<ScanEnd, E> {
    let mut wanted = CHUNK_BYTES;
    let bad = loop {
        if position >= len {
            break None;
        }
        let asked = wanted.min(len - position);
        let chunk = read_chunk(file, position, asked)?;
        if (chunk.len() as u64) < asked {
            break Some(cut_off(chunk.len() as u64));
        }
        let start = position;
        let mut bad = None;
        for batch in split_batches(chunk.clone()) {
            let good = batch.and_then(|batch| {
                let next = follows.check(batch.header())?;
                batch.verify_crc()?;
                Ok((batch, next))
            });
            match good {
                Ok((batch, next)) => {
                    visit(position, &batch)?;
                    position += batch.size() as u64;
                    follows = next;
                }
                Err(error) => {
                    bad = Some(error);
                    break;
                }
            }
        }
        if bad.is_some() {
            break bad;
        }
        if position == start {
            // Not one whole batch: more is wanted, or the file ends within it.
            let left = len - position;
            wanted = match BatchHeader::parse(&chunk) {
                Ok(Some(header)) if header.size as u64 <= left => header.size as u64,
                _ => break Some(cut_off(left)),
            };
            if (chunk.len() as u64) >= wanted {
                break Some(cut_off(left));
            }
        } else {
            wanted = CHUNK_BYTES;
        }
    };
    Ok(ScanEnd {
        position,
        follows,
        bad,
    })
}

/// The position of the first whole batch with the right checksum at or after `from`, where no batch
/// that continues the log stands: the one at `from` may have the wrong offset or epoch, those after
/// it count if their offsets are not below `expected`. Epochs are not looked at; no checksum
/// protects the ones before.
pub(crate) fn find_good(
    file: &dyn VfsFile,
    from: u64,
    len: u64,
    expected: Offset,
) -> io::Result<Option<u64>> {
    let mut window = from;
    while window + BATCH_HEADER_BYTES as u64 <= len {
        let chunk = read_chunk(file, window, CHUNK_BYTES.min(len - window))?;
        if chunk.len() < BATCH_HEADER_BYTES {
            break;
        }
        let candidates = chunk.len() - BATCH_HEADER_BYTES + 1;
        for at in 0..candidates {
            let position = window + at as u64;
            let least = if position == from {
                Offset(0)
            } else {
                expected
            };
            let Some(header) = plausible(&chunk[at..], least) else {
                continue;
            };
            if header.size as u64 <= len - position && is_good(file, position, header.size as u64)?
            {
                return Ok(Some(position));
            }
        }
        window += candidates as u64;
    }
    Ok(None)
}

/// A header that a batch of the log could have.
fn plausible(bytes: &[u8], least: Offset) -> Option<BatchHeader> {
    const FORMAT_AT: usize = 16;
    if bytes.get(FORMAT_AT) != Some(&2) {
        return None;
    }
    let header = BatchHeader::parse(bytes).ok()??;
    (header.base_offset >= least).then_some(header)
}

fn is_good(file: &dyn VfsFile, position: u64, size: u64) -> io::Result<bool> {
    let bytes = read_chunk(file, position, size)?;
    Ok(BatchView::new(bytes).is_ok_and(|batch| batch.verify_crc().is_ok()))
}

/// Reads `len` bytes, which are no more than a batch or a chunk; fewer at the end of the file.
pub(crate) fn read_chunk(file: &dyn VfsFile, position: u64, len: u64) -> io::Result<Bytes> {
    let mut bytes = vec![0; usize::try_from(len).unwrap_or(usize::MAX)];
    let read = read_full(file, position, &mut bytes)?;
    bytes.truncate(read);
    Ok(Bytes::from(bytes))
}

fn cut_off(left: u64) -> BatchError {
    let left = usize::try_from(left).unwrap_or(usize::MAX);
    BatchError::Trailing { left }
}
