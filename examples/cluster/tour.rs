//! The tour: a story of crashes and returns, each step checked.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use quorate_metadata::MetadataImage;
use quorate_types::{NodeId, Offset};
use serde_json::json;

use crate::admin::Admin;
use crate::show::Show;
use crate::tell::{self, counted, millis};

/// From the crash of the active controller to the next acknowledged create.
const FAILOVER_WITHIN: Duration = Duration::from_millis(300);
/// A broker's session is 9 s; it is checked every eighth of that.
const FENCED_WITHIN: Duration = Duration::from_secs(12);
const SOON: Duration = Duration::from_secs(8);

/// The story and how it goes.
struct Tour {
    show: Show,
    held: usize,
    failed: Vec<String>,
}

/// Plays the tour; whether every check held.
pub fn play(show: Show) -> anyhow::Result<bool> {
    if show.nodes.layout.controllers.len() < 3 || show.nodes.layout.brokers.len() < 3 {
        bail!("the tour needs three controllers and three brokers at least");
    }
    let mut tour = Tour {
        show,
        held: 0,
        failed: Vec::new(),
    };
    let told = tour.tell();
    let Tour {
        show,
        held,
        mut failed,
    } = tour;
    if let Err(error) = &told {
        failed.push(format!("{error:#}"));
        show.teller.report.check(false, &format!("{error:#}"));
    }
    let teller = show.teller;
    teller.report.heading("The end");
    if let Err(error) = show.finish() {
        failed.push(format!("stopping: {error:#}"));
    }
    let ok = failed.is_empty();
    let elapsed = teller.started.elapsed();
    teller.event(
        "done",
        json!({
            "ok": ok,
            "checks": held + failed.len(),
            "failed": failed,
            "elapsed_ms": millis(elapsed),
        }),
        &if ok {
            format!("all {} held", counted(held, "check"))
        } else {
            format!(
                "{} of {} failed",
                failed.len(),
                counted(held + failed.len(), "check")
            )
        },
    );
    Ok(ok)
}

impl Tour {
    fn tell(&mut self) -> anyhow::Result<()> {
        self.create_topics()?;
        self.crash_the_controller()?;
        self.crash_a_broker()?;
        self.bring_both_back()?;
        self.shut_a_broker_down()?;
        self.delete_a_topic()?;
        self.compare_images();
        Ok(())
    }

    fn check(&mut self, holds: bool, text: &str) {
        self.show.teller.report.check(holds, text);
        if holds {
            self.held += 1;
        } else {
            self.failed.push(text.to_owned());
        }
    }

    fn heading(&self, text: &str) {
        self.show.teller.report.heading(text);
    }

    fn broker(&self, index: usize) -> (NodeId, String) {
        let place = &self.show.nodes.layout.brokers[index];
        (place.id, place.address())
    }

    fn create_topics(&mut self) -> anyhow::Result<()> {
        self.heading("Create topics");
        let mut admin = Admin::connect(&self.broker(0).1)?;
        for (name, partitions) in [("orders", 6), ("payments", 3), ("audit", 1)] {
            admin.create(name, partitions, 3)?;
        }
        let everywhere = self.wait_for_topics(&["orders", "payments", "audit"]);
        self.check(everywhere, "three topics are on every node");
        Ok(())
    }

    fn crash_the_controller(&mut self) -> anyhow::Result<()> {
        self.heading("Crash the active controller while topics are being created");
        let (id, epoch) = self
            .show
            .world
            .active()
            .context("no controller is active")?;
        let addresses = self
            .show
            .nodes
            .layout
            .brokers
            .iter()
            .map(|place| place.address());
        let creator = Creator::start(addresses.collect());
        self.show.listen(Duration::from_millis(300));
        let killed = Instant::now();
        self.show.nodes.kill(id);
        self.show.world.ended(killed, id);
        let acknowledged = creator.acknowledged();
        self.show.teller.event(
            "controller_killed",
            json!({ "id": id.0 }),
            &format!(
                "controller {id} is killed after {}: no flush, no goodbye",
                counted(acknowledged, "acknowledged create")
            ),
        );
        let replaced = self.show.wait(SOON, |show| {
            show.world.active().is_some_and(|(_, newer)| newer > epoch)
        });
        self.check(replaced, "another controller took over");
        self.show.listen(Duration::from_millis(700));
        let created = creator.stop()?;
        let next = created.iter().find(|create| create.at > killed);
        match next.map(|create| create.at.duration_since(killed)) {
            Some(gap) => {
                let text = format!(
                    "the next create was acknowledged {} ms after the crash (at most {} ms)",
                    millis(gap),
                    millis(FAILOVER_WITHIN)
                );
                self.check(gap <= FAILOVER_WITHIN, &text);
            }
            None => self.check(false, "creates go on after the crash"),
        }
        let names: Vec<String> = created.into_iter().map(|create| create.name).collect();
        let wanted: Vec<&str> = names.iter().map(String::as_str).collect();
        let kept = self.wait_for_topics(&wanted);
        let text = format!(
            "none of {} acknowledged is lost",
            counted(names.len(), "create")
        );
        self.check(kept && !names.is_empty(), &text);
        Ok(())
    }

    fn crash_a_broker(&mut self) -> anyhow::Result<()> {
        self.heading("Crash a broker");
        let (id, _) = self.broker(1);
        let led = |show: &Show| {
            show.image()
                .map_or(0, |image| image.topics().led_by(id).count())
        };
        let before = led(&self.show);
        self.show.nodes.kill(id);
        self.show.world.ended(Instant::now(), id);
        self.show.teller.event(
            "broker_killed",
            json!({ "id": id.0 }),
            &format!(
                "broker {id} is killed; it led {}",
                counted(before, "partition")
            ),
        );
        let fenced = self
            .show
            .wait(FENCED_WITHIN, |show| !show.world.is_unfenced(id));
        self.check(fenced, "its session ran out and it is fenced");
        let moved = self.show.wait(SOON, |show| {
            show.image().is_some_and(|image| {
                image.topics().led_by(id).next().is_none() && image.topics().leaderless_count() == 0
            })
        });
        self.check(
            moved && before > 0,
            "its partitions have leaders on the other brokers",
        );
        Ok(())
    }

    fn bring_both_back(&mut self) -> anyhow::Result<()> {
        self.heading("Bring both back");
        let running: BTreeSet<NodeId> = self.show.nodes.running().map(|(id, _)| id).collect();
        let gone = |ids: Vec<NodeId>| ids.into_iter().filter(|id| !running.contains(id)).collect();
        let layout = &self.show.nodes.layout;
        let controllers: Vec<NodeId> = gone(layout.controllers.iter().map(|p| p.id).collect());
        let brokers: Vec<NodeId> = gone(layout.brokers.iter().map(|p| p.id).collect());
        for id in controllers {
            self.show.nodes.restart(id)?;
            self.show.teller.event(
                "controller_restarted",
                json!({ "id": id.0 }),
                &format!("controller {id} is started again on its old data"),
            );
        }
        for id in brokers {
            self.show.nodes.restart(id)?;
            let back = self.show.wait(SOON, |show| show.world.is_unfenced(id));
            self.check(back, &format!("broker {id} is in service again"));
        }
        let in_sync = self.show.wait(SOON, |show| {
            show.image().is_some_and(|image| {
                let mut partitions = image.topics().iter().flat_map(|topic| topic.partitions());
                partitions.all(|(_, partition)| partition.isr.len() == partition.replicas.len())
            })
        });
        self.check(in_sync, "its replicas are in sync again");
        Ok(())
    }

    fn shut_a_broker_down(&mut self) -> anyhow::Result<()> {
        self.heading("Shut a broker down in good order");
        let (id, _) = self.broker(2);
        let started = Instant::now();
        self.show.nodes.stop(id)?;
        let took = started.elapsed();
        let fenced = self.show.wait(SOON, |show| !show.world.is_unfenced(id));
        self.check(
            fenced,
            &format!("broker {id} left within {} ms", millis(took)),
        );
        let led = self
            .show
            .image()
            .is_some_and(|image| image.topics().leaderless_count() == 0);
        self.check(led, "no partition is without a leader");
        Ok(())
    }

    fn delete_a_topic(&mut self) -> anyhow::Result<()> {
        self.heading("Delete a topic");
        Admin::connect(&self.broker(0).1)?.delete("audit")?;
        let gone = self.show.wait(SOON, |show| {
            show.images()
                .iter()
                .all(|(_, image, _)| image.topics().by_name("audit").is_none())
        });
        self.check(gone, "the topic is gone from every node");
        Ok(())
    }

    /// All nodes must reach the same end and hold the same metadata there.
    fn compare_images(&mut self) {
        self.heading("Compare all nodes");
        let nodes = self.show.nodes.running().count();
        let equal = self.show.wait(SOON, |show| {
            let images = show.images();
            let Some((_, first, end)) = images.first() else {
                return false;
            };
            images.len() == nodes
                && images
                    .iter()
                    .all(|(_, image, other)| other == end && image == first)
        });
        self.check(
            equal,
            &format!("all {nodes} nodes hold equal metadata at the same offset"),
        );
    }

    fn wait_for_topics(&mut self, names: &[&str]) -> bool {
        self.show.wait(SOON, |show| {
            let images = show.images();
            let has_all = |image: &MetadataImage| {
                names
                    .iter()
                    .all(|name| image.topics().by_name(name).is_some())
            };
            images.len() == show.nodes.running().count()
                && images.iter().all(|(_, image, _)| has_all(image))
        })
    }
}

impl Show {
    /// What every node that runs has published.
    fn images(&self) -> Vec<(NodeId, MetadataImage, Offset)> {
        self.nodes
            .running()
            .filter_map(|(id, node)| {
                let published = node.published().get()?;
                Some((id, published.image, published.end))
            })
            .collect()
    }

    /// What the active controller has published.
    fn image(&self) -> Option<MetadataImage> {
        let (active, _) = self.world.active()?;
        Some(self.nodes.get(active)?.published().get()?.image)
    }
}

/// A create that was acknowledged.
struct Created {
    name: String,
    at: Instant,
}

/// Creates topics one after the other, in a thread of its own.
struct Creator {
    stop: Arc<AtomicBool>,
    acknowledged: Arc<AtomicUsize>,
    thread: JoinHandle<anyhow::Result<Vec<Created>>>,
}

impl Creator {
    fn start(brokers: Vec<String>) -> Creator {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = stop.clone();
        let acknowledged = Arc::new(AtomicUsize::new(0));
        let count = acknowledged.clone();
        let thread = thread::spawn(move || {
            let mut admin = Admin::connect(brokers.first().context("there is no broker")?)?;
            let mut created = Vec::new();
            for number in 0.. {
                if stopped.load(Ordering::Relaxed) {
                    break;
                }
                let name = format!("{}{number}", tell::MANY);
                admin.create(&name, 1, 3)?;
                created.push(Created {
                    name,
                    at: Instant::now(),
                });
                count.store(created.len(), Ordering::Relaxed);
                thread::sleep(Duration::from_millis(5));
            }
            Ok(created)
        });
        Creator {
            stop,
            acknowledged,
            thread,
        }
    }

    fn acknowledged(&self) -> usize {
        self.acknowledged.load(Ordering::Relaxed)
    }

    fn stop(self) -> anyhow::Result<Vec<Created>> {
        self.stop.store(true, Ordering::Relaxed);
        match self.thread.join() {
            Ok(created) => created,
            Err(_) => bail!("the thread that creates topics panicked"),
        }
    }
}
