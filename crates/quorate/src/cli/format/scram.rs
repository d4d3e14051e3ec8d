//! `--add-scram`: a user's first credential, made of a password (RFC 5802, RFC 7677).

use std::collections::BTreeMap;

use anyhow::{Context, bail};
use bytes::Bytes;
use hmac::{Hmac, Mac};
use quorate::metadata::MetadataVersion;
use quorate::node::entropy;
use quorate::protocol::records::{UserScramCredentialRecord, VersionedRecord};
use sha2::{Digest, Sha256, Sha512};

/// How often a password is hashed unless it is said, and how often it may be.
const ITERATIONS: i32 = 4096;
const ITERATIONS_ALLOWED: std::ops::RangeInclusive<i32> = 4096..=16_384;

/// A mechanism: its number in records, and its hash.
struct Mechanism {
    number: i8,
    hash: fn(&[u8]) -> Vec<u8>,
    hmac: fn(&[u8], &[u8]) -> anyhow::Result<Vec<u8>>,
}

macro_rules! mechanism {
    ($number:literal, $hash:ty) => {
        Mechanism {
            number: $number,
            hash: |bytes| <$hash>::digest(bytes).to_vec(),
            hmac: |key, bytes| {
                let mut mac = <Hmac<$hash> as Mac>::new_from_slice(key)
                    .context("a password cannot be hashed")?;
                mac.update(bytes);
                Ok(mac.finalize().into_bytes().to_vec())
            },
        }
    };
}

/// The records of the credentials, in the order in which they are given.
pub fn records(given: &[String], version: MetadataVersion) -> anyhow::Result<Vec<VersionedRecord>> {
    if !given.is_empty() && !version.has_scram() {
        bail!(
            "SCRAM is only supported in metadata.version {} or later",
            MetadataVersion::V3_5_IV2
        );
    }
    given
        .iter()
        .map(|text| {
            // What is told of a bad one must not show its password.
            let name = text.split('=').next().unwrap_or_default();
            let data = credential(text).with_context(|| format!("--add-scram {name}=…"))?;
            Ok(VersionedRecord {
                version: 0,
                data: data.into(),
            })
        })
        .collect()
}

fn credential(text: &str) -> anyhow::Result<UserScramCredentialRecord> {
    let (name, fields) = text
        .split_once('=')
        .context("write it as MECHANISM=[name=USER,password=PASSWORD]")?;
    let mechanism = match name {
        "SCRAM-SHA-256" => mechanism!(1, Sha256),
        "SCRAM-SHA-512" => mechanism!(2, Sha512),
        _ => bail!("the mechanisms are SCRAM-SHA-256 and SCRAM-SHA-512"),
    };
    let fields = fields
        .strip_prefix('[')
        .and_then(|fields| fields.strip_suffix(']'))
        .context("the fields stand between [ and ]")?;
    let mut fields = split(fields)?;
    let user = fields.remove("name").context("it needs a name")?;
    let iterations = match fields.remove("iterations") {
        Some(text) => text.parse().context("iterations must be a number")?,
        None => ITERATIONS,
    };
    if !ITERATIONS_ALLOWED.contains(&iterations) {
        bail!(
            "iterations must be {} to {}",
            ITERATIONS_ALLOWED.start(),
            ITERATIONS_ALLOWED.end()
        );
    }
    let salt = fields
        .remove("salt")
        .map(|text| base64(text).context("salt must be base64"))
        .transpose()?;
    let (salt, salted) = match (fields.remove("password"), fields.remove("saltedpassword")) {
        (Some(password), None) => {
            let salt = salt.unwrap_or_else(random_salt);
            let salted = salted_password(&mechanism, password.as_bytes(), &salt, iterations)?;
            (salt, salted)
        }
        (None, Some(salted)) => (
            salt.context("saltedpassword needs its salt")?,
            base64(salted).context("saltedpassword must be base64")?,
        ),
        (None, None) => bail!("it needs a password or a saltedpassword"),
        (Some(_), Some(_)) => bail!("give either a password or a saltedpassword"),
    };
    if let Some(unknown) = fields.keys().next() {
        bail!("{unknown} is not known");
    }
    let client_key = (mechanism.hmac)(&salted, b"Client Key")?;
    Ok(UserScramCredentialRecord {
        name: user.to_owned(),
        mechanism: mechanism.number,
        salt: Bytes::from(salt),
        stored_key: Bytes::from((mechanism.hash)(&client_key)),
        server_key: Bytes::from((mechanism.hmac)(&salted, b"Server Key")?),
        iterations,
        ..Default::default()
    })
}

fn split(fields: &str) -> anyhow::Result<BTreeMap<&str, &str>> {
    fields
        .split(',')
        .map(|field| {
            let (name, value) = field
                .split_once('=')
                .context("each field is written as NAME=VALUE")?;
            let quoted = value.strip_prefix('"').and_then(|it| it.strip_suffix('"'));
            Ok((name, quoted.unwrap_or(value)))
        })
        .collect()
}

/// PBKDF2 for one block, which is as long as the hash.
fn salted_password(
    mechanism: &Mechanism,
    password: &[u8],
    salt: &[u8],
    iterations: i32,
) -> anyhow::Result<Vec<u8>> {
    let first = [salt, &1u32.to_be_bytes()].concat();
    let mut block = (mechanism.hmac)(password, &first)?;
    let mut salted = block.clone();
    for _ in 1..iterations {
        block = (mechanism.hmac)(password, &block)?;
        salted
            .iter_mut()
            .zip(&block)
            .for_each(|(to, from)| *to ^= from);
    }
    Ok(salted)
}

fn random_salt() -> Vec<u8> {
    let mut rng = entropy();
    [rng.uuid().0, rng.uuid().0].concat()
}

/// Reads base64, with or without its padding.
fn base64(text: &str) -> Option<Vec<u8>> {
    let letters = text.trim_end_matches('=').as_bytes();
    if letters.len() % 4 == 1 {
        return None;
    }
    let mut bytes = Vec::with_capacity(letters.len() / 4 * 3 + 2);
    for chunk in letters.chunks(4) {
        let mut bits = 0u32;
        for place in 0..4 {
            let value = match chunk.get(place) {
                None => 0,
                Some(letter @ b'A'..=b'Z') => letter - b'A',
                Some(letter @ b'a'..=b'z') => letter - b'a' + 26,
                Some(letter @ b'0'..=b'9') => letter - b'0' + 52,
                Some(b'+') => 62,
                Some(b'/') => 63,
                Some(_) => return None,
            };
            bits = bits << 6 | u32::from(value);
        }
        bytes.extend_from_slice(&bits.to_be_bytes()[1..chunk.len()]);
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dump::json;

    #[test]
    fn base64_comes_back() {
        for text in ["", "YQ==", "YWI=", "YWJj", "N3E=", "+/+/"] {
            assert_eq!(json::base64(&base64(text).unwrap()), text);
        }
        assert_eq!(base64("YQ"), Some(b"a".to_vec()));
        assert_eq!(base64("Y"), None);
        assert_eq!(base64("Y-Q="), None);
    }

    #[test]
    fn credentials_are_those_that_kafka_makes() {
        for (text, stored, server) in [
            (
                "SCRAM-SHA-256=[name=alice,password=alice-secret,salt=\"N3E=\",iterations=5000]",
                "tEYlW3TzKxwsKJZwKSazurRPvGmsgKPpFpv+srzn7rI=",
                "OPUXz9LwK+Ti1bCa2CCHlaaPIqOC5k/YAoD1BJDEDcw=",
            ),
            (
                "SCRAM-SHA-512=[name=alice,password=pencil,salt=\"N3E=\",iterations=8192]",
                "u9sxVg49dXZ1D+CGdpt4ayPZTgEi99aYZF/ZuhlRtb+5nceVYzx2hOe+eZCpX71qYB0oiREkCprd9hwLZtdAmg==",
                "AP7sAPy9+7Eg5A8TGU2AiocwrOtoOTP9/EAm4PMcFTN+AtbzQ3n/U+jTxI8KXr0V8CgiDo6g/nrBIqEvkaKglg==",
            ),
        ] {
            let made = credential(text).unwrap();
            assert_eq!(json::base64(&made.stored_key), stored, "{text}");
            assert_eq!(json::base64(&made.server_key), server, "{text}");
        }
    }

    #[test]
    fn what_kafka_refuses_is_refused_without_telling_the_password() {
        for text in [
            "SCRAM-SHA-256",
            "SCRAM-MD5=[name=a,password=secret]",
            "SCRAM-SHA-256=name=a,password=secret",
            "SCRAM-SHA-256=[password=secret]",
            "SCRAM-SHA-256=[name=a]",
            "SCRAM-SHA-256=[name=a,password=secret,iterations=1]",
            "SCRAM-SHA-256=[name=a,password=secret,iterations=20000]",
            "SCRAM-SHA-256=[name=a,saltedpassword=c2VjcmV0]",
            "SCRAM-SHA-256=[name=a,password=secret,salt=x]",
            "SCRAM-SHA-256=[name=a,password=secret,more=b]",
            "SCRAM-SHA-256=[name=a,password=secret,]",
        ] {
            let error = records(&[text.to_owned()], MetadataVersion::LATEST).unwrap_err();
            assert!(!format!("{error:#}").contains("secret"), "{error:#}");
        }
        let old = records(
            &["SCRAM-SHA-256=[name=a,password=b]".to_owned()],
            MetadataVersion(10),
        );
        assert!(old.is_err());
    }
}
