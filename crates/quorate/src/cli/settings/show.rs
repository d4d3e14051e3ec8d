//! `quorate settings`: the table of keys, as `docs/operations.md` has it.

use crate::output;

/// Show every configuration key of a controller: what is allowed, the default, and its effect here.
///
/// The keys are Kafka's. Those that concern brokers alone are not listed; they may stand in the file
/// and have no effect.
#[derive(Debug, clap::Args)]
pub struct Show {}

impl Show {
    /// Prints the table.
    pub fn run(&self) -> anyhow::Result<bool> {
        output::print(super::key::document());
        Ok(true)
    }
}
