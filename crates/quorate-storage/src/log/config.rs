//! How a log is kept.

/// How a log is kept; the defaults are Kafka's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogConfig {
    /// A segment gets no longer than this (`metadata.log.segment.bytes`).
    pub segment_bytes: u64,
    /// Between the first and the last batch of a segment lies no more time than this, by the
    /// batches' timestamps, in milliseconds (`metadata.log.segment.ms`).
    pub segment_ms: i64,
}

impl Default for LogConfig {
    fn default() -> LogConfig {
        LogConfig {
            segment_bytes: 1024 * 1024 * 1024,
            segment_ms: 7 * 24 * 60 * 60 * 1000,
        }
    }
}
