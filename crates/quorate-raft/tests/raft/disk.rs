//! A disk that forgets what was not synced.

use std::collections::{BTreeMap, VecDeque};

use quorate_raft::{Batch, Boot, DiskSeq, ElectionState, LogSummary};
use quorate_types::{
    ControlRecord, Epoch, KRaftVersion, MonoTime, Offset, OffsetAndEpoch, Rng, VoterSet,
};

/// A batch and what tells it from every other batch that was ever written.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    pub batch: Batch,
    pub tag: u64,
}

/// A snapshot: what of the log it stands for, so that checks can look through it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Snapshot {
    pub entries: Vec<Entry>,
    pub voters: Option<VoterSet>,
    pub version: KRaftVersion,
}

impl Snapshot {
    /// Ten bytes a batch.
    pub fn size(&self) -> u64 {
        10 * self.entries.len().max(1) as u64
    }
}

/// What is on a disk.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Files {
    pub election: Option<ElectionState>,
    pub start: Offset,
    /// Batches from `start` on.
    pub log: Vec<Entry>,
    pub snapshots: BTreeMap<OffsetAndEpoch, Snapshot>,
    /// The voter set of a `0-0` checkpoint.
    pub formatted: Option<VoterSet>,
}

/// A change to the files.
#[derive(Debug, Clone)]
pub enum Job {
    Election(ElectionState),
    Append(Vec<Entry>),
    Truncate(Offset),
    Install(OffsetAndEpoch, Snapshot),
    Nothing,
}

impl Files {
    pub fn end(&self) -> Offset {
        self.log.last().map_or(self.start, |entry| entry.batch.end)
    }

    pub fn apply(&mut self, job: &Job) {
        match job {
            Job::Election(state) => self.election = Some(*state),
            Job::Append(entries) => {
                for entry in entries {
                    assert_eq!(entry.batch.base, self.end(), "appends are contiguous");
                    self.log.push(entry.clone());
                }
            }
            Job::Truncate(end) => {
                self.log.retain(|entry| entry.batch.base < *end);
                assert_eq!(self.end(), *end, "truncation at a batch boundary");
            }
            Job::Install(id, snapshot) => {
                self.log.clear();
                self.start = id.offset;
                self.snapshots = BTreeMap::from([(*id, snapshot.clone())]);
            }
            Job::Nothing => {}
        }
    }

    /// Whole batches from an offset on.
    pub fn read(&self, from: Offset, upto: Offset, max: usize) -> Vec<Entry> {
        let wanted = |entry: &&Entry| entry.batch.end > from && entry.batch.end <= upto;
        self.log.iter().filter(wanted).take(max).cloned().collect()
    }

    /// All batches since offset 0, those of the snapshot that the log starts with included.
    pub fn all(&self) -> Vec<Entry> {
        let covering = self
            .snapshots
            .iter()
            .rev()
            .find(|(id, _)| id.offset >= self.start);
        let mut all = match covering {
            Some((_, snapshot)) => snapshot.entries.clone(),
            None => Vec::new(),
        };
        let end = all.last().map_or(self.start, |entry| entry.batch.end);
        all.extend(
            self.log
                .iter()
                .filter(|entry| entry.batch.base >= end)
                .cloned(),
        );
        all
    }

    /// What recovery would find.
    pub fn boot(&self, static_voters: Option<VoterSet>) -> Boot {
        let mut epochs: Vec<(Epoch, Offset)> = Vec::new();
        let mut control = Vec::new();
        if let Some(voters) = &self.formatted {
            control.push((
                Offset(-1),
                ControlRecord::KRaftVersion(KRaftVersion::DYNAMIC),
            ));
            control.push((Offset(-1), ControlRecord::Voters(voters.clone())));
        }
        if let Some((id, snapshot)) = self
            .snapshots
            .iter()
            .rev()
            .find(|(id, _)| id.offset >= self.start)
        {
            let at = id.offset - 1;
            control.push((at, ControlRecord::KRaftVersion(snapshot.version)));
            if let Some(voters) = &snapshot.voters {
                control.push((at, ControlRecord::Voters(voters.clone())));
            }
        }
        for Entry { batch, .. } in &self.log {
            if epochs.last().is_none_or(|(epoch, _)| batch.epoch > *epoch) {
                epochs.push((batch.epoch, batch.base));
            }
            for (at, record) in (0..).zip(&batch.control) {
                control.push((batch.base + at, record.clone()));
            }
        }
        control.sort_by_key(|(at, _)| *at);
        let sizes = self.snapshots.iter().map(|(id, file)| (*id, file.size()));
        Boot {
            election: self.election,
            log: LogSummary {
                start: self.start,
                end: self.end(),
                epochs,
                control,
                snapshots: sizes.collect(),
            },
            static_voters,
        }
    }
}

/// How a disk behaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Health {
    Good,
    /// Takes jobs but never finishes one.
    Hanging,
    /// Fails the next job that it is to finish.
    Failing,
}

/// What a disk has to report.
#[derive(Debug, Default)]
pub struct Done {
    pub upto: Option<DiskSeq>,
    pub installed: Option<(OffsetAndEpoch, Snapshot)>,
    pub failed: Option<DiskSeq>,
}

/// A disk with a queue of jobs.
#[derive(Debug, Clone)]
pub struct Disk {
    /// What survives a crash.
    pub durable: Files,
    /// What the process sees.
    pub current: Files,
    pub health: Health,
    queue: VecDeque<(DiskSeq, MonoTime, Job)>,
}

impl Disk {
    pub fn new(files: Files) -> Disk {
        Disk {
            durable: files.clone(),
            current: files,
            health: Health::Good,
            queue: VecDeque::new(),
        }
    }

    /// Queues a job; the process sees its effect at once, but for a snapshot that is installed.
    pub fn submit(&mut self, seq: DiskSeq, done_at: MonoTime, job: Job) {
        if !matches!(job, Job::Install(..)) {
            self.current.apply(&job);
        }
        self.queue.push_back((seq, done_at, job));
    }

    /// Whether a vote, or an epoch, is on its way to the disk.
    pub fn is_voting(&self) -> bool {
        self.queue
            .iter()
            .any(|(_, _, job)| matches!(job, Job::Election(_)))
    }

    /// When the next job is done, if the disk works.
    pub fn next_done(&self) -> Option<MonoTime> {
        let (_, at, _) = self.queue.front()?;
        (self.health != Health::Hanging).then_some(*at)
    }

    /// Finishes what is due.
    pub fn finish(&mut self, now: MonoTime) -> Done {
        let mut done = Done::default();
        while let Some((seq, at, job)) = self.queue.front()
            && *at <= now
        {
            if self.health == Health::Failing {
                done.failed = Some(*seq);
                self.queue.clear();
                break;
            }
            self.durable.apply(job);
            if let Job::Install(id, snapshot) = job {
                self.current.apply(job);
                done.installed = Some((*id, snapshot.clone()));
            }
            done.upto = Some(*seq);
            self.queue.pop_front();
        }
        done
    }

    /// Loses what was not synced, but for some of the jobs in front that made it by luck.
    pub fn crash(&mut self, lucky: Option<&mut Rng>) {
        let survivors = lucky.map_or(0, |rng| rng.index(self.queue.len() + 1));
        for (_, _, job) in self.queue.drain(..).take(survivors) {
            self.durable.apply(&job);
        }
        self.current = self.durable.clone();
        self.health = Health::Good;
    }
}
