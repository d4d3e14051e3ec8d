//! The machine's clocks: the only place in the project where time is read.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use quorate_server::io::Now;
use quorate_types::{MonoTime, WallTime};

/// Reads both clocks. Clones count from the same start, so their monotonic times compare.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    start: Instant,
}

impl Clock {
    /// A clock whose monotonic time starts now.
    #[allow(clippy::new_without_default, clippy::disallowed_methods)]
    pub fn new() -> Clock {
        Clock {
            start: Instant::now(),
        }
    }

    /// The monotonic time.
    pub fn mono(&self) -> MonoTime {
        let micros = self.start.elapsed().as_micros();
        MonoTime(u64::try_from(micros).unwrap_or(u64::MAX))
    }

    /// Both times.
    #[allow(clippy::disallowed_methods)]
    pub fn now(&self) -> Now {
        let since_1970 = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        let millis = i64::try_from(since_1970.as_millis()).unwrap_or(i64::MAX);
        Now {
            mono: self.mono(),
            wall: WallTime(millis),
        }
    }
}
