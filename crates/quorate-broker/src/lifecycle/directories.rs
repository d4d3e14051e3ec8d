//! The log directories that failed since the start, and whether a controller knows (KIP-858).

use std::collections::BTreeMap;

use quorate_types::{DirectoryId, MonoTime};

/// Every failed directory is named in each heartbeat for the rest of the process's life; each must
/// be accepted once before its time is over.
#[derive(Debug, Clone, Default)]
pub(super) struct FailedDirectories {
    /// The value is the time by which a controller must know; `None` once one does.
    report_by: BTreeMap<DirectoryId, Option<MonoTime>>,
}

impl FailedDirectories {
    /// Adds a directory; one that is known already keeps its time.
    pub(super) fn add(&mut self, directory: DirectoryId, report_by: MonoTime) {
        self.report_by.entry(directory).or_insert(Some(report_by));
    }

    /// A controller accepted a heartbeat that named these.
    pub(super) fn accepted(&mut self, directories: &[DirectoryId]) {
        for directory in directories {
            self.report_by.insert(*directory, None);
        }
    }

    /// All of them, ascending.
    pub(super) fn all(&self) -> Vec<DirectoryId> {
        self.report_by.keys().copied().collect()
    }

    /// A directory whose time is over.
    pub(super) fn overdue(&self, now: MonoTime) -> Option<DirectoryId> {
        self.report_by
            .iter()
            .find(|(_, by)| by.is_some_and(|by| by <= now))
            .map(|(directory, _)| *directory)
    }

    pub(super) fn deadline(&self) -> Option<MonoTime> {
        self.report_by.values().flatten().min().copied()
    }
}
