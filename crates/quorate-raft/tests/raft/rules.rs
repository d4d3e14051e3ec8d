//! The rules that are easy to get wrong, by their numbers. R05 and R13 are about other crates.

use std::time::Duration;

use quorate_raft::{
    AppendError, Batch, BootError, DiskOp, DiskSeq, ElectionState, Input, Output, Raft, RoleName,
    Source, rpc,
};
use quorate_types::{Epoch, ErrorCode, MonoTime, NodeId, Offset, OffsetAndEpoch, Rng};

use crate::bench::{Bench, config, empty, written};
use crate::cluster::{Cluster, Weather};
use crate::disk::{Entry, Files, Health};
use crate::node::{key, voters};

pub const SECOND: Duration = Duration::from_secs(1);

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

pub fn election(epoch: i32, leader: Option<i32>, voted: Option<i32>) -> ElectionState {
    ElectionState {
        epoch: Epoch(epoch),
        leader: leader.map(NodeId),
        voted: voted.map(key),
    }
}

/// A disk whose log holds those batches: (first offset, records, epoch).
fn files(epoch: i32, batches: &[(i64, i64, i32)]) -> Files {
    let entry = |(base, count, epoch): &(i64, i64, i32)| Entry {
        batch: Batch::data(Offset(*base), *count, Epoch(*epoch)),
        tag: (*base * 100 + i64::from(*epoch)) as u64,
    };
    Files {
        election: Some(election(epoch, None, None)),
        log: batches.iter().map(entry).collect(),
        ..Files::default()
    }
}

fn settled(seed: u64, count: i32) -> (Cluster, NodeId) {
    let mut cluster = Cluster::new(seed, count, Weather::calm());
    cluster.start_all();
    let leader = cluster.settle();
    (cluster, leader)
}

pub fn followers(cluster: &Cluster, leader: NodeId) -> Vec<NodeId> {
    cluster
        .nodes
        .keys()
        .copied()
        .filter(|id| *id != leader)
        .collect()
}

#[test]
fn r01_a_new_leader_knows_no_high_watermark_before_a_majority_has_its_first_record() {
    let mut bench = Bench::with(config(), written(election(1, None, None), &[(1, 0)], 10));
    bench.elect();
    assert_eq!(
        bench.raft.log_end(),
        Offset(11),
        "its LeaderChange stands at 10"
    );
    let reply = bench.fetch(3, 10, 1).expect("records at once");
    assert_eq!(reply.high_watermark, None);
    assert_eq!(reply.body, rpc::Fetched::Records(Offset(10)..Offset(11)));
    assert_eq!(
        bench.high_watermark(),
        None,
        "10 is not committed by being had by all"
    );
    bench.fetch(3, 11, 2);
    assert_eq!(
        bench.high_watermark(),
        Some(11),
        "without any client's write"
    );
}

#[test]
fn r02_a_leader_that_restarts_never_leads_its_epoch_again() {
    let mut bench = Bench::with(config(), written(election(5, Some(1), None), &[(5, 0)], 3));
    assert_eq!(bench.role(), RoleName::Resigned);
    let batch = Batch::data(Offset(3), 1, Epoch(5));
    let refused = bench.raft.append(bench.now, Epoch(5), Offset(3), &[batch]);
    assert_eq!(refused, Err(AppendError::NotLeader));
    assert!(
        !bench.ask_vote(5, 2, OffsetAndEpoch::new(9, 4)),
        "no other vote in its epoch"
    );
    bench.wait_for_change();
    bench.vote(true);
    bench.vote(true);
    assert_eq!(bench.role(), RoleName::Leader);
    assert!(bench.epoch() >= 6);
    let active = bench.outputs.iter().filter_map(|output| match output {
        Output::Leader {
            epoch,
            mine_from: Some(_),
            ..
        } => Some(epoch.0),
        _ => None,
    });
    assert_eq!(active.min(), Some(bench.epoch()), "never active in epoch 5");
}

#[test]
fn r03_a_vote_outlives_every_change_within_its_epoch() {
    let mut bench = Bench::new();
    let up_to_date = OffsetAndEpoch::new(0, 0);
    assert!(bench.ask_vote(4, 2, up_to_date));
    bench.begin(4, 2);
    assert_eq!(bench.role(), RoleName::Follower);
    bench.wait_for_change();
    assert_eq!(bench.role(), RoleName::Prospective);
    bench.vote(false);
    assert_eq!(
        (bench.epoch(), bench.raft.election().voted),
        (4, Some(key(2)))
    );
    assert!(
        !bench.ask_vote(4, 3, up_to_date),
        "no second vote in epoch 4"
    );
    bench.ask_vote(5, 3, up_to_date);
    assert_eq!(
        bench.raft.election().voted,
        Some(key(3)),
        "another epoch, another vote"
    );
    let written = bench.disk.iter().filter_map(|op| match op {
        DiskOp::SaveElection(state) if state.epoch == Epoch(4) => Some(state.voted),
        _ => None,
    });
    let votes: Vec<_> = written.skip_while(Option::is_none).collect();
    assert!(
        votes.iter().all(|voted| *voted == Some(key(2))),
        "the disk shows {votes:?}"
    );
}

#[test]
fn r04_a_lost_vote_is_an_error_and_an_old_one_is_never_below_the_log() {
    let mut boot = written(election(0, None, None), &[(2, 0), (5, 7)], 9);
    boot.election = None;
    let log_epoch = Epoch(5);
    let lost = Raft::new(config(), boot.clone(), Rng::new(1), MonoTime(0));
    assert_eq!(lost.err(), Some(BootError::VoteLost { log_epoch }));
    boot.election = Some(election(3, Some(1), Some(1)));
    let bench = Bench::with(config(), boot);
    assert_eq!((bench.role(), bench.epoch()), (RoleName::Unattached, 5));
}

#[test]
fn r04_a_vote_is_answered_only_when_it_is_on_disk() {
    let mut bench = Bench::new();
    bench.disk_works = false;
    let vote = rpc::VoteRequest {
        voter: Some(key(1)),
        candidate: key(2),
        epoch: Epoch(1),
        last: OffsetAndEpoch::default(),
        pre_vote: false,
    };
    assert_eq!(bench.ask(rpc::Request::Vote(vote)), None);
    let request = bench.last_request();
    let saved = DiskOp::SaveElection(election(1, None, Some(2)));
    assert_eq!(bench.disk.last(), Some(&saved));
    bench.sync();
    let reply = bench.take_reply(request);
    assert!(matches!(reply, Some(rpc::Reply::Vote(reply)) if reply.granted));
}

#[test]
fn r06_nodes_at_different_epochs_elect_and_the_longest_log_wins() {
    for seed in 0..20 {
        let mut cluster = Cluster::new(seed, 3, Weather::calm());
        let disks = [files(9, &[(0, 5, 2)]), files(3, &[(0, 5, 2), (5, 4, 3)])];
        for (id, files) in (1..).zip(disks) {
            let node = cluster.nodes.get_mut(&NodeId(id)).unwrap();
            node.disk = crate::disk::Disk::new(files);
            cluster.start(NodeId(id));
        }
        let leader = cluster.settle();
        assert_eq!(leader, NodeId(2), "seed {seed}: the longest log wins");
        let epoch = cluster.raft(leader).epoch().0;
        assert!((10..15).contains(&epoch), "seed {seed}: epoch {epoch}");
        assert!(
            cluster.now.since(MonoTime(0)) < SECOND * 15,
            "seed {seed}: took {}",
            cluster.now
        );
    }
}

#[test]
fn r07_a_node_that_was_cut_off_comes_back_without_disturbing_anyone() {
    for seed in 0..8 {
        let (mut cluster, leader) = settled(seed, 3);
        let epoch = cluster.raft(leader).epoch();
        let away = followers(&cluster, leader)[0];
        cluster.isolate(away);
        cluster.run(SECOND * 20);
        assert_eq!(
            cluster.raft(away).epoch(),
            epoch,
            "seed {seed}: its epoch grew"
        );
        cluster.cut.clear();
        cluster.run(SECOND * 5);
        assert_eq!(cluster.leader(), Some(leader), "seed {seed}");
        assert_eq!(cluster.raft(leader).epoch(), epoch, "seed {seed}");
        assert_eq!(cluster.raft(away).role(), RoleName::Follower, "seed {seed}");
    }
}

#[test]
fn r08_a_leader_emerges_within_a_few_rounds_for_every_seed() {
    for seed in 0..60 {
        let (cluster, leader) = settled(seed, 5);
        let epoch = cluster.raft(leader).epoch();
        assert!(epoch <= Epoch(6), "seed {seed}: {epoch} elections");
        assert!(
            cluster.now.since(MonoTime(0)) < SECOND * 12,
            "seed {seed}: took {}",
            cluster.now
        );
    }
}

#[test]
fn r09_a_leader_cut_from_its_majority_resigns_and_acknowledges_nothing() {
    let (mut cluster, leader) = settled(3, 3);
    let committed = cluster.nodes[&leader].high_watermark;
    cluster.isolate(leader);
    cluster.append(leader, 3).unwrap();
    cluster.run(ms(3100));
    assert_eq!(cluster.raft(leader).role(), RoleName::Resigned);
    assert_eq!(cluster.nodes[&leader].high_watermark, committed);
}

#[test]
fn r09_a_leader_whose_disk_hangs_resigns_and_acknowledges_nothing() {
    let (mut cluster, leader) = settled(3, 3);
    let committed = cluster.nodes[&leader].high_watermark;
    cluster.disk_health(leader, Health::Hanging);
    cluster.append(leader, 3).unwrap();
    let resigned = |cluster: &Cluster| cluster.raft(leader).role() != RoleName::Leader;
    assert!(cluster.run_until(ms(3100), resigned));
    assert_eq!(cluster.nodes[&leader].high_watermark, committed);
    let next = cluster.run_until(SECOND * 5, |cluster| cluster.leader().is_some());
    assert!(next, "the others go on without it");
}

#[test]
fn r09_a_follower_without_progress_is_visible() {
    let mut bench = Bench::new();
    bench.elect();
    bench.fetch(2, 1, 1);
    for _ in 0..5 {
        bench.append(1);
        bench.wait(ms(400));
        bench.fetch(2, 1, 1);
    }
    let description = bench.raft.describe(bench.now);
    let lagging = &description.voters[1];
    assert_eq!(lagging.log_end, Some(Offset(1)));
    assert_eq!(lagging.last_fetch, Some(Duration::ZERO));
    assert_eq!(lagging.last_caught_up, Some(ms(2000)));
    assert_eq!(description.voters[2].last_fetch, None, "3 never fetched");
}

#[test]
fn r10_one_voter_never_resigns_for_lack_of_peers() {
    let mut bench = Bench::with(config(), empty(voters(&[1], false)));
    assert_eq!(bench.role(), RoleName::Leader);
    bench.disk_works = false;
    bench.append(1);
    bench.wait(SECOND * 60);
    assert_eq!(
        bench.role(),
        RoleName::Leader,
        "a hanging disk has nobody to yield to either"
    );
}

#[test]
fn r10_a_leader_that_removes_itself_needs_a_majority_of_the_others() {
    let mut cluster = Cluster::dynamic(11, 5, Weather::calm());
    cluster.start_all();
    let leader = cluster.settle();
    let others = followers(&cluster, leader);
    // Of the four others two remain: with the leader itself they would have been three of five.
    cluster.cut.insert((leader, others[0]));
    cluster.cut.insert((leader, others[1]));
    let before = cluster.nodes[&leader].high_watermark;
    let voter = key(leader.0);
    cluster.ask(
        leader,
        rpc::Request::RemoveVoter(rpc::RemoveVoterRequest { voter }),
    );
    cluster.run(ms(2500));
    assert_eq!(
        cluster.nodes[&leader].high_watermark, before,
        "two of four are no majority"
    );
    cluster.run(ms(1000));
    assert_ne!(
        cluster.raft(leader).role(),
        RoleName::Leader,
        "nor do they keep it in office"
    );
}

#[test]
fn r10_removing_a_follower_never_lowers_the_high_watermark() {
    let mut cluster = Cluster::dynamic(5, 3, Weather::calm());
    cluster.start_all();
    let leader = cluster.settle();
    let others = followers(&cluster, leader);
    // One follower is far behind, the other one is removed: the majority's end falls back.
    cluster.isolate(others[0]);
    cluster.append(leader, 9).unwrap();
    cluster.run(ms(50));
    let before = cluster.nodes[&leader].high_watermark;
    let voter = key(others[1].0);
    let asked = cluster.ask(
        leader,
        rpc::Request::RemoveVoter(rpc::RemoveVoterRequest { voter }),
    );
    cluster.run(ms(100));
    assert_eq!(cluster.nodes[&leader].high_watermark, before);
    assert!(
        !cluster.replies.contains_key(&asked),
        "not committed without the one behind"
    );
    cluster.cut.clear();
    let answered = cluster.run_until(SECOND * 5, |cluster| cluster.replies.contains_key(&asked));
    assert!(
        answered,
        "the harness asserts that no high watermark ever fell"
    );
}

#[test]
fn r11_nothing_acknowledged_is_lost_when_every_unflushed_byte_is() {
    for count in [1, 3, 5] {
        for seed in 0..8 {
            let (mut cluster, leader) = settled(seed, count);
            let pause = ms(seed % 7);
            for _ in 0..4 {
                cluster.append(leader, 2).unwrap();
                cluster.run(pause);
            }
            let acknowledged = cluster.nodes[&leader].high_watermark.unwrap();
            let ids: Vec<NodeId> = cluster.nodes.keys().copied().collect();
            for id in &ids {
                cluster.crash(*id, false);
            }
            for id in &ids {
                cluster.start(*id);
            }
            let leader = cluster.settle();
            let end = cluster.files(leader).end();
            // That the batches are the same ones is asserted by the harness.
            assert!(
                end >= acknowledged,
                "{count} voters, seed {seed}: {acknowledged} became {end}"
            );
            assert!(cluster.nodes[&leader].high_watermark >= Some(acknowledged));
        }
    }
}

#[test]
fn r12_a_leader_whose_write_fails_counts_nothing_and_yields() {
    let mut bench = Bench::new();
    bench.elect();
    bench.fetch(2, 1, 1);
    assert_eq!(bench.high_watermark(), Some(1));
    bench.disk_works = false;
    bench.append(2);
    let seq = bench.raft.last_disk_seq();
    bench.input(Input::DiskFailed { seq });
    assert_eq!(bench.role(), RoleName::Resigned);
    assert!(bench.raft.is_failed());
    bench.input(Input::Durable { upto: seq });
    assert_eq!(
        bench.high_watermark(),
        Some(1),
        "no retry is taken for success"
    );
    let reply = bench.fetch(2, 3, 1).expect("a reply at once");
    assert_eq!(reply.error, ErrorCode::BrokerNotAvailable);
    assert!(
        !bench.ask_vote(9, 2, OffsetAndEpoch::new(9, 8)),
        "it votes no more"
    );
    let farewell = |body: &rpc::Request| matches!(body, rpc::Request::EndQuorumEpoch(_));
    assert!(
        bench.take_calls().iter().any(|(_, body)| farewell(body)),
        "the others are told"
    );
}

#[test]
fn r12_a_followers_offset_stays_when_its_write_fails() {
    let mut bench = Bench::new();
    bench.begin(1, 2);
    bench.disk_works = false;
    let (call, _) = bench.take_fetch();
    bench.fetched(
        call,
        rpc::Fetched::Records(vec![Batch::data(Offset(0), 3, Epoch(1))]),
        Some(3),
    );
    let seq = bench.raft.last_disk_seq();
    bench.input(Input::DiskFailed { seq });
    bench.wait(SECOND * 10);
    assert!(
        bench.take_calls().is_empty(),
        "it acknowledges nothing any more"
    );
    assert_eq!(bench.raft.durable_end(), Offset(0));
    assert_eq!(bench.high_watermark(), None);
}

#[test]
fn r12_a_node_whose_disk_failed_rejoins_after_a_restart() {
    let (mut cluster, leader) = settled(4, 3);
    let failing = followers(&cluster, leader)[0];
    cluster.disk_health(failing, Health::Failing);
    cluster.append(leader, 2).unwrap();
    cluster.run(SECOND);
    assert!(cluster.nodes[&failing].fatal.is_some());
    cluster.crash(failing, true);
    cluster.start(failing);
    let end = Some(cluster.raft(leader).log_end());
    let rejoined = cluster.run_until(SECOND * 5, |cluster| {
        cluster.nodes[&failing].high_watermark == end
    });
    assert!(rejoined);
}

#[test]
fn r14_a_diverged_fetch_gets_no_credit() {
    // V2 leads epoch 2 from 10, its log ends at 12; V1 has epoch 1 up to 15.
    let mut bench = Bench::with(config(), written(election(1, None, None), &[(1, 0)], 10));
    bench.elect();
    bench.append(1);
    let reply = bench.fetch(3, 15, 1).expect("an answer at once");
    assert_eq!(
        reply.body,
        rpc::Fetched::Diverging(OffsetAndEpoch::new(10, 1))
    );
    assert_eq!(bench.high_watermark(), None, "15 is no acknowledgement");
    assert_eq!(bench.raft.describe(bench.now).voters[2].log_end, None);
    bench.fetch(3, 10, 1);
    assert_eq!(
        bench.raft.describe(bench.now).voters[2].log_end,
        Some(Offset(10))
    );
    assert_eq!(bench.high_watermark(), None);
    bench.fetch(3, 12, 2);
    assert_eq!(bench.high_watermark(), Some(12));
}

#[test]
fn r14_a_diverged_log_is_cut_before_its_high_watermark_moves() {
    let mut bench = Bench::with(config(), written(election(1, None, None), &[(1, 0)], 15));
    bench.begin(2, 2);
    let (call, fetch) = bench.take_fetch();
    assert_eq!((fetch.offset, fetch.last_epoch), (Offset(15), Epoch(1)));
    bench.disk_works = false;
    bench.fetched(
        call,
        rpc::Fetched::Diverging(OffsetAndEpoch::new(10, 1)),
        Some(12),
    );
    assert_eq!(
        bench.disk.last(),
        Some(&DiskOp::Truncate { end: Offset(10) })
    );
    assert_eq!(
        bench.high_watermark(),
        None,
        "epoch 1's tail is shown to nobody"
    );
    assert!(
        bench.take_calls().is_empty(),
        "the next fetch waits for the truncation"
    );
    bench.disk_works = true;
    bench.sync();
    let (call, fetch) = bench.take_fetch();
    assert_eq!((fetch.offset, fetch.last_epoch), (Offset(10), Epoch(1)));
    bench.fetched(
        call,
        rpc::Fetched::Records(vec![Batch::data(Offset(10), 2, Epoch(2))]),
        Some(12),
    );
    assert_eq!(bench.high_watermark(), Some(12));
}

#[test]
fn r15_the_valid_prefix_of_a_fetch_answer_is_kept_and_the_rest_fetched_again() {
    let batch = |base, count, epoch| Batch::data(Offset(base), count, Epoch(epoch));
    let good = || vec![batch(0, 2, 1), batch(2, 3, 3)];
    let cases = [
        ("a later epoch", batch(5, 1, 4)),
        ("an earlier epoch", batch(5, 1, 2)),
        ("a gap", batch(6, 1, 3)),
        ("an overlap", batch(4, 3, 3)),
        ("no records", batch(5, 0, 3)),
        ("a negative length", batch(5, -3, 3)),
    ];
    for (what, bad) in cases {
        let mut bench = Bench::new();
        bench.begin(3, 2);
        let (call, _) = bench.take_fetch();
        let mut batches = good();
        batches.extend([bad.clone(), batch(9, 1, 3)]);
        bench.fetched(call, rpc::Fetched::Records(batches), None);
        let kept = DiskOp::Append {
            from: Source::Fetched(call),
            base: Offset(0),
            end: Offset(5),
        };
        assert_eq!(bench.disk.last(), Some(&kept), "{what}");
        let (call, fetch) = bench.take_fetch();
        assert_eq!(
            (fetch.offset, fetch.last_epoch),
            (Offset(5), Epoch(3)),
            "{what}"
        );
        // The same nonsense alone is no good fetch: the peer is let alone for a while.
        bench.fetched(call, rpc::Fetched::Records(vec![bad]), None);
        assert_eq!(bench.raft.log_end(), Offset(5), "{what}");
    }
}

#[test]
fn r15_answers_that_bring_nothing_usable_do_not_keep_a_leader_alive() {
    // Damaged bytes; or none at all although more is committed than is here.
    for damaged in [true, false] {
        let mut bench = Bench::new();
        bench.begin(1, 2);
        let mut fetches = 0;
        while bench.role() == RoleName::Follower && fetches < 1000 {
            for (call, body) in bench.take_calls() {
                if let rpc::Request::Fetch(_) = body {
                    fetches += 1;
                    let answer = rpc::FetchAnswer {
                        error: ErrorCode::None,
                        leadership: bench.leadership(1, Some(2)),
                        high_watermark: Some(Offset(7)),
                        body: rpc::Fetched::Records(Vec::new()),
                        damaged,
                    };
                    bench.answer(call, rpc::Answer::Fetch(answer));
                }
            }
            bench.wait(ms(5));
        }
        assert_eq!(bench.role(), RoleName::Prospective, "{fetches} bad answers");
        assert!(
            (10..500).contains(&fetches),
            "{fetches} fetches in a fetch timeout"
        );
    }
}

#[test]
fn disk_operations_are_numbered_from_one() {
    assert_eq!(Bench::new().raft.last_disk_seq(), DiskSeq(1));
}
