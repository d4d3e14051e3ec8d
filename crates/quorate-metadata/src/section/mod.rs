//! The parts of an image besides the topics, one file each: what it holds, how records change it,
//! and which records would write it again.

mod acls;
mod cluster;
mod configs;
mod features;
mod producer_ids;
mod quotas;
mod scram;
mod tokens;

use std::ops::Bound;

pub use acls::{Acl, AclId, AclOperation, AclPermission, Acls, PatternType, ResourceType};
pub use cluster::{
    BrokerRegistration, Cluster, ControllerRegistration, Listener, SecurityProtocol,
};
pub use configs::{ConfigChange, ConfigKind, ConfigResource, Configs};
pub use features::Features;
pub use producer_ids::ProducerIds;
pub use quotas::{ClientQuotas, QuotaChange, QuotaEntity, QuotaValue};
pub use scram::{Scram, ScramCredential, ScramMechanism};
pub use tokens::{DelegationToken, DelegationTokens};

pub(crate) use scram::ScramKey;

/// Everything after that key; everything at all for `None`.
fn from<K>(after: Option<K>) -> (Bound<K>, Bound<K>) {
    (
        after.map_or(Bound::Unbounded, Bound::Excluded),
        Bound::Unbounded,
    )
}
