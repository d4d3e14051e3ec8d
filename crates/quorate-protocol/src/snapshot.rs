//! Snapshot files, and `bootstrap.checkpoint` which has the same form.
//!
//! A snapshot is a header batch, data batches and a footer batch. Offsets count from 0 through all
//! of them and have nothing to do with the log's; the epoch of every batch is that of the snapshot's
//! id. A file without its footer is no snapshot.
//!
//! [`SnapshotWriter`] makes the batches one after the other, for whoever stores or sends them;
//! [`SnapshotReader`] takes the bytes in pieces of any size, as they come from a disk or a peer.
//!
//! ```
//! use bytes::Bytes;
//! use quorate_protocol::snapshot::{SnapshotHeader, SnapshotPart, SnapshotReader, SnapshotWriter};
//! use quorate_types::{Epoch, WallTime};
//!
//! let header = SnapshotHeader { last_contained: WallTime(7), quorum: None };
//! let (mut writer, file) = SnapshotWriter::new(Epoch(3), &header, WallTime(9))?;
//! let mut file = file.to_vec();
//! file.extend(writer.data(WallTime(9), &[Bytes::from_static(b"record")])?);
//! file.extend(writer.finish(WallTime(9))?);
//!
//! let mut reader = SnapshotReader::new();
//! reader.feed(Bytes::from(file));
//! assert_eq!(reader.next_part()?, Some(SnapshotPart::Header(header)));
//! assert!(matches!(reader.next_part()?, Some(SnapshotPart::Data(batch)) if batch.count() == 1));
//! assert_eq!(reader.next_part()?, Some(SnapshotPart::Footer));
//! assert!(reader.is_complete());
//! # Ok::<(), quorate_protocol::snapshot::SnapshotError>(())
//! ```

use bytes::{Bytes, BytesMut};
use quorate_types::{ControlRecord, Epoch, KRaftVersion, Offset, VoterSet, WallTime};

use crate::batch::{self, BatchError, BatchView};

/// What the header batch of a snapshot says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SnapshotHeader {
    /// Append time of the last batch that the snapshot contains; 0 in `bootstrap.checkpoint`.
    pub last_contained: WallTime,
    /// `kraft.version` and voters as of the snapshot's end; `None` at version 0, where neither is
    /// in the log. An empty set stands for voters that are not recorded.
    pub quorum: Option<(KRaftVersion, VoterSet)>,
}

/// Why bytes are not a snapshot.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SnapshotError {
    /// A batch is malformed, at that position of the file.
    #[error("position {position}: {error}")]
    Batch {
        /// Where the batch starts.
        position: u64,
        /// What is wrong with it.
        error: BatchError,
    },
    /// The file does not have the form header, data, footer.
    #[error("position {position}: {what}")]
    Form {
        /// Where.
        position: u64,
        /// What is wrong.
        what: &'static str,
    },
    /// A batch cannot be written.
    #[error(transparent)]
    Write(#[from] BatchError),
}

/// Makes the batches of a snapshot in their order. Each is returned as bytes to append to the file.
#[derive(Debug, Clone)]
pub struct SnapshotWriter {
    epoch: Epoch,
    next: Offset,
}

impl SnapshotWriter {
    /// Starts a snapshot whose id has that epoch; gives the header batch, written at `at`.
    pub fn new(
        epoch: Epoch,
        header: &SnapshotHeader,
        at: WallTime,
    ) -> Result<(SnapshotWriter, Bytes), SnapshotError> {
        let last_contained = header.last_contained;
        let mut records = vec![ControlRecord::SnapshotHeader { last_contained }];
        if let Some((version, voters)) = &header.quorum {
            records.push(ControlRecord::KRaftVersion(*version));
            if !voters.is_empty() {
                records.push(ControlRecord::Voters(voters.clone()));
            }
        }
        let batch = batch::encode_control_batch(Offset::ZERO, epoch, at, &records)?;
        let next = Offset(records.len() as i64);
        Ok((SnapshotWriter { epoch, next }, batch))
    }

    /// The next data batch, of at least one record.
    pub fn data(&mut self, at: WallTime, values: &[Bytes]) -> Result<Bytes, SnapshotError> {
        let batch = batch::encode_data_batch(self.next, self.epoch, at, values)?;
        self.next += values.len() as i64;
        Ok(batch)
    }

    /// The footer batch; with it the snapshot is whole.
    pub fn finish(self, at: WallTime) -> Result<Bytes, SnapshotError> {
        let footer = [ControlRecord::SnapshotFooter];
        Ok(batch::encode_control_batch(
            self.next, self.epoch, at, &footer,
        )?)
    }
}

/// One part of a snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SnapshotPart {
    /// The first part.
    Header(SnapshotHeader),
    /// A data batch; its offsets are those of the file.
    Data(BatchView),
    /// The last part.
    Footer,
}

/// Takes a snapshot apart. Every batch is checked: checksum, offsets, epoch, place.
#[derive(Debug, Clone, Default)]
pub struct SnapshotReader {
    rest: Bytes,
    position: u64,
    next: Offset,
    epoch: Option<Epoch>,
    complete: bool,
}

impl SnapshotReader {
    /// A reader that has seen nothing.
    pub fn new() -> SnapshotReader {
        SnapshotReader::default()
    }

    /// Adds bytes that follow on those given before. Pieces of whole batches are not copied.
    pub fn feed(&mut self, bytes: Bytes) {
        if self.rest.is_empty() {
            self.rest = bytes;
        } else {
            let mut joined = BytesMut::with_capacity(self.rest.len() + bytes.len());
            joined.extend_from_slice(&self.rest);
            joined.extend_from_slice(&bytes);
            self.rest = joined.freeze();
        }
    }

    /// The next part; `None` when more bytes are needed or the footer was read.
    pub fn next_part(&mut self) -> Result<Option<SnapshotPart>, SnapshotError> {
        if self.complete {
            return match self.rest.is_empty() {
                true => Ok(None),
                false => Err(self.form("bytes follow on the footer")),
            };
        }
        let first = BatchView::first(&self.rest).map_err(|error| self.at(error))?;
        let Some(batch) = first else {
            return Ok(None);
        };
        let part = self.part(&batch)?;
        self.rest = self.rest.slice(batch.size()..);
        self.position += batch.size() as u64;
        self.next = batch.end_offset();
        self.epoch = Some(batch.epoch());
        self.complete = part == SnapshotPart::Footer;
        Ok(Some(part))
    }

    /// Whether the footer was read and nothing follows on it.
    pub fn is_complete(&self) -> bool {
        self.complete && self.rest.is_empty()
    }

    /// The epoch of the snapshot's batches, once one was read.
    pub fn epoch(&self) -> Option<Epoch> {
        self.epoch
    }

    /// How many bytes were read as parts.
    pub fn position(&self) -> u64 {
        self.position
    }

    fn part(&self, batch: &BatchView) -> Result<SnapshotPart, SnapshotError> {
        batch.verify_crc().map_err(|error| self.at(error))?;
        if batch.base_offset() != self.next {
            return Err(self.form("the batch does not follow on the one before"));
        }
        if self.epoch.is_some_and(|epoch| epoch != batch.epoch()) {
            return Err(self.form("the batch is of another epoch than the header"));
        }
        if !batch.is_control() {
            return match self.epoch {
                Some(_) => Ok(SnapshotPart::Data(batch.clone())),
                None => Err(self.form("it does not start with a header")),
            };
        }
        let records = batch.control_records().map_err(|error| self.at(error))?;
        match (self.epoch, &records[..]) {
            (None, records) => self.header(records).map(SnapshotPart::Header),
            (Some(_), [ControlRecord::SnapshotFooter]) => Ok(SnapshotPart::Footer),
            (Some(_), _) => Err(self.form("a control batch that is no footer")),
        }
    }

    fn header(&self, records: &[ControlRecord]) -> Result<SnapshotHeader, SnapshotError> {
        let [
            ControlRecord::SnapshotHeader { last_contained },
            quorum @ ..,
        ] = records
        else {
            return Err(self.form("it does not start with a header"));
        };
        let quorum = match quorum {
            [] => None,
            [
                ControlRecord::KRaftVersion(version),
                ControlRecord::Voters(voters),
            ] => Some((*version, voters.clone())),
            [ControlRecord::KRaftVersion(version)] => Some((*version, VoterSet::default())),
            _ => return Err(self.form("the header batch holds other control records")),
        };
        Ok(SnapshotHeader {
            last_contained: *last_contained,
            quorum,
        })
    }

    fn at(&self, error: BatchError) -> SnapshotError {
        SnapshotError::Batch {
            position: self.position,
            error,
        }
    }

    fn form(&self, what: &'static str) -> SnapshotError {
        SnapshotError::Form {
            position: self.position,
            what,
        }
    }
}
