//! What changed between two images.

mod local;
mod section;

use quorate_types::NodeId;

pub use self::local::{LocalChanges, LocalDelete, LocalReplica};
pub use self::section::Section;
use crate::{
    Acl, AclId, BrokerRegistration, Change, ConfigChange, ControllerRegistration, DelegationToken,
    MetadataImage, MetadataVersion, Partition, PartitionId, QuotaChange, ScramCredential,
    ScramMechanism, Topic,
};

/// Two images, and what differs between them.
///
/// Nothing is recorded while records are applied: the images are compared when asked, and what they
/// share is skipped by comparing pointers. So the delta of a loaded snapshot, the one of a new
/// reader (`before` is empty) and the one of a reader that was away for a while are all made the same
/// way and right by construction; what came and went in between is not in it.
#[derive(Debug, Clone, Default)]
pub struct Delta {
    before: MetadataImage,
    after: MetadataImage,
}

impl Delta {
    /// The changes that lead from `before` to `after`.
    pub fn new(before: MetadataImage, after: MetadataImage) -> Delta {
        Delta { before, after }
    }

    /// The older image.
    pub fn before(&self) -> &MetadataImage {
        &self.before
    }

    /// The newer image.
    pub fn after(&self) -> &MetadataImage {
        &self.after
    }

    /// Whether anything in that section differs. Free for a section that no record touched.
    pub fn changed(&self, section: Section) -> bool {
        section.differs(&self.before, &self.after)
    }

    /// The sections that differ.
    pub fn sections(&self) -> impl Iterator<Item = Section> {
        Section::ALL
            .into_iter()
            .filter(|section| self.changed(*section))
    }

    /// Whether the images are equal.
    pub fn is_empty(&self) -> bool {
        self.sections().next().is_none()
    }

    /// Features whose level changed, `metadata.version` among them.
    pub fn features(&self) -> impl Iterator<Item = Change<&str, i16>> {
        self.before.features.changes(&self.after.features)
    }

    /// The `metadata.version` before and after, if it changed.
    pub fn metadata_version(&self) -> Option<(MetadataVersion, MetadataVersion)> {
        let before = self.before.features.metadata_version();
        let after = self.after.features.metadata_version();
        (before != after).then_some((before, after))
    }

    /// Broker registrations that came, changed or went.
    pub fn brokers(&self) -> impl Iterator<Item = Change<NodeId, &BrokerRegistration>> {
        self.before.cluster.broker_changes(&self.after.cluster)
    }

    /// Controller registrations that came, changed or went.
    pub fn controllers(&self) -> impl Iterator<Item = Change<NodeId, &ControllerRegistration>> {
        self.before.cluster.controller_changes(&self.after.cluster)
    }

    /// Topics that are new; one deleted and created again is, under its new id.
    pub fn topics_created(&self) -> impl Iterator<Item = Topic<'_>> {
        self.after.topics.missing_from(&self.before.topics)
    }

    /// Topics that are gone; one deleted and created again is, under its old id.
    pub fn topics_deleted(&self) -> impl Iterator<Item = Topic<'_>> {
        self.before.topics.missing_from(&self.after.topics)
    }

    /// Partitions that came, changed or went, those of created and deleted topics among them.
    pub fn partitions(&self) -> impl Iterator<Item = Change<PartitionId, Partition>> {
        self.before.topics.partition_changes(&self.after.topics)
    }

    /// What the broker's replicas have to do.
    pub fn local(&self, broker: NodeId) -> LocalChanges {
        LocalChanges::new(self, broker)
    }

    /// Resources whose configuration changed.
    pub fn configs(&self) -> impl Iterator<Item = ConfigChange<'_>> {
        self.before.configs.changes(&self.after.configs)
    }

    /// Entities whose quotas changed.
    pub fn client_quotas(&self) -> impl Iterator<Item = QuotaChange<'_>> {
        self.before.client_quotas.changes(&self.after.client_quotas)
    }

    /// Access control entries that came, changed or went.
    pub fn acls(&self) -> impl Iterator<Item = Change<AclId, &Acl>> {
        self.before.acls.changes(&self.after.acls)
    }

    /// SCRAM credentials that came, changed or went.
    pub fn scram(&self) -> impl Iterator<Item = Change<(ScramMechanism, &str), &ScramCredential>> {
        self.before.scram.changes(&self.after.scram)
    }

    /// Delegation tokens that came, changed or went.
    pub fn delegation_tokens(&self) -> impl Iterator<Item = Change<&str, &DelegationToken>> {
        self.before
            .delegation_tokens
            .changes(&self.after.delegation_tokens)
    }
}
