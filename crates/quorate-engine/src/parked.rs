//! Replies that wait until what they report is stable.
//!
//! Invariants:
//! - Replies leave in the order in which they were parked.
//! - A reply given inside a transaction waits for the transaction's end, whose offset nobody knows
//!   before it is written.

use std::collections::VecDeque;

use quorate_types::Offset;

use crate::output::Ticket;

/// A reply and what it waits for.
#[derive(Debug)]
pub(crate) struct Parked<R> {
    pub ticket: Ticket,
    pub reply: R,
    wait: Offset,
    /// The begin of the transaction that was open when the reply was made, while it is.
    within: Option<Offset>,
}

/// The replies of a leader, oldest first.
#[derive(Debug)]
pub(crate) struct Parking<R> {
    replies: VecDeque<Parked<R>>,
}

impl<R> Parking<R> {
    pub fn new() -> Parking<R> {
        Parking {
            replies: VecDeque::new(),
        }
    }

    /// Parks a reply that depends on everything before `wait`, made while the transaction that
    /// begins at `within` was open.
    pub fn park(&mut self, ticket: Ticket, reply: R, wait: Offset, within: Option<Offset>) {
        self.replies.push_back(Parked {
            ticket,
            reply,
            wait,
            within,
        });
    }

    /// The open transaction ends before `end`: replies from within it wait for that.
    pub fn transaction_ended(&mut self, end: Offset) {
        let within = |parked: &&mut Parked<R>| parked.within.is_some();
        for parked in self.replies.iter_mut().rev().take_while(within) {
            parked.within = None;
            parked.wait = end;
        }
    }

    /// The open transaction is aborted: takes out the replies from within it.
    pub fn transaction_aborted(&mut self) -> Vec<Ticket> {
        let before = self
            .replies
            .partition_point(|parked| parked.within.is_none());
        let aborted = self.replies.drain(before..);
        aborted.map(|parked| parked.ticket).collect()
    }

    /// Takes out the oldest reply if everything it waits for is before `stable_end`.
    pub fn take_ready(&mut self, stable_end: Offset) -> Option<Parked<R>> {
        // Nothing of an open transaction is stable, so what is within it is not ready.
        let ready = |parked: &Parked<R>| parked.wait <= stable_end;
        self.replies.front().is_some_and(ready).then_some(())?;
        self.replies.pop_front()
    }

    /// Leadership is lost while everything before `high_watermark` is known to be committed: takes
    /// out the replies whose outcome nobody knows.
    pub fn take_unknown(&mut self, high_watermark: Offset) -> Vec<Ticket> {
        let known = |parked: &Parked<R>| parked.within.is_none() && parked.wait <= high_watermark;
        let known = self.replies.partition_point(known);
        let unknown = self.replies.drain(known..);
        unknown.map(|parked| parked.ticket).collect()
    }

    pub fn len(&self) -> usize {
        self.replies.len()
    }
}
