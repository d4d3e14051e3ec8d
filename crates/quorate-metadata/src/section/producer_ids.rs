//! The next producer id that may be given out.

/// How far producer ids were given out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ProducerIds {
    /// The first id that no broker was given; `None` before the first block.
    pub next: Option<i64>,
}
