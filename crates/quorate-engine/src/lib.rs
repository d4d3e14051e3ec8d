//! A replicated state machine of any domain on top of a log.
//!
//! Whoever has a log that several nodes agree on still has to decide what goes into it, apply it in
//! the same order everywhere, and answer clients only when the answer is true for good. That is what
//! an [`Engine`] does, for any [`Domain`]. It knows nothing of Kafka, of Raft, of bytes, clocks,
//! sockets or threads: the log is behind the narrow [`Log`] trait, time and chance are arguments, and
//! everything it has to say comes out of [`Engine::poll`] as plain data.
//!
//! | You write | It says |
//! |---|---|
//! | [`Machine`] | what a state and a record are, and how one changes the other |
//! | [`Domain`] | which records a command leads to, what to do periodically, what only a leader knows |
//! | [`Log`] | how to append |
//!
//! What is held to:
//! - **Only records change the state**, on the leader as on every other node. A decision pushes records
//!   into a [`Draft`], where each is applied at once; nobody else sees them before they are appended.
//! - **A record that does not fit is never appended.** The whole decision is dropped, and the leader
//!   steps down, loudly ([`Fault`]).
//! - **Nothing is too much.** What exceeds a limit is refused alone, with no record, or cut into batches
//!   if the domain said that it may be.
//! - **Durable, visible, answered**, in this order. A reply waits until its records are *stable*:
//!   committed and outside an open transaction. So does a reply without records for what it was
//!   decided on. [`Output::Stable`] comes first.
//! - **An offset is a promise.** A decision may use the offsets of its records, since the append says
//!   where they have to be; if the log wrote something for itself in between, the decision is made
//!   again.
//! - **Losing the lead loses nothing that was promised.** The speculative state is dropped, the log read
//!   again from what was stable; replies to what is known to be committed still come, the others are
//!   [`Refused::OutcomeUnknown`].
//!
//! A [`Replica`] alone, without decisions, is the loader of a node that only follows. [`Solo`] is a
//! leader on its own for the tests of a domain.
//!
//! # Example
//!
//! A counter that refuses to go below zero:
//!
//! ```
//! use quorate_engine::*;
//! use quorate_types::{MonoTime, Offset, Rng, WallTime};
//!
//! struct Counter;
//!
//! #[derive(Debug, Clone, PartialEq, thiserror::Error)]
//! #[error("below zero")]
//! struct BelowZero;
//!
//! impl Machine for Counter {
//!     type State = u64;
//!     type Record = i64;
//!     type Misfit = BelowZero;
//!
//!     fn apply(count: &mut u64, change: &i64, _at: Offset) -> Result<(), BelowZero> {
//!         *count = count.checked_add_signed(*change).ok_or(BelowZero)?;
//!         Ok(())
//!     }
//! }
//!
//! impl Domain for Counter {
//!     type Command = i64;
//!     type Reply = Result<u64, &'static str>; // errors of the domain are replies
//!     type Soft = ();
//!     type Task = ();
//!
//!     fn claim(&self, _count: &u64, _now: MonoTime) {}
//!
//!     fn decide(&self, draft: &mut Draft<'_, Self>, change: &i64) -> Result<Self::Reply, Halt> {
//!         if draft.state().checked_add_signed(*change).is_none() {
//!             return Ok(Err("there is not as much"));
//!         }
//!         draft.push(*change)?;
//!         Ok(Ok(*draft.state()))
//!     }
//! }
//!
//! let mut engine = Engine::new(Counter, Rng::new(1), EngineConfig::default());
//! let mut log = MemoryLog::new();
//! let (now, wall) = (MonoTime(0), WallTime(0));
//!
//! // Elected, the engine takes office in its next turn; then it takes commands.
//! let (epoch, start) = log.elect();
//! engine.leader(epoch, start);
//! engine.turn(now, wall, &mut log);
//! engine.submit(Ticket(1), Lane::Admin, 5, None);
//! engine.submit(Ticket(2), Lane::Admin, -7, None);
//! engine.turn(now, wall, &mut log);
//! assert_eq!(engine.poll(), Some(Output::Active { epoch }));
//! assert_eq!(engine.poll(), None); // decided and appended, but not committed
//!
//! engine.high_watermark(log.end());
//! assert_eq!(engine.poll(), Some(Output::Stable { end: log.end() }));
//! assert_eq!(*engine.state(), 5);
//! assert_eq!(engine.poll(), Some(Output::Reply { ticket: Ticket(1), result: Ok(Ok(5)) }));
//! let refusal = Ok(Err("there is not as much"));
//! assert_eq!(engine.poll(), Some(Output::Reply { ticket: Ticket(2), result: refusal }));
//! ```
//!
//! # Who drives it
//!
//! 1. Whatever the log says is passed on in the log's order: [`Engine::leader`],
//!    [`Engine::not_leader`], [`Engine::high_watermark`]; while [`Engine::reads_from`] asks for it, what
//!    is committed is read and given to [`Engine::committed`].
//! 2. Commands go to [`Engine::submit`].
//! 3. When [`Engine::deadline`] has come, [`Engine::turn`].
//! 4. After each of these [`Engine::poll`] until it is empty, carrying out each output before the next.
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
