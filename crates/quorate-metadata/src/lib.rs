//! Kafka's metadata as persistent images.
#![warn(missing_docs)]
#![forbid(unsafe_code)]

mod apply;
mod change;
mod decode;
mod delta;
mod image;
mod loader;
mod metadata_version;
mod misfit;
mod publisher;
mod section;
mod snapshot;
mod topics;

pub use apply::KafkaMetadata;
pub use change::Change;
pub use decode::{RecordError, decode_batch, decode_records};
pub use delta::{Delta, LocalChanges, LocalDelete, LocalReplica, Section};
pub use image::MetadataImage;
pub use loader::Loader;
pub use metadata_version::{MetadataVersion, UnknownMetadataVersion};
pub use misfit::{Misfit, Reason};
pub use publisher::{Cursor, Provenance, PublishError, PublishFault, Publisher, Publishers};
pub use section::{
    Acl, AclId, AclOperation, AclPermission, Acls, BrokerRegistration, ClientQuotas, Cluster,
    ConfigChange, ConfigKind, ConfigResource, Configs, ControllerRegistration, DelegationToken,
    DelegationTokens, Features, Listener, PatternType, ProducerIds, QuotaChange, QuotaEntity,
    QuotaValue, ResourceType, Scram, ScramCredential, ScramMechanism, SecurityProtocol,
};
pub use snapshot::{
    LoadedSnapshot, Loss, Losses, SnapshotFile, SnapshotLoadError, SnapshotLoader, SnapshotReason,
    SnapshotRecords, SnapshotTrigger, SnapshotWriteError,
};
pub use topics::{BrokerCounts, LeaderRecovery, Partition, PartitionId, Topic, Topics};
