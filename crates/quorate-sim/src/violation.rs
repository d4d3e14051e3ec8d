//! What a run can be failed for.

use std::fmt;

/// A law that did not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// The law's name.
    pub law: &'static str,
    /// What was seen instead.
    pub detail: String,
}

impl Violation {
    /// That law did not hold, as `detail` shows.
    pub fn new(law: &'static str, detail: impl Into<String>) -> Violation {
        Violation {
            law,
            detail: detail.into(),
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.law, self.detail)
    }
}

/// Whether the laws held.
pub type Verdict = Result<(), Violation>;
