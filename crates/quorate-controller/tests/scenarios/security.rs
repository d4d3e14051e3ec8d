//! Client quotas and SCRAM credentials.

use quorate_metadata::{QuotaEntity, ScramMechanism};
use quorate_protocol::messages::alter_client_quotas::{EntityData, OpData, RequestEntryData};
use quorate_protocol::messages::alter_user_scram_credentials::{
    ScramCredentialDeletion, ScramCredentialUpsertion,
};
use quorate_protocol::messages::{
    AlterClientQuotasRequest, AlterClientQuotasResponse, AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
};
use quorate_types::ErrorCode;

use crate::cluster::Cluster;

/// An entity by its parts, and the value of each limit; `None` removes it.
fn entry(parts: &[(&str, Option<&str>)], ops: &[(&str, Option<f64>)]) -> RequestEntryData {
    let part = |(kind, name): &(&str, Option<&str>)| EntityData {
        entity_type: (*kind).into(),
        entity_name: name.map(Into::into),
        ..Default::default()
    };
    let op = |(key, value): &(&str, Option<f64>)| OpData {
        key: (*key).into(),
        value: value.unwrap_or_default(),
        remove: value.is_none(),
        ..Default::default()
    };
    RequestEntryData {
        entity: parts.iter().map(part).collect(),
        ops: ops.iter().map(op).collect(),
        ..Default::default()
    }
}

fn alter(cluster: &mut Cluster, entries: Vec<RequestEntryData>) -> Vec<ErrorCode> {
    let answer: AlterClientQuotasResponse = cluster.ask(AlterClientQuotasRequest {
        entries,
        ..Default::default()
    });
    answer
        .entries
        .into_iter()
        .map(|entry| entry.error_code)
        .collect()
}

fn limit(cluster: &Cluster, parts: &[(&str, Option<&str>)], key: &str) -> Option<f64> {
    let parts = parts
        .iter()
        .map(|(kind, name)| (kind.to_string(), name.map(String::from)));
    cluster
        .image()
        .client_quotas()
        .get(&QuotaEntity::from_iter(parts), key)
}

#[test]
fn limits_are_set_changed_and_removed() {
    let mut cluster = Cluster::new();
    let bob: &[_] = &[("client-id", Some("app")), ("user", Some("bob"))];
    let ops = [
        ("producer_byte_rate", Some(1024.0)),
        ("request_percentage", Some(12.5)),
    ];
    assert_eq!(
        alter(&mut cluster, vec![entry(bob, &ops)]),
        [ErrorCode::None]
    );
    assert_eq!(limit(&cluster, bob, "producer_byte_rate"), Some(1024.0));
    let names = cluster.names(|cluster| {
        let ops = [
            ("producer_byte_rate", Some(1024.0)),
            ("request_percentage", None),
            ("consumer_byte_rate", None),
        ];
        assert_eq!(alter(cluster, vec![entry(bob, &ops)]), [ErrorCode::None]);
    });
    // What is so already is no record.
    assert_eq!(names, ["ClientQuotaRecord"]);
    assert_eq!(limit(&cluster, bob, "request_percentage"), None);
    let all: &[_] = &[("user", None)];
    let ops = [("controller_mutation_rate", Some(0.5))];
    assert_eq!(
        alter(&mut cluster, vec![entry(all, &ops)]),
        [ErrorCode::None]
    );
    assert_eq!(limit(&cluster, all, "controller_mutation_rate"), Some(0.5));
}

#[test]
fn limits_are_refused_entity_by_entity() {
    let mut cluster = Cluster::new();
    let user: &[_] = &[("user", Some("bob"))];
    let ip: &[_] = &[("ip", Some("10.0.0.1"))];
    let rate = [("producer_byte_rate", Some(1.0))];
    let bad = vec![
        entry(&[], &rate),
        entry(&[("planet", Some("earth"))], &rate),
        entry(&[("user", Some(""))], &rate),
        entry(&[("user", Some("a")), ("user", Some("b"))], &rate),
        entry(&[("ip", Some("10.0.0.1")), ("user", Some("a"))], &rate),
        entry(
            &[("ip", Some("no address"))],
            &[("connection_creation_rate", Some(1.0))],
        ),
        entry(ip, &rate),
        entry(user, &[("connection_creation_rate", Some(1.0))]),
        entry(user, &[("producer_byte_rate", Some(0.0))]),
        entry(user, &[("producer_byte_rate", Some(1.5))]),
        entry(user, &[("producer_byte_rate", Some(f64::NAN))]),
        entry(ip, &[("connection_creation_rate", Some(2_147_483_648.0))]),
        entry(
            user,
            &[
                ("producer_byte_rate", Some(1.0)),
                ("producer_byte_rate", None),
            ],
        ),
    ];
    for (at, bad) in bad.into_iter().enumerate() {
        let end = cluster.solo.end();
        let good = entry(
            &[("client-id", Some("app"))],
            &[("request_percentage", Some(1.0 + at as f64))],
        );
        let codes = alter(&mut cluster, vec![bad, good]);
        assert_eq!(
            codes,
            [ErrorCode::InvalidRequest, ErrorCode::None],
            "case {at}"
        );
        assert_eq!(cluster.solo.end(), end + 1, "case {at}");
    }
    let twice = vec![
        entry(user, &rate),
        entry(user, &[("producer_byte_rate", Some(2.0))]),
    ];
    assert_eq!(
        alter(&mut cluster, twice),
        [ErrorCode::None, ErrorCode::InvalidRequest]
    );
    assert_eq!(limit(&cluster, user, "producer_byte_rate"), Some(1.0));
}

/// The credential that RFC 7677 shows for the user "user" with the password "pencil".
fn pencil(name: &str) -> ScramCredentialUpsertion {
    let salted = "c4a49510323ab4f952cac1fa99441939e78ea74d6be81ddf7096e87513dc615d";
    ScramCredentialUpsertion {
        name: name.into(),
        mechanism: 1,
        iterations: 4096,
        salt: b"salt".to_vec().into(),
        salted_password: bytes_of(salted).into(),
        ..Default::default()
    }
}

fn bytes_of(hex: &str) -> Vec<u8> {
    let digits = |at| u8::from_str_radix(&hex[at..at + 2], 16).expect("hex");
    (0..hex.len()).step_by(2).map(digits).collect()
}

fn scram(
    cluster: &mut Cluster,
    deletions: Vec<ScramCredentialDeletion>,
    upsertions: Vec<ScramCredentialUpsertion>,
) -> Vec<(String, ErrorCode)> {
    let answer: AlterUserScramCredentialsResponse = cluster.ask(AlterUserScramCredentialsRequest {
        deletions,
        upsertions,
        ..Default::default()
    });
    answer
        .results
        .into_iter()
        .map(|result| (result.user, result.error_code))
        .collect()
}

fn deletion(name: &str) -> ScramCredentialDeletion {
    ScramCredentialDeletion {
        name: name.into(),
        mechanism: 1,
        ..Default::default()
    }
}

#[test]
fn a_credential_is_the_keys_that_follow_from_the_salted_password() {
    let mut cluster = Cluster::new();
    let set = scram(&mut cluster, vec![], vec![pencil("user")]);
    assert_eq!(set, [("user".to_string(), ErrorCode::None)]);
    let credential = cluster
        .image()
        .scram()
        .get(ScramMechanism::SHA_256, "user")
        .expect("the credential");
    assert_eq!(
        credential.stored_key,
        bytes_of("586e5df283e6dceb5c3e791d8b8528ec191e664045ce971792e2e6b5bb13e2a6")
    );
    assert_eq!(
        credential.server_key,
        bytes_of("c1f3cbc1c13a9d35a14c0990eed97629ea225863e566a4314ab99f3f00e5d9d5")
    );
    assert_eq!(
        (credential.iterations, credential.salt.as_slice()),
        (4096, &b"salt"[..])
    );
}

#[test]
fn credentials_are_checked_user_by_user() {
    let mut cluster = Cluster::new();
    scram(&mut cluster, vec![], vec![pencil("bob"), pencil("carol")]);
    let with = |name: &str, change: fn(&mut ScramCredentialUpsertion)| {
        let mut upsertion = pencil(name);
        change(&mut upsertion);
        upsertion
    };
    let mut results = scram(
        &mut cluster,
        vec![deletion("bob"), deletion("nobody"), deletion("carol")],
        vec![
            with("", |_| {}),
            with("few", |upsertion| upsertion.iterations = 4095),
            with("many", |upsertion| upsertion.iterations = 16_385),
            with("odd", |upsertion| upsertion.mechanism = 3),
            with("long", |upsertion| upsertion.mechanism = 2),
            with("carol", |_| {}),
        ],
    );
    results.sort();
    let expected = [
        ("", ErrorCode::UnacceptableCredential),
        ("bob", ErrorCode::None),
        ("carol", ErrorCode::DuplicateResource),
        ("few", ErrorCode::UnacceptableCredential),
        ("long", ErrorCode::None),
        ("many", ErrorCode::UnacceptableCredential),
        ("nobody", ErrorCode::ResourceNotFound),
        ("odd", ErrorCode::UnsupportedSaslMechanism),
    ];
    assert_eq!(
        results,
        expected.map(|(user, code)| (user.to_string(), code))
    );
    let scram_of = |user: &str| cluster.image().scram().get(ScramMechanism::SHA_256, user);
    assert!(scram_of("bob").is_none() && scram_of("carol").is_some());
    let long = cluster
        .image()
        .scram()
        .get(ScramMechanism::SHA_512, "long")
        .expect("set");
    assert_eq!(long.stored_key.len(), 64);
}

#[test]
fn there_is_no_scram_before_its_metadata_version() {
    let mut cluster = Cluster::at(10);
    let results = scram(&mut cluster, vec![], vec![pencil("bob")]);
    assert_eq!(
        results,
        [("bob".to_string(), ErrorCode::UnsupportedVersion)]
    );
}
