//! What a simulated disk knows: for each file the bytes written and the bytes synced, for each
//! directory the names as they are and as they were last synced.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use quorate_types::Rng;

/// ENOSPC, EIO and ENOENT as the machine would give them.
const NO_SPACE: i32 = 28;
const IO_ERROR: i32 = 5;
const NO_ENTRY: i32 = 2;

pub(super) type FileId = u64;

/// A file's bytes, now and after a crash.
#[derive(Debug, Default, Clone)]
struct Content {
    bytes: Vec<u8>,
    durable: Vec<u8>,
    /// The lowest position that changed since the last sync.
    dirty_from: Option<usize>,
}

impl Content {
    fn touch(&mut self, position: usize) {
        let lowest = self.dirty_from.map_or(position, |from| from.min(position));
        self.dirty_from = Some(lowest);
    }

    fn write(&mut self, position: usize, bytes: &[u8]) {
        let end = position + bytes.len();
        if self.bytes.len() < end {
            self.bytes.resize(end, 0);
        }
        self.bytes[position..end].copy_from_slice(bytes);
        self.touch(position);
    }

    fn truncate(&mut self, len: usize) {
        if len != self.bytes.len() {
            self.touch(len.min(self.bytes.len()));
            self.bytes.resize(len, 0);
        }
    }

    fn sync(&mut self) {
        if let Some(from) = self.dirty_from.take() {
            // A hole is left where an earlier sync failed: those bytes are gone.
            self.durable.resize(from, 0);
            self.durable.extend_from_slice(&self.bytes[from..]);
        }
    }

    /// What is found after a crash: what was synced, and by chance a part of what was written since.
    fn crash(&mut self, torn: Option<&mut Rng>) {
        if let (Some(rng), Some(from)) = (torn, self.dirty_from)
            && !rng.one_in(3)
        {
            let kept = rng.index(self.bytes.len() - from + 1);
            self.durable.resize(from, 0);
            self.durable
                .extend_from_slice(&self.bytes[from..from + kept]);
            if rng.one_in(2) {
                // The length came through, the bytes did not.
                let zeros = rng.index(self.bytes.len() - from - kept + 1);
                self.durable.resize(from + kept + zeros, 0);
            }
        }
        self.bytes = self.durable.clone();
        self.dirty_from = None;
    }
}

/// A change of names that is not durable yet.
#[derive(Debug, Clone)]
enum NameChange {
    Set(PathBuf, FileId),
    Drop(PathBuf),
}

impl NameChange {
    fn path(&self) -> &Path {
        match self {
            NameChange::Set(path, _) | NameChange::Drop(path) => path,
        }
    }

    fn apply(self, names: &mut BTreeMap<PathBuf, FileId>) {
        match self {
            NameChange::Set(path, id) => names.insert(path, id),
            NameChange::Drop(path) => names.remove(&path),
        };
    }
}

/// The faults that wait for their moment.
#[derive(Debug, Default)]
pub(super) struct Faults {
    /// Bytes that may still be written.
    pub space: Option<u64>,
    /// Good syncs before those that fail, and how many fail.
    pub failing_syncs: Option<(u64, u64)>,
    /// Files whose reads fail, by a part of their names.
    pub failing_reads: Option<String>,
}

/// The simulated disk.
#[derive(Debug, Default)]
pub(super) struct Disk {
    files: BTreeMap<FileId, Content>,
    names: BTreeMap<PathBuf, FileId>,
    durable_names: BTreeMap<PathBuf, FileId>,
    /// In the order in which they were made.
    pending: Vec<NameChange>,
    dirs: BTreeSet<PathBuf>,
    next_id: FileId,
    pub(super) locks: BTreeSet<PathBuf>,
    pub(super) faults: Faults,
    pub(super) syncs: u64,
    pub(super) crashes: u64,
}

impl Disk {
    pub(super) fn create_dirs(&mut self, dir: &Path) {
        self.dirs.extend(dir.ancestors().map(Path::to_path_buf));
    }

    pub(super) fn find(&self, path: &Path) -> io::Result<FileId> {
        self.names
            .get(path)
            .copied()
            .ok_or_else(|| io::Error::from_raw_os_error(NO_ENTRY))
    }

    pub(super) fn find_or_make(&mut self, path: &Path) -> io::Result<FileId> {
        if let Ok(id) = self.find(path) {
            return Ok(id);
        }
        if let Some(parent) = path.parent() {
            self.known_dir(parent)?;
        }
        if self.faults.space == Some(0) {
            return Err(io::Error::from_raw_os_error(NO_SPACE));
        }
        self.next_id += 1;
        self.files.insert(self.next_id, Content::default());
        self.change(NameChange::Set(path.to_path_buf(), self.next_id));
        Ok(self.next_id)
    }

    pub(super) fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        let id = self.find(from)?;
        // Set first: by no crash is the file nameless.
        self.change(NameChange::Set(to.to_path_buf(), id));
        self.change(NameChange::Drop(from.to_path_buf()));
        Ok(())
    }

    pub(super) fn remove(&mut self, path: &Path) -> io::Result<()> {
        self.find(path)?;
        self.change(NameChange::Drop(path.to_path_buf()));
        Ok(())
    }

    pub(super) fn children(&self, dir: &Path) -> io::Result<BTreeMap<String, bool>> {
        self.known_dir(dir)?;
        let inside = |path: &Path| {
            let name = path.file_name()?.to_str()?.to_owned();
            (path.parent() == Some(dir)).then_some(name)
        };
        let files = self.names.keys().filter_map(|path| inside(path));
        let dirs = self.dirs.iter().filter_map(|path| inside(path));
        let files = files.map(|name| (name, false));
        Ok(files.chain(dirs.map(|name| (name, true))).collect())
    }

    pub(super) fn sync_dir(&mut self, dir: &Path) -> io::Result<()> {
        self.known_dir(dir)?;
        self.count_sync()?;
        let pending = std::mem::take(&mut self.pending);
        for change in pending {
            if change.path().parent() == Some(dir) {
                change.apply(&mut self.durable_names);
            } else {
                self.pending.push(change);
            }
        }
        Ok(())
    }

    pub(super) fn read(
        &self,
        path: &Path,
        id: FileId,
        position: u64,
        into: &mut [u8],
    ) -> io::Result<usize> {
        let broken = self.faults.failing_reads.as_deref();
        if broken.is_some_and(|part| path.to_string_lossy().contains(part)) {
            return Err(io::Error::from_raw_os_error(IO_ERROR));
        }
        let bytes = &self.content(id)?.bytes;
        let from = usize::try_from(position).map_or(bytes.len(), |at| at.min(bytes.len()));
        let count = into.len().min(bytes.len() - from);
        into[..count].copy_from_slice(&bytes[from..from + count]);
        Ok(count)
    }

    pub(super) fn write(&mut self, id: FileId, position: u64, bytes: &[u8]) -> io::Result<()> {
        let fits = match &mut self.faults.space {
            None => bytes.len(),
            Some(space) => {
                let fits = bytes
                    .len()
                    .min(usize::try_from(*space).unwrap_or(usize::MAX));
                *space -= fits as u64;
                fits
            }
        };
        let content = self.content_mut(id)?;
        content.write(position as usize, &bytes[..fits]);
        if fits < bytes.len() {
            return Err(io::Error::from_raw_os_error(NO_SPACE));
        }
        Ok(())
    }

    pub(super) fn truncate(&mut self, id: FileId, len: u64) -> io::Result<()> {
        self.content_mut(id)?.truncate(len as usize);
        Ok(())
    }

    pub(super) fn len(&self, id: FileId) -> io::Result<u64> {
        Ok(self.content(id)?.bytes.len() as u64)
    }

    pub(super) fn sync(&mut self, id: FileId) -> io::Result<()> {
        if let Err(error) = self.count_sync() {
            // As on Linux: what could not be written is dropped and counts as clean.
            self.content_mut(id)?.dirty_from = None;
            return Err(error);
        }
        self.content_mut(id)?.sync();
        Ok(())
    }

    /// Turns to what is found after a crash. Handles from before are dead.
    pub(super) fn crash(&mut self, mut torn: Option<&mut Rng>) {
        let pending = std::mem::take(&mut self.pending);
        let kept = torn.as_mut().map_or(0, |rng| rng.index(pending.len() + 1));
        for change in pending.into_iter().take(kept) {
            change.apply(&mut self.durable_names);
        }
        let mut files = BTreeMap::new();
        let mut names = BTreeMap::new();
        for (path, id) in &self.durable_names {
            if let Some(mut content) = self.files.remove(id) {
                content.crash(torn.as_deref_mut());
                self.next_id += 1;
                files.insert(self.next_id, content);
                names.insert(path.clone(), self.next_id);
            }
        }
        self.files = files;
        self.durable_names = names.clone();
        self.names = names;
        self.locks.clear();
        self.faults = Faults::default();
        self.crashes += 1;
    }

    /// Every file's bytes as they are now.
    pub(super) fn files(&self) -> impl Iterator<Item = (&Path, &[u8])> {
        self.names.iter().filter_map(|(path, id)| {
            let content = self.files.get(id)?;
            Some((path.as_path(), &content.bytes[..]))
        })
    }

    fn change(&mut self, change: NameChange) {
        change.clone().apply(&mut self.names);
        self.pending.push(change);
    }

    fn known_dir(&self, dir: &Path) -> io::Result<()> {
        match self.dirs.contains(dir) {
            true => Ok(()),
            false => Err(io::Error::from_raw_os_error(NO_ENTRY)),
        }
    }

    fn count_sync(&mut self) -> io::Result<()> {
        self.syncs += 1;
        match &mut self.faults.failing_syncs {
            Some((good, _)) if *good > 0 => *good -= 1,
            Some((_, bad)) if *bad > 0 => {
                *bad -= 1;
                return Err(io::Error::from_raw_os_error(IO_ERROR));
            }
            _ => {}
        }
        Ok(())
    }

    fn content(&self, id: FileId) -> io::Result<&Content> {
        let dead = || io::Error::from_raw_os_error(IO_ERROR);
        self.files.get(&id).ok_or_else(dead)
    }

    fn content_mut(&mut self, id: FileId) -> io::Result<&mut Content> {
        let dead = || io::Error::from_raw_os_error(IO_ERROR);
        self.files.get_mut(&id).ok_or_else(dead)
    }
}
