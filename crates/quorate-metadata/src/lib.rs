//! Kafka's metadata as persistent images.
#![warn(missing_docs)]
#![forbid(unsafe_code)]

mod change;
mod image;
mod metadata_version;
mod misfit;
mod section;
mod topics;

pub use change::Change;
pub use image::MetadataImage;
pub use metadata_version::{MetadataVersion, UnknownMetadataVersion};
pub use misfit::{Misfit, Reason};
pub use section::{
    Acl, AclId, AclOperation, AclPermission, Acls, BrokerRegistration, ClientQuotas, Cluster,
    ConfigKind, ConfigResource, Configs, ControllerRegistration, DelegationToken, DelegationTokens,
    Features, Listener, PatternType, ProducerIds, QuotaEntity, QuotaValue, ResourceType, Scram,
    ScramCredential, ScramMechanism, SecurityProtocol,
};
pub use topics::{BrokerCounts, LeaderRecovery, Partition, PartitionId, Topic, Topics};

/// Applies metadata records to a [`MetadataImage`].
pub struct KafkaMetadata;
