//! The engine's limits.

use std::time::Duration;

/// The bounds an engine keeps. The defaults are Kafka's where it has any.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EngineConfig {
    /// Records in one batch, and so in one atomic decision.
    pub batch_records_max: usize,
    /// Commands that wait in each lane.
    pub lane_commands_max: usize,
    /// Decisions in one turn.
    pub turn_decisions_max: usize,
    /// Records after which a turn takes no further command.
    pub turn_records_max: usize,
    /// Replies that wait for their commit; beyond it nothing more is decided.
    pub parked_max: usize,
    /// When to try again after the log took no more.
    pub full_retry: Duration,
    /// When to run a task again that failed.
    pub task_retry: Duration,
}

impl Default for EngineConfig {
    fn default() -> Self {
        EngineConfig {
            batch_records_max: 10_000,
            lane_commands_max: 4_096,
            turn_decisions_max: 256,
            turn_records_max: 10_000,
            parked_max: 65_536,
            full_retry: Duration::from_millis(10),
            task_retry: Duration::from_secs(300),
        }
    }
}
