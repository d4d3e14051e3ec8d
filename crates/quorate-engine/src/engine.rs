//! The engine: who decides, what waits, and what is said when.
//!
//! | Role | Becomes | When |
//! |---|---|---|
//! | standby | elected | told to lead an epoch |
//! | elected | active | everything before the epoch's start is applied, in the next turn |
//! | elected | standby | told not to lead |
//! | active | active | told to lead the very next epoch, which starts after all it appended |
//! | active | elected | told to lead a later one |
//! | active | standby | told not to lead; the log refused an append; a decision failed |
//! | any | broken | something committed cannot be applied; final |

use std::collections::VecDeque;
use std::fmt;

use quorate_types::{Epoch, MonoTime, Offset, OffsetAndEpoch, Rng, WallTime};

use crate::config::EngineConfig;
use crate::domain::Domain;
use crate::log::Log;
use crate::machine::{ApplyError, Batch};
use crate::mailbox::{Lane, Letter, Mailbox};
use crate::output::{Cause, Fault, Output, Refused, Ticket};
use crate::parked::Parking;
use crate::reign::Reign;
use crate::replica::Replica;
use crate::turn::{Lost, Office};

/// A domain's replica, its decisions while this node leads, and its replies.
///
/// Feed it with [`submit`](Self::submit) and what the log says ([`leader`](Self::leader),
/// [`not_leader`](Self::not_leader), [`high_watermark`](Self::high_watermark),
/// [`committed`](Self::committed), [`install`](Self::install)); call [`turn`](Self::turn) when
/// [`deadline`](Self::deadline) has come; carry out what [`poll`](Self::poll) gives, in its order.
pub struct Engine<D: Domain> {
    domain: D,
    config: EngineConfig,
    rng: Rng,
    /// What is committed. While this node is active it is moved along the reign's versions.
    replica: Replica<D>,
    role: Role<D>,
    high_watermark: Offset,
    mailbox: Mailbox<D::Command>,
    parking: Parking<D::Reply>,
    outputs: VecDeque<Output<D::Reply, D::Misfit>>,
    /// The end that was last said to be stable.
    said_stable: Offset,
}

enum Role<D: Domain> {
    Standby,
    Elected { epoch: Epoch, start: Offset },
    Active(Box<Reign<D>>),
    Broken { resign: Option<Epoch> },
}

impl<D: Domain> Engine<D> {
    /// An engine with an empty replica, on standby.
    pub fn new(domain: D, rng: Rng, config: EngineConfig) -> Engine<D> {
        Engine {
            domain,
            rng,
            replica: Replica::new(),
            role: Role::Standby,
            high_watermark: Offset::ZERO,
            mailbox: Mailbox::new(config.lane_commands_max),
            parking: Parking::new(),
            outputs: VecDeque::new(),
            said_stable: Offset::ZERO,
            config,
        }
    }

    /// Queues a command. It gets exactly one [`Output::Reply`] with this ticket.
    ///
    /// `expires` limits the time in the queue only: once decided, a reply waits for its commit.
    pub fn submit(
        &mut self,
        ticket: Ticket,
        lane: Lane,
        command: D::Command,
        expires: Option<MonoTime>,
    ) {
        let letter = Letter {
            ticket,
            lane,
            command,
            expires,
        };
        match &self.role {
            Role::Active(_) => {
                if self.mailbox.put(letter).is_err() {
                    self.refuse(ticket, Refused::Busy);
                }
            }
            Role::Standby | Role::Elected { .. } => self.refuse(ticket, Refused::NotActive),
            Role::Broken { .. } => self.refuse(ticket, Refused::Fault),
        }
    }

    /// This node leads `epoch`, whose first record is at `mine_from`. The engine becomes active in
    /// the first [`turn`](Self::turn) after it has been given everything before that.
    ///
    /// Said while active, for the very next epoch, only the epoch changes: nobody else can have
    /// written in between. After a gap the engine steps down and takes office anew.
    pub fn leader(&mut self, epoch: Epoch, mine_from: Offset) {
        match &mut self.role {
            Role::Broken { resign } => *resign = Some(epoch),
            Role::Active(reign) if epoch <= reign.epoch => {}
            Role::Active(reign) if epoch == reign.epoch.next() && reign.work.end() <= mine_from => {
                reign.renew(epoch, mine_from);
                if reign.opened {
                    self.outputs.push_back(Output::Active { epoch });
                }
            }
            _ => {
                self.not_leader();
                self.role = Role::Elected {
                    epoch,
                    start: mine_from,
                };
            }
        }
    }

    /// This node does not lead.
    ///
    /// Replies to what is known to be committed follow as the log is read again from
    /// [`reads_from`](Self::reads_from) on; the others are refused.
    pub fn not_leader(&mut self) {
        match std::mem::replace(&mut self.role, Role::Standby) {
            Role::Active(reign) => self.step_down(*reign),
            Role::Standby | Role::Elected { .. } => {}
            Role::Broken { .. } => self.role = Role::Broken { resign: None },
        }
    }

    /// Everything before `high_watermark` is committed.
    ///
    /// While this node is active that is taken to be its own: what another leader committed must be
    /// told after [`not_leader`](Self::not_leader), in the order in which the log came to know.
    pub fn high_watermark(&mut self, high_watermark: Offset) {
        if high_watermark <= self.high_watermark {
            return;
        }
        self.high_watermark = high_watermark;
        if let Role::Active(reign) = &mut self.role {
            reign.blocked_until = None;
            reign.commit(high_watermark, &mut self.replica);
            self.say_stable();
        }
    }

    /// Applies committed batches, while [`reads_from`](Self::reads_from) asks for them; batches that
    /// were applied before, or come while this node is active, are passed over.
    pub fn committed(&mut self, batches: &[Batch<D::Record>]) {
        if self.reads_from().is_none() {
            return;
        }
        match self.replica.apply_batches(batches) {
            Ok(()) => self.say_stable(),
            Err(error) => self.break_down(error),
        }
    }

    /// Starts over from a snapshot. A leader never needs one: an active engine steps down first.
    pub fn install(&mut self, state: D::State, end: OffsetAndEpoch, at: WallTime) {
        if matches!(self.role, Role::Active(_)) {
            self.not_leader();
        }
        if !matches!(self.role, Role::Broken { .. }) {
            self.replica.install(state, end, at);
            self.say_stable();
        }
    }

    /// Takes office if everything before the epoch's start has been applied; then decides what waits
    /// and what is due, and appends it.
    pub fn turn(&mut self, now: MonoTime, wall: WallTime, log: &mut dyn Log<D::Record>) {
        match self.role {
            Role::Broken { ref mut resign } => {
                if let Some(epoch) = resign.take() {
                    log.resign(epoch);
                }
            }
            Role::Elected { epoch, start } if self.replica.end() >= start => {
                let reign = Reign::new(&self.domain, epoch, start, &self.replica, now);
                self.role = Role::Active(Box::new(reign));
            }
            _ => {}
        }
        if let Role::Active(reign) = &mut self.role {
            reign.commit(self.high_watermark, &mut self.replica);
            let mut office = Office {
                domain: &self.domain,
                config: &self.config,
                rng: &mut self.rng,
                reign,
                mailbox: &mut self.mailbox,
                parking: &mut self.parking,
                outputs: &mut self.outputs,
                log,
                rest: VecDeque::new(),
                now,
                wall,
            };
            if let Err(Lost) = office.turn() {
                self.not_leader();
            }
            self.say_stable();
        }
    }

    /// The next thing the engine has to say.
    pub fn poll(&mut self) -> Option<Output<D::Reply, D::Misfit>> {
        self.outputs.pop_front()
    }

    /// When to call [`turn`](Self::turn) at the latest; a time in the past says at once. Anything told
    /// to the engine may bring it nearer.
    pub fn deadline(&self) -> Option<MonoTime> {
        const AT_ONCE: Option<MonoTime> = Some(MonoTime::ZERO);
        match &self.role {
            Role::Standby => None,
            Role::Broken { resign } => resign.and(AT_ONCE),
            Role::Elected { start, .. } if self.replica.end() >= *start => AT_ONCE,
            Role::Elected { .. } => None,
            Role::Active(reign) => {
                if let Some(until) = reign.blocked_until {
                    let expiry = self.mailbox.next_expiry();
                    Some(expiry.map_or(until, |expiry| expiry.min(until)))
                } else if self.parking.len() >= self.config.parked_max {
                    self.mailbox.next_expiry()
                } else if !reign.opened || !self.mailbox.is_empty() {
                    AT_ONCE
                } else {
                    reign.next_due()
                }
            }
        }
    }

    /// Where the next batch given to [`committed`](Self::committed) should start; `None` while this
    /// node is active, when the engine has its own records already, and once it is broken.
    pub fn reads_from(&self) -> Option<Offset> {
        match self.role {
            Role::Standby | Role::Elected { .. } => Some(self.replica.end()),
            Role::Active(_) | Role::Broken { .. } => None,
        }
    }

    /// The latest stable state.
    pub fn state(&self) -> &D::State {
        self.replica.stable().0
    }

    /// The end of what [`state`](Self::state) holds.
    pub fn stable_end(&self) -> Offset {
        self.replica.stable().1
    }

    /// What a snapshot taken now would hold: the state, the end and epoch that name it, and when its
    /// last batch was appended. `None` while a transaction is open.
    pub fn snapshot(&self) -> Option<(&D::State, OffsetAndEpoch, WallTime)> {
        self.replica.snapshot()
    }

    /// The epoch in which this node is active, which it is once its opening decision is in the log.
    pub fn active(&self) -> Option<Epoch> {
        self.reign()
            .filter(|reign| reign.opened)
            .map(|reign| reign.epoch)
    }

    /// How many more commands a lane takes before it refuses them as busy.
    pub fn room(&self, lane: Lane) -> usize {
        self.mailbox.room(lane)
    }

    /// The domain.
    pub fn domain(&self) -> &D {
        &self.domain
    }

    /// The soft state, while this node leads.
    pub fn soft(&self) -> Option<&D::Soft> {
        self.reign().map(|reign| &reign.soft)
    }

    fn reign(&self) -> Option<&Reign<D>> {
        match &self.role {
            Role::Active(reign) => Some(reign),
            _ => None,
        }
    }

    /// Publishes first, answers then.
    fn say_stable(&mut self) {
        let (_, end) = self.replica.stable();
        if end > self.said_stable {
            self.said_stable = end;
            self.outputs.push_back(Output::Stable { end });
        }
        while let Some(parked) = self.parking.take_ready(end) {
            self.outputs.push_back(Output::Reply {
                ticket: parked.ticket,
                result: Ok(parked.reply),
            });
        }
    }

    /// The speculative state and the soft state are gone; what is committed remains.
    fn step_down(&mut self, reign: Reign<D>) {
        for ticket in self.parking.take_unknown(self.high_watermark) {
            self.refuse(ticket, Refused::OutcomeUnknown);
        }
        let waiting: Vec<Ticket> = self.mailbox.clear().map(|letter| letter.ticket).collect();
        for ticket in waiting {
            self.refuse(ticket, Refused::NotActive);
        }
        if reign.opened {
            let epoch = reign.epoch;
            self.outputs.push_back(Output::Inactive { epoch });
        }
    }

    /// What the cluster agreed on cannot be applied here: nothing said from now on would be true.
    fn break_down(&mut self, error: ApplyError<D::Misfit>) {
        let resign = match self.role {
            Role::Elected { epoch, .. } => Some(epoch),
            _ => None,
        };
        self.role = Role::Broken { resign };
        for ticket in self.parking.take_unknown(Offset::ZERO) {
            self.refuse(ticket, Refused::OutcomeUnknown);
        }
        let cause = Cause::Unfit(error);
        let fault = Fault::Replaying { cause };
        self.outputs.push_back(Output::Fault(fault));
    }

    fn refuse(&mut self, ticket: Ticket, refused: Refused) {
        self.outputs.push_back(Output::Reply {
            ticket,
            result: Err(refused),
        });
    }
}

impl<D: Domain> fmt::Debug for Engine<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let role = match &self.role {
            Role::Standby => "standby".to_string(),
            Role::Elected { epoch, start } => format!("elected in {epoch} from {start}"),
            Role::Active(reign) => format!("active in {}", reign.epoch),
            Role::Broken { .. } => "broken".to_string(),
        };
        f.debug_struct("Engine")
            .field("role", &role)
            .field("replica", &self.replica)
            .field("high_watermark", &self.high_watermark)
            .finish_non_exhaustive()
    }
}
