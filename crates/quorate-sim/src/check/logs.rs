//! Law: what a node's disk reported as durable is there again after any crash.
//!
//! Keeps every node's log as its disk jobs describe it, and how far that is durable.

use std::collections::{BTreeMap, VecDeque};

use quorate_raft::DiskSeq;
use quorate_server::disk::{DiskDone, DiskJob, DiskOp};
use quorate_types::{NodeId, Offset};

use super::committed::Committed;
use crate::machine::Started;
use crate::shadow::ShadowLog;
use crate::violation::{Verdict, Violation};

/// One node's log.
#[derive(Debug, Default)]
pub(super) struct NodeLog {
    /// What the node asked its disk for.
    pub(super) log: ShadowLog,
    /// How much of it the disk reported, at least.
    pub(super) durable_end: Offset,
    /// Where the log ends after writes that are not reported yet.
    pending: VecDeque<(DiskSeq, Offset)>,
}

/// The logs of all nodes that ever ran.
#[derive(Debug)]
pub(super) struct Logs {
    controllers: Vec<NodeId>,
    nodes: BTreeMap<NodeId, NodeLog>,
}

impl Logs {
    /// No logs yet. Nodes other than these controllers may report before they sync.
    pub(super) fn new(controllers: &[NodeId]) -> Logs {
        Logs {
            controllers: controllers.to_vec(),
            nodes: BTreeMap::new(),
        }
    }

    /// A node found that on its disk.
    pub(super) fn started(
        &mut self,
        id: NodeId,
        found: &Started,
        committed: &Committed,
    ) -> Verdict {
        let lost = |detail| Err(Violation::new("what was synced is found again", detail));
        let start = found.recovered.log_start;
        let Some(before) = committed.chain_at(start) else {
            return lost(format!(
                "the log of {id} starts at {start}, where nothing is committed"
            ));
        };
        let mut log = ShadowLog::starting_at(start, before);
        for batch in &found.batches {
            log.push(batch).map_err(|problem| {
                Violation::new("logs have no holes", format!("{id}: {problem}"))
            })?;
        }
        let node = self.nodes.entry(id).or_default();
        let durable = node.durable_end;
        let covered = log.start() > durable || node.log.chain_at(durable) == log.chain_at(durable);
        if !covered || log.end() != found.recovered.end {
            let difference = node.log.first_difference(&log);
            return lost(format!(
                "{id} had all up to {durable} on its disk: {difference}"
            ));
        }
        *node = NodeLog {
            durable_end: log.end(),
            log,
            pending: VecDeque::new(),
        };
        Ok(())
    }

    /// A node gave out a job; `cut` judges a truncation before it is made.
    pub(super) fn job(
        &mut self,
        id: NodeId,
        job: &DiskJob,
        cut: impl FnOnce(&ShadowLog, Offset) -> Verdict,
    ) -> Verdict {
        let DiskJob::Write { seq, op } = job else {
            return Ok(());
        };
        let Some(node) = self.nodes.get_mut(&id) else {
            return Ok(());
        };
        match op {
            DiskOp::Append { batches } => {
                for batch in batches {
                    node.log.push(batch).map_err(|problem| {
                        Violation::new("logs have no holes", format!("{id}: {problem}"))
                    })?;
                }
                node.pending.push_back((*seq, node.log.end()));
            }
            DiskOp::Truncate { end } => {
                cut(&node.log, *end)?;
                node.log.truncate(*end);
                let end = node.log.end();
                node.durable_end = node.durable_end.min(end);
                node.pending
                    .iter_mut()
                    .for_each(|(_, pending)| *pending = end.min(*pending));
            }
            _ => {}
        }
        Ok(())
    }

    /// A node's disk reports.
    pub(super) fn done(&mut self, id: NodeId, done: &DiskDone, committed: &Committed) {
        let votes = self.controllers.contains(&id);
        let Some(node) = self.nodes.get_mut(&id) else {
            return;
        };
        match done {
            DiskDone::Durable { upto } if votes => {
                while let Some((seq, end)) = node.pending.front() {
                    if seq > upto {
                        break;
                    }
                    node.durable_end = node.durable_end.max(*end);
                    node.pending.pop_front();
                }
            }
            DiskDone::Installed { id, .. } => {
                node.log = committed.log_before(id.offset);
                node.durable_end = id.offset;
                node.pending.clear();
            }
            _ => {}
        }
    }

    /// A node's log.
    pub(super) fn of(&self, id: NodeId) -> Option<&ShadowLog> {
        self.nodes.get(&id).map(|node| &node.log)
    }

    /// How many of these nodes have that prefix of the log on their disks.
    pub(super) fn holders(&self, ids: &[NodeId], end: Offset, chain: u64) -> usize {
        let holds = |id: &&NodeId| {
            self.nodes.get(id).is_some_and(|node| {
                let same = node.log.chain_at(end) == Some(chain);
                node.log.start() > end || (node.durable_end >= end && same)
            })
        };
        ids.iter().filter(holds).count()
    }
}
