//! Where commands wait: one bounded queue for each kind of urgency.
//!
//! Heartbeats go before cluster traffic, that before admin requests; but nobody starves. Each lane
//! has a credit of commands a round, and a round is over when the lanes that have something waiting
//! have no credit left.

use std::collections::VecDeque;

use quorate_types::MonoTime;

use crate::output::Ticket;

/// How urgent a command is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Lane {
    /// Signs of life, which nothing may hold up.
    Heartbeat,
    /// What the nodes of the cluster need to go on.
    Cluster,
    /// What people and their tools ask for.
    Admin,
}

impl Lane {
    /// All lanes, the most urgent first.
    pub const ALL: [Lane; 3] = [Lane::Heartbeat, Lane::Cluster, Lane::Admin];

    fn index(self) -> usize {
        self as usize
    }

    /// How many commands of this lane a round takes before it turns to the next.
    fn share(self) -> u32 {
        match self {
            Lane::Heartbeat => 16,
            Lane::Cluster => 8,
            Lane::Admin => 4,
        }
    }
}

/// A command that waits.
#[derive(Debug)]
pub(crate) struct Letter<C> {
    pub ticket: Ticket,
    pub lane: Lane,
    pub command: C,
    pub expires: Option<MonoTime>,
}

impl<C> Letter<C> {
    pub fn is_expired(&self, now: MonoTime) -> bool {
        self.expires.is_some_and(|expires| expires <= now)
    }
}

/// The lanes.
#[derive(Debug)]
pub(crate) struct Mailbox<C> {
    lanes: [VecDeque<Letter<C>>; 3],
    credit: [u32; 3],
    lane_max: usize,
}

impl<C> Mailbox<C> {
    /// Lanes that hold up to `lane_max` commands each.
    pub fn new(lane_max: usize) -> Mailbox<C> {
        Mailbox {
            lanes: Lane::ALL.map(|_| VecDeque::new()),
            credit: Lane::ALL.map(Lane::share),
            lane_max,
        }
    }

    /// Puts a command at the end of its lane, or gives it back if the lane is full.
    pub fn put(&mut self, letter: Letter<C>) -> Result<(), Letter<C>> {
        if self.room(letter.lane) == 0 {
            return Err(letter);
        }
        self.lanes[letter.lane.index()].push_back(letter);
        Ok(())
    }

    /// Puts a command back to the head of its lane, from where it was taken.
    pub fn put_back(&mut self, letter: Letter<C>) {
        self.lanes[letter.lane.index()].push_front(letter);
    }

    /// The next command.
    pub fn take(&mut self) -> Option<Letter<C>> {
        if self.is_empty() {
            return None;
        }
        loop {
            for lane in Lane::ALL.map(Lane::index) {
                if self.credit[lane] > 0
                    && let Some(letter) = self.lanes[lane].pop_front()
                {
                    self.credit[lane] -= 1;
                    return Some(letter);
                }
            }
            self.credit = Lane::ALL.map(Lane::share);
        }
    }

    /// Takes out every command whose time is up.
    pub fn take_expired(&mut self, now: MonoTime) -> Vec<Letter<C>> {
        let mut expired = Vec::new();
        for lane in &mut self.lanes {
            let (gone, kept) = lane.drain(..).partition(|letter| letter.is_expired(now));
            expired.extend::<VecDeque<_>>(gone);
            *lane = kept;
        }
        expired
    }

    /// Takes out everything.
    pub fn clear(&mut self) -> impl Iterator<Item = Letter<C>> + '_ {
        self.lanes.iter_mut().flat_map(|lane| lane.drain(..))
    }

    /// When the next command will have waited for too long.
    pub fn next_expiry(&self) -> Option<MonoTime> {
        let letters = self.lanes.iter().flatten();
        letters.filter_map(|letter| letter.expires).min()
    }

    /// How many more commands a lane takes.
    pub fn room(&self, lane: Lane) -> usize {
        self.lane_max.saturating_sub(self.lanes[lane.index()].len())
    }

    /// Whether nothing waits in any lane.
    pub fn is_empty(&self) -> bool {
        self.lanes.iter().all(VecDeque::is_empty)
    }

    /// Whether nothing waits in this lane.
    pub fn is_lane_empty(&self, lane: Lane) -> bool {
        self.lanes[lane.index()].is_empty()
    }
}
