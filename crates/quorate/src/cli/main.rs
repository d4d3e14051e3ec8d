//! The program `quorate`: a Kafka controller, and what an operator needs around it.
//!
//! One module a subcommand. Each returns whether all went well, or why it could not be done; only
//! here that becomes an exit code: 0 well, 1 failed, 2 used wrongly.

mod dump;
mod format;
mod info;
mod output;
mod remote;
mod settings;
mod snapshot;
mod start;

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};
use clap_complete::Shell;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// A metadata controller for Kafka clusters (KRaft), and the tools around it.
///
/// Controllers keep the metadata of a cluster: its topics, brokers, configuration. Stock Kafka
/// brokers, clients and tools work with them as with Kafka's own.
#[derive(Debug, Parser)]
#[command(name = "quorate", version, propagate_version = true)]
struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Format(format::Format),
    Info(info::Info),
    Start(start::Start),
    Quorum(remote::quorum::Quorum),
    Topics(remote::topics::Topics),
    Dump(dump::Dump),
    Snapshot(snapshot::Snapshot),
    Settings(settings::Show),
    /// Print a new random id, for a cluster or a directory.
    RandomUuid,
    /// Print what a shell needs to complete this program's commands and flags.
    ///
    /// For bash: quorate completions bash > /etc/bash_completion.d/quorate
    Completions {
        /// The shell.
        shell: Shell,
    },
}

fn main() -> ExitCode {
    // Usage errors end the program in here, with code 2.
    let args = Args::parse();
    let done = match args.command {
        Command::Format(format) => format.run(),
        Command::Info(info) => info.run(),
        Command::Start(start) => start.run(),
        Command::Quorum(quorum) => quorum.run(),
        Command::Topics(topics) => topics.run(),
        Command::Dump(dump) => dump.run(),
        Command::Snapshot(snapshot) => snapshot.run(),
        Command::Settings(show) => show.run(),
        Command::RandomUuid => {
            output::line(quorate::node::entropy().uuid());
            Ok(true)
        }
        Command::Completions { shell } => {
            let mut command = Args::command();
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut command, "quorate", &mut script);
            output::print(String::from_utf8_lossy(&script));
            Ok(true)
        }
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("quorate: {error:#}");
            ExitCode::FAILURE
        }
    }
}
