//! Client quotas by entity.

use std::collections::BTreeMap;
use std::sync::Arc;

use im::OrdMap;
use quorate_protocol::records::{ClientQuotaRecord, EntityData};

use super::from;
use crate::change::{Change, diff, diff_entries};

/// Whom a quota limits: kinds (`user`, `client-id`, `ip`) with names, `None` being the default of
/// the kind. Kinds ascend.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct QuotaEntity(BTreeMap<String, Option<String>>);

impl QuotaEntity {
    /// The kinds and names, by kind.
    pub fn parts(&self) -> impl Iterator<Item = (&str, Option<&str>)> {
        self.0
            .iter()
            .map(|(kind, name)| (kind.as_str(), name.as_deref()))
    }

    /// The name for that kind: `Some(None)` for its default, `None` if the kind is not part of it.
    pub fn name(&self, kind: &str) -> Option<Option<&str>> {
        self.0.get(kind).map(|name| name.as_deref())
    }

    fn to_record(&self) -> Vec<EntityData> {
        let part = |(kind, name): (&str, Option<&str>)| EntityData {
            entity_type: kind.to_owned(),
            entity_name: name.map(str::to_owned),
            ..Default::default()
        };
        self.parts().map(part).collect()
    }
}

impl FromIterator<(String, Option<String>)> for QuotaEntity {
    fn from_iter<I: IntoIterator<Item = (String, Option<String>)>>(parts: I) -> QuotaEntity {
        QuotaEntity(parts.into_iter().collect())
    }
}

/// A limit. Equal if the bits are, so that images can be compared.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct QuotaValue(u64);

impl QuotaValue {
    /// Wraps the limit.
    pub fn new(value: f64) -> QuotaValue {
        QuotaValue(value.to_bits())
    }

    /// The limit.
    pub fn get(self) -> f64 {
        f64::from_bits(self.0)
    }
}

impl std::fmt::Debug for QuotaValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.get().fmt(f)
    }
}

type Limits = Arc<BTreeMap<Arc<str>, QuotaValue>>;

/// All client quotas.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClientQuotas {
    by_entity: OrdMap<QuotaEntity, Limits>,
}

impl ClientQuotas {
    /// The limit of that entity for that key.
    pub fn get(&self, entity: &QuotaEntity, key: &str) -> Option<f64> {
        self.by_entity
            .get(entity)?
            .get(key)
            .map(|value| value.get())
    }

    /// The entities that have limits.
    pub fn entities(&self) -> impl Iterator<Item = &QuotaEntity> {
        self.by_entity.keys()
    }

    /// The limits of one entity, by key.
    pub fn limits(&self, entity: &QuotaEntity) -> impl Iterator<Item = (&str, f64)> {
        self.by_entity
            .get(entity)
            .into_iter()
            .flat_map(|limits| limits.iter().map(|(key, value)| (&**key, value.get())))
    }

    pub(crate) fn changes<'a>(
        &'a self,
        after: &'a ClientQuotas,
    ) -> impl Iterator<Item = QuotaChange<'a>> {
        diff(&self.by_entity, &after.by_entity).map(|change| QuotaChange {
            entity: change.key,
            before: change.before,
            after: change.after,
        })
    }

    /// Sets or removes one limit.
    pub(crate) fn set(&mut self, record: &ClientQuotaRecord) {
        let entity: QuotaEntity = record
            .entity
            .iter()
            .map(|part| (part.entity_type.clone(), part.entity_name.clone()))
            .collect();
        if record.remove {
            let Some(limits) = self.by_entity.get_mut(&entity) else {
                return;
            };
            Arc::make_mut(limits).remove(record.key.as_str());
            if limits.is_empty() {
                self.by_entity.remove(&entity);
            }
        } else {
            let limits = self.by_entity.entry(entity).or_default();
            Arc::make_mut(limits).insert(record.key.as_str().into(), QuotaValue::new(record.value));
        }
    }

    /// The limits after that entity, one entity at a time, as records.
    pub(crate) fn to_records(
        &self,
        after: Option<QuotaEntity>,
    ) -> impl Iterator<Item = (QuotaEntity, Vec<ClientQuotaRecord>)> {
        self.by_entity.range(from(after)).map(|(entity, limits)| {
            let records = limits.iter().map(|(key, value)| ClientQuotaRecord {
                entity: entity.to_record(),
                key: key.to_string(),
                value: value.get(),
                ..Default::default()
            });
            (entity.clone(), records.collect())
        })
    }
}

/// An entity whose limits changed.
#[derive(Debug, Clone, Copy)]
pub struct QuotaChange<'a> {
    entity: &'a QuotaEntity,
    before: Option<&'a Limits>,
    after: Option<&'a Limits>,
}

impl<'a> QuotaChange<'a> {
    /// The entity.
    pub fn entity(&self) -> &'a QuotaEntity {
        self.entity
    }

    /// The keys whose limits differ: those that were there before by key, then new ones by key.
    pub fn keys(&self) -> impl Iterator<Item = Change<&'a str, f64>> + use<'a> {
        diff_entries(self.before, self.after)
            .map(|change| change.map_key(|key| &**key).map(|value| value.get()))
    }
}
