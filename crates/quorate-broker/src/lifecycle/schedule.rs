//! When a broker next speaks to the controller.

use std::time::Duration;

use quorate_types::MonoTime;

/// The time of the next request, and whether somebody wished for an immediate one while another was
/// in flight.
#[derive(Debug, Clone, Default)]
pub(super) struct Schedule {
    due: Option<MonoTime>,
    wish: bool,
}

impl Schedule {
    /// Speak at that time; a wish is thereby fulfilled.
    pub(super) fn at(&mut self, time: MonoTime) {
        *self = Schedule {
            due: Some(time),
            wish: false,
        };
    }

    /// Speak as soon as the request in flight has succeeded.
    pub(super) fn wish(&mut self) {
        self.wish = true;
    }

    /// The request succeeded: speak after `interval`, or at once if that was wished for.
    pub(super) fn after_success(&mut self, now: MonoTime, interval: Duration) {
        let interval = if self.wish { Duration::ZERO } else { interval };
        self.at(now + interval);
    }

    /// The request failed: wait `interval` in any case.
    pub(super) fn after_failure(&mut self, now: MonoTime, interval: Duration) {
        self.at(now + interval);
    }

    /// Whether it is time to speak; true once.
    pub(super) fn take_due(&mut self, now: MonoTime) -> bool {
        self.due.take_if(|due| *due <= now).is_some()
    }

    pub(super) fn due(&self) -> Option<MonoTime> {
        self.due
    }
}
