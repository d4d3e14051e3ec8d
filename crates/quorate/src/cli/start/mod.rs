//! `quorate start`: a controller from a properties file, until a signal ends it.
//!
//! 1. The configuration is read, and the directories are checked to be this node's.
//! 2. The listener is opened, so that a port that is taken is told before anything else happens.
//! 3. The node starts; what happens to it is logged.
//! 4. SIGTERM or SIGINT: leadership is handed over, files are closed. A second signal ends at once.

mod events;
mod logging;
mod tuning;

use std::io;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use clap::{ArgAction, Args};
use quorate::node::{Clock, ControllerSpec, Machine, NodeHandle, entropy};
use quorate::server::io::Address;
use quorate::storage::MetaProperties;
use quorate::storage::vfs::OsVfs;
use tokio::runtime::Runtime;
use tokio::signal::unix::{SignalKind, signal};
use tracing::{error, info, warn};

use self::logging::LogFormat;
use crate::settings::{Controller, Settings};

/// How often a node is looked at that may have ended by itself.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// Run a controller until it is told to stop.
///
/// Its directories must have been formatted (`quorate format`). SIGTERM or Ctrl-C hands leadership
/// over and ends it within a second. It logs to stderr, one line an event; RUST_LOG chooses how much
/// (debug, info, warn).
#[derive(Debug, Args)]
pub struct Start {
    /// The controller's configuration (a Kafka properties file).
    #[arg(value_name = "FILE")]
    config: PathBuf,
    /// A setting that counts more than the file's; may be repeated.
    #[arg(long = "override", value_name = "KEY=VALUE", action = ArgAction::Append)]
    overrides: Vec<String>,
    /// How log lines look.
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    log_format: LogFormat,
}

impl Start {
    /// Runs the controller to its end.
    pub fn run(&self) -> anyhow::Result<bool> {
        logging::start(self.log_format);
        let settings = Settings::load(&self.config, &self.overrides)?;
        for warning in settings.warnings() {
            warn!("{warning}");
        }
        let controller = Controller::new(&settings)?;
        let cluster_id = cluster_of(&controller)?;
        let listener = listen(&controller.bind)
            .with_context(|| format!("cannot listen on {}", controller.bind))?;
        let mut spec = spec(controller, &cluster_id);
        if spec.endpoint.port == 0 {
            spec.endpoint.port = listener.local_addr()?.port();
        }
        tuning::tune(&mut spec, &settings);
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .context("cannot start the threads of the sockets")?;
        info!(
            "quorate {} starts as controller {} of cluster {cluster_id}, reached at {}",
            env!("CARGO_PKG_VERSION"),
            spec.node,
            spec.endpoint
        );
        let machine = Machine {
            tokio: runtime.handle(),
            clock: Clock::new(),
            limits: tuning::limits(&settings),
        };
        let seed = entropy().next_u64();
        let (on_event, writer) = events::log()?;
        let node = spec.start(listener, &machine, seed, on_event)?;
        let ended = run_until_told(node, &runtime);
        // What happened before the end is told before it; a panic there was told already.
        let _ = writer.join();
        runtime.shutdown_timeout(Duration::from_millis(50));
        match &ended {
            Ok(()) => info!("stopped"),
            Err(fault) => error!("{fault:#}"),
        }
        Ok(ended.is_ok())
    }
}

/// Opens a listener; an empty host stands for all interfaces of both protocols, or of IPv4 where
/// there is no other.
fn listen(address: &Address) -> io::Result<TcpListener> {
    match (address.host.as_str(), address.port) {
        ("", port) => TcpListener::bind(("::", port)).or_else(|error| match error.kind() {
            io::ErrorKind::AddrInUse => Err(error),
            _ => TcpListener::bind(("0.0.0.0", port)),
        }),
        address => TcpListener::bind(address),
    }
}

/// The cluster that the directories were formatted for; all of them must be this node's.
fn cluster_of(controller: &Controller) -> anyhow::Result<String> {
    let read = |dir: &Path| {
        MetaProperties::read(&OsVfs, dir)
            .with_context(|| format!("{} cannot be used", dir.display()))
    };
    let own = read(&controller.metadata_dir)?;
    let cluster_id = own.cluster_id.with_context(|| {
        let dir = controller.metadata_dir.display();
        format!("{dir}/meta.properties names no cluster.id; format the directory anew")
    })?;
    for dir in &controller.dirs {
        read(dir)?.expect(dir, &cluster_id, controller.node)?;
    }
    Ok(cluster_id)
}

fn spec(controller: Controller, cluster_id: &str) -> ControllerSpec {
    let mut spec = ControllerSpec::new(
        controller.node,
        cluster_id,
        controller.metadata_dir,
        controller.endpoint,
    );
    spec.bootstrap = controller.quorum.bootstrap;
    spec.static_voters = controller.quorum.voters;
    spec
}

/// Waits for a signal or the node's own end, and stops it.
fn run_until_told(node: NodeHandle, runtime: &Runtime) -> anyhow::Result<()> {
    let told = runtime.block_on(async {
        let mut terminate = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut look = tokio::time::interval(LOOK_EVERY);
        loop {
            tokio::select! {
                _ = terminate.recv() => return anyhow::Ok(Some("SIGTERM")),
                _ = interrupt.recv() => return anyhow::Ok(Some("SIGINT")),
                _ = look.tick() => {
                    if node.has_ended() {
                        return Ok(None);
                    }
                }
            }
        }
    })?;
    if let Some(signal_name) = told {
        info!("{signal_name}: stopping");
        runtime.spawn(end_at_second_signal());
    }
    Ok(node.shutdown()?)
}

async fn end_at_second_signal() {
    let (Ok(mut terminate), Ok(mut interrupt)) = (
        signal(SignalKind::terminate()),
        signal(SignalKind::interrupt()),
    ) else {
        return;
    };
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    std::process::exit(130);
}
