//! An engine of the lease service over a log that does what a test wants.

use crate::lease::{Command, LeaseService, Misfit, Record, Reply};
use quorate_engine::{
    AppendError, Engine, EngineConfig, Lane, Log, MemoryLog, Output, Refused, Ticket,
};
use quorate_types::{Epoch, MonoTime, Offset, Rng, WallTime};

pub type Said = Output<Reply, Misfit>;

/// A log that counts appends and does what it is told before the next ones.
#[derive(Default)]
pub struct Gauge {
    pub log: MemoryLog<Record>,
    pub appends: usize,
    pub full: bool,
    /// After so many more appends another one leads.
    pub lead_for: Option<usize>,
    /// There is room for so many more appends.
    pub room_for: Option<usize>,
    /// Control batches that slip in before the next append.
    pub slip_in: usize,
}

impl Log<Record> for Gauge {
    fn append(
        &mut self,
        epoch: Epoch,
        base: Offset,
        batches: &[Vec<Record>],
    ) -> Result<(), AppendError> {
        while self.slip_in > 0 {
            self.slip_in -= 1;
            self.log.append_control();
        }
        if self.full || self.room_for == Some(0) {
            return Err(AppendError::Full);
        }
        if self.lead_for == Some(0) {
            self.log.depose();
        }
        self.log.append(epoch, base, batches)?;
        self.appends += 1;
        self.lead_for = self.lead_for.map(|appends| appends - 1);
        self.room_for = self.room_for.map(|appends| appends - 1);
        Ok(())
    }

    fn resign(&mut self, epoch: Epoch) {
        self.log.resign(epoch);
    }
}

pub struct Rig {
    pub engine: Engine<LeaseService>,
    pub gauge: Gauge,
    pub now: MonoTime,
    tickets: u64,
}

impl Rig {
    /// An active leader of epoch 1 whose opening is committed.
    pub fn active() -> Rig {
        Rig::with(EngineConfig::default())
    }

    pub fn with(config: EngineConfig) -> Rig {
        let mut rig = Rig {
            engine: Engine::new(LeaseService, Rng::new(1), config),
            gauge: Gauge::default(),
            now: MonoTime(1_000_000),
            tickets: 0,
        };
        rig.elect();
        rig.turn();
        rig.commit();
        rig.said();
        rig
    }

    pub fn elect(&mut self) {
        let (epoch, start) = self.gauge.log.elect();
        self.engine.leader(epoch, start);
    }

    pub fn submit(&mut self, command: Command) -> Ticket {
        self.submit_in(Lane::Admin, command)
    }

    pub fn submit_in(&mut self, lane: Lane, command: Command) -> Ticket {
        self.tickets += 1;
        let ticket = Ticket(self.tickets);
        self.engine.submit(ticket, lane, command, None);
        ticket
    }

    pub fn turn(&mut self) {
        let wall = WallTime(self.now.0 as i64);
        self.engine.turn(self.now, wall, &mut self.gauge);
    }

    pub fn commit(&mut self) {
        self.engine.high_watermark(self.gauge.log.end());
    }

    pub fn said(&mut self) -> Vec<Said> {
        std::iter::from_fn(|| self.engine.poll()).collect()
    }

    /// The batches since `from`, control batches left out.
    pub fn appended(&self, from: Offset) -> Vec<Vec<Record>> {
        let batches = self.gauge.log.read(from, self.gauge.log.end());
        let records = batches.into_iter().map(|batch| batch.records);
        records.filter(|records| !records.is_empty()).collect()
    }

    pub fn end(&self) -> Offset {
        self.gauge.log.end()
    }
}

pub fn acquire(name: &str, owner: u32) -> Command {
    Command::Acquire {
        name: name.to_string(),
        owner,
    }
}

pub fn acquire_all(count: u32, owner: u32, atomic: bool) -> Command {
    Command::AcquireAll {
        names: (0..count).map(|n| format!("{owner}-{n}")).collect(),
        owner,
        atomic,
    }
}

pub fn look(name: &str) -> Command {
    Command::Look {
        name: name.to_string(),
    }
}

pub fn granted(name: &str, owner: u32) -> Record {
    Record::Granted {
        name: name.to_string(),
        owner,
    }
}

pub fn ok(ticket: Ticket, reply: Reply) -> Said {
    Output::Reply {
        ticket,
        result: Ok(reply),
    }
}

pub fn refused(ticket: Ticket, refused: Refused) -> Said {
    Output::Reply {
        ticket,
        result: Err(refused),
    }
}

pub fn stable(end: i64) -> Said {
    Output::Stable { end: Offset(end) }
}
