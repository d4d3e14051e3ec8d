//! What a controller is asked and what it answers: the bodies of Kafka's messages, with what the
//! server knows of the request around them.

use std::time::Duration;

use quorate_engine::{Lane, Refused};
use quorate_protocol::messages::*;
use quorate_types::{ErrorCode, MonoTime};

use crate::config::ControllerConfig;
use crate::error::ApiError;
use crate::topics;

/// A request, decoded, with its circumstances.
#[derive(Debug, Clone, PartialEq)]
pub struct Command {
    /// Who asked, how, and when.
    pub context: RequestContext,
    /// What was asked.
    pub operation: Operation,
}

/// What the server knows of a request besides its body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestContext {
    /// Who asked, such as `User:ANONYMOUS`.
    pub principal: String,
    /// The client id in the request's header.
    pub client_id: Option<String>,
    /// The version of the API that the request speaks.
    pub api_version: i16,
    /// The name of the listener that it came in on.
    pub listener: String,
    /// When it came in; a heartbeat counts from then, not from when its turn comes.
    pub arrived: MonoTime,
}

impl RequestContext {
    /// The context of a request of that version that came in at `arrived` from nobody in particular.
    pub fn anonymous(api_version: i16, arrived: MonoTime) -> RequestContext {
        RequestContext {
            principal: "User:ANONYMOUS".to_string(),
            client_id: None,
            api_version,
            listener: "CONTROLLER".to_string(),
            arrived,
        }
    }
}

macro_rules! operations {
    ($($name:ident($request:ident, $response:ident),)*) => {
        /// The operations that a controller decides, as requests.
        #[derive(Debug, Clone, PartialEq)]
        #[non_exhaustive]
        pub enum Operation {
            $(
                #[doc = concat!("[`", stringify!($request), "`]")]
                $name($request),
            )*
        }

        /// What a controller answers.
        #[derive(Debug, Clone, PartialEq)]
        #[non_exhaustive]
        pub enum Reply {
            $(
                #[doc = concat!("[`", stringify!($response), "`]")]
                $name($response),
            )*
        }

        impl Operation {
            /// The operation that a request stands for, or the request back if a controller does not
            /// decide it.
            #[allow(clippy::result_large_err)]
            pub fn of(request: Request) -> Result<Operation, Request> {
                match request {
                    $(Request::$name(request) => Ok(Operation::$name(request)),)*
                    other => Err(other),
                }
            }

            /// The key of its API.
            pub fn api_key(&self) -> ApiKey {
                match self {
                    $(Operation::$name(_) => ApiKey::$name,)*
                }
            }
        }

        impl From<Reply> for Response {
            fn from(reply: Reply) -> Response {
                match reply {
                    $(Reply::$name(response) => Response::$name(response),)*
                }
            }
        }

        $(
            impl From<$request> for Operation {
                fn from(request: $request) -> Operation {
                    Operation::$name(request)
                }
            }

            impl From<$response> for Reply {
                fn from(response: $response) -> Reply {
                    Reply::$name(response)
                }
            }

            impl TryFrom<Reply> for $response {
                type Error = Reply;

                fn try_from(reply: Reply) -> Result<$response, Reply> {
                    match reply {
                        Reply::$name(response) => Ok(response),
                        other => Err(other),
                    }
                }
            }
        )*
    };
}

operations! {
    BrokerHeartbeat(BrokerHeartbeatRequest, BrokerHeartbeatResponse),
    BrokerRegistration(BrokerRegistrationRequest, BrokerRegistrationResponse),
    ControllerRegistration(ControllerRegistrationRequest, ControllerRegistrationResponse),
    UnregisterBroker(UnregisterBrokerRequest, UnregisterBrokerResponse),
    AlterPartition(AlterPartitionRequest, AlterPartitionResponse),
    AssignReplicasToDirs(AssignReplicasToDirsRequest, AssignReplicasToDirsResponse),
    AllocateProducerIds(AllocateProducerIdsRequest, AllocateProducerIdsResponse),
    CreateTopics(CreateTopicsRequest, CreateTopicsResponse),
    DeleteTopics(DeleteTopicsRequest, DeleteTopicsResponse),
    CreatePartitions(CreatePartitionsRequest, CreatePartitionsResponse),
    ElectLeaders(ElectLeadersRequest, ElectLeadersResponse),
    AlterPartitionReassignments(
        AlterPartitionReassignmentsRequest,
        AlterPartitionReassignmentsResponse
    ),
    ListPartitionReassignments(
        ListPartitionReassignmentsRequest,
        ListPartitionReassignmentsResponse
    ),
    AlterConfigs(AlterConfigsRequest, AlterConfigsResponse),
    IncrementalAlterConfigs(IncrementalAlterConfigsRequest, IncrementalAlterConfigsResponse),
    UpdateFeatures(UpdateFeaturesRequest, UpdateFeaturesResponse),
    AlterClientQuotas(AlterClientQuotasRequest, AlterClientQuotasResponse),
    AlterUserScramCredentials(AlterUserScramCredentialsRequest, AlterUserScramCredentialsResponse),
    DescribeAcls(DescribeAclsRequest, DescribeAclsResponse),
    CreateAcls(CreateAclsRequest, CreateAclsResponse),
    DeleteAcls(DeleteAclsRequest, DeleteAclsResponse),
    CreateDelegationToken(CreateDelegationTokenRequest, CreateDelegationTokenResponse),
    RenewDelegationToken(RenewDelegationTokenRequest, RenewDelegationTokenResponse),
    ExpireDelegationToken(ExpireDelegationTokenRequest, ExpireDelegationTokenResponse),
}

impl Command {
    /// How urgent it is.
    pub fn lane(&self) -> Lane {
        match &self.operation {
            Operation::BrokerHeartbeat(_) => Lane::Heartbeat,
            Operation::BrokerRegistration(_)
            | Operation::ControllerRegistration(_)
            | Operation::AlterPartition(_)
            | Operation::AssignReplicasToDirs(_)
            | Operation::AllocateProducerIds(_) => Lane::Cluster,
            _ => Lane::Admin,
        }
    }

    /// Until when it may wait in the queue: its own timeout where it has one, half the interval of
    /// heartbeats for them, for ever otherwise. Once decided, nothing limits the wait for its commit.
    pub fn expires(&self, config: &ControllerConfig) -> Option<MonoTime> {
        let timeout_ms = match &self.operation {
            Operation::BrokerHeartbeat(_) => {
                return Some(self.context.arrived + config.broker_heartbeat_interval / 2);
            }
            Operation::CreateTopics(request) => request.timeout_ms,
            Operation::DeleteTopics(request) => request.timeout_ms,
            Operation::CreatePartitions(request) => request.timeout_ms,
            Operation::ElectLeaders(request) => request.timeout_ms,
            Operation::AlterPartitionReassignments(request) => request.timeout_ms,
            _ => return None,
        };
        let timeout = Duration::from_millis(u64::try_from(timeout_ms).unwrap_or(0));
        Some(self.context.arrived + timeout)
    }
}

/// The error that tells a client why the engine did not decide its request.
pub fn refusal(refused: Refused) -> ApiError {
    match refused {
        Refused::NotActive | Refused::OutcomeUnknown => ErrorCode::NotController.into(),
        Refused::Expired | Refused::Busy => ErrorCode::RequestTimedOut.into(),
        Refused::TooLarge => {
            let message = "the request needs more records than one batch may have";
            ApiError::new(ErrorCode::PolicyViolation, message)
        }
        _ => ErrorCode::UnknownServerError.into(),
    }
}

impl Operation {
    /// The answer when the request fails as a whole.
    pub fn refused(&self, error: &ApiError) -> Reply {
        let (error_code, error_message) = (error.code, error.message.clone());
        match self {
            Operation::BrokerHeartbeat(_) => BrokerHeartbeatResponse {
                error_code,
                ..Default::default()
            }
            .into(),
            Operation::BrokerRegistration(_) => BrokerRegistrationResponse {
                error_code,
                ..Default::default()
            }
            .into(),
            Operation::ControllerRegistration(_) => ControllerRegistrationResponse {
                error_code,
                error_message,
                ..Default::default()
            }
            .into(),
            Operation::UnregisterBroker(_) => UnregisterBrokerResponse {
                error_code,
                error_message,
                ..Default::default()
            }
            .into(),
            Operation::AlterPartition(_) => AlterPartitionResponse {
                error_code,
                ..Default::default()
            }
            .into(),
            Operation::AssignReplicasToDirs(_) => AssignReplicasToDirsResponse {
                error_code,
                ..Default::default()
            }
            .into(),
            Operation::AllocateProducerIds(_) => AllocateProducerIdsResponse {
                error_code,
                ..Default::default()
            }
            .into(),
            Operation::CreateTopics(request) => topics::create_refused(request, error).into(),
            Operation::DeleteTopics(request) => topics::delete_refused(request, error).into(),
            Operation::CreatePartitions(request) => topics::grow_refused(request, error).into(),
            Operation::UpdateFeatures(_) => UpdateFeaturesResponse {
                error_code,
                error_message,
                ..Default::default()
            }
            .into(),
            other => other.refused_by_item(error),
        }
    }
}
