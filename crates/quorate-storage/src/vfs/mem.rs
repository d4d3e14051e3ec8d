//! A simulated disk that forgets what was not synced and fails when told to.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use quorate_types::Rng;

use super::mem_disk::{Disk, FileId};
use super::{DirEntry, LockGuard, OpenMode, Vfs, VfsFile};

/// A simulated disk. Clones are the same disk.
///
/// Directories are durable at once; everything else only when it was synced. After [`MemVfs::crash`]
/// all handles from before are dead, as after the end of a process.
///
/// ```
/// use std::path::Path;
/// use quorate_storage::vfs::{Crash, MemVfs, OpenMode, Vfs, VfsFile};
///
/// let disk = MemVfs::new();
/// disk.create_dir_all(Path::new("/data"))?;
/// let file = disk.open(Path::new("/data/log"), OpenMode::Write)?;
/// disk.sync_dir(Path::new("/data"))?;
/// file.write_at(0, b"kept")?;
/// file.sync()?;
/// file.write_at(4, b" lost")?;
/// disk.crash(Crash::LoseUnsynced);
/// assert_eq!(disk.read_all(Path::new("/data/log"), 100)?, b"kept");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct MemVfs {
    disk: Arc<Mutex<Disk>>,
}

/// Without the disk's content.
impl fmt::Debug for MemVfs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MemVfs")
    }
}

/// What becomes of what was not synced.
#[derive(Debug)]
pub enum Crash<'a> {
    /// All of it is lost.
    LoseUnsynced,
    /// By chance a part survives: changes of names up to some point, and of each file's unsynced
    /// tail a prefix, behind which zeros may stand. No byte survives behind one that did not, as
    /// file systems that grow a file after its blocks are written give it.
    Torn(&'a mut Rng),
}

impl MemVfs {
    /// An empty disk.
    pub fn new() -> MemVfs {
        MemVfs::default()
    }

    /// Cuts the power. Faults that were set are gone with it.
    pub fn crash(&self, crash: Crash<'_>) {
        self.disk().crash(match crash {
            Crash::LoseUnsynced => None,
            Crash::Torn(rng) => Some(rng),
        });
    }

    /// Lets the disk be full after so many bytes more; `None` takes the limit away.
    pub fn set_space_left(&self, bytes: Option<u64>) {
        self.disk().faults.space = bytes;
    }

    /// Lets `good` syncs pass and then `bad` ones fail, of files and directories alike.
    pub fn fail_syncs(&self, good: u64, bad: u64) {
        self.disk().faults.failing_syncs = Some((good, bad));
    }

    /// Lets reads fail in all files whose path contains that text; `None` mends them.
    pub fn fail_reads_of(&self, part: Option<&str>) {
        self.disk().faults.failing_reads = part.map(str::to_owned);
    }

    /// How many syncs were asked for so far.
    pub fn syncs(&self) -> u64 {
        self.disk().syncs
    }

    /// All files and their bytes, by path.
    pub fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let disk = self.disk();
        let files = disk.files();
        files
            .map(|(path, bytes)| (path.to_path_buf(), bytes.to_vec()))
            .collect()
    }

    /// A thread that panicked while it held the disk leaves it as a crash would: usable.
    fn disk(&self) -> MutexGuard<'_, Disk> {
        self.disk.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Vfs for MemVfs {
    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Arc<dyn VfsFile>> {
        let mut disk = self.disk();
        let id = match mode {
            OpenMode::Read => disk.find(path)?,
            OpenMode::Write | OpenMode::Truncate => disk.find_or_make(path)?,
        };
        if mode == OpenMode::Truncate {
            disk.truncate(id, 0)?;
        }
        Ok(Arc::new(MemFile {
            vfs: self.clone(),
            path: path.to_path_buf(),
            id,
        }))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.disk().rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.disk().remove(path)
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<DirEntry>> {
        let children = self.disk().children(dir)?;
        Ok(children
            .into_iter()
            .map(|(name, is_dir)| DirEntry { name, is_dir })
            .collect())
    }

    fn create_dir_all(&self, dir: &Path) -> io::Result<()> {
        self.disk().create_dirs(dir);
        Ok(())
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        self.disk().sync_dir(dir)
    }

    fn seal(&self, path: &Path) -> io::Result<()> {
        self.disk().find(path).map(|_| ())
    }

    fn exists(&self, path: &Path) -> bool {
        self.disk().find(path).is_ok()
    }

    fn lock(&self, path: &Path) -> io::Result<Box<dyn LockGuard>> {
        let mut disk = self.disk();
        if !disk.locks.insert(path.to_path_buf()) {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        Ok(Box::new(MemLock {
            vfs: self.clone(),
            path: path.to_path_buf(),
            crashes: disk.crashes,
        }))
    }
}

#[derive(Debug)]
struct MemFile {
    vfs: MemVfs,
    path: PathBuf,
    id: FileId,
}

impl VfsFile for MemFile {
    fn read_at(&self, position: u64, into: &mut [u8]) -> io::Result<usize> {
        self.vfs.disk().read(&self.path, self.id, position, into)
    }

    fn write_at(&self, position: u64, bytes: &[u8]) -> io::Result<()> {
        self.vfs.disk().write(self.id, position, bytes)
    }

    fn len(&self) -> io::Result<u64> {
        self.vfs.disk().len(self.id)
    }

    fn truncate(&self, len: u64) -> io::Result<()> {
        self.vfs.disk().truncate(self.id, len)
    }

    fn sync(&self) -> io::Result<()> {
        self.vfs.disk().sync(self.id)
    }
}

#[derive(Debug)]
struct MemLock {
    vfs: MemVfs,
    path: PathBuf,
    crashes: u64,
}

impl LockGuard for MemLock {}

impl Drop for MemLock {
    fn drop(&mut self) {
        let mut disk = self.vfs.disk();
        // A crash let go of the lock; it may be another's by now.
        if disk.crashes == self.crashes {
            disk.locks.remove(&self.path);
        }
    }
}
