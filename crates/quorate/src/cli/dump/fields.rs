//! The fields of metadata and control records under the names that Kafka's JSON has for them.

use quorate::protocol::control::{
    KRaftVersionFeature, KRaftVersionRecord, LeaderChangeMessage, LeaderChangeVoter,
    SnapshotFooterRecord, SnapshotHeaderRecord, VoterData, VoterEndpoint, VotersRecord,
};
use quorate::protocol::records::*;

use super::json::{Json, Object};

/// Lists the fields of a struct: all are written, those `since` a version from that version on, and
/// `tagged` ones only where they differ from their default.
macro_rules! fields {
    ($type:ty { $($field:ident $name:literal $($kind:ident $since:literal)?,)* }) => {
        impl Json for $type {
            #[allow(unused_mut, unused_variables)]
            fn write(&self, version: i16, out: &mut String) {
                let mut object = Object::open(out);
                $(fields!(@one self, version, object, $field, $name $(, $kind $since)?);)*
                object.close();
            }
        }
    };
    (@one $me:expr, $version:ident, $object:ident, $field:ident, $name:literal) => {
        $object.field($name, &$me.$field, $version);
    };
    (@one $me:expr, $version:ident, $object:ident, $field:ident, $name:literal, since $since:literal) => {
        if $version >= $since {
            $object.field($name, &$me.$field, $version);
        }
    };
    (@one $me:expr, $version:ident, $object:ident, $field:ident, $name:literal, tagged $since:literal) => {
        if $version >= $since && $me.$field != <Self as Default>::default().$field {
            $object.field($name, &$me.$field, $version);
        }
    };
}

fields!(RegisterBrokerRecord {
    broker_id "brokerId",
    is_migrating_zk_broker "isMigratingZkBroker" since 2,
    incarnation_id "incarnationId",
    broker_epoch "brokerEpoch",
    end_points "endPoints",
    features "features",
    rack "rack",
    fenced "fenced",
    in_controlled_shutdown "inControlledShutdown" since 1,
    log_dirs "logDirs" tagged 3,
});

fields!(BrokerEndpoint {
    name "name",
    host "host",
    port "port",
    security_protocol "securityProtocol",
});

fields!(BrokerFeature {
    name "name",
    min_supported_version "minSupportedVersion",
    max_supported_version "maxSupportedVersion",
});

fields!(UnregisterBrokerRecord {
    broker_id "brokerId",
    broker_epoch "brokerEpoch",
});

fields!(BrokerRegistrationChangeRecord {
    broker_id "brokerId",
    broker_epoch "brokerEpoch",
    fenced "fenced" tagged 0,
    in_controlled_shutdown "inControlledShutdown" tagged 1,
    log_dirs "logDirs" tagged 2,
});

fields!(FenceBrokerRecord {
    id "id",
    epoch "epoch",
});

fields!(UnfenceBrokerRecord {
    id "id",
    epoch "epoch",
});

fields!(RegisterControllerRecord {
    controller_id "controllerId",
    incarnation_id "incarnationId",
    zk_migration_ready "zkMigrationReady",
    end_points "endPoints",
    features "features",
});

fields!(ControllerEndpoint {
    name "name",
    host "host",
    port "port",
    security_protocol "securityProtocol",
});

fields!(ControllerFeature {
    name "name",
    min_supported_version "minSupportedVersion",
    max_supported_version "maxSupportedVersion",
});

fields!(TopicRecord {
    name "name",
    topic_id "topicId",
});

fields!(PartitionRecord {
    partition_id "partitionId",
    topic_id "topicId",
    replicas "replicas",
    isr "isr",
    removing_replicas "removingReplicas",
    adding_replicas "addingReplicas",
    leader "leader",
    leader_recovery_state "leaderRecoveryState" tagged 0,
    leader_epoch "leaderEpoch",
    partition_epoch "partitionEpoch",
    directories "directories" since 1,
    eligible_leader_replicas "eligibleLeaderReplicas" tagged 2,
    last_known_elr "lastKnownElr" tagged 2,
});

fields!(PartitionChangeRecord {
    partition_id "partitionId",
    topic_id "topicId",
    isr "isr" tagged 0,
    leader "leader" tagged 0,
    replicas "replicas" tagged 0,
    removing_replicas "removingReplicas" tagged 0,
    adding_replicas "addingReplicas" tagged 0,
    leader_recovery_state "leaderRecoveryState" tagged 0,
    directories "directories" tagged 1,
    eligible_leader_replicas "eligibleLeaderReplicas" tagged 2,
    last_known_elr "lastKnownElr" tagged 2,
});

fields!(RemoveTopicRecord {
    topic_id "topicId",
});

fields!(ClearElrRecord {
    topic_name "topicName",
});

fields!(ConfigRecord {
    resource_type "resourceType",
    resource_name "resourceName",
    name "name",
    value "value",
});

fields!(ClientQuotaRecord {
    entity "entity",
    key "key",
    value "value",
    remove "remove",
});

fields!(EntityData {
    entity_type "entityType",
    entity_name "entityName",
});

fields!(FeatureLevelRecord {
    name "name",
    feature_level "featureLevel",
});

fields!(ProducerIdsRecord {
    broker_id "brokerId",
    broker_epoch "brokerEpoch",
    next_producer_id "nextProducerId",
});

fields!(ZkMigrationStateRecord {
    zk_migration_state "zkMigrationState",
});

fields!(AccessControlEntryRecord {
    id "id",
    resource_type "resourceType",
    resource_name "resourceName",
    pattern_type "patternType",
    principal "principal",
    host "host",
    operation "operation",
    permission_type "permissionType",
});

fields!(RemoveAccessControlEntryRecord {
    id "id",
});

fields!(UserScramCredentialRecord {
    name "name",
    mechanism "mechanism",
    salt "salt",
    stored_key "storedKey",
    server_key "serverKey",
    iterations "iterations",
});

fields!(RemoveUserScramCredentialRecord {
    name "name",
    mechanism "mechanism",
});

fields!(DelegationTokenRecord {
    owner "owner",
    requester "requester",
    renewers "renewers",
    issue_timestamp "issueTimestamp",
    max_timestamp "maxTimestamp",
    expiration_timestamp "expirationTimestamp",
    token_id "tokenId",
});

fields!(RemoveDelegationTokenRecord {
    token_id "tokenId",
});

fields!(BeginTransactionRecord {
    name "name" tagged 0,
});

fields!(EndTransactionRecord {});

fields!(AbortTransactionRecord {
    reason "reason" tagged 0,
});

fields!(NoOpRecord {});

fields!(LeaderChangeMessage {
    version "version",
    leader_id "leaderId",
    voters "voters",
    granting_voters "grantingVoters",
});

fields!(LeaderChangeVoter {
    voter_id "voterId",
    voter_directory_id "voterDirectoryId" since 1,
});

fields!(SnapshotHeaderRecord {
    version "version",
    last_contained_log_timestamp "lastContainedLogTimestamp",
});

fields!(SnapshotFooterRecord {
    version "version",
});

fields!(KRaftVersionRecord {
    version "version",
    kraft_version "kRaftVersion",
});

fields!(VotersRecord {
    version "version",
    voters "voters",
});

fields!(VoterData {
    voter_id "voterId",
    voter_directory_id "voterDirectoryId",
    endpoints "endpoints",
    kraft_version_feature "kRaftVersionFeature",
});

fields!(VoterEndpoint {
    name "name",
    host "host",
    port "port",
});

fields!(KRaftVersionFeature {
    min_supported_version "minSupportedVersion",
    max_supported_version "maxSupportedVersion",
});

impl Json for MetadataRecord {
    fn write(&self, version: i16, out: &mut String) {
        match self {
            MetadataRecord::RegisterBroker(body) => body.write(version, out),
            MetadataRecord::UnregisterBroker(body) => body.write(version, out),
            MetadataRecord::Topic(body) => body.write(version, out),
            MetadataRecord::Partition(body) => body.write(version, out),
            MetadataRecord::Config(body) => body.write(version, out),
            MetadataRecord::PartitionChange(body) => body.write(version, out),
            MetadataRecord::FenceBroker(body) => body.write(version, out),
            MetadataRecord::UnfenceBroker(body) => body.write(version, out),
            MetadataRecord::RemoveTopic(body) => body.write(version, out),
            MetadataRecord::DelegationToken(body) => body.write(version, out),
            MetadataRecord::UserScramCredential(body) => body.write(version, out),
            MetadataRecord::FeatureLevel(body) => body.write(version, out),
            MetadataRecord::ClientQuota(body) => body.write(version, out),
            MetadataRecord::ProducerIds(body) => body.write(version, out),
            MetadataRecord::BrokerRegistrationChange(body) => body.write(version, out),
            MetadataRecord::AccessControlEntry(body) => body.write(version, out),
            MetadataRecord::RemoveAccessControlEntry(body) => body.write(version, out),
            MetadataRecord::NoOp(body) => body.write(version, out),
            MetadataRecord::ZkMigrationState(body) => body.write(version, out),
            MetadataRecord::RemoveUserScramCredential(body) => body.write(version, out),
            MetadataRecord::BeginTransaction(body) => body.write(version, out),
            MetadataRecord::EndTransaction(body) => body.write(version, out),
            MetadataRecord::AbortTransaction(body) => body.write(version, out),
            MetadataRecord::RemoveDelegationToken(body) => body.write(version, out),
            MetadataRecord::RegisterController(body) => body.write(version, out),
            MetadataRecord::ClearElr(body) => body.write(version, out),
        }
    }
}
