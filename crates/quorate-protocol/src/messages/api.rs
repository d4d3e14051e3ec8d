//! All APIs by key: their names, versions and headers, and any of their messages as one type.

use quorate_types::VersionRange;

use super::*;
use crate::codec::{DecodeError, DecodeProblem, EncodeError, Message, Reader, Writer};

macro_rules! apis {
    ($($name:ident($request:ident, $response:ident) = $key:literal,)*) => {
        /// Which API a request is for.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum ApiKey {
            $(
                #[doc = concat!("Key ", $key, ": [`", stringify!($request), "`].")]
                $name,
            )*
            /// An API that is not known here.
            Other(i16),
        }

        impl ApiKey {
            /// The APIs known here, ascending by key.
            pub const ALL: &[ApiKey] = &[$(ApiKey::$name,)*];

            /// The API of that key.
            pub const fn from_code(key: i16) -> ApiKey {
                match key {
                    $($key => ApiKey::$name,)*
                    other => ApiKey::Other(other),
                }
            }

            /// The key on the wire.
            pub const fn code(self) -> i16 {
                match self {
                    $(ApiKey::$name => $key,)*
                    ApiKey::Other(key) => key,
                }
            }

            /// Kafka's name of the API, `UNKNOWN` for those not known here.
            pub const fn name(self) -> &'static str {
                match self {
                    $(ApiKey::$name => stringify!($name),)*
                    ApiKey::Other(_) => "UNKNOWN",
                }
            }

            /// The versions known here; a listener may serve fewer.
            pub const fn versions(self) -> Option<VersionRange> {
                match self {
                    $(ApiKey::$name => Some($request::VERSIONS),)*
                    ApiKey::Other(_) => None,
                }
            }

            /// Whether that version is flexible (KIP-482), also for versions not known here.
            pub fn flexible(self, version: i16) -> bool {
                match self {
                    $(ApiKey::$name => $request::flexible(version),)*
                    ApiKey::Other(_) => false,
                }
            }
        }

        /// A request of any API.
        #[derive(Debug, Clone, PartialEq)]
        #[non_exhaustive]
        pub enum Request {
            $(
                #[doc = concat!("Of ", stringify!($name), ".")]
                $name($request),
            )*
        }

        /// A response of any API.
        #[derive(Debug, Clone, PartialEq)]
        #[non_exhaustive]
        pub enum Response {
            $(
                #[doc = concat!("Of ", stringify!($name), ".")]
                $name($response),
            )*
        }

        any_message!(Request, "request", $($name($request),)*);
        any_message!(Response, "response", $($name($response),)*);

        #[cfg(test)]
        mod key_tests {
            use super::*;

            #[test]
            fn both_messages_of_an_api_agree_with_its_key() {
                $(
                    assert_eq!($request::KEY, Some($key), stringify!($request));
                    assert_eq!($response::KEY, Some($key), stringify!($response));
                    assert_eq!($request::VERSIONS, $response::VERSIONS);
                    assert_eq!($request::FLEXIBLE_FROM, $response::FLEXIBLE_FROM);
                    assert_eq!(ApiKey::from_code($key).code(), $key);
                )*
            }
        }
    };
}

macro_rules! any_message {
    ($any:ident, $word:literal, $($name:ident($message:ident),)*) => {
        impl $any {
            #[doc = concat!("Which API the ", $word, " is of.")]
            pub const fn key(&self) -> ApiKey {
                match self {
                    $($any::$name(_) => ApiKey::$name,)*
                }
            }

            #[doc = concat!("Reads a ", $word, " without its header.")]
            pub fn decode(
                key: impl Into<ApiKey>,
                version: i16,
                reader: &mut Reader<'_>,
            ) -> Result<$any, DecodeError> {
                match key.into() {
                    $(ApiKey::$name => $message::decode(version, reader).map($any::$name),)*
                    ApiKey::Other(key) => {
                        Err(reader.error(DecodeProblem::UnknownApiKey { key }))
                    }
                }
            }

            #[doc = concat!("Writes the ", $word, " without a header.")]
            pub fn encode(&self, version: i16, writer: &mut Writer) -> Result<(), EncodeError> {
                match self {
                    $($any::$name(message) => message.encode(version, writer),)*
                }
            }

            /// How many bytes [`encode`](Self::encode) writes.
            pub fn size(&self, version: i16) -> Result<usize, EncodeError> {
                match self {
                    $($any::$name(message) => message.size(version),)*
                }
            }
        }

        $(
            impl From<$message> for $any {
                fn from(message: $message) -> $any {
                    $any::$name(message)
                }
            }
        )*
    };
}

apis! {
    Produce(ProduceRequest, ProduceResponse) = 0,
    Fetch(FetchRequest, FetchResponse) = 1,
    ListOffsets(ListOffsetsRequest, ListOffsetsResponse) = 2,
    Metadata(MetadataRequest, MetadataResponse) = 3,
    FindCoordinator(FindCoordinatorRequest, FindCoordinatorResponse) = 10,
    SaslHandshake(SaslHandshakeRequest, SaslHandshakeResponse) = 17,
    ApiVersions(ApiVersionsRequest, ApiVersionsResponse) = 18,
    CreateTopics(CreateTopicsRequest, CreateTopicsResponse) = 19,
    DeleteTopics(DeleteTopicsRequest, DeleteTopicsResponse) = 20,
    OffsetForLeaderEpoch(OffsetForLeaderEpochRequest, OffsetForLeaderEpochResponse) = 23,
    DescribeAcls(DescribeAclsRequest, DescribeAclsResponse) = 29,
    CreateAcls(CreateAclsRequest, CreateAclsResponse) = 30,
    DeleteAcls(DeleteAclsRequest, DeleteAclsResponse) = 31,
    DescribeConfigs(DescribeConfigsRequest, DescribeConfigsResponse) = 32,
    AlterConfigs(AlterConfigsRequest, AlterConfigsResponse) = 33,
    DescribeLogDirs(DescribeLogDirsRequest, DescribeLogDirsResponse) = 35,
    SaslAuthenticate(SaslAuthenticateRequest, SaslAuthenticateResponse) = 36,
    CreatePartitions(CreatePartitionsRequest, CreatePartitionsResponse) = 37,
    CreateDelegationToken(CreateDelegationTokenRequest, CreateDelegationTokenResponse) = 38,
    RenewDelegationToken(RenewDelegationTokenRequest, RenewDelegationTokenResponse) = 39,
    ExpireDelegationToken(ExpireDelegationTokenRequest, ExpireDelegationTokenResponse) = 40,
    DescribeDelegationToken(DescribeDelegationTokenRequest, DescribeDelegationTokenResponse) = 41,
    ElectLeaders(ElectLeadersRequest, ElectLeadersResponse) = 43,
    IncrementalAlterConfigs(IncrementalAlterConfigsRequest, IncrementalAlterConfigsResponse) = 44,
    AlterPartitionReassignments(AlterPartitionReassignmentsRequest, AlterPartitionReassignmentsResponse) = 45,
    ListPartitionReassignments(ListPartitionReassignmentsRequest, ListPartitionReassignmentsResponse) = 46,
    DescribeClientQuotas(DescribeClientQuotasRequest, DescribeClientQuotasResponse) = 48,
    AlterClientQuotas(AlterClientQuotasRequest, AlterClientQuotasResponse) = 49,
    DescribeUserScramCredentials(DescribeUserScramCredentialsRequest, DescribeUserScramCredentialsResponse) = 50,
    AlterUserScramCredentials(AlterUserScramCredentialsRequest, AlterUserScramCredentialsResponse) = 51,
    Vote(VoteRequest, VoteResponse) = 52,
    BeginQuorumEpoch(BeginQuorumEpochRequest, BeginQuorumEpochResponse) = 53,
    EndQuorumEpoch(EndQuorumEpochRequest, EndQuorumEpochResponse) = 54,
    DescribeQuorum(DescribeQuorumRequest, DescribeQuorumResponse) = 55,
    AlterPartition(AlterPartitionRequest, AlterPartitionResponse) = 56,
    UpdateFeatures(UpdateFeaturesRequest, UpdateFeaturesResponse) = 57,
    Envelope(EnvelopeRequest, EnvelopeResponse) = 58,
    FetchSnapshot(FetchSnapshotRequest, FetchSnapshotResponse) = 59,
    DescribeCluster(DescribeClusterRequest, DescribeClusterResponse) = 60,
    BrokerRegistration(BrokerRegistrationRequest, BrokerRegistrationResponse) = 62,
    BrokerHeartbeat(BrokerHeartbeatRequest, BrokerHeartbeatResponse) = 63,
    UnregisterBroker(UnregisterBrokerRequest, UnregisterBrokerResponse) = 64,
    AllocateProducerIds(AllocateProducerIdsRequest, AllocateProducerIdsResponse) = 67,
    ControllerRegistration(ControllerRegistrationRequest, ControllerRegistrationResponse) = 70,
    AssignReplicasToDirs(AssignReplicasToDirsRequest, AssignReplicasToDirsResponse) = 73,
    ListConfigResources(ListConfigResourcesRequest, ListConfigResourcesResponse) = 74,
    DescribeTopicPartitions(DescribeTopicPartitionsRequest, DescribeTopicPartitionsResponse) = 75,
    AddRaftVoter(AddRaftVoterRequest, AddRaftVoterResponse) = 80,
    RemoveRaftVoter(RemoveRaftVoterRequest, RemoveRaftVoterResponse) = 81,
    UpdateRaftVoter(UpdateRaftVoterRequest, UpdateRaftVoterResponse) = 82,
}

impl ApiKey {
    /// The version of the request's header: 2 for flexible versions, else 1.
    pub fn request_header_version(self, version: i16) -> i16 {
        if self.flexible(version) { 2 } else { 1 }
    }

    /// The version of the response's header: 1 for flexible versions, else 0. ApiVersions stays at 0,
    /// since its response must be readable by peers of any age (KIP-511).
    pub fn response_header_version(self, version: i16) -> i16 {
        match self {
            ApiKey::ApiVersions => 0,
            _ => i16::from(self.flexible(version)),
        }
    }
}

impl From<i16> for ApiKey {
    fn from(key: i16) -> ApiKey {
        ApiKey::from_code(key)
    }
}

impl From<ApiKey> for i16 {
    fn from(key: ApiKey) -> i16 {
        key.code()
    }
}

impl std::fmt::Display for ApiKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ApiKey::Other(key) => write!(f, "API {key}"),
            known => f.write_str(known.name()),
        }
    }
}
