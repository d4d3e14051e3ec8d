//! A persistent array: plain values in leaves of sixteen, under nodes of sixteen.
//!
//! A clone is a pointer; a change copies one leaf and the path to it, unless nobody shares them. Two
//! versions are compared by skipping every part that they share.

use std::sync::Arc;

const FAN_OUT: usize = 16;
const BITS: u32 = 4;

/// Values by number; most numbers in use have one, numbers far apart cost little.
#[derive(Clone)]
pub(super) struct Radix<T> {
    root: Child<T>,
    /// Levels of inner nodes above the leaves.
    height: u32,
}

type Leaf<T> = [Option<T>; FAN_OUT];
type Inner<T> = [Child<T>; FAN_OUT];

enum Child<T> {
    Empty,
    Inner(Arc<Inner<T>>),
    Leaf(Arc<Leaf<T>>),
}

impl<T> Default for Radix<T> {
    fn default() -> Self {
        Radix {
            root: Child::Empty,
            height: 0,
        }
    }
}

impl<T> Clone for Child<T> {
    fn clone(&self) -> Self {
        match self {
            Child::Empty => Child::Empty,
            Child::Inner(inner) => Child::Inner(inner.clone()),
            Child::Leaf(leaf) => Child::Leaf(leaf.clone()),
        }
    }
}

impl<T: Clone> Radix<T> {
    /// Puts a value in its place, or takes it away, and returns what was there.
    pub(super) fn set(&mut self, index: u32, value: Option<T>) -> Option<T> {
        if value.is_none() && self.get(index).is_none() {
            return None;
        }
        while self.height < levels_for(index) {
            if !matches!(self.root, Child::Empty) {
                let mut top: Inner<T> = std::array::from_fn(|_| Child::Empty);
                top[0] = std::mem::replace(&mut self.root, Child::Empty);
                self.root = Child::Inner(Arc::new(top));
            }
            self.height += 1;
        }
        self.root.set(index, self.height, value)
    }

    /// Changes a value in place; `None` if there is none.
    pub(super) fn get_mut(&mut self, index: u32) -> Option<&mut T> {
        self.get(index)?;
        let mut child = &mut self.root;
        let mut level = self.height;
        loop {
            match child {
                Child::Empty => return None,
                Child::Leaf(leaf) => return Arc::make_mut(leaf)[slot(index, 0)].as_mut(),
                Child::Inner(inner) => {
                    child = &mut Arc::make_mut(inner)[slot(index, level)];
                    level -= 1;
                }
            }
        }
    }
}

impl<T> Radix<T> {
    /// The value at that place.
    pub(super) fn get(&self, index: u32) -> Option<&T> {
        if levels_for(index) > self.height {
            return None;
        }
        let mut child = &self.root;
        let mut level = self.height;
        loop {
            match child {
                Child::Empty => return None,
                Child::Leaf(leaf) => return leaf[slot(index, 0)].as_ref(),
                Child::Inner(inner) => {
                    child = &inner[slot(index, level)];
                    level -= 1;
                }
            }
        }
    }

    /// The values from that place on, in order.
    pub(super) fn iter_from(&self, first: u32) -> impl Iterator<Item = (u32, &T)> {
        Pairs::new(View::Empty, View::of(self, self.height), self.height, first)
            .filter_map(|(index, _, value)| Some((index, value?)))
    }

    /// The places whose values may differ, with both values: those in leaves that are not shared.
    fn unshared<'a>(&'a self, other: &'a Radix<T>) -> Pairs<'a, T> {
        let height = self.height.max(other.height);
        Pairs::new(View::of(self, height), View::of(other, height), height, 0)
    }

    /// The places whose values differ, with both values.
    pub(super) fn diff<'a>(
        &'a self,
        other: &'a Radix<T>,
    ) -> impl Iterator<Item = (u32, Option<&'a T>, Option<&'a T>)>
    where
        T: PartialEq,
    {
        self.unshared(other).filter(|(_, one, two)| one != two)
    }
}

impl<T: Clone> Child<T> {
    fn set(&mut self, index: u32, level: u32, value: Option<T>) -> Option<T> {
        if let Child::Empty = self {
            *self = if level == 0 {
                Child::Leaf(Arc::new(std::array::from_fn(|_| None)))
            } else {
                Child::Inner(Arc::new(std::array::from_fn(|_| Child::Empty)))
            };
        }
        let removing = value.is_none();
        let (before, empty) = match self {
            Child::Empty => return None,
            Child::Leaf(leaf) => {
                let leaf = Arc::make_mut(leaf);
                let before = std::mem::replace(&mut leaf[slot(index, 0)], value);
                (before, removing && leaf.iter().all(Option::is_none))
            }
            Child::Inner(inner) => {
                let inner = Arc::make_mut(inner);
                let before = inner[slot(index, level)].set(index, level - 1, value);
                let empty = |child: &Child<T>| matches!(child, Child::Empty);
                (before, removing && inner.iter().all(empty))
            }
        };
        if empty {
            *self = Child::Empty;
        }
        before
    }
}

/// A subtree, or one that is lifted to a greater height by empty neighbours.
enum View<'a, T> {
    Empty,
    Lifted(&'a Child<T>, u32),
    Node(&'a Child<T>),
}

impl<T> Clone for View<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for View<'_, T> {}

impl<'a, T> View<'a, T> {
    fn of(tree: &'a Radix<T>, height: u32) -> View<'a, T> {
        View::lifted(&tree.root, height - tree.height)
    }

    fn lifted(root: &'a Child<T>, by: u32) -> View<'a, T> {
        match (root, by) {
            (Child::Empty, _) => View::Empty,
            (node, 0) => View::Node(node),
            (node, by) => View::Lifted(node, by),
        }
    }

    fn child(self, slot: usize) -> View<'a, T> {
        match self {
            View::Lifted(root, by) if slot == 0 => View::lifted(root, by - 1),
            View::Node(Child::Inner(inner)) => View::lifted(&inner[slot], 0),
            _ => View::Empty,
        }
    }

    fn value(self, slot: usize) -> Option<&'a T> {
        match self {
            View::Node(Child::Leaf(leaf)) => leaf[slot].as_ref(),
            _ => None,
        }
    }

    /// Whether both are one and the same piece of memory, or nothing.
    fn is_shared_with(self, other: View<'a, T>) -> bool {
        match (self, other) {
            (View::Empty, View::Empty) => true,
            (View::Node(Child::Leaf(one)), View::Node(Child::Leaf(two))) => Arc::ptr_eq(one, two),
            (View::Node(Child::Inner(one)), View::Node(Child::Inner(two))) => Arc::ptr_eq(one, two),
            _ => false,
        }
    }
}

/// Walks two trees in step and yields every place where either has a value, but for shared parts.
struct Pairs<'a, T> {
    path: Vec<Frame<'a, T>>,
    first: u64,
}

struct Frame<'a, T> {
    one: View<'a, T>,
    two: View<'a, T>,
    level: u32,
    base: u64,
    next: usize,
}

impl<'a, T> Pairs<'a, T> {
    fn new(one: View<'a, T>, two: View<'a, T>, height: u32, first: u32) -> Pairs<'a, T> {
        let mut pairs = Pairs {
            path: Vec::with_capacity(height as usize + 1),
            first: u64::from(first),
        };
        pairs.enter(one, two, height, 0);
        pairs
    }

    fn enter(&mut self, one: View<'a, T>, two: View<'a, T>, level: u32, base: u64) {
        if one.is_shared_with(two) {
            return;
        }
        let passed = self.first.saturating_sub(base) >> (BITS * level);
        self.path.push(Frame {
            one,
            two,
            level,
            base,
            next: usize::try_from(passed).unwrap_or(FAN_OUT),
        });
    }
}

impl<'a, T> Iterator for Pairs<'a, T> {
    type Item = (u32, Option<&'a T>, Option<&'a T>);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let frame = self.path.last_mut()?;
            if frame.next >= FAN_OUT {
                self.path.pop();
                continue;
            }
            let slot = frame.next;
            frame.next += 1;
            let (one, two, level) = (frame.one, frame.two, frame.level);
            let base = frame.base + ((slot as u64) << (BITS * level));
            if level > 0 {
                self.enter(one.child(slot), two.child(slot), level - 1, base);
                continue;
            }
            let (before, after) = (one.value(slot), two.value(slot));
            if before.is_some() || after.is_some() {
                return Some((u32::try_from(base).ok()?, before, after));
            }
        }
    }
}

fn slot(index: u32, level: u32) -> usize {
    ((index >> (BITS * level)) as usize) % FAN_OUT
}

/// How many inner levels a tree needs to have that index.
fn levels_for(index: u32) -> u32 {
    (u32::BITS - index.leading_zeros())
        .div_ceil(BITS)
        .saturating_sub(1)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn index() -> impl Strategy<Value = u32> {
        prop_oneof![
            0..40u32,
            250..260u32,
            65_530..65_540u32,
            Just(u32::MAX),
            any::<u32>()
        ]
    }

    fn edits() -> impl Strategy<Value = Vec<(u32, Option<u8>)>> {
        prop::collection::vec((index(), prop::option::weighted(0.7, 0..4u8)), 0..80)
    }

    fn edit(tree: &mut Radix<u8>, model: &mut BTreeMap<u32, u8>, edits: &[(u32, Option<u8>)]) {
        for (index, value) in edits {
            let before = match value {
                Some(value) => model.insert(*index, *value),
                None => model.remove(index),
            };
            assert_eq!(tree.set(*index, *value), before);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]

        #[test]
        fn a_radix_tree_is_a_map(first in edits(), second in edits(), from in index()) {
            let (mut tree, mut model) = (Radix::default(), BTreeMap::new());
            edit(&mut tree, &mut model, &first);
            let (old, old_model) = (tree.clone(), model.clone());
            edit(&mut tree, &mut model, &second);

            let all: Vec<_> = tree.iter_from(from).map(|(index, value)| (index, *value)).collect();
            prop_assert_eq!(all, model.range(from..).map(|(i, v)| (*i, *v)).collect::<Vec<_>>());
            for (index, value) in &model {
                prop_assert_eq!(tree.get(*index), Some(value));
            }
            let kept: Vec<_> = old.iter_from(0).map(|(index, value)| (index, *value)).collect();
            prop_assert_eq!(kept, old_model.clone().into_iter().collect::<Vec<_>>());

            let found: Vec<u32> = old.diff(&tree).map(|(index, _, _)| index).collect();
            let keys = old_model.keys().chain(model.keys()).collect::<std::collections::BTreeSet<_>>();
            let differing = keys.into_iter().filter(|key| old_model.get(key) != model.get(key));
            prop_assert_eq!(found, differing.copied().collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_change_leaves_all_other_leaves_shared() {
        let mut tree = Radix::default();
        for index in 0..5000 {
            tree.set(index, Some(index));
        }
        let old = tree.clone();
        if let Some(value) = tree.get_mut(1234) {
            *value = 0;
        }
        assert_eq!(old.unshared(&tree).count(), FAN_OUT);
        assert_eq!(
            old.diff(&tree).collect::<Vec<_>>(),
            [(1234, Some(&1234), Some(&0))]
        );
    }

    #[test]
    fn an_emptied_tree_keeps_nothing() {
        let mut tree = Radix::default();
        for index in [3, 300, 70_000] {
            tree.set(index, Some(()));
        }
        for index in [3, 300, 70_000] {
            tree.set(index, None);
        }
        assert!(matches!(tree.root, Child::Empty));
    }
}
