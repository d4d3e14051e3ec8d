//! Laws: what is committed is never lost and never changed; it is on the disks of a majority; every
//! leader has all of it, and commits nothing but by a batch of its own epoch.
//!
//! What is committed is what the first high watermark said that reached so far. The metadata as of
//! each offset is made from those bytes alone, by the replica that brokers use too.

use std::collections::BTreeMap;
use std::ops::Range;

use quorate_engine::Replica;
use quorate_metadata::{KafkaMetadata, MetadataImage, decode_batch};
use quorate_protocol::batch::BatchView;
use quorate_types::{Epoch, NodeId, Offset};

use super::logs::Logs;
use crate::shadow::{Entry, ShadowLog};
use crate::violation::{Verdict, Violation};

/// The committed log.
pub(super) struct Committed {
    log: ShadowLog,
    replica: Replica<KafkaMetadata>,
    /// The metadata at each offset at which it could be shown.
    images: BTreeMap<Offset, MetadataImage>,
}

/// Without the images.
impl std::fmt::Debug for Committed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Committed")
            .field("end", &self.end())
            .finish_non_exhaustive()
    }
}

impl Committed {
    /// Nothing is committed yet.
    pub(super) fn new() -> Committed {
        Committed {
            log: ShadowLog::default(),
            replica: Replica::new(),
            images: [(Offset::ZERO, MetadataImage::default())].into(),
        }
    }

    /// Everything before it is committed.
    pub(super) fn end(&self) -> Offset {
        self.log.end()
    }

    /// The newest committed metadata.
    pub(super) fn image(&self) -> &MetadataImage {
        self.replica.stable().0
    }

    /// The metadata as of an offset, if it could be shown there.
    pub(super) fn image_at(&self, end: Offset) -> Option<&MetadataImage> {
        self.images.get(&end)
    }

    /// The metadata as of that offset and of all later ones at which it could be shown.
    pub(super) fn images_since(&self, end: Offset) -> impl Iterator<Item = &MetadataImage> {
        self.images.range(end..).map(|(_, image)| image)
    }

    /// The committed log up to an offset.
    pub(super) fn log_before(&self, end: Offset) -> ShadowLog {
        let mut log = self.log.clone();
        log.truncate(end);
        log
    }

    /// What stands for the committed bytes up to an offset; nothing if no batch ends there.
    pub(super) fn chain_at(&self, end: Offset) -> Option<u64> {
        self.log.chain_at(end)
    }

    /// A new leader must have all that is committed.
    pub(super) fn is_in(&self, id: NodeId, epoch: Epoch, log: &ShadowLog) -> Verdict {
        if log.chain_at(self.end()) == self.log.chain_at(self.end()) {
            return Ok(());
        }
        let difference = self.log.first_difference(log);
        let detail =
            format!("{id} leads epoch {epoch} without all that is committed: {difference}");
        Err(Violation::new(
            "every leader has all that is committed",
            detail,
        ))
    }

    /// A node, to which these are the voters, says that everything before `high` is committed.
    pub(super) fn says(
        &mut self,
        id: NodeId,
        high: Offset,
        voters: &[NodeId],
        logs: &Logs,
    ) -> Verdict {
        let Some(log) = logs.of(id) else {
            return Ok(());
        };
        let known = self.end();
        if high <= known {
            return self.same(id, high, log);
        }
        self.same(id, known, log)?;
        let Some(chain) = log.chain_at(high) else {
            let detail = format!("{id} says {high}, where none of its batches ends");
            return Err(Violation::new("commits end with batches", detail));
        };
        let holders = logs.holders(voters, high, chain);
        if holders <= voters.len() / 2 {
            let detail = format!("{id} says {high}; {holders} voters have it on their disks");
            return Err(Violation::new(
                "what is committed is on the disks of a majority",
                detail,
            ));
        }
        for entry in log.between(known, high) {
            self.push(entry)?;
        }
        Ok(())
    }

    fn same(&self, id: NodeId, end: Offset, log: &ShadowLog) -> Verdict {
        if log.chain_at(end) == self.log.chain_at(end) {
            return Ok(());
        }
        let difference = self.log.first_difference(log);
        let detail = format!("that of {id} up to {end} is another: {difference}");
        Err(Violation::new(
            "what is committed is never lost and never changed",
            detail,
        ))
    }

    fn push(&mut self, entry: &Entry) -> Verdict {
        self.log.push_entry(entry.clone());
        let failed = |problem: String| {
            let detail = format!("the batch at {}: {problem}", entry.base);
            Violation::new("what is committed can be applied", detail)
        };
        let view =
            BatchView::new(entry.bytes.clone()).map_err(|error| failed(error.to_string()))?;
        let batch = decode_batch(&view).map_err(|error| failed(error.to_string()))?;
        self.replica
            .apply_batch(&batch)
            .map_err(|error| failed(error.to_string()))?;
        let (image, end) = self.replica.stable();
        self.images.insert(end, image.clone());
        Ok(())
    }
}

/// A leader moved its high watermark: the last batch before it must be of its own epoch, for only
/// then can no later leader be without it.
pub(super) fn own_epoch(
    id: NodeId,
    leads: Option<Epoch>,
    log: &ShadowLog,
    high: Offset,
) -> Verdict {
    let Some(epoch) = leads else {
        return Ok(());
    };
    let last = log.ending_at(high).map(|entry| entry.epoch);
    if last == Some(epoch) {
        return Ok(());
    }
    let last = last.map_or_else(|| "no batch".to_owned(), |last| format!("epoch {last}"));
    let detail = format!("{id} leads epoch {epoch} and commits {high}, where {last} ends");
    Err(Violation::new("leaders commit by their own epoch", detail))
}

/// A node cuts its log, where `cut` reaches to what it or a process before it knew to be committed:
/// no batch that is committed may go from there. Beyond, a leader of an older epoch may make it drop
/// what a later one has committed without it.
pub(super) fn keeps_committed(
    committed: &Committed,
    id: NodeId,
    log: &ShadowLog,
    cut: Range<Offset>,
) -> Verdict {
    let lost = committed.log.between(cut.start, cut.end);
    let shared = lost
        .iter()
        .find(|entry| log.chain_at(entry.end) == Some(entry.chain));
    match shared {
        None => Ok(()),
        Some(entry) => {
            let (base, end) = (entry.base, entry.end);
            let detail = format!(
                "{id} cuts its log to {} and loses {base} to {end}",
                cut.start
            );
            Err(Violation::new("no committed batch is cut off", detail))
        }
    }
}
