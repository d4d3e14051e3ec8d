//! When it is time for a snapshot.

use std::time::Duration;

use quorate_types::MonoTime;

/// Decides when to write a snapshot: after so many bytes of log, or so long after the last one.
///
/// Whoever holds it says what happens and asks; it knows neither the log nor a clock.
#[derive(Debug, Clone)]
pub struct SnapshotTrigger {
    max_bytes: u64,
    max_age: Option<Duration>,
    bytes: u64,
    since: MonoTime,
    changed: bool,
    writing: bool,
}

/// Why a snapshot is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SnapshotReason {
    /// Enough was applied since the last one.
    Bytes,
    /// The last one is old.
    Age,
}

impl SnapshotTrigger {
    /// Kafka's default of `metadata.log.max.record.bytes.between.snapshots`.
    pub const DEFAULT_MAX_BYTES: u64 = 20 * 1024 * 1024;
    /// Kafka's default of `metadata.log.max.snapshot.interval.ms`.
    pub const DEFAULT_MAX_AGE: Duration = Duration::from_secs(3600);

    /// A snapshot is due after `max_bytes` of log, or `max_age` after the last; zero means never.
    pub fn new(max_bytes: u64, max_age: Duration, now: MonoTime) -> SnapshotTrigger {
        SnapshotTrigger {
            max_bytes,
            max_age: (!max_age.is_zero()).then_some(max_age),
            bytes: 0,
            since: now,
            changed: false,
            writing: false,
        }
    }

    /// So many bytes of committed log were applied.
    pub fn applied(&mut self, bytes: u64) {
        self.bytes = self.bytes.saturating_add(bytes);
        self.changed |= bytes > 0;
    }

    /// Why a snapshot is due now, if it is: never while one is being written or nothing was applied.
    pub fn due(&self, now: MonoTime) -> Option<SnapshotReason> {
        if self.writing || !self.changed {
            return None;
        }
        if self.max_bytes > 0 && self.bytes >= self.max_bytes {
            return Some(SnapshotReason::Bytes);
        }
        let age = self.max_age.filter(|age| now.since(self.since) >= *age);
        age.map(|_| SnapshotReason::Age)
    }

    /// When the last one will be too old.
    pub fn deadline(&self) -> Option<MonoTime> {
        let age = self.max_age.filter(|_| self.changed && !self.writing)?;
        Some(self.since + age)
    }

    /// Writing begins.
    pub fn started(&mut self, now: MonoTime) {
        self.writing = true;
        self.restart(now);
    }

    /// Writing ended, well or not.
    pub fn ended(&mut self) {
        self.writing = false;
    }

    /// A snapshot was loaded, which counts as if it had been written.
    pub fn loaded(&mut self, now: MonoTime) {
        self.restart(now);
    }

    fn restart(&mut self, now: MonoTime) {
        self.bytes = 0;
        self.since = now;
        self.changed = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_secs(3600);

    #[test]
    fn enough_bytes_or_enough_time_make_one_due() {
        let mut trigger = SnapshotTrigger::new(100, HOUR, MonoTime::ZERO);
        assert_eq!(
            trigger.due(MonoTime::ZERO + HOUR),
            None,
            "nothing was applied"
        );
        trigger.applied(99);
        assert_eq!(trigger.due(MonoTime::ZERO), None);
        assert_eq!(
            trigger.due(MonoTime::ZERO + HOUR),
            Some(SnapshotReason::Age)
        );
        assert_eq!(trigger.deadline(), Some(MonoTime::ZERO + HOUR));
        trigger.applied(1);
        assert_eq!(trigger.due(MonoTime::ZERO), Some(SnapshotReason::Bytes));
    }

    #[test]
    fn only_one_is_written_at_a_time_and_both_counts_start_over() {
        let mut trigger = SnapshotTrigger::new(100, HOUR, MonoTime::ZERO);
        trigger.applied(100);
        trigger.started(MonoTime(5));
        trigger.applied(200);
        assert_eq!(trigger.due(MonoTime(5) + HOUR), None);
        trigger.ended();
        assert_eq!(trigger.due(MonoTime(6)), Some(SnapshotReason::Bytes));
        trigger.loaded(MonoTime(6));
        trigger.applied(1);
        assert_eq!(trigger.due(MonoTime(5) + HOUR), None);
        assert_eq!(trigger.due(MonoTime(6) + HOUR), Some(SnapshotReason::Age));
    }

    #[test]
    fn zero_means_never() {
        let mut trigger = SnapshotTrigger::new(0, Duration::ZERO, MonoTime::ZERO);
        trigger.applied(u64::MAX);
        assert_eq!(trigger.due(MonoTime(u64::MAX)), None);
        assert_eq!(trigger.deadline(), None);
    }
}
