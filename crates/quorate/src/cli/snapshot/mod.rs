//! `quorate snapshot`: what the files of a node say the metadata is, at their end or at an offset.

mod read;
mod report;

use std::path::PathBuf;

use clap::{Args, Subcommand};
use quorate::types::Offset;

use crate::output;

/// Look at the metadata that a directory holds.
#[derive(Debug, Args)]
pub struct Snapshot {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Show brokers, topics and all else, as the files of a directory have it.
    ///
    /// The newest snapshot and the log behind it are read, and nothing is changed, so a node may run
    /// on the directory meanwhile. The end of a log may not be committed yet.
    Show(Show),
}

#[derive(Debug, Args)]
struct Show {
    /// A log directory, or the directory of the metadata log in it.
    dir: PathBuf,
    /// Only what lies before that offset.
    #[arg(long, value_name = "OFFSET")]
    at: Option<i64>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

impl Snapshot {
    /// Prints it; false if records did not fit.
    pub fn run(&self) -> anyhow::Result<bool> {
        let Command::Show(show) = &self.command;
        let found = read::metadata(&show.dir, show.at.map(Offset))?;
        match show.json {
            true => output::line(format_args!("{:#}", report::json(&found))),
            false => output::print(report::text(&found)),
        }
        for problem in &found.problems {
            eprintln!("quorate: {problem}");
        }
        Ok(found.problems.is_empty())
    }
}
