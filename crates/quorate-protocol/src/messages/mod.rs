//! The RPCs: requests and responses of the control plane and of a broker's front door.
//!
//! One module an API, with the structs of its two messages; the messages themselves, the headers in
//! front of them, and what finds the right one by its key are re-exported here.
//!
//! A nullable string or byte string is null by default, a nullable array as Kafka has it (mostly
//! empty). Where a request and a response have structs of the same name and different fields, the
//! names start with `Request` and `Response`.
//!
//! ```
//! use quorate_protocol::messages::{
//!     ApiKey, DescribeClusterRequest, Request, RequestHeader, decode_request, encode_request,
//! };
//!
//! let body = DescribeClusterRequest { endpoint_type: 2, ..Default::default() };
//! let header = RequestHeader {
//!     api_key: ApiKey::DescribeCluster.code(),
//!     api_version: 1,
//!     correlation_id: 7,
//!     client_id: Some("example".into()),
//!     ..Default::default()
//! };
//! let frame = encode_request(&header, &body)?;
//! let (read, request) = decode_request(&frame)?;
//! assert_eq!((read, request), (header, Request::DescribeCluster(body)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod add_raft_voter;
pub mod allocate_producer_ids;
pub mod alter_client_quotas;
pub mod alter_configs;
pub mod alter_partition;
pub mod alter_partition_reassignments;
pub mod alter_user_scram_credentials;
mod api;
pub mod api_versions;
pub mod assign_replicas_to_dirs;
pub mod begin_quorum_epoch;
pub mod broker_heartbeat;
pub mod broker_registration;
pub mod controller_registration;
pub mod create_acls;
pub mod create_delegation_token;
pub mod create_partitions;
pub mod create_topics;
pub mod delete_acls;
pub mod delete_topics;
pub mod describe_acls;
pub mod describe_client_quotas;
pub mod describe_cluster;
pub mod describe_configs;
pub mod describe_delegation_token;
pub mod describe_log_dirs;
pub mod describe_quorum;
pub mod describe_topic_partitions;
pub mod describe_user_scram_credentials;
pub mod elect_leaders;
pub mod end_quorum_epoch;
pub mod envelope;
pub mod expire_delegation_token;
pub mod fetch;
pub mod fetch_snapshot;
pub mod find_coordinator;
mod frame;
mod header;
pub mod incremental_alter_configs;
pub mod list_config_resources;
pub mod list_offsets;
pub mod list_partition_reassignments;
pub mod metadata;
pub mod offset_for_leader_epoch;
pub mod produce;
pub mod remove_raft_voter;
pub mod renew_delegation_token;
pub mod sasl_authenticate;
pub mod sasl_handshake;
pub mod unregister_broker;
pub mod update_features;
pub mod update_raft_voter;
pub mod vote;

pub use add_raft_voter::{AddRaftVoterRequest, AddRaftVoterResponse};
pub use allocate_producer_ids::{AllocateProducerIdsRequest, AllocateProducerIdsResponse};
pub use alter_client_quotas::{AlterClientQuotasRequest, AlterClientQuotasResponse};
pub use alter_configs::{AlterConfigsRequest, AlterConfigsResponse};
pub use alter_partition::{AlterPartitionRequest, AlterPartitionResponse};
pub use alter_partition_reassignments::{
    AlterPartitionReassignmentsRequest, AlterPartitionReassignmentsResponse,
};
pub use alter_user_scram_credentials::{
    AlterUserScramCredentialsRequest, AlterUserScramCredentialsResponse,
};
pub use api::{ApiKey, Request, Response};
pub use api_versions::{ApiVersionsRequest, ApiVersionsResponse};
pub use assign_replicas_to_dirs::{AssignReplicasToDirsRequest, AssignReplicasToDirsResponse};
pub use begin_quorum_epoch::{BeginQuorumEpochRequest, BeginQuorumEpochResponse};
pub use broker_heartbeat::{BrokerHeartbeatRequest, BrokerHeartbeatResponse};
pub use broker_registration::{BrokerRegistrationRequest, BrokerRegistrationResponse};
pub use controller_registration::{ControllerRegistrationRequest, ControllerRegistrationResponse};
pub use create_acls::{CreateAclsRequest, CreateAclsResponse};
pub use create_delegation_token::{CreateDelegationTokenRequest, CreateDelegationTokenResponse};
pub use create_partitions::{CreatePartitionsRequest, CreatePartitionsResponse};
pub use create_topics::{CreateTopicsRequest, CreateTopicsResponse};
pub use delete_acls::{DeleteAclsRequest, DeleteAclsResponse};
pub use delete_topics::{DeleteTopicsRequest, DeleteTopicsResponse};
pub use describe_acls::{DescribeAclsRequest, DescribeAclsResponse};
pub use describe_client_quotas::{DescribeClientQuotasRequest, DescribeClientQuotasResponse};
pub use describe_cluster::{DescribeClusterRequest, DescribeClusterResponse};
pub use describe_configs::{DescribeConfigsRequest, DescribeConfigsResponse};
pub use describe_delegation_token::{
    DescribeDelegationTokenRequest, DescribeDelegationTokenResponse,
};
pub use describe_log_dirs::{DescribeLogDirsRequest, DescribeLogDirsResponse};
pub use describe_quorum::{DescribeQuorumRequest, DescribeQuorumResponse};
pub use describe_topic_partitions::{
    DescribeTopicPartitionsRequest, DescribeTopicPartitionsResponse,
};
pub use describe_user_scram_credentials::{
    DescribeUserScramCredentialsRequest, DescribeUserScramCredentialsResponse,
};
pub use elect_leaders::{ElectLeadersRequest, ElectLeadersResponse};
pub use end_quorum_epoch::{EndQuorumEpochRequest, EndQuorumEpochResponse};
pub use envelope::{EnvelopeRequest, EnvelopeResponse};
pub use expire_delegation_token::{ExpireDelegationTokenRequest, ExpireDelegationTokenResponse};
pub use fetch::{FetchRequest, FetchResponse};
pub use fetch_snapshot::{FetchSnapshotRequest, FetchSnapshotResponse};
pub use find_coordinator::{FindCoordinatorRequest, FindCoordinatorResponse};
pub use frame::{decode_request, decode_response, encode_request, encode_response};
pub use header::{RequestHeader, ResponseHeader};
pub use incremental_alter_configs::{
    IncrementalAlterConfigsRequest, IncrementalAlterConfigsResponse,
};
pub use list_config_resources::{ListConfigResourcesRequest, ListConfigResourcesResponse};
pub use list_offsets::{ListOffsetsRequest, ListOffsetsResponse};
pub use list_partition_reassignments::{
    ListPartitionReassignmentsRequest, ListPartitionReassignmentsResponse,
};
pub use metadata::{MetadataRequest, MetadataResponse};
pub use offset_for_leader_epoch::{OffsetForLeaderEpochRequest, OffsetForLeaderEpochResponse};
pub use produce::{ProduceRequest, ProduceResponse};
pub use remove_raft_voter::{RemoveRaftVoterRequest, RemoveRaftVoterResponse};
pub use renew_delegation_token::{RenewDelegationTokenRequest, RenewDelegationTokenResponse};
pub use sasl_authenticate::{SaslAuthenticateRequest, SaslAuthenticateResponse};
pub use sasl_handshake::{SaslHandshakeRequest, SaslHandshakeResponse};
pub use unregister_broker::{UnregisterBrokerRequest, UnregisterBrokerResponse};
pub use update_features::{UpdateFeaturesRequest, UpdateFeaturesResponse};
pub use update_raft_voter::{UpdateRaftVoterRequest, UpdateRaftVoterResponse};
pub use vote::{VoteRequest, VoteResponse};
