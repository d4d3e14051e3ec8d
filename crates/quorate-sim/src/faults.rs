//! What goes wrong, drawn from the seed: one fault after the other, and in the end all is mended.

use std::time::Duration;

use quorate_server::io::Input;
use quorate_types::{NodeId, Rng};

use crate::disk::Health;
use crate::machine::{Machine, Power, Role};
use crate::violation::Verdict;
use crate::world::World;

/// How a process comes to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// As by `kill -9`: the files stay, the kernel closes the connections.
    Killed,
    /// The machine's power is cut: what was not synced is gone, nobody is told.
    PowerCut,
}

impl World {
    /// Does something to the cluster.
    pub fn disturb(&mut self) -> Verdict {
        let nodes = self.nodes();
        let id = nodes[self.rng.index(nodes.len())];
        let other = nodes[self.rng.index(nodes.len())];
        match self.rng.below(24) {
            0..=3 => self.crash(id, End::Killed),
            4 | 5 => self.crash(id, End::PowerCut),
            6 => self.crash_leader(),
            7 => self.crash_all(),
            8..=10 => return self.start_all(),
            11 => self.shut_down(id)?,
            12 | 13 => self.cut(id, other),
            14 => self.isolate(id),
            15 | 16 => self.heal(),
            17 => self.reset_some(),
            18 => self.disk_health(id),
            19 => self.fail_disk(id),
            20 => {
                let by = self.rng.below(20_000) as i64 - 10_000;
                self.jump_wall(by);
            }
            21 => {
                let slower = 1 + self.rng.below(2) as u32 * self.rng.below(20) as u32;
                self.net.set_slower(slower);
                self.note(None, || format!("the network is {slower} times as slow"));
            }
            22 => self.cut_leader_off(),
            _ => {}
        }
        if self.net.has_cuts() && self.rng.one_in(4) {
            self.heal();
        }
        if self.rng.one_in(2) {
            self.restart_one()
        } else {
            Ok(())
        }
    }

    /// Ends all faults and starts everything.
    pub fn mend(&mut self) -> Verdict {
        self.note(None, || "all is mended");
        self.net.set_slower(1);
        self.heal();
        for machine in self.machines.values_mut() {
            if let Some(process) = &mut machine.process {
                process.calm();
            }
        }
        for id in self.nodes() {
            self.mend_disk(id);
        }
        self.start_all()
    }

    /// The machines that can suffer: controllers and brokers.
    fn nodes(&self) -> Vec<NodeId> {
        let nodes = self
            .machines
            .values()
            .filter(|machine| machine.role != Role::Client);
        nodes.map(|machine| machine.id).collect()
    }

    fn start_all(&mut self) -> Verdict {
        for id in self.nodes() {
            self.restart(id)?;
        }
        Ok(())
    }

    fn restart_one(&mut self) -> Verdict {
        let down: Vec<NodeId> = self
            .nodes()
            .into_iter()
            .filter(|id| self.machines[id].process.is_none())
            .collect();
        if down.is_empty() {
            return Ok(());
        }
        let index = self.rng.index(down.len());
        self.restart(down[index])
    }

    /// Starts a node that does not run. One whose disk failed gets it mended, and boots anew.
    fn restart(&mut self, id: NodeId) -> Verdict {
        let Some(machine) = self.machines.get_mut(&id) else {
            return Ok(());
        };
        if machine.process.is_some() {
            return Ok(());
        }
        if machine.disk.is_ill() {
            machine.disk.cut_power(&mut self.rng);
        }
        self.start(id)
    }

    fn crash(&mut self, id: NodeId, end: End) {
        let Some(machine) = self.machines.get_mut(&id) else {
            return;
        };
        if machine.process.take().is_none() && end == End::Killed {
            return;
        }
        let life = machine.life;
        match end {
            End::Killed => machine.disk.kill(&mut self.rng),
            End::PowerCut => {
                machine.power = Power::Off;
                machine.disk.cut_power(&mut self.rng);
            }
        }
        self.hang_up(id, life, end == End::Killed);
        self.counts.crashes += 1;
        self.note(Some(id), || match end {
            End::Killed => "is killed",
            End::PowerCut => "loses its power",
        });
    }

    fn crash_leader(&mut self) {
        if let Some(id) = self.active() {
            let end = if self.rng.one_in(2) {
                End::Killed
            } else {
                End::PowerCut
            };
            self.crash(id, end);
        }
    }

    /// Cuts the active controller off from the other controllers alone: it goes on to hear of
    /// clients and brokers, and can commit nothing.
    fn cut_leader_off(&mut self) {
        let Some(id) = self.active() else {
            return;
        };
        for (other, _) in &self.spec.controllers {
            if *other != id {
                self.net.cut(*other, id);
                self.net.cut(id, *other);
            }
        }
        self.counts.cuts += 1;
        self.note(Some(id), || "is cut off from the other controllers");
    }

    fn active(&self) -> Option<NodeId> {
        let active = |machine: &&Machine| {
            let process = machine.process.as_ref();
            process.is_some_and(|process| process.is_active())
        };
        self.machines
            .values()
            .find(active)
            .map(|machine| machine.id)
    }

    fn crash_all(&mut self) {
        let end = if self.rng.one_in(2) {
            End::Killed
        } else {
            End::PowerCut
        };
        for id in self.nodes() {
            if matches!(self.machines[&id].role, Role::Controller(_)) || self.rng.one_in(2) {
                self.crash(id, end);
            }
        }
    }

    fn shut_down(&mut self, id: NodeId) -> Verdict {
        let life = self.machines[&id].life;
        self.input(id, life, Input::Shutdown)
    }

    fn cut(&mut self, one: NodeId, other: NodeId) {
        if one == other {
            return;
        }
        self.net.cut(one, other);
        let both = !self.rng.one_in(4);
        if both {
            self.net.cut(other, one);
        }
        self.counts.cuts += 1;
        let way = if both { "and" } else { "to" };
        self.note(None, || format!("the way from {one} {way} {other} is cut"));
    }

    fn isolate(&mut self, id: NodeId) {
        let others: Vec<NodeId> = self
            .machines
            .keys()
            .copied()
            .filter(|one| *one != id)
            .collect();
        for other in others {
            self.net.cut(id, other);
            self.net.cut(other, id);
        }
        self.counts.cuts += 1;
        self.note(Some(id), || "is cut off");
    }

    fn heal(&mut self) {
        if self.net.has_cuts() {
            self.net.heal(self.now, &mut self.rng, &mut self.queue);
            self.note(None, || "the network is whole again");
        }
    }

    fn reset_some(&mut self) {
        for link in self.net.links() {
            if self.rng.one_in(3) {
                self.net
                    .reset(self.now, &mut self.rng, &mut self.queue, link);
                self.counts.resets += 1;
            }
        }
        self.note(None, || "connections are reset");
    }

    fn disk_health(&mut self, id: NodeId) {
        let health = match self.rng.below(3) {
            0 => Health::Hanging,
            1 => Health::Slow(5 + self.rng.below(200) as u32),
            _ => Health::Good,
        };
        self.counts.slow_disks += u64::from(health != Health::Good);
        self.note(Some(id), || format!("its disk: {health:?}"));
        self.set_health(id, health);
    }

    fn set_health(&mut self, id: NodeId, health: Health) {
        let Some(machine) = self.machines.get_mut(&id) else {
            return;
        };
        if machine.disk.set_health(health) {
            let event = crate::queue::Event::Disk {
                machine: id,
                life: machine.life,
            };
            self.queue.add(self.now + Duration::from_micros(1), event);
        }
    }

    fn fail_disk(&mut self, id: NodeId) {
        let good = self.rng.below(4);
        let full = self.rng.one_in(2).then(|| self.rng.below(400));
        let Some(machine) = self.machines.get_mut(&id) else {
            return;
        };
        match full {
            Some(bytes) => machine.disk.fill_after(bytes),
            None => machine.disk.fail_syncs_after(good),
        }
        self.note(Some(id), || match full {
            Some(bytes) => format!("its disk has {bytes} bytes left"),
            None => format!("its disk fails after {good} syncs"),
        });
    }

    /// A disk that was made ill and has not failed yet gets well; what failed is seen to later.
    fn mend_disk(&mut self, id: NodeId) {
        self.set_health(id, Health::Good);
        if let Some(machine) = self.machines.get_mut(&id)
            && machine.process.is_some()
            && !machine.write_failed
        {
            machine.disk.mend();
        }
    }
}

/// How long the cluster is left alone between two faults.
pub(crate) fn pause(rng: &mut Rng) -> Duration {
    let most = [30, 150, 600, 2_000][rng.index(4)];
    Duration::from_millis(1 + rng.below(most))
}
