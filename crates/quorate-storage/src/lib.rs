//! Storage (being written).
#![warn(missing_docs)]
#![forbid(unsafe_code)]

mod error;
mod meta_properties;
pub mod names;
mod properties;
mod quorum_state;
pub mod vfs;

pub use error::{Malformed, StorageError};
pub use meta_properties::MetaProperties;
pub use quorum_state::QuorumState;
