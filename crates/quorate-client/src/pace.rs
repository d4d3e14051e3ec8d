//! When a client may ask again.
//!
//! Two back-offs, of which the longer counts: one grows with failures in a row, one with answers in
//! a row that brought nothing new, since a client that is told the same old leader again and again
//! must not hammer the cluster either. Both double from 100 ms up to 1 s and are spread by 20 % either
//! way, so that clients which lost the same broker do not come back together.

use std::time::Duration;

use quorate_types::{MonoTime, Rng};

/// In hundredths: each wait is multiplied by something from 80 to 120.
const SPREAD: u64 = 20;

#[derive(Debug, Clone)]
pub(crate) struct Pace {
    initial: Duration,
    longest: Duration,
    failures: u32,
    equal_answers: u32,
    after_failures: MonoTime,
    after_equal_answers: MonoTime,
}

impl Pace {
    pub(crate) fn new(initial: Duration, longest: Duration) -> Pace {
        Pace {
            initial,
            longest,
            failures: 0,
            equal_answers: 0,
            after_failures: MonoTime::ZERO,
            after_equal_answers: MonoTime::ZERO,
        }
    }

    /// No answer, or one that does not count.
    pub(crate) fn failed(&mut self, now: MonoTime, rng: &mut Rng) {
        self.failures = self.failures.saturating_add(1);
        self.after_failures = now + self.wait(self.failures, rng);
        self.forget_equal_answers();
    }

    /// An answer; `news` if it told anything that was not known.
    pub(crate) fn answered(&mut self, now: MonoTime, news: bool, rng: &mut Rng) {
        self.failures = 0;
        self.after_failures = now + self.wait(1, rng);
        if news {
            self.forget_equal_answers();
        } else {
            self.equal_answers = self.equal_answers.saturating_add(1);
            self.after_equal_answers = now + self.wait(self.equal_answers, rng);
        }
    }

    pub(crate) fn forget_equal_answers(&mut self) {
        self.equal_answers = 0;
        self.after_equal_answers = MonoTime::ZERO;
    }

    /// Something new is wanted that no answer so far was asked for: no waiting, but for failures.
    pub(crate) fn new_question(&mut self) {
        self.forget_equal_answers();
        if self.failures == 0 {
            self.after_failures = MonoTime::ZERO;
        }
    }

    /// The earliest time to ask.
    pub(crate) fn not_before(&self) -> MonoTime {
        self.after_failures.max(self.after_equal_answers)
    }

    fn wait(&self, times: u32, rng: &mut Rng) -> Duration {
        let doublings = times.saturating_sub(1).min(31);
        let wait = self
            .initial
            .saturating_mul(1 << doublings)
            .min(self.longest);
        let percent = 100 - SPREAD + rng.below(2 * SPREAD + 1);
        let micros = u64::try_from(wait.as_micros()).unwrap_or(u64::MAX);
        Duration::from_micros(micros.saturating_mul(percent) / 100)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn millis(pace: &Pace, now: MonoTime) -> u128 {
        pace.not_before().since(now).as_millis()
    }

    #[test]
    fn failures_and_equal_answers_double_the_wait_and_news_end_it() {
        let mut rng = Rng::new(1);
        let mut pace = Pace::new(Duration::from_millis(100), Duration::from_secs(1));
        let now = MonoTime(7_000_000);
        for expected in [100, 200, 400, 800, 1000, 1000] {
            pace.failed(now, &mut rng);
            let wait = millis(&pace, now);
            assert!(
                (expected * 8 / 10..=expected * 12 / 10).contains(&wait),
                "{wait}"
            );
        }
        for expected in [100, 200, 400, 800, 1000] {
            pace.answered(now, false, &mut rng);
            let wait = millis(&pace, now);
            assert!(
                (expected * 8 / 10..=expected * 12 / 10).contains(&wait),
                "{wait}"
            );
        }
        pace.answered(now, true, &mut rng);
        assert!((80..=120).contains(&millis(&pace, now)));
        pace.new_question();
        assert_eq!(pace.not_before(), MonoTime::ZERO);
    }

    #[test]
    fn a_new_question_still_waits_for_failures() {
        let mut rng = Rng::new(1);
        let mut pace = Pace::new(Duration::from_millis(100), Duration::from_secs(1));
        pace.failed(MonoTime::ZERO, &mut rng);
        pace.new_question();
        assert!(pace.not_before() >= MonoTime(80_000));
    }
}
