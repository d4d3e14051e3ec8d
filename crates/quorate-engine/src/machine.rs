//! What a replicated state machine is: a state, and records that change it.
//!
//! Only applying a record changes the state, on every node and in the same order; that is why a
//! leader, a standby and a reader end up with the same one.

use quorate_types::{Epoch, Offset, WallTime};

/// A deterministic state machine whose input is a log of records.
///
/// It is a set of functions rather than a value: nothing but the state and the record may matter.
pub trait Machine: Sized {
    /// The state. Clones are taken once a turn and must be cheap: made of persistent maps, a clone
    /// is a few pointers.
    type State: Clone + Default;
    /// One change of the state, as it stands in the log.
    type Record: Clone;
    /// Why a record does not fit the state it is applied to.
    type Misfit: std::error::Error + Clone + Send + Sync + 'static;

    /// Applies `record`, which stands at offset `at`, to `state`.
    ///
    /// On an error `state` may be left half changed; the caller drops it. Never called with a record
    /// whose [`bracket`](Machine::bracket) is not [`Bracket::No`].
    fn apply(
        state: &mut Self::State,
        record: &Self::Record,
        at: Offset,
    ) -> Result<(), Self::Misfit>;

    /// Whether `record` opens or closes a transaction. Machines without transactions keep this.
    fn bracket(record: &Self::Record) -> Bracket {
        let _ = record;
        Bracket::No
    }
}

/// What a record says about transactions: the records between `Begin` and `End` become visible
/// together, those between `Begin` and `Abort` never.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bracket {
    /// An ordinary record.
    No,
    /// Opens a transaction.
    Begin,
    /// Makes what was held back visible.
    End,
    /// Takes back everything since `Begin`.
    Abort,
}

/// A batch of the log as a machine sees it.
///
/// A control batch has no records for the machine, yet an `end` beyond its `base`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Batch<R> {
    /// The offset of the first record.
    pub base: Offset,
    /// The offset after the last record.
    pub end: Offset,
    /// The epoch of the leader that appended it.
    pub epoch: Epoch,
    /// When the leader appended it.
    pub at: WallTime,
    /// The records, one an offset; empty for a control batch.
    pub records: Vec<R>,
}

impl<R> Batch<R> {
    /// A batch of `records` that starts at `base`.
    pub fn data(base: Offset, epoch: Epoch, at: WallTime, records: Vec<R>) -> Batch<R> {
        let end = base + records.len() as i64;
        Batch {
            base,
            end,
            epoch,
            at,
            records,
        }
    }

    /// A batch that belongs to the log below and has nothing for the machine.
    pub fn control(base: Offset, end: Offset, epoch: Epoch, at: WallTime) -> Batch<R> {
        Batch {
            base,
            end,
            epoch,
            at,
            records: Vec::new(),
        }
    }
}

/// Why a batch or a record could not be applied to a replica.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ApplyError<E> {
    /// The machine itself refused the record.
    #[error("the record at {at} does not fit: {misfit}")]
    Misfit {
        /// The offset of the record.
        at: Offset,
        /// What the machine said.
        misfit: E,
    },
    /// A transaction within a transaction, or the end of one that was never begun.
    #[error("the transaction record at {at} does not fit: {bracket:?}, open since {open:?}")]
    Bracket {
        /// The offset of the record.
        at: Offset,
        /// What it wanted.
        bracket: Bracket,
        /// Where the open transaction begins, if there is one.
        open: Option<Offset>,
    },
    /// The batch does not start where the replica ends.
    #[error("a batch of {base}..{end} cannot follow {expected}")]
    Gap {
        /// Where the replica ends.
        expected: Offset,
        /// Where the batch starts.
        base: Offset,
        /// Where the batch ends.
        end: Offset,
    },
    /// A batch whose records do not fill its offsets.
    #[error("a batch of {base}..{end} holds {records} records")]
    Shape {
        /// Where the batch starts.
        base: Offset,
        /// Where the batch ends.
        end: Offset,
        /// How many records it has.
        records: usize,
    },
}
