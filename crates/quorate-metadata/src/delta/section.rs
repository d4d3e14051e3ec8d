//! The parts of an image, by name.

use crate::MetadataImage;

/// A part of an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Section {
    /// Finalized features.
    Features,
    /// Registered brokers and controllers.
    Cluster,
    /// Topics and partitions.
    Topics,
    /// Dynamic configuration.
    Configs,
    /// Client quotas.
    ClientQuotas,
    /// How far producer ids were given out.
    ProducerIds,
    /// Access control entries.
    Acls,
    /// SCRAM credentials.
    Scram,
    /// Delegation tokens.
    DelegationTokens,
}

impl Section {
    /// All of them, in the order in which a snapshot has them.
    pub const ALL: [Section; 9] = [
        Section::Features,
        Section::Cluster,
        Section::Topics,
        Section::Configs,
        Section::ClientQuotas,
        Section::ProducerIds,
        Section::Acls,
        Section::Scram,
        Section::DelegationTokens,
    ];

    pub(super) fn differs(self, one: &MetadataImage, other: &MetadataImage) -> bool {
        match self {
            Section::Features => one.features != other.features,
            Section::Cluster => one.cluster != other.cluster,
            Section::Topics => one.topics != other.topics,
            Section::Configs => one.configs != other.configs,
            Section::ClientQuotas => one.client_quotas != other.client_quotas,
            Section::ProducerIds => one.producer_ids != other.producer_ids,
            Section::Acls => one.acls != other.acls,
            Section::Scram => one.scram != other.scram,
            Section::DelegationTokens => one.delegation_tokens != other.delegation_tokens,
        }
    }
}
