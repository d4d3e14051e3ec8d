//! The queue of disk operations, and the outputs that wait for it: the place where the core
//! withholds.

use std::collections::{BTreeMap, VecDeque};

use quorate_types::MonoTime;

use crate::{DiskOp, DiskSeq, Output};

/// Numbers disk operations and holds outputs back until those they depend on are durable.
#[derive(Debug, Default)]
pub(crate) struct DiskQueue {
    issued: DiskSeq,
    durable: DiskSeq,
    /// Operations under way, and when they were asked for.
    pending: VecDeque<(DiskSeq, MonoTime)>,
    /// The last operation that saved the election state.
    saved: DiskSeq,
    held: BTreeMap<DiskSeq, Vec<Output>>,
}

impl DiskQueue {
    /// Gives the operation its place in the queue.
    pub(crate) fn issue(&mut self, now: MonoTime, op: DiskOp) -> (DiskSeq, Output) {
        self.issued = DiskSeq(self.issued.0 + 1);
        self.pending.push_back((self.issued, now));
        if matches!(op, DiskOp::SaveElection(_)) {
            self.saved = self.issued;
        }
        let seq = self.issued;
        (seq, Output::Disk { seq, op })
    }

    /// Keeps an output until the election state as it is now is durable; gives it back if it is.
    pub(crate) fn hold(&mut self, output: Output) -> Option<Output> {
        if self.election_durable() {
            return Some(output);
        }
        self.held.entry(self.saved).or_default().push(output);
        None
    }

    /// Notes progress; returns the outputs that waited for it, in order.
    pub(crate) fn durable(&mut self, upto: DiskSeq) -> Vec<Output> {
        self.durable = self.durable.max(upto.min(self.issued));
        while self
            .pending
            .front()
            .is_some_and(|(seq, _)| *seq <= self.durable)
        {
            self.pending.pop_front();
        }
        let later = self.held.split_off(&DiskSeq(self.durable.0 + 1));
        std::mem::replace(&mut self.held, later)
            .into_values()
            .flatten()
            .collect()
    }

    /// Forgets what is held; nothing becomes durable any more.
    pub(crate) fn fail(&mut self) {
        self.held.clear();
        self.pending.clear();
    }

    /// Whether the election state as it is now is durable.
    pub(crate) fn election_durable(&self) -> bool {
        self.saved <= self.durable
    }

    /// Whether that operation is durable.
    pub(crate) fn is_durable(&self, seq: DiskSeq) -> bool {
        seq <= self.durable
    }

    /// Since when the disk has been busy without finishing anything.
    pub(crate) fn busy_since(&self) -> Option<MonoTime> {
        self.pending.front().map(|(_, since)| *since)
    }

    pub(crate) fn issued(&self) -> DiskSeq {
        self.issued
    }
}
