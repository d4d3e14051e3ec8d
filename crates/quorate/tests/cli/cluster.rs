//! Three controllers, each a process of its own, from formatting to SIGTERM.
#![allow(clippy::disallowed_methods)] // It waits for processes.

use std::fs::{self, File};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::{Duration, Instant};

use quorate::node::{BrokerSpec, Clock, Limits, Machine, NewDirectory, NodeHandle, entropy};
use quorate::server::io::Address;
use quorate::types::{DirectoryId, Endpoint, NodeId};
use serde_json::Value;

use crate::quorate;

const CLUSTER: &str = "mTGiFOYvQA-l7MVmesF4UQ";

/// A quorum of three controllers in a directory of its own; what still runs in the end is killed.
struct Cluster {
    directory: tempfile::TempDir,
    ports: Vec<u16>,
    running: Vec<Option<Child>>,
}

impl Cluster {
    /// Configures and formats three controllers.
    fn formatted(is_static: bool) -> Cluster {
        let directory = tempfile::tempdir().unwrap();
        let ports = free_ports();
        let voters: Vec<String> = (1..)
            .zip(&ports)
            .map(|(id, port)| format!("{id}@localhost:{port}"))
            .collect();
        let servers: Vec<String> = ports
            .iter()
            .map(|port| format!("localhost:{port}"))
            .collect();
        let quorum = match is_static {
            true => format!("controller.quorum.voters={}", voters.join(",")),
            false => format!("controller.quorum.bootstrap.servers={}", servers.join(",")),
        };
        let directory_ids = [
            "MvDxzVmcRsaTz33bUuRU6A",
            "07R5amHmR32VDA6jHkGbTA",
            "zayyNKkzRSmbJhXeNMXVPg",
        ];
        let initial: Vec<String> = voters
            .iter()
            .zip(directory_ids)
            .map(|(voter, id)| format!("{voter}:{id}"))
            .collect();
        let initial = initial.join(",");
        for (id, port) in (1..).zip(&ports) {
            let text = format!(
                "process.roles=controller\nnode.id={id}\nlog.dirs=data-{id}\n\
                 listeners=CONTROLLER://localhost:{port}\ncontroller.listener.names=CONTROLLER\n{quorum}\n"
            );
            let file = format!("c{id}.properties");
            fs::write(directory.path().join(&file), text).unwrap();
            let mut arguments = vec!["format", "-c", &file, "-t", CLUSTER];
            if !is_static {
                arguments.extend(["-I", &initial]);
            }
            assert!(quorate(directory.path(), &arguments).status.success());
        }
        Cluster {
            directory,
            ports,
            running: vec![None, None, None],
        }
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    fn log(&self, id: usize) -> PathBuf {
        self.path().join(format!("log-{id}"))
    }

    fn start(&mut self, id: usize) {
        let log = File::options()
            .create(true)
            .append(true)
            .open(self.log(id))
            .unwrap();
        let child = Command::new(env!("CARGO_BIN_EXE_quorate"))
            .current_dir(self.path())
            .args([
                "start",
                &format!("c{id}.properties"),
                "--log-format",
                "json",
            ])
            .args(["--override", "num.partitions=4"])
            .stdin(Stdio::null())
            .stderr(log)
            .spawn()
            .unwrap();
        self.running[id - 1] = Some(child);
    }

    /// Formats and starts a controller that has no vote yet.
    fn start_fourth(&mut self, more: &str) {
        let text = fs::read_to_string(self.path().join("c1.properties")).unwrap();
        let own = format!("listeners=CONTROLLER://localhost:{}", self.ports[0]);
        let port = free_ports()[0];
        let text = text
            .replace("node.id=1", "node.id=4")
            .replace("data-1", "data-4")
            .replace(&own, &format!("listeners=CONTROLLER://localhost:{port}"));
        fs::write(self.path().join("c4.properties"), text + more).unwrap();
        let arguments = ["format", "-c", "c4.properties", "-t", CLUSTER, "-N"];
        assert!(quorate(self.path(), &arguments).status.success());
        self.running.push(None);
        self.start(4);
    }

    /// Sends SIGTERM and gives the exit code and how long it took.
    fn stop(&mut self, id: usize) -> (Option<i32>, Duration) {
        let mut child = self.running[id - 1].take().unwrap();
        let asked = Instant::now();
        let kill = Command::new("kill")
            .args(["-TERM", &child.id().to_string()])
            .status();
        assert!(kill.unwrap().success());
        (child.wait().unwrap().code(), asked.elapsed())
    }

    fn kill(&mut self, id: usize) {
        let mut child = self.running[id - 1].take().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
    }

    /// Runs a command against the controllers: exit code, output, complaints.
    fn ask(&self, arguments: &[&str]) -> (Option<i32>, String, String) {
        let servers: Vec<String> = self
            .ports
            .iter()
            .map(|port| format!("localhost:{port}"))
            .collect();
        let servers = servers.join(",");
        let mut all = arguments.to_vec();
        all.extend(["--bootstrap-controller", &servers, "--timeout", "20"]);
        let output = quorate(self.path(), &all);
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (
            output.status.code(),
            text(output.stdout),
            text(output.stderr),
        )
    }

    fn status(&self) -> Value {
        let (code, printed, told) = self.ask(&["quorum", "status", "--json"]);
        assert_eq!(code, Some(0), "{told}\n{}", self.logs());
        serde_json::from_str(&printed).unwrap()
    }

    fn logs(&self) -> String {
        let read = |id| fs::read_to_string(self.log(id)).unwrap_or_default();
        (1..=4).map(read).collect()
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for child in self.running.iter_mut().flatten() {
            // It may have ended by itself.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Ports that nobody listens on, below those that the system gives to outgoing connections. None is
/// given out twice.
fn free_ports() -> Vec<u16> {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let start = 12_000 + u16::try_from(std::process::id() % 900).unwrap() * 20;
    let is_free = |port: &u16| TcpListener::bind(("localhost", *port)).is_ok();
    std::iter::repeat_with(|| start + NEXT.fetch_add(1, Ordering::Relaxed) % 1000)
        .filter(is_free)
        .take(3)
        .collect()
}

#[test]
fn three_controllers_elect_a_leader_answer_and_end_well() {
    let mut cluster = Cluster::formatted(false);
    (1..=3).for_each(|id| cluster.start(id));
    let status = cluster.status();
    let leader = usize::try_from(status["leaderId"].as_u64().unwrap()).unwrap();
    assert!((1..=3).contains(&leader), "{status}");
    assert_eq!(status["clusterId"], CLUSTER);
    assert_eq!(status["voters"].as_array().unwrap().len(), 3);
    assert_eq!(status["voters"][0]["directoryId"], "MvDxzVmcRsaTz33bUuRU6A");

    let (code, printed, _) = cluster.ask(&["quorum", "replication"]);
    assert_eq!(code, Some(0));
    assert_eq!(printed.lines().count(), 4, "{printed}");
    assert_eq!(printed.matches("Leader").count(), 1, "{printed}");
    let (code, printed, _) = cluster.ask(&["quorum", "status"]);
    assert_eq!(code, Some(0));
    assert!(
        printed.contains(&format!("LeaderId:              {leader}\n")),
        "{printed}"
    );

    // Without brokers no topic can be placed, and that is said in words.
    let (code, _, told) = cluster.ask(&["topics", "create", "orders"]);
    assert_eq!(code, Some(1));
    assert!(
        told.contains("orders: ") && told.contains("REPLICATION_FACTOR"),
        "{told}"
    );
    let (code, printed, _) = cluster.ask(&["topics", "delete", "orders", "--json"]);
    assert_eq!(code, Some(1));
    let outcomes: Value = serde_json::from_str(&printed).unwrap();
    assert!(
        outcomes[0]["error"]
            .as_str()
            .unwrap()
            .contains("UNKNOWN_TOPIC"),
        "{printed}"
    );
    let (code, _, _) = cluster.ask(&["topics", "delete", "orders", "--if-exists"]);
    assert_eq!(code, Some(0));
    let (code, _, told) = cluster.ask(&["topics", "list"]);
    assert_eq!(code, Some(1));
    assert!(told.contains("--bootstrap-server"), "{told}");

    // The leader goes in good order, another takes over; what was stopped comes back.
    let (code, took) = cluster.stop(leader);
    assert_eq!(code, Some(0), "{}", cluster.logs());
    assert!(took < Duration::from_secs(3), "{took:?}");
    let next = cluster.status();
    assert_ne!(next["leaderId"], status["leaderId"]);
    assert!(next["leaderEpoch"].as_i64() > status["leaderEpoch"].as_i64());
    cluster.start(leader);

    // One that is killed is missed by nobody.
    let next = usize::try_from(next["leaderId"].as_u64().unwrap()).unwrap();
    cluster.kill(next);
    let last = cluster.status();
    assert_ne!(last["leaderId"].as_u64(), u64::try_from(next).ok());
    for id in (1..=3).filter(|id| *id != next) {
        assert_eq!(cluster.stop(id).0, Some(0), "{}", cluster.logs());
    }
    let log = fs::read_to_string(cluster.log(leader)).unwrap();
    let lines = log.lines().map(serde_json::from_str::<Value>);
    let events: Vec<Value> = lines
        .map(|line| line.expect("every line is JSON"))
        .collect();
    assert!(events.iter().any(|line| line["event"] == "active"), "{log}");
    assert_eq!(events.last().unwrap()["message"], "stopped", "{log}");
}

#[test]
fn a_controller_is_added_to_the_voters_and_removed() {
    let mut cluster = Cluster::formatted(false);
    (1..=3).for_each(|id| cluster.start(id));
    cluster.start_fourth("");

    // It may vote once it has caught up.
    let add = ["quorum", "add", "--config", "c4.properties"];
    let until = Instant::now() + Duration::from_secs(20);
    let (mut code, mut printed, mut told) = cluster.ask(&add);
    while code != Some(0) && Instant::now() < until {
        (code, printed, told) = cluster.ask(&add);
    }
    assert_eq!(code, Some(0), "{told}{}", cluster.logs());
    assert_eq!(printed, "controller 4 votes\n");
    let voters = cluster.status()["voters"].as_array().unwrap().clone();
    assert_eq!(voters.len(), 4);
    let directory = voters[3]["directoryId"].as_str().unwrap();
    let remove = ["quorum", "remove", "--id", "4", "--directory-id", directory];
    let (code, _, told) = cluster.ask(&remove);
    assert_eq!(code, Some(0), "{told}");
    assert_eq!(cluster.status()["voters"].as_array().unwrap().len(), 3);
    let (code, _, told) = cluster.ask(&remove);
    assert_eq!(code, Some(1));
    assert!(told.contains("VOTER_NOT_FOUND"), "{told}");
    for id in 1..=4 {
        assert_eq!(cluster.stop(id).0, Some(0), "{}", cluster.logs());
    }
}

#[test]
fn topics_are_created_listed_described_and_deleted_by_way_of_a_broker() {
    let mut cluster = Cluster::formatted(false);
    (1..=3).for_each(|id| cluster.start(id));
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let broker = start_broker(&cluster, &runtime);
    let server = broker.address().to_string();
    let ask = |arguments: &[&str]| {
        let mut all = vec!["topics"];
        all.extend(arguments);
        all.extend(["--bootstrap-server", &server]);
        let output = quorate(cluster.path(), &all);
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (
            output.status.code(),
            text(output.stdout),
            text(output.stderr),
        )
    };
    // Refused until the broker takes part.
    let create = [
        "create",
        "orders",
        "audit",
        "-p",
        "3",
        "-c",
        "retention.ms=1000",
    ];
    let until = Instant::now() + Duration::from_secs(20);
    let mut created = ask(&create);
    while created.0 != Some(0) && Instant::now() < until {
        created = ask(&create);
    }
    assert_eq!(created.0, Some(0), "{created:?}\n{}", cluster.logs());
    assert_eq!(created.1, "orders created\naudit created\n");
    assert!(ask(&create).2.contains("TOPIC_ALREADY_EXISTS"));
    assert_eq!(ask(&["create", "orders", "--if-not-exists"]).0, Some(0));
    // The default number of partitions is an override on the command line.
    assert_eq!(ask(&["create", "by-default", "--validate-only"]).0, Some(0));

    let listed = |names: &[&str]| {
        let until = Instant::now() + Duration::from_secs(20);
        loop {
            // The broker learns of a change a little later than the controllers.
            let (_, printed, _) = ask(&["list"]);
            if printed.lines().eq(names.iter().copied()) {
                return;
            }
            assert!(Instant::now() < until, "{names:?}\n{printed}");
        }
    };
    listed(&["audit", "orders"]);
    let (code, printed, _) = ask(&["describe", "orders", "--json"]);
    assert_eq!(code, Some(0));
    let described: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(described[0]["partitions"].as_array().unwrap().len(), 3);
    assert_eq!(described[0]["partitions"][2]["isr"], serde_json::json!([5]));
    let (code, printed, told) = ask(&["describe", "audit", "nobody"]);
    assert_eq!(code, Some(1));
    assert!(printed.starts_with("audit  id ") && told.contains("nobody: UNKNOWN_TOPIC"));
    assert_eq!(ask(&["delete", "orders"]).1, "orders deleted\n");
    listed(&["audit"]);
    broker.crash();
}

/// A broker of the library in this process, which is to the controllers as any other.
fn start_broker(cluster: &Cluster, runtime: &tokio::runtime::Runtime) -> NodeHandle {
    let clock = Clock::new();
    let path = cluster.path().join("broker");
    let node = NodeId(5);
    let directory = NewDirectory {
        path: path.clone(),
        cluster_id: CLUSTER.into(),
        node,
        directory: DirectoryId(entropy().uuid()),
        initial_voters: None,
    };
    directory.make(clock.now().wall).unwrap();
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let endpoint = Endpoint {
        name: "PLAINTEXT".into(),
        host: "127.0.0.1".into(),
        port: listener.local_addr().unwrap().port(),
    };
    let ports = cluster.ports.iter();
    let bootstrap = ports.map(|port| Address::new("localhost", *port)).collect();
    let spec = BrokerSpec::new(node, CLUSTER, path, endpoint, bootstrap);
    let machine = Machine {
        tokio: runtime.handle(),
        clock,
        limits: Limits::default(),
    };
    spec.start(listener, &machine, 1, Box::new(|_| {})).unwrap()
}

#[test]
fn a_controller_joins_by_itself_if_it_may() {
    let mut cluster = Cluster::formatted(false);
    (1..=3).for_each(|id| cluster.start(id));
    cluster.start_fourth("controller.quorum.auto.join.enable=true\n");
    let voters = |cluster: &Cluster| cluster.status()["voters"].as_array().unwrap().len();
    let until = Instant::now() + Duration::from_secs(30);
    while voters(&cluster) < 4 && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(200));
    }
    assert_eq!(voters(&cluster), 4, "{}", cluster.logs());
}

#[test]
fn a_static_quorum_starts_too() {
    let mut cluster = Cluster::formatted(true);
    (1..=3).for_each(|id| cluster.start(id));
    let status = cluster.status();
    assert_eq!(status["voters"].as_array().unwrap().len(), 3);
    let segment = cluster
        .path()
        .join("data-1/__cluster_metadata-0/00000000000000000000.log");
    for id in 1..=3 {
        assert_eq!(cluster.stop(id).0, Some(0), "{}", cluster.logs());
    }
    let dump = quorate(cluster.path(), &["dump", segment.to_str().unwrap()]);
    assert!(dump.status.success());
    assert!(
        String::from_utf8(dump.stdout)
            .unwrap()
            .contains("FEATURE_LEVEL_RECORD")
    );
}

#[test]
fn what_cannot_start_says_why() {
    let cluster = Cluster::formatted(false);
    let start = |arguments: &[&str]| {
        let mut all = vec!["start", "c1.properties"];
        all.extend(arguments);
        let output = quorate(cluster.path(), &all);
        (
            output.status.code(),
            String::from_utf8(output.stderr).unwrap(),
        )
    };
    for (setting, told) in [
        (
            "process.roles=broker",
            "quorate is a controller and no broker",
        ),
        (
            "num.partitions=0",
            "--override: num.partitions=0: allowed is a whole number from 1",
        ),
        ("log.dirs=elsewhere", "elsewhere"),
        ("node.id=2", "node.id"),
    ] {
        let (code, text) = start(&["--override", setting]);
        assert_eq!(code, Some(1), "{setting}: {text}");
        assert!(text.contains(told), "{setting}: {text}");
    }
    let taken = TcpListener::bind(("localhost", cluster.ports[0])).unwrap();
    let (code, text) = start(&[]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("cannot listen on localhost"), "{text}");
    drop(taken);
}

#[test]
fn nobody_there_is_told_in_time() {
    let cluster = Cluster::formatted(false);
    let server = format!("localhost:{}", cluster.ports[0]);
    let output = quorate(
        cluster.path(),
        &[
            "quorum",
            "status",
            "--bootstrap-controller",
            &server,
            "--timeout",
            "1",
        ],
    );
    assert_eq!(output.status.code(), Some(1));
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("no answer within 1 s"), "{told}");
    let output = quorate(cluster.path(), &["quorum", "status"]);
    assert_eq!(output.status.code(), Some(2));
}
