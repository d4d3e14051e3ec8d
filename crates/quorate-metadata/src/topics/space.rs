//! Which ordinals are taken: each topic owns a run of them.

use im::OrdMap;

/// How many holes are looked at for one that is large enough.
const LOOKED_AT: usize = 32;

/// Free ordinals: everything from the tail on, and the holes that deleted topics left before it.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub(super) struct Space {
    tail: u32,
    /// First ordinal → length; no two holes touch, and none touches the tail.
    holes: OrdMap<u32, u32>,
}

impl Space {
    /// Takes a run of that length and gives its first ordinal; `None` if there is no room left.
    pub(super) fn take(&mut self, len: u32) -> Option<u32> {
        let mut holes = self.holes.iter().take(LOOKED_AT);
        if let Some((first, _)) = holes.find(|(_, room)| **room >= len) {
            let first = *first;
            return self.extend(first, len).then_some(first);
        }
        let first = self.tail;
        self.tail = self.tail.checked_add(len)?;
        Some(first)
    }

    /// Takes `len` ordinals from `end` on, if they are free: so a run grows where it is.
    pub(super) fn extend(&mut self, end: u32, len: u32) -> bool {
        if end == self.tail {
            let Some(tail) = self.tail.checked_add(len) else {
                return false;
            };
            self.tail = tail;
            return true;
        }
        let Some(room) = self.holes.get(&end).copied().filter(|room| *room >= len) else {
            return false;
        };
        self.holes.remove(&end);
        if room > len {
            self.holes.insert(end + len, room - len);
        }
        true
    }

    /// How many ordinals are taken.
    pub(super) fn taken(&self) -> u32 {
        self.tail - self.holes.values().sum::<u32>()
    }

    /// Gives a run back.
    pub(super) fn free(&mut self, first: u32, len: u32) {
        if len == 0 {
            return;
        }
        let (mut first, mut end) = (first, first + len);
        if let Some((before, room)) = self
            .holes
            .get_prev(&first)
            .map(|(first, len)| (*first, *len))
            && before + room == first
        {
            self.holes.remove(&before);
            first = before;
        }
        if let Some(room) = self.holes.remove(&end) {
            end += room;
        }
        if end == self.tail {
            self.tail = first;
        } else {
            self.holes.insert(first, end - first);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn runs_never_overlap_and_what_is_freed_is_used_again(
            steps in prop::collection::vec((0..3u8, 1..6u32, any::<prop::sample::Index>()), 0..200),
        ) {
            let mut space = Space::default();
            let mut runs: Vec<(u32, u32)> = Vec::new();
            for (what, len, which) in steps {
                match what {
                    0 => runs.push((space.take(len).unwrap(), len)),
                    1 if !runs.is_empty() => {
                        let place = which.index(runs.len());
                        let run = &mut runs[place];
                        if space.extend(run.0 + run.1, len) {
                            run.1 += len;
                        }
                    }
                    2 if !runs.is_empty() => {
                        let place = which.index(runs.len());
                        let (first, len) = runs.swap_remove(place);
                        space.free(first, len);
                    }
                    _ => {}
                }
                let taken: Vec<u32> = runs.iter().flat_map(|(first, len)| *first..first + len).collect();
                let distinct: BTreeSet<u32> = taken.iter().copied().collect();
                prop_assert_eq!(taken.len(), distinct.len());
                prop_assert_eq!(taken.len() as u32, space.taken());
                prop_assert!(distinct.iter().all(|ordinal| *ordinal < space.tail));
            }
            for (first, len) in runs {
                space.free(first, len);
            }
            prop_assert_eq!(space, Space::default());
        }
    }

    #[test]
    fn a_full_space_says_so() {
        let mut space = Space::default();
        assert_eq!(space.take(u32::MAX), Some(0));
        assert_eq!(space.take(1), None);
        assert!(!space.extend(u32::MAX, 1));
    }
}
