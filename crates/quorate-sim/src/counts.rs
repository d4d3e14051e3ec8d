//! What happened in a run, counted.

/// What happened, counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Events of the simulator.
    pub events: u64,
    /// Processes that were killed or lost their power.
    pub crashes: u64,
    /// Processes that stopped because a write failed.
    pub disk_failures: u64,
    /// Processes that ended in good order.
    pub shutdowns: u64,
    /// Cuts between machines.
    pub cuts: u64,
    /// Connections that were reset.
    pub resets: u64,
    /// Disks that were slow or hung for a while.
    pub slow_disks: u64,
    /// Snapshots that nodes wrote.
    pub snapshots: u64,
    /// Snapshots that nodes fetched.
    pub fetched_snapshots: u64,
    /// Jumps of the wall clock.
    pub clock_jumps: u64,
    /// Voters that were added or removed.
    pub voter_changes: u64,
    /// Times that a client saw what a broker shows.
    pub views: u64,
    /// Answers from which a client could not tell what came of its request.
    pub unknown_outcomes: u64,
}
