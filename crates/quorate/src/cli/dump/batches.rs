//! The batches of a file, read piece by piece: a segment can be a gigabyte.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use anyhow::Context;
use bytes::{Bytes, BytesMut};
use quorate::protocol::batch::{BatchError, BatchView, MAX_BATCH_BYTES};

/// Walks over the batches of a file until its end or the first bytes that are no batch.
pub struct Batches {
    file: File,
    size: u64,
    /// Where `buffer` starts in the file.
    position: u64,
    buffer: Bytes,
    failed: Option<BatchError>,
}

impl Batches {
    /// Opens a file.
    pub fn open(path: &Path) -> anyhow::Result<Batches> {
        let open = || format!("cannot open {}", path.display());
        let file = File::open(path).with_context(open)?;
        let size = file.metadata().with_context(open)?.len();
        Ok(Batches {
            file,
            size,
            position: 0,
            buffer: Bytes::new(),
            failed: None,
        })
    }

    /// The next batch and its position.
    pub fn next(&mut self) -> anyhow::Result<Option<(u64, BatchView)>> {
        if self.failed.is_some() {
            return Ok(None);
        }
        loop {
            match BatchView::first(&self.buffer) {
                Ok(Some(batch)) => {
                    let position = self.position;
                    self.position += batch.size() as u64;
                    self.buffer = self.buffer.slice(batch.size()..);
                    return Ok(Some((position, batch)));
                }
                Ok(None) if self.fill()? => {}
                Ok(None) => return Ok(None),
                Err(error) => {
                    self.failed = Some(error);
                    return Ok(None);
                }
            }
        }
    }

    /// How many bytes after the last batch are none, and why.
    pub fn trailing(self) -> anyhow::Result<(u64, Option<BatchError>)> {
        Ok((self.size.saturating_sub(self.position), self.failed))
    }

    /// Reads on; whether there was more.
    fn fill(&mut self) -> anyhow::Result<bool> {
        let mut more = BytesMut::from(&self.buffer[..]);
        let before = more.len();
        let mut piece = Vec::new();
        Read::by_ref(&mut self.file)
            .take(MAX_BATCH_BYTES as u64)
            .read_to_end(&mut piece)?;
        more.extend_from_slice(&piece);
        self.buffer = more.freeze();
        Ok(self.buffer.len() > before)
    }
}
