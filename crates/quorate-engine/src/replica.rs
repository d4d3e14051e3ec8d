//! A state machine and how far into the log it has come.
//!
//! This is the loader of a broker, the standby of a controller, and every version of the state that
//! a leader keeps: they are the same thing.
//!
//! Invariants:
//! - The *stable* state holds no record of an open transaction, however the log was cut into batches
//!   and commits.
//! - A batch is applied wholly or not at all.

use std::fmt;

use quorate_types::{Epoch, Offset, OffsetAndEpoch, WallTime};

use crate::machine::{ApplyError, Batch, Bracket, Machine};

/// A copy of a machine's state at a position of the log.
///
/// ```
/// # use quorate_engine::{Batch, Bracket, Machine, Replica};
/// # use quorate_types::{Epoch, Offset, WallTime};
/// # use std::convert::Infallible;
/// struct Sum;
/// impl Machine for Sum {
///     type State = i64;
///     type Record = Option<i64>; // `None` begins and ends transactions here
///     type Misfit = Infallible;
///     fn apply(sum: &mut i64, record: &Option<i64>, _at: Offset) -> Result<(), Infallible> {
///         *sum += record.unwrap_or(0);
///         Ok(())
///     }
///     fn bracket(record: &Option<i64>) -> Bracket {
///         if record.is_none() { Bracket::Begin } else { Bracket::No }
///     }
/// }
///
/// let mut replica = Replica::<Sum>::default();
/// let batch = Batch::data(Offset(0), Epoch(1), WallTime(0), vec![Some(1), None, Some(2)]);
/// replica.apply_batch(&batch).unwrap();
/// assert_eq!(replica.end(), Offset(3));
/// assert_eq!(replica.stable(), (&1, Offset(1))); // what the transaction did is held back
/// ```
pub struct Replica<M: Machine> {
    state: M::State,
    end: OffsetAndEpoch,
    at: WallTime,
    open: Option<Held<M::State>>,
}

/// The state before an open transaction.
#[derive(Clone)]
struct Held<S> {
    begin: Offset,
    before: S,
}

impl<M: Machine> Replica<M> {
    /// An empty state at the start of the log.
    pub fn new() -> Replica<M> {
        Replica::at(M::State::default(), OffsetAndEpoch::default(), WallTime(0))
    }

    /// A state that holds everything before `end`, appended last at `at`.
    pub fn at(state: M::State, end: OffsetAndEpoch, at: WallTime) -> Replica<M> {
        Replica {
            state,
            end,
            at,
            open: None,
        }
    }

    /// Starts over from a snapshot's state.
    pub fn install(&mut self, state: M::State, end: OffsetAndEpoch, at: WallTime) {
        *self = Replica::at(state, end, at);
    }

    /// Applies one batch. See [`apply_batches`](Self::apply_batches).
    pub fn apply_batch(&mut self, batch: &Batch<M::Record>) -> Result<(), ApplyError<M::Misfit>> {
        self.apply_batches(std::slice::from_ref(batch))
    }

    /// Applies committed batches, which follow each other; those already applied are passed over.
    ///
    /// # Errors
    /// When a record does not fit, or the batches do not continue the log. The replica is then as it
    /// was before the call.
    pub fn apply_batches(
        &mut self,
        batches: &[Batch<M::Record>],
    ) -> Result<(), ApplyError<M::Misfit>> {
        let before = self.clone();
        for batch in batches {
            if let Err(error) = self.apply_unguarded(batch) {
                *self = before;
                return Err(error);
            }
        }
        Ok(())
    }

    /// The state without what an open transaction did, and the end of what it holds.
    pub fn stable(&self) -> (&M::State, Offset) {
        match &self.open {
            None => (&self.state, self.end.offset),
            Some(held) => (&held.before, held.begin),
        }
    }

    /// The offset after the last batch applied.
    pub fn end(&self) -> Offset {
        self.end.offset
    }

    /// Where the open transaction begins, if there is one.
    pub fn transaction(&self) -> Option<Offset> {
        self.open.as_ref().map(|held| held.begin)
    }

    /// What a snapshot taken now would hold: the state, the end and epoch that name it, and when its
    /// last batch was appended. `None` while a transaction is open.
    pub fn snapshot(&self) -> Option<(&M::State, OffsetAndEpoch, WallTime)> {
        self.open
            .is_none()
            .then_some((&self.state, self.end, self.at))
    }

    /// The state with what an open transaction did so far: what the next record is applied to.
    pub(crate) fn tip(&self) -> &M::State {
        &self.state
    }

    /// Applies the record that stands at the end. On an error the replica is spoilt.
    pub(crate) fn push(&mut self, record: &M::Record) -> Result<(), ApplyError<M::Misfit>> {
        let at = self.end.offset;
        match (M::bracket(record), self.open.take()) {
            (Bracket::No, open) => {
                self.open = open;
                M::apply(&mut self.state, record, at)
                    .map_err(|misfit| ApplyError::Misfit { at, misfit })?;
            }
            (Bracket::Begin, None) => {
                let before = self.state.clone();
                self.open = Some(Held { begin: at, before });
            }
            (Bracket::End, Some(_)) => {}
            (Bracket::Abort, Some(held)) => self.state = held.before,
            (bracket, open) => {
                let open = open.map(|held| held.begin);
                return Err(ApplyError::Bracket { at, bracket, open });
            }
        }
        self.end.offset += 1;
        Ok(())
    }

    /// Passes over what the log below wrote for itself.
    pub(crate) fn skip_to(&mut self, end: Offset, epoch: Epoch) {
        debug_assert!(end >= self.end.offset, "{end} is behind {}", self.end);
        self.end = OffsetAndEpoch { offset: end, epoch };
    }

    /// Remembers who appended the records that were pushed, and when.
    pub(crate) fn stamp(&mut self, epoch: Epoch, at: WallTime) {
        self.end.epoch = epoch;
        self.at = at;
    }

    fn apply_unguarded(&mut self, batch: &Batch<M::Record>) -> Result<(), ApplyError<M::Misfit>> {
        let Batch { base, end, .. } = *batch;
        let expected = self.end.offset;
        if end <= expected {
            return Ok(());
        }
        if base != expected {
            return Err(ApplyError::Gap {
                expected,
                base,
                end,
            });
        }
        let records = batch.records.len();
        if records > 0 && end - base != records as i64 {
            return Err(ApplyError::Shape { base, end, records });
        }
        for record in &batch.records {
            self.push(record)?;
        }
        self.end = OffsetAndEpoch {
            offset: end,
            epoch: batch.epoch,
        };
        self.at = batch.at;
        Ok(())
    }
}

impl<M: Machine> Default for Replica<M> {
    fn default() -> Self {
        Replica::new()
    }
}

impl<M: Machine> Clone for Replica<M> {
    fn clone(&self) -> Self {
        Replica {
            state: self.state.clone(),
            end: self.end,
            at: self.at,
            open: self.open.clone(),
        }
    }
}

impl<M: Machine> fmt::Debug for Replica<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Replica")
            .field("end", &self.end)
            .field("transaction", &self.transaction())
            .finish_non_exhaustive()
    }
}
