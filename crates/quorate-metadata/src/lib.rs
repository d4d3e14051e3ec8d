//! To be written.
#![warn(missing_docs)]
