//! What changed between two versions of a map.

use im::OrdMap;
use im::ordmap::DiffItem;

/// A key whose value came, changed or went. At least one side is there, and the two differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Change<K, V> {
    /// What changed.
    pub key: K,
    /// How it was; `None` if it came.
    pub before: Option<V>,
    /// How it is; `None` if it went.
    pub after: Option<V>,
}

impl<K, V> Change<K, V> {
    /// Whether it was not there before.
    pub fn is_created(&self) -> bool {
        self.before.is_none()
    }

    /// Whether it is no longer there.
    pub fn is_removed(&self) -> bool {
        self.after.is_none()
    }

    pub(crate) fn map<W>(self, f: impl Fn(V) -> W) -> Change<K, W> {
        Change {
            key: self.key,
            before: self.before.map(&f),
            after: self.after.map(&f),
        }
    }
}

/// Compares two maps; parts that they share cost nothing.
pub(crate) fn diff<'a, K: Ord, V: PartialEq>(
    before: &'a OrdMap<K, V>,
    after: &'a OrdMap<K, V>,
) -> impl Iterator<Item = Change<&'a K, &'a V>> {
    before.diff(after).map(|item| match item {
        DiffItem::Add(key, value) => Change {
            key,
            before: None,
            after: Some(value),
        },
        DiffItem::Update { old, new } => Change {
            key: new.0,
            before: Some(old.1),
            after: Some(new.1),
        },
        DiffItem::Remove(key, value) => Change {
            key,
            before: Some(value),
            after: None,
        },
    })
}
