//! Dynamic configuration of topics, brokers, client metrics and groups.

use std::collections::BTreeMap;
use std::sync::Arc;

use im::OrdMap;

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
    by_kind: OrdMap<ConfigKind, OrdMap<Arc<str>, Values>>,
}

impl Configs {
    /// The value of one key.
    pub fn get(&self, resource: &ConfigResource, key: &str) -> Option<&str> {
        self.value(resource.kind, &resource.name, key)
    }

    /// The value of one key, without a [`ConfigResource`] at hand.
    pub fn value(&self, kind: ConfigKind, name: &str, key: &str) -> Option<&str> {
        self.values(kind, name)?.get(key).map(|value| &**value)
    }

    /// The value of one key of a topic, not looking any further.
    pub fn topic(&self, name: &str, key: &str) -> Option<&str> {
        self.value(ConfigKind::TOPIC, name, key)
    }

    /// The value of one key for all brokers.
    pub fn cluster(&self, key: &str) -> Option<&str> {
        self.value(ConfigKind::BROKER, "", key)
    }

    /// The keys and values of one resource, by key.
    pub fn entries(&self, kind: ConfigKind, name: &str) -> impl Iterator<Item = (&str, &str)> {
        self.values(kind, name)
            .into_iter()
            .flat_map(|values| values.iter().map(|(key, value)| (&**key, &**value)))
    }

    /// The names of the resources of that kind that have configuration, ascending.
    pub fn names(&self, kind: ConfigKind) -> impl Iterator<Item = &Arc<str>> {
        self.by_kind
            .get(&kind)
            .into_iter()
            .flat_map(|names| names.keys())
    }

    /// All resources that have configuration, by kind and name.
    pub fn resources(&self) -> impl Iterator<Item = ConfigResource> {
        self.by_kind.iter().flat_map(|(kind, names)| {
            names
                .keys()
                .map(|name| ConfigResource::new(*kind, name.clone()))
        })
    }

    /// Every configured value: resource, key, value.
    pub fn iter(&self) -> impl Iterator<Item = (ConfigKind, &Arc<str>, &str, &str)> {
        self.by_kind.iter().flat_map(|(kind, names)| {
            names.iter().flat_map(move |(name, values)| {
                values
                    .iter()
                    .map(move |(key, value)| (*kind, name, &**key, &**value))
            })
        })
    }

    fn values(&self, kind: ConfigKind, name: &str) -> Option<&Values> {
        self.by_kind.get(&kind)?.get(name)
    }
}
