//! The few things that storage asks of a file system.
//!
//! The trait is small and synchronous so that a simulated disk can stand below the same code: see
//! [`MemVfs`], which forgets what was not synced. What POSIX leaves open is taken at its worst:
//! bytes are durable after [`VfsFile::sync`], names after [`Vfs::sync_dir`], and after a sync that
//! failed nothing is known about what was written since the last good one.

mod mem;
mod mem_disk;
mod os;

use std::fmt;
use std::io;
use std::path::Path;
use std::sync::Arc;

pub use mem::{Crash, MemVfs};
pub use os::OsVfs;

/// How to open a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenMode {
    /// For reading; it must exist.
    Read,
    /// For reading and writing; made if it is not there.
    Write,
    /// For reading and writing; made, or emptied if it is there.
    Truncate,
}

/// An entry of a directory.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct DirEntry {
    /// The name within the directory. Names that are not Unicode are not listed.
    pub name: String,
    /// Whether it is a directory itself.
    pub is_dir: bool,
}

/// A file system.
pub trait Vfs: fmt::Debug + Send + Sync + 'static {
    /// Opens a file.
    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Arc<dyn VfsFile>>;

    /// Renames a file, over one of the new name if there is any. Durable after
    /// [`Vfs::sync_dir`].
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes a file. Durable after [`Vfs::sync_dir`].
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// The entries of a directory, sorted by name.
    fn list(&self, dir: &Path) -> io::Result<Vec<DirEntry>>;

    /// Makes a directory and those above it, durably.
    fn create_dir_all(&self, dir: &Path) -> io::Result<()>;

    /// Makes the names in a directory durable: files made, renamed and removed since.
    fn sync_dir(&self, dir: &Path) -> io::Result<()>;

    /// Marks a file as read-only, as a hint to people and tools.
    fn seal(&self, path: &Path) -> io::Result<()>;

    /// Takes an exclusive lock on that file, making it if needed, and holds it until the guard is
    /// dropped; `WouldBlock` if another holds it.
    fn lock(&self, path: &Path) -> io::Result<Box<dyn LockGuard>>;

    /// Whether there is a file of that name.
    fn exists(&self, path: &Path) -> bool;

    /// The whole content of a file of at most `limit` bytes; `InvalidData` if it is longer.
    fn read_all(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
        let file = self.open(path, OpenMode::Read)?;
        let len = file.len()?;
        if len > limit {
            let text = format!("{len} bytes are more than the {limit} that are expected");
            return Err(io::Error::new(io::ErrorKind::InvalidData, text));
        }
        let mut bytes = vec![0; len as usize];
        let read = read_full(&*file, 0, &mut bytes)?;
        bytes.truncate(read);
        Ok(bytes)
    }
}

/// An open file. Handles may be used from several threads at once.
pub trait VfsFile: fmt::Debug + Send + Sync {
    /// Reads at most `into.len()` bytes from `position` on; 0 at the end of the file.
    fn read_at(&self, position: u64, into: &mut [u8]) -> io::Result<usize>;

    /// Writes all of `bytes` at `position`. After an error any part of them may be written.
    fn write_at(&self, position: u64, bytes: &[u8]) -> io::Result<()>;

    /// The length in bytes.
    fn len(&self) -> io::Result<u64>;

    /// Whether the file has no bytes.
    fn is_empty(&self) -> io::Result<bool> {
        Ok(self.len()? == 0)
    }

    /// Cuts the file.
    fn truncate(&self, len: u64) -> io::Result<()>;

    /// Makes the bytes and the length durable.
    fn sync(&self) -> io::Result<()>;
}

/// Holds a lock until it is dropped.
pub trait LockGuard: fmt::Debug + Send + Sync {}

/// Reads until `into` is full or the file ends; says how much was read.
pub fn read_full(file: &dyn VfsFile, position: u64, into: &mut [u8]) -> io::Result<usize> {
    let mut read = 0;
    while read < into.len() {
        match file.read_at(position + read as u64, &mut into[read..]) {
            Ok(0) => break,
            Ok(more) => read += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(read)
}

/// Replaces a file so that after a crash it is the old one or the new one, whole: a temporary file
/// beside it, fsync, rename, directory fsync.
pub fn replace_file(vfs: &dyn Vfs, path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(".tmp");
    let temporary = Path::new(&temporary);
    let file = vfs.open(temporary, OpenMode::Truncate)?;
    file.write_at(0, bytes)?;
    file.sync()?;
    vfs.rename(temporary, path)?;
    match path.parent() {
        Some(dir) => vfs.sync_dir(dir),
        None => Ok(()),
    }
}
