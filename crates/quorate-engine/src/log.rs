//! All that the engine knows of the log below it.
//!
//! Behind this trait stands Raft, or another consensus, or a vector in a test.

use quorate_types::{Epoch, Offset};

/// A replicated log that this node may append to while it leads.
pub trait Log<R> {
    /// Appends `batches`, none of them empty, at `base`, all of them or none.
    ///
    /// `Ok` says that they are ordered, not that they are durable or committed.
    ///
    /// # Errors
    /// Nothing was appended; [`AppendError`] says why.
    fn append(&mut self, epoch: Epoch, base: Offset, batches: &[Vec<R>])
    -> Result<(), AppendError>;

    /// Gives up leading `epoch`, since this node cannot do its part of it.
    fn resign(&mut self, epoch: Epoch);
}

/// Why nothing was appended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AppendError {
    /// This node does not lead that epoch, or no more.
    #[error("not the leader of that epoch")]
    NotLeader,
    /// The log does not end at the base: it has written something for itself.
    #[error("the log ends at {end} by now")]
    Moved {
        /// Where it ends.
        end: Offset,
    },
    /// One of the batches is larger than any batch may be.
    #[error("a batch is too large")]
    TooLarge,
    /// Too much is on its way to the disk or the followers; later there may be room.
    #[error("the log takes no more for now")]
    Full,
}

impl<R, L: Log<R> + ?Sized> Log<R> for &mut L {
    fn append(
        &mut self,
        epoch: Epoch,
        base: Offset,
        batches: &[Vec<R>],
    ) -> Result<(), AppendError> {
        (**self).append(epoch, base, batches)
    }

    fn resign(&mut self, epoch: Epoch) {
        (**self).resign(epoch);
    }
}
