//! What the core holds back until something is durable, one test a row of the crate's table.

use quorate_raft::{Batch, Config, DiskOp, Input, RoleName, rpc};
use quorate_types::{Epoch, ErrorCode, NodeId, Offset, OffsetAndEpoch};

use crate::bench::{Bench, config, empty, three, written};
use crate::cluster::{Cluster, Weather};
use crate::disk::Health;
use crate::node::key;

fn votes(bench: &mut Bench) -> usize {
    let calls = bench.take_calls();
    let vote = |body: &rpc::Request| matches!(body, rpc::Request::Vote(vote) if !vote.pre_vote);
    calls.iter().filter(|(_, body)| vote(body)).count()
}

fn records(base: i64, count: i64, epoch: i32) -> rpc::Fetched<Vec<Batch>> {
    rpc::Fetched::Records(vec![Batch::data(Offset(base), count, Epoch(epoch))])
}

fn broker() -> Bench {
    let config = Config {
        controller: false,
        ..Config::new(key(9))
    };
    Bench::with(config, empty(three()))
}

#[test]
fn votes_are_asked_for_when_the_own_one_is_durable() {
    let mut bench = Bench::new();
    bench.wait_for_change();
    bench.disk_works = false;
    bench.vote(true);
    assert_eq!(bench.role(), RoleName::Candidate);
    assert_eq!(votes(&mut bench), 0);
    bench.sync();
    assert_eq!(votes(&mut bench), 2);
}

#[test]
fn a_leader_is_announced_and_serves_when_it_is_durable_that_it_leads() {
    let mut bench = Bench::new();
    bench.wait_for_change();
    bench.vote(true);
    bench.disk_works = false;
    bench.vote(true);
    assert_eq!(bench.role(), RoleName::Leader);
    assert!(bench.take_calls().is_empty(), "no announcement yet");
    assert_eq!(
        bench.fetch(2, 0, 0),
        None,
        "no records of an epoch that it might lead twice"
    );
    let request = bench.last_request();
    bench.sync();
    assert!(bench.take_reply(request).is_some());
    let begins = bench.take_calls();
    let announced =
        |(_, body): &(_, rpc::Request)| matches!(body, rpc::Request::BeginQuorumEpoch(_));
    assert_eq!(begins.len(), 1, "2 has fetched, so only 3 needs to be told");
    assert!(begins.iter().all(announced));
}

#[test]
fn records_are_served_before_the_leader_has_flushed_them() {
    let mut bench = Bench::new();
    bench.elect();
    bench.disk_works = false;
    bench.append(4);
    let reply = bench.fetch(2, 1, 1).expect("records at once");
    assert_eq!(reply.body, rpc::Fetched::Records(Offset(1)..Offset(5)));
    assert_eq!(bench.raft.durable_end(), Offset(1));
    bench.fetch(2, 5, 1);
    bench.fetch(3, 5, 1);
    assert_eq!(
        bench.high_watermark(),
        Some(1),
        "the leader itself has not got them"
    );
    bench.sync();
    assert_eq!(bench.high_watermark(), Some(5));
}

#[test]
fn a_controller_fetches_on_when_its_append_is_durable() {
    let mut bench = Bench::new();
    bench.begin(1, 2);
    let (call, _) = bench.take_fetch();
    bench.disk_works = false;
    bench.fetched(call, records(0, 3, 1), Some(3));
    assert!(bench.take_calls().is_empty());
    assert_eq!(bench.high_watermark(), None);
    bench.sync();
    assert_eq!(bench.take_fetch().1.offset, Offset(3));
    assert_eq!(bench.high_watermark(), Some(3));
}

#[test]
fn a_broker_fetches_on_at_once_but_not_after_a_truncation() {
    let mut bench = broker();
    bench.begin(1, 2);
    let (call, _) = bench.take_fetch();
    bench.disk_works = false;
    bench.fetched(call, records(0, 3, 1), Some(2));
    let (call, fetch) = bench.take_fetch();
    assert_eq!(fetch.offset, Offset(3));
    assert_eq!(
        bench.high_watermark(),
        None,
        "it shows only what is on its disk"
    );
    bench.sync();
    bench.fetched(
        call,
        rpc::Fetched::Diverging(OffsetAndEpoch::new(2, 1)),
        Some(2),
    );
    assert_eq!(
        bench.disk.last(),
        Some(&DiskOp::Truncate { end: Offset(2) })
    );
    assert!(bench.take_calls().is_empty());
    bench.sync();
    assert_eq!(bench.take_fetch().1.offset, Offset(2));
}

#[test]
fn a_reply_of_a_new_epoch_waits_but_a_pre_vote_writes_nothing() {
    let mut bench = Bench::new();
    bench.disk_works = false;
    let writes = bench.disk.len();
    assert!(bench.ask_pre_vote(0, 2, OffsetAndEpoch::default()));
    assert_eq!(bench.disk.len(), writes, "pre-votes are not written");
    let vote = rpc::VoteRequest {
        voter: None,
        candidate: key(2),
        epoch: Epoch(4),
        last: OffsetAndEpoch::default(),
        pre_vote: true,
    };
    assert_eq!(
        bench.ask(rpc::Request::Vote(vote)),
        None,
        "its epoch is not durable"
    );
    let request = bench.last_request();
    bench.sync();
    assert!(bench.take_reply(request).is_some());
}

#[test]
fn a_voter_change_is_answered_when_it_is_committed() {
    let mut cluster = Cluster::dynamic(3, 3, Weather::calm());
    cluster.start_all();
    let leader = cluster.settle();
    let others: Vec<NodeId> = cluster
        .nodes
        .keys()
        .copied()
        .filter(|id| *id != leader)
        .collect();
    for id in &others {
        cluster.disk_health(*id, Health::Hanging);
    }
    let voter = key(others[0].0);
    let remove = rpc::Request::RemoveVoter(rpc::RemoveVoterRequest { voter });
    let asked = cluster.ask(leader, remove);
    cluster.run(std::time::Duration::from_millis(500));
    assert!(
        !cluster.replies.contains_key(&asked),
        "no other disk has it"
    );
    cluster.disk_health(others[1], Health::Good);
    cluster.run(std::time::Duration::from_millis(100));
    let done = rpc::Reply::RemoveVoter(rpc::ChangeReply::of(ErrorCode::None));
    assert_eq!(cluster.replies.get(&asked), Some(&done));
}

#[test]
fn nothing_waits_for_ever_when_the_disk_reports_late() {
    let mut bench = Bench::with(config(), written(Default::default(), &[], 0));
    bench.disk_works = false;
    for (epoch, leader) in [(1, 2), (2, 3)] {
        let begin = rpc::BeginRequest {
            voter: None,
            leader: NodeId(leader),
            epoch: Epoch(epoch),
            endpoints: Vec::new(),
        };
        assert_eq!(bench.ask(rpc::Request::BeginQuorumEpoch(begin)), None);
    }
    let first = quorate_raft::DiskSeq(bench.raft.last_disk_seq().0 - 1);
    bench.outputs.clear();
    bench.input(Input::Durable { upto: first });
    assert!(bench.take_calls().is_empty(), "epoch 2 is not durable");
    bench.sync();
    assert_eq!(bench.take_fetch().1.epoch, Epoch(2));
}
