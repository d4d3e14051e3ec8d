//! A machine's disk and the thread that works on it.
//!
//! The files are a [`MemVfs`], which forgets what was not synced. The worker is the one that the
//! runtime uses; here its rounds take virtual time: what is asked for while a round runs waits for
//! the next one, and a round that a crash cuts short may have done any part of its work.

use std::time::Duration;

use quorate_server::disk::{DiskDone, DiskJob, DiskWorker};
use quorate_storage::vfs::{Crash, MemVfs};
use quorate_types::Rng;

/// How a disk does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Health {
    /// As it should.
    Good,
    /// Everything takes that many times as long.
    Slow(u32),
    /// Nothing ends.
    Hanging,
}

/// One machine's disk.
#[derive(Debug)]
pub struct SimDisk {
    vfs: MemVfs,
    worker: Option<DiskWorker>,
    waiting: Vec<DiskJob>,
    running: Option<Vec<DiskJob>>,
    health: Health,
    /// Whether a round was due while the disk hung.
    overdue: bool,
    /// Whether somebody will come to settle it.
    quiet_planned: bool,
    /// Whether something was done to it that only a mended disk does not have.
    ill: bool,
}

impl SimDisk {
    /// An empty disk in good health.
    pub fn new() -> SimDisk {
        SimDisk {
            vfs: MemVfs::new(),
            worker: None,
            waiting: Vec::new(),
            running: None,
            health: Health::Good,
            overdue: false,
            quiet_planned: false,
            ill: false,
        }
    }

    /// The files.
    pub fn vfs(&self) -> &MemVfs {
        &self.vfs
    }

    /// How it does.
    pub fn health(&self) -> Health {
        self.health
    }

    /// Whether its writes or syncs were made to fail.
    pub fn is_ill(&self) -> bool {
        self.ill
    }

    /// A process opened its log.
    pub fn attach(&mut self, worker: DiskWorker) {
        self.worker = Some(worker);
    }

    /// Takes a job; says whether a round is to be started for it.
    pub fn submit(&mut self, job: DiskJob) -> bool {
        self.waiting.push(job);
        self.start()
    }

    /// Starts a round if one can start; its end is due after [`SimDisk::latency`].
    pub fn start(&mut self) -> bool {
        if self.running.is_some() || self.waiting.is_empty() {
            return false;
        }
        self.running = Some(std::mem::take(&mut self.waiting));
        true
    }

    /// How long a round takes.
    pub fn latency(&self, rng: &mut Rng, (from, to): (Duration, Duration)) -> Duration {
        let usual = rng.duration(from, to);
        match self.health {
            Health::Slow(times) => usual * times,
            Health::Good | Health::Hanging => usual,
        }
    }

    /// A round is due: what came of it, or nothing if the disk hangs.
    pub fn finish(&mut self) -> Option<Vec<DiskDone>> {
        if self.health == Health::Hanging {
            self.overdue = true;
            return None;
        }
        let jobs = self.running.take()?;
        Some(self.worker.as_mut()?.run(jobs))
    }

    /// Whether something was reported that is not synced and is to be synced once it is quiet; says
    /// so once for each time.
    pub fn wants_quiet(&mut self) -> bool {
        let unsettled = self.worker.as_ref().is_some_and(DiskWorker::is_unsettled);
        unsettled && self.running.is_none() && !std::mem::replace(&mut self.quiet_planned, true)
    }

    /// It may be quiet now: what came of syncing, if it is.
    pub fn settle(&mut self) -> Option<DiskDone> {
        self.quiet_planned = false;
        if self.running.is_some() || self.health == Health::Hanging {
            return None;
        }
        self.worker.as_mut()?.settle()
    }

    /// Changes its health; says whether a round that hung is due now.
    pub fn set_health(&mut self, health: Health) -> bool {
        self.health = health;
        health != Health::Hanging && std::mem::take(&mut self.overdue)
    }

    /// Lets the next syncs fail, after a few good ones.
    pub fn fail_syncs_after(&mut self, good: u64) {
        self.ill = true;
        self.vfs.fail_syncs(good, u64::MAX);
    }

    /// Lets the disk be full after so many bytes.
    pub fn fill_after(&mut self, bytes: u64) {
        self.ill = true;
        self.vfs.set_space_left(Some(bytes));
    }

    /// Works off everything and closes the files, as an orderly end does.
    pub fn close(&mut self) {
        let mut jobs = self.running.take().unwrap_or_default();
        jobs.append(&mut self.waiting);
        if let Some(mut worker) = self.worker.take() {
            worker.run(jobs);
            // What cannot be closed in good order is checked at the next start.
            let _ = worker.close();
        }
        self.forget();
    }

    /// The process is killed: its files stay as they are, perhaps with the round's work done.
    pub fn kill(&mut self, rng: &mut Rng) {
        if let (Some(worker), Some(jobs)) = (&mut self.worker, self.running.take())
            && rng.one_in(2)
            && self.health != Health::Hanging
        {
            worker.run(jobs);
        }
        self.forget();
    }

    /// The power is cut in the middle of a round; afterwards the disk is in good health.
    pub fn cut_power(&mut self, rng: &mut Rng) {
        if let (Some(worker), Some(jobs)) = (&mut self.worker, self.running.take()) {
            match rng.below(4) {
                0 => {}
                1 => self.vfs.fail_syncs(rng.below(3), u64::MAX),
                // The writes up to some byte are in the cache, none of them synced.
                _ => self.vfs.set_space_left(Some(rng.below(600))),
            }
            worker.run(jobs);
        }
        self.forget();
        self.vfs.crash(Crash::Torn(rng));
        self.mend();
    }

    /// Makes writes and syncs succeed again, for the next process.
    pub fn mend(&mut self) {
        self.vfs.set_space_left(None);
        self.vfs.fail_syncs(0, 0);
        self.ill = false;
        self.health = Health::Good;
        self.overdue = false;
    }

    fn forget(&mut self) {
        self.worker = None;
        self.running = None;
        self.waiting.clear();
        self.overdue = false;
        self.quiet_planned = false;
    }
}

impl Default for SimDisk {
    fn default() -> SimDisk {
        SimDisk::new()
    }
}
