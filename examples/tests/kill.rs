//! The example cluster is killed again and again, and forgets nothing that it acknowledged.
#![allow(clippy::disallowed_methods)] // It waits and measures.

mod common;

use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use common::{Cluster, SOON, Topics, create, free_ports, run_to_its_end};
use quorate_node::{Client, entropy};

const ROUNDS: usize = 20;

/// About as long as a start takes.
const START: Duration = Duration::from_millis(200);

/// The whole cluster lives in one process, so every voter forgets at once what it had only in
/// memory, and starts again from its files.
#[test]
fn everything_acknowledged_survives_twenty_kills() {
    let data = tempfile::tempdir().unwrap();
    let port = free_ports();
    let mut rng = entropy();
    let mut acknowledged = Topics::new();
    let mut busy_rounds = 0;
    for round in 0..ROUNDS {
        if rng.one_in(2) {
            let after = rng.duration(Duration::ZERO, START);
            Cluster::start_in_vain(data.path(), port, after).unwrap();
        }
        let started = Instant::now();
        let cluster = Cluster::start(data.path(), port).unwrap();
        cluster.expect(round % 3, &acknowledged).unwrap();
        let checked = started.elapsed();
        let creators: Vec<_> = cluster
            .brokers()
            .iter()
            .enumerate()
            .map(|(index, broker)| {
                create_until_killed(broker.clone(), format!("r{round}-b{index}"))
            })
            .collect();
        // From before the first create to well within the stream of them.
        thread::sleep(rng.duration(Duration::ZERO, Duration::from_millis(400)));
        cluster.kill();
        let before = acknowledged.len();
        for creator in creators {
            acknowledged.extend(creator.join().unwrap());
        }
        let new = acknowledged.len() - before;
        busy_rounds += usize::from(new > 0);
        println!("round {round}: checked {before} topics after {checked:?}, {new} more");
    }
    let cluster = Cluster::start(data.path(), port).unwrap();
    for broker in 0..3 {
        cluster.expect(broker, &acknowledged).unwrap();
    }
    assert!(
        busy_rounds >= ROUNDS / 2,
        "the kills must come while topics are created, not before: {busy_rounds} of {ROUNDS}"
    );
}

#[test]
fn a_first_start_that_was_cut_short_is_made_up_for_by_the_next() {
    let mut rng = entropy();
    for round in 0..6 {
        let data = tempfile::tempdir().unwrap();
        let port = free_ports();
        for _ in 0..3 {
            let after = rng.duration(Duration::ZERO, START);
            Cluster::start_in_vain(data.path(), port, after).unwrap();
        }
        let cluster = Cluster::start(data.path(), port).unwrap();
        let mut client = Client::connect(&cluster.brokers()[0], SOON).unwrap();
        let id = create(&mut client, "orders").unwrap();
        let topics = Topics::from([("orders".to_owned(), id)]);
        cluster.expect(round % 3, &topics).unwrap();
    }
}

/// Creates topics at one broker until nobody answers any more; those that were acknowledged.
fn create_until_killed(broker: String, prefix: String) -> thread::JoinHandle<Topics> {
    thread::spawn(move || {
        let mut created = Topics::new();
        let Ok(mut client) = Client::connect(&broker, SOON) else {
            return created;
        };
        for number in 0.. {
            let name = format!("{prefix}-{number}");
            match create(&mut client, &name) {
                Ok(id) => created.insert(name, id),
                Err(_) => break,
            };
        }
        created
    })
}

#[test]
fn a_second_process_on_the_same_data_is_refused_and_harms_nothing() {
    let data = tempfile::tempdir().unwrap();
    let port = free_ports();
    let cluster = Cluster::start(data.path(), port).unwrap();
    let mut client = Client::connect(&cluster.brokers()[0], SOON).unwrap();
    let mut topics = Topics::from([("before".to_owned(), create(&mut client, "before").unwrap())]);
    let layout = fs::read_to_string(data.path().join("cluster.json")).unwrap();

    let refused = |args: &[&str]| {
        let second = run_to_its_end(data.path(), args);
        assert_eq!(second.status.code(), Some(1), "{second:?}");
        String::from_utf8_lossy(&second.stderr).into_owned()
    };
    let other_port = free_ports().to_string();
    let elsewhere = refused(&["--base-port", &other_port]);
    assert!(elsewhere.contains("another process"), "{elsewhere}");
    assert!(
        elsewhere.contains(&*data.path().to_string_lossy()),
        "{elsewhere}"
    );
    let here = refused(&[]);
    assert!(here.contains(&format!("127.0.0.1:{port}")), "{here}");

    assert_eq!(
        layout,
        fs::read_to_string(data.path().join("cluster.json")).unwrap()
    );
    topics.insert("after".to_owned(), create(&mut client, "after").unwrap());
    cluster.kill();
    let cluster = Cluster::start(data.path(), port).unwrap();
    cluster.expect(0, &topics).unwrap();
}

#[test]
fn sigterm_stops_it_in_good_order() {
    let data = tempfile::tempdir().unwrap();
    let port = free_ports();
    let cluster = Cluster::start(data.path(), port).unwrap();
    let mut client = Client::connect(&cluster.brokers()[0], SOON).unwrap();
    let topics = Topics::from([("kept".to_owned(), create(&mut client, "kept").unwrap())]);
    assert!(cluster.terminate().unwrap().success());
    for id in 1..=3 {
        let log = data
            .path()
            .join(format!("controller-{id}/__cluster_metadata-0"));
        assert!(has_indexes(&log), "controller {id} did not close its log");
    }
    let cluster = Cluster::start(data.path(), port).unwrap();
    cluster.expect(2, &topics).unwrap();
}

/// Indexes are written when a log is closed in good order, and only then.
fn has_indexes(log: &Path) -> bool {
    let files = fs::read_dir(log).unwrap().map(|file| file.unwrap().path());
    files
        .into_iter()
        .any(|file| file.extension().is_some_and(|kind| kind == "index"))
}
