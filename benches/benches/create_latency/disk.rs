//! What one flush of the disk costs.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Context;

/// A file that grows by 4 KiB a flush.
pub struct Probe {
    file: File,
}

impl Probe {
    /// A new file in that directory.
    pub fn new(dir: &Path) -> anyhow::Result<Probe> {
        let path = dir.join("probe");
        let file = File::create(&path).with_context(|| format!("cannot create {path:?}"))?;
        file.sync_all()?;
        Ok(Probe { file })
    }

    /// Appends and flushes, one after the other.
    pub fn flush_each(&mut self, count: usize) -> anyhow::Result<Vec<Duration>> {
        (0..count)
            .map(|_| {
                let start = Instant::now();
                self.file.write_all(&[7; 4096])?;
                self.file.sync_data()?;
                Ok(start.elapsed())
            })
            .collect()
    }
}
