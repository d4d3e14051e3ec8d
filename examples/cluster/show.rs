//! The running cluster together with what is known and told of it.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use anyhow::bail;
use quorate_types::NodeId;
use serde_json::json;
use tokio::runtime::Handle;

use crate::args::Args;
use crate::layout::Place;
use crate::nodes::{Nodes, Told};
use crate::report::Report;
use crate::tell::{Teller, millis};
use crate::world::World;

/// How long the cluster may take to come up.
const READY_WITHIN: Duration = Duration::from_secs(30);

/// See the module's documentation.
pub struct Show {
    /// The nodes.
    pub nodes: Nodes,
    /// What is known of them.
    pub world: World,
    /// How it is told.
    pub teller: Teller,
    told: Receiver<Told>,
    stop: Arc<AtomicBool>,
}

impl Show {
    /// Starts the cluster.
    pub fn start(
        args: &Args,
        data_dir: &Path,
        started: Instant,
        stop: Arc<AtomicBool>,
    ) -> anyhow::Result<Show> {
        let teller = Teller {
            report: Report::new(args.json),
            started,
        };
        teller.report.say(&format!(
            "starting {} controllers and {} brokers, data in {}",
            args.controllers,
            args.brokers,
            data_dir.display()
        ));
        let (nodes, told) = Nodes::start(args, data_dir)?;
        Ok(Show {
            nodes,
            world: World::new(started),
            teller,
            told,
            stop,
        })
    }

    /// Where background tasks of the program may run.
    pub fn runtime(&self) -> &Handle {
        self.nodes.runtime()
    }

    /// Waits until a controller is active, here or in another process of the same quorum, and all
    /// brokers are in service, and says so.
    pub fn wait_until_ready(&mut self) -> anyhow::Result<()> {
        let brokers: Vec<NodeId> = self
            .nodes
            .layout
            .brokers
            .iter()
            .map(|place| place.id)
            .collect();
        let ready = self.wait(READY_WITHIN, |show| {
            show.has_controller() && brokers.iter().all(|id| show.world.is_unfenced(*id))
        });
        if !ready && !self.stop.load(Ordering::Relaxed) {
            self.check_nodes()?;
            bail!(
                "the cluster did not come up within {} s",
                READY_WITHIN.as_secs()
            );
        }
        let elapsed_ms = millis(self.teller.started.elapsed());
        let controllers: Vec<String> = self
            .nodes
            .layout
            .controllers
            .iter()
            .map(Place::address)
            .collect();
        self.teller.event(
            "ready",
            json!({
                "bootstrap": self.nodes.bootstrap(),
                "controllers": controllers,
                "cluster_id": self.nodes.layout.cluster_id,
                "elapsed_ms": elapsed_ms,
            }),
            &format!("ready, {elapsed_ms} ms after the start"),
        );
        Ok(())
    }

    /// Whether a controller of this program is active, or another member of the quorum leads it.
    fn has_controller(&self) -> bool {
        let controllers = &self.nodes.layout.controllers;
        let is_elsewhere = |leader| controllers.iter().all(|place| place.id != leader);
        self.world.active().is_some() || self.world.leader().is_some_and(is_elsewhere)
    }

    /// Says where the cluster listens and what to try.
    pub fn introduce(&self, temporary: bool) {
        let report = self.teller.report;
        let layout = &self.nodes.layout;
        let list = |places: &[Place]| {
            places
                .iter()
                .map(Place::address)
                .collect::<Vec<_>>()
                .join(",")
        };
        report.say(&format!("\n  cluster id   {}", layout.cluster_id));
        report.say(&format!("  controllers  {}", list(&layout.controllers)));
        if layout.brokers.is_empty() {
            report.say("  brokers      none: start your own with\n");
            report.say("    process.roles=broker");
            report.say(&format!(
                "    controller.quorum.bootstrap.servers={}",
                list(&layout.controllers)
            ));
            report.say("    controller.listener.names=CONTROLLER\n");
            report.say("  after formatting their directories with");
            report.say(&format!(
                "    kafka-storage.sh format --cluster-id {} --no-initial-controllers -c FILE",
                layout.cluster_id
            ));
        } else {
            report.say(&format!("  brokers      {}", list(&layout.brokers)));
            let (broker, controller) = (&layout.brokers[0], &layout.controllers[0]);
            report.say("\nTry");
            report.say(&format!("  kcat -L -b {}", broker.address()));
            report.say(&format!(
                "  kafka-topics.sh --bootstrap-server {} --create --topic orders --partitions 6 \
                 --replication-factor 3",
                broker.address()
            ));
            report.say(&format!(
                "  kafka-metadata-quorum.sh --bootstrap-controller {} describe --status",
                controller.address()
            ));
        }
        let until = if temporary {
            "Ctrl-C stops it and removes its data"
        } else {
            "Ctrl-C stops it"
        };
        report.say(&format!("\n{until}.\n"));
    }

    /// Tells what the nodes tell, for as long as `time`.
    pub fn listen(&mut self, time: Duration) {
        let until = Instant::now() + time;
        self.wait_until(until, |_| false);
    }

    /// Tells what the nodes tell until something holds; whether it does after `limit` at the latest.
    pub fn wait(&mut self, limit: Duration, holds: impl Fn(&Show) -> bool) -> bool {
        let until = Instant::now() + limit;
        self.wait_until(until, holds)
    }

    /// Fails if a node ended by itself.
    pub fn check_nodes(&self) -> anyhow::Result<()> {
        for (id, node) in self.nodes.running() {
            if node.has_ended() {
                bail!("node {id} ended by itself; see what it wrote before");
            }
        }
        Ok(())
    }

    /// Stops everything in good order.
    pub fn finish(self) -> anyhow::Result<()> {
        self.nodes.stop_all()
    }

    /// Whether somebody asked the program to stop.
    pub fn is_stopping(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Tells what was told by now, and the rest of it that is just about to be.
    fn catch_up(&mut self) {
        let until = Instant::now() + Duration::from_millis(20);
        while let Ok(told) = self.told.recv_timeout(Duration::from_millis(2)) {
            let news = self.world.hear(told);
            self.teller.news(&news);
            if Instant::now() > until {
                break;
            }
        }
    }

    fn wait_until(&mut self, until: Instant, holds: impl Fn(&Show) -> bool) -> bool {
        loop {
            if holds(self) {
                self.catch_up();
                return true;
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() || self.is_stopping() {
                return false;
            }
            match self.told.recv_timeout(left.min(Duration::from_millis(20))) {
                Ok(told) => {
                    let news = self.world.hear(told);
                    self.teller.news(&news);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return false,
            }
        }
    }
}
