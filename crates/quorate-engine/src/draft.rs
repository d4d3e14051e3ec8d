//! Where a decision is made: a view of the state that runs ahead of the log.
//!
//! A pushed record is applied at once, so the next line of the decision sees it; nobody else does
//! before it is appended. If one does not fit, the whole decision is dropped.

use quorate_types::{Epoch, MonoTime, Offset, Rng, WallTime};

use crate::domain::Domain;
use crate::machine::ApplyError;
use crate::replica::Replica;

/// The decision cannot go on and leaves nothing behind; made by [`Draft::push`] only, which
/// remembers why. A domain passes it on with `?`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the decision was halted")]
pub struct Halt {
    _made_by_push: (),
}

/// Why a decision was halted.
#[derive(Debug, Clone)]
pub(crate) enum Stop<E> {
    /// More records than one atomic decision may have.
    TooLarge,
    /// A record does not fit the state.
    Unfit(ApplyError<E>),
}

/// A decision in the making.
pub struct Draft<'a, D: Domain> {
    desk: Desk<'a, D>,
    base: Offset,
    records: Vec<D::Record>,
    cut_anywhere: bool,
    dry_run: bool,
    stop: Option<Stop<D::Misfit>>,
}

/// What a decision works with: the leader's speculative state and the world as it is handed in.
pub(crate) struct Desk<'a, D: Domain> {
    pub work: &'a mut Replica<D>,
    pub soft: &'a mut D::Soft,
    pub rng: &'a mut Rng,
    pub now: MonoTime,
    pub wall: WallTime,
    pub epoch: Epoch,
    pub records_max: usize,
}

/// What a decision pushed and wants done with it.
pub(crate) struct Pushed<R, E> {
    pub records: Vec<R>,
    pub cut_anywhere: bool,
    pub dry_run: bool,
    pub stop: Option<Stop<E>>,
}

impl<'a, D: Domain> Draft<'a, D> {
    pub(crate) fn new(desk: Desk<'a, D>) -> Draft<'a, D> {
        Draft {
            base: desk.work.end(),
            desk,
            records: Vec::new(),
            cut_anywhere: false,
            dry_run: false,
            stop: None,
        }
    }

    /// Adds a record to the decision and applies it to [`state`](Self::state).
    ///
    /// # Errors
    /// When the record does not fit the state, or is one too many for an atomic decision. From then
    /// on every push fails, and the decision is dropped whatever it returns.
    pub fn push(&mut self, record: D::Record) -> Result<(), Halt> {
        const HALT: Halt = Halt { _made_by_push: () };
        if self.stop.is_some() {
            return Err(HALT);
        }
        if !self.cut_anywhere && self.records.len() >= self.desk.records_max {
            self.stop = Some(Stop::TooLarge);
            return Err(HALT);
        }
        if let Err(error) = self.desk.work.push(&record) {
            self.stop = Some(Stop::Unfit(error));
            return Err(HALT);
        }
        self.records.push(record);
        Ok(())
    }

    /// Allows the records of this decision to be cut into several batches at any point, so that
    /// there may be any number of them. To be said before pushing more than fit one batch.
    ///
    /// Without it a decision is atomic: its records are in one batch.
    pub fn cut_anywhere(&mut self) {
        self.cut_anywhere = true;
    }

    /// Only the reply is wanted: the records are applied while the decision runs and then forgotten.
    pub fn dry_run(&mut self) {
        self.dry_run = true;
    }

    /// The soft state, for touches that may happen twice: a decision can be made again.
    pub fn soft_mut(&mut self) -> &mut D::Soft {
        self.desk.soft
    }

    /// Both the soft state to touch and the state to go by.
    pub fn soft_and_state(&mut self) -> (&mut D::Soft, &D::State) {
        (self.desk.soft, self.desk.work.tip())
    }

    /// The generator to draw from.
    pub fn rng(&mut self) -> &mut Rng {
        self.desk.rng
    }

    /// The state with every record pushed so far.
    pub fn state(&self) -> &D::State {
        self.desk.work.tip()
    }

    /// The soft state.
    pub fn soft(&self) -> &D::Soft {
        self.desk.soft
    }

    /// The time of the decision.
    pub fn now(&self) -> MonoTime {
        self.desk.now
    }

    /// The time of the decision, for people.
    pub fn wall(&self) -> WallTime {
        self.desk.wall
    }

    /// The epoch this leader leads.
    pub fn epoch(&self) -> Epoch {
        self.desk.epoch
    }

    /// The offset that the next record pushed will have. Before the first it is the base offset of
    /// the decision's (first) batch.
    pub fn next_offset(&self) -> Offset {
        self.base + self.records.len() as i64
    }

    /// The records pushed so far.
    pub fn records(&self) -> &[D::Record] {
        &self.records
    }

    /// Where the open transaction begins, if there is one. Pushing its abort brings
    /// [`state`](Self::state) back to before it.
    pub fn transaction(&self) -> Option<Offset> {
        self.desk.work.transaction()
    }

    pub(crate) fn finish(self) -> Pushed<D::Record, D::Misfit> {
        Pushed {
            records: self.records,
            cut_anywhere: self.cut_anywhere,
            dry_run: self.dry_run,
            stop: self.stop,
        }
    }
}
