//! The whole of quorate in virtual time: controllers, brokers and clients over a simulated network
//! and simulated disks, with everything going wrong that can go wrong.
//!
//! A seed is a cluster and its fate. The same [`Node`](quorate_server::io::Node)s that the runtime
//! drives are driven here; what comes out of them is checked against the laws of [`check`] at every
//! step; after the faults the cluster must work again. The same seed gives the same history, so a
//! failure is replayed with `quorate-sim run --seed N --trace`.
//!
//! - [`spec`] draws the cluster, [`faults`] its fate; [`run()`] plays both and ends with the law that
//!   did not hold, if any.
//! - [`world`] is the loop that moves frames, disk jobs and time, as the runtime does; [`machine`],
//!   [`disk`] and [`net`] are what it moves them through.
//! - [`check`] has one module a law. They look at what comes out of nodes.
//! - [`history`] is one number for everything that happened, and lines for people.
//!
//! It knows nothing of real time, sockets or files, and decides nothing for the nodes. Where
//! POSIX and TCP leave something open, the worse is drawn. `docs/testing.md` lists the laws and the
//! mutants that they were seen to catch.
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
pub mod counts;
pub mod disk;
mod disk_rounds;
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
