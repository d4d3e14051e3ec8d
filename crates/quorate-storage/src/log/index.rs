//! A segment's sparse index: which batch lies where, a point at most every 4 KiB.
//!
//! It is made anew from the batches whenever a log is opened. Its files, `.index` and `.timeindex`,
//! are written for Kafka's sake when a segment is complete or the log is closed, and never read.

use quorate_protocol::batch::BatchHeader;
use quorate_types::Offset;

/// Kafka's `index.interval.bytes`.
const INTERVAL_BYTES: u64 = 4096;

/// A batch's last offset, relative to the segment's base, and where the batch starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Point {
    last: i32,
    position: u32,
}

/// A timestamp no batch before exceeds, and the last offset of the first batch that has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct TimePoint {
    timestamp: i64,
    last: i32,
}

/// The index of one segment.
#[derive(Debug, Clone, Default)]
pub(crate) struct SparseIndex {
    points: Vec<Point>,
    times: Vec<TimePoint>,
    latest: Option<TimePoint>,
    /// The timestamp of the segment's first batch.
    pub(crate) first_timestamp: Option<i64>,
    bytes_since_point: u64,
}

impl SparseIndex {
    /// Notes the batch that lies at `position` of the segment which starts at `base`.
    pub(crate) fn note(&mut self, base: Offset, batch: &BatchHeader, position: u64) {
        let last = relative(base, batch.end_offset() - 1);
        let timestamp = batch.timestamp.0;
        self.first_timestamp.get_or_insert(timestamp);
        if self
            .latest
            .is_none_or(|latest| timestamp > latest.timestamp)
        {
            self.latest = Some(TimePoint { timestamp, last });
        }
        if self.bytes_since_point > INTERVAL_BYTES {
            if let Ok(position) = u32::try_from(position) {
                self.points.push(Point { last, position });
            }
            self.note_time();
            self.bytes_since_point = 0;
        }
        self.bytes_since_point += batch.size as u64;
    }

    /// A position at or before the batch that holds `offset`.
    pub(crate) fn find(&self, base: Offset, offset: Offset) -> u64 {
        let wanted = relative(base, offset);
        let after = self.points.partition_point(|point| point.last <= wanted);
        match after.checked_sub(1) {
            Some(before) => u64::from(self.points[before].position),
            None => 0,
        }
    }

    /// Forgets what lies at or after the point at `position`; the batches from there on have to be
    /// noted again.
    pub(crate) fn cut(&mut self, position: u64) {
        let kept = |point: &Point| u64::from(point.position) < position;
        let points = self.points.partition_point(kept);
        self.points.truncate(points);
        let last = self.points.last().map_or(-1, |point| point.last);
        self.times.retain(|time| time.last <= last);
        self.latest = self.times.last().copied();
        if position == 0 {
            self.first_timestamp = None;
            self.bytes_since_point = 0;
        } else {
            // The batch at the point gets its point again.
            self.bytes_since_point = INTERVAL_BYTES + 1;
        }
    }

    /// The bytes of the `.index` file.
    pub(crate) fn offset_file(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.points.len() * 8);
        for point in &self.points {
            bytes.extend(point.last.to_be_bytes());
            bytes.extend(point.position.to_be_bytes());
        }
        bytes
    }

    /// The bytes of the `.timeindex` file of a segment that is complete: with a last point for the
    /// latest timestamp.
    pub(crate) fn time_file(&mut self) -> Vec<u8> {
        self.note_time();
        let mut bytes = Vec::with_capacity(self.times.len() * 12);
        for time in &self.times {
            bytes.extend(time.timestamp.to_be_bytes());
            bytes.extend(time.last.to_be_bytes());
        }
        bytes
    }

    fn note_time(&mut self) {
        let known = self.times.last().map(|time| time.timestamp);
        if let Some(latest) = self.latest
            && known.is_none_or(|known| latest.timestamp > known)
        {
            self.times.push(latest);
        }
    }
}

/// The distance from a segment's base; the log rolls before it exceeds 31 bits.
fn relative(base: Offset, offset: Offset) -> i32 {
    i32::try_from(offset - base).unwrap_or(i32::MAX)
}
