//! What images cost: applying changes, telling what changed, fencing a broker, snapshots.
#![allow(missing_docs)]

use std::hint::black_box;

use bytes::Bytes;
use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use quorate_benches::metadata::{self, shrink};
use quorate_benches::{group, is_measuring};
use quorate_engine::Machine;
use quorate_metadata::{
    Delta, KafkaMetadata, MetadataImage, Provenance, PublishError, Publisher, Publishers,
    SnapshotFile, SnapshotLoader,
};
use quorate_protocol::records::VersionedRecord;
use quorate_protocol::snapshot::SnapshotHeader;
use quorate_types::{Epoch, NodeId, Offset, OffsetAndEpoch, WallTime};

/// Changes that are applied to one version.
const CHANGES: usize = 1000;

fn sizes() -> &'static [usize] {
    if is_measuring() {
        &[10_000, 150_000]
    } else {
        &[1000]
    }
}

fn image(partitions: usize) -> MetadataImage {
    metadata::image(partitions).expect("records that fit one another")
}

fn apply(image: &mut MetadataImage, records: &[VersionedRecord]) {
    for record in records {
        KafkaMetadata::apply(image, record, Offset(0)).expect("a change that fits");
    }
}

fn changes(criterion: &mut Criterion) {
    let mut group = group(criterion, "image");
    for &size in sizes() {
        let image = image(size);
        let changes = metadata::shrinks(&image, size, CHANGES);
        group.throughput(Throughput::Elements(changes.len() as u64));
        group.bench_function(BenchmarkId::new("apply-1000-changes", size), |bencher| {
            bencher.iter_batched_ref(
                || image.clone(),
                |image| apply(image, &changes),
                BatchSize::LargeInput,
            );
        });
    }
}

/// A broker that looks at what a change means for its own replicas.
struct Local(usize);

impl Publisher for Local {
    fn name(&self) -> &str {
        "local replicas"
    }

    fn publish(&mut self, delta: &Delta, _: &Provenance) -> Result<(), PublishError> {
        let local = delta.local(NodeId(3));
        self.0 += local.leaders.len() + local.followers.len();
        Ok(())
    }
}

fn publishing(criterion: &mut Criterion) {
    let mut group = group(criterion, "image");
    for &size in sizes() {
        let before = image(size);
        let mut after = before.clone();
        apply(&mut after, &metadata::shrinks(&before, size, 1));
        group.bench_function(BenchmarkId::new("delta-of-one-change", size), |bencher| {
            bencher.iter(|| {
                let delta = Delta::new(black_box(&before).clone(), black_box(&after).clone());
                delta.partitions().count()
            });
        });
        let mut publishers = Publishers::new();
        publishers.add(Box::new(Local(0)));
        let to = Provenance {
            end: OffsetAndEpoch::new(1, 1),
            at: WallTime(0),
            from_snapshot: false,
        };
        publishers.publish(&before, &to);
        let mut versions = [&after, &before].into_iter().cycle();
        group.bench_function(BenchmarkId::new("publish-one-change", size), |bencher| {
            bencher.iter(|| {
                versions
                    .next()
                    .map(|image| publishers.publish(image, &to).len())
            });
        });
    }
}

fn fencing(criterion: &mut Criterion) {
    let mut group = group(criterion, "image");
    for &size in sizes() {
        let image = image(size);
        let broker = NodeId(3);
        let held = image.topics().in_isr_of(broker).count();
        group.throughput(Throughput::Elements(held as u64));
        group.bench_function(BenchmarkId::new("fence-a-broker", size), |bencher| {
            bencher.iter_batched_ref(
                || image.clone(),
                |fenced| {
                    let isrs = image.topics().in_isr_of(broker);
                    let changes: Vec<VersionedRecord> = isrs
                        .map(|(id, partition)| shrink(id, &partition.isr, broker))
                        .collect();
                    apply(fenced, &changes);
                },
                BatchSize::LargeInput,
            );
        });
    }
}

fn write(image: &MetadataImage) -> Vec<Bytes> {
    let header = SnapshotHeader {
        last_contained: WallTime(0),
        quorum: None,
    };
    let mut file = SnapshotFile::new(image.clone(), &header, Epoch(1), WallTime(0))
        .expect("the version of the image can say all of it");
    std::iter::from_fn(|| file.next_batch().expect("batches of the usual size")).collect()
}

fn read(batches: &[Bytes]) -> MetadataImage {
    let mut loader = SnapshotLoader::new(OffsetAndEpoch::new(1, 1));
    for batch in batches {
        loader.feed(batch.clone()).expect("what was just written");
    }
    loader.finish().expect("a whole snapshot").image
}

fn snapshots(criterion: &mut Criterion) {
    let mut group = group(criterion, "snapshot");
    for &size in sizes() {
        let image = image(size);
        let batches = write(&image);
        assert!(read(&batches) == image, "what is read is what was written");
        let bytes: usize = batches.iter().map(Bytes::len).sum();
        group.throughput(Throughput::Bytes(bytes as u64));
        group.bench_function(BenchmarkId::new("write", size), |bencher| {
            bencher.iter(|| write(black_box(&image)));
        });
        group.bench_function(BenchmarkId::new("read", size), |bencher| {
            bencher.iter(|| read(black_box(&batches)));
        });
    }
}

criterion_group!(benches, changes, publishing, fencing, snapshots);
criterion_main!(benches);
