//! What documents point at is there: files named in the architecture, links of every page.

use std::collections::BTreeSet;
use std::path::Path;

use crate::tree;

/// The pages that people read, as paths from the root.
fn pages() -> Vec<String> {
    let root = tree::root();
    let mut pages: Vec<String> = ["README.md", "CHANGELOG.md", "interop/README.md"]
        .map(str::to_owned)
        .into();
    pages.extend(
        tree::files(&root.join("docs"), "md")
            .iter()
            .map(|page| tree::short(page)),
    );
    pages
}

/// The files that a text names in backticks, by their last parts: `tail.rs`, `quorum/calls.rs`.
fn named_files(text: &str) -> BTreeSet<&str> {
    text.split('`')
        .skip(1)
        .step_by(2)
        .filter(|name| name.ends_with(".rs"))
        .collect()
}

/// The types, variants and functions that a text names in backticks: `Raft`, `Raft::append`.
fn named_items(text: &str) -> BTreeSet<&str> {
    let identifier = |part: &str| {
        part.chars()
            .all(|char| char.is_ascii_alphanumeric() || char == '_')
    };
    text.split('`')
        .skip(1)
        .step_by(2)
        .filter(|name| name.starts_with(|first: char| first.is_ascii_uppercase()))
        .filter(|name| name.split("::").all(identifier))
        .collect()
}

/// Whether sources define something of that name: a function if it begins small.
fn is_defined(item: &str, sources: &[String]) -> bool {
    let last = item.rsplit("::").next().unwrap_or(item);
    let small = last.starts_with(|first: char| first.is_ascii_lowercase());
    let wanted = if small {
        format!("fn {last}")
    } else {
        last.to_owned()
    };
    sources.iter().any(|source| source.contains(&wanted))
}

/// The targets of a text's links that are files here, without their anchors.
fn linked_files(text: &str) -> BTreeSet<&str> {
    text.split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next())
        .filter(|target| !target.contains("://") && !target.starts_with('#'))
        .filter_map(|target| target.split('#').next())
        .collect()
}

#[test]
fn files_that_the_architecture_names_exist() {
    let root = tree::root();
    let mut files = Vec::new();
    for directory in ["crates", "examples", "benches"] {
        files.extend(tree::files(&root.join(directory), "rs"));
    }
    let text = tree::read(&root.join("docs/architecture.md"));
    let named = named_files(&text);
    assert!(named.len() > 20, "{named:?}");
    for name in named {
        let exists = files.iter().any(|file| file.ends_with(Path::new(name)));
        assert!(
            exists,
            "docs/architecture.md names {name}, which is not there"
        );
    }
}

#[test]
fn types_and_functions_that_the_architecture_names_exist() {
    let root = tree::root();
    let files = tree::crates()
        .into_iter()
        .flat_map(|(_, path)| tree::rust_files(&path.join("src")));
    let sources: Vec<String> = files.map(|file| tree::read(&file)).collect();
    let text = tree::read(&root.join("docs/architecture.md"));
    let named = named_items(&text);
    assert!(named.len() > 40, "{named:?}");
    for item in named {
        assert!(
            is_defined(item, &sources),
            "docs/architecture.md names {item}, which is not there"
        );
    }
}

#[test]
fn links_between_pages_lead_somewhere() {
    for page in pages() {
        let path = tree::root().join(&page);
        let text = tree::read(&path);
        for target in linked_files(&text) {
            let there = path
                .parent()
                .is_some_and(|directory| directory.join(target).exists());
            assert!(there, "{page} links to {target}, which is not there");
        }
    }
}

#[test]
fn names_and_links_are_told_from_other_text() {
    let text = "see `a/b.rs` and `x`, [one](docs/c.md#part), [two](#part), [three](https://x.y/z)";
    assert_eq!(named_files(text), BTreeSet::from(["a/b.rs"]));
    let items = named_items("`Raft::append` of `Raft`, `Raft x`, `raft`, `a/B.rs`");
    assert_eq!(items, BTreeSet::from(["Raft", "Raft::append"]));
    let sources = ["pub fn append(self) {}".to_owned()];
    assert!(is_defined("Raft::append", &sources));
    assert!(!is_defined("Raft::poll", &sources));
    assert_eq!(linked_files(text), BTreeSet::from(["docs/c.md"]));
}
