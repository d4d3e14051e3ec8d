//! What one flush of the disk costs.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Context;

/// A file that grows by as many bytes a flush.
pub struct Probe {
    file: File,
    write: Vec<u8>,
}

impl Probe {
    /// A new file in that directory.
    pub fn new(dir: &Path, write_bytes: usize) -> anyhow::Result<Probe> {
        let path = dir.join(format!("probe-{write_bytes}"));
        let file = File::create(&path).with_context(|| format!("cannot create {path:?}"))?;
        file.sync_all()?;
        let write = vec![7; write_bytes];
        Ok(Probe { file, write })
    }

    /// Appends and flushes, one after the other.
    pub fn flush_each(&mut self, count: usize) -> anyhow::Result<Vec<Duration>> {
        (0..count)
            .map(|_| {
                let start = Instant::now();
                self.file.write_all(&self.write)?;
                self.file.sync_data()?;
                Ok(start.elapsed())
            })
            .collect()
    }
}
