//! The example cluster as a process of its own: started, asked, killed.
#![allow(clippy::disallowed_methods)] // It waits and measures.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use quorate_node::{Client, entropy};
use quorate_protocol::messages::create_topics::CreatableTopic;
use quorate_protocol::messages::{CreateTopicsRequest, MetadataRequest, Request, Response};
use quorate_types::{ErrorCode, Uuid};
use serde_json::Value;

/// How many ports a cluster of three controllers and three brokers takes.
const PORTS: u16 = 6;

/// How long anything may take; it is never waited for without end.
pub const SOON: Duration = Duration::from_secs(20);

/// The names of topics and their ids.
pub type Topics = BTreeMap<String, Uuid>;

/// The built example, which lies beside the directory of this test.
fn program() -> PathBuf {
    let test = std::env::current_exe().expect("a test knows where it lies");
    let profile = test.parent().and_then(Path::parent);
    let program = profile
        .expect("tests lie in <profile>/deps")
        .join("examples/cluster");
    assert!(
        program.exists(),
        "{} is built by cargo test, unless it is told to build some tests only; cargo build \
         --example cluster does it too",
        program.display()
    );
    program
}

/// The first of [`PORTS`] free ports, below those that the kernel gives to outgoing connections.
pub fn free_ports() -> u16 {
    let mut rng = entropy();
    let free = |port| TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok();
    (0..1000)
        .map(|_| 10_000 + rng.below(22_000) as u16)
        .find(|base| (*base..base + PORTS).all(free))
        .expect("there are six free ports in a row")
}

/// The program with its data there, to be run.
pub fn command(data_dir: &Path) -> Command {
    let mut command = Command::new(program());
    command.arg("--json").arg("--data-dir").arg(data_dir);
    command
}

/// Runs the program, which is expected to end by itself.
pub fn run_to_its_end(data_dir: &Path, args: &[&str]) -> Output {
    let mut command = command(data_dir);
    let child = command
        .args(args)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program can be run");
    let (done, waiting) = mpsc::channel::<()>();
    let id = child.id();
    let watch = thread::spawn(move || {
        if waiting.recv_timeout(SOON) == Err(RecvTimeoutError::Timeout) {
            signal(id, "KILL");
        }
    });
    let output = child.wait_with_output().expect("a child can be waited for");
    let _ = done.send(());
    watch.join().expect("the watch does not panic");
    output
}

fn signal(process: u32, name: &str) {
    let script = format!("kill -{name} {process}");
    let sent = Command::new("sh").arg("-c").arg(script).status();
    assert!(sent.is_ok_and(|status| status.success()), "kill -{name}");
}

/// A running cluster; dropped, it is killed.
pub struct Cluster {
    child: Child,
    lines: Receiver<String>,
    brokers: Vec<String>,
}

impl Cluster {
    /// Starts the program and waits until it says that it is ready.
    pub fn start(data_dir: &Path, base_port: u16) -> anyhow::Result<Cluster> {
        let mut child = command(data_dir)
            .arg("--base-port")
            .arg(base_port.to_string())
            .stdout(Stdio::piped())
            .spawn()?;
        let out = child.stdout.take().context("its output is piped")?;
        let (send, lines) = mpsc::channel();
        thread::spawn(move || {
            for line in BufReader::new(out).lines().map_while(Result::ok) {
                if send.send(line).is_err() {
                    break;
                }
            }
        });
        let mut cluster = Cluster {
            child,
            lines,
            brokers: Vec::new(),
        };
        let ready = cluster.wait_for("ready")?;
        let brokers = ready["bootstrap"].as_str().context("no bootstrap")?;
        cluster.brokers = brokers.split(',').map(str::to_owned).collect();
        Ok(cluster)
    }

    /// Starts the program and kills it after that time, wherever it has got to.
    pub fn start_in_vain(data_dir: &Path, base_port: u16, after: Duration) -> anyhow::Result<()> {
        let mut child = command(data_dir)
            .arg("--base-port")
            .arg(base_port.to_string())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        thread::sleep(after);
        let ended = child.try_wait()?;
        child.kill()?;
        child.wait()?;
        match ended {
            None => Ok(()),
            Some(status) => bail!("it ended by itself: {status}"),
        }
    }

    fn wait_for(&self, event: &str) -> anyhow::Result<Value> {
        let until = Instant::now() + SOON;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let line = self
                .lines
                .recv_timeout(left)
                .with_context(|| format!("the cluster did not say {event:?}"))?;
            let value: Value = serde_json::from_str(&line).with_context(|| line.clone())?;
            if value["event"] == event {
                return Ok(value);
            }
        }
    }

    /// The addresses of the brokers.
    pub fn brokers(&self) -> &[String] {
        &self.brokers
    }

    /// SIGKILL: nothing is flushed, nobody is told.
    pub fn kill(mut self) {
        self.end();
    }

    /// SIGTERM; waits for the end.
    pub fn terminate(mut self) -> anyhow::Result<ExitStatus> {
        signal(self.child.id(), "TERM");
        let until = Instant::now() + SOON;
        while Instant::now() < until {
            if let Some(status) = self.child.try_wait()? {
                return Ok(status);
            }
            thread::sleep(Duration::from_millis(20));
        }
        bail!("it did not stop within {SOON:?}");
    }

    /// Waits until a broker lists all of these topics under the same ids.
    pub fn expect(&self, broker: usize, wanted: &Topics) -> anyhow::Result<()> {
        let until = Instant::now() + SOON;
        loop {
            let lacking = match list(&self.brokers[broker]) {
                Ok(topics) => {
                    let there = |(name, id): &(&String, &Uuid)| topics.get(*name) == Some(*id);
                    let lacking = wanted.iter().find(|topic| !there(topic));
                    match lacking {
                        None => return Ok(()),
                        Some((name, id)) => format!("{name} ({id}) of {}", wanted.len()),
                    }
                }
                Err(error) => format!("everything: {error:#}"),
            };
            if Instant::now() > until {
                bail!("broker {broker} lacks {lacking}");
            }
            thread::sleep(Duration::from_millis(20));
        }
    }

    fn end(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.end();
    }
}

/// Creates a topic; its id, once that is acknowledged.
pub fn create(client: &mut Client, name: &str) -> anyhow::Result<Uuid> {
    let request = CreateTopicsRequest {
        topics: vec![CreatableTopic {
            name: name.to_owned(),
            num_partitions: 1,
            replication_factor: 3,
            ..Default::default()
        }],
        timeout_ms: 10_000,
        ..Default::default()
    };
    let Response::CreateTopics(answer) = client.call(&Request::from(request))? else {
        bail!("another answer than was asked for");
    };
    let topic = answer.topics.first().context("an empty answer")?;
    match topic.error_code {
        ErrorCode::None => Ok(topic.topic_id),
        error => bail!("{name}: {error} {:?}", topic.error_message),
    }
}

fn list(broker: &str) -> anyhow::Result<Topics> {
    let mut client = Client::connect(broker, SOON)?;
    let request = MetadataRequest {
        topics: None,
        ..Default::default()
    };
    let Response::Metadata(answer) = client.call(&Request::from(request))? else {
        bail!("another answer than was asked for");
    };
    let named = |topic: quorate_protocol::messages::metadata::MetadataResponseTopic| {
        Some((topic.name?, topic.topic_id))
    };
    Ok(answer.topics.into_iter().filter_map(named).collect())
}
