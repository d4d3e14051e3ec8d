//! What a leader does beyond applying records: it decides which records there are to be.

use std::fmt::Debug;
use std::time::Duration;

use quorate_types::{MonoTime, Offset};

use crate::draft::{Draft, Halt};
use crate::machine::Machine;

/// A machine together with the decisions that produce its records.
///
/// The implementor holds immutable configuration and policies only. What a decision depends on is
/// the state, the soft state, the command, the time and the generator, all of them in the draft.
pub trait Domain: Machine {
    /// A request to decide.
    type Command;
    /// The answer to a command, errors of the domain included.
    type Reply;
    /// What only the leader knows and may lose, such as sessions.
    type Soft;
    /// The name of a periodic task.
    type Task: Copy + Ord + Debug;

    /// The soft state of a new leader, from the state alone.
    fn claim(&self, state: &Self::State, now: MonoTime) -> Self::Soft;

    /// The first decision of a new leader, before any command: what an empty log must be given, the
    /// abort of a transaction that was left open.
    ///
    /// # Errors
    /// Passes on what [`Draft::push`] returned. The leader then steps down.
    fn open(&self, draft: &mut Draft<'_, Self>) -> Result<(), Halt> {
        let _ = draft;
        Ok(())
    }

    /// Decides a command: pushes records into the draft and returns the reply, which is held back
    /// until they are committed.
    ///
    /// May be called again for the same command, on another state and at other offsets, when the log
    /// moved on in the meantime: nothing outside the draft may remember the first call.
    ///
    /// # Errors
    /// Passes on what [`Draft::push`] returned. Errors of the domain are replies.
    fn decide(
        &self,
        draft: &mut Draft<'_, Self>,
        command: &Self::Command,
    ) -> Result<Self::Reply, Halt>;

    /// The periodic tasks of a leader, each with the time until its first run.
    fn tasks(&self) -> Vec<(Self::Task, Duration)> {
        Vec::new()
    }

    /// Runs a task and says after which time to run it again; `None` is not before the next leader.
    ///
    /// # Errors
    /// Passes on what [`Draft::push`] returned. Nothing is appended, the fault is reported and the
    /// task tried again later.
    fn run(&self, draft: &mut Draft<'_, Self>, task: Self::Task) -> Result<Option<Duration>, Halt> {
        let _ = (draft, task);
        Ok(None)
    }

    /// Brings the soft state after a record that has been appended at `at`.
    ///
    /// `state` is the one after the whole turn, so the soft state lags behind the draft's state by up
    /// to one turn: hard facts are to be read from the state.
    fn follow(
        &self,
        soft: &mut Self::Soft,
        state: &Self::State,
        record: &Self::Record,
        at: Offset,
        now: MonoTime,
    ) {
        let _ = (soft, state, record, at, now);
    }

    /// Tells that a decision is in the log: what it did ends before `end`.
    ///
    /// Called once for each decided command that was no dry run, after [`follow`](Self::follow) for
    /// its records and in the order of the decisions. For a decision without records `end` is the end
    /// of what it was decided on.
    fn appended(
        &self,
        soft: &mut Self::Soft,
        command: &Self::Command,
        reply: &Self::Reply,
        end: Offset,
    ) {
        let _ = (soft, command, reply, end);
    }
}
