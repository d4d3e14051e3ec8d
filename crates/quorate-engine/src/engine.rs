//! The engine: who decides, what waits, and what is said when.

use quorate_types::{Epoch, MonoTime, Offset, OffsetAndEpoch, Rng, WallTime};

use crate::config::EngineConfig;
use crate::domain::Domain;
use crate::log::Log;
use crate::machine::Batch;
use crate::mailbox::Lane;
use crate::output::{Output, Ticket};

/// A domain's replica, its decisions while this node leads, and its replies.
pub struct Engine<D: Domain> {
    domain: D,
}

impl<D: Domain> Engine<D> {
    /// An engine with an empty replica, on standby.
    pub fn new(domain: D, rng: Rng, config: EngineConfig) -> Engine<D> {
        let _ = (rng, config);
        Engine { domain }
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
        let _ = (ticket, lane, command, expires);
        todo!()
    }

    /// This node leads `epoch`, whose first record is at `mine_from`. The engine becomes active in
    /// the first [`turn`](Self::turn) after it has been given everything before that.
    pub fn leader(&mut self, epoch: Epoch, mine_from: Offset) {
        let _ = (epoch, mine_from);
        todo!()
    }

    /// This node does not lead.
    pub fn not_leader(&mut self) {
        todo!()
    }

    /// Everything before `high_watermark` is committed.
    pub fn high_watermark(&mut self, high_watermark: Offset) {
        let _ = high_watermark;
        todo!()
    }

    /// Applies committed batches, while [`reads_from`](Self::reads_from) asks for them.
    pub fn committed(&mut self, batches: &[Batch<D::Record>]) {
        let _ = batches;
        todo!()
    }

    /// Starts over from a snapshot.
    pub fn install(&mut self, state: D::State, end: OffsetAndEpoch, at: WallTime) {
        let _ = (state, end, at);
        todo!()
    }

    /// Decides what waits and what is due, and appends it.
    pub fn turn(&mut self, now: MonoTime, wall: WallTime, log: &mut dyn Log<D::Record>) {
        let _ = (now, wall, log);
        todo!()
    }

    /// The next thing the engine has to say.
    pub fn poll(&mut self) -> Option<Output<D::Reply, D::Misfit>> {
        todo!()
    }

    /// When to call [`turn`](Self::turn) at the latest; a time in the past says at once.
    pub fn deadline(&self) -> Option<MonoTime> {
        todo!()
    }

    /// Where the next batch given to [`committed`](Self::committed) should start; `None` while this
    /// node is active, when the engine has its own records already.
    pub fn reads_from(&self) -> Option<Offset> {
        todo!()
    }

    /// The latest stable state.
    pub fn state(&self) -> &D::State {
        todo!()
    }

    /// The end of what [`state`](Self::state) holds.
    pub fn stable_end(&self) -> Offset {
        todo!()
    }

    /// What a snapshot taken now would hold: the state, the end and epoch that name it, and when its
    /// last batch was appended. `None` while a transaction is open.
    pub fn snapshot(&self) -> Option<(&D::State, OffsetAndEpoch, WallTime)> {
        todo!()
    }

    /// The epoch in which this node is active.
    pub fn active(&self) -> Option<Epoch> {
        todo!()
    }

    /// How many more commands a lane takes before it refuses them as busy.
    pub fn room(&self, lane: Lane) -> usize {
        let _ = lane;
        todo!()
    }

    /// The domain.
    pub fn domain(&self) -> &D {
        &self.domain
    }

    /// The soft state, while this node is active.
    pub fn soft(&self) -> Option<&D::Soft> {
        todo!()
    }
}
