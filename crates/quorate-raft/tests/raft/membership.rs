//! The rules about voters and observers that are easy to get wrong, by their numbers.

use std::time::Duration;

use quorate_raft::{Config, RoleName, rpc};
use quorate_types::{Epoch, ErrorCode, NodeId, Offset, OffsetAndEpoch, ReplicaKey};

use crate::bench::{Bench, config, empty, written};
use crate::cluster::{Cluster, Weather};
use crate::node::{directory, endpoint, key, voters};
use crate::rules::{SECOND, election, followers};

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

#[test]
fn r24_no_change_before_this_epochs_high_watermark_nor_while_one_is_uncommitted() {
    let mut cluster = Cluster::dynamic(2, 3, Weather::calm());
    cluster.start_all();
    cluster.run_until(SECOND * 10, |cluster| cluster.leader().is_some());
    let leader = cluster.leader().unwrap();
    let voter = key(followers(&cluster, leader)[0].0);
    let remove = || rpc::Request::RemoveVoter(rpc::RemoveVoterRequest { voter });
    let too_early = cluster.ask(leader, remove());
    cluster.run(ms(2));
    let too_early = cluster.replies.remove(&too_early);
    let refused = |error| {
        let message = None;
        rpc::Reply::RemoveVoter(rpc::ChangeReply { error, message })
    };
    assert_eq!(too_early, Some(refused(ErrorCode::RequestTimedOut)));
    cluster.settle();
    let others = followers(&cluster, leader);
    cluster.cut.extend(others.iter().map(|id| (leader, *id)));
    let first = cluster.ask(leader, remove());
    cluster.run(ms(2100));
    let timed_out = cluster.replies.remove(&first);
    assert_eq!(timed_out, Some(refused(ErrorCode::RequestTimedOut)));
    let voter = key(others[1].0);
    let second = cluster.ask_now(
        leader,
        rpc::Request::RemoveVoter(rpc::RemoveVoterRequest { voter }),
    );
    assert_eq!(
        second,
        refused(ErrorCode::RequestTimedOut),
        "the place is still taken"
    );
    assert_eq!(cluster.raft(leader).voters().len(), 2);
}

#[test]
fn r27_a_removed_voter_that_never_saw_its_removal_becomes_an_observer() {
    let mut cluster = Cluster::dynamic(8, 3, Weather::calm());
    cluster.start_all();
    let leader = cluster.settle();
    let gone = followers(&cluster, leader)[0];
    cluster.isolate(gone);
    let voter = key(gone.0);
    let asked = cluster.ask(
        leader,
        rpc::Request::RemoveVoter(rpc::RemoveVoterRequest { voter }),
    );
    assert!(cluster.run_until(SECOND * 2, |cluster| cluster.replies.contains_key(&asked)));
    cluster.run(SECOND * 20);
    let epoch = cluster.raft(leader).epoch();
    assert_eq!(cluster.raft(gone).epoch(), epoch, "it raises no epochs");
    cluster.cut.clear();
    cluster.run(SECOND * 5);
    let raft = cluster.raft(gone);
    assert_eq!((raft.role(), raft.is_voter()), (RoleName::Follower, false));
    assert_eq!(cluster.leader(), Some(leader));
    assert_eq!(cluster.raft(leader).epoch(), epoch);
}

#[test]
fn r29_a_voter_that_has_not_seen_its_promotion_votes_when_addressed() {
    let config = Config {
        local: key(9),
        ..config()
    };
    let mut bench = Bench::with(config, empty(voters(&[1, 2, 3], false)));
    let mut vote = rpc::VoteRequest {
        voter: Some(key(9)),
        candidate: key(2),
        epoch: Epoch(3),
        last: OffsetAndEpoch::new(5, 2),
        pre_vote: false,
    };
    vote.voter = Some(ReplicaKey::new(NodeId(9), Some(directory(9, 2))));
    let reply = bench.ask(rpc::Request::Vote(vote.clone()));
    assert!(
        matches!(reply, Some(rpc::Reply::Vote(reply)) if reply.error == ErrorCode::InvalidVoterKey)
    );
    vote.voter = Some(key(9));
    let reply = bench.ask(rpc::Request::Vote(vote));
    assert!(matches!(reply, Some(rpc::Reply::Vote(reply)) if reply.granted));
}

#[test]
fn r32_a_reformatted_disk_counts_for_nothing() {
    let mut boot = written(election(1, None, None), &[(1, 0)], 10);
    boot.static_voters = None;
    let set = voters(&[1, 2, 3], true);
    boot.log.control = vec![
        (
            Offset(0),
            quorate_types::ControlRecord::KRaftVersion(quorate_types::KRaftVersion(1)),
        ),
        (Offset(1), quorate_types::ControlRecord::Voters(set)),
    ];
    let mut bench = Bench::with(config(), boot);
    bench.elect();
    let stranger = ReplicaKey::new(NodeId(2), Some(directory(2, 7)));
    let fetch = rpc::FetchRequest {
        replica: Some(stranger),
        epoch: bench.raft.epoch(),
        offset: Offset(11),
        last_epoch: Epoch(2),
        max_wait_ms: 0,
        high_watermark: Offset(-1),
    };
    bench.ask(rpc::Request::Fetch(fetch));
    assert_eq!(
        bench.high_watermark(),
        None,
        "one of three disks is no majority"
    );
    let description = bench.raft.describe(bench.now);
    assert_eq!(description.voters[1].log_end, None);
    assert_eq!(
        description.observers[0].replica, stranger,
        "the status names it"
    );
}

#[test]
fn r34_an_observer_that_loses_its_leader_finds_the_next_through_bootstrap_servers() {
    let mut cluster = Cluster::new(6, 3, Weather::calm());
    cluster.add(4, false);
    // It knows no voters at all.
    cluster.nodes.get_mut(&NodeId(4)).unwrap().static_voters = None;
    cluster.start_all();
    let leader = cluster.settle();
    cluster.crash(leader, false);
    let next = cluster.settle();
    assert_ne!(next, leader);
    assert_eq!(cluster.raft(NodeId(4)).leader(), Some(next));
    assert_eq!(
        cluster.raft(NodeId(4)).leader_endpoints(),
        vec![endpoint(next.0)]
    );
}
