//! Who is registered: brokers and controllers.

use std::collections::BTreeMap;
use std::sync::Arc;

use im::OrdMap;
use quorate_types::{
    BrokerEpoch, DirectoryId, Endpoint, IncarnationId, NodeId, Offset, VersionRange,
};

use crate::change::{Change, diff};

/// The registered brokers and controllers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cluster {
    pub(crate) brokers: OrdMap<NodeId, Arc<BrokerRegistration>>,
    pub(crate) controllers: OrdMap<NodeId, Arc<ControllerRegistration>>,
}

impl Cluster {
    /// The broker of that id, if it is registered.
    pub fn broker(&self, id: NodeId) -> Option<&BrokerRegistration> {
        self.brokers.get(&id).map(|broker| &**broker)
    }

    /// The registered brokers by id.
    pub fn brokers(&self) -> impl Iterator<Item = &BrokerRegistration> {
        self.brokers.values().map(|broker| &**broker)
    }

    /// How many brokers are registered.
    pub fn broker_count(&self) -> usize {
        self.brokers.len()
    }

    /// The controller of that id, if it is registered.
    pub fn controller(&self, id: NodeId) -> Option<&ControllerRegistration> {
        self.controllers.get(&id).map(|controller| &**controller)
    }

    /// The registered controllers by id.
    pub fn controllers(&self) -> impl Iterator<Item = &ControllerRegistration> {
        self.controllers.values().map(|controller| &**controller)
    }

    pub(crate) fn broker_changes<'a>(
        &'a self,
        after: &'a Cluster,
    ) -> impl Iterator<Item = Change<NodeId, &'a BrokerRegistration>> {
        diff(&self.brokers, &after.brokers)
            .map(|change| change.map_key(|id| *id).map(|broker| &**broker))
    }

    pub(crate) fn controller_changes<'a>(
        &'a self,
        after: &'a Cluster,
    ) -> impl Iterator<Item = Change<NodeId, &'a ControllerRegistration>> {
        diff(&self.controllers, &after.controllers)
            .map(|change| change.map_key(|id| *id).map(|controller| &**controller))
    }
}

/// A registered broker.
///
/// Two registrations are equal if the log says the same of both: [`at`](Self::at), which a node that
/// loaded a snapshot knows less exactly, does not count.
#[derive(Debug, Clone)]
pub struct BrokerRegistration {
    /// The broker.
    pub id: NodeId,
    /// Its epoch.
    pub epoch: BrokerEpoch,
    /// The start of its process.
    pub incarnation: IncarnationId,
    /// Where it listens, by the listener's name.
    pub endpoints: Vec<Listener>,
    /// The feature levels it supports.
    pub features: BTreeMap<String, VersionRange>,
    /// Its rack.
    pub rack: Option<Arc<str>>,
    /// Whether it may lead or be in an ISR.
    pub fenced: bool,
    /// Whether it asked to shut down and was told to wait.
    pub in_controlled_shutdown: bool,
    /// Whether it was registered on its way from ZooKeeper, long ago.
    pub migrating_zk_broker: bool,
    /// Its online log directories, ascending; none below 3.7-IV2.
    pub directories: Vec<DirectoryId>,
    /// Offset of its last RegisterBroker record: what it must have applied to be caught up. From a
    /// snapshot, the snapshot's last offset.
    pub at: Offset,
}

impl BrokerRegistration {
    /// The endpoint of that listener.
    pub fn endpoint(&self, listener: &str) -> Option<&Listener> {
        self.endpoints
            .iter()
            .find(|endpoint| endpoint.name == listener)
    }

    /// Unfenced and not shutting down: it may lead and may join an ISR.
    pub fn is_active(&self) -> bool {
        !self.fenced && !self.in_controlled_shutdown
    }

    /// Whether a replica in that directory of the broker is online: no directory was chosen yet, or
    /// the broker lists it, or the broker lists none at all, since the cluster did not know of
    /// directories when it registered. [`DirectoryId::LOST`] never is.
    pub fn is_online(&self, directory: DirectoryId) -> bool {
        match directory {
            DirectoryId::UNASSIGNED | DirectoryId::MIGRATING => true,
            DirectoryId::LOST => false,
            real => self.directories.is_empty() || self.directories.binary_search(&real).is_ok(),
        }
    }
}

impl PartialEq for BrokerRegistration {
    fn eq(&self, other: &BrokerRegistration) -> bool {
        let BrokerRegistration {
            id,
            epoch,
            incarnation,
            endpoints,
            features,
            rack,
            fenced,
            in_controlled_shutdown,
            migrating_zk_broker,
            directories,
            at: _,
        } = self;
        *id == other.id
            && *epoch == other.epoch
            && *incarnation == other.incarnation
            && *endpoints == other.endpoints
            && *features == other.features
            && *rack == other.rack
            && *fenced == other.fenced
            && *in_controlled_shutdown == other.in_controlled_shutdown
            && *migrating_zk_broker == other.migrating_zk_broker
            && *directories == other.directories
    }
}

impl Eq for BrokerRegistration {}

/// A registered controller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ControllerRegistration {
    /// The controller.
    pub id: NodeId,
    /// The start of its process.
    pub incarnation: IncarnationId,
    /// Whether it was ready to migrate from ZooKeeper; kept because records carry it.
    pub zk_migration_ready: bool,
    /// Where it listens, by the listener's name.
    pub endpoints: Vec<Listener>,
    /// The feature levels it supports.
    pub features: BTreeMap<String, VersionRange>,
}

impl ControllerRegistration {
    /// The endpoint of that listener.
    pub fn endpoint(&self, listener: &str) -> Option<&Listener> {
        self.endpoints
            .iter()
            .find(|endpoint| endpoint.name == listener)
    }
}

/// A named listener of a broker or a controller.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Listener {
    /// The listener's name, never empty.
    pub name: String,
    /// Host name or address.
    pub host: String,
    /// TCP port.
    pub port: u16,
    /// How it is spoken to.
    pub security_protocol: SecurityProtocol,
}

impl From<&Listener> for Endpoint {
    fn from(listener: &Listener) -> Endpoint {
        Endpoint {
            name: listener.name.clone(),
            host: listener.host.clone(),
            port: listener.port,
        }
    }
}

/// A security protocol by its number in Kafka.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct SecurityProtocol(pub i16);

impl SecurityProtocol {
    /// Neither encrypted nor authenticated.
    pub const PLAINTEXT: SecurityProtocol = SecurityProtocol(0);
    /// TLS.
    pub const SSL: SecurityProtocol = SecurityProtocol(1);
    /// SASL without TLS.
    pub const SASL_PLAINTEXT: SecurityProtocol = SecurityProtocol(2);
    /// SASL over TLS.
    pub const SASL_SSL: SecurityProtocol = SecurityProtocol(3);

    /// Whether this is one of the four that exist.
    pub fn is_known(self) -> bool {
        (0..=3).contains(&self.0)
    }
}
