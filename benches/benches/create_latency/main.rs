//! What a create of one topic costs on a whole cluster, beside what one flush of its disk costs.
//!
//! Three controllers and three brokers in this process, loopback sockets, files in a temporary
//! directory. The two are measured by turns, so that both see the same disk and the same
//! neighbours. A create counts when it is answered: decided, on the disks of a majority, applied.
//!
//! ```text
//! cargo bench -p quorate-benches --bench create_latency -- --max-ratio 6
//! ```
#![allow(clippy::disallowed_methods)] // A program of its own: it waits and measures.

mod cluster;
mod creates;
mod disk;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::Context;
use clap::Parser;
use quorate_benches::figures::{Figures, Time};
use quorate_benches::is_measuring;

use crate::cluster::Cluster;
use crate::creates::Creator;
use crate::disk::Probe;

/// The latency of creates beside the latency of the disk.
#[derive(Debug, Parser)]
#[command(name = "create_latency")]
struct Args {
    /// Fail if the median create takes more than this many times the median flush.
    #[arg(long, value_name = "RATIO")]
    max_ratio: Option<f64>,

    /// Creates of each kind that are measured.
    #[arg(long, default_value_t = 300, value_name = "N")]
    creates: usize,

    /// How many topics there are when memory is measured.
    #[arg(long, default_value_t = 1000, value_name = "N")]
    topics: usize,

    /// Make the temporary directory in this one, to measure its disk.
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,

    /// Given by `cargo bench`.
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() -> ExitCode {
    // `cargo test --benches` runs this too, without `--bench`: there is nothing to test.
    if !is_measuring() {
        return ExitCode::SUCCESS;
    }
    match run(&Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("create_latency: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Measured by turns.
#[derive(Debug, Default)]
struct Measured {
    flushes: Vec<Duration>,
    small_flushes: Vec<Duration>,
    through_broker: Vec<Duration>,
    at_controller: Vec<Duration>,
}

/// How many of each are measured before it is the next one's turn.
const ROUND: usize = 20;

/// How many clients create at the same time, each one topic after the other.
const CLIENTS: usize = 16;

fn run(args: &Args) -> anyhow::Result<()> {
    let dir = match &args.dir {
        Some(dir) => tempfile::tempdir_in(dir),
        None => tempfile::tempdir(),
    };
    let dir = dir.context("cannot make a temporary directory")?;
    let mut probe = Probe::new(dir.path(), 4096)?;
    // As much as a create appends: mostly within a block, which some file systems do faster.
    let mut small_probe = Probe::new(dir.path(), 224)?;
    let start = Instant::now();
    let cluster = Cluster::start(dir.path(), Duration::from_secs(30))?;
    let ready = start.elapsed();

    let mut broker = Creator::connect(&cluster.broker()?, "broker")?;
    let mut controller = Creator::connect(&cluster.active_controller()?, "controller")?;
    // The first ones open connections and warm caches.
    broker.create_each(ROUND)?;
    controller.create_each(ROUND)?;
    let mut measured = Measured::default();
    while measured.at_controller.len() < args.creates {
        measured.flushes.extend(probe.flush_each(ROUND)?);
        measured
            .small_flushes
            .extend(small_probe.flush_each(ROUND)?);
        measured.through_broker.extend(broker.create_each(ROUND)?);
        measured
            .at_controller
            .extend(controller.create_each(ROUND)?);
    }
    let (at_once, took) = create_at_once(&cluster)?;
    let created = broker.created() + controller.created() + at_once;
    broker.create_in_bulk(args.topics.saturating_sub(created))?;
    cluster.wait_for_topics(args.topics.max(created), Duration::from_secs(10))?;
    let resident_mb = resident_mb()?;
    cluster.stop()?;

    let flush = Figures::of(measured.flushes);
    let through_broker = Figures::of(measured.through_broker);
    let at_controller = Figures::of(measured.at_controller);
    let ratio = |of: &Figures| of.median().as_secs_f64() / flush.median().as_secs_f64();
    let worst = ratio(&through_broker).max(ratio(&at_controller));
    println!("fdatasync of 4 KiB appended        {flush}");
    println!(
        "fdatasync of 224 bytes appended    {}",
        Figures::of(measured.small_flushes)
    );
    println!("create at the active controller    {at_controller}");
    println!("create through a broker            {through_broker}");
    println!(
        "times fdatasync of 4 KiB           {:.2} at the controller, {:.2} through a broker",
        ratio(&at_controller),
        ratio(&through_broker)
    );
    println!(
        "creates of {CLIENTS} clients at once       {:.0} a second",
        at_once as f64 / took.as_secs_f64()
    );
    println!("start to all brokers unfenced      {}", Time(ready));
    println!(
        "resident, six nodes, {} topics   {resident_mb:.1} MB",
        args.topics.max(created)
    );
    match args.max_ratio {
        Some(max) if worst > max => anyhow::bail!(
            "a create takes {worst:.2} times a flush of the same disk; {max} times is the limit"
        ),
        _ => Ok(()),
    }
}

/// Lets clients create topics through a broker at the same time; says how many and in which time.
fn create_at_once(cluster: &Cluster) -> anyhow::Result<(usize, Duration)> {
    let broker = cluster.broker()?;
    let clients: anyhow::Result<Vec<Creator>> = (0..CLIENTS)
        .map(|n| Creator::connect(&broker, &format!("client-{n}")))
        .collect();
    let start = Instant::now();
    let created = std::thread::scope(|scope| {
        let running: Vec<_> = clients?
            .into_iter()
            .map(|mut client| scope.spawn(move || client.create_each(ROUND)))
            .collect();
        running.into_iter().try_fold(0, |sum, client| {
            let created = client
                .join()
                .map_err(|_| anyhow::anyhow!("a client panicked"))?;
            Ok::<_, anyhow::Error>(sum + created?.len())
        })
    })?;
    Ok((created, start.elapsed()))
}

/// What the whole process holds in memory, in megabytes (10^6 bytes).
fn resident_mb() -> anyhow::Result<f64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|line| line.trim().strip_suffix(" kB"));
    let kib: f64 = kib.context("the system does not say VmRSS")?.parse()?;
    Ok(kib * 1024.0 / 1e6)
}
