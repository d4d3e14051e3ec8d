//! Walks the transition table that stands in the docs of `role`: the docs are the test table.

use std::time::Duration;

use quorate_raft::{CallError, Config, ElectionState, Input, RoleName, rpc};
use quorate_types::{Epoch, NodeId, OffsetAndEpoch};

use crate::bench::{Bench, config, empty, three, written};
use crate::node::key;

const NOWHERE: OffsetAndEpoch = OffsetAndEpoch::new(0, 0);

/// The rows of the table: from, when, to.
fn rows() -> Vec<(String, String, String)> {
    let source = include_str!("../../src/role.rs");
    let rows = source.lines().filter_map(|line| {
        let cells: Vec<&str> = line
            .strip_prefix("//! | ")?
            .trim_end_matches(" |")
            .split(" | ")
            .collect();
        match cells[..] {
            [from, when, to] if from != "From" => Some((from.into(), when.into(), to.into())),
            _ => None,
        }
    });
    rows.collect()
}

fn observer() -> Bench {
    let config = Config {
        local: key(9),
        ..config()
    };
    Bench::with(config, empty(three()))
}

fn unattached() -> Bench {
    Bench::new()
}

fn follower() -> Bench {
    let mut bench = Bench::new();
    bench.begin(1, 2);
    bench
}

fn prospective() -> Bench {
    let mut bench = Bench::new();
    bench.wait_for_change();
    bench
}

fn prospective_with_leader() -> Bench {
    let mut bench = follower();
    bench.wait_for_change();
    bench
}

fn candidate() -> Bench {
    let mut bench = prospective();
    bench.vote(true);
    bench
}

fn leader() -> Bench {
    let mut bench = Bench::new();
    bench.elect();
    bench
}

fn resigned() -> Bench {
    let leads = ElectionState {
        epoch: Epoch(1),
        leader: Some(NodeId(1)),
        voted: None,
    };
    Bench::with(config(), written(leads, &[(1, 0)], 1))
}

/// A node in that state, of the kind that the event is about.
fn in_state(from: &str, when: &str) -> Bench {
    match from {
        "Unattached" if when.contains("observer") => observer(),
        "Unattached" => unattached(),
        "Prospective" if when.contains("a leader is known") => prospective_with_leader(),
        "Prospective" => prospective(),
        "Candidate" => candidate(),
        "Leader" => leader(),
        "Resigned" => resigned(),
        "Follower" if when.contains("observer") => {
            let mut bench = observer();
            bench.begin(1, 2);
            bench
        }
        "Follower" => follower(),
        other => panic!("{other} is no state"),
    }
}

fn unsupported(bench: &mut Bench) {
    for (call, body) in bench.take_calls() {
        if matches!(body, rpc::Request::Vote(_)) {
            bench.fail(call, CallError::Unsupported);
        }
    }
}

/// Makes the event of the row happen.
fn happen(bench: &mut Bench, when: &str) {
    let epoch = bench.epoch();
    match when {
        "a vote is granted" => assert!(bench.ask_vote(epoch + 1, 2, NOWHERE)),
        "a leader is learnt" => {
            bench.begin(epoch, 2);
        }
        "a larger epoch is learnt" => {
            bench.ask_pre_vote(epoch + 4, 2, NOWHERE);
        }
        "a larger epoch and its leader are learnt" => {
            bench.begin(epoch + 4, 3);
        }
        "a majority would vote" | "a majority votes" => bench.vote(true),
        "a peer knows no pre-vote" => unsupported(bench),
        "it is asked to resign" => bench.input(Input::Resign {
            epoch: Epoch(epoch),
        }),
        "it is asked to stop" => {
            let within = Duration::from_secs(5);
            bench.input(Input::Shutdown { within });
        }
        "its disk hangs" => {
            bench.disk_works = false;
            bench.append(1);
            for _ in 0..8 {
                bench.wait(Duration::from_millis(500));
                bench.fetch(2, 1, 1);
                bench.fetch(3, 1, 1);
            }
        }
        "the leader's process is gone" => {
            bench.input(Input::PeerDown { node: NodeId(2) });
            bench.wait(Duration::from_millis(100));
        }
        "the leader ends its epoch" => {
            let end = rpc::EndRequest {
                leader: NodeId(2),
                epoch: Epoch(epoch),
                successors: vec![key(1), key(3)],
                endpoints: Vec::new(),
            };
            bench.ask(rpc::Request::EndQuorumEpoch(end));
        }
        _ if when.starts_with("a majority would not") || when == "a majority denies" => {
            bench.vote(false)
        }
        _ if when.contains("timeout passes") && when.contains("observer") => {
            bench.wait(Duration::from_secs(60));
        }
        "the election timeout passes, no leader is known" => {
            bench.wait(Duration::from_millis(2000));
        }
        _ if when.contains("timeout passes") || when == "no majority fetches" => {
            bench.wait_for_change()
        }
        other => panic!("nobody knows how to make this happen: {other}"),
    }
}

#[test]
fn the_transition_table_holds() {
    let rows = rows();
    assert!(rows.len() > 30, "the table was not found");
    for (from, when, to) in rows {
        let mut bench = in_state(&from, &when);
        assert_eq!(bench.role().to_string(), from, "before: {when}");
        let before = bench.epoch();
        happen(&mut bench, &when);
        assert_eq!(bench.role().to_string(), to, "{from}, when {when}");
        assert!(
            bench.epoch() >= before,
            "{from}, when {when}: the epoch fell"
        );
        let same_epoch = when.contains("asked to") || when.contains("would not");
        assert!(
            !same_epoch || bench.epoch() == before,
            "{from}, when {when}: the epoch grew"
        );
    }
}

#[test]
fn a_start_takes_up_the_state_that_the_disk_asks_for() {
    let state = |epoch, leader: Option<i32>, voted: Option<i32>| ElectionState {
        epoch: Epoch(epoch),
        leader: leader.map(NodeId),
        voted: voted.map(key),
    };
    let cases = [
        (
            "an older file than the log",
            state(2, Some(1), None),
            RoleName::Unattached,
            state(3, None, None),
        ),
        (
            "it led",
            state(4, Some(1), None),
            RoleName::Resigned,
            state(4, Some(1), None),
        ),
        (
            "it voted for itself",
            state(4, None, Some(1)),
            RoleName::Candidate,
            state(4, None, Some(1)),
        ),
        (
            "it voted for itself and lost",
            state(4, Some(2), Some(1)),
            RoleName::Follower,
            state(4, Some(2), Some(1)),
        ),
        (
            "a leader is known",
            state(4, Some(2), Some(2)),
            RoleName::Follower,
            state(4, Some(2), Some(2)),
        ),
        (
            "a leader is known by its id",
            state(4, Some(8), None),
            RoleName::Unattached,
            state(4, Some(8), None),
        ),
        (
            "it voted",
            state(4, None, Some(3)),
            RoleName::Unattached,
            state(4, None, Some(3)),
        ),
        (
            "nothing",
            state(4, None, None),
            RoleName::Unattached,
            state(4, None, None),
        ),
    ];
    for (what, saved, role, after) in cases {
        let bench = Bench::with(config(), written(saved, &[(1, 0), (3, 5)], 9));
        assert_eq!(bench.role(), role, "{what}");
        assert_eq!(bench.raft.election(), after, "{what}");
        assert_eq!(
            bench.disk.first(),
            Some(&quorate_raft::DiskOp::SaveElection(after)),
            "{what}"
        );
    }
}
