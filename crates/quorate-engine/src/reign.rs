//! What a node has only while it leads: a state that runs ahead of what is committed, the versions
//! in between, the soft state and the tasks.
//!
//! Invariants:
//! - `work` ends where the last version ends, or beyond it by what the log wrote for itself.
//! - Versions are kept one a turn, from the oldest that is not committed on.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use quorate_types::{Epoch, MonoTime, Offset, WallTime};

use crate::domain::Domain;
use crate::replica::Replica;

/// For how long heartbeats may hold up a task that is due.
const TASK_PATIENCE: Duration = Duration::from_secs(1);

/// The time of a leader in office.
pub(crate) struct Reign<D: Domain> {
    pub epoch: Epoch,
    /// The speculative state: everything decided and appended, and what the present turn adds.
    pub work: Replica<D>,
    pub soft: D::Soft,
    /// Whether the opening decision is in the log.
    pub opened: bool,
    /// The log took no more; to be tried again then, or when something was committed.
    pub blocked_until: Option<MonoTime>,
    versions: VecDeque<Version<D>>,
    /// Where each epoch of this reign starts.
    starts: Vec<(Offset, Epoch)>,
    due: BTreeMap<D::Task, MonoTime>,
    held_up_since: Option<MonoTime>,
}

/// The state after a turn's append.
struct Version<D: Domain> {
    base: Offset,
    replica: Replica<D>,
}

impl<D: Domain> Reign<D> {
    /// A reign on top of everything before `start`, which `replica` holds.
    pub fn new(
        domain: &D,
        epoch: Epoch,
        start: Offset,
        replica: &Replica<D>,
        now: MonoTime,
    ) -> Reign<D> {
        let tasks = domain.tasks().into_iter();
        Reign {
            epoch,
            work: replica.clone(),
            soft: domain.claim(replica.tip(), now),
            opened: false,
            blocked_until: None,
            versions: VecDeque::new(),
            starts: vec![(start, epoch)],
            due: tasks.map(|(task, delay)| (task, now + delay)).collect(),
            held_up_since: None,
        }
    }

    /// The same node leads on in a newer epoch.
    pub fn renew(&mut self, epoch: Epoch, start: Offset) {
        self.epoch = epoch;
        self.starts.push((start, epoch));
    }

    /// Keeps the working state as the version whose records start at `base`.
    pub fn keep_version(&mut self, base: Offset, wall: WallTime) {
        self.work.stamp(self.epoch, wall);
        self.versions.push_back(Version {
            base,
            replica: self.work.clone(),
        });
    }

    /// Brings `committed` to the latest version before `high_watermark`.
    pub fn commit(&mut self, high_watermark: Offset, committed: &mut Replica<D>) {
        let is_committed = |version: &Version<D>| version.replica.end() <= high_watermark;
        while self.versions.front().is_some_and(is_committed) {
            if let Some(version) = self.versions.pop_front() {
                *committed = version.replica;
            }
        }
        // What stands between the versions was written by the log for itself.
        let next = self.versions.front().map(|version| version.base);
        let end = next.map_or(high_watermark, |base| base.min(high_watermark));
        if end > committed.end() {
            committed.skip_to(end, self.epoch_before(end));
        }
        if self.versions.is_empty() && end > self.work.end() {
            self.work.skip_to(end, self.epoch);
        }
    }

    /// Whether something appended is not committed.
    pub fn is_in_flight(&self) -> bool {
        !self.versions.is_empty()
    }

    /// Takes out the task that has been due for longest.
    pub fn take_due(&mut self, now: MonoTime) -> Option<D::Task> {
        let (task, _) = self.earliest().filter(|(_, due)| *due <= now)?;
        self.due.remove(&task);
        self.held_up_since = None;
        Some(task)
    }

    /// Heartbeats hold up the tasks that are due; says whether they did for long enough. What counts
    /// is when they were first seen to, not when the task was due: after a pause of the whole node
    /// the heartbeats that came in meanwhile are to be heard first.
    pub fn is_held_up(&mut self, now: MonoTime) -> bool {
        if self.next_due().is_none_or(|due| due > now) {
            return false;
        }
        let since = *self.held_up_since.get_or_insert(now);
        since + TASK_PATIENCE <= now
    }

    /// Runs a task at `due`.
    pub fn schedule(&mut self, task: D::Task, due: MonoTime) {
        self.due.insert(task, due);
    }

    /// When the next task is due.
    pub fn next_due(&self) -> Option<MonoTime> {
        self.earliest().map(|(_, due)| due)
    }

    fn earliest(&self) -> Option<(D::Task, MonoTime)> {
        let due = self.due.iter().map(|(task, due)| (*task, *due));
        due.min_by_key(|(_, due)| *due)
    }

    /// The epoch of the record before `end`.
    fn epoch_before(&self, end: Offset) -> Epoch {
        let before = |(start, _): &&(Offset, Epoch)| *start < end;
        let start = self.starts.iter().rev().find(before);
        start.map_or(self.epoch, |(_, epoch)| *epoch)
    }
}
