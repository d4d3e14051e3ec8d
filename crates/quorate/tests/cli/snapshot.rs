//! `quorate snapshot show` tells the same of a snapshot and of the log that it stands for.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::{here, quorate};

const LOG: &str = "__cluster_metadata-0";

fn show(directory: &Path, more: &[&str]) -> Value {
    let mut arguments = vec!["snapshot", "show", ".", "--json"];
    arguments.extend(more);
    let output = quorate(directory, &arguments);
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{more:?}: {told}");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn stock() -> std::path::PathBuf {
    here().join("../quorate-storage/tests/fixtures/dynamic-quorum/node-1")
}

#[test]
fn a_snapshot_says_what_its_log_says() {
    let bare = tempfile::tempdir().unwrap();
    fs::create_dir(bare.path().join(LOG)).unwrap();
    let segment = format!("{LOG}/00000000000000000000.log");
    fs::copy(stock().join(&segment), bare.path().join(&segment)).unwrap();
    for at in ["138", "304", "487", "651", "818", "1253"] {
        let mut with = show(&stock(), &["--at", at]);
        let mut without = show(bare.path(), &["--at", at]);
        assert_eq!(with["end"].to_string(), at);
        assert!(with["snapshot"].is_object() && without["snapshot"].is_null());
        with["snapshot"] = Value::Null;
        without["snapshot"] = Value::Null;
        assert!(with == without, "{at}:\n{with:#}\n{without:#}");
    }
}

#[test]
fn the_end_of_a_stock_log_is_shown() {
    let shown = show(&stock(), &[]);
    assert_eq!(shown["voters"], serde_json::json!([1, 2, 3]));
    assert_eq!(shown["features"]["metadata.version"], 29);
    assert_eq!(shown["topics"].as_array().unwrap().len(), 7);
    assert_eq!(shown["brokers"][0]["state"], "fenced");
    let text = quorate(&stock(), &["snapshot", "show", LOG]).stdout;
    let text = String::from_utf8(text).unwrap();
    assert!(text.contains("Topics: 7, with 175 partitions"), "{text}");
}

#[test]
fn a_directory_without_a_log_is_refused() {
    let output = quorate(&here(), &["snapshot", "show", "src"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        String::from_utf8(output.stderr)
            .unwrap()
            .contains("holds no metadata log")
    );
}
