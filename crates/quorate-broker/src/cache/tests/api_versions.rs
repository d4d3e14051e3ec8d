//! ApiVersions on a broker's listener.

use quorate_protocol::messages::{ApiVersionsRequest, ApiVersionsResponse, encode_response};
use quorate_types::{ErrorCode, KRaftVersion, VersionRange};

use super::{cache, three_brokers};
use crate::cache::BrokerApis;

fn range(min: i16, max: i16) -> VersionRange {
    VersionRange { min, max }
}

fn apis() -> BrokerApis {
    let own = [
        (3, range(0, 13)),
        (18, range(0, 4)),
        (19, range(2, 7)),
        (55, range(0, 2)),
    ];
    let features = [
        ("group.version", range(0, 1)),
        ("metadata.version", range(7, 29)),
    ];
    let features = features.map(|(name, range)| (name.to_owned(), range));
    BrokerApis::new(own, features.into())
}

#[test]
fn forwarded_apis_are_cut_to_what_the_controller_offers() {
    let mut apis = apis();
    assert_eq!(apis.offers(19), Some(range(2, 7)), "before one is known");
    apis.controller_offers([(3, range(0, 1)), (19, range(4, 6))]);
    let offered: Vec<_> = apis.offered().collect();
    let expected = [(3, range(0, 13)), (18, range(0, 4)), (19, range(4, 6))];
    assert_eq!(offered, expected, "55 is gone, 3 is not forwarded");
    apis.controller_offers([(19, range(8, 9)), (55, range(1, 9))]);
    assert_eq!(apis.offers(19), None, "nothing in common");
    assert_eq!(apis.offers(55), Some(range(1, 2)));
}

fn api_versions_request() -> ApiVersionsRequest {
    ApiVersionsRequest {
        client_software_name: "quorate-test".to_owned(),
        client_software_version: "1.0".to_owned(),
        ..Default::default()
    }
}

#[test]
fn an_unknown_version_of_api_versions_is_answered_in_version_0() {
    let cache = cache(&three_brokers());
    for (version, request) in [(5, None), (-1, None), (99, Some(api_versions_request()))] {
        let (encode_as, response) =
            cache.api_versions(&apis(), version, request.as_ref(), KRaftVersion(1));
        assert_eq!(encode_as, 0);
        assert_eq!(response.error_code, ErrorCode::UnsupportedVersion);
        let keys: Vec<_> = response
            .api_keys
            .iter()
            .map(|api| (api.api_key, api.min_version, api.max_version))
            .collect();
        assert_eq!(keys, [(18, 0, 4)]);
        encode_response(18, encode_as, 1, &response).expect("encodable");
    }
}

#[test]
fn features_with_minimum_0_are_listed_from_version_4_on() {
    let mut log = three_brokers();
    log.level("group.version", 1);
    let cache = cache(&log);
    let names = |version| -> (Vec<String>, ApiVersionsResponse) {
        let (encode_as, response) = cache.api_versions(
            &apis(),
            version,
            Some(&api_versions_request()),
            KRaftVersion(1),
        );
        assert_eq!(encode_as, version);
        let supported = response.supported_features.iter();
        (
            supported.map(|feature| feature.name.clone()).collect(),
            response,
        )
    };
    assert_eq!(names(3).0, ["metadata.version"]);
    let (supported, response) = names(4);
    assert_eq!(supported, ["group.version", "metadata.version"]);
    assert_eq!(response.finalized_features_epoch, log.end.0 - 1);
    let finalized: Vec<(&str, i16, i16)> = response
        .finalized_features
        .iter()
        .map(|feature| {
            let (min, max) = (feature.min_version_level, feature.max_version_level);
            (feature.name.as_str(), min, max)
        })
        .collect();
    let expected = [
        ("group.version", 1, 1),
        ("metadata.version", 29, 29),
        ("kraft.version", 1, 1),
    ];
    assert_eq!(finalized, expected);
}

#[test]
fn a_client_without_a_proper_name_is_refused_from_version_3_on() {
    let cache = cache(&three_brokers());
    for name in ["", "-x", "x.", "a b", "x\u{e4}"] {
        let request = ApiVersionsRequest {
            client_software_name: name.to_owned(),
            ..api_versions_request()
        };
        let error = |version| {
            let answer = cache.api_versions(&apis(), version, Some(&request), KRaftVersion(0));
            answer.1.error_code
        };
        assert_eq!(error(2), ErrorCode::None, "{name:?}");
        assert_eq!(error(3), ErrorCode::InvalidRequest, "{name:?}");
        assert_eq!(error(4), ErrorCode::InvalidRequest, "{name:?}");
    }
}
