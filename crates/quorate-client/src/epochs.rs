//! The highest leader epoch that was seen of each partition, wherever it was seen.
//!
//! | Answer's epoch | Taken? |
//! |---|---|
//! | first of the partition | yes |
//! | the topic has another id than before | yes, even a lower one |
//! | at least the last seen | yes |
//! | lower | no: the entry before stays |
//! | none, or from a broker whose epochs are not reliable (answers before version 9) | yes, and what was seen is forgotten |

use std::collections::BTreeMap;
use std::sync::Arc;

use quorate_types::LeaderEpoch;

/// What to do with a partition of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Take it; it says something new.
    News,
    /// Take it; it says nothing new.
    Same,
    /// Keep what is known.
    Outdated,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct LeaderEpochs {
    seen: BTreeMap<Arc<str>, BTreeMap<i32, LeaderEpoch>>,
}

impl LeaderEpochs {
    /// An answer says that the partition is in `epoch`.
    pub(crate) fn judge(
        &mut self,
        topic: &Arc<str>,
        index: i32,
        epoch: Option<LeaderEpoch>,
        other_topic_id: bool,
    ) -> Verdict {
        let Some(epoch) = epoch else {
            self.forget(topic, index);
            return Verdict::News;
        };
        let seen = self.seen.entry(topic.clone()).or_default();
        match seen.get(&index).copied() {
            Some(known) if !other_topic_id && epoch < known => Verdict::Outdated,
            Some(known) if !other_topic_id && epoch == known => Verdict::Same,
            _ => {
                seen.insert(index, epoch);
                Verdict::News
            }
        }
    }

    /// Somebody else mentioned an epoch. Gives whether it is higher than what was seen; of a
    /// partition that was never seen nothing is.
    pub(crate) fn heard(&mut self, topic: &str, index: i32, epoch: LeaderEpoch) -> bool {
        match self
            .seen
            .get_mut(topic)
            .and_then(|topic| topic.get_mut(&index))
        {
            Some(known) if epoch > *known => {
                *known = epoch;
                true
            }
            _ => false,
        }
    }

    pub(crate) fn last_seen(&self, topic: &str, index: i32) -> Option<LeaderEpoch> {
        self.seen.get(topic)?.get(&index).copied()
    }

    pub(crate) fn retain(&mut self, is_wanted: impl Fn(&str) -> bool) {
        self.seen.retain(|topic, _| is_wanted(topic));
    }

    fn forget(&mut self, topic: &str, index: i32) {
        if let Some(topic) = self.seen.get_mut(topic) {
            topic.remove(&index);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_of_the_table() {
        let topic: Arc<str> = Arc::from("orders");
        let epoch = |epoch| Some(LeaderEpoch(epoch));
        // (the answer's epoch, another topic id, verdict, last seen afterwards)
        let rows = [
            (epoch(5), false, Verdict::News, epoch(5)),
            (epoch(5), false, Verdict::Same, epoch(5)),
            (epoch(4), false, Verdict::Outdated, epoch(5)),
            (epoch(6), false, Verdict::News, epoch(6)),
            (epoch(0), true, Verdict::News, epoch(0)),
            (None, false, Verdict::News, None),
            (epoch(3), false, Verdict::News, epoch(3)),
        ];
        let mut epochs = LeaderEpochs::default();
        for (answer, other_id, verdict, seen) in rows {
            assert_eq!(epochs.judge(&topic, 0, answer, other_id), verdict);
            assert_eq!(epochs.last_seen("orders", 0), seen);
        }
        assert!(!epochs.heard("orders", 1, LeaderEpoch(9)), "never seen");
        assert!(!epochs.heard("orders", 0, LeaderEpoch(3)));
        assert!(epochs.heard("orders", 0, LeaderEpoch(4)));
    }
}
