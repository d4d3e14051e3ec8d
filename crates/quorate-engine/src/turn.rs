//! One turn of a leader: decide what waits, append it in one go, park the replies.
//!
//! 1. Decide, one after the other, each on the state that the one before it left. One version of the
//!    state is kept for the whole turn; a decision that is not to be is undone by going back to it
//!    and applying the turn's other records again.
//! 2. Append all batches at the offset they were decided for. If the log has moved on in the
//!    meantime, go back to 1 with the same work at the new offset.
//! 3. Follow the records with the soft state, keep the version, park the replies.
//!
//! Nothing is answered before 3, so a decision that was made twice was never seen.

use std::collections::VecDeque;
use std::ops::Range;
use std::time::Duration;

use quorate_types::{MonoTime, Offset, Rng, WallTime};

use crate::config::EngineConfig;
use crate::domain::Domain;
use crate::draft::{Desk, Draft, Halt, Pushed, Stop};
use crate::log::{AppendError, Log};
use crate::machine::{Bracket, Machine};
use crate::mailbox::{Lane, Letter, Mailbox};
use crate::output::{Cause, Fault, Output, Refused, Ticket};
use crate::parked::Parking;
use crate::reign::Reign;
use crate::replica::Replica;

/// How often a turn decides again on a moved log before it lets others go first.
const MOVES_MAX: usize = 8;

/// What a leader's turn works with.
pub(crate) struct Office<'a, D: Domain> {
    pub domain: &'a D,
    pub config: &'a EngineConfig,
    pub rng: &'a mut Rng,
    pub reign: &'a mut Reign<D>,
    pub mailbox: &'a mut Mailbox<D::Command>,
    pub parking: &'a mut Parking<D::Reply>,
    pub outputs: &'a mut VecDeque<Output<D::Reply, D::Misfit>>,
    pub log: &'a mut dyn Log<D::Record>,
    /// What was taken and is to be decided after the present turn; empty in between.
    pub rest: VecDeque<Work<D>>,
    pub now: MonoTime,
    pub wall: WallTime,
}

/// Leading is over: the log said so, or was told so after a fault.
pub(crate) struct Lost;

/// Something to decide.
pub(crate) enum Work<D: Domain> {
    Open,
    Task(D::Task),
    Command(Letter<D::Command>),
}

/// What a decision came to.
enum Answer<R> {
    Opened,
    Again(Option<Duration>),
    Reply(R),
    DryReply(R),
}

/// What the domain answered and what it pushed.
type Asked<D> = (
    Result<Answer<<D as Domain>::Reply>, Halt>,
    Pushed<<D as Machine>::Record, <D as Machine>::Misfit>,
);

/// A decision that waits for the turn's append.
struct Decided<D: Domain> {
    work: Work<D>,
    answer: Answer<D::Reply>,
    /// Which of the turn's batches are its own.
    batches: Range<usize>,
    cut_anywhere: bool,
    end: Offset,
    /// The transaction that is open after it.
    transaction: Option<Offset>,
}

/// The decisions of a turn.
struct Turn<D: Domain> {
    /// The state before the turn.
    start: Replica<D>,
    /// The state after the first `folded` batches, to undo from.
    checkpoint: Replica<D>,
    folded: usize,
    batches: Vec<Vec<D::Record>>,
    records: usize,
    decided: Vec<Decided<D>>,
    /// How many records a batch may have.
    batch_max: usize,
}

impl<D: Domain> Turn<D> {
    fn new(work: &Replica<D>, batch_max: usize) -> Turn<D> {
        Turn {
            start: work.clone(),
            checkpoint: work.clone(),
            folded: 0,
            batches: Vec::new(),
            records: 0,
            decided: Vec::new(),
            batch_max,
        }
    }

    /// Adds a decision's records, one batch or as many as they fill.
    fn add_batches(&mut self, records: Vec<D::Record>, cut_anywhere: bool) -> Range<usize> {
        let first = self.batches.len();
        self.records += records.len();
        if records.len() <= self.batch_max || !cut_anywhere {
            if !records.is_empty() {
                self.batches.push(records);
            }
        } else {
            let full = records.chunks(self.batch_max).map(<[_]>::to_vec);
            self.batches.extend(full);
        }
        first..self.batches.len()
    }

    fn longest_batch(&self) -> usize {
        self.batches.iter().map(Vec::len).max().unwrap_or(0)
    }

    fn into_works(self) -> Vec<Work<D>> {
        self.decided
            .into_iter()
            .map(|decided| decided.work)
            .collect()
    }
}

impl<D: Domain> Office<'_, D> {
    /// Takes one turn.
    pub fn turn(&mut self) -> Result<(), Lost> {
        if self
            .reign
            .blocked_until
            .is_some_and(|until| self.now < until)
            || self.parking.len() >= self.config.parked_max
        {
            for letter in self.mailbox.take_expired(self.now) {
                self.refuse(letter.ticket, Refused::Expired);
            }
            return Ok(());
        }
        self.reign.blocked_until = None;
        let mut turn = self.new_turn();
        while let Some(work) = self.next_work(&turn) {
            self.decide(&mut turn, work)?;
        }
        if turn.decided.is_empty() {
            return Ok(());
        }
        self.conclude(turn)
    }

    fn new_turn(&self) -> Turn<D> {
        Turn::new(&self.reign.work, self.config.batch_records_max.max(1))
    }

    /// The opening, then heartbeats, then tasks, then the rest.
    fn next_work(&mut self, turn: &Turn<D>) -> Option<Work<D>> {
        if !self.reign.opened {
            return turn.decided.is_empty().then_some(Work::Open);
        }
        let parked = self.parking.len() + turn.decided.len();
        if turn.decided.len() >= self.config.turn_decisions_max
            || turn.records >= self.config.turn_records_max
            || parked >= self.config.parked_max
        {
            return None;
        }
        if (self.mailbox.is_lane_empty(Lane::Heartbeat) || self.reign.is_held_up(self.now))
            && let Some(task) = self.reign.take_due(self.now)
        {
            return Some(Work::Task(task));
        }
        while let Some(letter) = self.mailbox.take() {
            if !letter.is_expired(self.now) {
                return Some(Work::Command(letter));
            }
            self.refuse(letter.ticket, Refused::Expired);
        }
        None
    }

    /// Step 1: one decision. On a fault everything decided in this turn goes back to where it was.
    fn decide(&mut self, turn: &mut Turn<D>, work: Work<D>) -> Result<(), Lost> {
        let (answer, pushed) = self.ask(&work);
        match (answer, pushed.stop) {
            (Ok(answer), None) => {
                let (answer, records) = match answer {
                    Answer::Reply(reply) if pushed.dry_run => {
                        if !pushed.records.is_empty() {
                            self.undo(turn);
                        }
                        (Answer::DryReply(reply), Vec::new())
                    }
                    answer => (answer, pushed.records),
                };
                let decided = Decided {
                    work,
                    answer,
                    batches: turn.add_batches(records, pushed.cut_anywhere),
                    cut_anywhere: pushed.cut_anywhere,
                    end: self.reign.work.end(),
                    transaction: self.reign.work.transaction(),
                };
                turn.decided.push(decided);
                Ok(())
            }
            // A halt that no push of this draft made counts as one too many.
            (_, stop) => {
                self.undo(turn);
                let cause = match stop.unwrap_or(Stop::TooLarge) {
                    Stop::TooLarge => Cause::TooLarge,
                    Stop::Unfit(error) => Cause::Unfit(error),
                };
                let failed = self.fail(work, cause);
                if failed.is_err() {
                    let start = turn.start.clone();
                    let turn = std::mem::replace(turn, Turn::new(&start, 1));
                    self.put_back(turn.into_works());
                }
                failed
            }
        }
    }

    /// Lets the domain decide into a draft.
    fn ask(&mut self, work: &Work<D>) -> Asked<D> {
        let mut draft = Draft::new(Desk {
            work: &mut self.reign.work,
            soft: &mut self.reign.soft,
            rng: self.rng,
            now: self.now,
            wall: self.wall,
            epoch: self.reign.epoch,
            records_max: self.config.batch_records_max,
        });
        let answer = match work {
            Work::Open => self.domain.open(&mut draft).map(|()| Answer::Opened),
            Work::Task(task) => self.domain.run(&mut draft, *task).map(Answer::Again),
            Work::Command(letter) => {
                let reply = self.domain.decide(&mut draft, &letter.command);
                reply.map(Answer::Reply)
            }
        };
        (answer, draft.finish())
    }

    /// Takes back what the last decision did.
    fn undo(&mut self, turn: &mut Turn<D>) {
        let mut work = turn.checkpoint.clone();
        for record in turn.batches[turn.folded..].iter().flatten() {
            let again = work.push(record);
            assert!(again.is_ok(), "a record does not fit as it did before");
        }
        turn.checkpoint = work.clone();
        turn.folded = turn.batches.len();
        self.reign.work = work;
    }

    /// Deals with a decision that cannot be, after it was undone.
    fn fail(&mut self, work: Work<D>, cause: Cause<D::Misfit>) -> Result<(), Lost> {
        let epoch = self.reign.epoch;
        let fault = match work {
            Work::Task(task) => {
                self.reign.schedule(task, self.now + self.config.task_retry);
                let task = format!("{task:?}");
                let fault = Fault::Task { epoch, task, cause };
                self.outputs.push_back(Output::Fault(fault));
                return Ok(());
            }
            Work::Command(letter) if matches!(cause, Cause::TooLarge) => {
                self.refuse(letter.ticket, Refused::TooLarge);
                return Ok(());
            }
            Work::Command(letter) => {
                let ticket = letter.ticket;
                self.refuse(ticket, Refused::Fault);
                Fault::Deciding {
                    epoch,
                    ticket,
                    cause,
                }
            }
            Work::Open => Fault::Opening { epoch, cause },
        };
        self.outputs.push_back(Output::Fault(fault));
        self.log.resign(epoch);
        Err(Lost)
    }

    /// Step 2: appends the turn, deciding again as often as the log moved.
    fn conclude(&mut self, mut turn: Turn<D>) -> Result<(), Lost> {
        for _ in 0..MOVES_MAX {
            match self.append(&turn) {
                Ok(()) => {
                    self.settle(turn);
                    return Ok(());
                }
                Err(AppendError::Moved { end }) => turn = self.decide_again(turn, Some(end))?,
                Err(AppendError::TooLarge) if turn.decided.len() == 1 => {
                    let longest = turn.longest_batch();
                    if !turn.decided[0].cut_anywhere || longest < 2 {
                        return self
                            .drop_only(turn, |office, work| office.fail(work, Cause::TooLarge));
                    }
                    turn.batch_max = longest.div_ceil(2);
                    turn = self.decide_again(turn, None)?;
                }
                Err(AppendError::TooLarge) => return self.one_by_one(turn),
                Err(AppendError::Full) if self.reign.is_in_flight() => {
                    self.withdraw(turn);
                    self.block();
                    return Ok(());
                }
                Err(AppendError::Full) if turn.decided.len() == 1 => {
                    return self.drop_only(turn, Self::turn_away);
                }
                Err(AppendError::Full) => return self.one_by_one(turn),
                Err(AppendError::NotLeader) => {
                    self.withdraw(turn);
                    return Err(Lost);
                }
            }
        }
        self.withdraw(turn);
        Ok(())
    }

    fn append(&mut self, turn: &Turn<D>) -> Result<(), AppendError> {
        if turn.batches.is_empty() {
            return Ok(());
        }
        let base = turn.start.end();
        self.log.append(self.reign.epoch, base, &turn.batches)
    }

    /// Decides the turn's work from its start again, at `end` if the log has moved.
    fn decide_again(&mut self, turn: Turn<D>, end: Option<Offset>) -> Result<Turn<D>, Lost> {
        self.reign.work = turn.start.clone();
        if let Some(end) = end {
            self.reign.work.skip_to(end, self.reign.epoch);
        }
        let mut again = Turn::new(&self.reign.work, turn.batch_max);
        for _ in 0..self.keep_rest(turn) {
            if let Some(work) = self.rest.pop_front() {
                self.decide(&mut again, work)?;
            }
        }
        Ok(again)
    }

    /// Gives each of the turn's decisions a turn of its own, so that the one that is too large does
    /// not stand in the way of the others.
    fn one_by_one(&mut self, turn: Turn<D>) -> Result<(), Lost> {
        self.reign.work = turn.start.clone();
        self.keep_rest(turn);
        while let Some(work) = self.rest.pop_front() {
            let mut single = self.new_turn();
            self.decide(&mut single, work)?;
            if !single.decided.is_empty() {
                self.conclude(single)?;
            }
        }
        Ok(())
    }

    /// Puts a turn's work before the rest, and says how much that is.
    fn keep_rest(&mut self, turn: Turn<D>) -> usize {
        let works = turn.into_works();
        let count = works.len();
        for work in works.into_iter().rev() {
            self.rest.push_front(work);
        }
        count
    }

    /// Undoes a turn of one decision and deals with that.
    fn drop_only(
        &mut self,
        turn: Turn<D>,
        deal: impl FnOnce(&mut Self, Work<D>) -> Result<(), Lost>,
    ) -> Result<(), Lost> {
        self.reign.work = turn.start.clone();
        match turn.into_works().pop() {
            Some(work) => deal(self, work),
            None => Ok(()),
        }
    }

    /// Nothing is in flight and still the log has no room for this.
    fn turn_away(&mut self, work: Work<D>) -> Result<(), Lost> {
        match work {
            Work::Command(letter) => self.refuse(letter.ticket, Refused::Busy),
            work => {
                self.put_back(vec![work]);
                self.block();
            }
        }
        Ok(())
    }

    /// Undoes a whole turn; its work and the rest wait as before.
    fn withdraw(&mut self, turn: Turn<D>) {
        self.reign.work = turn.start.clone();
        self.put_back(turn.into_works());
    }

    fn put_back(&mut self, works: Vec<Work<D>>) {
        let rest = std::mem::take(&mut self.rest);
        for work in works.into_iter().chain(rest).rev() {
            match work {
                Work::Open => {}
                Work::Task(task) => self.reign.schedule(task, self.now),
                Work::Command(letter) => self.mailbox.put_back(letter),
            }
        }
    }

    fn block(&mut self) {
        self.reign.blocked_until = Some(self.now + self.config.full_retry);
    }

    /// Step 3: what was decided is in the log.
    fn settle(&mut self, turn: Turn<D>) {
        let mut at = turn.start.end();
        if !turn.batches.is_empty() {
            self.reign.keep_version(at, self.wall);
        }
        for decided in turn.decided {
            for record in turn.batches[decided.batches.clone()].iter().flatten() {
                self.follow(record, at);
                at += 1;
            }
            self.answer(decided);
        }
    }

    fn follow(&mut self, record: &D::Record, at: Offset) {
        match D::bracket(record) {
            Bracket::No | Bracket::Begin => {}
            Bracket::End => self.parking.transaction_ended(at + 1),
            Bracket::Abort => {
                for ticket in self.parking.transaction_aborted() {
                    self.refuse(ticket, Refused::OutcomeUnknown);
                }
            }
        }
        let Reign { soft, work, .. } = &mut *self.reign;
        self.domain.follow(soft, work.tip(), record, at, self.now);
    }

    fn answer(&mut self, decided: Decided<D>) {
        let Decided {
            end, transaction, ..
        } = decided;
        match (decided.work, decided.answer) {
            (_, Answer::Opened) => {
                self.reign.opened = true;
                let epoch = self.reign.epoch;
                self.outputs.push_back(Output::Active { epoch });
            }
            (Work::Task(task), Answer::Again(Some(delay))) => {
                self.reign.schedule(task, self.now + delay);
            }
            (Work::Command(letter), Answer::Reply(reply)) => {
                let soft = &mut self.reign.soft;
                self.domain.appended(soft, &letter.command, &reply, end);
                self.parking.park(letter.ticket, reply, end, transaction);
            }
            (Work::Command(letter), Answer::DryReply(reply)) => {
                self.parking.park(letter.ticket, reply, end, transaction);
            }
            _ => {}
        }
    }

    fn refuse(&mut self, ticket: Ticket, refused: Refused) {
        self.outputs.push_back(Output::Reply {
            ticket,
            result: Err(refused),
        });
    }
}
