//! The node's own snapshots: what [`Snapshots`](crate::snapshots) decides, between state machine,
//! disk and core.

use quorate_metadata::MetadataImage;
use quorate_protocol::snapshot::SnapshotHeader;
use quorate_raft::Input;
use quorate_types::{KRaftVersion, Offset, OffsetAndEpoch, WallTime};

use super::{Quorum, QuorumEvent};
use crate::io::{Now, Output};
use crate::links::ConnNames;
use crate::snapshots::{Cleaned, Next, SnapshotProgress};
use crate::tail::EncodedBatch;

impl Quorum {
    /// The node has published what it applied up to `end`: begins a snapshot if one is due.
    ///
    /// `state` is what a snapshot would hold, where it ends and when its last batch was appended;
    /// nothing within a transaction, and nothing once a record could not be applied.
    pub fn published(
        &mut self,
        now: Now,
        end: Offset,
        state: Option<(&MetadataImage, OffsetAndEpoch, WallTime)>,
    ) {
        if !self.snapshots.published(now.mono, end) {
            return;
        }
        let Some((image, id, last_contained)) = state else {
            return;
        };
        if self.loading || !self.raft.names_snapshot(id) {
            return;
        }
        let (version, voters) = self.raft.members_before(id.offset);
        let recorded = version > KRaftVersion::STATIC;
        let header = SnapshotHeader {
            last_contained,
            quorum: recorded.then(|| (version, voters.clone())),
        };
        let next = self.snapshots.begin(now, id, image.clone(), &header);
        self.go_on(next);
    }

    /// The disk has carried out a step in writing a snapshot.
    pub(super) fn snapshot_step(
        &mut self,
        now: Now,
        names: &mut ConnNames,
        id: OffsetAndEpoch,
        result: Result<SnapshotProgress, String>,
    ) {
        let next = self.snapshots.step_done(id, result);
        if let Next::Published { size } = next {
            self.step(now, names, Input::SnapshotAdded { id, size });
            self.events.push_back(QuorumEvent::SnapshotWritten(id));
        }
        self.go_on(next);
    }

    /// Batches are given to whoever applies the log.
    pub(super) fn count(&mut self, batches: &[EncodedBatch]) {
        for batch in batches {
            self.snapshots
                .read(batch.base, batch.end, batch.bytes.len());
        }
    }

    /// Lets the disk drop old snapshots if it is time to look for them.
    pub(super) fn clean_snapshots(&mut self, now: Now) {
        let job = self.snapshots.clean(now);
        self.out.extend(job.map(Output::Disk));
    }

    /// The disk has looked for old snapshots.
    pub(super) fn cleaned(
        &mut self,
        now: Now,
        names: &mut ConnNames,
        result: Result<Option<Cleaned>, String>,
    ) {
        match result {
            Ok(None) => {}
            Ok(Some(Cleaned {
                log_start,
                earliest,
            })) => self.step(
                now,
                names,
                Input::Cleaned {
                    log_start,
                    earliest,
                },
            ),
            Err(error) => {
                let text = format!("old snapshots could not be dropped: {error}");
                self.events.push_back(QuorumEvent::Warning(text));
            }
        }
    }

    fn go_on(&mut self, next: Next) {
        match next {
            Next::Job(job) => self.out.push(Output::Disk(job)),
            Next::Failed(text) => self.events.push_back(QuorumEvent::Warning(text)),
            Next::Published { .. } | Next::Over => {}
        }
    }
}
