//! `quorate dump` prints what Kafka's own tool printed for the files of stock clusters, byte for byte.

use std::path::PathBuf;

use crate::{here, quorate};

/// Where a node's file of the stock clusters lies.
fn stock(node: &str, file: &str) -> PathBuf {
    let directory = here().join("../quorate-storage/tests/fixtures").join(node);
    match file {
        "bootstrap.checkpoint" => directory,
        _ => directory.join("__cluster_metadata-0"),
    }
}

/// A copy of a file, for tests that damage it.
fn copy_of(node: &str, file: &str, change: impl FnOnce(&mut Vec<u8>)) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    let mut bytes = std::fs::read(stock(node, file).join(file)).unwrap();
    change(&mut bytes);
    std::fs::write(directory.path().join(file), bytes).unwrap();
    directory
}

#[test]
fn every_file_is_dumped_as_kafka_does() {
    let mut compared = 0;
    for node in [
        "dynamic-quorum/node-1",
        "static-quorum/node-1",
        "static-quorum/node-7",
    ] {
        for entry in std::fs::read_dir(here().join("tests/cli/dumps").join(node)).unwrap() {
            let golden = entry.unwrap().path();
            let name = golden.file_name().unwrap().to_str().unwrap();
            let file = name.strip_suffix(".dump.txt").unwrap();
            let output = quorate(&stock(node, file), &["dump", file]);
            let expected = std::fs::read_to_string(&golden).unwrap();
            let printed = String::from_utf8(output.stdout).unwrap();
            for (line, (ours, kafkas)) in printed.lines().zip(expected.lines()).enumerate() {
                assert_eq!(ours, kafkas, "{node}/{name}:{}", line + 1);
            }
            assert!(printed == expected, "{node}/{name}: one is longer");
            assert!(output.status.success(), "{node}/{name}");
            compared += 1;
        }
    }
    assert_eq!(compared, 20);
}

#[test]
fn json_has_one_object_a_line() {
    let file = "00000000000000000387.log";
    let node = "static-quorum/node-1";
    let output = quorate(&stock(node, file), &["dump", "--json", file]);
    let printed = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<serde_json::Value> = printed
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let first = &lines[0];
    assert_eq!(
        (&first["kind"], &first["baseOffset"]),
        (&"batch".into(), &387.into())
    );
    let records = lines.iter().filter(|line| line["kind"] == "record");
    let counts = lines.iter().filter_map(|line| line["count"].as_u64());
    assert_eq!(records.count() as u64, counts.sum::<u64>());
    assert!(lines.iter().any(|line| line["type"] == "NO_OP_RECORD"));
}

#[test]
fn a_cut_file_is_dumped_up_to_the_cut_and_fails() {
    let file = "00000000000000000387.log";
    let directory = copy_of("static-quorum/node-1", file, |bytes| {
        bytes.truncate(bytes.len() - 5);
    });
    let output = quorate(directory.path(), &["dump", file]);
    let printed = String::from_utf8(output.stdout).unwrap();
    let last = printed.lines().last().unwrap();
    assert!(
        last.starts_with("Found ") && last.contains("invalid bytes"),
        "{last}"
    );
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn a_damaged_record_is_told_of_and_the_rest_is_dumped() {
    let file = "00000000000000000387.log";
    let damaged = copy_of("static-quorum/node-1", file, |bytes| bytes[70] ^= 0xff);
    let output = quorate(damaged.path(), &["dump", file]);
    let printed = String::from_utf8(output.stdout).unwrap();
    let whole = quorate(&stock("static-quorum/node-1", file), &["dump", file]);
    let whole = String::from_utf8(whole.stdout).unwrap();
    assert!(printed.contains("isvalid: false"));
    assert_eq!(printed.lines().last(), whole.lines().last());
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn other_files_are_refused_in_words() {
    let output = quorate(&here(), &["dump", "Cargo.toml"]);
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("neither a segment"), "{told}");
    assert_eq!(output.status.code(), Some(1));
    let output = quorate(&here(), &["dump"]);
    assert_eq!(output.status.code(), Some(2));
}
