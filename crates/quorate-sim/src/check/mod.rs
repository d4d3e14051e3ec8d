//! The laws that every run must keep, and what must be remembered to judge them.
//!
//! Each module is one law. They look at what comes out of nodes (disk jobs, published images,
//! answers to clients), not at what nodes believe, except for role and high watermark.

mod acknowledged;
mod committed;
mod images;
mod logs;
mod one_leader;
mod one_vote;
mod promised;
mod settled;
mod shown;
mod watermark;

use std::collections::BTreeMap;

use bytes::Bytes;
use quorate_raft::RoleName;
use quorate_server::disk::{DiskDone, DiskJob, DiskOp};
use quorate_server::io::Published;
use quorate_server::quorum::Quorum;
use quorate_types::{Epoch, NodeId, Offset};

use self::acknowledged::Acknowledged;
use self::committed::Committed;
use self::images::Images;
use self::logs::Logs;
use self::one_leader::OneLeader;
use self::one_vote::OneVote;
use self::promised::Promised;
pub use self::settled::Unsettled;
use self::shown::Shown;
use self::watermark::Watermarks;
use crate::client::Fact;
use crate::machine::Started;
use crate::net::LinkId;
use crate::violation::Verdict;

/// All laws of a run.
#[derive(Debug)]
pub struct Checks {
    logs: Logs,
    leaders: OneLeader,
    actives: OneLeader,
    /// The epoch that each node led when it last came to rest.
    leading: BTreeMap<NodeId, Option<Epoch>>,
    votes: OneVote,
    promised: Promised,
    committed: Committed,
    watermarks: Watermarks,
    images: Images,
    acknowledged: Acknowledged,
    shown: Shown,
}

impl Checks {
    /// The laws for these controllers.
    pub fn new(controllers: &[NodeId]) -> Checks {
        Checks {
            logs: Logs::new(controllers),
            leaders: OneLeader::new("leader"),
            actives: OneLeader::new("active controller"),
            leading: BTreeMap::new(),
            votes: OneVote::default(),
            promised: Promised::default(),
            committed: Committed::new(),
            watermarks: Watermarks::default(),
            images: Images::default(),
            acknowledged: Acknowledged::default(),
            shown: Shown::default(),
        }
    }

    /// A node started and found that log on its disk.
    pub fn started(&mut self, id: NodeId, found: &Started) -> Verdict {
        self.watermarks.started(id);
        self.images.started(id);
        self.votes.started(id);
        self.shown.started(id);
        self.leading.remove(&id);
        self.logs.started(id, found, &self.committed)
    }

    /// A node gave out a disk job.
    pub fn job(&mut self, id: NodeId, job: &DiskJob) -> Verdict {
        if let DiskJob::Write {
            seq,
            op: DiskOp::SaveElection { state, .. },
        } = job
        {
            self.votes.saves(id, *seq, state);
        }
        let known = self.watermarks.highest(id);
        self.logs.job(id, job, |log, cut| {
            committed::keeps_committed(&self.committed, id, log, cut..known)
        })
    }

    /// A node's disk reports.
    pub fn disk_done(&mut self, id: NodeId, done: &DiskDone) -> Verdict {
        self.logs.done(id, done, &self.committed);
        match done {
            DiskDone::Durable { upto } => self.votes.durable(id, *upto),
            _ => Ok(()),
        }
    }

    /// A frame leaves a node over a connection: a request, or the answer to one.
    pub fn sent(&mut self, id: NodeId, link: LinkId, asks: bool, frame: &Bytes) -> Verdict {
        if asks {
            self.promised.asks(link, frame);
            return Ok(());
        }
        self.promised.answers(id, link, frame, &self.votes)
    }

    /// A node came to rest after its inputs; its disk jobs were told before.
    pub fn rested(&mut self, id: NodeId, quorum: &Quorum) -> Verdict {
        let raft = quorum.raft();
        let Some(log) = self.logs.of(id) else {
            return Ok(());
        };
        if raft.role() == RoleName::Leader && self.leaders.leads(raft.epoch(), id)? {
            self.committed.is_in(id, raft.epoch(), log)?;
        }
        let leads = (raft.role() == RoleName::Leader).then_some(raft.epoch());
        let led = std::mem::replace(self.leading.entry(id).or_default(), leads);
        if let Some(high) = raft.high_watermark()
            && self.watermarks.is(id, high)?
        {
            if leads == led {
                committed::own_epoch(id, leads, log, high)?;
            }
            let voters: Vec<NodeId> = raft.voters().ids().collect();
            self.committed.says(id, high, &voters, &self.logs)?;
        }
        Ok(())
    }

    /// A controller says that it is active.
    pub fn active(&mut self, id: NodeId, epoch: Epoch) -> Verdict {
        self.actives.leads(epoch, id).map(|_| ())
    }

    /// A node published metadata.
    pub fn published(&mut self, id: NodeId, published: &Published) -> Verdict {
        self.images.published(id, published, &self.committed)
    }

    /// A client did or learnt something.
    pub fn fact(&mut self, client: NodeId, fact: &Fact) -> Verdict {
        match fact {
            Fact::Asked(op) => self.acknowledged.asked(op),
            Fact::Learnt(op, outcome) => {
                return self
                    .acknowledged
                    .learnt(op, outcome, self.committed.image());
            }
            Fact::Looks(broker) => {
                let end = self.newest(*broker).map(|newest| newest.end);
                self.shown
                    .asked(client, *broker, end.unwrap_or(Offset::ZERO));
            }
            Fact::Saw(broker, view) => {
                return self.shown.answered(client, *broker, view, &self.committed);
            }
            Fact::Voters(_) => {}
        }
        Ok(())
    }

    /// Every expectation of every client, as of what is committed now.
    pub fn everything_acknowledged(&self) -> Verdict {
        self.acknowledged.all(self.committed.image())
    }

    /// What is committed, as metadata.
    pub fn image(&self) -> &quorate_metadata::MetadataImage {
        self.committed.image()
    }

    /// Everything before it is committed.
    pub fn committed_end(&self) -> Offset {
        self.committed.end()
    }

    /// What a node published last.
    pub fn newest(&self, id: NodeId) -> Option<&Published> {
        self.images.newest(id)
    }

    /// How many epochs had a leader.
    pub fn epochs_led(&self) -> usize {
        self.leaders.len()
    }

    /// How many changes clients saw done.
    pub fn acknowledged(&self) -> usize {
        self.acknowledged.done()
    }
}
