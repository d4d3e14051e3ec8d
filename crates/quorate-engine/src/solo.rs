//! A leader on its own, for the tests of a domain: what it decides is committed at once.

use std::time::Duration;

use quorate_types::{MonoTime, Offset, WallTime};

use crate::domain::Domain;
use crate::engine::Engine;
use crate::memory::MemoryLog;
use crate::output::{Fault, Refused};

/// An active [`Engine`] over a [`MemoryLog`] whose appends commit at once.
pub struct Solo<D: Domain> {
    engine: Engine<D>,
    log: MemoryLog<D::Record>,
    now: MonoTime,
    wall: WallTime,
    faults: Vec<Fault<D::Misfit>>,
}

impl<D: Domain> Solo<D> {
    /// Elects the domain over an empty log and lets it make its opening decision.
    pub fn new(domain: D, seed: u64) -> Solo<D> {
        let _ = (domain, seed);
        todo!()
    }

    /// Decides a command and returns its reply.
    ///
    /// # Errors
    /// When the engine refused it.
    pub fn decide(&mut self, command: D::Command) -> Result<D::Reply, Refused> {
        let _ = command;
        todo!()
    }

    /// Lets time pass, both kinds of it, and the tasks run that are due by then, each in its time.
    pub fn sleep(&mut self, time: Duration) {
        let _ = time;
        todo!()
    }

    /// Elects the same node again, with a new soft state, as if another had led in between.
    pub fn fail_over(&mut self) {
        todo!()
    }

    /// The records from `from` on, each with its offset.
    pub fn records_from(&self, from: Offset) -> Vec<(Offset, D::Record)> {
        let batches = self.log.read(from, self.log.end());
        let records = |batch: crate::Batch<D::Record>| {
            let base = batch.base;
            let at = move |(index, record)| (base + index as i64, record);
            batch.records.into_iter().enumerate().map(at)
        };
        batches.into_iter().flat_map(records).collect()
    }

    /// The offset after the last record.
    pub fn end(&self) -> Offset {
        self.log.end()
    }

    /// The state after every decision so far.
    pub fn state(&self) -> &D::State {
        self.engine.state()
    }

    /// The leader's soft state.
    ///
    /// # Panics
    /// When a fault has cost it the leadership.
    pub fn soft(&self) -> &D::Soft {
        self.engine.soft().expect("the engine is active")
    }

    /// The time.
    pub fn now(&self) -> MonoTime {
        self.now
    }

    /// The time, for people.
    pub fn wall(&self) -> WallTime {
        self.wall
    }

    /// The faults so far.
    pub fn faults(&self) -> &[Fault<D::Misfit>] {
        &self.faults
    }

    /// The log below.
    pub fn log(&self) -> &MemoryLog<D::Record> {
        &self.log
    }
}
