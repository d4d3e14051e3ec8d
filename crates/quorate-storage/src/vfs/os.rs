//! The machine's own file system.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

use super::{DirEntry, LockGuard, OpenMode, Vfs, VfsFile};

/// The machine's own file system. Files are synced by `fdatasync`.
#[derive(Debug, Clone, Copy, Default)]
pub struct OsVfs;

impl Vfs for OsVfs {
    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Arc<dyn VfsFile>> {
        let mut options = OpenOptions::new();
        options.read(true);
        if mode != OpenMode::Read {
            options.write(true).create(true);
        }
        options.truncate(mode == OpenMode::Truncate);
        Ok(Arc::new(OsFile(options.open(path)?)))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<DirEntry>> {
        let mut entries = Vec::new();
        for entry in fs::read_dir(dir)? {
            let entry = entry?;
            if let Ok(name) = entry.file_name().into_string() {
                let is_dir = entry.file_type()?.is_dir();
                entries.push(DirEntry { name, is_dir });
            }
        }
        entries.sort();
        Ok(entries)
    }

    fn create_dir_all(&self, dir: &Path) -> io::Result<()> {
        if dir.is_dir() {
            return Ok(());
        }
        if let Some(parent) = parent_of(dir) {
            self.create_dir_all(parent)?;
        }
        match fs::create_dir(dir) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
            _ => self.sync_dir(parent_of(dir).unwrap_or(Path::new("."))),
        }
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        File::open(dir)?.sync_all()
    }

    fn seal(&self, path: &Path) -> io::Result<()> {
        let mut permissions = fs::metadata(path)?.permissions();
        permissions.set_readonly(true);
        fs::set_permissions(path, permissions)
    }

    fn exists(&self, path: &Path) -> bool {
        path.is_file()
    }

    fn lock(&self, path: &Path) -> io::Result<Box<dyn LockGuard>> {
        let mut options = OpenOptions::new();
        let file = options
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)?;
        match file.try_lock() {
            Ok(()) => Ok(Box::new(OsLock(file))),
            Err(TryLockError::WouldBlock) => Err(io::ErrorKind::WouldBlock.into()),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}

/// The directory above, unless that is the current one by omission.
fn parent_of(path: &Path) -> Option<&Path> {
    path.parent()
        .filter(|parent| !parent.as_os_str().is_empty())
}

#[derive(Debug)]
struct OsFile(File);

impl VfsFile for OsFile {
    fn read_at(&self, position: u64, into: &mut [u8]) -> io::Result<usize> {
        self.0.read_at(into, position)
    }

    fn write_at(&self, position: u64, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all_at(bytes, position)
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.0.metadata()?.len())
    }

    fn truncate(&self, len: u64) -> io::Result<()> {
        self.0.set_len(len)
    }

    fn sync(&self) -> io::Result<()> {
        self.0.sync_data()
    }
}

/// The lock goes with the file when it is closed.
#[derive(Debug)]
struct OsLock(#[allow(dead_code, reason = "held, not used")] File);

impl LockGuard for OsLock {}
