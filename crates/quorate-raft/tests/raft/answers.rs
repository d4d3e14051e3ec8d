//! What answers of peers do, in the order in which they are heeded; contradictions do nothing.

use std::time::Duration;

use quorate_raft::{CallError, Fatal, Input, Output, RoleName, rpc};
use quorate_types::{Epoch, ErrorCode, NodeId, Offset, OffsetAndEpoch};

use crate::bench::{Bench, config, written};
use crate::node::endpoint;

fn fetch_answer(error: ErrorCode, leadership: rpc::Leadership) -> rpc::Answer {
    rpc::Answer::Fetch(rpc::FetchAnswer {
        error,
        leadership,
        high_watermark: None,
        body: rpc::Fetched::Nothing,
        damaged: false,
    })
}

/// A follower of node 2 in epoch 3, and the call of its fetch.
fn follower() -> (Bench, quorate_raft::CallId) {
    let mut bench = Bench::new();
    bench.begin(3, 2);
    let (call, _) = bench.take_fetch();
    (bench, call)
}

#[test]
fn errors_and_epochs_are_heeded_in_order() {
    use ErrorCode as E;
    // The error, the epoch and leader in the answer; epoch, leader and role after it.
    let cases = [
        (E::None, 2, Some(3), (3, Some(2), RoleName::Follower)),
        (
            E::UnknownLeaderEpoch,
            4,
            Some(3),
            (3, Some(2), RoleName::Follower),
        ),
        (E::None, 4, Some(3), (4, Some(3), RoleName::Follower)),
        (
            E::FencedLeaderEpoch,
            5,
            Some(3),
            (5, Some(3), RoleName::Follower),
        ),
        (
            E::NotLeaderOrFollower,
            5,
            None,
            (5, None, RoleName::Unattached),
        ),
        (
            E::NotLeaderOrFollower,
            3,
            None,
            (3, Some(2), RoleName::Follower),
        ),
        (
            E::BrokerNotAvailable,
            3,
            Some(2),
            (3, Some(2), RoleName::Follower),
        ),
        (
            E::UnknownServerError,
            3,
            Some(2),
            (3, Some(2), RoleName::Follower),
        ),
        // Contradictions: a second leader for the epoch, and this node as a leader that it is not.
        (
            E::NotLeaderOrFollower,
            3,
            Some(3),
            (3, Some(2), RoleName::Follower),
        ),
        (
            E::NotLeaderOrFollower,
            3,
            Some(1),
            (3, Some(2), RoleName::Follower),
        ),
    ];
    for (error, epoch, leader, after) in cases {
        let (mut bench, call) = follower();
        let leadership = bench.leadership(epoch, leader);
        bench.answer(call, fetch_answer(error, leadership));
        let got = (
            bench.epoch(),
            bench.raft.leader().map(|id| id.0),
            bench.role(),
        );
        assert_eq!(got, after, "{error:?} e{epoch} led by {leader:?}");
        assert!(
            !bench
                .outputs
                .iter()
                .any(|output| matches!(output, Output::Fatal { .. }))
        );
    }
}

#[test]
fn a_leader_out_of_reach_is_known_but_not_followed_until_it_can_be_reached() {
    let (mut bench, call) = follower();
    let unroutable = bench.leadership(4, Some(8));
    bench.answer(call, fetch_answer(ErrorCode::FencedLeaderEpoch, unroutable));
    assert_eq!(
        (bench.role(), bench.raft.leader()),
        (RoleName::Unattached, Some(NodeId(8)))
    );
    assert!(
        !bench.ask_vote(4, 3, OffsetAndEpoch::default()),
        "the epoch has a leader"
    );
    match bench.begin(1, 2) {
        // To Kafka's nodes a leader without an address is the end.
        rpc::Reply::BeginQuorumEpoch(reply) => assert_eq!(reply.leadership.leader, None),
        other => panic!("{other:?}"),
    }
    bench.wait(Duration::from_millis(100));
    let (call, _) = bench.take_fetch();
    let routable = rpc::Leadership {
        endpoints: vec![endpoint(8)],
        ..bench.leadership(4, Some(8))
    };
    bench.answer(call, fetch_answer(ErrorCode::NotLeaderOrFollower, routable));
    assert_eq!(bench.role(), RoleName::Follower);
    assert_eq!(bench.raft.leader_endpoints(), vec![endpoint(8)]);
}

#[test]
fn answers_to_an_earlier_state_teach_epochs_and_nothing_else() {
    let (mut bench, call) = follower();
    bench.begin(4, 3);
    let stale = rpc::FetchAnswer {
        error: ErrorCode::None,
        leadership: bench.leadership(4, Some(3)),
        high_watermark: Some(Offset(2)),
        body: rpc::Fetched::Records(vec![quorate_raft::Batch::data(Offset(0), 2, Epoch(4))]),
        damaged: false,
    };
    bench.answer(call, rpc::Answer::Fetch(stale.clone()));
    assert_eq!(
        bench.raft.log_end(),
        Offset(0),
        "the call was another state's"
    );
    bench.answer(call, rpc::Answer::Fetch(stale));
    assert_eq!(bench.raft.log_end(), Offset(0), "a call is answered once");
    let (mut bench, call) = follower();
    bench.begin(4, 3);
    let newer = bench.leadership(9, None);
    bench.answer(call, fetch_answer(ErrorCode::FencedLeaderEpoch, newer));
    assert_eq!(bench.epoch(), 9);
}

#[test]
fn an_answer_of_another_kind_is_ignored() {
    let (mut bench, call) = follower();
    let leadership = bench.leadership(3, Some(2));
    let confused = rpc::EpochReply {
        error: ErrorCode::None,
        leadership,
    };
    bench.answer(call, rpc::Answer::EndQuorumEpoch(confused));
    assert_eq!(bench.role(), RoleName::Follower);
    bench.wait(Duration::from_millis(50));
    bench.take_fetch();
}

#[test]
fn one_fetch_at_a_time_and_elsewhere_while_the_leader_is_let_alone() {
    let (mut bench, call) = follower();
    bench.wait(Duration::from_millis(300));
    assert!(bench.take_calls().is_empty(), "one is under way");
    bench.fail(call, CallError::TimedOut);
    let others = |output: &Output| match output {
        Output::Call { to, body, .. } => {
            assert!(matches!(body, rpc::Request::Fetch(_)));
            assert_eq!(
                *to,
                quorate_raft::Destination::Node {
                    id: NodeId(3),
                    endpoints: vec![endpoint(3)]
                }
            );
            true
        }
        _ => false,
    };
    assert_eq!(
        bench.outputs.iter().filter(|output| others(output)).count(),
        1
    );
    let (call, _) = bench.take_fetch();
    let same = bench.leadership(3, Some(2));
    bench.wait(Duration::from_millis(30));
    bench.answer(call, fetch_answer(ErrorCode::NotLeaderOrFollower, same));
    let back = bench.outputs.iter().any(|output| {
        let to_leader =
            |to: &_| matches!(to, quorate_raft::Destination::Node { id: NodeId(2), .. });
        matches!(output, Output::Call { to, .. } if to_leader(to))
    });
    assert!(back, "it still leads, so it is asked again");
}

#[test]
fn a_leader_that_cuts_what_is_committed_is_the_end() {
    let mut bench = Bench::with(config(), written(Default::default(), &[], 0));
    bench.begin(1, 2);
    let (call, _) = bench.take_fetch();
    let records = vec![quorate_raft::Batch::data(Offset(0), 9, Epoch(1))];
    bench.fetched(call, rpc::Fetched::Records(records), Some(9));
    assert_eq!(bench.high_watermark(), Some(9));
    let (call, _) = bench.take_fetch();
    bench.fetched(
        call,
        rpc::Fetched::Diverging(OffsetAndEpoch::new(4, 1)),
        Some(9),
    );
    let reason = Fatal::TruncatesCommitted {
        to: Offset(4),
        committed: Offset(9),
    };
    assert!(bench.outputs.contains(&Output::Fatal { reason }));
    bench.input(Input::Tick);
    assert!(bench.take_calls().is_empty() && bench.raft.is_failed());
}

#[test]
fn peers_without_pre_vote_make_a_candidate_at_once() {
    for error in [
        CallError::Unsupported,
        CallError::Refused(ErrorCode::UnsupportedVersion),
    ] {
        let mut bench = Bench::new();
        bench.wait_for_change();
        for (call, body) in bench.take_calls() {
            if let rpc::Request::Vote(_) = body {
                bench.fail(call, error);
            }
        }
        assert_eq!(
            (bench.role(), bench.epoch()),
            (RoleName::Candidate, 1),
            "once, though both said so"
        );
    }
}

#[test]
fn a_static_quorums_first_vote_requests_name_no_directories() {
    let mut bench = Bench::new();
    bench.wait_for_change();
    let addressed = bench
        .take_calls()
        .into_iter()
        .filter_map(|(_, body)| match body {
            rpc::Request::Vote(vote) => vote.voter,
            _ => None,
        });
    let addressed: Vec<_> = addressed.collect();
    assert_eq!(addressed.len(), 2);
    assert!(addressed.iter().all(|voter| voter.directory.is_none()));
}

#[test]
fn impossible_epochs_are_not_adopted() {
    let (mut bench, call) = follower();
    let impossible = bench.leadership(i32::MAX, None);
    bench.answer(call, fetch_answer(ErrorCode::FencedLeaderEpoch, impossible));
    assert!(!bench.ask_vote(i32::MAX, 3, OffsetAndEpoch::default()));
    bench.begin(i32::MAX, 3);
    assert_eq!(bench.epoch(), 3);
}
