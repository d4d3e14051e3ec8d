//! What changed between two versions of a map.

use std::collections::BTreeMap;
use std::sync::Arc;

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

    pub(crate) fn map_key<L>(self, f: impl Fn(K) -> L) -> Change<L, V> {
        Change {
            key: f(self.key),
            before: self.before,
            after: self.after,
        }
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

/// Compares two small maps, of which either may be missing, entry by entry.
pub(crate) fn diff_entries<'a, K: Ord, V: PartialEq>(
    before: Option<&'a Arc<BTreeMap<K, V>>>,
    after: Option<&'a Arc<BTreeMap<K, V>>>,
) -> impl Iterator<Item = Change<&'a K, &'a V>> + use<'a, K, V> {
    let value = |map: Option<&'a Arc<BTreeMap<K, V>>>, key: &K| map.and_then(|map| map.get(key));
    let kept = before.into_iter().flat_map(|map| map.keys());
    let created = after
        .into_iter()
        .flat_map(|map| map.keys())
        .filter(move |key| value(before, key).is_none());
    kept.chain(created)
        .map(move |key| Change {
            key,
            before: value(before, key),
            after: value(after, key),
        })
        .filter(|change| change.before != change.after)
}
