//! Everything the metadata log says, as of one offset.

use quorate_types::NodeId;

use crate::{
    Acls, BrokerRegistration, ClientQuotas, Cluster, Configs, ControllerRegistration,
    DelegationTokens, Features, ProducerIds, Scram, Topics,
};

/// The state that the records of the metadata log describe.
///
/// A value: a clone is a few pointers, and two clones that went different ways still share whatever
/// neither changed. Only records change it, through [`KafkaMetadata`](crate::KafkaMetadata).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MetadataImage {
    pub(crate) features: Features,
    pub(crate) cluster: Cluster,
    pub(crate) topics: Topics,
    pub(crate) configs: Configs,
    pub(crate) client_quotas: ClientQuotas,
    pub(crate) producer_ids: ProducerIds,
    pub(crate) acls: Acls,
    pub(crate) scram: Scram,
    pub(crate) delegation_tokens: DelegationTokens,
}

impl MetadataImage {
    /// Finalized features, `metadata.version` among them.
    pub fn features(&self) -> &Features {
        &self.features
    }

    /// Registered brokers and controllers.
    pub fn cluster(&self) -> &Cluster {
        &self.cluster
    }

    /// The registered brokers by id.
    pub fn brokers(&self) -> impl Iterator<Item = &BrokerRegistration> {
        self.cluster.brokers()
    }

    /// The broker of that id.
    pub fn broker(&self, id: NodeId) -> Option<&BrokerRegistration> {
        self.cluster.broker(id)
    }

    /// The registered controllers by id.
    pub fn controllers(&self) -> impl Iterator<Item = &ControllerRegistration> {
        self.cluster.controllers()
    }

    /// The controller of that id.
    pub fn controller(&self, id: NodeId) -> Option<&ControllerRegistration> {
        self.cluster.controller(id)
    }

    /// Topics and partitions.
    pub fn topics(&self) -> &Topics {
        &self.topics
    }

    /// Dynamic configuration.
    pub fn configs(&self) -> &Configs {
        &self.configs
    }

    /// Client quotas.
    pub fn client_quotas(&self) -> &ClientQuotas {
        &self.client_quotas
    }

    /// How far producer ids were given out.
    pub fn producer_ids(&self) -> ProducerIds {
        self.producer_ids
    }

    /// Access control entries.
    pub fn acls(&self) -> &Acls {
        &self.acls
    }

    /// SCRAM credentials.
    pub fn scram(&self) -> &Scram {
        &self.scram
    }

    /// Delegation tokens.
    pub fn delegation_tokens(&self) -> &DelegationTokens {
        &self.delegation_tokens
    }
}
