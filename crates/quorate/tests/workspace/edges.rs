//! The arrows between the crates are those of the table in `docs/architecture.md`, and no others.
//!
//! The table is the only place where an edge is allowed, so the document cannot say anything else
//! than what the manifests do. What must never be allowed stands here.

use std::collections::{BTreeMap, BTreeSet};

use crate::tree;

type Edges = BTreeMap<String, BTreeSet<String>>;

/// Stands before the table of allowed edges.
const MARK: &str = "<!-- allowed edges -->";

/// What a manifest says that the crate itself needs, tests aside.
fn dependencies(manifest: &str) -> BTreeSet<String> {
    let manifest: toml::Table = manifest.parse().expect("a manifest is TOML");
    let targets = manifest.get("target").and_then(toml::Value::as_table);
    let mut tables = vec![&manifest];
    tables.extend(
        targets
            .into_iter()
            .flat_map(|targets| targets.values())
            .filter_map(toml::Value::as_table),
    );
    let kinds = ["dependencies", "build-dependencies"];
    let sections = tables
        .iter()
        .flat_map(|table| kinds.iter().filter_map(|kind| table.get(*kind)));
    let mut names = BTreeSet::new();
    for (key, value) in sections.filter_map(toml::Value::as_table).flatten() {
        let renamed = value.get("package").and_then(toml::Value::as_str);
        names.insert(renamed.unwrap_or(key).to_owned());
    }
    names
}

fn of_quorate(names: BTreeSet<String>) -> BTreeSet<String> {
    names
        .into_iter()
        .filter(|name| name.starts_with("quorate"))
        .collect()
}

/// The names in backticks of a text.
fn quoted(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split('`').skip(1).step_by(2).map(str::to_owned)
}

/// The table's first two columns: a crate, and what it may depend on.
fn table(document: &str) -> Edges {
    let (_, after) = document
        .split_once(MARK)
        .expect("the document has the table's mark");
    let rows = after
        .lines()
        .skip_while(|line| !line.starts_with('|'))
        .skip(2);
    rows.take_while(|line| line.starts_with('|'))
        .filter_map(|row| {
            let mut columns = row.split('|').skip(1);
            let name = quoted(columns.next()?).next()?;
            Some((name, quoted(columns.next()?).collect()))
        })
        .collect()
}

/// What is wrong with the actual edges, in words.
fn violations(actual: &Edges, allowed: &Edges) -> Vec<String> {
    let nothing = BTreeSet::new();
    let mut wrong = Vec::new();
    for (name, needs) in actual {
        let Some(may) = allowed.get(name) else {
            wrong.push(format!("{name} has no row in the table"));
            continue;
        };
        for need in needs.difference(may) {
            wrong.push(format!(
                "{name} depends on {need}, which the table does not allow"
            ));
        }
    }
    for (name, may) in allowed {
        for unused in may.difference(actual.get(name).unwrap_or(&nothing)) {
            wrong.push(format!(
                "the table allows {name} to depend on {unused}, which it does not"
            ));
        }
    }
    wrong
}

fn actual() -> Edges {
    let edges = tree::crates().into_iter().map(|(name, path)| {
        let manifest = tree::read(&path.join("Cargo.toml"));
        (name, of_quorate(dependencies(&manifest)))
    });
    edges.collect()
}

fn allowed() -> Edges {
    table(&tree::read(&tree::root().join("docs/architecture.md")))
}

fn set(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| name.to_string()).collect()
}

#[test]
fn crates_depend_on_what_the_architecture_allows() {
    let wrong = violations(&actual(), &allowed());
    assert!(
        wrong.is_empty(),
        "\n{}\nThe allowed edges are the table in docs/architecture.md; a new one is a decision \
         about the architecture.",
        wrong.join("\n")
    );
}

#[test]
fn cores_that_serve_any_domain_know_the_vocabulary_alone() {
    let actual = actual();
    for core in ["quorate-raft", "quorate-engine", "quorate-placement"] {
        assert_eq!(actual[core], set(&["quorate-types"]), "{core}");
    }
    assert_eq!(actual["quorate-types"], set(&[]));
}

#[test]
fn nothing_below_the_runtime_depends_on_what_runs_it() {
    let actual = actual();
    let above = set(&["quorate", "quorate-node", "quorate-sim"]);
    for (name, needs) in actual.iter().filter(|(name, _)| !above.contains(*name)) {
        let upwards: Vec<_> = needs.intersection(&above).collect();
        assert!(upwards.is_empty(), "{name} depends on {upwards:?}");
    }
    assert!(
        !actual["quorate-sim"].contains("quorate-node"),
        "the simulator runs no threads"
    );
}

#[test]
fn only_the_runtime_does_its_own_input_and_output() {
    let runtimes = set(&[
        "tokio",
        "mio",
        "async-std",
        "smol",
        "crossbeam",
        "rayon",
        "getrandom",
        "rand",
    ]);
    for (name, path) in tree::crates() {
        if ["quorate-node", "quorate"].contains(&name.as_str()) {
            continue;
        }
        let needs = dependencies(&tree::read(&path.join("Cargo.toml")));
        let found: Vec<_> = needs.intersection(&runtimes).collect();
        assert!(
            found.is_empty(),
            "{name} depends on {found:?}, which belongs into quorate-node"
        );
    }
}

#[test]
fn a_forbidden_an_unused_and_an_unlisted_edge_are_told_apart() {
    let document = format!(
        "text\n{MARK}\n\n| crate | may depend on | is for |\n|---|---|---|\n\
         | `a` | – | `x` |\n| `b` | `a`, `c` | y |\n\n| `z` | `a` | |\n"
    );
    let allowed = table(&document);
    assert_eq!(
        allowed,
        Edges::from([("a".into(), set(&[])), ("b".into(), set(&["a", "c"]))])
    );
    let actual = Edges::from([
        ("a".into(), set(&["b"])),
        ("b".into(), set(&["a"])),
        ("c".into(), set(&[])),
    ]);
    assert_eq!(
        violations(&actual, &allowed),
        [
            "a depends on b, which the table does not allow",
            "c has no row in the table",
            "the table allows b to depend on c, which it does not",
        ]
    );
}

#[test]
fn every_way_to_name_a_dependency_is_seen() {
    let manifest = r#"
        [dependencies]
        quorate-types.workspace = true
        short = { package = "quorate-raft", version = "1" }
        [dependencies.quorate-engine]
        path = "../quorate-engine"
        [target.'cfg(unix)'.dependencies]
        quorate-node = "1"
        [build-dependencies]
        quorate-sim = "1"
        [dev-dependencies]
        quorate-client = "1"
    "#;
    let expected = [
        "quorate-types",
        "quorate-raft",
        "quorate-engine",
        "quorate-node",
        "quorate-sim",
    ];
    assert_eq!(dependencies(manifest), set(&expected));
}
