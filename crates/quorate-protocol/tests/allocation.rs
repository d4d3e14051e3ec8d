//! How much memory reading takes: a small multiple of what is read, whatever the bytes say.
//!
//! Its only test counts what the process allocates, so it has a target of its own.

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use bytes::Bytes;
use common::{Vector, codecs, own_vectors};
use quorate_protocol::codec::{Message, Reader};
use quorate_protocol::messages::{
    CreateTopicsRequest, DeleteTopicsRequest, DescribeQuorumResponse, MetadataResponse,
};
use quorate_protocol::types::Rng;

struct Counting;

static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

fn grow(size: usize) {
    let live = LIVE.fetch_add(size, Relaxed) + size;
    PEAK.fetch_max(live, Relaxed);
}

// SAFETY: everything is handed on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        grow(layout.size());
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Relaxed);
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The most that was allocated at a time while `run` ran, in bytes.
fn peak(run: impl FnOnce()) -> usize {
    let before = LIVE.load(Relaxed);
    PEAK.store(before, Relaxed);
    run();
    PEAK.load(Relaxed) - before
}

/// Eight times the frame, a floor, and a little for the error.
fn bound(frame: usize) -> usize {
    8 * frame + 16 * 1024 + 256
}

fn check<M: Message>(what: &str, version: i16, bytes: &[u8]) {
    let taken = peak(|| drop(M::decode(version, &mut Reader::new(bytes))));
    assert!(
        taken <= bound(bytes.len()),
        "{what}: {taken} bytes for {}",
        bytes.len()
    );
}

#[test]
fn reading_takes_a_small_multiple_of_the_frame() {
    hostile_frames();
    damaged_vectors();
    random_frames();
}

/// Frames that are honest about their counts and expensive all the same.
fn hostile_frames() {
    const SIZE: usize = 1 << 20;
    let frame = |count: usize, body: &[u8]| {
        let mut frame = vec![0x80 | (count + 1) as u8, 0x80 | ((count + 1) >> 7) as u8];
        frame.push(((count + 1) >> 14) as u8);
        frame.extend(body);
        frame
    };
    let ones = vec![1; SIZE];
    check::<DeleteTopicsRequest>("empty names", 5, &frame(SIZE, &ones));
    let zeros = vec![0; SIZE];
    check::<CreateTopicsRequest>("empty topics", 7, &frame(SIZE / 8, &zeros));
    check::<MetadataResponse>(
        "announced only",
        12,
        &[0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0x0f],
    );
    check::<MetadataResponse>("announced only", 0, &[0x7f, 0xff, 0xff, 0xff]);
    // Each element brings one tagged field that nobody knows.
    let tagged = [0, 0, 1, 9, 0].repeat(SIZE / 5);
    check::<DescribeQuorumResponse>("tags", 0, &frame(SIZE / 5, &tagged));
    // One struct with very many of them, ascending and descending.
    for descending in [false, true] {
        let mut frame = vec![0, 0, 1, 0x80, 0x80, 0x04];
        for index in 0..1u32 << 16 {
            let tag = if descending {
                (1 << 17) - index
            } else {
                (1 << 16) + index
            };
            frame.extend([
                tag as u8 | 0x80,
                (tag >> 7) as u8 | 0x80,
                (tag >> 14) as u8,
                0,
            ]);
        }
        check::<DescribeQuorumResponse>("many tags", 0, &frame);
    }
}

fn damaged_vectors() {
    let mut rng = Rng::new(3);
    for Vector {
        codec,
        version,
        bytes,
        place,
    } in own_vectors()
    {
        for _ in 0..4 {
            let mut bytes = bytes.to_vec();
            if !bytes.is_empty() {
                let at = rng.index(bytes.len());
                bytes[at] = [0x7f, 0xff, 0x80, rng.next_u64() as u8][rng.index(4)];
            }
            let bytes = Bytes::from(bytes);
            let taken = peak(|| drop((codec.raw)(version, &bytes)));
            assert!(taken <= bound(bytes.len()), "{place}: {taken} bytes");
        }
    }
}

fn random_frames() {
    let mut rng = Rng::new(4);
    for round in 0..12 {
        // Small bytes make deep structures, any bytes make long announcements.
        let limit = [2, 3, 256][round % 3];
        let bytes: Bytes = (0..8192).map(|_| rng.below(limit) as u8).collect();
        for codec in codecs() {
            for version in codec.versions.min..=codec.versions.max {
                let taken = peak(|| drop((codec.raw)(version, &bytes)));
                assert!(
                    taken <= bound(bytes.len()),
                    "{} {version}: {taken} bytes",
                    codec.name
                );
            }
        }
    }
}
