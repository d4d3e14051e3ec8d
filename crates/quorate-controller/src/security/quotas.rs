//! AlterClientQuotas: limits of users, clients and addresses, each entity by itself.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use quorate_engine::Halt;
use quorate_metadata::QuotaEntity;
use quorate_protocol::messages::alter_client_quotas::{
    AlterClientQuotasRequest, AlterClientQuotasResponse, EntityData, OpData, RequestEntryData,
    ResponseEntryData,
};
use quorate_types::ErrorCode;

use crate::controller::Desk;
use crate::error::{ApiError, Bad, outcome};
use crate::records;

/// What values a limit may have besides being positive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Limit {
    Any,
    Long,
    Int,
}

/// The limits that an entity can have.
type Keys = &'static [(&'static str, Limit)];

/// The limits of users and clients.
const CLIENT_KEYS: [(&str, Limit); 4] = [
    ("producer_byte_rate", Limit::Long),
    ("consumer_byte_rate", Limit::Long),
    ("request_percentage", Limit::Any),
    ("controller_mutation_rate", Limit::Any),
];
/// The limits of addresses.
const IP_KEYS: [(&str, Limit); 1] = [("connection_creation_rate", Limit::Int)];

/// Sets and removes limits.
pub(crate) fn alter_quotas(
    draft: &mut Desk<'_>,
    request: &AlterClientQuotasRequest,
) -> Result<AlterClientQuotasResponse, Halt> {
    if request.validate_only {
        draft.dry_run();
    }
    let mut seen = BTreeSet::new();
    let mut entries = Vec::with_capacity(request.entries.len());
    for entry in &request.entries {
        let altered = alter_one(draft, entry, &mut seen);
        let (error_code, error_message) = outcome(altered)?;
        let entity = entry.entity.clone();
        entries.push(ResponseEntryData {
            error_code,
            error_message,
            entity,
            ..Default::default()
        });
    }
    Ok(AlterClientQuotasResponse {
        entries,
        ..Default::default()
    })
}

fn alter_one(
    draft: &mut Desk<'_>,
    entry: &RequestEntryData,
    seen: &mut BTreeSet<QuotaEntity>,
) -> Result<(), Bad> {
    let (entity, keys) = entity(&entry.entity)?;
    if !seen.insert(entity.clone()) {
        return Err(invalid("the entity is named more than once").into());
    }
    let mut changes: BTreeMap<&str, Option<f64>> = BTreeMap::new();
    for op in &entry.ops {
        let value = (!op.remove).then_some(op.value);
        if changes.insert(&op.key, value).is_some() {
            return Err(invalid(format!("{} is changed more than once", op.key)).into());
        }
        check_value(op, keys)?;
    }
    for (key, value) in changes {
        let current = draft.state().client_quotas().get(&entity, key);
        if value.map(f64::to_bits) != current.map(f64::to_bits) {
            draft.push(records::client_quota(&entity, key, value))?;
        }
    }
    Ok(())
}

/// The entity, if it is one, and which limits it can have.
fn entity(parts: &[EntityData]) -> Result<(QuotaEntity, Keys), ApiError> {
    let mut named: BTreeMap<String, Option<String>> = BTreeMap::new();
    for part in parts {
        let (kind, name) = (part.entity_type.as_str(), &part.entity_name);
        if !matches!(kind, "user" | "client-id" | "ip") {
            return Err(invalid(format!("{kind:?} is nothing that has limits")));
        }
        if name.as_deref() == Some("") {
            return Err(invalid(format!("an empty name of a {kind}")));
        }
        if named.insert(kind.to_string(), name.clone()).is_some() {
            return Err(invalid(format!("{kind} is named twice in one entity")));
        }
    }
    let keys: &[_] = match named.get("ip") {
        _ if named.is_empty() => return Err(invalid("an entity without parts")),
        None => &CLIENT_KEYS,
        Some(_) if named.len() > 1 => {
            return Err(invalid("an ip goes with neither a user nor a client"));
        }
        Some(Some(name)) if !is_address(name) => {
            return Err(invalid(format!("{name:?} is no address")));
        }
        Some(_) => &IP_KEYS,
    };
    Ok((named.into_iter().collect(), keys))
}

/// Whether the text is an address or could be the name of a host. Names are not resolved here.
fn is_address(text: &str) -> bool {
    let label = |label: &str| {
        !label.is_empty()
            && label.len() <= 63
            && label
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    let numeric = |text: &str| {
        text.bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'.')
    };
    text.parse::<IpAddr>().is_ok() || (!numeric(text) && text.split('.').all(label))
}

fn check_value(op: &OpData, keys: &[(&str, Limit)]) -> Result<(), ApiError> {
    if op.remove {
        return Ok(());
    }
    let Some((_, limit)) = keys.iter().find(|(key, _)| *key == op.key) else {
        return Err(invalid(format!("the entity has no limit {:?}", op.key)));
    };
    let most = match limit {
        Limit::Any => f64::MAX,
        Limit::Long => i64::MAX as f64,
        Limit::Int => f64::from(i32::MAX),
    };
    let whole = *limit == Limit::Any || (op.value % 1.0).abs() <= 1e-6;
    if op.value > 0.0 && op.value <= most && whole {
        return Ok(());
    }
    let kind = if *limit == Limit::Any {
        "number"
    } else {
        "whole number"
    };
    Err(invalid(format!(
        "{} must be a positive {kind}, not {}",
        op.key, op.value
    )))
}

fn invalid(message: impl Into<String>) -> ApiError {
    ApiError::new(ErrorCode::InvalidRequest, message)
}

#[cfg(test)]
mod tests {
    use super::is_address;

    #[test]
    fn addresses_are_numbers_or_names() {
        for good in ["127.0.0.1", "::1", "localhost", "broker-1.example.org"] {
            assert!(is_address(good), "{good}");
        }
        for bad in ["", "1.2.3", "256.0.0.1", "a..b", "a b", "a_b"] {
            assert!(!is_address(bad), "{bad}");
        }
    }
}
