//! An image as records, and back.
//!
//! - [`SnapshotRecords`]: an image as the records that make it, a thousand at a time, so that whoever
//!   writes them can do something else in between;
//! - [`SnapshotFile`]: the same as the bytes of a snapshot file;
//! - [`SnapshotLoader`]: the bytes of a snapshot file as an image;
//! - [`SnapshotTrigger`]: when to write one.
//!
//! The records read back give an equal image, at the same `metadata.version`.

mod file;
mod loader;
mod loss;
mod records;
mod trigger;

pub use file::{SnapshotFile, SnapshotWriteError};
pub use loader::{LoadedSnapshot, SnapshotLoadError, SnapshotLoader};
pub use loss::{Loss, Losses};
pub use records::SnapshotRecords;
pub use trigger::{SnapshotReason, SnapshotTrigger};
