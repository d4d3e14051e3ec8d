//! Kafka's metadata, as persistent images that records change.
//!
//! A [`MetadataImage`] is everything the metadata log says as of one offset: features, brokers and
//! controllers, topics, configuration, quotas, producer ids, access rules, credentials, tokens. It is
//! a value: a clone is a few pointers, so what a controller speculates on, what is committed, what is
//! published and what a snapshot is being written of are versions of one structure.
//!
//! - [`KafkaMetadata`] applies records, as a state machine for `quorate-engine`; one that does not
//!   fit is a [`Misfit`] that says which, where and why.
//! - A [`Delta`] is two images, compared when asked; [`LocalChanges`] is what it means for the
//!   replicas of one broker.
//! - A [`Loader`] follows the committed log on a node and says what may be shown; [`Publishers`] show
//!   it to whoever has to react.
//! - [`SnapshotFile`] writes an image, [`SnapshotLoader`] reads it back equal.
//!
//! Records are all that changes an image, and an image is all that this crate keeps. It knows no
//! log, no file, no clock and no decision: whether a partition *should* change is up to the
//! controller.
//!
//! ```
//! use quorate_engine::Machine;
//! use quorate_metadata::{Delta, KafkaMetadata, MetadataImage, MetadataVersion};
//! use quorate_protocol::records::{PartitionRecord, TopicRecord};
//! use quorate_types::{NodeId, Offset, Uuid};
//!
//! let topic_id = Uuid([7; 16]);
//! let topic = TopicRecord { name: "orders".into(), topic_id, ..Default::default() };
//! let partition = PartitionRecord {
//!     topic_id,
//!     partition_id: 0,
//!     replicas: vec![1, 2, 3],
//!     isr: vec![1, 2, 3],
//!     leader: 1,
//!     leader_epoch: 0,
//!     partition_epoch: 0,
//!     ..Default::default()
//! };
//!
//! let before = MetadataImage::default();
//! let mut after = before.clone();
//! let version = MetadataVersion::LATEST;
//! KafkaMetadata::apply(&mut after, &version.versioned(topic), Offset(0))?;
//! KafkaMetadata::apply(&mut after, &version.versioned(partition), Offset(1))?;
//!
//! assert_eq!(after.topics().by_name("orders").unwrap().partition_count(), 1);
//! assert_eq!(after.topics().led_by(NodeId(1)).count(), 1);
//!
//! let local = Delta::new(before, after).local(NodeId(1));
//! assert_eq!(local.elected_leaders().count(), 1);
//! # Ok::<(), quorate_metadata::Misfit>(())
//! ```
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
