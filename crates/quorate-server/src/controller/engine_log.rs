//! The engine's log: records become encoded batches and go to Raft.

use bytes::Bytes;
use quorate_engine::{AppendError, Log};
use quorate_protocol::records::VersionedRecord;
use quorate_raft::AppendError as RaftError;
use quorate_types::{Epoch, Offset};

use crate::io::Now;
use crate::links::ConnNames;
use crate::quorum::{AppendRefused, Quorum};

/// Appends to the quorum's log at one moment.
pub(super) struct EngineLog<'a> {
    quorum: &'a mut Quorum,
    names: &'a mut ConnNames,
    now: Now,
}

impl<'a> EngineLog<'a> {
    pub(super) fn new(quorum: &'a mut Quorum, names: &'a mut ConnNames, now: Now) -> EngineLog<'a> {
        EngineLog { quorum, names, now }
    }
}

impl Log<VersionedRecord> for EngineLog<'_> {
    fn append(
        &mut self,
        epoch: Epoch,
        base: Offset,
        batches: &[Vec<VersionedRecord>],
    ) -> Result<(), AppendError> {
        let encode = |record: &VersionedRecord| record.encode_frame();
        let encoded: Result<Vec<Vec<Bytes>>, _> = batches
            .iter()
            .map(|records| records.iter().map(encode).collect::<Result<_, _>>())
            .collect();
        // A record that has no bytes in its version cannot be in any log.
        let encoded = encoded.map_err(|_| AppendError::TooLarge)?;
        self.quorum
            .append(self.now, self.names, epoch, base, &encoded)
            .map_err(|refused| match refused {
                AppendRefused::TooLarge => AppendError::TooLarge,
                AppendRefused::Raft(RaftError::Moved { end }) => AppendError::Moved { end },
                AppendRefused::Raft(RaftError::Full) => AppendError::Full,
                AppendRefused::Raft(_) => AppendError::NotLeader,
            })
    }

    fn resign(&mut self, epoch: Epoch) {
        self.quorum.resign(self.now, self.names, epoch);
    }
}
