//! Positions in the metadata log.
//!
//! Ends are exclusive everywhere inside quorate and are named `*_end`; Kafka's inclusive offsets
//! exist only at the wire.

use std::fmt;
use std::ops::{Add, AddAssign, Sub};

/// A position in the metadata log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Offset(pub i64);

impl Offset {
    /// The start of a log that never lost its head.
    pub const ZERO: Offset = Offset(0);

    /// The offset, or `None` where the wire carries a negative one for "unknown".
    pub fn from_wire(offset: i64) -> Option<Offset> {
        (offset >= 0).then_some(Offset(offset))
    }

    /// The offset as Kafka writes it: `-1` for unknown.
    pub fn to_wire(offset: Option<Offset>) -> i64 {
        offset.map_or(-1, |offset| offset.0)
    }
}

impl fmt::Display for Offset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Add<i64> for Offset {
    type Output = Offset;

    fn add(self, count: i64) -> Offset {
        Offset(self.0 + count)
    }
}

impl AddAssign<i64> for Offset {
    fn add_assign(&mut self, count: i64) {
        self.0 += count;
    }
}

impl Sub<i64> for Offset {
    type Output = Offset;

    fn sub(self, count: i64) -> Offset {
        Offset(self.0 - count)
    }
}

/// The number of records between two offsets.
impl Sub for Offset {
    type Output = i64;

    fn sub(self, earlier: Offset) -> i64 {
        self.0 - earlier.0
    }
}

/// An epoch of the metadata quorum: at most one leader each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Epoch(pub i32);

impl Epoch {
    /// The epoch after this one.
    ///
    /// # Panics
    /// After 2³¹ − 1 elections, which no cluster lives to see.
    pub fn next(self) -> Epoch {
        Epoch(self.0.checked_add(1).expect("raft epochs are exhausted"))
    }
}

impl fmt::Display for Epoch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// An exclusive end and the epoch of the record before it: how logs are compared and snapshots named.
///
/// Ordered by epoch first, which is Raft's "up to date".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct OffsetAndEpoch {
    /// The first offset that is not contained.
    pub offset: Offset,
    /// The epoch of the last record contained.
    pub epoch: Epoch,
}

impl OffsetAndEpoch {
    /// Joins an end and the epoch before it.
    pub const fn new(offset: i64, epoch: i32) -> OffsetAndEpoch {
        OffsetAndEpoch {
            offset: Offset(offset),
            epoch: Epoch(epoch),
        }
    }
}

impl PartialOrd for OffsetAndEpoch {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for OffsetAndEpoch {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.epoch, self.offset).cmp(&(other.epoch, other.offset))
    }
}

impl fmt::Display for OffsetAndEpoch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.offset, self.epoch)
    }
}
