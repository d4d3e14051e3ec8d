//! Delegation tokens.

use std::sync::Arc;

use im::OrdMap;
use quorate_types::WallTime;

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
}
