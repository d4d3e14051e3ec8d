//! The world's part in a disk's work: when rounds start, and what becomes of their reports.

use std::time::Duration;

use quorate_server::disk::DiskDone;
use quorate_server::io::{Input, Node};
use quorate_types::NodeId;

use crate::queue::Event;
use crate::violation::Verdict;
use crate::world::World;

/// How long a disk must be quiet before what can wait is synced.
const QUIET: Duration = Duration::from_millis(200);

impl World {
    /// A round of a disk ends.
    pub(crate) fn disk_round(&mut self, id: NodeId, life: u64) -> Verdict {
        let Some(machine) = self.machines.get_mut(&id).filter(|m| m.life == life) else {
            return Ok(());
        };
        let Some(reports) = machine.disk.finish() else {
            return Ok(());
        };
        self.disk_reports(id, reports)?;
        self.disk_starts(id);
        self.drive(id)
    }

    /// A disk may have been quiet for a while.
    pub(crate) fn disk_settles(&mut self, id: NodeId, life: u64) -> Verdict {
        let Some(machine) = self.machines.get_mut(&id).filter(|m| m.life == life) else {
            return Ok(());
        };
        let Some(failed) = machine.disk.settle() else {
            return Ok(());
        };
        self.disk_reports(id, vec![failed])?;
        self.drive(id)
    }

    fn disk_reports(&mut self, id: NodeId, reports: Vec<DiskDone>) -> Verdict {
        let now = self.at();
        for done in reports {
            self.checks.disk_done(id, &done)?;
            let Some(machine) = self.machines.get_mut(&id) else {
                return Ok(());
            };
            let fetched = matches!(done, DiskDone::Installed { .. });
            self.counts.fetched_snapshots += u64::from(fetched);
            if let DiskDone::Failed { error, .. } = &done {
                machine.write_failed = true;
                self.counts.disk_failures += 1;
                self.history
                    .line(self.now, Some(id), || format!("a write failed: {error}"));
            }
            if let Some(process) = &mut machine.process {
                process.handle(now, Input::Disk(done));
            }
        }
        Ok(())
    }

    /// Starts a round of a disk if there is work.
    pub(crate) fn disk_starts(&mut self, id: NodeId) {
        let Some(machine) = self.machines.get_mut(&id) else {
            return;
        };
        let life = machine.life;
        if machine.disk.start() {
            let after = machine.disk.latency(&mut self.rng, self.spec.disk_latency);
            let event = Event::Disk { machine: id, life };
            self.queue.add_after(self.now, after, event);
        } else if machine.disk.wants_quiet() {
            let event = Event::Quiet { machine: id, life };
            self.queue.add_after(self.now, QUIET, event);
        }
    }
}
