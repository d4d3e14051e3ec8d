//! How long to wait after how many failures: doubling from a first wait up to a longest one.

use std::time::Duration;

/// A doubling back-off without jitter: there is one channel to one controller, so nobody to get out
/// of step with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backoff {
    /// After the first failure.
    pub initial: Duration,
    /// Never longer than this.
    pub longest: Duration,
}

impl Backoff {
    /// The wait after so many failures in a row; zero after none.
    pub fn after(self, failures: u32) -> Duration {
        match failures.checked_sub(1) {
            None => Duration::ZERO,
            Some(doublings) => self
                .initial
                .saturating_mul(1_u32.checked_shl(doublings).unwrap_or(u32::MAX))
                .min(self.longest),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_the_longest() {
        let backoff = Backoff {
            initial: Duration::from_millis(100),
            longest: Duration::from_secs(10),
        };
        let waits = [0, 1, 2, 3, 7, 8, 40, u32::MAX].map(|failures| backoff.after(failures));
        let expected = [0, 100, 200, 400, 6400, 10_000, 10_000, 10_000].map(Duration::from_millis);
        assert_eq!(waits, expected);
    }
}
