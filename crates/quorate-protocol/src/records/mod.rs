//! Metadata records: what the metadata log says.
//!
//! The value of a record in the log is a *frame*: the frame's version (1), the record's key and
//! version, and its body. [`VersionedRecord`] is a frame read, [`MetadataRecord`] what it says. The
//! version stays with the record because the feature level `metadata.version` decides which one is
//! written.
//!
//! ```
//! use quorate_protocol::records::{FeatureLevelRecord, VersionedRecord};
//!
//! let level = FeatureLevelRecord {
//!     name: "metadata.version".into(),
//!     feature_level: 29,
//!     ..Default::default()
//! };
//! let record = VersionedRecord { version: 0, data: level.into() };
//! let frame = record.encode_frame()?;
//! assert_eq!(frame[..3], [1, 12, 0]);
//! assert_eq!(VersionedRecord::decode_frame(&frame)?, record);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod bracket;
mod cluster;
mod frame;
mod security;
mod settings;
mod topics;

pub use bracket::{
    AbortTransactionRecord, BeginTransactionRecord, EndTransactionRecord, NoOpRecord,
};
pub use cluster::{
    BrokerEndpoint, BrokerFeature, BrokerRegistrationChangeRecord, ControllerEndpoint,
    ControllerFeature, FenceBrokerRecord, RegisterBrokerRecord, RegisterControllerRecord,
    UnfenceBrokerRecord, UnregisterBrokerRecord,
};
pub use frame::{FRAME_VERSION, VersionedRecord};
pub use security::{
    AccessControlEntryRecord, DelegationTokenRecord, RemoveAccessControlEntryRecord,
    RemoveDelegationTokenRecord, RemoveUserScramCredentialRecord, UserScramCredentialRecord,
};
pub use settings::{
    ClientQuotaRecord, ConfigRecord, EntityData, FeatureLevelRecord, ProducerIdsRecord,
    ZkMigrationStateRecord,
};
pub use topics::{
    ClearElrRecord, PartitionChangeRecord, PartitionRecord, RemoveTopicRecord, TopicRecord,
};

use quorate_types::VersionRange;

use crate::codec::{DecodeError, DecodeProblem, EncodeError, Message, Reader, Sink, Wire};

macro_rules! metadata_records {
    ($($(#[$doc:meta])* $variant:ident($body:ident) = $key:literal,)*) => {
        /// One metadata record, of whichever type.
        #[derive(Debug, Clone, PartialEq)]
        pub enum MetadataRecord {
            $($(#[$doc])* $variant($body),)*
        }

        impl MetadataRecord {
            /// The key of the record's type.
            pub const fn key(&self) -> i16 {
                match self {
                    $(MetadataRecord::$variant(_) => $key,)*
                }
            }

            /// Kafka's name of the record's type.
            pub const fn name(&self) -> &'static str {
                match self {
                    $(MetadataRecord::$variant(_) => <$body>::NAME,)*
                }
            }

            /// The versions that are known of the record's type.
            pub const fn versions(&self) -> VersionRange {
                match self {
                    $(MetadataRecord::$variant(_) => <$body>::VERSIONS,)*
                }
            }

            /// Writes the body alone.
            pub fn write_body<S: Sink>(
                &self,
                version: i16,
                sink: &mut S,
            ) -> Result<(), EncodeError> {
                match self {
                    $(MetadataRecord::$variant(body) => {
                        body.write(<$body>::encode_form(version)?, sink)
                    })*
                }
            }

            /// Reads the body alone.
            pub fn read_body(
                key: u32,
                version: i16,
                reader: &mut Reader<'_>,
            ) -> Result<MetadataRecord, DecodeError> {
                match key {
                    $($key => <$body>::decode(version, reader).map(MetadataRecord::$variant),)*
                    key => Err(reader.error(DecodeProblem::UnknownRecordKey { key })),
                }
            }
        }

        $(
            impl From<$body> for MetadataRecord {
                fn from(body: $body) -> MetadataRecord {
                    MetadataRecord::$variant(body)
                }
            }
        )*

        #[cfg(test)]
        mod key_tests {
            use super::*;

            #[test]
            fn every_type_has_the_key_that_its_struct_declares() {
                $(assert_eq!(<$body>::KEY, Some($key), stringify!($body));)*
            }

            #[test]
            fn every_type_comes_back_from_its_frame() {
                $(
                    let record = VersionedRecord {
                        version: <$body>::VERSIONS.max,
                        data: <$body>::default().into(),
                    };
                    let frame = record.encode_frame().unwrap();
                    assert_eq!(VersionedRecord::decode_frame(&frame), Ok(record));
                )*
            }
        }
    };
}

metadata_records! {
    /// A broker registers, for the first time or again.
    RegisterBroker(RegisterBrokerRecord) = 0,
    /// A broker is forgotten.
    UnregisterBroker(UnregisterBrokerRecord) = 1,
    /// A topic is created.
    Topic(TopicRecord) = 2,
    /// The whole state of a partition.
    Partition(PartitionRecord) = 3,
    /// A config is set or deleted.
    Config(ConfigRecord) = 4,
    /// A partition changes.
    PartitionChange(PartitionChangeRecord) = 5,
    /// A broker is fenced (no longer written).
    FenceBroker(FenceBrokerRecord) = 7,
    /// A broker is unfenced (no longer written).
    UnfenceBroker(UnfenceBrokerRecord) = 8,
    /// A topic is deleted.
    RemoveTopic(RemoveTopicRecord) = 9,
    /// A delegation token is made or renewed.
    DelegationToken(DelegationTokenRecord) = 10,
    /// A SCRAM credential is set.
    UserScramCredential(UserScramCredentialRecord) = 11,
    /// The level of a feature is set.
    FeatureLevel(FeatureLevelRecord) = 12,
    /// A client quota is set or removed.
    ClientQuota(ClientQuotaRecord) = 14,
    /// A block of producer ids is handed out.
    ProducerIds(ProducerIdsRecord) = 15,
    /// A broker's registration changes.
    BrokerRegistrationChange(BrokerRegistrationChangeRecord) = 17,
    /// An access rule is created.
    AccessControlEntry(AccessControlEntryRecord) = 18,
    /// An access rule is deleted.
    RemoveAccessControlEntry(RemoveAccessControlEntryRecord) = 19,
    /// Nothing; it advances the log.
    NoOp(NoOpRecord) = 20,
    /// The state of a migration from ZooKeeper; ignored.
    ZkMigrationState(ZkMigrationStateRecord) = 21,
    /// A SCRAM credential is deleted.
    RemoveUserScramCredential(RemoveUserScramCredentialRecord) = 22,
    /// What follows takes effect as one.
    BeginTransaction(BeginTransactionRecord) = 23,
    /// What was begun takes effect.
    EndTransaction(EndTransactionRecord) = 24,
    /// What was begun is undone.
    AbortTransaction(AbortTransactionRecord) = 25,
    /// A delegation token is deleted.
    RemoveDelegationToken(RemoveDelegationTokenRecord) = 26,
    /// A controller registers.
    RegisterController(RegisterControllerRecord) = 27,
    /// Eligible leader replicas are cleared.
    ClearElr(ClearElrRecord) = 28,
}
