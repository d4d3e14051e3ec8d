//! Snapshot files: written piece by piece under a temporary name and checked on the way, read at any
//! position.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use quorate_protocol::snapshot::{SnapshotHeader, SnapshotPart, SnapshotReader};
use quorate_types::OffsetAndEpoch;

use crate::error::{At, StorageError};
use crate::log::scan::read_chunk;
use crate::vfs::{OpenMode, Vfs, VfsFile};

/// How much of a snapshot is read at once when it is read as a whole.
const CHUNK_BYTES: u64 = 1024 * 1024;

/// A snapshot that lies in the log's directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SnapshotInfo {
    /// End and epoch of the last batch it contains.
    pub id: OffsetAndEpoch,
    /// Its size in bytes.
    pub size: u64,
}

/// A snapshot that is being written, by this node or from a leader's chunks. It becomes visible by
/// [`crate::MetadataLog::publish_snapshot`] or [`crate::MetadataLog::install_snapshot`]; one that is
/// dropped leaves a file that the next start removes.
#[derive(Debug)]
pub struct PartialSnapshot {
    pub(crate) id: OffsetAndEpoch,
    pub(crate) path: PathBuf,
    pub(crate) file: Arc<dyn VfsFile>,
    pub(crate) checked: SnapshotReader,
    pub(crate) header: Option<SnapshotHeader>,
    pub(crate) size: u64,
}

impl PartialSnapshot {
    pub(crate) fn create(
        vfs: &dyn Vfs,
        path: PathBuf,
        id: OffsetAndEpoch,
    ) -> Result<PartialSnapshot, StorageError> {
        let file = vfs.open(&path, OpenMode::Truncate).at("create", &path)?;
        Ok(PartialSnapshot {
            id,
            path,
            file,
            checked: SnapshotReader::new(),
            header: None,
            size: 0,
        })
    }

    /// The snapshot's id.
    pub fn id(&self) -> OffsetAndEpoch {
        self.id
    }

    /// How many bytes were appended: the position of the next chunk.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Appends bytes, cut anywhere, and checks the batches that they complete.
    pub fn append(&mut self, bytes: &Bytes) -> Result<(), StorageError> {
        self.check(bytes)?;
        self.file
            .write_at(self.size, bytes)
            .at("write", &self.path)?;
        self.size += bytes.len() as u64;
        Ok(())
    }

    /// Makes what was appended durable. Not needed, but it keeps short the sync that publishing does.
    pub fn sync(&self) -> Result<(), StorageError> {
        self.file.sync().at("sync", &self.path)
    }

    /// The header, if the snapshot is whole.
    pub(crate) fn finished(&self) -> Result<SnapshotHeader, StorageError> {
        match &self.header {
            Some(header) if self.checked.is_complete() => Ok(header.clone()),
            _ => Err(StorageError::Unfinished {
                path: self.path.clone(),
            }),
        }
    }

    fn check(&mut self, bytes: &Bytes) -> Result<(), StorageError> {
        self.checked.feed(bytes.clone());
        loop {
            match self.checked.next_part() {
                Ok(Some(SnapshotPart::Header(header))) => self.header = Some(header),
                Ok(Some(_)) => {}
                Ok(None) => return Ok(()),
                Err(error) => {
                    let path = self.path.clone();
                    return Err(StorageError::Snapshot { path, error });
                }
            }
        }
    }
}

/// A snapshot that can be read, from any thread.
#[derive(Debug, Clone)]
pub struct SnapshotFile {
    info: SnapshotInfo,
    path: PathBuf,
    file: Arc<dyn VfsFile>,
}

impl SnapshotFile {
    pub(crate) fn open(
        vfs: &dyn Vfs,
        path: PathBuf,
        id: OffsetAndEpoch,
    ) -> Result<SnapshotFile, StorageError> {
        let file = vfs.open(&path, OpenMode::Read).at("open", &path)?;
        let size = file.len().at("read", &path)?;
        let info = SnapshotInfo { id, size };
        Ok(SnapshotFile { info, path, file })
    }

    /// Id and size.
    pub fn info(&self) -> SnapshotInfo {
        self.info
    }

    /// At most `max` bytes from `position` on; empty at the end.
    pub fn chunk(&self, position: u64, max: u64) -> Result<Bytes, StorageError> {
        let left = self.info.size.saturating_sub(position);
        read_chunk(&*self.file, position, max.min(left)).at("read", &self.path)
    }

    /// What the header says, without reading on.
    pub fn header(&self) -> Result<SnapshotHeader, StorageError> {
        match self.parts().next().transpose()? {
            Some(SnapshotPart::Header(header)) => Ok(header),
            _ => Err(StorageError::Unfinished {
                path: self.path.clone(),
            }),
        }
    }

    /// The parts of the snapshot, from header to footer; ends after the first error. A file
    /// that ends before its footer is an error, not a short snapshot.
    pub fn parts(&self) -> SnapshotParts {
        SnapshotParts {
            file: self.clone(),
            reader: SnapshotReader::new(),
            position: 0,
            ended: false,
        }
    }
}

/// See [`SnapshotFile::parts`].
#[derive(Debug)]
pub struct SnapshotParts {
    file: SnapshotFile,
    reader: SnapshotReader,
    position: u64,
    ended: bool,
}

impl SnapshotParts {
    fn next_part(&mut self) -> Result<Option<SnapshotPart>, StorageError> {
        let path = || self.file.path.clone();
        loop {
            match self.reader.next_part() {
                Ok(Some(part)) => return Ok(Some(part)),
                Ok(None) => {}
                Err(error) => {
                    return Err(StorageError::Snapshot {
                        path: path(),
                        error,
                    });
                }
            }
            let chunk = self.file.chunk(self.position, CHUNK_BYTES)?;
            if chunk.is_empty() {
                return match self.reader.is_complete() {
                    true => Ok(None),
                    false => Err(StorageError::Unfinished { path: path() }),
                };
            }
            self.position += chunk.len() as u64;
            self.reader.feed(chunk);
        }
    }
}

impl Iterator for SnapshotParts {
    type Item = Result<SnapshotPart, StorageError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let part = self.next_part().transpose();
        self.ended = !matches!(part, Some(Ok(_)));
        part
    }
}

/// Reads a whole snapshot, to know that it is one and what its header says.
pub(crate) fn read_header(
    vfs: &dyn Vfs,
    path: &Path,
    id: OffsetAndEpoch,
) -> Result<SnapshotHeader, StorageError> {
    let file = SnapshotFile::open(vfs, path.to_path_buf(), id)?;
    let mut header = None;
    for part in file.parts() {
        if let SnapshotPart::Header(found) = part? {
            header = Some(found);
        }
    }
    header.ok_or_else(|| StorageError::Unfinished {
        path: path.to_path_buf(),
    })
}

/// Whether the file is at fault, rather than the disk.
pub(crate) fn is_unusable(error: &StorageError) -> bool {
    match error {
        StorageError::Snapshot { .. } | StorageError::Unfinished { .. } => true,
        StorageError::Io { source, .. } => source.kind() == io::ErrorKind::NotFound,
        _ => false,
    }
}
