//! A record that does not fit the image it is applied to.

use std::sync::Arc;

use quorate_types::{BrokerEpoch, NodeId, Offset, TopicId};

use crate::PartitionId;

/// A record that cannot be applied. The image is as it was before.
///
/// Such a record is never appended by a controller of ours, and a controller that meets one in the
/// log has to stop; a broker counts it and goes on without making snapshots.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{record} at offset {at} does not fit: {why}")]
pub struct Misfit {
    /// The record's name.
    pub record: &'static str,
    /// Its offset.
    pub at: Offset,
    /// What is wrong with it.
    pub why: Reason,
}

/// Why a record does not fit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Reason {
    /// It changes a topic that does not exist.
    #[error("there is no topic {0}")]
    UnknownTopic(TopicId),
    /// It names a topic that does not exist.
    #[error("there is no topic {0:?}")]
    UnknownTopicName(String),
    /// It changes a partition that does not exist.
    #[error("there is no partition {0}")]
    UnknownPartition(PartitionId),
    /// It creates a topic whose name is taken.
    #[error("topic {name:?} exists with id {id}")]
    TopicNameTaken {
        /// The name.
        name: Arc<str>,
        /// The id of the topic that has it.
        id: TopicId,
    },
    /// It creates a topic whose id is taken.
    #[error("topic id {id} belongs to {name:?}")]
    TopicIdTaken {
        /// The id.
        id: TopicId,
        /// The name of the topic that has it.
        name: Arc<str>,
    },
    /// A partition's number is negative.
    #[error("partition {0} has a negative number")]
    NegativePartition(PartitionId),
    /// A partition's number is beyond all reason.
    #[error("partition {0} has a number beyond 16,777,215")]
    PartitionOutOfReach(PartitionId),
    /// There are more topics or partitions than can be numbered.
    #[error("there are too many topics or partitions")]
    TooMuch,
    /// Replicas and directories are not in pairs.
    #[error("partition {id} would have {replicas} replicas and {directories} directories")]
    UnpairedDirectories {
        /// The partition.
        id: PartitionId,
        /// How many replicas there would be.
        replicas: usize,
        /// How many directories there would be.
        directories: usize,
    },
    /// It changes a broker that is not registered.
    #[error("broker {0} is not registered")]
    UnknownBroker(NodeId),
    /// It is meant for another registration of the broker.
    #[error("broker {id} is registered with epoch {registered}, the record names {named}")]
    OtherBrokerEpoch {
        /// The broker.
        id: NodeId,
        /// The epoch of its registration.
        registered: BrokerEpoch,
        /// The epoch in the record.
        named: BrokerEpoch,
    },
    /// A listener has no name.
    #[error("node {0} registers a listener without a name")]
    UnnamedListener(NodeId),
    /// A field has a value that means nothing.
    #[error("{field} is {value}, which means nothing here")]
    UnknownValue {
        /// The field.
        field: &'static str,
        /// Its value.
        value: i64,
    },
    /// A `metadata.version` that is not known here.
    #[error("metadata.version {0} is not known here")]
    UnknownMetadataVersion(i16),
    /// It removes an access control entry that does not exist.
    #[error("there is no access control entry {0}")]
    UnknownAcl(quorate_types::Uuid),
    /// It removes a credential that does not exist.
    #[error("user {0:?} has no such credential")]
    UnknownCredential(String),
}
