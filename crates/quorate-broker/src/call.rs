//! One request in flight: who waits for which answer, and until when.
//!
//! Each core of this crate keeps at most one request under way. Answers may be lost, late or
//! doubled; a `Slot` takes the one it waits for and lets the others fall, so the cores above never
//! see them.

use std::time::Duration;

use quorate_types::MonoTime;

/// Names one request of one core; never used twice by the same core.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct CallId(pub u64);

/// Why a request has no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CallFailure {
    /// The connection was closed, or none could be made.
    #[error("the connection was lost or could not be made")]
    Disconnected,
    /// No answer within the request's time.
    #[error("no answer in time")]
    TimedOut,
    /// The peer does not offer a version of the request that is spoken here.
    #[error("the peer speaks no common version of the request")]
    Unsupported,
    /// The peer did not accept who we are.
    #[error("the peer refused the authentication")]
    Unauthenticated,
    /// An answer came that is none.
    #[error("the answer could not be read")]
    Malformed,
}

/// The place of the one request under way, with what its sender wants to remember of it.
#[derive(Debug, Clone)]
pub(crate) struct Slot<K> {
    next: u64,
    flight: Option<Flight<K>>,
}

#[derive(Debug, Clone)]
struct Flight<K> {
    call: CallId,
    until: MonoTime,
    kind: K,
}

impl<K> Slot<K> {
    pub(crate) fn new() -> Slot<K> {
        Slot {
            next: 0,
            flight: None,
        }
    }

    /// Takes the slot for a new request.
    pub(crate) fn open(&mut self, now: MonoTime, timeout: Duration, kind: K) -> CallId {
        assert!(self.flight.is_none(), "a second request in flight");
        let call = CallId(self.next);
        self.next += 1;
        self.flight = Some(Flight {
            call,
            until: now + timeout,
            kind,
        });
        call
    }

    /// Frees the slot if `call` is what it waits for.
    pub(crate) fn close(&mut self, call: CallId) -> Option<K> {
        self.flight
            .take_if(|flight| flight.call == call)
            .map(|flight| flight.kind)
    }

    /// Frees the slot if its time is over.
    pub(crate) fn expire(&mut self, now: MonoTime) -> Option<K> {
        self.flight
            .take_if(|flight| flight.until <= now)
            .map(|flight| flight.kind)
    }

    /// Forgets what is under way; its answer will be ignored.
    pub(crate) fn abandon(&mut self) {
        self.flight = None;
    }

    pub(crate) fn is_busy(&self) -> bool {
        self.flight.is_some()
    }

    pub(crate) fn deadline(&self) -> Option<MonoTime> {
        self.flight.as_ref().map(|flight| flight.until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_awaited_answer_is_taken_and_only_once() {
        let mut slot = Slot::new();
        let first = slot.open(MonoTime::ZERO, Duration::from_secs(2), "first");
        assert_eq!(slot.deadline(), Some(MonoTime(2_000_000)));
        assert_eq!(slot.expire(MonoTime(1_999_999)), None);
        assert_eq!(slot.expire(MonoTime(2_000_000)), Some("first"));
        let second = slot.open(MonoTime(3_000_000), Duration::from_secs(2), "second");
        assert_eq!(slot.close(first), None, "the late answer of the first");
        assert_eq!(slot.close(second), Some("second"));
        assert_eq!(slot.close(second), None, "the same answer again");
        assert!(!slot.is_busy());
    }
}
