//! The runtime of quorate nodes: threads, sockets, files, timers.
//!
//! It moves bytes and time for [`quorate_server`]'s nodes and decides nothing: a core thread owns
//! the node, a disk thread its files, and tokio the sockets. This is the only crate that reads a
//! clock, starts a thread or opens a socket.
#![warn(missing_docs)]
#![forbid(unsafe_code)]

mod broker;
mod client;
mod clock;
mod controller;
mod core_thread;
mod disk_thread;
mod entropy;
mod files;
mod handle;
mod mailbox;
mod net;

pub use broker::BrokerSpec;
pub use client::{Client, ClientError};
pub use clock::Clock;
pub use controller::ControllerSpec;
pub use entropy::entropy;
pub use files::{NewDirectory, StartError};
pub use handle::{Machine, NodeFault, NodeHandle, OnEvent, PublishedMetadata};
pub use net::Limits;
