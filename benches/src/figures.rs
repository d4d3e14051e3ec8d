//! Durations as figures: medians and extremes, since the machines are noisy.

use std::fmt;
use std::time::Duration;

/// Durations that were measured, shortest first.
#[derive(Debug, Clone, Default)]
pub struct Figures {
    sorted: Vec<Duration>,
}

impl Figures {
    /// The figures of these durations.
    pub fn of(mut durations: Vec<Duration>) -> Figures {
        durations.sort();
        Figures { sorted: durations }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.sorted.len()
    }

    /// The one in the middle; zero if there is none.
    pub fn median(&self) -> Duration {
        self.quantile(0.5)
    }

    /// The one below which that share of them lies.
    pub fn quantile(&self, share: f64) -> Duration {
        let place = (self.sorted.len() as f64 * share) as usize;
        let last = self.sorted.len().saturating_sub(1);
        self.sorted
            .get(place.min(last))
            .copied()
            .unwrap_or_default()
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "median {} (min {}, p90 {}, max {}; {} of them)",
            Time(self.median()),
            Time(self.quantile(0.0)),
            Time(self.quantile(0.9)),
            Time(self.quantile(1.0)),
            self.count()
        )
    }
}

/// A duration in milliseconds, as it is printed.
#[derive(Debug, Clone, Copy)]
pub struct Time(pub Duration);

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.3} ms", self.0.as_secs_f64() * 1e3)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_ms(ms: &[u64]) -> Figures {
        Figures::of(ms.iter().map(|ms| Duration::from_millis(*ms)).collect())
    }

    #[test]
    fn the_order_of_the_measurements_does_not_matter() {
        let figures = of_ms(&[5, 1, 4, 2, 3]);
        assert_eq!(figures.median(), Duration::from_millis(3));
        assert_eq!(figures.quantile(0.0), Duration::from_millis(1));
        assert_eq!(figures.quantile(1.0), Duration::from_millis(5));
    }

    #[test]
    fn no_measurement_is_no_time() {
        assert_eq!(of_ms(&[]).median(), Duration::ZERO);
    }
}
