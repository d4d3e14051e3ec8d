//! Answers to requests that fail as a whole although their answers have an error only for each item.

use quorate_protocol::messages::alter_client_quotas::ResponseEntryData;
use quorate_protocol::messages::alter_configs::AlterConfigsResourceResponse as LegacyAnswer;
use quorate_protocol::messages::alter_user_scram_credentials::AlterUserScramCredentialsResult;
use quorate_protocol::messages::create_acls::AclCreationResult;
use quorate_protocol::messages::delete_acls::DeleteAclsFilterResult;
use quorate_protocol::messages::elect_leaders::{PartitionResult, ReplicaElectionResult};
use quorate_protocol::messages::incremental_alter_configs::AlterConfigsResourceResponse;
use quorate_protocol::messages::{
    AlterClientQuotasResponse, AlterConfigsResponse, AlterPartitionReassignmentsResponse,
    AlterUserScramCredentialsRequest, AlterUserScramCredentialsResponse, CreateAclsResponse,
    CreateDelegationTokenResponse, DeleteAclsResponse, DescribeAclsResponse, ElectLeadersRequest,
    ElectLeadersResponse, ExpireDelegationTokenResponse, IncrementalAlterConfigsResponse,
    ListPartitionReassignmentsResponse, RenewDelegationTokenResponse,
};

use crate::command::{Operation, Reply};
use crate::error::ApiError;

impl Operation {
    /// The answer with `error` beside every item of the request.
    pub(crate) fn refused_by_item(&self, error: &ApiError) -> Reply {
        let (error_code, error_message) = (error.code, error.message.clone());
        match self {
            Operation::ElectLeaders(request) => elect_leaders(request, error).into(),
            Operation::AlterPartitionReassignments(_) => AlterPartitionReassignmentsResponse {
                error_code,
                error_message,
                ..Default::default()
            }
            .into(),
            Operation::ListPartitionReassignments(_) => ListPartitionReassignmentsResponse {
                error_code,
                error_message,
                ..Default::default()
            }
            .into(),
            Operation::AlterConfigs(request) => {
                let failed = request.resources.iter().map(|resource| LegacyAnswer {
                    error_code,
                    error_message: error_message.clone(),
                    resource_type: resource.resource_type,
                    resource_name: resource.resource_name.clone(),
                    ..Default::default()
                });
                AlterConfigsResponse {
                    responses: failed.collect(),
                    ..Default::default()
                }
                .into()
            }
            Operation::IncrementalAlterConfigs(request) => {
                let failed =
                    request
                        .resources
                        .iter()
                        .map(|resource| AlterConfigsResourceResponse {
                            error_code,
                            error_message: error_message.clone(),
                            resource_type: resource.resource_type,
                            resource_name: resource.resource_name.clone(),
                            ..Default::default()
                        });
                let responses = failed.collect();
                IncrementalAlterConfigsResponse {
                    responses,
                    ..Default::default()
                }
                .into()
            }
            Operation::AlterClientQuotas(request) => {
                let failed = request.entries.iter().map(|entry| ResponseEntryData {
                    error_code,
                    error_message: error_message.clone(),
                    entity: entry.entity.clone(),
                    ..Default::default()
                });
                AlterClientQuotasResponse {
                    entries: failed.collect(),
                    ..Default::default()
                }
                .into()
            }
            Operation::AlterUserScramCredentials(request) => scram(request, error).into(),
            other => other.refused_in_security(error),
        }
    }

    fn refused_in_security(&self, error: &ApiError) -> Reply {
        let (error_code, error_message) = (error.code, error.message.clone());
        match self {
            Operation::CreateAcls(request) => {
                let failed = AclCreationResult {
                    error_code,
                    error_message,
                    ..Default::default()
                };
                let results = vec![failed; request.creations.len()];
                CreateAclsResponse {
                    results,
                    ..Default::default()
                }
                .into()
            }
            Operation::DeleteAcls(request) => {
                let failed = DeleteAclsFilterResult {
                    error_code,
                    error_message,
                    ..Default::default()
                };
                let filter_results = vec![failed; request.filters.len()];
                DeleteAclsResponse {
                    filter_results,
                    ..Default::default()
                }
                .into()
            }
            Operation::CreateDelegationToken(_) => CreateDelegationTokenResponse {
                error_code,
                ..Default::default()
            }
            .into(),
            Operation::RenewDelegationToken(_) => RenewDelegationTokenResponse {
                error_code,
                ..Default::default()
            }
            .into(),
            Operation::ExpireDelegationToken(_) => ExpireDelegationTokenResponse {
                error_code,
                ..Default::default()
            }
            .into(),
            _ => DescribeAclsResponse {
                error_code,
                error_message,
                ..Default::default()
            }
            .into(),
        }
    }
}

fn elect_leaders(request: &ElectLeadersRequest, error: &ApiError) -> ElectLeadersResponse {
    let (error_code, error_message) = (error.code, error.message.clone());
    let topics = request.topic_partitions.iter().flatten();
    let failed = topics.map(|topic| ReplicaElectionResult {
        topic: topic.topic.clone(),
        partition_result: topic
            .partitions
            .iter()
            .map(|index| PartitionResult {
                partition_id: *index,
                error_code,
                error_message: error_message.clone(),
                ..Default::default()
            })
            .collect(),
        ..Default::default()
    });
    let replica_election_results = failed.collect();
    ElectLeadersResponse {
        error_code,
        replica_election_results,
        ..Default::default()
    }
}

fn scram(
    request: &AlterUserScramCredentialsRequest,
    error: &ApiError,
) -> AlterUserScramCredentialsResponse {
    let deleted = request.deletions.iter().map(|deletion| &deletion.name);
    let set = request.upsertions.iter().map(|upsertion| &upsertion.name);
    let users: std::collections::BTreeSet<&String> = deleted.chain(set).collect();
    let failed = users
        .into_iter()
        .map(|user| AlterUserScramCredentialsResult {
            user: user.clone(),
            error_code: error.code,
            error_message: error.message.clone(),
            ..Default::default()
        });
    AlterUserScramCredentialsResponse {
        results: failed.collect(),
        ..Default::default()
    }
}
