//! Which value of a topic's configuration is in force.
//!
//! The first that is set of: the topic's own, this node's, the cluster's, the node's static settings,
//! the default. The node and the cluster are asked by the key's synonyms, in their order.

use std::collections::BTreeMap;

use quorate_metadata::{ConfigKind, ConfigResource, MetadataImage};
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
#[derive(Debug, Clone, Copy)]
pub struct TopicConfigs<'a> {
    image: &'a MetadataImage,
    node: NodeId,
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
            image,
            node,
            settings,
        }
    }

    /// The value of `key` that is in force for `topic`, and its source.
    pub fn resolve(&self, topic: &str, key: &'static ConfigKey) -> Layer {
        self.resolve_with(key, self.image.configs().topic(topic, key.name))
    }

    /// The same, where the topic's own value is `own`.
    pub fn resolve_with(&self, key: &'static ConfigKey, own: Option<&str>) -> Layer {
        self.layers(key, own).next().unwrap_or(Layer {
            name: key.name,
            value: None,
            source: ConfigSource::Default,
        })
    }

    /// Every value that is set for `key`, the one in force first, the default last.
    pub fn layers(
        &self,
        key: &'static ConfigKey,
        own: Option<&str>,
    ) -> impl Iterator<Item = Layer> {
        let node = ConfigResource::new(ConfigKind::BROKER, self.node.to_string());
        let all = ConfigResource::cluster();
        let configs = self.image.configs();
        let own = own.map(|value| Layer {
            name: key.name,
            value: Some(value.to_string()),
            source: ConfigSource::Topic,
        });
        let synonyms = |source, get: &dyn Fn(&str) -> Option<String>| -> Vec<Layer> {
            let found = key.synonyms.iter().filter_map(|synonym| {
                let value = get(synonym.name)?;
                let value = Some(synonym.unit.convert(&value));
                Some(Layer {
                    name: synonym.name,
                    value,
                    source,
                })
            });
            found.collect()
        };
        let dynamic =
            |resource: &ConfigResource, key: &str| configs.get(resource, key).map(str::to_string);
        let broker = synonyms(ConfigSource::DynamicBroker, &|key| dynamic(&node, key));
        let cluster = synonyms(ConfigSource::DynamicCluster, &|key| dynamic(&all, key));
        let fixed = synonyms(ConfigSource::StaticBroker, &|key| {
            self.settings.get(key).cloned()
        });
        let default = Layer {
            name: key
                .synonyms
                .first()
                .map_or(key.name, |synonym| synonym.name),
            value: key.default.map(str::to_string),
            source: ConfigSource::Default,
        };
        own.into_iter()
            .chain(broker)
            .chain(cluster)
            .chain(fixed)
            .chain([default])
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
        let own = self.image.configs().topic(topic, name);
        match own {
            Some(own) => Some(own.to_string()),
            None => self.resolve_with(topic_config(name)?, None).value,
        }
    }
}

/// The static value of `min.insync.replicas`, or its default: what the whole cluster starts with.
pub(crate) fn static_min_insync_replicas(settings: &BTreeMap<String, String>) -> String {
    let set = settings.get(MIN_INSYNC_REPLICAS).map(String::as_str);
    let default = topic_config(MIN_INSYNC_REPLICAS).and_then(|key| key.default);
    set.or(default).unwrap_or("1").trim().to_string()
}
