//! Controller and broker nodes composed without I/O.
#![warn(missing_docs)]
#![forbid(unsafe_code)]

pub mod boot;
pub mod broker;
pub mod changes;
pub mod controller;
pub mod disk;
pub mod events;
pub mod frames;
pub mod inbound;
pub mod io;
pub mod links;
mod log_reader;
pub mod quorum;
mod replies;
pub mod tail;
