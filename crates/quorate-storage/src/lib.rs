//! What a KRaft node keeps on disk, in Kafka's own formats: the metadata log in segments, its
//! snapshots, the vote, and who the directory belongs to.
//!
//! A stock controller or broker can be started on a directory that this crate wrote, and this crate
//! opens theirs. It is synchronous code over a small file system trait, [`vfs::Vfs`]: below it lies
//! the machine's file system or a simulated disk that forgets what was not synced.
//!
//! It knows batches, offsets and epochs, but not what the records say, except for those that Raft
//! needs to start from. It knows nothing of elections, high watermarks, threads or clocks; the
//! caller says what to append, when to sync and what to cut.
//!
//! - [`MetadataLog`] is the writer of a log, [`LogReader`] reads beside it, [`Recovered`] is what was
//!   found when it was opened.
//! - [`QuorumState`] and [`MetaProperties`] are small files of their own.
//! - [`format()`] makes a directory that a node can start from.
//!
//! What a crash can leave behind is mended when a log is opened, and noted; what no crash explains is
//! refused, with the file, the place and what to do. [`MetadataLog::verify`] only looks.
//!
//! ```
//! use std::path::Path;
//! use std::sync::Arc;
//! use bytes::Bytes;
//! use quorate_protocol::batch::encode_data_batch;
//! use quorate_storage::vfs::{Crash, MemVfs};
//! use quorate_storage::{LogConfig, MetadataLog};
//! use quorate_types::{Epoch, Offset, WallTime};
//!
//! let disk = MemVfs::new();
//! let open = || MetadataLog::open(Arc::new(disk.clone()), Path::new("/data"), LogConfig::default());
//! let batch = |base| encode_data_batch(Offset(base), Epoch(1), WallTime(7), &[Bytes::from("value")]);
//!
//! let (mut log, _) = open()?;
//! log.append(&[batch(0)?, batch(1)?])?;
//! log.sync()?; // one sync for both
//! log.append(&[batch(2)?])?; // not synced
//! disk.crash(Crash::LoseUnsynced);
//! drop(log);
//!
//! let (_, recovered) = open()?;
//! assert_eq!(recovered.end, Offset(2));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![warn(missing_docs)]
#![forbid(unsafe_code)]

mod error;
mod format;
mod log;
mod meta_properties;
pub mod names;
mod properties;
mod quorum_state;
mod recovered;
mod snapshots;
pub mod vfs;

pub use error::{Malformed, StorageError};
pub use format::{FormatSpec, format};
pub use log::{LogConfig, LogReader, MetadataLog, Retention};
pub use meta_properties::MetaProperties;
pub use quorum_state::QuorumState;
pub use recovered::{Election, Note, Recovered};
pub use snapshots::{PartialSnapshot, SnapshotFile, SnapshotInfo, SnapshotParts};
