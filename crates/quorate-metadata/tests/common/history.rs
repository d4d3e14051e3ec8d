//! Makes records that fit the image they are applied to, out of random steps.

use proptest::prelude::*;
use quorate_engine::Machine;
use quorate_metadata::{
    ConfigKind, ConfigResource, Features, KafkaMetadata, MetadataImage, MetadataVersion,
    PartitionId,
};
use quorate_protocol::records::*;
use quorate_types::{DirectoryId, NodeId, Offset, Rng, Uuid};

/// Records that fit one after the other, and the image after each.
#[derive(Debug)]
pub struct History {
    pub records: Vec<VersionedRecord>,
    /// `images[n]` is the image after `n` records.
    pub images: Vec<MetadataImage>,
}

impl History {
    pub fn last(&self) -> &MetadataImage {
        self.images.last().unwrap()
    }
}

/// Histories of up to `length` records at any `metadata.version`, which may grow on the way.
pub fn histories(length: usize) -> impl Strategy<Value = History> {
    let steps = prop::collection::vec((0..22u8, any::<u64>()), 0..length);
    let versions = prop::sample::select(vec![7, 10, 12, 14, 16, 18, 22, 23, 29, 29]);
    (versions, any::<bool>(), steps).prop_map(|(version, elr, steps)| {
        let mut image = MetadataImage::default();
        let mut history = History {
            records: Vec::new(),
            images: vec![image.clone()],
        };
        let mut first = vec![level(MetadataVersion::FEATURE, version)];
        if elr && version >= 23 {
            first.push(level(Features::ELR, 1));
        }
        let mut steps = steps.into_iter();
        loop {
            let record = match first.is_empty() {
                false => Some(first.remove(0)),
                true => match steps.next() {
                    Some((kind, seed)) => Dice(Rng::new(seed)).record(kind, &image),
                    None => break,
                },
            };
            let Some(record) = record else { continue };
            let record = image.features().metadata_version().versioned(record);
            let at = Offset(history.records.len() as i64);
            KafkaMetadata::apply(&mut image, &record, at).unwrap();
            history.records.push(record);
            history.images.push(image.clone());
        }
        history
    })
}

fn level(name: &str, feature_level: i16) -> MetadataRecord {
    FeatureLevelRecord {
        name: name.into(),
        feature_level,
        ..Default::default()
    }
    .into()
}

struct Dice(Rng);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0.index(n)
    }

    fn chance(&mut self) -> bool {
        self.below(2) == 0
    }

    fn pick<T>(&mut self, items: Vec<T>) -> Option<T> {
        if items.is_empty() {
            return None;
        }
        let place = self.below(items.len());
        items.into_iter().nth(place)
    }

    fn uuid(&mut self) -> Uuid {
        let (high, low) = (
            self.0.next_u64().to_be_bytes(),
            self.0.next_u64().to_be_bytes(),
        );
        Uuid(std::array::from_fn(|place| {
            if place < 8 {
                high[place]
            } else {
                low[place - 8]
            }
        }))
    }

    /// One of a few directories, some of them reserved ids.
    fn directory(&mut self) -> Uuid {
        let real = |n: usize| Uuid([n as u8 + 1; 16]);
        match self.below(6) {
            0 => DirectoryId::UNASSIGNED.0,
            1 => DirectoryId::LOST.0,
            n => real(n),
        }
    }

    fn word(&mut self) -> String {
        const WORDS: [&str; 7] = ["a.b", "a_b", "a.b_c", "a_b.c", "plain", "ab", "z"];
        WORDS[self.below(WORDS.len())].into()
    }

    /// Up to `most` different brokers.
    fn brokers(&mut self, most: usize) -> Vec<i32> {
        let mut all: Vec<i32> = (0..8).collect();
        self.0.shuffle(&mut all);
        let count = self.below(most + 1);
        all.truncate(count);
        all
    }

    fn some_of(&mut self, from: &[i32]) -> Vec<i32> {
        let mut some: Vec<i32> = from.to_vec();
        self.0.shuffle(&mut some);
        let count = self.below(some.len() + 1);
        some.truncate(count);
        some
    }

    fn record(&mut self, kind: u8, image: &MetadataImage) -> Option<MetadataRecord> {
        let version = image.features().metadata_version();
        Some(match kind {
            0 => self.register_broker(version).into(),
            1 => {
                let broker = self.broker(image)?;
                UnregisterBrokerRecord {
                    broker_id: broker.0,
                    broker_epoch: broker.1,
                    ..Default::default()
                }
                .into()
            }
            2 => self.change_broker(image)?,
            3 if version.has_controller_registration() => self.register_controller().into(),
            4..=6 => self.topic(image)?,
            7..=11 => self.partition(image)?,
            12..=15 => self.change_partition(image)?,
            16 => self.remove_topic(image)?,
            17 => self.config(image),
            18 => self.security(image)?,
            19 => self.quota_or_producer_ids(image),
            20 => self.feature(version, image),
            _ => self.rare(image),
        })
    }

    fn register_broker(&mut self, version: MetadataVersion) -> RegisterBrokerRecord {
        let endpoints = (0..self.below(3)).map(|n| BrokerEndpoint {
            name: format!("LISTENER{}", 9 - n),
            host: "localhost".into(),
            port: n as u16,
            security_protocol: n as i16,
            ..Default::default()
        });
        RegisterBrokerRecord {
            end_points: endpoints.collect(),
            broker_id: self.below(8) as i32,
            broker_epoch: self.below(1000) as i64,
            incarnation_id: self.uuid(),
            features: vec![BrokerFeature {
                name: self.word(),
                min_supported_version: 0,
                max_supported_version: self.below(3) as i16,
                ..Default::default()
            }],
            rack: self.chance().then(|| self.word()),
            fenced: self.chance(),
            in_controlled_shutdown: self.chance(),
            is_migrating_zk_broker: version.level() >= 8 && self.below(9) == 0,
            log_dirs: match version.has_directories() {
                true => (0..self.below(4))
                    .map(|n| Uuid([n as u8 + 3; 16]))
                    .rev()
                    .collect(),
                false => Vec::new(),
            },
            ..Default::default()
        }
    }

    fn register_controller(&mut self) -> RegisterControllerRecord {
        RegisterControllerRecord {
            controller_id: self.below(3) as i32 + 100,
            incarnation_id: self.uuid(),
            zk_migration_ready: self.chance(),
            end_points: vec![ControllerEndpoint {
                name: "CONTROLLER".into(),
                host: self.word(),
                port: 9093,
                ..Default::default()
            }],
            ..Default::default()
        }
    }

    fn broker(&mut self, image: &MetadataImage) -> Option<(i32, i64)> {
        let brokers = image
            .brokers()
            .map(|broker| (broker.id.0, broker.epoch.0))
            .collect();
        self.pick(brokers)
    }

    fn change_broker(&mut self, image: &MetadataImage) -> Option<MetadataRecord> {
        let (id, epoch) = self.broker(image)?;
        Some(match self.below(4) {
            0 => FenceBrokerRecord {
                id,
                epoch,
                ..Default::default()
            }
            .into(),
            1 => UnfenceBrokerRecord {
                id,
                epoch,
                ..Default::default()
            }
            .into(),
            _ => BrokerRegistrationChangeRecord {
                broker_id: id,
                broker_epoch: epoch,
                fenced: self.below(3) as i8 - 1,
                in_controlled_shutdown: self.below(2) as i8,
                log_dirs: match image.features().metadata_version().has_directories() {
                    true => (0..self.below(3)).map(|_| self.uuid()).collect(),
                    false => Vec::new(),
                },
                ..Default::default()
            }
            .into(),
        })
    }

    fn topic(&mut self, image: &MetadataImage) -> Option<MetadataRecord> {
        let name = self.word();
        let record = TopicRecord {
            topic_id: self.uuid(),
            name,
            ..Default::default()
        };
        image
            .topics()
            .by_name(&record.name)
            .is_none()
            .then(|| record.into())
    }

    fn remove_topic(&mut self, image: &MetadataImage) -> Option<MetadataRecord> {
        let topic_id = self.pick(image.topics().iter().map(|topic| topic.id().0).collect())?;
        Some(
            RemoveTopicRecord {
                topic_id,
                ..Default::default()
            }
            .into(),
        )
    }

    /// A new partition, mostly the next one, or an existing one anew.
    fn partition(&mut self, image: &MetadataImage) -> Option<MetadataRecord> {
        let features = image.features();
        let version = features.metadata_version();
        let topic = self.pick(image.topics().iter().collect())?;
        let count = topic.partition_count();
        let index = match self.below(10) {
            0 => self.below(count + 1),
            1 => count + self.below(40),
            _ => count,
        };
        let replicas = self.brokers(5);
        let elr = |dice: &mut Dice| {
            (version.has_elr() && features.elr_enabled()).then(|| dice.some_of(&replicas))
        };
        Some(
            PartitionRecord {
                partition_id: index as i32,
                topic_id: topic.id().0,
                isr: self.some_of(&replicas),
                leader: self.leader(&replicas),
                leader_recovery_state: self.below(2) as i8,
                leader_epoch: self.below(100) as i32,
                partition_epoch: self.below(100) as i32,
                adding_replicas: self.rarely(),
                removing_replicas: self.rarely(),
                directories: match version.has_directories() && self.chance() {
                    true => replicas.iter().map(|_| self.directory()).collect(),
                    false => Vec::new(),
                },
                eligible_leader_replicas: elr(self),
                last_known_elr: elr(self),
                replicas,
                ..Default::default()
            }
            .into(),
        )
    }

    fn leader(&mut self, replicas: &[i32]) -> i32 {
        match self.below(4) {
            0 => -1,
            1 => self.below(9) as i32,
            _ => replicas.first().copied().unwrap_or(-1),
        }
    }

    fn rarely(&mut self) -> Vec<i32> {
        match self.below(8) {
            0 => self.brokers(2),
            _ => Vec::new(),
        }
    }

    fn change_partition(&mut self, image: &MetadataImage) -> Option<MetadataRecord> {
        let features = image.features();
        let version = features.metadata_version();
        let id = self.pick(all_partitions(image))?;
        let before = image.topics().partition(id)?;
        let old: Vec<i32> = before.replicas.iter().map(|replica| replica.0).collect();
        let replicas = (self.below(3) == 0).then(|| self.brokers(5));
        let all = replicas.clone().unwrap_or(old);
        // Once a directory is known, new replicas need theirs.
        let known = |directory: &DirectoryId| *directory != DirectoryId::MIGRATING;
        let unpaired = before.directories.iter().any(known) && replicas.is_some();
        let directories = version.has_directories() && (unpaired || self.below(4) == 0);
        let elr = |dice: &mut Dice| {
            let may = version.has_elr() && features.elr_enabled() && dice.chance();
            may.then(|| dice.some_of(&all))
        };
        Some(
            PartitionChangeRecord {
                partition_id: id.index,
                topic_id: id.topic.0,
                isr: self.chance().then(|| self.some_of(&all)),
                leader: if self.chance() { -2 } else { self.leader(&all) },
                adding_replicas: self.chance().then(|| self.rarely()),
                removing_replicas: self.chance().then(|| self.rarely()),
                leader_recovery_state: self.below(3) as i8 - 1,
                directories: directories.then(|| all.iter().map(|_| self.directory()).collect()),
                eligible_leader_replicas: elr(self),
                last_known_elr: elr(self),
                replicas,
                ..Default::default()
            }
            .into(),
        )
    }

    fn config(&mut self, image: &MetadataImage) -> MetadataRecord {
        let topics = image
            .topics()
            .iter()
            .map(|topic| ConfigResource::topic(&**topic.name()));
        let others = [
            ConfigResource::cluster(),
            ConfigResource::new(ConfigKind::BROKER, "1"),
            ConfigResource::new(ConfigKind::GROUP, "g"),
        ];
        let resource = self.pick(topics.chain(others).collect()).unwrap();
        ConfigRecord {
            resource_type: resource.kind.0,
            resource_name: resource.name.to_string(),
            name: self.word(),
            value: self.chance().then(|| self.word()),
            ..Default::default()
        }
        .into()
    }

    fn security(&mut self, image: &MetadataImage) -> Option<MetadataRecord> {
        let version = image.features().metadata_version();
        Some(match self.below(6) {
            0 | 1 => AccessControlEntryRecord {
                id: self.uuid(),
                resource_type: 2,
                resource_name: self.word(),
                pattern_type: 3,
                principal: "User:a".into(),
                host: "*".into(),
                operation: self.below(15) as i8,
                permission_type: 3,
                ..Default::default()
            }
            .into(),
            2 => {
                let id = self.pick(image.acls().iter().map(|(id, _)| id.0).collect())?;
                RemoveAccessControlEntryRecord {
                    id,
                    ..Default::default()
                }
                .into()
            }
            3 if version.has_scram() => UserScramCredentialRecord {
                name: self.word(),
                mechanism: self.below(2) as i8 + 1,
                salt: b"salt".to_vec().into(),
                iterations: self.below(9) as i32,
                ..Default::default()
            }
            .into(),
            4 if version.has_scram() => {
                let users = image.scram().iter();
                let users = users.map(|(mechanism, user, _)| (mechanism.0, user.to_owned()));
                let (mechanism, name) = self.pick(users.collect())?;
                RemoveUserScramCredentialRecord {
                    name,
                    mechanism,
                    ..Default::default()
                }
                .into()
            }
            _ if version.has_delegation_tokens() => match self.chance() {
                true => DelegationTokenRecord {
                    owner: "User:a".into(),
                    token_id: self.word(),
                    expiration_timestamp: self.below(9) as i64,
                    ..Default::default()
                }
                .into(),
                false => RemoveDelegationTokenRecord {
                    token_id: self.word(),
                    ..Default::default()
                }
                .into(),
            },
            _ => return None,
        })
    }

    fn quota_or_producer_ids(&mut self, image: &MetadataImage) -> MetadataRecord {
        if self.below(4) == 0 {
            let next = image.producer_ids().next.unwrap_or(0) + 1000;
            return ProducerIdsRecord {
                next_producer_id: next,
                ..Default::default()
            }
            .into();
        }
        let part = |kind: &str, name: Option<String>| EntityData {
            entity_type: kind.into(),
            entity_name: name,
            ..Default::default()
        };
        let mut entity = vec![part("user", self.chance().then(|| self.word()))];
        if self.chance() {
            entity.push(part("client-id", Some(self.word())));
        }
        ClientQuotaRecord {
            entity,
            key: self.word(),
            value: self.below(5) as f64 / 2.0,
            remove: self.below(3) == 0,
            ..Default::default()
        }
        .into()
    }

    fn feature(&mut self, version: MetadataVersion, image: &MetadataImage) -> MetadataRecord {
        match self.below(4) {
            0 => {
                let up = version.level() + self.below(4) as i16;
                level(
                    MetadataVersion::FEATURE,
                    up.min(MetadataVersion::LATEST.level()),
                )
            }
            1 if version.has_elr() => {
                level(Features::ELR, i16::from(!image.features().elr_enabled()))
            }
            2 => level(Features::KRAFT, 1),
            _ => level("group.version", self.below(2) as i16),
        }
    }

    fn rare(&mut self, image: &MetadataImage) -> MetadataRecord {
        match self.below(4) {
            0 => NoOpRecord::default().into(),
            1 => ZkMigrationStateRecord::default().into(),
            _ => {
                let topics = image.topics().iter().map(|topic| topic.name().to_string());
                let topic_name = self.pick(topics.chain([String::new()]).collect()).unwrap();
                ClearElrRecord {
                    topic_name,
                    ..Default::default()
                }
                .into()
            }
        }
    }
}

fn all_partitions(image: &MetadataImage) -> Vec<PartitionId> {
    let topics = image.topics().iter();
    topics
        .flat_map(|topic| {
            topic
                .partitions()
                .map(move |(index, _)| PartitionId::new(topic.id(), index))
        })
        .collect()
}

/// The brokers that histories use.
pub fn all_brokers() -> impl Iterator<Item = NodeId> {
    (0..9).map(NodeId)
}
