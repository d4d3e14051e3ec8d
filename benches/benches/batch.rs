//! What it costs to write, check and take apart batches of partition records.
#![allow(missing_docs)]

use std::hint::black_box;

use bytes::Bytes;
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use quorate_benches::{group, metadata};
use quorate_metadata::{MetadataVersion, decode_records};
use quorate_protocol::batch::{BatchView, encode_data_batch, split_batches};
use quorate_types::{Epoch, Offset, WallTime};

fn frames(count: usize) -> Vec<Bytes> {
    (0..count)
        .filter_map(|n| {
            let record = MetadataVersion::LATEST.versioned(metadata::partition_record(n));
            record.encode_frame().ok()
        })
        .collect()
}

fn encode(base: i64, frames: &[Bytes]) -> Bytes {
    let batch = encode_data_batch(Offset(base), Epoch(7), WallTime(0), frames);
    batch.expect("a batch of a few hundred kilobytes")
}

fn batches(criterion: &mut Criterion) {
    let mut group = group(criterion, "batch");
    for count in [1, 256, 4096] {
        let frames = frames(count);
        let bytes = encode(0, &frames);
        let view = BatchView::new(bytes.clone()).expect("what was just written");
        group.throughput(Throughput::Bytes(bytes.len() as u64));
        group.bench_function(BenchmarkId::new("encode", count), |bencher| {
            bencher.iter(|| encode(0, black_box(&frames)));
        });
        group.bench_function(BenchmarkId::new("verify", count), |bencher| {
            bencher.iter(|| black_box(&view).verify_crc());
        });
        group.bench_function(BenchmarkId::new("decode-records", count), |bencher| {
            bencher.iter(|| decode_records(black_box(&view)).map(|records| records.len()));
        });
    }
}

/// What a fetch answer holds when a follower is far behind: many batches, split and checked.
fn split(criterion: &mut Criterion) {
    let mut group = group(criterion, "batch");
    for count in [1, 256, 4096] {
        let frames = frames(1);
        let batches: Vec<Bytes> = (0..count).map(|base| encode(base, &frames)).collect();
        let bytes = Bytes::from(batches.concat());
        group.throughput(Throughput::Elements(count as u64));
        group.bench_function(BenchmarkId::new("split-and-verify", count), |bencher| {
            bencher.iter(|| {
                let good = split_batches(black_box(&bytes).clone())
                    .map_while(Result::ok)
                    .take_while(|batch| batch.verify_crc().is_ok());
                good.count()
            });
        });
    }
}

criterion_group!(benches, batches, split);
criterion_main!(benches);
