//! `quorate-sim`: runs seeds and says what came of them.

use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};
use quorate_sim::{Options, run};

#[derive(Parser)]
#[command(version, about = "Simulates whole clusters and checks them")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run seeds; the exit code is 1 if a law did not hold.
    Run(RunArgs),
}

#[derive(Args)]
struct RunArgs {
    /// The first seed.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How many seeds.
    #[arg(long, default_value_t = 1)]
    seeds: u64,
    /// How many faults a seed has.
    #[arg(long, default_value_t = Options::default().steps)]
    steps: u32,
    /// How many brokers; by the seed if not given.
    #[arg(long)]
    brokers: Option<usize>,
    /// One JSON object a seed.
    #[arg(long)]
    json: bool,
    /// Print each seed's history.
    #[arg(long)]
    trace: bool,
}

fn main() -> ExitCode {
    let Cli {
        command: Command::Run(args),
    } = Cli::parse();
    let options = Options {
        steps: args.steps,
        trace: args.trace,
        brokers: args.brokers,
    };
    let mut failed = 0;
    for seed in args.seed..args.seed.saturating_add(args.seeds) {
        let report = run(seed, options);
        for line in &report.lines {
            println!("{line}");
        }
        if args.json {
            println!("{}", report.json(options));
        } else {
            println!("{report}");
            if report.violation.is_some() && !args.trace {
                println!("  replay: {}", report.replay(options));
            }
        }
        failed += u64::from(report.violation.is_some());
    }
    if !args.json && args.seeds > 1 {
        println!(
            "{} of {} seeds kept every law",
            args.seeds - failed,
            args.seeds
        );
    }
    ExitCode::from(u8::from(failed > 0))
}
