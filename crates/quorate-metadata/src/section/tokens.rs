//! Delegation tokens.

use std::sync::Arc;

use im::OrdMap;
use quorate_protocol::records::{DelegationTokenRecord, RemoveDelegationTokenRecord};
use quorate_types::WallTime;

use super::from;
use crate::change::{Change, diff};

/// What the log holds of a delegation token; its secret follows from the id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DelegationToken {
    /// Whom it stands for.
    pub owner: String,
    /// Who asked for it.
    pub requester: String,
    /// Who may renew it besides the owner.
    pub renewers: Vec<String>,
    /// When it was issued.
    pub issued: WallTime,
    /// Until when it can be renewed.
    pub max_until: WallTime,
    /// Until when it is valid.
    pub expires: WallTime,
}

/// All delegation tokens.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DelegationTokens {
    by_id: OrdMap<Arc<str>, Arc<DelegationToken>>,
}

impl DelegationTokens {
    /// The token of that id.
    pub fn get(&self, id: &str) -> Option<&DelegationToken> {
        self.by_id.get(id).map(|token| &**token)
    }

    /// All tokens by id.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &DelegationToken)> {
        self.by_id.iter().map(|(id, token)| (&**id, &**token))
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.by_id.is_empty()
    }

    pub(crate) fn changes<'a>(
        &'a self,
        after: &'a DelegationTokens,
    ) -> impl Iterator<Item = Change<&'a str, &'a DelegationToken>> {
        diff(&self.by_id, &after.by_id)
            .map(|change| change.map_key(|id| &**id).map(|token| &**token))
    }

    /// Adds a token or replaces it.
    pub(crate) fn set(&mut self, record: &DelegationTokenRecord) {
        let token = DelegationToken {
            owner: record.owner.clone(),
            requester: record.requester.clone(),
            renewers: record.renewers.clone(),
            issued: WallTime(record.issue_timestamp),
            max_until: WallTime(record.max_timestamp),
            expires: WallTime(record.expiration_timestamp),
        };
        self.by_id
            .insert(record.token_id.as_str().into(), Arc::new(token));
    }

    /// Removes a token, if it is there.
    pub(crate) fn remove(&mut self, record: &RemoveDelegationTokenRecord) {
        self.by_id.remove(record.token_id.as_str());
    }

    /// The tokens after that one, as records.
    pub(crate) fn to_records(
        &self,
        after: Option<Arc<str>>,
    ) -> impl Iterator<Item = (Arc<str>, DelegationTokenRecord)> {
        self.by_id.range(from(after)).map(|(id, token)| {
            let record = DelegationTokenRecord {
                owner: token.owner.clone(),
                requester: token.requester.clone(),
                renewers: token.renewers.clone(),
                issue_timestamp: token.issued.0,
                max_timestamp: token.max_until.0,
                expiration_timestamp: token.expires.0,
                token_id: id.to_string(),
                ..Default::default()
            };
            (id.clone(), record)
        })
    }
}
