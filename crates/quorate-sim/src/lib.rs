//! The whole of quorate in virtual time: controllers, brokers and clients over a simulated network
//! and simulated disks, with everything going wrong that can go wrong.
//!
//! A seed is a cluster and its fate. The same [`Node`](quorate_server::io::Node)s that the runtime
//! drives are driven here; what comes out of them is checked against the laws of [`check`] at every
//! step; after the faults the cluster must work again. The same seed gives the same history, so a
//! failure is replayed with `quorate-sim run --seed N --trace`.
//!
//! It knows nothing of real time, sockets or files, and decides nothing for the nodes.
//!
//! ```
//! use quorate_sim::{Options, run};
//!
//! let report = run(7, Options { steps: 2, ..Options::default() });
//! assert_eq!(report.violation, None);
//! assert!(report.acknowledged > 0);
//! ```
#![warn(missing_docs)]
#![forbid(unsafe_code)]

pub mod check;
pub mod client;
pub mod disk;
pub mod faults;
pub mod history;
pub mod machine;
pub mod net;
pub mod process;
pub mod queue;
pub mod report;
pub mod run;
pub mod shadow;
pub mod spec;
mod trace;
pub mod violation;
pub mod world;

pub use run::{Options, Report, run};
