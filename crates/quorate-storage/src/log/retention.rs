//! Dropping the log's head and early snapshots, by size and by age.
//!
//! As in Kafka nothing goes unless there is a later snapshot that stands for it, so the latest
//! snapshot and the log behind it always stay, whatever their size and age.

use quorate_types::{OffsetAndEpoch, WallTime};

use super::metadata_log::MetadataLog;
use crate::error::StorageError;
use crate::snapshots::SnapshotInfo;

/// How much is kept; the defaults are Kafka's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retention {
    /// Log and snapshots together are kept below that many bytes (`metadata.max.retention.bytes`);
    /// `None` for no limit.
    pub bytes: Option<u64>,
    /// Snapshots whose last record is older than that many milliseconds go
    /// (`metadata.max.retention.ms`); `None` for no limit.
    pub age_ms: Option<i64>,
}

impl Default for Retention {
    fn default() -> Retention {
        Retention {
            bytes: Some(100 * 1024 * 1024),
            age_ms: Some(7 * 24 * 60 * 60 * 1000),
        }
    }
}

impl MetadataLog {
    /// Drops what need not be kept, by size and then by age; says which snapshot is the earliest now
    /// if anything went. To be called from time to time; Kafka does it once a minute.
    pub fn clean(
        &mut self,
        retention: &Retention,
        now: WallTime,
    ) -> Result<Option<OffsetAndEpoch>, StorageError> {
        self.running()?;
        let mut earliest = None;
        while let [oldest, next, ..] = self.snapshots()[..] {
            if !self.is_too_large(retention) && !self.is_too_old(oldest, retention, now)? {
                break;
            }
            if next.id.offset <= self.start() || next.id.offset > self.end() {
                break;
            }
            self.delete_before(next.id)?;
            earliest = Some(next.id);
        }
        Ok(earliest)
    }

    fn is_too_large(&self, retention: &Retention) -> bool {
        let snapshots: u64 = self.snapshots().iter().map(|snapshot| snapshot.size).sum();
        retention
            .bytes
            .is_some_and(|limit| self.size() + snapshots > limit)
    }

    fn is_too_old(
        &self,
        snapshot: SnapshotInfo,
        retention: &Retention,
        now: WallTime,
    ) -> Result<bool, StorageError> {
        let Some(limit) = retention.age_ms else {
            return Ok(false);
        };
        let header = self.reader().snapshot(snapshot.id)?.header()?;
        Ok(now.0.saturating_sub(header.last_contained.0) > limit)
    }
}
