//! `quorate format` and `quorate info` do and refuse what Kafka's `kafka-storage` does and refuses.

use std::fs;
use std::path::Path;

use crate::{here, quorate};

const CLUSTER: &str = "mTGiFOYvQA-l7MVmesF4UQ";
const VOTERS: &str = "1@localhost:29091:MvDxzVmcRsaTz33bUuRU6A,\
    2@localhost:29092:07R5amHmR32VDA6jHkGbTA,3@localhost:29093:zayyNKkzRSmbJhXeNMXVPg";

/// A directory with a configuration of that quorum, and nothing formatted.
fn configured(quorum: &str) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    let text = format!(
        "process.roles=controller\nnode.id=1\nlisteners=CONTROLLER://localhost:29091\n\
         controller.listener.names=CONTROLLER\n{quorum}\nlog.dirs=one,two\n"
    );
    fs::write(directory.path().join("c.properties"), text).unwrap();
    directory
}

const DYNAMIC: &str = "controller.quorum.bootstrap.servers=localhost:29091,localhost:29092";
const STATIC: &str = "controller.quorum.voters=1@localhost:29091,2@localhost:29092";

fn format(directory: &Path, more: &[&str]) -> (Option<i32>, String) {
    let mut arguments = vec![
        "format",
        "--config",
        "c.properties",
        "--cluster-id",
        CLUSTER,
    ];
    arguments.extend(more);
    let output = quorate(directory, &arguments);
    let told = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(told).unwrap())
}

/// A dump without what differs from run to run: times, checksums, sizes of times.
fn timeless(directory: &Path, file: &str) -> Vec<String> {
    let printed = quorate(directory, &["dump", file]).stdout;
    let printed = String::from_utf8(printed).unwrap();
    printed.lines().map(without_times).collect()
}

fn without_times(line: &str) -> String {
    let mut words: Vec<String> = Vec::new();
    for word in line.split(' ') {
        let told = words.last().map(String::as_str);
        words.push(match told {
            Some("CreateTime:" | "crc:") => "…".to_owned(),
            _ => word.to_owned(),
        });
    }
    let line = words.join(" ");
    match line.split_once("\"lastContainedLogTimestamp\":1") {
        Some((before, _)) => before.to_owned(),
        None => line,
    }
}

#[test]
fn a_dynamic_quorum_is_formatted_as_kafka_does() {
    let directory = configured(DYNAMIC);
    let (code, told) = format(directory.path(), &["--initial-controllers", VOTERS]);
    assert_eq!(code, Some(0), "{told}");
    assert!(told.contains(
        "Formatting dynamic metadata voter directory one with metadata.version 4.2-IV1."
    ));
    assert!(told.contains("Formatting data directory two with"));
    let log = directory.path().join("one/__cluster_metadata-0");
    let file = "00000000000000000000-0000000000.checkpoint";
    let stock = here().join("../quorate-storage/tests/fixtures/dynamic-quorum/node-1");
    assert_eq!(
        timeless(&log, file),
        timeless(&stock.join("__cluster_metadata-0"), file)
    );
    let ours = timeless(&directory.path().join("one"), "bootstrap.checkpoint");
    let kafkas = timeless(&stock, "bootstrap.checkpoint");
    // The stock one was also given a SCRAM credential.
    let features = |lines: &[String]| -> Vec<String> {
        let features = lines.iter().filter(|line| line.contains("FEATURE_LEVEL"));
        features.cloned().collect()
    };
    assert_eq!(features(&ours), features(&kafkas));
    assert_eq!(features(&ours).len(), 6);
    let meta = fs::read_to_string(directory.path().join("one/meta.properties")).unwrap();
    assert!(meta.ends_with(
        "node.id=1\ndirectory.id=MvDxzVmcRsaTz33bUuRU6A\nversion=1\n\
         cluster.id=mTGiFOYvQA-l7MVmesF4UQ\n"
    ));
    assert!(!directory.path().join("two/__cluster_metadata-0").exists());
    assert!(directory.path().join("two/bootstrap.checkpoint").exists());
}

#[test]
fn a_static_quorum_of_4_0_is_formatted_as_kafka_does() {
    let directory = configured(STATIC);
    let (code, told) = format(directory.path(), &["--release-version", "4.0"]);
    assert_eq!(code, Some(0), "{told}");
    assert!(told.contains("Formatting metadata directory one with metadata.version 4.0-IV3."));
    let stock = here().join("../quorate-storage/tests/fixtures/static-quorum/node-1");
    assert_eq!(
        timeless(&directory.path().join("one"), "bootstrap.checkpoint"),
        timeless(&stock, "bootstrap.checkpoint")
    );
    assert!(!directory.path().join("one/__cluster_metadata-0").exists());
}

#[test]
fn a_credential_is_written_after_the_features() {
    let directory = configured(DYNAMIC);
    let spec = "SCRAM-SHA-256=[name=alice,password=alice-secret]";
    let (code, told) = format(directory.path(), &["-s", "--add-scram", spec]);
    assert_eq!(code, Some(0), "{told}");
    let ours = timeless(&directory.path().join("one"), "bootstrap.checkpoint");
    let stock = here().join("../quorate-storage/tests/fixtures/dynamic-quorum/node-1");
    let kafkas = timeless(&stock, "bootstrap.checkpoint");
    let types = |lines: &[String]| -> Vec<String> {
        let types = lines
            .iter()
            .filter_map(|line| line.split("\"type\":").nth(1));
        types
            .map(|it| it.split(',').next().unwrap().to_owned())
            .collect()
    };
    assert_eq!(types(&ours), types(&kafkas));
    let (code, told) = format(
        directory.path(),
        &["-s", "-g", "-S", "SCRAM-SHA-1=[name=a]"],
    );
    assert_eq!(code, Some(1));
    assert!(told.contains("the mechanisms are"), "{told}");
}

#[test]
fn what_is_formatted_is_not_formatted_again() {
    let directory = configured(DYNAMIC);
    assert_eq!(format(directory.path(), &["--standalone"]).0, Some(0));
    let before = fs::read(directory.path().join("one/meta.properties")).unwrap();
    let (code, told) = format(directory.path(), &["--standalone"]);
    assert_eq!(code, Some(1));
    assert!(
        told.contains("Log directory one is already formatted."),
        "{told}"
    );
    fs::remove_dir_all(directory.path().join("two")).unwrap();
    let (code, told) = format(directory.path(), &["--standalone", "--ignore-formatted"]);
    assert_eq!((code, told.lines().count()), (Some(0), 1), "{told}");
    let (code, told) = format(directory.path(), &["--standalone", "-g"]);
    assert_eq!(code, Some(0));
    assert!(told.contains("All of the log directories are already formatted."));
    assert_eq!(
        fs::read(directory.path().join("one/meta.properties")).unwrap(),
        before
    );
}

#[test]
fn another_cluster_or_node_is_refused() {
    let directory = configured(DYNAMIC);
    assert_eq!(format(directory.path(), &["--standalone"]).0, Some(0));
    let other = [
        "format",
        "-c",
        "c.properties",
        "-t",
        "AAAAAAAAAAAAAAAAAAAAAA",
        "-s",
        "-g",
    ];
    let output = quorate(directory.path(), &other);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        String::from_utf8(output.stderr)
            .unwrap()
            .contains("cluster.id")
    );
}

#[test]
fn what_kafka_refuses_is_refused_and_nothing_is_written() {
    for (quorum, more, code, told) in [
        (
            DYNAMIC,
            &[][..],
            1,
            "--standalone, --initial-controllers, or --no-initial-controllers",
        ),
        (
            STATIC,
            &["--standalone"],
            1,
            "controller.quorum.voters is set",
        ),
        (
            STATIC,
            &["--initial-controllers", VOTERS],
            1,
            "controller.quorum.voters is set",
        ),
        (
            DYNAMIC,
            &["--standalone", "--no-initial-controllers"],
            2,
            "cannot be used with",
        ),
        (DYNAMIC, &["-I", "1@localhost:29091"], 1, "ID@HOST:PORT:DIR"),
        (
            DYNAMIC,
            &["-N", "-r", "4.2", "-f", "metadata.version=29"],
            1,
            "give only one",
        ),
        (
            DYNAMIC,
            &["-N", "-r", "3.2"],
            1,
            "the release 3.2 is not known",
        ),
        (DYNAMIC, &["-N", "-f", "a=1"], 1, "Unsupported feature: a."),
        (
            DYNAMIC,
            &["-N", "-f", "kraft.version=0"],
            1,
            "Cannot set kraft.version to 0",
        ),
        (
            STATIC,
            &["-f", "kraft.version=1"],
            1,
            "Cannot set kraft.version to 1",
        ),
    ] {
        let directory = configured(quorum);
        let (found, text) = format(directory.path(), more);
        assert_eq!(found, Some(code), "{more:?}: {text}");
        assert!(text.contains(told), "{more:?}: {text}");
        assert!(!directory.path().join("one").exists(), "{more:?}");
    }
}

#[test]
fn info_tells_what_is_formatted() {
    let directory = configured(DYNAMIC);
    let info = || quorate(directory.path(), &["info", "-c", "c.properties"]);
    let before = info();
    let printed = String::from_utf8(before.stdout).unwrap();
    assert_eq!(before.status.code(), Some(1));
    assert!(printed.contains("Found problems:\n  one does not exist\n  two does not exist\n"));
    format(directory.path(), &["--standalone"]);
    let after = info();
    let printed = String::from_utf8(after.stdout).unwrap();
    assert_eq!(after.status.code(), Some(0));
    assert!(
        printed.starts_with("Found log directories:\n  one\n  two\n\nFound metadata: {cluster.id="),
        "{printed}"
    );
}

#[test]
fn random_ids_differ() {
    let one = quorate(&here(), &["random-uuid"]).stdout;
    let other = quorate(&here(), &["random-uuid"]).stdout;
    assert_eq!(one.len(), 23);
    assert_ne!(one, other);
}
