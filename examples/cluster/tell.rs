//! News as lines of text and as JSON.

use std::time::{Duration, Instant};

use quorate_types::NodeId;
use serde_json::{Value, json};

use crate::report::Report;
use crate::world::News;

/// How the names of topics begin that are created in such numbers that only programs want to hear of
/// each.
pub const MANY: &str = "one-of-many-";

/// More leader changes than this at once are summed up.
const LEADERS_TOLD: usize = 4;

/// Tells news in the order they came.
#[derive(Debug, Clone, Copy)]
pub struct Teller {
    /// Where to.
    pub report: Report,
    /// When the program was started.
    pub started: Instant,
}

impl Teller {
    /// Tells one event.
    pub fn event(&self, name: &str, fields: Value, text: &str) {
        self.report
            .event(self.started.elapsed(), name, fields, text);
    }

    /// Tells what a node's event brought.
    pub fn news(&self, news: &[News]) {
        let is_leader = |news: &&News| matches!(news, News::Leader { .. });
        let leaders = news.iter().filter(is_leader).count();
        for one in news {
            self.one(one, leaders > LEADERS_TOLD);
        }
        if leaders > LEADERS_TOLD && !self.report.is_json() {
            self.event(
                "",
                Value::Null,
                &format!("{leaders} partitions have another leader"),
            );
        }
    }

    fn one(&self, news: &News, summed_up: bool) {
        match news {
            News::Active { id, epoch, took } => self.event(
                "controller_active",
                json!({ "id": id.0, "epoch": epoch.0, "took_ms": millis(*took) }),
                &format!(
                    "controller {id} is active in epoch {epoch}, after {} ms",
                    millis(*took)
                ),
            ),
            News::Registered { broker } => {
                if !self.report.is_json() {
                    self.event("", Value::Null, &format!("broker {broker} registered"));
                }
            }
            News::Unfenced { broker } => self.event(
                "broker_unfenced",
                json!({ "id": broker.0 }),
                &format!("broker {broker} is in service"),
            ),
            News::Fenced { broker, took } => self.event(
                "broker_fenced",
                json!({ "id": broker.0, "took_ms": took.map(millis) }),
                &match took {
                    Some(took) => {
                        format!(
                            "broker {broker} is fenced, {} ms after its end",
                            millis(*took)
                        )
                    }
                    None => format!("broker {broker} is fenced"),
                },
            ),
            News::ShutDown { broker } => self.event(
                "broker_shut_down",
                json!({ "id": broker.0 }),
                &format!("broker {broker} was released from service and stopped"),
            ),
            News::Created { topic, .. } if topic.starts_with(MANY) && !self.report.is_json() => {}
            News::Created { topic, partitions } => self.event(
                "topic_created",
                json!({ "topic": topic, "partitions": partitions }),
                &format!(
                    "topic {topic} created, {}",
                    counted(*partitions, "partition")
                ),
            ),
            News::Deleted { topic } => self.event(
                "topic_deleted",
                json!({ "topic": topic }),
                &format!("topic {topic} deleted"),
            ),
            News::Leader {
                topic,
                partition,
                from,
                to,
            } => {
                if self.report.is_json() || !summed_up {
                    self.event(
                        "leader_changed",
                        json!({
                            "topic": topic,
                            "partition": partition,
                            "from": from.map(|id| id.0),
                            "to": to.map(|id| id.0),
                        }),
                        &format!(
                            "{topic}-{partition}: leader {} → {}",
                            node(*from),
                            node(*to)
                        ),
                    );
                }
            }
            News::Warning { node, text } => self.event(
                "warning",
                json!({ "id": node.0, "text": text }),
                &format!("node {node} warns: {text}"),
            ),
        }
    }
}

/// Milliseconds, whole.
pub fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// A number and what it counts.
pub fn counted(count: usize, thing: &str) -> String {
    if count == 1 {
        format!("1 {thing}")
    } else {
        format!("{count} {thing}s")
    }
}

fn node(id: Option<NodeId>) -> String {
    id.map_or_else(|| "none".to_owned(), |id| id.to_string())
}
