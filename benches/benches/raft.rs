//! What Raft itself costs: three voters in memory whose disks and network take no time.
#![allow(missing_docs)]

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use quorate_benches::group;
use quorate_raft::MemoryQuorum;
use quorate_types::NodeId;

/// A quorum with a leader that has committed the start of its epoch.
fn led() -> (MemoryQuorum<u64>, NodeId) {
    let mut quorum = MemoryQuorum::new([1, 2, 3], 7).expect("empty disks");
    loop {
        quorum.step(None);
        if let Some(leader) = quorum.leader() {
            let end = quorum.raft(leader).map(|raft| raft.log_end());
            if end.is_some_and(|end| quorum.nodes().all(|id| quorum.high_watermark(id) == end)) {
                return (quorum, leader);
            }
        }
    }
}

/// Appends and delivers messages until the leader knows it as committed.
fn commit(quorum: &mut MemoryQuorum<u64>, leader: NodeId, batches: &[Vec<u64>]) {
    let raft = quorum.raft(leader).expect("the leader runs");
    let (epoch, base) = (raft.epoch(), raft.log_end());
    let count: usize = batches.iter().map(Vec::len).sum();
    let appended = quorum.append(leader, epoch, base, batches);
    appended.expect("nobody else leads");
    while quorum.high_watermark(leader) < base + count as i64 {
        quorum.step(None);
    }
}

fn commits(criterion: &mut Criterion) {
    let mut group = group(criterion, "raft");
    for count in [1, 256, 4096] {
        group.throughput(Throughput::Elements(count as u64));
        let one_batch = [vec![0; count]];
        group.bench_function(BenchmarkId::new("commit-one-batch", count), |bencher| {
            bencher.iter_batched_ref(
                led,
                |(quorum, leader)| commit(quorum, *leader, &one_batch),
                BatchSize::LargeInput,
            );
        });
        let many_batches = vec![vec![0]; count];
        group.bench_function(
            BenchmarkId::new("commit-batches-of-one", count),
            |bencher| {
                bencher.iter_batched_ref(
                    led,
                    |(quorum, leader)| commit(quorum, *leader, &many_batches),
                    BatchSize::LargeInput,
                );
            },
        );
    }
}

criterion_group!(benches, commits);
criterion_main!(benches);
