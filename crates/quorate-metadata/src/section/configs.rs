//! Dynamic configuration of topics, brokers, client metrics and groups.

use std::collections::BTreeMap;
use std::sync::Arc;

use im::OrdMap;
use quorate_protocol::records::ConfigRecord;

use super::from;
use crate::change::{Change, diff, diff_entries};

/// What a configuration belongs to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ConfigResource {
    /// The kind of thing.
    pub kind: ConfigKind,
    /// Its name; empty for the brokers of the whole cluster.
    pub name: Arc<str>,
}

impl ConfigResource {
    /// The resource of that kind and name.
    pub fn new(kind: ConfigKind, name: impl Into<Arc<str>>) -> ConfigResource {
        ConfigResource {
            kind,
            name: name.into(),
        }
    }

    /// A topic.
    pub fn topic(name: impl Into<Arc<str>>) -> ConfigResource {
        ConfigResource::new(ConfigKind::TOPIC, name)
    }

    /// All brokers.
    pub fn cluster() -> ConfigResource {
        ConfigResource::new(ConfigKind::BROKER, "")
    }
}

/// A kind of configured thing, by its number in Kafka.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConfigKind(pub i8);

impl ConfigKind {
    /// A topic.
    pub const TOPIC: ConfigKind = ConfigKind(2);
    /// A broker, or all of them if the name is empty.
    pub const BROKER: ConfigKind = ConfigKind(4);
    /// A broker's logger; never in the log.
    pub const BROKER_LOGGER: ConfigKind = ConfigKind(8);
    /// A subscription to client metrics.
    pub const CLIENT_METRICS: ConfigKind = ConfigKind(16);
    /// A group.
    pub const GROUP: ConfigKind = ConfigKind(32);
}

type Values = Arc<BTreeMap<Arc<str>, Arc<str>>>;

/// All dynamic configuration.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Configs {
    by_resource: OrdMap<ConfigResource, Values>,
}

impl Configs {
    /// The value of one key.
    pub fn get(&self, resource: &ConfigResource, key: &str) -> Option<&str> {
        self.by_resource
            .get(resource)?
            .get(key)
            .map(|value| &**value)
    }

    /// The value of one key of a topic, not looking any further.
    pub fn topic(&self, name: &str, key: &str) -> Option<&str> {
        self.get(&ConfigResource::topic(name), key)
    }

    /// The value of one key for all brokers.
    pub fn cluster(&self, key: &str) -> Option<&str> {
        self.get(&ConfigResource::cluster(), key)
    }

    /// The keys and values of one resource, by key.
    pub fn entries(&self, resource: &ConfigResource) -> impl Iterator<Item = (&str, &str)> {
        pairs(self.by_resource.get(resource))
    }

    /// The resources that have configuration, by kind and name.
    pub fn resources(&self) -> impl Iterator<Item = &ConfigResource> {
        self.by_resource.keys()
    }

    /// The resources of that kind that have configuration, by name.
    pub fn resources_of(&self, kind: ConfigKind) -> impl Iterator<Item = &ConfigResource> {
        self.by_resource
            .range(ConfigResource::new(kind, "")..)
            .map(|(resource, _)| resource)
            .take_while(move |resource| resource.kind == kind)
    }

    /// Every configured value, by resource and key.
    pub fn iter(&self) -> impl Iterator<Item = (&ConfigResource, &str, &str)> {
        self.by_resource.iter().flat_map(|(resource, values)| {
            pairs(Some(values)).map(move |(key, value)| (resource, key, value))
        })
    }

    pub(crate) fn changes<'a>(
        &'a self,
        after: &'a Configs,
    ) -> impl Iterator<Item = ConfigChange<'a>> {
        diff(&self.by_resource, &after.by_resource).map(|change| ConfigChange {
            resource: change.key,
            before: change.before,
            after: change.after,
        })
    }

    /// Sets a value, or deletes it if the record has none.
    pub(crate) fn set(&mut self, record: &ConfigRecord) {
        let kind = ConfigKind(record.resource_type);
        let resource = ConfigResource::new(kind, record.resource_name.as_str());
        match &record.value {
            Some(value) => {
                let values = self.by_resource.entry(resource).or_default();
                Arc::make_mut(values).insert(record.name.as_str().into(), value.as_str().into());
            }
            None => {
                let Some(values) = self.by_resource.get_mut(&resource) else {
                    return;
                };
                Arc::make_mut(values).remove(record.name.as_str());
                if values.is_empty() {
                    self.by_resource.remove(&resource);
                }
            }
        }
    }

    /// Forgets all configuration of a topic that was removed.
    pub(crate) fn topic_removed(&mut self, name: Arc<str>) {
        self.by_resource.remove(&ConfigResource::topic(name));
    }

    /// The configuration after that resource, one resource at a time, as records.
    pub(crate) fn to_records(
        &self,
        after: Option<ConfigResource>,
    ) -> impl Iterator<Item = (ConfigResource, Vec<ConfigRecord>)> {
        self.by_resource
            .range(from(after))
            .map(|(resource, values)| {
                let records = pairs(Some(values)).map(|(key, value)| ConfigRecord {
                    resource_type: resource.kind.0,
                    resource_name: resource.name.to_string(),
                    name: key.to_owned(),
                    value: Some(value.to_owned()),
                    ..Default::default()
                });
                (resource.clone(), records.collect())
            })
    }
}

/// A resource whose configuration changed.
#[derive(Debug, Clone, Copy)]
pub struct ConfigChange<'a> {
    resource: &'a ConfigResource,
    before: Option<&'a Values>,
    after: Option<&'a Values>,
}

impl<'a> ConfigChange<'a> {
    /// The resource.
    pub fn resource(&self) -> &'a ConfigResource {
        self.resource
    }

    /// The keys whose values differ: those that were there before by key, then new ones by key.
    pub fn keys(&self) -> impl Iterator<Item = Change<&'a str, &'a str>> + use<'a> {
        diff_entries(self.before, self.after)
            .map(|change| change.map_key(|key| &**key).map(|value| &**value))
    }

    /// Everything that is configured now, by key.
    pub fn after(&self) -> impl Iterator<Item = (&'a str, &'a str)> + use<'a> {
        pairs(self.after)
    }
}

fn pairs(values: Option<&Values>) -> impl Iterator<Item = (&str, &str)> {
    values
        .into_iter()
        .flat_map(|values| values.iter().map(|(key, value)| (&**key, &**value)))
}
