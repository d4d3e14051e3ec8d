//! A leader on its own, for the tests of a domain: what it decides is committed at once.

use std::time::Duration;

use quorate_types::{MonoTime, Offset, Rng, WallTime};

use crate::config::EngineConfig;
use crate::domain::Domain;
use crate::engine::Engine;
use crate::mailbox::Lane;
use crate::memory::MemoryLog;
use crate::output::{Fault, Output, Refused, Ticket};

/// An active [`Engine`] over a [`MemoryLog`] whose appends commit at once.
///
/// ```
/// # use quorate_engine::{Domain, Draft, Halt, Machine, Solo};
/// # use quorate_types::{MonoTime, Offset};
/// # use std::convert::Infallible;
/// # use std::time::Duration;
/// # struct Ticker;
/// # impl Machine for Ticker {
/// #     type State = u64;
/// #     type Record = u64;
/// #     type Misfit = Infallible;
/// #     fn apply(sum: &mut u64, more: &u64, _: Offset) -> Result<(), Infallible> {
/// #         *sum += more;
/// #         Ok(())
/// #     }
/// # }
/// # impl Domain for Ticker {
/// #     type Command = u64;
/// #     type Reply = u64;
/// #     type Soft = MonoTime;
/// #     type Task = ();
/// #     fn claim(&self, _: &u64, now: MonoTime) -> MonoTime { now }
/// #     fn decide(&self, draft: &mut Draft<'_, Self>, more: &u64) -> Result<u64, Halt> {
/// #         draft.push(*more)?;
/// #         Ok(*draft.state())
/// #     }
/// #     fn tasks(&self) -> Vec<((), Duration)> { vec![((), Duration::from_secs(1))] }
/// #     fn run(&self, draft: &mut Draft<'_, Self>, _: ()) -> Result<Option<Duration>, Halt> {
/// #         draft.push(1)?;
/// #         Ok(Some(Duration::from_secs(1)))
/// #     }
/// # }
/// // `Ticker` adds up its commands, and one more each second.
/// let mut solo = Solo::new(Ticker, 7);
/// assert_eq!(solo.decide(10), Ok(10));
/// solo.sleep(Duration::from_secs(3));
/// assert_eq!(*solo.state(), 13);
/// assert_eq!(solo.records_from(Offset(3)), [(Offset(3), 1), (Offset(4), 1)]);
///
/// solo.fail_over(); // the state stays, what only the leader knew is claimed anew
/// assert_eq!((*solo.state(), *solo.soft()), (13, solo.now()));
/// ```
pub struct Solo<D: Domain> {
    engine: Engine<D>,
    log: MemoryLog<D::Record>,
    now: MonoTime,
    wall: WallTime,
    tickets: u64,
    faults: Vec<Fault<D::Misfit>>,
}

impl<D: Domain> Solo<D> {
    /// Elects the domain over an empty log and lets it make its opening decision.
    ///
    /// Time starts at an hour, so that there is some before it.
    pub fn new(domain: D, seed: u64) -> Solo<D> {
        let mut solo = Solo {
            engine: Engine::new(domain, Rng::new(seed), EngineConfig::default()),
            log: MemoryLog::new(),
            now: MonoTime::ZERO + Duration::from_secs(3600),
            wall: WallTime(1_700_000_000_000),
            tickets: 0,
            faults: Vec::new(),
        };
        solo.elect();
        solo
    }

    /// Decides a command and returns its reply.
    ///
    /// # Errors
    /// When the engine refused it.
    pub fn decide(&mut self, command: D::Command) -> Result<D::Reply, Refused> {
        self.tickets += 1;
        let mine = Ticket(self.tickets);
        self.engine.submit(mine, Lane::Admin, command, None);
        let mut reply = self.turn(mine);
        // A transaction that is still open holds its replies back for as long.
        reply.take().unwrap_or(Err(Refused::OutcomeUnknown))
    }

    /// Lets time pass, both kinds of it, and the tasks run that are due by then, each in its time.
    pub fn sleep(&mut self, time: Duration) {
        let until = self.now + time;
        while let Some(due) = self.engine.deadline().filter(|due| *due <= until) {
            self.pass(due.max(self.now));
            self.turn(Ticket(0));
        }
        self.pass(until);
    }

    /// Elects the same node again, with a new soft state, as if another had led in between.
    pub fn fail_over(&mut self) {
        self.engine.not_leader();
        self.log.depose();
        self.elect();
    }

    /// The records from `from` on, each with its offset.
    pub fn records_from(&self, from: Offset) -> Vec<(Offset, D::Record)> {
        let mut records = Vec::new();
        for batch in self.log.read(Offset::ZERO, self.log.end()) {
            let offsets = (batch.base.0..).map(Offset);
            records.extend(offsets.zip(batch.records));
        }
        records.retain(|(at, _)| *at >= from);
        records
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
        self.engine.soft().expect("the engine leads")
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

    fn elect(&mut self) {
        let (epoch, start) = self.log.elect();
        let from = self.engine.reads_from().unwrap_or(self.log.end());
        self.engine.committed(&self.log.read(from, self.log.end()));
        self.engine.leader(epoch, start);
        self.turn(Ticket(0));
    }

    /// Turns until nothing waits, commits, and returns the reply to `mine` if there was one.
    fn turn(&mut self, mine: Ticket) -> Option<Result<D::Reply, Refused>> {
        let mut reply = None;
        self.log.wall = self.wall;
        loop {
            self.engine.turn(self.now, self.wall, &mut self.log);
            self.engine.high_watermark(self.log.end());
            while let Some(output) = self.engine.poll() {
                match output {
                    Output::Reply { ticket, result } if ticket == mine => reply = Some(result),
                    Output::Fault(fault) => self.faults.push(fault),
                    _ => {}
                }
            }
            if self.engine.deadline() != Some(MonoTime::ZERO) {
                return reply;
            }
        }
    }

    fn pass(&mut self, now: MonoTime) {
        let passed = now.since(self.now).as_millis();
        self.wall.0 += i64::try_from(passed).unwrap_or(0);
        self.now = now;
    }
}
