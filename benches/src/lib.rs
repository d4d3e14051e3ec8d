//! What the benches share: the inputs that they measure with, and how figures are told.
#![warn(missing_docs)]
#![forbid(unsafe_code)]

use std::time::Duration;

use criterion::{BenchmarkGroup, Criterion, measurement::WallTime};

pub mod figures;
pub mod metadata;

/// The allocator of the programs that quorate ships, for all benches.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Whether this run measures. `cargo test --benches` runs every bench once to see that it works,
/// without `--bench`; what is slow to set up is then made smaller.
pub fn is_measuring() -> bool {
    std::env::args().any(|arg| arg == "--bench")
}

/// A group of benches that takes a second each: enough for a median on a quiet machine.
pub fn group<'a>(criterion: &'a mut Criterion, name: &str) -> BenchmarkGroup<'a, WallTime> {
    let mut group = criterion.benchmark_group(name);
    group
        .sample_size(15)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_millis(700));
    group
}
