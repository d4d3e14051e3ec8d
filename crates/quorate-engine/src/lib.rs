//! A replicated state machine of any domain on top of a log.
#![warn(missing_docs)]
#![forbid(unsafe_code)]

mod config;
mod domain;
mod draft;
mod engine;
mod log;
mod machine;
mod mailbox;
mod memory;
mod output;
mod parked;
mod reign;
mod replica;
mod solo;
mod turn;

pub use config::EngineConfig;
pub use domain::Domain;
pub use draft::{Draft, Halt};
pub use engine::Engine;
pub use log::{AppendError, Log};
pub use machine::{ApplyError, Batch, Bracket, Machine};
pub use mailbox::Lane;
pub use memory::MemoryLog;
pub use output::{Cause, Fault, Output, Refused, Ticket};
pub use replica::Replica;
pub use solo::Solo;
