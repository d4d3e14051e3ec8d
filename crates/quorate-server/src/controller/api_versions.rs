//! What a controller's listener speaks, and which features are supported and finalized.

use quorate_broker::cache::names_its_software;
use quorate_controller::features::supported_features;
use quorate_metadata::MetadataImage;
use quorate_protocol::messages::api_versions::{
    ApiVersion, FinalizedFeatureKey, SupportedFeatureKey,
};
use quorate_protocol::messages::{ApiKey, ApiVersionsRequest, ApiVersionsResponse};
use quorate_types::{ErrorCode, KRaftVersion, Offset};

use crate::quorum::KRAFT_VERSIONS;

/// The APIs of a controller's listener, as Kafka 4.2 lists them.
pub const APIS: [ApiKey; 41] = [
    ApiKey::Fetch,
    ApiKey::SaslHandshake,
    ApiKey::ApiVersions,
    ApiKey::CreateTopics,
    ApiKey::DeleteTopics,
    ApiKey::DescribeAcls,
    ApiKey::CreateAcls,
    ApiKey::DeleteAcls,
    ApiKey::DescribeConfigs,
    ApiKey::AlterConfigs,
    ApiKey::SaslAuthenticate,
    ApiKey::CreatePartitions,
    ApiKey::CreateDelegationToken,
    ApiKey::RenewDelegationToken,
    ApiKey::ExpireDelegationToken,
    ApiKey::DescribeDelegationToken,
    ApiKey::ElectLeaders,
    ApiKey::IncrementalAlterConfigs,
    ApiKey::AlterPartitionReassignments,
    ApiKey::ListPartitionReassignments,
    ApiKey::AlterClientQuotas,
    ApiKey::DescribeUserScramCredentials,
    ApiKey::AlterUserScramCredentials,
    ApiKey::Vote,
    ApiKey::BeginQuorumEpoch,
    ApiKey::EndQuorumEpoch,
    ApiKey::DescribeQuorum,
    ApiKey::AlterPartition,
    ApiKey::UpdateFeatures,
    ApiKey::Envelope,
    ApiKey::FetchSnapshot,
    ApiKey::DescribeCluster,
    ApiKey::BrokerRegistration,
    ApiKey::BrokerHeartbeat,
    ApiKey::UnregisterBroker,
    ApiKey::AllocateProducerIds,
    ApiKey::ControllerRegistration,
    ApiKey::AssignReplicasToDirs,
    ApiKey::AddRaftVoter,
    ApiKey::RemoveRaftVoter,
    ApiKey::UpdateRaftVoter,
];

/// Whether the listener takes requests of that API in that version.
pub fn listed(api: ApiKey, version: i16) -> bool {
    APIS.contains(&api) && api.versions().is_some_and(|range| range.contains(version))
}

/// The answer to ApiVersions: everything that is listed, and the features as of `image`, the last
/// published one that changed any, which ends at `end`.
pub fn answer(
    request: &ApiVersionsRequest,
    version: i16,
    image: &MetadataImage,
    end: Option<Offset>,
    kraft_version: KRaftVersion,
) -> ApiVersionsResponse {
    if version >= 3 && !names_its_software(request) {
        return ApiVersionsResponse {
            error_code: ErrorCode::InvalidRequest,
            ..Default::default()
        };
    }
    let api_keys = APIS.iter().filter_map(|api| {
        let range = api.versions()?;
        Some(ApiVersion {
            api_key: api.code(),
            min_version: range.min,
            max_version: range.max,
            ..Default::default()
        })
    });
    let mut supported = supported_features();
    supported.insert("kraft.version".to_owned(), KRAFT_VERSIONS);
    let supported = supported
        .into_iter()
        .filter(|(_, range)| version >= 4 || range.min > 0);
    let finalized = image.features().iter().filter(|(_, level)| *level > 0);
    let kraft = (kraft_version.0 > 0).then_some(("kraft.version", kraft_version.0));
    ApiVersionsResponse {
        api_keys: api_keys.collect(),
        supported_features: supported
            .map(|(name, range)| SupportedFeatureKey {
                name,
                min_version: range.min,
                max_version: range.max,
                ..Default::default()
            })
            .collect(),
        finalized_features_epoch: end.map_or(-1, |end| end.0 - 1),
        finalized_features: finalized
            .chain(kraft)
            .map(|(name, level)| FinalizedFeatureKey {
                name: name.to_owned(),
                max_version_level: level,
                min_version_level: level,
                ..Default::default()
            })
            .collect(),
        ..Default::default()
    }
}
