//! A quorum of controllers and their brokers in one process: real sockets, real files, Kafka's
//! protocol.
//!
//! ```text
//! cargo run --release --example cluster              # stays up until Ctrl-C
//! cargo run --release --example cluster -- --tour    # plays a story of crashes and returns
//! cargo run --release --example cluster -- --help
//! ```
#![allow(clippy::disallowed_methods)] // A program of its own: it waits and measures.

mod admin;
mod args;
mod layout;
mod nodes;
mod report;
mod show;
mod tell;
mod tour;
mod world;

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use clap::Parser;

use crate::args::Args;
use crate::report::Report;
use crate::show::Show;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let started = Instant::now();
    let args = Args::parse();
    let filter = tracing_subscriber::EnvFilter::try_from_default_env()
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("warn"));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .init();
    match run(&args, started) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("cluster: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Whether all went well.
fn run(args: &Args, started: Instant) -> anyhow::Result<bool> {
    let temporary = match &args.data_dir {
        Some(_) => None,
        None => Some(tempfile::tempdir()?),
    };
    let data_dir = match (&args.data_dir, &temporary) {
        (Some(dir), _) => dir.clone(),
        (None, Some(temporary)) => temporary.path().to_owned(),
        (None, None) => unreachable!("one of the two is there"),
    };
    let stop = Arc::new(AtomicBool::new(false));
    let mut show = Show::start(args, &data_dir, started, stop.clone())?;
    stop_on_signals(&show, &stop)?;
    show.wait_until_ready()?;
    if args.tour {
        return tour::play(show);
    }
    show.introduce(args.data_dir.is_none());
    while !stop.load(Ordering::Relaxed) {
        show.listen(std::time::Duration::from_millis(100));
        show.check_nodes()?;
    }
    Report::new(args.json).say("stopping");
    show.finish()?;
    Ok(true)
}

/// Ctrl-C and SIGTERM ask the cluster to stop; a second one ends the program at once.
fn stop_on_signals(show: &Show, stop: &Arc<AtomicBool>) -> anyhow::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let _entered = show.runtime().enter();
    for kind in [SignalKind::interrupt(), SignalKind::terminate()] {
        let mut signals = signal(kind)?;
        let stop = stop.clone();
        show.runtime().spawn(async move {
            while signals.recv().await.is_some() {
                if stop.swap(true, Ordering::Relaxed) {
                    std::process::exit(130);
                }
            }
        });
    }
    Ok(())
}
