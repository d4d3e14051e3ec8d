//! SCRAM credentials of users.

use std::fmt;
use std::sync::Arc;

use im::OrdMap;
use quorate_protocol::records::{RemoveUserScramCredentialRecord, UserScramCredentialRecord};

use super::from;
use crate::Reason;
use crate::change::{Change, diff};

/// A SCRAM mechanism by its number in Kafka.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ScramMechanism(pub i8);

impl ScramMechanism {
    /// `SCRAM-SHA-256`
    pub const SHA_256: ScramMechanism = ScramMechanism(1);
    /// `SCRAM-SHA-512`
    pub const SHA_512: ScramMechanism = ScramMechanism(2);
}

/// What proves a user's password without being it.
#[derive(Clone, PartialEq, Eq)]
pub struct ScramCredential {
    /// The salt.
    pub salt: Vec<u8>,
    /// The stored key.
    pub stored_key: Vec<u8>,
    /// The server key.
    pub server_key: Vec<u8>,
    /// How often the password was hashed.
    pub iterations: i32,
}

/// Shows no keys.
impl fmt::Debug for ScramCredential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScramCredential")
            .field("iterations", &self.iterations)
            .finish_non_exhaustive()
    }
}

/// The credentials of all users.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scram {
    by_key: OrdMap<ScramKey, Arc<ScramCredential>>,
}

/// A mechanism and a user.
pub(crate) type ScramKey = (ScramMechanism, Arc<str>);

impl Scram {
    /// The user's credential for that mechanism.
    pub fn get(&self, mechanism: ScramMechanism, user: &str) -> Option<&ScramCredential> {
        let credential = self.by_key.get(&(mechanism, Arc::from(user)))?;
        Some(credential)
    }

    /// All credentials, by mechanism and user.
    pub fn iter(&self) -> impl Iterator<Item = (ScramMechanism, &str, &ScramCredential)> {
        self.by_key
            .iter()
            .map(|((mechanism, user), credential)| (*mechanism, &**user, &**credential))
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.by_key.is_empty()
    }

    pub(crate) fn changes<'a>(
        &'a self,
        after: &'a Scram,
    ) -> impl Iterator<Item = Change<(ScramMechanism, &'a str), &'a ScramCredential>> {
        diff(&self.by_key, &after.by_key).map(|change| {
            change
                .map_key(|(mechanism, user)| (*mechanism, &**user))
                .map(|credential| &**credential)
        })
    }

    /// Sets a user's credential.
    pub(crate) fn set(&mut self, record: &UserScramCredentialRecord) {
        let credential = ScramCredential {
            salt: record.salt.to_vec(),
            stored_key: record.stored_key.to_vec(),
            server_key: record.server_key.to_vec(),
            iterations: record.iterations,
        };
        let key = (
            ScramMechanism(record.mechanism),
            record.name.as_str().into(),
        );
        self.by_key.insert(key, Arc::new(credential));
    }

    /// Removes a user's credential, which has to be there.
    pub(crate) fn remove(
        &mut self,
        record: &RemoveUserScramCredentialRecord,
    ) -> Result<(), Reason> {
        let key = (
            ScramMechanism(record.mechanism),
            record.name.as_str().into(),
        );
        let removed = self.by_key.remove(&key).map(drop);
        removed.ok_or_else(|| Reason::UnknownCredential(record.name.clone()))
    }

    /// The credentials after that one, as records.
    pub(crate) fn to_records(
        &self,
        after: Option<ScramKey>,
    ) -> impl Iterator<Item = (ScramKey, UserScramCredentialRecord)> {
        self.by_key.range(from(after)).map(|(key, credential)| {
            let record = UserScramCredentialRecord {
                name: key.1.to_string(),
                mechanism: key.0.0,
                salt: credential.salt.clone().into(),
                stored_key: credential.stored_key.clone().into(),
                server_key: credential.server_key.clone().into(),
                iterations: credential.iterations,
                ..Default::default()
            };
            (key.clone(), record)
        })
    }
}
