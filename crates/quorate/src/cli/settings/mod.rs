//! Kafka's configuration files: read, checked key by key, and made into what a controller is.
//!
//! Every complaint says the file, the line and what is allowed, and all of a file's complaints come
//! at once. Keys that only concern brokers are taken without a word, so that one file can serve both;
//! keys that nobody knows are warned of.

mod controller;
mod key;
mod keys;
mod listener;
mod properties;
mod show;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

pub use controller::{Controller, voter};
pub use listener::initial_controller;
pub use show::Show;

/// A configuration whose values are of their kind.
#[derive(Debug)]
pub struct Settings {
    file: PathBuf,
    entries: BTreeMap<String, Entry>,
    warnings: Vec<String>,
}

#[derive(Debug)]
struct Entry {
    value: String,
    /// `None` for one from the command line.
    line: Option<usize>,
}

impl Settings {
    /// Reads a file; `overrides` are `key=value` and count more.
    pub fn load(file: &Path, overrides: &[String]) -> anyhow::Result<Settings> {
        let bytes =
            std::fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
        Settings::read(file, &bytes, overrides)
    }

    /// Reads what a file holds.
    pub fn read(file: &Path, bytes: &[u8], overrides: &[String]) -> anyhow::Result<Settings> {
        let mut settings = Settings {
            file: file.to_owned(),
            entries: BTreeMap::new(),
            warnings: Vec::new(),
        };
        let assignments = properties::parse(bytes)
            .map_err(|bad| anyhow::anyhow!("{}:{}: {}", file.display(), bad.line, bad.problem))?;
        for it in assignments {
            settings.put(it.key, &it.value, Some(it.line));
        }
        for assignment in overrides {
            let Some((key, value)) = assignment.split_once('=') else {
                bail!("--override {assignment}: write it as KEY=VALUE");
            };
            settings.put(key.trim().to_owned(), value, None);
        }
        settings.check()?;
        Ok(settings)
    }

    /// What an operator should know of the file although it can be used.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Tells it on stderr.
    pub fn warn(&self) {
        for warning in &self.warnings {
            eprintln!("quorate: {warning}");
        }
    }

    /// The value of a key, its default if it is not set, and `None` if it has none.
    pub fn text(&self, name: &str) -> Option<&str> {
        let set = self.entries.get(name).map(|entry| entry.value.as_str());
        set.or_else(|| key::find(name).map(|key| key.default))
            .filter(|value| !value.is_empty())
    }

    /// The values of a list.
    pub fn list(&self, name: &str) -> Vec<&str> {
        let values = self.text(name).unwrap_or_default().split(',');
        values
            .map(str::trim)
            .filter(|value| !value.is_empty())
            .collect()
    }

    /// A whole number; `None` if it is neither set nor has a default.
    pub fn number(&self, name: &str) -> Option<i64> {
        self.text(name)?.parse().ok()
    }

    /// Whether a flag is up.
    pub fn flag(&self, name: &str) -> bool {
        self.text(name)
            .is_some_and(|value| value.eq_ignore_ascii_case("true"))
    }

    /// Whether the key has a value of its own.
    pub fn is_set(&self, name: &str) -> bool {
        self.entries.contains_key(name)
    }

    /// What is set that topics have unless they are configured otherwise.
    pub fn for_topics(&self) -> BTreeMap<String, String> {
        let entries = self.entries.iter();
        entries
            .filter(|(name, entry)| key::is_for_topics(name) && !entry.value.is_empty())
            .map(|(name, entry)| (name.clone(), entry.value.clone()))
            .collect()
    }

    /// A complaint about the value of a key, with its place.
    pub fn complaint(&self, name: &str, problem: impl std::fmt::Display) -> anyhow::Error {
        let value = match self.entries.get(name) {
            Some(entry) => format!("{name}={}", entry.value),
            None => format!("{name} is not set"),
        };
        anyhow::anyhow!("{}: {value}: {problem}", self.place(name))
    }

    fn put(&mut self, key: String, value: &str, line: Option<usize>) {
        let value = value.trim().to_owned();
        self.entries.insert(key, Entry { value, line });
    }

    fn check(&mut self) -> anyhow::Result<()> {
        let mut complaints = Vec::new();
        for (name, entry) in &self.entries {
            match key::find(name) {
                Some(key) if key.allows(&entry.value) => {}
                Some(key) => complaints.push(self.refusal(key, &entry.value)),
                None if key::is_for_brokers(name) => {}
                None => {
                    let hint = match key::nearest(name) {
                        Some(known) => format!("; did you mean {known}?"),
                        None => String::new(),
                    };
                    let place = self.place(name);
                    self.warnings
                        .push(format!("{place}: {name} is not known{hint}"));
                }
            }
        }
        if !complaints.is_empty() {
            bail!("{}", complaints.join("\n"));
        }
        Ok(())
    }

    fn refusal(&self, key: &key::Key, value: &str) -> String {
        let place = self.place(key.name);
        match key.kind {
            key::Kind::Never => format!("{place}: {}={value}: {}", key.name, key.note),
            kind => format!("{place}: {}={value}: allowed is {kind}", key.name),
        }
    }

    /// Where a key is set.
    fn place(&self, name: &str) -> String {
        match self.entries.get(name) {
            Some(Entry { line: None, .. }) => "--override".into(),
            Some(Entry {
                line: Some(line), ..
            }) => format!("{}:{line}", self.file.display()),
            None => self.file.display().to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, overrides: &[&str]) -> anyhow::Result<Settings> {
        let overrides: Vec<String> = overrides.iter().map(|it| (*it).to_owned()).collect();
        Settings::read(Path::new("server.properties"), text.as_bytes(), &overrides)
    }

    #[test]
    fn defaults_values_and_overrides_count_in_that_order() {
        let settings = read("num.partitions=3\nnum.partitions= 4 ", &[]).unwrap();
        assert_eq!(settings.number("num.partitions"), Some(4));
        assert_eq!(settings.number("default.replication.factor"), Some(1));
        assert_eq!(settings.number("log.retention.ms"), None);
        let settings = read("num.partitions=3", &["num.partitions=5"]).unwrap();
        assert_eq!(settings.number("num.partitions"), Some(5));
    }

    #[test]
    fn every_wrong_value_is_refused_with_its_line_and_what_is_allowed() {
        let text = "num.partitions=0\n\ndelete.topic.enable=maybe\n";
        let error = read(text, &["node.id=x"]).unwrap_err().to_string();
        for line in [
            "server.properties:1: num.partitions=0: allowed is a whole number from 1",
            "server.properties:3: delete.topic.enable=maybe: allowed is true or false",
            "--override: node.id=x: allowed is a whole number from 0",
        ] {
            assert!(
                error.lines().any(|told| told == line),
                "{line}\nin\n{error}"
            );
        }
    }

    #[test]
    fn what_cannot_be_done_is_refused_with_the_reason() {
        let error = read("authorizer.class.name=a.B", &[])
            .unwrap_err()
            .to_string();
        assert!(error.contains("access rules are not enforced"), "{error}");
    }

    #[test]
    fn keys_of_brokers_pass_and_unknown_ones_are_warned_of() {
        let text = "num.replica.fetchers=x\nlistener.name.a.b=c\nnum.partition=3\nmine=1";
        let settings = read(text, &[]).unwrap();
        assert_eq!(
            settings.warnings(),
            [
                "server.properties:4: mine is not known",
                "server.properties:3: num.partition is not known; did you mean num.partitions?",
            ]
        );
    }

    #[test]
    fn a_malformed_file_is_refused_with_the_line() {
        let error = read("a=1\nb=\\u1", &[]).unwrap_err().to_string();
        assert!(error.starts_with("server.properties:2: "), "{error}");
    }
}
