//! A seed's report as a line: for people, or as JSON.

use std::fmt;

use serde_json::json;

use crate::run::{Options, Report};

impl Report {
    /// The command that plays this seed again and prints what happened.
    pub fn replay(&self, options: Options) -> String {
        let brokers = options
            .brokers
            .map(|brokers| format!(" --brokers {brokers}"));
        let (seed, steps) = (self.seed, options.steps);
        format!(
            "cargo run -p quorate-sim -- run --seed {seed} --steps {steps}{} --trace",
            brokers.unwrap_or_default()
        )
    }

    /// As one JSON object.
    pub fn json(&self, options: Options) -> String {
        let counts = self.counts;
        let violation = self.violation.as_ref();
        json!({
            "seed": self.seed,
            "ok": violation.is_none(),
            "law": violation.map(|violation| violation.law),
            "violation": violation.map(|violation| violation.detail.clone()),
            "replay": violation.map(|_| self.replay(options)),
            "history": format!("{:016x}", self.history),
            "virtual_ms": self.time.as_millis() as u64,
            "settled_ms": self.settled_after.map(|time| time.as_millis() as u64),
            "committed": self.committed.0,
            "epochs": self.epochs,
            "acknowledged": self.acknowledged,
            "voter_changes": counts.voter_changes,
            "views": counts.views,
            "unknown_outcomes": counts.unknown_outcomes,
            "events": counts.events,
            "crashes": counts.crashes,
            "disk_failures": counts.disk_failures,
            "shutdowns": counts.shutdowns,
            "cuts": counts.cuts,
            "resets": counts.resets,
            "snapshots": counts.snapshots,
            "fetched_snapshots": counts.fetched_snapshots,
            "slow_disks": counts.slow_disks,
            "clock_jumps": counts.clock_jumps,
        })
        .to_string()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts = self.counts;
        write!(f, "seed {}: ", self.seed)?;
        match &self.violation {
            None => f.write_str("ok")?,
            Some(violation) => write!(f, "FAILED {violation}")?,
        }
        write!(
            f,
            "; {:.1} s, {} records, {} epochs, {} acknowledged, {} unknown, {} crashes, {} cuts, \
             {} failed disks, {} snapshots, {} fetched",
            self.time.as_secs_f64(),
            self.committed,
            self.epochs,
            self.acknowledged,
            counts.unknown_outcomes,
            counts.crashes,
            counts.cuts,
            counts.disk_failures,
            counts.snapshots,
            counts.fetched_snapshots,
        )?;
        match self.settled_after {
            Some(time) => write!(f, ", settled after {:.1} s", time.as_secs_f64()),
            None => Ok(()),
        }
    }
}
