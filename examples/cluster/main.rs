//! A quorum of controllers and their brokers in one process: real sockets, real files, Kafka's
//! protocol.
//!
//! ```text
//! cargo run --release --example cluster              # stays up until Ctrl-C
//! cargo run --release --example cluster -- --tour    # plays a story of crashes and returns
//! cargo run --release --example cluster -- --help
//! ```
#![allow(clippy::disallowed_methods)] // A program of its own: it waits and measures.

mod args;
mod layout;
mod nodes;
mod report;

use std::process::ExitCode;
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use clap::Parser;
use quorate_server::events::NodeEvent;
use serde_json::json;

use crate::args::Args;
use crate::nodes::Nodes;
use crate::report::Report;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let started = Instant::now();
    let args = Args::parse();
    tracing_subscriber::fmt()
        .with_env_filter(
            tracing_subscriber::EnvFilter::try_from_default_env()
                .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("warn")),
        )
        .with_writer(std::io::stderr)
        .init();
    match run(&args, started) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("cluster: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &Args, started: Instant) -> anyhow::Result<()> {
    let report = Report::new(args.json);
    let temporary = match &args.data_dir {
        Some(_) => None,
        None => Some(tempfile::tempdir()?),
    };
    let data_dir = args
        .data_dir
        .clone()
        .or_else(|| temporary.as_ref().map(|dir| dir.path().to_owned()))
        .unwrap_or_default();
    let (nodes, events) = Nodes::start(args, &data_dir)?;
    loop {
        match events.recv_timeout(Duration::from_secs(1)) {
            Ok(told) => {
                let at = told.at.duration_since(started);
                if !matches!(told.event, NodeEvent::Published { .. }) {
                    report.event(
                        at,
                        "event",
                        json!({"node": told.node.0, "text": told.event.to_string()}),
                        &format!("[{}] {}", told.node, told.event),
                    );
                }
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    nodes.stop_all()
}
