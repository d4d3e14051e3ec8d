//! What happened in a run: always as one number, and as lines to read when somebody asks for them.
//!
//! Two runs of one seed must come to the same number; that is how we know that a seed replays.

use std::fmt;

use quorate_types::{MonoTime, NodeId};

/// The history of one run.
#[derive(Debug)]
pub struct History {
    hash: u64,
    lines: Option<Vec<String>>,
}

impl History {
    /// An empty history that keeps lines only if `traced`.
    pub fn new(traced: bool) -> History {
        History {
            hash: 0xcbf2_9ce4_8422_2325,
            lines: traced.then(Vec::new),
        }
    }

    /// Something happened that the run's course depends on.
    pub fn mix(&mut self, word: u64) {
        self.hash = step(self.hash, word);
    }

    /// A line to read, made only if somebody wants to read it.
    pub fn line<T: fmt::Display>(
        &mut self,
        at: MonoTime,
        machine: Option<NodeId>,
        text: impl FnOnce() -> T,
    ) {
        if let Some(lines) = &mut self.lines {
            let who = machine.map_or_else(|| "-".to_owned(), |id| id.to_string());
            let (seconds, micros) = (at.0 / 1_000_000, at.0 % 1_000_000);
            lines.push(format!("{seconds:4}.{micros:06} {who:>4}  {}", text()));
        }
    }

    /// The number that stands for the whole history.
    pub fn hash(&self) -> u64 {
        self.hash
    }

    /// Whether lines are kept.
    pub fn is_traced(&self) -> bool {
        self.lines.is_some()
    }

    /// The lines, if they were kept.
    pub fn into_lines(self) -> Vec<String> {
        self.lines.unwrap_or_default()
    }
}

/// The next value of a running hash.
fn step(hash: u64, word: u64) -> u64 {
    (hash ^ word)
        .wrapping_mul(0x9e37_79b9_7f4a_7c15)
        .rotate_left(29)
}

/// The hash of some bytes after what was hashed before.
pub(crate) fn hash_bytes(seed: u64, bytes: &[u8]) -> u64 {
    let mut hash = step(seed, bytes.len() as u64);
    let mut chunks = bytes.chunks_exact(8);
    for chunk in &mut chunks {
        let mut word = [0; 8];
        word.copy_from_slice(chunk);
        hash = step(hash, u64::from_le_bytes(word));
    }
    let mut last = [0; 8];
    last[..chunks.remainder().len()].copy_from_slice(chunks.remainder());
    step(hash, u64::from_le_bytes(last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_depends_on_every_byte_and_on_what_came_before() {
        let hash = |bytes: &[u8]| hash_bytes(7, bytes);
        assert_eq!(hash(b"twelve bytes"), hash(b"twelve bytes"));
        assert_ne!(hash(b"twelve bytes"), hash(b"twelve bytez"));
        assert_ne!(hash(b"\0"), hash(b"\0\0"));
        assert_ne!(hash_bytes(7, b"a"), hash_bytes(8, b"a"));
    }

    #[test]
    fn lines_are_made_only_when_wanted() {
        let mut silent = History::new(false);
        silent.line(MonoTime(1), None, || -> String {
            unreachable!("nobody reads it")
        });
        let mut traced = History::new(true);
        traced.line(MonoTime(1_500_000), Some(NodeId(3)), || "hello");
        assert_eq!(traced.into_lines(), ["   1.500000    3  hello"]);
    }
}
