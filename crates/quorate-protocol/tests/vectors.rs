//! Reads and writes what Kafka wrote.
//!
//! Besides the crate's own vectors it takes the files named in `QUORATE_VECTORS` (separated by
//! colons or commas): one JSON object a line, with `message`, `version` and `hex`. It prints how many
//! vectors came back byte by byte, and fails unless all did.

mod common;

use std::process::ExitCode;

/// How many failures are shown.
const SHOWN: usize = 20;

fn main() -> ExitCode {
    let mut results = Vec::new();
    for (name, text) in common::own_files() {
        results.extend(check(name, text));
    }
    let named = std::env::var("QUORATE_VECTORS").unwrap_or_default();
    for path in named.split([':', ',']).filter(|path| !path.is_empty()) {
        match read(path) {
            Ok(text) => results.extend(check(path, &text)),
            Err(error) => results.push(Err(format!("{path}: {error}"))),
        }
    }
    let failures: Vec<&String> = results
        .iter()
        .filter_map(|result| result.as_ref().err())
        .collect();
    for failure in failures.iter().take(SHOWN) {
        println!("{failure}");
    }
    println!(
        "{} of {} vectors",
        results.len() - failures.len(),
        results.len()
    );
    if failures.is_empty() && !results.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Test targets run in the crate's folder; whoever names a file may mean the workspace's.
fn read(path: &str) -> std::io::Result<String> {
    std::fs::read_to_string(path).or_else(|error| {
        let workspace = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
        std::fs::read_to_string(std::path::Path::new(workspace).join(path)).map_err(|_| error)
    })
}

fn check(file: &str, text: &str) -> Vec<Result<(), String>> {
    let vectors = common::parse(file, text).into_iter();
    vectors
        .map(|vector| {
            let vector = vector?;
            common::round_trip(&vector).map_err(|problem| format!("{}: {problem}", vector.place))
        })
        .collect()
}
