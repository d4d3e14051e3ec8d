//! AlterUserScramCredentials: what proves a password is stored, the password never is.
//!
//! A request brings the salted password; stored are the two keys that follow from it (RFC 5802):
//! `StoredKey = H(HMAC(salted, "Client Key"))` and `ServerKey = HMAC(salted, "Server Key")`.

use std::collections::BTreeMap;

use bytes::Bytes;
use hmac::{Hmac, Mac};
use quorate_engine::Halt;
use quorate_metadata::{MetadataImage, ScramMechanism};
use quorate_protocol::messages::alter_user_scram_credentials::{
    AlterUserScramCredentialsRequest, AlterUserScramCredentialsResponse,
    AlterUserScramCredentialsResult, ScramCredentialDeletion, ScramCredentialUpsertion,
};
use quorate_protocol::records::{RemoveUserScramCredentialRecord, UserScramCredentialRecord};
use quorate_types::ErrorCode;
use sha2::{Digest, Sha256, Sha512};

use crate::controller::Desk;
use crate::error::ApiError;
use crate::records;

/// How often a password must have been hashed.
const ITERATIONS: std::ops::RangeInclusive<i32> = 4096..=16_384;

/// What is to happen to one user's credential.
enum Change<'a> {
    Delete(&'a ScramCredentialDeletion),
    Set(&'a ScramCredentialUpsertion),
}

/// Deletes and sets credentials, each user by itself; deletions are written first.
pub(crate) fn alter_credentials(
    draft: &mut Desk<'_>,
    request: &AlterUserScramCredentialsRequest,
) -> Result<AlterUserScramCredentialsResponse, Halt> {
    let checked = check(draft.state(), request);
    let mut results = Vec::with_capacity(checked.len());
    let good = || {
        checked
            .iter()
            .filter_map(|(user, result)| Some((user, result.as_ref().ok()?)))
    };
    for (user, change) in good() {
        if let Change::Delete(deletion) = change {
            draft.push(records::plain(RemoveUserScramCredentialRecord {
                name: deletion.name.clone(),
                mechanism: deletion.mechanism,
                ..Default::default()
            }))?;
            results.push(result_of(user, None));
        }
    }
    for (user, change) in good() {
        if let Change::Set(upsertion) = change {
            draft.push(records::plain(credential(upsertion)))?;
            results.push(result_of(user, None));
        }
    }
    let bad = checked
        .iter()
        .filter_map(|(user, result)| Some((user, result.as_ref().err()?)));
    results.extend(bad.map(|(user, error)| result_of(user, Some(error))));
    Ok(AlterUserScramCredentialsResponse {
        results,
        ..Default::default()
    })
}

/// What is to happen to each user, or why it will not.
fn check<'a>(
    image: &MetadataImage,
    request: &'a AlterUserScramCredentialsRequest,
) -> BTreeMap<&'a str, Result<Change<'a>, ApiError>> {
    let mut checked: BTreeMap<&str, Result<Change<'_>, ApiError>> = BTreeMap::new();
    let deletions = request.deletions.iter().map(|deletion| {
        let fault = check_user(image, &deletion.name, deletion.mechanism)
            .and_then(|()| check_existence(image, deletion));
        (
            deletion.name.as_str(),
            fault.map(|()| Change::Delete(deletion)),
        )
    });
    let upsertions = request.upsertions.iter().map(|upsertion| {
        let fault = check_user(image, &upsertion.name, upsertion.mechanism)
            .and_then(|()| check_iterations(upsertion.iterations));
        (
            upsertion.name.as_str(),
            fault.map(|()| Change::Set(upsertion)),
        )
    });
    for (user, result) in deletions.chain(upsertions) {
        checked
            .entry(user)
            .and_modify(|earlier| {
                if earlier.is_ok() {
                    let message = "the user is named more than once";
                    *earlier = Err(ApiError::new(ErrorCode::DuplicateResource, message));
                }
            })
            .or_insert(result);
    }
    checked
}

fn check_user(image: &MetadataImage, user: &str, mechanism: i8) -> Result<(), ApiError> {
    let version = image.features().metadata_version();
    if !version.has_scram() {
        let message = format!("there is no SCRAM at metadata.version {version}");
        return Err(ApiError::new(ErrorCode::UnsupportedVersion, message));
    }
    if user.is_empty() {
        return Err(ApiError::new(
            ErrorCode::UnacceptableCredential,
            "an empty user name",
        ));
    }
    match ScramMechanism(mechanism) {
        ScramMechanism::SHA_256 | ScramMechanism::SHA_512 => Ok(()),
        other => {
            let message = format!("{} is no SCRAM mechanism", other.0);
            Err(ApiError::new(ErrorCode::UnsupportedSaslMechanism, message))
        }
    }
}

fn check_existence(
    image: &MetadataImage,
    deletion: &ScramCredentialDeletion,
) -> Result<(), ApiError> {
    match image
        .scram()
        .get(ScramMechanism(deletion.mechanism), &deletion.name)
    {
        Some(_) => Ok(()),
        None => Err(ApiError::new(
            ErrorCode::ResourceNotFound,
            "there is no such credential",
        )),
    }
}

fn check_iterations(iterations: i32) -> Result<(), ApiError> {
    if ITERATIONS.contains(&iterations) {
        return Ok(());
    }
    let (least, most) = (ITERATIONS.start(), ITERATIONS.end());
    let message = format!("{iterations} iterations are not within {least} and {most}");
    Err(ApiError::new(ErrorCode::UnacceptableCredential, message))
}

fn credential(upsertion: &ScramCredentialUpsertion) -> UserScramCredentialRecord {
    let salted = &upsertion.salted_password;
    let sha_512 = ScramMechanism(upsertion.mechanism) == ScramMechanism::SHA_512;
    let (stored_key, server_key) = if sha_512 {
        keys_512(salted)
    } else {
        keys_256(salted)
    };
    UserScramCredentialRecord {
        name: upsertion.name.clone(),
        mechanism: upsertion.mechanism,
        salt: upsertion.salt.clone(),
        stored_key,
        server_key,
        iterations: upsertion.iterations,
        ..Default::default()
    }
}

macro_rules! keys {
    ($name:ident, $hash:ty) => {
        fn $name(salted_password: &[u8]) -> (Bytes, Bytes) {
            let keyed = |text: &[u8]| {
                let mut mac = <Hmac<$hash> as Mac>::new_from_slice(salted_password)
                    .expect("HMAC takes keys of any length");
                mac.update(text);
                mac.finalize().into_bytes()
            };
            let stored = <$hash>::digest(keyed(b"Client Key"));
            (
                Bytes::copy_from_slice(&stored),
                Bytes::copy_from_slice(&keyed(b"Server Key")),
            )
        }
    };
}

keys!(keys_256, Sha256);
keys!(keys_512, Sha512);

fn result_of(user: &str, error: Option<&ApiError>) -> AlterUserScramCredentialsResult {
    AlterUserScramCredentialsResult {
        user: user.to_string(),
        error_code: error.map_or(ErrorCode::None, |error| error.code),
        error_message: error.and_then(|error| error.message.clone()),
        ..Default::default()
    }
}
