//! One partition as clients of one listener see it: who leads, and who is offline.

use quorate_metadata::{BrokerRegistration, Listener, MetadataImage, Partition};
use quorate_types::{ErrorCode, NodeId};

/// An image seen through one listener.
#[derive(Clone, Copy)]
pub(super) struct View<'a> {
    pub(super) image: &'a MetadataImage,
    pub(super) listener: &'a str,
}

impl<'a> View<'a> {
    /// The brokers that clients can be sent to: unfenced and with that listener, those that shut down
    /// included.
    pub(super) fn usable_brokers(
        self,
    ) -> impl Iterator<Item = (&'a BrokerRegistration, &'a Listener)> {
        self.brokers().filter(|(broker, _)| !broker.fenced)
    }

    /// The brokers with that listener, fenced or not.
    pub(super) fn brokers(self) -> impl Iterator<Item = (&'a BrokerRegistration, &'a Listener)> {
        self.image
            .brokers()
            .filter_map(move |broker| Some((broker, broker.endpoint(self.listener)?)))
    }

    /// The leader to name, or why none can be named. A fenced leader is named all the same.
    pub(super) fn leader(self, partition: &Partition) -> Result<NodeId, NoLeader> {
        let leader = partition
            .leader
            .and_then(|leader| self.image.broker(leader))
            .ok_or(NoLeader::Unknown)?;
        match leader.endpoint(self.listener) {
            Some(_) => Ok(leader.id),
            None => Err(NoLeader::WithoutListener),
        }
    }

    /// The replicas that cannot be reached: unregistered, fenced, without that listener, or in a
    /// directory that is offline.
    pub(super) fn offline_replicas(self, partition: &Partition) -> Vec<i32> {
        partition
            .replicas
            .iter()
            .filter(|replica| !self.is_online(partition, **replica))
            .map(|replica| replica.0)
            .collect()
    }

    /// Those of `brokers` that are unfenced and have that listener.
    pub(super) fn only_usable(self, brokers: &[NodeId]) -> Vec<i32> {
        brokers
            .iter()
            .filter(|broker| {
                self.image
                    .broker(**broker)
                    .is_some_and(|broker| self.is_usable(broker))
            })
            .map(|broker| broker.0)
            .collect()
    }

    fn is_online(self, partition: &Partition, replica: NodeId) -> bool {
        self.image.broker(replica).is_some_and(|broker| {
            self.is_usable(broker)
                && partition
                    .directory(replica)
                    .is_none_or(|directory| broker.is_online(directory))
        })
    }

    fn is_usable(self, broker: &BrokerRegistration) -> bool {
        !broker.fenced && broker.endpoint(self.listener).is_some()
    }
}

/// Why a partition's leader cannot be named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoLeader {
    /// There is none, or it is not registered.
    Unknown,
    /// It does not listen where the client came in.
    WithoutListener,
}

impl NoLeader {
    /// The error in an answer to Metadata of that version: clients before version 6 do not know
    /// `LISTENER_NOT_FOUND`.
    pub(super) fn error(self, version: i16) -> ErrorCode {
        match self {
            NoLeader::WithoutListener if version >= 6 => ErrorCode::ListenerNotFound,
            _ => ErrorCode::LeaderNotAvailable,
        }
    }
}

/// Ids as the wire has them.
pub(super) fn ids(brokers: &[NodeId]) -> Vec<i32> {
    brokers.iter().map(|broker| broker.0).collect()
}
