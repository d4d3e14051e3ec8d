//! ApiVersions on a broker's listener: which APIs, which features.
//!
//! What a broker only forwards, it can offer no further than the active controller does: those keys
//! are cut down to what the controller's own ApiVersions said, and vanish where that says nothing.
//! Until a controller is known a broker offers what it could itself.

use std::collections::BTreeMap;

use quorate_protocol::messages::api_versions::{
    ApiVersion, FinalizedFeatureKey, SupportedFeatureKey,
};
use quorate_protocol::messages::{ApiVersionsRequest, ApiVersionsResponse};
use quorate_types::{ErrorCode, KRaftVersion, VersionRange};

use super::MetadataCache;

/// The keys of the APIs that a broker forwards to the active controller: they change metadata, or
/// only the active controller can answer them.
pub const FORWARDABLE: [i16; 20] = [
    19, 20, 30, 31, 33, 37, 38, 39, 40, 43, 44, 45, 46, 49, 51, 55, 57, 64, 80, 81,
];

const API_VERSIONS: i16 = 18;
const NEWEST_API_VERSIONS: i16 = 4;

/// The name of the quorum's own feature.
const KRAFT_VERSION: &str = "kraft.version";

/// What a broker's listener offers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrokerApis {
    own: BTreeMap<i16, VersionRange>,
    controller: Option<BTreeMap<i16, VersionRange>>,
    features: BTreeMap<String, VersionRange>,
}

impl BrokerApis {
    /// A broker that serves or forwards `own`, by API key, and supports `features`.
    pub fn new(
        own: impl IntoIterator<Item = (i16, VersionRange)>,
        features: BTreeMap<String, VersionRange>,
    ) -> BrokerApis {
        BrokerApis {
            own: own.into_iter().collect(),
            controller: None,
            features,
        }
    }

    /// Takes what the active controller's ApiVersions says.
    pub fn controller_offers(&mut self, apis: impl IntoIterator<Item = (i16, VersionRange)>) {
        self.controller = Some(apis.into_iter().collect());
    }

    /// What is offered, by key.
    pub fn offered(&self) -> impl Iterator<Item = (i16, VersionRange)> + '_ {
        self.own
            .keys()
            .filter_map(|key| Some((*key, self.offers(*key)?)))
    }

    /// The versions offered of that API; `None` if it is not offered: such a request closes its
    /// connection.
    pub fn offers(&self, key: i16) -> Option<VersionRange> {
        let own = *self.own.get(&key)?;
        match &self.controller {
            Some(controller) if FORWARDABLE.contains(&key) => {
                let theirs = controller.get(&key)?;
                let both = VersionRange {
                    min: own.min.max(theirs.min),
                    max: own.max.min(theirs.max),
                };
                (both.min <= both.max).then_some(both)
            }
            _ => Some(own),
        }
    }
}

impl MetadataCache {
    /// Answers ApiVersions: the version to encode the answer in, and the answer. `request` is `None`
    /// if its version is not known here, so that its body cannot be read. `kraft_version` is raft's.
    pub fn api_versions(
        &self,
        apis: &BrokerApis,
        version: i16,
        request: Option<&ApiVersionsRequest>,
        kraft_version: KRaftVersion,
    ) -> (i16, ApiVersionsResponse) {
        let known = (0..=NEWEST_API_VERSIONS).contains(&version);
        let Some(request) = request.filter(|_| known) else {
            return (0, unsupported_version());
        };
        if version >= 3 && !names_its_software(request) {
            let refusal = ApiVersionsResponse {
                error_code: ErrorCode::InvalidRequest,
                ..Default::default()
            };
            return (version, refusal);
        }
        let response = ApiVersionsResponse {
            api_keys: apis.offered().map(api).collect(),
            supported_features: supported(&apis.features, version),
            finalized_features_epoch: self.end().0 - 1,
            finalized_features: self.finalized(kraft_version),
            ..Default::default()
        };
        (version, response)
    }

    fn finalized(&self, kraft_version: KRaftVersion) -> Vec<FinalizedFeatureKey> {
        self.image()
            .features()
            .iter()
            .chain([(KRAFT_VERSION, kraft_version.0)])
            .filter(|(_, level)| *level > 0)
            .map(|(name, level)| FinalizedFeatureKey {
                name: name.to_owned(),
                max_version_level: level,
                min_version_level: level,
                ..Default::default()
            })
            .collect()
    }
}

/// Clients below version 4 take a minimum of 0 for an error, so those features are left out.
fn supported(features: &BTreeMap<String, VersionRange>, version: i16) -> Vec<SupportedFeatureKey> {
    features
        .iter()
        .filter(|(_, range)| version >= 4 || range.min > 0)
        .map(|(name, range)| SupportedFeatureKey {
            name: name.clone(),
            min_version: range.min,
            max_version: range.max,
            ..Default::default()
        })
        .collect()
}

fn api((key, range): (i16, VersionRange)) -> ApiVersion {
    ApiVersion {
        api_key: key,
        min_version: range.min,
        max_version: range.max,
        ..Default::default()
    }
}

/// The answer to a version of ApiVersions that is not known here, for brokers and controllers alike:
/// in version 0, which every client reads; with the one key that tells it what to ask with.
pub fn unsupported_version() -> ApiVersionsResponse {
    let range = VersionRange {
        min: 0,
        max: NEWEST_API_VERSIONS,
    };
    ApiVersionsResponse {
        error_code: ErrorCode::UnsupportedVersion,
        api_keys: vec![api((API_VERSIONS, range))],
        ..Default::default()
    }
}

/// Whether a client's software has a name and a version as they must be from version 3 on: letters
/// and digits; `-` and `.` only between them (KIP-511).
pub fn names_its_software(request: &ApiVersionsRequest) -> bool {
    let is_fine = |text: &str| {
        let plain = |byte: &u8| byte.is_ascii_alphanumeric();
        let bytes = text.as_bytes();
        bytes.first().is_some_and(plain)
            && bytes.last().is_some_and(plain)
            && bytes
                .iter()
                .all(|byte| plain(byte) || matches!(byte, b'-' | b'.'))
    };
    is_fine(&request.client_software_name) && is_fine(&request.client_software_version)
}
