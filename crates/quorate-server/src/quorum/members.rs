//! Changes of the quorum itself that come from its state machine rather than from a peer.

use quorate_raft::UpgradeError;
use quorate_types::{Epoch, KRaftVersion};

use super::Quorum;
use crate::io::Now;
use crate::links::ConnNames;

impl Quorum {
    /// Raises `kraft.version`; it is done once what the log then holds is committed. With
    /// `validate_only` nothing is written.
    ///
    /// # Errors
    /// Nothing was written; see [`UpgradeError`].
    pub fn upgrade_kraft(
        &mut self,
        now: Now,
        names: &mut ConnNames,
        epoch: Epoch,
        to: KRaftVersion,
        validate_only: bool,
    ) -> Result<(), UpgradeError> {
        let upgraded = self.raft.upgrade_kraft(now.mono, epoch, to, validate_only);
        self.carry_out(now, names);
        upgraded
    }
}
