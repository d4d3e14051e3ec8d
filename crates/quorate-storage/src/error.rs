//! What can go wrong with the files of a node, each with the file, the place and what to do.

use std::io;
use std::path::{Path, PathBuf};

use quorate_protocol::batch::BatchError;
use quorate_protocol::snapshot::SnapshotError;
use quorate_types::OffsetAndEpoch;

/// Why storage cannot go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StorageError {
    /// The file system refused.
    #[error("cannot {doing} {}: {source}", .path.display())]
    Io {
        /// What was tried, as a verb.
        doing: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// What the file system said.
        source: io::Error,
    },
    /// Another process uses the directory.
    #[error(
        "{} is locked: another process uses this directory; stop it or choose another directory",
        .path.display()
    )]
    Locked {
        /// The lock file.
        path: PathBuf,
    },
    /// An earlier write or sync failed, after which nothing is known about the log's end.
    #[error(
        "the log in {} stopped after a failed write or sync; mend the disk and start the node again",
        .dir.display()
    )]
    Stopped {
        /// The log's directory.
        dir: PathBuf,
    },
    /// A batch is damaged and good ones follow on it, which no crash explains.
    #[error(
        "{} is damaged at position {position} ({error}), and a good batch follows at {good_at}: this \
         is no torn write; restore the file, or empty the directory, format it and let the node \
         join anew",
        .path.display()
    )]
    Damaged {
        /// The segment.
        path: PathBuf,
        /// Where the damaged batch starts.
        position: u64,
        /// What is wrong with it.
        error: BatchError,
        /// Where the next good batch starts, in this segment or, if it is `u64::MAX`, in the next.
        good_at: u64,
    },
    /// A batch found while reading is not what was written.
    #[error("{} is damaged at position {position}: {error}", .path.display())]
    BadBatch {
        /// The segment.
        path: PathBuf,
        /// Where the batch starts.
        position: u64,
        /// What is wrong with it.
        error: BatchError,
    },
    /// A segment does not start where the one before it ends.
    #[error(
        "{} starts at {found}, but the segment before it ends at {expected}, and no interrupted \
         truncation or deletion explains it; restore the missing segment, or empty the directory, \
         format it and let the node join anew",
        .path.display()
    )]
    Gap {
        /// The segment that does not follow.
        path: PathBuf,
        /// The end of the one before.
        expected: i64,
        /// Its own start.
        found: i64,
    },
    /// The log's head is gone and no snapshot stands for it.
    #[error(
        "the log in {} starts at {log_start}, but {}; restore a snapshot that ends at or after \
         {log_start}, or empty the directory, format it and let the node join anew",
        .dir.display(),
        match .latest {
            Some(id) => format!("its latest good snapshot ends at {id}"),
            None => "there is no good snapshot".to_owned(),
        }
    )]
    Uncovered {
        /// The log's directory.
        dir: PathBuf,
        /// Where the log starts.
        log_start: i64,
        /// The latest snapshot that is whole.
        latest: Option<OffsetAndEpoch>,
    },
    /// There is a vote but no log.
    #[error(
        "{} holds quorum-state but neither a log nor a snapshot; restore them, or empty the \
         directory, format it and let the node join anew",
        .dir.display()
    )]
    LogMissing {
        /// The log's directory.
        dir: PathBuf,
    },
    /// A snapshot file is not whole.
    #[error("{} is no whole snapshot: {error}", .path.display())]
    Snapshot {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        error: SnapshotError,
    },
    /// A snapshot file ends before its footer.
    #[error("{} ends before its footer and is no snapshot", .path.display())]
    Unfinished {
        /// The file.
        path: PathBuf,
    },
    /// A small text file does not have its form.
    #[error("{}: {problem}", .path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        problem: Malformed,
    },
    /// The directory was formatted before.
    #[error("{} is there already: the directory is formatted", .path.display())]
    Formatted {
        /// Its `meta.properties`.
        path: PathBuf,
    },
    /// The directory was not formatted.
    #[error("{} is missing: format the directory first", .path.display())]
    Unformatted {
        /// Its `meta.properties`.
        path: PathBuf,
    },
    /// The directory belongs to another cluster or node.
    #[error("{} says {property}={found}, but this node is configured with {expected}", .path.display())]
    Foreign {
        /// Its `meta.properties`.
        path: PathBuf,
        /// The property that differs.
        property: &'static str,
        /// Its value in the file.
        found: String,
        /// The value that was expected.
        expected: String,
    },
    /// What was handed in cannot be appended.
    #[error("these batches do not continue the log: {error}")]
    Append {
        /// Why.
        #[from]
        error: BatchError,
    },
    /// An offset outside the log was asked for.
    #[error("offset {offset} is outside the log, which is {start}..{end}")]
    OutOfRange {
        /// What was asked for.
        offset: i64,
        /// The log's start.
        start: i64,
        /// The log's end, exclusive.
        end: i64,
    },
    /// A cut below a snapshot, which holds only what is committed and is never undone.
    #[error("the log cannot be cut to {end}: snapshot {snapshot} says that more is committed")]
    Committed {
        /// Where the log was to end.
        end: i64,
        /// The latest snapshot.
        snapshot: OffsetAndEpoch,
    },
    /// A snapshot that is not there was asked for.
    #[error("there is no snapshot {id}")]
    NoSnapshot {
        /// The snapshot's id.
        id: OffsetAndEpoch,
    },
}

/// What is wrong with a small text file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Malformed {
    /// It is empty.
    #[error("the file is empty")]
    Empty,
    /// It is no JSON, or not UTF-8.
    #[error("the file is no {0}")]
    Syntax(&'static str),
    /// A property or field is missing.
    #[error("{0} is missing")]
    Missing(&'static str),
    /// A property or field has a value that it cannot have.
    #[error("{field} cannot be {value:?}")]
    Value {
        /// Which.
        field: &'static str,
        /// Its value.
        value: String,
    },
    /// It was written by newer software.
    #[error("version {0} is unknown: it was written by newer software")]
    Version(i64),
}

/// Names the file and the attempt in an I/O error.
pub(crate) trait At<T> {
    fn at(self, doing: &'static str, path: &Path) -> Result<T, StorageError>;
}

impl<T> At<T> for io::Result<T> {
    fn at(self, doing: &'static str, path: &Path) -> Result<T, StorageError> {
        self.map_err(|source| StorageError::Io {
            doing,
            path: path.to_path_buf(),
            source,
        })
    }
}
