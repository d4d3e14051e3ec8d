//! Who is registered: brokers and controllers.

use std::collections::BTreeMap;
use std::sync::Arc;

use im::OrdMap;
use quorate_protocol::records::{
    BrokerEndpoint, BrokerFeature, BrokerRegistrationChangeRecord, ControllerEndpoint,
    ControllerFeature, RegisterBrokerRecord, RegisterControllerRecord, UnregisterBrokerRecord,
};
use quorate_types::{
    BrokerEpoch, DirectoryId, Endpoint, IncarnationId, NodeId, Offset, Uuid, VersionRange,
};

use crate::change::{Change, diff};
use crate::{MetadataVersion, Reason};

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

    /// Registers a broker, in place of an earlier registration if there is one.
    pub(crate) fn register_broker(
        &mut self,
        record: &RegisterBrokerRecord,
        at: Offset,
    ) -> Result<(), Reason> {
        let broker = BrokerRegistration::from_record(record, at)?;
        self.brokers.insert(broker.id, Arc::new(broker));
        Ok(())
    }

    /// Removes a broker's registration.
    pub(crate) fn unregister_broker(
        &mut self,
        record: &UnregisterBrokerRecord,
    ) -> Result<(), Reason> {
        let id = NodeId(record.broker_id);
        self.registered(id, BrokerEpoch(record.broker_epoch))?;
        self.brokers.remove(&id);
        Ok(())
    }

    /// Fences or unfences a broker.
    pub(crate) fn fence_broker(&mut self, id: i32, epoch: i64, fenced: bool) -> Result<(), Reason> {
        let broker = self.registered(NodeId(id), BrokerEpoch(epoch))?;
        if broker.fenced != fenced {
            Arc::make_mut(broker).fenced = fenced;
        }
        Ok(())
    }

    /// Changes the registration of a broker.
    pub(crate) fn change_broker(
        &mut self,
        record: &BrokerRegistrationChangeRecord,
    ) -> Result<(), Reason> {
        let unknown = |field, value: i8| Reason::UnknownValue {
            field,
            value: i64::from(value),
        };
        let fenced = match record.fenced {
            -1 => Some(false),
            0 => None,
            1 => Some(true),
            other => return Err(unknown("Fenced", other)),
        };
        let shutting_down = match record.in_controlled_shutdown {
            0 => false,
            1 => true,
            other => return Err(unknown("InControlledShutdown", other)),
        };
        let epoch = BrokerEpoch(record.broker_epoch);
        let broker = self.registered(NodeId(record.broker_id), epoch)?;
        let mut next = (**broker).clone();
        next.fenced = fenced.unwrap_or(next.fenced);
        next.in_controlled_shutdown |= shutting_down;
        if !record.log_dirs.is_empty() {
            next.directories = sorted_directories(&record.log_dirs);
        }
        if next != **broker {
            *broker = Arc::new(next);
        }
        Ok(())
    }

    /// Registers a controller, in place of an earlier registration if there is one.
    pub(crate) fn register_controller(
        &mut self,
        record: &RegisterControllerRecord,
    ) -> Result<(), Reason> {
        let controller = ControllerRegistration::from_record(record)?;
        self.controllers.insert(controller.id, Arc::new(controller));
        Ok(())
    }

    /// The registration of that broker, which has to have that epoch.
    fn registered(
        &mut self,
        id: NodeId,
        epoch: BrokerEpoch,
    ) -> Result<&mut Arc<BrokerRegistration>, Reason> {
        let broker = self.brokers.get_mut(&id).ok_or(Reason::UnknownBroker(id))?;
        if broker.epoch != epoch {
            return Err(Reason::OtherBrokerEpoch {
                id,
                registered: broker.epoch,
                named: epoch,
            });
        }
        Ok(broker)
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

    fn from_record(record: &RegisterBrokerRecord, at: Offset) -> Result<Self, Reason> {
        let id = NodeId(record.broker_id);
        let endpoints = record.end_points.iter().map(|endpoint| Listener {
            name: endpoint.name.clone(),
            host: endpoint.host.clone(),
            port: endpoint.port,
            security_protocol: SecurityProtocol(endpoint.security_protocol),
        });
        let features = record.features.iter().map(|feature| {
            let (min, max) = (feature.min_supported_version, feature.max_supported_version);
            (feature.name.clone(), VersionRange { min, max })
        });
        Ok(BrokerRegistration {
            id,
            epoch: BrokerEpoch(record.broker_epoch),
            incarnation: IncarnationId(record.incarnation_id),
            endpoints: by_name(id, endpoints)?,
            features: features.collect(),
            rack: record.rack.as_deref().map(Arc::from),
            fenced: record.fenced,
            in_controlled_shutdown: record.in_controlled_shutdown,
            migrating_zk_broker: record.is_migrating_zk_broker,
            directories: sorted_directories(&record.log_dirs),
            at,
        })
    }

    /// The record that registers the broker as it is now; what `version` cannot say is left out.
    pub(crate) fn to_record(&self, version: MetadataVersion) -> RegisterBrokerRecord {
        let directories: &[DirectoryId] = if version.has_directories() {
            &self.directories
        } else {
            &[]
        };
        RegisterBrokerRecord {
            broker_id: self.id.0,
            is_migrating_zk_broker: self.migrating_zk_broker
                && version >= MetadataVersion::V3_4_IV0,
            incarnation_id: self.incarnation.0,
            broker_epoch: self.epoch.0,
            end_points: self
                .endpoints
                .iter()
                .map(|listener| BrokerEndpoint {
                    name: listener.name.clone(),
                    host: listener.host.clone(),
                    port: listener.port,
                    security_protocol: listener.security_protocol.0,
                    ..Default::default()
                })
                .collect(),
            features: self
                .features
                .iter()
                .map(|(name, range)| BrokerFeature {
                    name: name.clone(),
                    min_supported_version: range.min,
                    max_supported_version: range.max,
                    ..Default::default()
                })
                .collect(),
            rack: self.rack.as_deref().map(str::to_owned),
            fenced: self.fenced,
            in_controlled_shutdown: self.in_controlled_shutdown,
            log_dirs: directories.iter().map(|directory| directory.0).collect(),
            ..Default::default()
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

    fn from_record(record: &RegisterControllerRecord) -> Result<Self, Reason> {
        let id = NodeId(record.controller_id);
        let endpoints = record.end_points.iter().map(|endpoint| Listener {
            name: endpoint.name.clone(),
            host: endpoint.host.clone(),
            port: endpoint.port,
            security_protocol: SecurityProtocol(endpoint.security_protocol),
        });
        let features = record.features.iter().map(|feature| {
            let (min, max) = (feature.min_supported_version, feature.max_supported_version);
            (feature.name.clone(), VersionRange { min, max })
        });
        Ok(ControllerRegistration {
            id,
            incarnation: IncarnationId(record.incarnation_id),
            zk_migration_ready: record.zk_migration_ready,
            endpoints: by_name(id, endpoints)?,
            features: features.collect(),
        })
    }

    /// The record that registers the controller as it is now.
    pub(crate) fn to_record(&self) -> RegisterControllerRecord {
        RegisterControllerRecord {
            controller_id: self.id.0,
            incarnation_id: self.incarnation.0,
            zk_migration_ready: self.zk_migration_ready,
            end_points: self
                .endpoints
                .iter()
                .map(|listener| ControllerEndpoint {
                    name: listener.name.clone(),
                    host: listener.host.clone(),
                    port: listener.port,
                    security_protocol: listener.security_protocol.0,
                    ..Default::default()
                })
                .collect(),
            features: self
                .features
                .iter()
                .map(|(name, range)| ControllerFeature {
                    name: name.clone(),
                    min_supported_version: range.min,
                    max_supported_version: range.max,
                    ..Default::default()
                })
                .collect(),
            ..Default::default()
        }
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

/// Listeners in the order of their names; of two with the same name the later one counts.
fn by_name(id: NodeId, listeners: impl Iterator<Item = Listener>) -> Result<Vec<Listener>, Reason> {
    let mut named = BTreeMap::new();
    for listener in listeners {
        if listener.name.is_empty() {
            return Err(Reason::UnnamedListener(id));
        }
        named.insert(listener.name.clone(), listener);
    }
    Ok(named.into_values().collect())
}

fn sorted_directories(directories: &[Uuid]) -> Vec<DirectoryId> {
    let mut sorted: Vec<DirectoryId> = directories.iter().copied().map(DirectoryId).collect();
    sorted.sort_unstable();
    sorted
}
