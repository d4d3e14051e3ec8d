//! Rules that every source file keeps: none is too long, libraries are documented and safe, and
//! what decides reads no clock, no chance, no thread and no order but its own.

use std::path::Path;

use crate::tree;

/// Longer files hold two concepts.
const LINES_MAX: usize = 700;

/// The crates whose every run must be repeatable.
const CORES: [&str; 11] = [
    "quorate-types",
    "quorate-protocol",
    "quorate-storage",
    "quorate-raft",
    "quorate-engine",
    "quorate-metadata",
    "quorate-placement",
    "quorate-controller",
    "quorate-broker",
    "quorate-client",
    "quorate-server",
];

/// The one file of a core that touches the machine: the real file system behind the `Vfs` trait.
const EXEMPT: &str = "crates/quorate-storage/src/vfs/os.rs";

/// What makes a run differ from its replay, and why.
const BANNED: [(&str, &str); 17] = [
    ("Instant", "time is an argument"),
    ("SystemTime", "time is an argument"),
    ("HashMap", "its order is random; use BTreeMap"),
    ("HashSet", "its order is random; use BTreeSet"),
    ("RandomState", "it is seeded by the machine"),
    ("thread_rng", "chance is an argument"),
    ("new_v4", "chance is an argument"),
    ("rand::", "chance is an argument"),
    ("getrandom", "chance is an argument"),
    ("std::thread", "only the runtime has threads"),
    ("TcpStream", "only the runtime has sockets"),
    ("TcpListener", "only the runtime has sockets"),
    ("UdpSocket", "only the runtime has sockets"),
    ("std::fs", "files are behind the Vfs trait"),
    ("std::env", "settings are arguments"),
    ("select!", "it chooses at random"),
    ("tokio", "only the runtime knows tokio"),
];

/// The lines of a file that are neither comments nor in a module of tests, with their numbers.
fn code(source: &str) -> Vec<(usize, &str)> {
    let mut code = Vec::new();
    let mut in_tests = false;
    let mut previous = "";
    for (index, line) in source.lines().enumerate() {
        in_tests |= previous == "#[cfg(test)]" && line.starts_with("mod ") && line.ends_with('{');
        if !in_tests {
            code.push((index + 1, line.split("//").next().unwrap_or(line)));
        }
        in_tests &= line != "}";
        previous = line;
    }
    code
}

/// Whether a file's name says that all of it is for tests.
fn is_test(path: &Path) -> bool {
    let test = |name: &str| matches!(name, "tests" | "tests.rs" | "testing.rs");
    path.iter().filter_map(|part| part.to_str()).any(test)
}

/// Whether a line of code names a thing, and not only a longer name that contains it.
fn names(line: &str, thing: &str) -> bool {
    let within = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    line.match_indices(thing).any(|(at, _)| {
        let before = line.as_bytes()[..at].last().copied();
        let after = line.as_bytes().get(at + thing.len()).copied();
        let open = thing.ends_with([':', '!']);
        !before.is_some_and(within) && (open || !after.is_some_and(within))
    })
}

/// Where code does what cores must not, in words.
fn violations(file: &str, source: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (number, line) in code(source) {
        for (thing, why) in BANNED.iter().filter(|(thing, _)| names(line, thing)) {
            found.push(format!("{file}:{number}: `{thing}`: {why}"));
        }
    }
    found
}

#[test]
fn what_decides_reads_no_clock_no_chance_and_no_machine() {
    let mut found = Vec::new();
    for (_, path) in tree::crates()
        .into_iter()
        .filter(|(name, _)| CORES.contains(&&**name))
    {
        let src = path.join("src");
        let files = tree::rust_files(&src);
        assert!(!files.is_empty(), "{} has no sources", src.display());
        for file in files
            .iter()
            .filter(|file| !is_test(file.strip_prefix(&src).unwrap_or(file)))
        {
            let name = tree::short(file);
            if name != EXEMPT {
                found.extend(violations(&name, &tree::read(file)));
            }
        }
    }
    assert!(found.is_empty(), "\n{}", found.join("\n"));
}

#[test]
fn the_exempt_file_still_needs_its_exemption() {
    let source = tree::read(&tree::root().join(EXEMPT));
    assert!(!violations(EXEMPT, &source).is_empty());
}

#[test]
fn libraries_warn_of_missing_docs_and_forbid_unsafe_code() {
    for (name, path) in tree::crates() {
        let library = path.join("src/lib.rs");
        let source = tree::read(&library);
        for attribute in ["#![warn(missing_docs)]", "#![forbid(unsafe_code)]"] {
            assert!(
                source.lines().any(|line| line == attribute),
                "{name}: {} lacks {attribute}",
                tree::short(&library)
            );
        }
    }
}

#[test]
fn every_crate_and_file_says_why_it_exists() {
    for (name, path) in tree::crates() {
        for file in tree::rust_files(&path.join("src")) {
            let source = tree::read(&file);
            let first = source.lines().next().unwrap_or_default();
            assert!(
                first.starts_with("//!"),
                "{} opens without a word",
                tree::short(&file)
            );
        }
        let library = tree::read(&path.join("src/lib.rs"));
        let has_example = library.lines().any(|line| line == "//! ```");
        assert!(
            has_example,
            "{name}: the crate's documentation has no example that runs"
        );
    }
}

#[test]
fn no_file_is_too_long() {
    let mut long = Vec::new();
    for directory in ["crates", "examples", "benches"] {
        for file in tree::rust_files(&tree::root().join(directory)) {
            let lines = tree::read(&file).lines().count();
            if lines > LINES_MAX {
                long.push(format!("{} has {lines} lines", tree::short(&file)));
            }
        }
    }
    assert!(
        long.is_empty(),
        "up to {LINES_MAX} lines are one concept:\n{}",
        long.join("\n")
    );
}

#[test]
fn bans_hold_in_code_and_not_in_comments_tests_or_longer_names() {
    let source = "\
//! An Instant.
use std::collections::HashMap;
struct InstantCoffee; // HashSet
let now = std::time::Instant::now();
tokio::select! {}
#[cfg(test)]
mod tests {
    use std::thread;
}
let roll = rand::random();
";
    let found = violations("a.rs", source);
    let places: Vec<&str> = found
        .iter()
        .filter_map(|text| text.split('`').nth(1))
        .collect();
    assert_eq!(places, ["HashMap", "Instant", "select!", "tokio", "rand::"]);
    assert!(
        found[0].starts_with("a.rs:2: `HashMap`: its order is random"),
        "{}",
        found[0]
    );
    assert!(found[4].starts_with("a.rs:10:"), "{}", found[4]);
}
