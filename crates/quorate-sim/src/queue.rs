//! What is going to happen, in the order of its time.

use std::collections::BTreeMap;
use std::time::Duration;

use bytes::Bytes;
use quorate_server::io::{Address, ConnId};
use quorate_types::{MonoTime, NodeId};

use crate::net::{LinkId, Side};

/// Something that happens at its time, unless what it belongs to is gone by then.
#[derive(Debug)]
pub enum Event {
    /// A process asked for a connection, and the request reaches the other machine.
    Dial {
        /// Who asks.
        from: NodeId,
        /// Which of its processes.
        life: u64,
        /// Its name for the connection.
        conn: ConnId,
        /// Where to.
        to: Address,
    },
    /// A process learns that a connection could not be made.
    DialFailed {
        /// Who asked.
        from: NodeId,
        /// Which of its processes.
        life: u64,
        /// Its name for the connection.
        conn: ConnId,
        /// Whether nobody listens.
        refused: bool,
    },
    /// Something travels over a connection and arrives at that side.
    Arrive {
        /// The connection.
        link: LinkId,
        /// Where it arrives.
        side: Side,
        /// What arrives.
        parcel: Parcel,
    },
    /// A process is to be driven, for the time has come that it asked for.
    Wake {
        /// Whose.
        machine: NodeId,
        /// Which of its processes.
        life: u64,
    },
    /// A disk may have been quiet for long enough to sync what can wait.
    Quiet {
        /// Whose.
        machine: NodeId,
        /// Of which of its processes.
        life: u64,
    },
    /// A round of a disk ends.
    Disk {
        /// Whose.
        machine: NodeId,
        /// Of which of its processes.
        life: u64,
    },
}

/// What travels over a connection.
#[derive(Debug, Clone)]
pub enum Parcel {
    /// The other side took the connection.
    Connected,
    /// A frame.
    Frame(Bytes),
    /// The other side is gone.
    Closed,
}

/// The events to come.
#[derive(Debug, Default)]
pub struct Queue {
    events: BTreeMap<(MonoTime, u64), Event>,
    number: u64,
}

impl Queue {
    /// Adds an event; those of one time happen in the order in which they were added.
    pub fn add(&mut self, at: MonoTime, event: Event) {
        self.number += 1;
        self.events.insert((at, self.number), event);
    }

    /// Adds an event `after` now.
    pub fn add_after(&mut self, now: MonoTime, after: Duration, event: Event) {
        self.add(now + after, event);
    }

    /// The next event that happens not later than `until`.
    pub fn pop(&mut self, until: MonoTime) -> Option<(MonoTime, Event)> {
        let (at, _) = *self.events.first_key_value()?.0;
        if at > until {
            return None;
        }
        self.events.pop_first().map(|((at, _), event)| (at, event))
    }
}
