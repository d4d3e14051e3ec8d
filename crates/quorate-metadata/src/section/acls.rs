//! Access control entries.

use std::sync::Arc;

use im::OrdMap;
use quorate_protocol::records::{AccessControlEntryRecord, RemoveAccessControlEntryRecord};
use quorate_types::Uuid;

use super::from;
use crate::Reason;
use crate::change::{Change, diff};

macro_rules! code {
    ($(#[$doc:meta])* $name:ident { $($(#[$const_doc:meta])* $const:ident = $code:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub i8);

        impl $name {
            $($(#[$const_doc])* pub const $const: $name = $name($code);)*
        }
    };
}

code! {
    /// What an entry protects, by its number in Kafka.
    ResourceType {
        /// Matches every type in a filter.
        ANY = 1,
        /// A topic.
        TOPIC = 2,
        /// A consumer group.
        GROUP = 3,
        /// The cluster.
        CLUSTER = 4,
        /// A transactional id.
        TRANSACTIONAL_ID = 5,
        /// A delegation token.
        DELEGATION_TOKEN = 6,
        /// A user.
        USER = 7,
    }
}
code! {
    /// How the resource's name is matched, by its number in Kafka.
    PatternType {
        /// Matches every pattern type in a filter.
        ANY = 1,
        /// Matches what would apply to a name, in a filter.
        MATCH = 2,
        /// The name itself, or `*`.
        LITERAL = 3,
        /// Every name that starts so.
        PREFIXED = 4,
    }
}
code! {
    /// What is allowed or denied, by its number in Kafka.
    AclOperation {
        /// Matches every operation in a filter.
        ANY = 1,
        /// Every operation.
        ALL = 2,
        /// Read.
        READ = 3,
        /// Write.
        WRITE = 4,
        /// Create.
        CREATE = 5,
        /// Delete.
        DELETE = 6,
        /// Alter.
        ALTER = 7,
        /// Describe.
        DESCRIBE = 8,
        /// What brokers do to one another and to controllers.
        CLUSTER_ACTION = 9,
        /// Describe configuration.
        DESCRIBE_CONFIGS = 10,
        /// Alter configuration.
        ALTER_CONFIGS = 11,
        /// Produce idempotently.
        IDEMPOTENT_WRITE = 12,
        /// Create delegation tokens.
        CREATE_TOKENS = 13,
        /// Describe delegation tokens.
        DESCRIBE_TOKENS = 14,
        /// Use two-phase commit.
        TWO_PHASE_COMMIT = 15,
    }
}
code! {
    /// Allowed or denied, by its number in Kafka.
    AclPermission {
        /// Matches both in a filter.
        ANY = 1,
        /// Denied.
        DENY = 2,
        /// Allowed.
        ALLOW = 3,
    }
}

/// The id of an access control entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AclId(pub Uuid);

/// One access control entry.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Acl {
    /// What kind of resource.
    pub resource_type: ResourceType,
    /// Which resource.
    pub resource_name: Arc<str>,
    /// How its name is matched.
    pub pattern_type: PatternType,
    /// For whom, such as `User:alice`.
    pub principal: Arc<str>,
    /// From where; `*` for everywhere.
    pub host: Arc<str>,
    /// What.
    pub operation: AclOperation,
    /// Allowed or denied.
    pub permission: AclPermission,
}

/// All access control entries.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Acls {
    by_id: OrdMap<AclId, Arc<Acl>>,
}

impl Acls {
    /// The entry of that id.
    pub fn get(&self, id: AclId) -> Option<&Acl> {
        self.by_id.get(&id).map(|acl| &**acl)
    }

    /// All entries by id.
    pub fn iter(&self) -> impl Iterator<Item = (AclId, &Acl)> {
        self.by_id.iter().map(|(id, acl)| (*id, &**acl))
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.by_id.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.by_id.is_empty()
    }

    pub(crate) fn changes<'a>(
        &'a self,
        after: &'a Acls,
    ) -> impl Iterator<Item = Change<AclId, &'a Acl>> {
        diff(&self.by_id, &after.by_id).map(|change| change.map_key(|id| *id).map(|acl| &**acl))
    }

    /// Adds an entry or replaces it.
    pub(crate) fn add(&mut self, record: &AccessControlEntryRecord) {
        let acl = Acl {
            resource_type: ResourceType(record.resource_type),
            resource_name: record.resource_name.as_str().into(),
            pattern_type: PatternType(record.pattern_type),
            principal: record.principal.as_str().into(),
            host: record.host.as_str().into(),
            operation: AclOperation(record.operation),
            permission: AclPermission(record.permission_type),
        };
        self.by_id.insert(AclId(record.id), Arc::new(acl));
    }

    /// Removes an entry, which has to be there.
    pub(crate) fn remove(&mut self, record: &RemoveAccessControlEntryRecord) -> Result<(), Reason> {
        let removed = self.by_id.remove(&AclId(record.id));
        removed.map(drop).ok_or(Reason::UnknownAcl(record.id))
    }

    /// The entries after that one, as records.
    pub(crate) fn to_records(
        &self,
        after: Option<AclId>,
    ) -> impl Iterator<Item = (AclId, AccessControlEntryRecord)> {
        self.by_id.range(from(after)).map(|(id, acl)| {
            let record = AccessControlEntryRecord {
                id: id.0,
                resource_type: acl.resource_type.0,
                resource_name: acl.resource_name.to_string(),
                pattern_type: acl.pattern_type.0,
                principal: acl.principal.to_string(),
                host: acl.host.to_string(),
                operation: acl.operation.0,
                permission_type: acl.permission.0,
                ..Default::default()
            };
            (*id, record)
        })
    }
}
