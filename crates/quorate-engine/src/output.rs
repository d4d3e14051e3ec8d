//! What an engine says, as plain data.

use quorate_types::{Epoch, Offset};

use crate::machine::ApplyError;

/// The name under which a command was submitted; its one reply bears the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket(pub u64);

/// What an engine says. `R` is the domain's reply, `E` its misfit.
///
/// The order of outputs matters: a [`Stable`](Output::Stable) stands before the replies that depend
/// on it, so whoever publishes the state before passing on the next output lets clients read their
/// own writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Output<R, E> {
    /// The stable state moved: it holds everything before `end`. Said only of what is committed and
    /// outside an open transaction.
    Stable {
        /// The new end.
        end: Offset,
    },
    /// The one answer to a ticket. `Ok` only once the decision's records, and those it was decided
    /// on, are committed and stable.
    Reply {
        /// Whose.
        ticket: Ticket,
        /// The domain's reply, or why there is none.
        result: Result<R, Refused>,
    },
    /// This node decides from now on: everything before the epoch's start has been applied and the
    /// opening decision appended.
    Active {
        /// The epoch it leads.
        epoch: Epoch,
    },
    /// This node decides no more.
    Inactive {
        /// The epoch it led.
        epoch: Epoch,
    },
    /// Something that must not happen did; a person should hear of it.
    Fault(Fault<E>),
}

/// Why a command got no reply from the domain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refused {
    /// This node is not the active one. Nothing was done.
    #[error("this node is not active")]
    NotActive,
    /// It waited in the queue for too long. Nothing was done.
    #[error("expired in the queue")]
    Expired,
    /// It needs more records or bytes than one batch may have. Nothing was done.
    #[error("too large for one batch")]
    TooLarge,
    /// Its lane is full. Nothing was done.
    #[error("too much is waiting")]
    Busy,
    /// Its records were appended, but leadership or the transaction they are part of was lost before
    /// they became stable: they may still come about, or not.
    #[error("the outcome is unknown")]
    OutcomeUnknown,
    /// The decision was at fault. Nothing was done.
    #[error("the decision failed")]
    Fault,
}

/// Something that must not happen.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault<E> {
    /// The opening decision failed. Nothing was appended; the epoch was resigned.
    #[error("cannot take over in epoch {epoch}: {cause}")]
    Opening {
        /// The epoch.
        epoch: Epoch,
        /// What went wrong.
        cause: Cause<E>,
    },
    /// The decision of a command failed. Nothing was appended; the epoch was resigned.
    #[error("a decision failed in epoch {epoch}: {cause}")]
    Deciding {
        /// The epoch.
        epoch: Epoch,
        /// The command.
        ticket: Ticket,
        /// What went wrong.
        cause: Cause<E>,
    },
    /// A periodic task failed. Nothing was appended; the task is tried again later.
    #[error("task {task} failed in epoch {epoch}: {cause}")]
    Task {
        /// The epoch.
        epoch: Epoch,
        /// The name of the task.
        task: String,
        /// What went wrong.
        cause: Cause<E>,
    },
    /// A committed batch cannot be applied. Final: this replica does not move any more.
    #[error("cannot apply what is committed: {cause}")]
    Replaying {
        /// What went wrong.
        cause: Cause<E>,
    },
}

/// What was wrong with the records of a decision or a batch.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Cause<E> {
    /// A record does not fit the state.
    #[error("{0}")]
    Unfit(ApplyError<E>),
    /// A decision that cannot be refused has more records or bytes than one batch may have.
    #[error("too large for one batch")]
    TooLarge,
}
