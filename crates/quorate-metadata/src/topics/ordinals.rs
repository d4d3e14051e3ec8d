//! Persistent sets of partition numbers: sorted lists where they are sparse, bitmaps where not.

use std::sync::Arc;

use im::OrdMap;

const CHUNK: u32 = 4096;
const WORDS: usize = CHUNK as usize / 64;
/// A longer list takes as much room as a bitmap.
const FEW: usize = 256;

/// A set of ordinals.
#[derive(Clone, Default)]
pub(super) struct Ordinals {
    chunks: OrdMap<u32, Chunk>,
    len: usize,
}

/// The members between two multiples of [`CHUNK`], less the lower one; never empty.
#[derive(Clone, PartialEq, Eq)]
enum Chunk {
    Few(Arc<[u16]>),
    Many(Arc<[u64; WORDS]>),
}

impl Ordinals {
    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn insert(&mut self, ordinal: u32) {
        let (key, low) = split(ordinal);
        let added = match self.chunks.get_mut(&key) {
            Some(chunk) => chunk.insert(low),
            None => {
                self.chunks.insert(key, Chunk::Few(Arc::new([low])));
                true
            }
        };
        self.len += usize::from(added);
    }

    pub(super) fn remove(&mut self, ordinal: u32) {
        let (key, low) = split(ordinal);
        // Looking first, for a mutable borrow would copy what is shared.
        if !self
            .chunks
            .get(&key)
            .is_some_and(|chunk| chunk.contains(low))
        {
            return;
        }
        if self
            .chunks
            .get_mut(&key)
            .is_some_and(|chunk| chunk.remove(low))
        {
            self.chunks.remove(&key);
        }
        self.len -= 1;
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = u32> {
        self.chunks.iter().flat_map(|(key, chunk)| {
            let first = key * CHUNK;
            std::iter::successors(chunk.next(0), |low| chunk.next(low + 1))
                .map(move |low| first + u32::from(low))
        })
    }
}

impl PartialEq for Ordinals {
    fn eq(&self, other: &Ordinals) -> bool {
        self.len == other.len && self.iter().eq(other.iter())
    }
}

impl Eq for Ordinals {}

impl std::fmt::Debug for Ordinals {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

impl Chunk {
    fn contains(&self, low: u16) -> bool {
        match self {
            Chunk::Few(members) => members.binary_search(&low).is_ok(),
            Chunk::Many(words) => words[word(low)] & bit(low) != 0,
        }
    }

    /// Says whether it is new.
    fn insert(&mut self, low: u16) -> bool {
        match self {
            Chunk::Few(members) => {
                let Err(place) = members.binary_search(&low) else {
                    return false;
                };
                if members.len() < FEW {
                    let (before, after) = members.split_at(place);
                    *members = before.iter().chain(&[low]).chain(after).copied().collect();
                } else {
                    let mut words = [0; WORDS];
                    for member in members.iter().chain(&[low]) {
                        words[word(*member)] |= bit(*member);
                    }
                    *self = Chunk::Many(Arc::new(words));
                }
                true
            }
            Chunk::Many(words) => {
                let place = &mut Arc::make_mut(words)[word(low)];
                let added = *place & bit(low) == 0;
                *place |= bit(low);
                added
            }
        }
    }

    /// Removes a member and says whether it was the last one. A bitmap becomes a list again well
    /// below the size at which a list becomes a bitmap, so that none flips at every change.
    fn remove(&mut self, low: u16) -> bool {
        match self {
            Chunk::Few(members) => {
                *members = members
                    .iter()
                    .copied()
                    .filter(|member| *member != low)
                    .collect();
                members.is_empty()
            }
            Chunk::Many(words) => {
                let words = Arc::make_mut(words);
                words[word(low)] &= !bit(low);
                let left: u32 = words.iter().map(|word| word.count_ones()).sum();
                if left as usize <= FEW / 2 {
                    let members = std::iter::successors(self.next(0), |low| self.next(low + 1));
                    *self = Chunk::Few(members.collect());
                }
                false
            }
        }
    }

    /// The first member that is at least `low`.
    fn next(&self, low: u16) -> Option<u16> {
        match self {
            Chunk::Few(members) => {
                let place = members.partition_point(|member| *member < low);
                members.get(place).copied()
            }
            Chunk::Many(words) => {
                let first = word(low);
                let mask = !(bit(low) - 1);
                let head = words.get(first)? & mask;
                let rest = words[first + 1..].iter().copied();
                let (skipped, bits) = std::iter::once(head)
                    .chain(rest)
                    .enumerate()
                    .find(|(_, bits)| *bits != 0)?;
                u16::try_from((first + skipped) * 64 + bits.trailing_zeros() as usize).ok()
            }
        }
    }
}

fn split(ordinal: u32) -> (u32, u16) {
    (ordinal / CHUNK, (ordinal % CHUNK) as u16)
}

fn word(low: u16) -> usize {
    usize::from(low / 64)
}

fn bit(low: u16) -> u64 {
    1 << (low % 64)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn ordinals_are_a_set(
            edits in prop::collection::vec((any::<bool>(), 0..3u32, 0..600u32), 0..1500),
        ) {
            let (mut set, mut model) = (Ordinals::default(), BTreeSet::new());
            for (add, chunk, low) in edits {
                let ordinal = chunk * CHUNK + low * 6;
                if add {
                    set.insert(ordinal);
                    model.insert(ordinal);
                } else {
                    set.remove(ordinal);
                    model.remove(&ordinal);
                }
            }
            prop_assert_eq!(set.len(), model.len());
            prop_assert!(set.iter().eq(model.iter().copied()));
        }
    }

    #[test]
    fn a_dense_set_shrinks_back_to_nothing() {
        let mut set = Ordinals::default();
        for ordinal in 0..10_000 {
            set.insert(ordinal);
        }
        assert!(set.iter().eq(0..10_000));
        for ordinal in (0..10_000).rev() {
            set.remove(ordinal);
            set.remove(ordinal);
        }
        assert_eq!((set.len(), set.chunks.len()), (0, 0));
    }
}
