//! The records that decisions push, each in the version that the metadata.version asks for.

use quorate_metadata::{ConfigResource, MetadataVersion, QuotaEntity};
use quorate_protocol::messages::broker_registration::BrokerRegistrationRequest;
use quorate_protocol::messages::controller_registration::ControllerRegistrationRequest;
use quorate_protocol::records::{
    AbortTransactionRecord, BeginTransactionRecord, BrokerEndpoint, BrokerFeature,
    BrokerRegistrationChangeRecord, ClearElrRecord, ClientQuotaRecord, ConfigRecord,
    ControllerEndpoint, ControllerFeature, EndTransactionRecord, EntityData, FeatureLevelRecord,
    MetadataRecord, NoOpRecord, PartitionChangeRecord, PartitionRecord, ProducerIdsRecord,
    RegisterBrokerRecord, RegisterControllerRecord, RemoveTopicRecord, TopicRecord,
    UnregisterBrokerRecord, VersionedRecord,
};
use quorate_types::{BrokerEpoch, DirectoryId, NodeId, TopicId, Uuid};

/// A record of a type that has only version 0.
pub(crate) fn plain(data: impl Into<MetadataRecord>) -> VersionedRecord {
    VersionedRecord::new(0, data)
}

pub(crate) fn topic(name: &str, id: TopicId) -> VersionedRecord {
    plain(TopicRecord {
        name: name.to_string(),
        topic_id: id.0,
        ..Default::default()
    })
}

pub(crate) fn remove_topic(id: TopicId) -> VersionedRecord {
    plain(RemoveTopicRecord {
        topic_id: id.0,
        ..Default::default()
    })
}

/// A partition as it begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NewPartition {
    pub replicas: Vec<i32>,
    pub directories: Vec<Uuid>,
    pub isr: Vec<i32>,
    pub leader: i32,
}

pub(crate) fn partition(
    partition: &NewPartition,
    topic: TopicId,
    index: i32,
    version: MetadataVersion,
) -> VersionedRecord {
    let directories = if version.has_directories() {
        partition.directories.clone()
    } else {
        Vec::new()
    };
    let record = PartitionRecord {
        partition_id: index,
        topic_id: topic.0,
        replicas: partition.replicas.clone(),
        isr: partition.isr.clone(),
        leader: partition.leader,
        leader_epoch: 0,
        partition_epoch: 0,
        directories,
        ..Default::default()
    };
    VersionedRecord::new(version.partition_version(), record)
}

pub(crate) fn partition_change(
    record: PartitionChangeRecord,
    version: MetadataVersion,
) -> VersionedRecord {
    VersionedRecord::new(version.partition_change_version(), record)
}

/// Sets a configuration, or deletes it where there is no value.
pub(crate) fn config(
    resource: &ConfigResource,
    name: &str,
    value: Option<&str>,
) -> VersionedRecord {
    plain(ConfigRecord {
        resource_type: resource.kind.0,
        resource_name: resource.name.to_string(),
        name: name.to_string(),
        value: value.map(str::to_string),
        ..Default::default()
    })
}

/// Drops the eligible leader replicas of one topic, or of all.
pub(crate) fn clear_elr(topic: Option<&str>) -> VersionedRecord {
    let topic_name = topic.unwrap_or_default().to_string();
    plain(ClearElrRecord {
        topic_name,
        ..Default::default()
    })
}

pub(crate) fn feature_level(name: &str, feature_level: i16) -> VersionedRecord {
    plain(FeatureLevelRecord {
        name: name.to_string(),
        feature_level,
        ..Default::default()
    })
}

pub(crate) fn producer_ids(id: NodeId, epoch: BrokerEpoch, next: i64) -> VersionedRecord {
    plain(ProducerIdsRecord {
        broker_id: id.0,
        broker_epoch: epoch.0,
        next_producer_id: next,
        ..Default::default()
    })
}

/// What a registration record says beyond the request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BrokerState {
    pub epoch: BrokerEpoch,
    pub fenced: bool,
    pub in_controlled_shutdown: bool,
}

pub(crate) fn register_broker(
    request: &BrokerRegistrationRequest,
    state: BrokerState,
    version: MetadataVersion,
) -> VersionedRecord {
    let end_points = request.listeners.iter().map(|listener| BrokerEndpoint {
        name: listener.name.clone(),
        host: listener.host.clone(),
        port: listener.port,
        security_protocol: listener.security_protocol,
        ..Default::default()
    });
    let features = request.features.iter().map(|feature| BrokerFeature {
        name: feature.name.clone(),
        min_supported_version: feature.min_supported_version,
        max_supported_version: feature.max_supported_version,
        ..Default::default()
    });
    let directories = version.has_directories().then(|| request.log_dirs.clone());
    let record = RegisterBrokerRecord {
        broker_id: request.broker_id,
        is_migrating_zk_broker: false,
        incarnation_id: request.incarnation_id,
        broker_epoch: state.epoch.0,
        end_points: end_points.collect(),
        features: features.collect(),
        rack: request.rack.clone(),
        fenced: state.fenced,
        in_controlled_shutdown: state.in_controlled_shutdown,
        log_dirs: directories.unwrap_or_default(),
        ..Default::default()
    };
    VersionedRecord::new(version.register_broker_version(), record)
}

pub(crate) fn unregister_broker(id: NodeId, epoch: BrokerEpoch) -> VersionedRecord {
    plain(UnregisterBrokerRecord {
        broker_id: id.0,
        broker_epoch: epoch.0,
        ..Default::default()
    })
}

pub(crate) fn fence(id: NodeId, epoch: BrokerEpoch) -> VersionedRecord {
    VersionedRecord::new(
        0,
        BrokerRegistrationChangeRecord {
            fenced: 1,
            ..changed(id, epoch)
        },
    )
}

pub(crate) fn unfence(id: NodeId, epoch: BrokerEpoch) -> VersionedRecord {
    VersionedRecord::new(
        0,
        BrokerRegistrationChangeRecord {
            fenced: -1,
            ..changed(id, epoch)
        },
    )
}

pub(crate) fn controlled_shutdown(id: NodeId, epoch: BrokerEpoch) -> VersionedRecord {
    let change = BrokerRegistrationChangeRecord {
        in_controlled_shutdown: 1,
        ..changed(id, epoch)
    };
    VersionedRecord::new(1, change)
}

/// The broker's online directories are these now.
pub(crate) fn directories_changed(
    id: NodeId,
    epoch: BrokerEpoch,
    directories: &[DirectoryId],
) -> VersionedRecord {
    let log_dirs = directories.iter().map(|directory| directory.0).collect();
    VersionedRecord::new(
        2,
        BrokerRegistrationChangeRecord {
            log_dirs,
            ..changed(id, epoch)
        },
    )
}

fn changed(id: NodeId, epoch: BrokerEpoch) -> BrokerRegistrationChangeRecord {
    BrokerRegistrationChangeRecord {
        broker_id: id.0,
        broker_epoch: epoch.0,
        ..Default::default()
    }
}

pub(crate) fn register_controller(request: &ControllerRegistrationRequest) -> VersionedRecord {
    let end_points = request.listeners.iter().map(|listener| ControllerEndpoint {
        name: listener.name.clone(),
        host: listener.host.clone(),
        port: listener.port,
        security_protocol: listener.security_protocol,
        ..Default::default()
    });
    let features = request.features.iter().map(|feature| ControllerFeature {
        name: feature.name.clone(),
        min_supported_version: feature.min_supported_version,
        max_supported_version: feature.max_supported_version,
        ..Default::default()
    });
    plain(RegisterControllerRecord {
        controller_id: request.controller_id,
        incarnation_id: request.incarnation_id,
        zk_migration_ready: false,
        end_points: end_points.collect(),
        features: features.collect(),
        ..Default::default()
    })
}

/// Sets a limit, or removes it where there is no value.
pub(crate) fn client_quota(entity: &QuotaEntity, key: &str, value: Option<f64>) -> VersionedRecord {
    let parts = entity.parts().map(|(kind, name)| EntityData {
        entity_type: kind.to_string(),
        entity_name: name.map(str::to_string),
        ..Default::default()
    });
    plain(ClientQuotaRecord {
        entity: parts.collect(),
        key: key.to_string(),
        value: value.unwrap_or_default(),
        remove: value.is_none(),
        ..Default::default()
    })
}

pub(crate) fn no_op() -> VersionedRecord {
    plain(NoOpRecord::default())
}

pub(crate) fn begin_transaction(name: &str) -> VersionedRecord {
    plain(BeginTransactionRecord {
        name: Some(name.to_string()),
        ..Default::default()
    })
}

pub(crate) fn end_transaction() -> VersionedRecord {
    plain(EndTransactionRecord::default())
}

pub(crate) fn abort_transaction(reason: &str) -> VersionedRecord {
    plain(AbortTransactionRecord {
        reason: Some(reason.to_string()),
        ..Default::default()
    })
}
