//! To be written.
#![warn(missing_docs)]

pub mod batch;
pub mod snapshot;
