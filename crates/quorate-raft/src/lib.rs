//! The Raft log and high-watermark state machine of KRaft, without I/O and without bytes.
#![warn(missing_docs)]
#![forbid(unsafe_code)]

mod boot;
mod config;
mod io;
mod raft;
pub mod rpc;

pub use boot::{Boot, BootError, ElectionState, LogSummary};
pub use config::Config;
pub use io::{
    AppendError, Batch, CallError, CallId, Destination, DiskOp, DiskSeq, Fatal, Input, Output,
    RequestId, Source,
};
pub use raft::{Raft, RoleName};
