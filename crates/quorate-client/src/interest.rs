//! Which topics a client wants to know of.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use quorate_types::MonoTime;

/// The topics of interest. Each was asked for at some time; those that nobody asked for in a while
/// are dropped, and those that no answer has covered yet are new.
#[derive(Debug, Clone)]
pub(crate) struct Interest {
    max_idle: Option<Duration>,
    all: bool,
    topics: BTreeMap<Arc<str>, Asked>,
}

#[derive(Debug, Clone)]
struct Asked {
    last: MonoTime,
    is_new: bool,
}

impl Interest {
    pub(crate) fn new(max_idle: Option<Duration>) -> Interest {
        Interest {
            max_idle,
            all: false,
            topics: BTreeMap::new(),
        }
    }

    /// Somebody uses the topic. Gives whether it is new.
    pub(crate) fn add(&mut self, now: MonoTime, topic: &str) -> bool {
        if let Some(asked) = self.topics.get_mut(topic) {
            asked.last = now;
            return false;
        }
        let asked = Asked {
            last: now,
            is_new: true,
        };
        self.topics.insert(Arc::from(topic), asked);
        !self.all
    }

    /// Wants to know of all topics, or of those named only.
    pub(crate) fn set_all(&mut self, all: bool) {
        self.all = all;
    }

    pub(crate) fn all(&self) -> bool {
        self.all
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &Arc<str>> {
        self.topics.keys()
    }

    pub(crate) fn new_names(&self) -> impl Iterator<Item = &Arc<str>> {
        self.topics
            .iter()
            .filter(|(_, asked)| asked.is_new)
            .map(|(name, _)| name)
    }

    pub(crate) fn wants(&self, topic: &str) -> bool {
        self.all || self.topics.contains_key(topic)
    }

    /// An answer covered the topic.
    pub(crate) fn covered(&mut self, topic: &str) {
        if let Some(asked) = self.topics.get_mut(topic) {
            asked.is_new = false;
        }
    }

    /// Drops what nobody asked for in a while; what no answer has covered yet stays.
    pub(crate) fn drop_idle(&mut self, now: MonoTime) {
        if let Some(max_idle) = self.max_idle {
            self.topics
                .retain(|_, asked| asked.is_new || asked.last + max_idle > now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_topics_are_dropped_and_new_ones_are_not() {
        let mut interest = Interest::new(Some(Duration::from_secs(300)));
        let seconds = |n: u64| MonoTime(n * 1_000_000);
        assert!(interest.add(seconds(0), "old"));
        assert!(interest.add(seconds(0), "used"));
        assert!(interest.add(seconds(0), "never-answered"));
        interest.covered("old");
        interest.covered("used");
        assert!(!interest.add(seconds(200), "used"));
        interest.drop_idle(seconds(300));
        let names: Vec<&str> = interest.names().map(|name| &**name).collect();
        assert_eq!(names, ["never-answered", "used"]);
        assert!(interest.add(seconds(301), "old"), "new again");
    }
}
