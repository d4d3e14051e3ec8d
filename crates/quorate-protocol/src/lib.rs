//! Kafka's binary format: RPC messages, metadata and control records, record batches, snapshots.
//!
//! Every message is a plain struct with public fields, in wire order, whose `Default` is Kafka's.
//! This crate knows bytes and nothing else: no socket, no file, no clock, and not what a message is
//! good for.
//!
//! - [`codec`]: how values become bytes and back, and the derive macros;
//! - [`messages`]: requests and responses, their headers and frames;
//! - [`records`]: the 26 metadata records and their frame;
//! - [`control`]: the control records of raft;
//! - [`batch`]: record batches, version 2;
//! - [`snapshot`]: snapshot files.
#![warn(missing_docs)]
#![forbid(unsafe_code)]

// The derive macros name this crate by its outer name, also inside it.
extern crate self as quorate_protocol;

pub mod batch;
pub mod codec;
pub mod control;
pub mod messages;
pub mod records;
pub mod snapshot;

mod principal;
mod quorum_state;

pub use principal::DefaultPrincipalData;
pub use quorum_state::{QuorumStateData, QuorumStateVoter};

/// The vocabulary that messages are written in: [`quorate_types`].
pub use quorate_types as types;
