//! What the active controller knows of its brokers beyond the log: when each was heard last, what it
//! has applied, and since when it is shutting down.
//!
//! None of it survives a change of the active controller. A new one gives every unfenced broker a
//! full session, and lets fenced ones register at once.

use std::collections::BTreeMap;
use std::time::Duration;

use quorate_metadata::MetadataImage;
use quorate_types::{BrokerEpoch, MonoTime, NodeId, Offset};

use super::control_state::ControlState;

/// What is known of one broker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pulse {
    /// The registration that it belongs to.
    pub epoch: BrokerEpoch,
    /// When it was heard last; `None` before its first heartbeat and after its session ran out.
    pub heard: Option<MonoTime>,
    /// The last offset that it says it has applied.
    pub applied: Option<Offset>,
    /// The last offset of what its first step of a controlled shutdown wrote.
    pub shutdown_at: Option<Offset>,
}

impl Pulse {
    fn of(epoch: BrokerEpoch) -> Pulse {
        Pulse {
            epoch,
            heard: None,
            applied: None,
            shutdown_at: None,
        }
    }
}

/// The pulses of all registered brokers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sessions {
    timeout: Duration,
    /// When expiry was looked at last.
    checked: MonoTime,
    brokers: BTreeMap<NodeId, Pulse>,
}

impl Sessions {
    /// The sessions that a new active controller starts with.
    pub fn claim(image: &MetadataImage, timeout: Duration, now: MonoTime) -> Sessions {
        let brokers = image.brokers().map(|broker| {
            let heard = (!broker.fenced).then_some(now);
            (
                broker.id,
                Pulse {
                    heard,
                    ..Pulse::of(broker.epoch)
                },
            )
        });
        Sessions {
            timeout,
            checked: now,
            brokers: brokers.collect(),
        }
    }

    /// A heartbeat of that registration arrived and says what it has applied. Whose epoch is not the
    /// registered one prolongs nobody's session.
    pub fn touch(
        &mut self,
        id: NodeId,
        epoch: BrokerEpoch,
        heard: MonoTime,
        applied: Option<Offset>,
    ) {
        let pulse = self.brokers.entry(id).or_insert_with(|| Pulse::of(epoch));
        if pulse.epoch < epoch {
            // Of a registration that is decided, but not appended yet.
            *pulse = Pulse::of(epoch);
        }
        if pulse.epoch == epoch {
            pulse.heard = pulse.heard.max(Some(heard));
            pulse.applied = applied;
        }
    }

    /// The broker registered, anew or again: what it has applied must be told again. A new epoch
    /// has no session yet.
    pub fn registered(&mut self, id: NodeId, epoch: BrokerEpoch) {
        let heard = self
            .brokers
            .get(&id)
            .filter(|pulse| pulse.epoch == epoch)
            .and_then(|pulse| pulse.heard);
        self.brokers.insert(
            id,
            Pulse {
                heard,
                ..Pulse::of(epoch)
            },
        );
    }

    /// The broker is gone.
    pub fn unregistered(&mut self, id: NodeId) {
        self.brokers.remove(&id);
    }

    /// The broker was fenced. A session that had run out ends with it, one that lives goes on.
    pub fn fenced(&mut self, id: NodeId, now: MonoTime) {
        let timeout = self.timeout;
        if let Some(pulse) = self.brokers.get_mut(&id) {
            pulse.shutdown_at = None;
            pulse.heard = pulse.heard.filter(|heard| now.since(*heard) <= timeout);
        }
    }

    /// The broker's controlled shutdown has begun, with records up to `last`.
    pub fn shutting_down(&mut self, id: NodeId, last: Offset) {
        if let Some(pulse) = self.brokers.get_mut(&id) {
            pulse.shutdown_at.get_or_insert(last);
        }
    }

    /// What is known of the broker.
    pub fn get(&self, id: NodeId) -> Option<&Pulse> {
        self.brokers.get(&id)
    }

    /// What is known of every broker, by id.
    pub fn iter(&self) -> impl Iterator<Item = (NodeId, &Pulse)> {
        self.brokers.iter().map(|(id, pulse)| (*id, pulse))
    }

    /// Whether that registration was heard of within the session timeout.
    pub fn is_alive(&self, id: NodeId, epoch: BrokerEpoch, now: MonoTime) -> bool {
        self.brokers.get(&id).is_some_and(|pulse| {
            pulse.epoch == epoch
                && pulse
                    .heard
                    .is_some_and(|heard| now.since(heard) <= self.timeout)
        })
    }

    /// Expiry is looked at. Where that comes later than `lateness` after the last time, this node was
    /// held up: heartbeats may have waited in vain, so every session goes on for `grace` at least.
    pub fn check(&mut self, now: MonoTime, lateness: Duration, grace: Duration) {
        if now.since(self.checked) > lateness {
            let at_least = now - self.timeout.saturating_sub(grace);
            for pulse in self.brokers.values_mut() {
                pulse.heard = pulse.heard.map(|heard| heard.max(at_least));
            }
        }
        self.checked = now;
    }

    /// The brokers whose session has run out, and their epochs.
    pub fn expired(&self, now: MonoTime) -> impl Iterator<Item = (NodeId, BrokerEpoch)> + '_ {
        let silent = move |pulse: &Pulse| {
            pulse
                .heard
                .is_some_and(|heard| now.since(heard) > self.timeout)
        };
        self.brokers
            .iter()
            .filter(move |(_, pulse)| silent(pulse))
            .map(|(id, pulse)| (*id, pulse.epoch))
    }

    /// How long it takes until the next session can run out.
    pub fn next_expiry(&self, now: MonoTime) -> Option<Duration> {
        let left = |heard: MonoTime| self.timeout.saturating_sub(now.since(heard));
        self.brokers
            .values()
            .filter_map(|pulse| pulse.heard)
            .map(left)
            .min()
    }

    /// The state of a broker that is registered as `fenced` says.
    pub fn state(&self, id: NodeId, fenced: bool) -> ControlState {
        let shutting_down = self
            .brokers
            .get(&id)
            .is_some_and(|pulse| pulse.shutdown_at.is_some());
        match (fenced, shutting_down) {
            (true, _) => ControlState::Fenced,
            (false, true) => ControlState::ControlledShutdown,
            (false, false) => ControlState::Unfenced,
        }
    }

    /// Whether every broker that takes part has applied what the broker's controlled shutdown began
    /// with.
    pub fn others_caught_up(&self, image: &MetadataImage, id: NodeId) -> bool {
        let Some(pulse) = self.brokers.get(&id) else {
            return true;
        };
        image
            .brokers()
            .filter(|broker| !broker.fenced)
            .filter_map(|broker| self.brokers.get(&broker.id))
            .filter(|other| other.shutdown_at.is_none())
            .all(|other| other.applied >= pulse.shutdown_at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SESSION: Duration = Duration::from_secs(9);
    const B1: NodeId = NodeId(1);

    fn at(ms: u64) -> MonoTime {
        MonoTime::ZERO + Duration::from_millis(ms)
    }

    fn sessions() -> Sessions {
        let mut sessions = Sessions::claim(&MetadataImage::default(), SESSION, at(0));
        sessions.registered(B1, BrokerEpoch(7));
        sessions
    }

    #[test]
    fn a_session_begins_with_the_first_heartbeat_and_lasts_its_timeout() {
        let mut sessions = sessions();
        assert!(!sessions.is_alive(B1, BrokerEpoch(7), at(0)));
        sessions.touch(B1, BrokerEpoch(7), at(1000), None);
        assert!(sessions.is_alive(B1, BrokerEpoch(7), at(10_000)));
        assert_eq!(sessions.expired(at(10_000)).count(), 0);
        assert_eq!(sessions.next_expiry(at(4000)), Some(Duration::from_secs(6)));
        assert!(!sessions.is_alive(B1, BrokerEpoch(7), at(10_001)));
        assert_eq!(
            sessions.expired(at(10_001)).collect::<Vec<_>>(),
            [(B1, BrokerEpoch(7))]
        );
    }

    #[test]
    fn a_heartbeat_of_another_epoch_prolongs_nobodys_session() {
        let mut sessions = sessions();
        sessions.touch(B1, BrokerEpoch(7), at(0), None);
        sessions.touch(B1, BrokerEpoch(6), at(8000), Some(Offset(90)));
        assert_eq!(sessions.get(B1).and_then(|pulse| pulse.applied), None);
        assert_eq!(sessions.expired(at(9001)).count(), 1);
    }

    #[test]
    fn registering_again_keeps_the_session_and_forgets_what_was_applied() {
        let mut sessions = sessions();
        sessions.touch(B1, BrokerEpoch(7), at(1000), Some(Offset(40)));
        sessions.registered(B1, BrokerEpoch(7));
        assert!(sessions.is_alive(B1, BrokerEpoch(7), at(2000)));
        assert_eq!(sessions.get(B1).and_then(|pulse| pulse.applied), None);
        sessions.registered(B1, BrokerEpoch(50));
        assert!(!sessions.is_alive(B1, BrokerEpoch(50), at(2000)));
    }

    #[test]
    fn a_late_look_at_expiry_lets_sessions_live_for_a_while() {
        let mut sessions = sessions();
        let (late, grace) = (Duration::from_secs(2), Duration::from_secs(4));
        sessions.touch(B1, BrokerEpoch(7), at(0), None);
        sessions.check(at(1000), late, grace);
        sessions.check(at(30_000), late, grace);
        assert_eq!(sessions.expired(at(30_000)).count(), 0);
        assert_eq!(sessions.next_expiry(at(30_000)), Some(grace));
        sessions.check(at(32_000), late, grace);
        assert_eq!(sessions.expired(at(34_000)).count(), 0);
        assert_eq!(sessions.expired(at(34_001)).count(), 1);
    }

    #[test]
    fn fencing_ends_only_a_session_that_has_run_out() {
        let mut sessions = sessions();
        sessions.touch(B1, BrokerEpoch(7), at(0), None);
        sessions.fenced(B1, at(5000));
        assert!(sessions.is_alive(B1, BrokerEpoch(7), at(5000)));
        sessions.fenced(B1, at(9001));
        assert_eq!(sessions.get(B1).and_then(|pulse| pulse.heard), None);
    }
}
