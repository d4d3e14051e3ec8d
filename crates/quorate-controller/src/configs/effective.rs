//! Which value of a topic's configuration is in force.
//!
//! The first that is set of: the topic's own, this node's, the cluster's, the node's static settings,
//! the default. The node and the cluster are asked by the key's synonyms, in their order.

use std::collections::BTreeMap;

use quorate_metadata::{ConfigKind, ConfigResource, Configs, MetadataImage};
use quorate_types::NodeId;

use super::table::{ConfigKey, MIN_INSYNC_REPLICAS, UNCLEAN_LEADER_ELECTION, topic_config};
use super::value::boolean;

/// Where a value comes from, by Kafka's number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ConfigSource {
    /// The topic's own configuration.
    Topic,
    /// The configuration of one broker, set while it runs.
    DynamicBroker,
    /// The configuration of all brokers, set while they run.
    DynamicCluster,
    /// The node's configuration file.
    StaticBroker,
    /// Nothing is set.
    Default,
}

impl ConfigSource {
    /// The number that stands for the source in answers.
    pub const fn wire(self) -> i8 {
        match self {
            ConfigSource::Topic => 1,
            ConfigSource::DynamicBroker => 2,
            ConfigSource::DynamicCluster => 3,
            ConfigSource::StaticBroker => 4,
            ConfigSource::Default => 5,
        }
    }
}

/// A value, the name it was found under, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layer {
    /// The name of the configuration or of the synonym that is set.
    pub name: &'static str,
    /// The value in the topic's unit; `None` only for the default of the internal configuration.
    pub value: Option<String>,
    /// Where it is set.
    pub source: ConfigSource,
}

/// Where the values of a topic's configuration are looked up.
#[derive(Debug, Clone)]
pub struct TopicConfigs<'a> {
    configs: &'a Configs,
    node: ConfigResource,
    cluster: ConfigResource,
    settings: &'a BTreeMap<String, String>,
}

impl<'a> TopicConfigs<'a> {
    /// Values as the node sees them that has these static settings.
    pub fn new(
        image: &'a MetadataImage,
        node: NodeId,
        settings: &'a BTreeMap<String, String>,
    ) -> TopicConfigs<'a> {
        TopicConfigs {
            configs: image.configs(),
            node: ConfigResource::new(ConfigKind::BROKER, node.to_string()),
            cluster: ConfigResource::cluster(),
            settings,
        }
    }

    /// The value of `key` that is in force for `topic`, and its source.
    pub fn resolve(&self, topic: &str, key: &'static ConfigKey) -> Layer {
        self.resolve_with(key, self.configs.topic(topic, key.name))
    }

    /// The same, where the topic's own value is `own`.
    pub fn resolve_with(&self, key: &'static ConfigKey, own: Option<&str>) -> Layer {
        let first = self.layers(key, own).next();
        first.unwrap_or_else(|| Layer::default_of(key))
    }

    /// Every value that is set for `key`, the one in force first, the default last.
    pub fn layers(
        &self,
        key: &'static ConfigKey,
        own: Option<&str>,
    ) -> impl Iterator<Item = Layer> {
        let own = own.map(|value| Layer {
            name: key.name,
            value: Some(value.to_string()),
            source: ConfigSource::Topic,
        });
        own.into_iter()
            .chain(self.behind(key, ConfigSource::DynamicBroker))
            .chain(self.behind(key, ConfigSource::DynamicCluster))
            .chain(self.behind(key, ConfigSource::StaticBroker))
            .chain(std::iter::once_with(move || Layer::default_of(key)))
    }

    /// What the synonyms of `key` are set to in one of the sources.
    fn behind(&self, key: &'static ConfigKey, source: ConfigSource) -> impl Iterator<Item = Layer> {
        key.synonyms.iter().filter_map(move |synonym| {
            let name = synonym.name;
            let value = match source {
                ConfigSource::DynamicBroker => self.configs.get(&self.node, name),
                ConfigSource::DynamicCluster => self.configs.get(&self.cluster, name),
                _ => self.settings.get(name).map(String::as_str),
            }?;
            Some(Layer {
                name,
                value: Some(synonym.unit.convert(value)),
                source,
            })
        })
    }

    /// How many replicas of the topic must be in sync.
    pub fn min_insync_replicas(&self, topic: &str) -> usize {
        let value = self.value(topic, MIN_INSYNC_REPLICAS);
        value
            .and_then(|value| value.trim().parse().ok())
            .unwrap_or(1)
    }

    /// Whether a replica outside the ISR may lead the topic's partitions.
    pub fn unclean_leader_election(&self, topic: &str) -> bool {
        let value = self.value(topic, UNCLEAN_LEADER_ELECTION);
        value.and_then(|value| boolean(&value)).unwrap_or(false)
    }

    fn value(&self, topic: &str, name: &str) -> Option<String> {
        self.resolve(topic, topic_config(name)?).value
    }
}

impl Layer {
    fn default_of(key: &'static ConfigKey) -> Layer {
        Layer {
            name: key
                .synonyms
                .first()
                .map_or(key.name, |synonym| synonym.name),
            value: key.default.map(str::to_string),
            source: ConfigSource::Default,
        }
    }
}

/// The static value of `min.insync.replicas`, or its default: what the whole cluster starts with.
pub(crate) fn static_min_insync_replicas(settings: &BTreeMap<String, String>) -> String {
    let set = settings.get(MIN_INSYNC_REPLICAS).map(String::as_str);
    let default = topic_config(MIN_INSYNC_REPLICAS).and_then(|key| key.default);
    set.or(default).unwrap_or("1").trim().to_string()
}
