//! The state machine as a whole: takes an input, lets the role of the moment act, gives outputs.

use std::collections::VecDeque;

use quorate_types::{
    Endpoint, Epoch, KRaftVersion, MonoTime, NodeId, Offset, OffsetAndEpoch, Rng, VoterSet,
};

use crate::{AppendError, Batch, Boot, BootError, Config, DiskSeq, Input, Output, rpc};

/// The states of a node in the quorum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RoleName {
    /// Looks for a leader.
    Unattached,
    /// Asks whether it could win.
    Prospective,
    /// Asks for votes.
    Candidate,
    /// Leads.
    Leader,
    /// Led, and hands over.
    Resigned,
    /// Follows a leader.
    Follower,
}

/// One node's part in the quorum.
#[derive(Debug)]
pub struct Raft {
    config: Config,
    rng: Rng,
    outputs: VecDeque<Output>,
}

impl Raft {
    /// Starts from what the disk holds. The first outputs are ready at once.
    ///
    /// # Errors
    /// If the disk's content does not allow to take part safely.
    pub fn new(config: Config, boot: Boot, rng: Rng, now: MonoTime) -> Result<Raft, BootError> {
        let _ = (boot, now);
        Ok(Raft {
            config,
            rng,
            outputs: VecDeque::new(),
        })
    }

    /// Takes in what happened. Take all outputs before the next call.
    pub fn handle(&mut self, now: MonoTime, input: Input) {
        let _ = (now, input, &self.rng, &self.config);
    }

    /// Appends the leader's own records: compare-and-append. The batches must be contiguous from
    /// `base`, of the leader's `epoch`, and hold data; the driver keeps their bytes until the
    /// [`DiskOp::Append`](crate::DiskOp::Append) from [`Source::Local`](crate::Source::Local) that
    /// comes out. Appended does not mean committed.
    ///
    /// # Errors
    /// Nothing was appended; see [`AppendError`].
    pub fn append(
        &mut self,
        now: MonoTime,
        epoch: Epoch,
        base: Offset,
        batches: &[Batch],
    ) -> Result<(), AppendError> {
        let _ = (now, epoch, base, batches);
        Err(AppendError::NotLeader)
    }

    /// The next thing to do.
    pub fn poll(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    /// When [`Input::Tick`] is due; the earliest moment at which something happens by itself.
    pub fn deadline(&self) -> Option<MonoTime> {
        None
    }

    /// The highest epoch seen.
    pub fn epoch(&self) -> Epoch {
        todo!()
    }

    /// The leader of that epoch, if known. A leader that resigned still counts as one.
    pub fn leader(&self) -> Option<NodeId> {
        todo!()
    }

    /// Where the leader listens, as far as known.
    pub fn leader_endpoints(&self) -> Vec<Endpoint> {
        todo!()
    }

    /// The state this node is in.
    pub fn role(&self) -> RoleName {
        todo!()
    }

    /// Whether the replica is in the voter set in force.
    pub fn is_voter(&self) -> bool {
        todo!()
    }

    /// The first offset of the log.
    pub fn log_start(&self) -> Offset {
        todo!()
    }

    /// The end of the log, durable or not.
    pub fn log_end(&self) -> Offset {
        todo!()
    }

    /// The end of the log and the epoch of its last record.
    pub fn last(&self) -> OffsetAndEpoch {
        todo!()
    }

    /// How much of the log is durable here.
    pub fn durable_end(&self) -> Offset {
        todo!()
    }

    /// Everything before it is committed and durable here; `None` until known.
    pub fn high_watermark(&self) -> Option<Offset> {
        todo!()
    }

    /// The voter set in force: the last in the log, committed or not.
    pub fn voters(&self) -> &VoterSet {
        todo!()
    }

    /// The `kraft.version` in force.
    pub fn kraft_version(&self) -> KRaftVersion {
        todo!()
    }

    /// The last disk operation that was asked for.
    pub fn last_disk_seq(&self) -> DiskSeq {
        todo!()
    }

    /// The quorum as seen from here, as DescribeQuorum answers it.
    pub fn describe(&self, now: MonoTime) -> rpc::DescribeReply {
        let _ = now;
        todo!()
    }
}
