//! What a key is, what its values may be, and how the table of keys reads as a document.

use std::fmt::{self, Write};

use super::keys::SECTIONS;

/// Keys that concern brokers alone, one a line.
const BROKER_KEYS: &str = include_str!("broker-keys.txt");

/// Keys that begin like this belong to plug-ins and listeners of brokers.
const BROKER_PREFIXES: [&str; 4] = ["listener.name.", "rlmm.config.", "rsm.config.", "metrics."];

/// Keys that belong together.
#[derive(Debug)]
pub struct Section {
    /// What they are about.
    pub title: &'static str,
    /// Whether topics have these values unless they are configured otherwise.
    pub is_for_topics: bool,
    /// The keys.
    pub keys: &'static [Key],
}

/// A key that concerns controllers.
#[derive(Debug)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// What its values may be.
    pub kind: Kind,
    /// The value where nothing is set; empty for none.
    pub default: &'static str,
    /// Whether the value is made use of.
    pub is_honoured: bool,
    /// What else to know: for a key that is not made use of, what happens instead.
    pub note: &'static str,
}

/// What the values of a key may be.
#[derive(Debug, Clone, Copy)]
pub enum Kind {
    /// `true` or `false`.
    Flag,
    /// A whole number.
    Number {
        /// The least.
        min: i64,
        /// The greatest.
        max: i64,
    },
    /// A number with a fraction.
    Real {
        /// The least.
        min: f64,
        /// The greatest.
        max: f64,
    },
    /// Anything.
    Text,
    /// Values with commas between them.
    List,
    /// One of these, or several with commas between them.
    OneOf(&'static [&'static str]),
    /// No value may be set.
    Never,
}

/// A key that is made use of.
pub const fn honoured(
    name: &'static str,
    kind: Kind,
    default: &'static str,
    note: &'static str,
) -> Key {
    Key {
        name,
        kind,
        default,
        is_honoured: true,
        note,
    }
}

/// A key that is read and has no effect.
pub const fn ignored(
    name: &'static str,
    kind: Kind,
    default: &'static str,
    note: &'static str,
) -> Key {
    Key {
        name,
        kind,
        default,
        is_honoured: false,
        note,
    }
}

/// All keys that concern controllers.
pub fn all() -> impl Iterator<Item = &'static Key> {
    SECTIONS.iter().flat_map(|section| section.keys)
}

/// The key of that name.
pub fn find(name: &str) -> Option<&'static Key> {
    all().find(|key| key.name == name)
}

/// Whether topics have the key's value unless they are configured otherwise.
pub fn is_for_topics(name: &str) -> bool {
    let mut sections = SECTIONS.iter().filter(|section| section.is_for_topics);
    sections.any(|section| section.keys.iter().any(|key| key.name == name))
}

/// Whether the key concerns brokers alone.
pub fn is_for_brokers(name: &str) -> bool {
    BROKER_KEYS.lines().any(|key| key == name)
        || BROKER_PREFIXES
            .iter()
            .any(|prefix| name.starts_with(prefix))
}

/// The known key that is most like this one, if one is.
pub fn nearest(name: &str) -> Option<&'static str> {
    all()
        .map(|key| key.name)
        .chain(BROKER_KEYS.lines())
        .map(|known| (distance(name, known), known))
        .filter(|(distance, known)| *distance <= known.len() / 5)
        .min()
        .map(|(_, known)| known)
}

/// How many letters must be put in, left out or replaced to make one text of the other.
fn distance(one: &str, other: &str) -> usize {
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (i, a) in one.bytes().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, b) in other.bytes().enumerate() {
            let replaced = diagonal + usize::from(a != b);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[other.len()]
}

impl Key {
    /// Whether a value is one that is allowed.
    pub fn allows(&self, value: &str) -> bool {
        match self.kind {
            Kind::Flag => value.eq_ignore_ascii_case("true") || value.eq_ignore_ascii_case("false"),
            Kind::Number { min, max } => value
                .parse()
                .is_ok_and(|number: i64| (min..=max).contains(&number)),
            Kind::Real { min, max } => value
                .parse()
                .is_ok_and(|number: f64| (min..=max).contains(&number)),
            Kind::Text | Kind::List => true,
            Kind::OneOf(allowed) => value.split(',').all(|part| allowed.contains(&part.trim())),
            Kind::Never => value.is_empty(),
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole = |bound: i64| {
            [i64::MIN, i64::from(i32::MIN), i64::from(i32::MAX), i64::MAX].contains(&bound)
        };
        match *self {
            Kind::Flag => write!(f, "true or false"),
            Kind::Number { min, max } if whole(min) && whole(max) => write!(f, "a whole number"),
            Kind::Number { min, max } if whole(max) => write!(f, "a whole number from {min}"),
            Kind::Number { min, max } => write!(f, "a whole number from {min} to {max}"),
            Kind::Real { min, max } => write!(f, "a number from {min} to {max}"),
            Kind::Text => write!(f, "text"),
            Kind::List => write!(f, "a list"),
            Kind::OneOf([only]) => write!(f, "{only}"),
            Kind::OneOf(allowed) => write!(f, "one of {}", allowed.join(", ")),
            Kind::Never => write!(f, "nothing"),
        }
    }
}

/// The table as it stands in `docs/operations.md`.
pub fn document() -> String {
    let mut text = String::new();
    for section in SECTIONS {
        // Writing into a string does not fail.
        let _ = write!(
            text,
            "### {}\n\n| Key | Allowed | Default | Here |\n|---|---|---|---|\n",
            section.title
        );
        for key in section.keys {
            let default = match key.default {
                "" => "–".to_owned(),
                default => format!("`{default}`"),
            };
            let here = match (key.is_honoured, key.kind, key.note) {
                (true, Kind::Never, note) => format!("refused: {note}"),
                (true, _, "") => "honoured".to_owned(),
                (true, _, note) => format!("honoured; {note}"),
                (false, _, note) => format!("no effect: {note}"),
            };
            let _ = writeln!(
                text,
                "| `{}` | {} | {default} | {here} |",
                key.name, key.kind
            );
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_key_is_listed_twice() {
        let mut names: Vec<&str> = all()
            .map(|key| key.name)
            .chain(BROKER_KEYS.lines())
            .collect();
        names.sort_unstable();
        assert!(names.len() > 300);
        for pair in names.windows(2) {
            assert_ne!(pair[0], pair[1]);
        }
    }

    #[test]
    fn defaults_are_allowed() {
        for key in all().filter(|key| !key.default.is_empty()) {
            assert!(key.allows(key.default), "{}", key.name);
        }
    }

    #[test]
    fn values_are_judged_by_kind() {
        for (name, good, bad) in [
            ("num.partitions", "1", "0"),
            ("num.partitions", "2147483647", "2147483648"),
            ("delete.topic.enable", "TRUE", "yes"),
            ("log.cleanup.policy", "compact, delete", "compact,drop"),
            ("log.cleaner.min.cleanable.ratio", "0.5", "1.5"),
            ("create.topic.policy.class.name", "", "a.b.C"),
        ] {
            let key = find(name).unwrap();
            assert!(key.allows(good), "{name}={good}");
            assert!(!key.allows(bad), "{name}={bad}");
        }
    }

    #[test]
    fn the_nearest_key_is_found_and_a_far_one_is_not() {
        assert_eq!(
            nearest("contoller.quorum.voter"),
            Some("controller.quorum.voters")
        );
        assert_eq!(nearest("num.partition"), Some("num.partitions"));
        assert_eq!(nearest("my.own.key"), None);
    }

    #[test]
    fn the_document_shows_the_table() {
        let document_of_operations = include_str!("../../../../../docs/operations.md");
        assert!(
            document_of_operations.contains(&document()),
            "docs/operations.md must contain this table:\n{}",
            document()
        );
    }
}
