//! Monotonic and wall time, which are different things and therefore different types.
//!
//! Cores never read a clock: `now` is an argument. The runtime takes both from the machine, the
//! simulator makes them up.

use std::fmt;
use std::ops::{Add, Sub};
use std::time::Duration;

/// A point of a monotonic clock, in microseconds since some start of the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct MonoTime(pub u64);

impl MonoTime {
    /// The start of the clock.
    pub const ZERO: MonoTime = MonoTime(0);

    /// The time since `earlier`, zero if that is later.
    pub fn since(self, earlier: MonoTime) -> Duration {
        Duration::from_micros(self.0.saturating_sub(earlier.0))
    }
}

impl Add<Duration> for MonoTime {
    type Output = MonoTime;

    fn add(self, duration: Duration) -> MonoTime {
        let micros = u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
        MonoTime(self.0.saturating_add(micros))
    }
}

/// Saturates at the start of the clock.
impl Sub<Duration> for MonoTime {
    type Output = MonoTime;

    fn sub(self, duration: Duration) -> MonoTime {
        let micros = u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
        MonoTime(self.0.saturating_sub(micros))
    }
}

impl fmt::Display for MonoTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:06}s", self.0 / 1_000_000, self.0 % 1_000_000)
    }
}

/// A point of the wall clock, in milliseconds since 1970, as Kafka writes it into batches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct WallTime(pub i64);

impl fmt::Display for WallTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
