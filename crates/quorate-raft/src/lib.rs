//! The Raft log and high-watermark state machine of KRaft, without I/O and without bytes.
#![warn(missing_docs)]
#![forbid(unsafe_code)]

mod answers;
mod boot;
mod calls;
mod config;
mod describe;
mod disk;
mod election;
mod follow;
mod handover;
mod history;
mod io;
mod lead;
mod leader;
mod log;
mod membership;
mod parked;
mod raft;
mod role;
pub mod rpc;
mod snapshot;
mod transitions;
mod votes;

pub use boot::{Boot, BootError, ElectionState, LogSummary};
pub use config::Config;
pub use io::{
    AppendError, Batch, CallError, CallId, Destination, DiskOp, DiskSeq, Fatal, Input, Output,
    RequestId, Source,
};
pub use membership::UpgradeError;
pub use raft::Raft;
pub use role::RoleName;
