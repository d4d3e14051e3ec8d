//! The metadata log of one node: segments, snapshots and the vote in one directory.

mod config;
mod cut;
mod epochs;
mod index;
mod inspect;
mod metadata_log;
mod open;
mod reader;
mod retention;
pub(crate) mod scan;
mod shared;
mod snapshotting;

pub use config::LogConfig;
pub use metadata_log::MetadataLog;
pub use reader::LogReader;
pub use retention::Retention;
