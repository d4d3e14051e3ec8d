//! The cluster that the stories play in.

use std::collections::BTreeMap;
use std::time::Duration;

use quorate_controller::{
    Command, ControllerConfig, KafkaController, Operation, Reply, RequestContext,
};
use quorate_engine::{Refused, Solo};
use quorate_metadata::{MetadataImage, MetadataVersion, Partition};
use quorate_protocol::messages::alter_configs::AlterConfigsRequest;
use quorate_protocol::messages::broker_registration::{Feature, Listener};
use quorate_protocol::messages::create_topics::{
    CreatableReplicaAssignment, CreatableTopic, CreatableTopicConfig, CreatableTopicResult,
};
use quorate_protocol::messages::incremental_alter_configs::{
    AlterConfigsResource, AlterableConfig,
};
use quorate_protocol::messages::{
    BrokerHeartbeatRequest, BrokerHeartbeatResponse, BrokerRegistrationRequest,
    BrokerRegistrationResponse, CreateTopicsRequest, CreateTopicsResponse, ElectLeadersRequest,
    ElectLeadersResponse, IncrementalAlterConfigsRequest, IncrementalAlterConfigsResponse,
    UnregisterBrokerRequest, UnregisterBrokerResponse,
};
use quorate_protocol::records::{MetadataRecord, VersionedRecord};
use quorate_types::{ErrorCode, NodeId, Offset, TopicId, Uuid};

/// The id of every cluster here.
pub const CLUSTER_ID: &str = "stories";

/// What a request is refused with when it is changed like this.
pub type Case<R> = (ErrorCode, fn(&mut R));

/// A controller that leads, and the brokers it knows.
pub struct Cluster {
    pub solo: Solo<KafkaController>,
    epochs: BTreeMap<i32, i64>,
    incarnations: u64,
    version: i16,
}

impl Cluster {
    /// A cluster of the latest metadata.version without brokers.
    pub fn new() -> Cluster {
        Cluster::with(|_| {})
    }

    /// The same with other settings.
    pub fn with(set: impl FnOnce(&mut ControllerConfig)) -> Cluster {
        let mut config = ControllerConfig::new(NodeId(100), CLUSTER_ID);
        config.max_idle_interval = None;
        config.leader_imbalance_check_interval = None;
        set(&mut config);
        Cluster {
            solo: Solo::new(KafkaController::new(config), 1),
            epochs: BTreeMap::new(),
            incarnations: 0,
            version: 0,
        }
    }

    /// A cluster formatted at that metadata.version, with the features that come with it.
    pub fn at(version: i16) -> Cluster {
        Cluster::with(|config| {
            config.bootstrap =
                quorate_controller::features::bootstrap_records(MetadataVersion(version));
        })
    }

    /// A cluster whose brokers 1 to `brokers` are unfenced.
    pub fn of(brokers: i32) -> Cluster {
        let mut cluster = Cluster::new();
        cluster.start(brokers);
        cluster
    }

    /// The same without eligible leader replicas.
    pub fn without_elr(brokers: i32) -> Cluster {
        let mut cluster = Cluster::at(25);
        cluster.start(brokers);
        cluster
    }

    /// Registers and unfences brokers 1 to `brokers`.
    pub fn start(&mut self, brokers: i32) {
        for id in 1..=brokers {
            self.register(id);
            self.unfence(id);
        }
    }

    /// Sends a request of the newest version.
    pub fn ask<R>(&mut self, request: impl Into<Operation>) -> R
    where
        R: TryFrom<Reply, Error = Reply>,
    {
        self.try_ask(request).expect("the engine decides")
    }

    /// Sends a request that the engine might refuse.
    pub fn try_ask<R>(&mut self, request: impl Into<Operation>) -> Result<R, Refused>
    where
        R: TryFrom<Reply, Error = Reply>,
    {
        let operation = request.into();
        let newest = operation.api_key().versions().map_or(0, |range| range.max);
        let version = if self.version > 0 {
            self.version
        } else {
            newest
        };
        let context = RequestContext::anonymous(version, self.solo.now());
        let reply = self.solo.decide(Command { context, operation })?;
        assert!(
            self.solo.faults().is_empty(),
            "a fault: {:?}",
            self.solo.faults()
        );
        Ok(R::try_from(reply).unwrap_or_else(|other| panic!("another reply: {other:?}")))
    }

    /// Speaks that version of the protocol while `act` runs.
    pub fn speaking<T>(&mut self, version: i16, act: impl FnOnce(&mut Cluster) -> T) -> T {
        let before = std::mem::replace(&mut self.version, version);
        let result = act(self);
        self.version = before;
        result
    }

    /// A registration of a new process of the broker, with one directory.
    pub fn registration(&mut self, id: i32) -> BrokerRegistrationRequest {
        self.incarnations += 1;
        BrokerRegistrationRequest {
            broker_id: id,
            cluster_id: CLUSTER_ID.into(),
            incarnation_id: uuid(0x0a, self.incarnations),
            listeners: vec![Listener {
                name: "PLAINTEXT".into(),
                host: "localhost".into(),
                port: 9092,
                security_protocol: 0,
                ..Default::default()
            }],
            features: quorate_controller::features::SUPPORTED_FEATURES
                .iter()
                .map(|feature| Feature {
                    name: feature.name.into(),
                    min_supported_version: feature.min,
                    max_supported_version: feature.max,
                    ..Default::default()
                })
                .collect(),
            log_dirs: vec![directory(id)],
            ..Default::default()
        }
    }

    /// Registers a new process of the broker; its epoch.
    pub fn register(&mut self, id: i32) -> i64 {
        let request = self.registration(id);
        let answer = self.send_registration(&request);
        assert_eq!(answer.error_code, ErrorCode::None, "broker {id} registers");
        answer.broker_epoch
    }

    /// Sends a registration; its epoch counts from then on if it is granted.
    pub fn send_registration(
        &mut self,
        request: &BrokerRegistrationRequest,
    ) -> BrokerRegistrationResponse {
        let answer: BrokerRegistrationResponse = self.ask(request.clone());
        if answer.error_code.is_none() {
            self.epochs.insert(request.broker_id, answer.broker_epoch);
        }
        answer
    }

    /// The epoch of the broker's last registration.
    pub fn epoch(&self, id: i32) -> i64 {
        self.epochs.get(&id).copied().unwrap_or(-1)
    }

    /// A heartbeat of a broker that has applied everything and wants to take part.
    pub fn beat(&self, id: i32) -> BrokerHeartbeatRequest {
        BrokerHeartbeatRequest {
            broker_id: id,
            broker_epoch: self.epoch(id),
            current_metadata_offset: self.solo.end().0 - 1,
            ..Default::default()
        }
    }

    /// Sends a heartbeat.
    pub fn heartbeat(&mut self, request: BrokerHeartbeatRequest) -> BrokerHeartbeatResponse {
        self.ask(request)
    }

    /// The broker has caught up and wants to take part.
    pub fn unfence(&mut self, id: i32) {
        let beat = self.beat(id);
        let answer = self.heartbeat(beat);
        assert!(
            answer.error_code.is_none() && !answer.is_fenced,
            "broker {id}: {answer:?}"
        );
    }

    /// The broker wants to be fenced.
    pub fn fence(&mut self, id: i32) {
        let beat = BrokerHeartbeatRequest {
            want_fence: true,
            ..self.beat(id)
        };
        let answer = self.heartbeat(beat);
        assert!(
            answer.error_code.is_none() && answer.is_fenced,
            "broker {id}: {answer:?}"
        );
    }

    /// The broker wants to stop; whether it may.
    pub fn shut_down(&mut self, id: i32) -> bool {
        let beat = BrokerHeartbeatRequest {
            want_shut_down: true,
            ..self.beat(id)
        };
        let answer = self.heartbeat(beat);
        assert!(answer.error_code.is_none(), "broker {id}: {answer:?}");
        answer.should_shut_down
    }

    /// The broker is gone for good.
    pub fn unregister(&mut self, id: i32) -> ErrorCode {
        let answer: UnregisterBrokerResponse = self.ask(UnregisterBrokerRequest {
            broker_id: id,
            ..Default::default()
        });
        answer.error_code
    }

    /// Creates a topic whose partitions lie where they are told to.
    pub fn create(&mut self, name: &str, assignments: &[&[i32]]) -> TopicId {
        self.create_with(name, assignments, &[])
    }

    /// The same, with a configuration.
    pub fn create_with(
        &mut self,
        name: &str,
        assignments: &[&[i32]],
        configs: &[(&str, &str)],
    ) -> TopicId {
        let result = self.create_topic(assigned(name, assignments, configs));
        assert_eq!(
            result.error_code,
            ErrorCode::None,
            "{name}: {:?}",
            result.error_message
        );
        TopicId(result.topic_id)
    }

    /// Asks for one topic.
    pub fn create_topic(&mut self, topic: CreatableTopic) -> CreatableTopicResult {
        let topics = vec![topic];
        let answer: CreateTopicsResponse = self.ask(CreateTopicsRequest {
            topics,
            ..Default::default()
        });
        assert_eq!(answer.topics.len(), 1);
        answer.topics.into_iter().next().expect("one answer")
    }

    /// Elects leaders of partitions of a topic, or of all; error by topic and partition.
    pub fn elect(
        &mut self,
        election_type: i8,
        topic: Option<(&str, i32)>,
    ) -> Vec<(String, i32, ErrorCode)> {
        use quorate_protocol::messages::elect_leaders::TopicPartitions;
        let named = topic.map(|(topic, partition)| {
            let partitions = vec![partition];
            vec![TopicPartitions {
                topic: topic.into(),
                partitions,
                ..Default::default()
            }]
        });
        let answer: ElectLeadersResponse = self.ask(ElectLeadersRequest {
            election_type,
            topic_partitions: named,
            ..Default::default()
        });
        assert_eq!(answer.error_code, ErrorCode::None);
        let results = answer.replica_election_results.into_iter();
        results
            .flat_map(|topic| {
                let name = topic.topic;
                let partitions = topic.partition_result.into_iter();
                partitions.map(move |result| (name.clone(), result.partition_id, result.error_code))
            })
            .collect()
    }

    /// Changes configurations of one resource: operation (0 set, 1 delete, 2 append, 3 subtract),
    /// name, value.
    pub fn configure(
        &mut self,
        resource: (i8, &str),
        changes: &[(i8, &str, Option<&str>)],
    ) -> ErrorCode {
        let configs = changes
            .iter()
            .map(|(operation, name, value)| AlterableConfig {
                name: (*name).into(),
                config_operation: *operation,
                value: value.map(Into::into),
                ..Default::default()
            });
        let resource = AlterConfigsResource {
            resource_type: resource.0,
            resource_name: resource.1.into(),
            configs: configs.collect(),
            ..Default::default()
        };
        let resources = vec![resource];
        let answer: IncrementalAlterConfigsResponse = self.ask(IncrementalAlterConfigsRequest {
            resources,
            ..Default::default()
        });
        assert_eq!(answer.responses.len(), 1);
        answer.responses[0].error_code
    }

    /// Sets one configuration of a topic.
    pub fn set(&mut self, topic: &str, name: &str, value: &str) {
        let code = self.configure((2, topic), &[(0, name, Some(value))]);
        assert_eq!(code, ErrorCode::None, "{topic}: {name}={value}");
    }

    /// Lets time pass.
    pub fn sleep(&mut self, ms: u64) {
        self.solo.sleep(Duration::from_millis(ms));
        assert!(
            self.solo.faults().is_empty(),
            "a fault: {:?}",
            self.solo.faults()
        );
    }

    /// The metadata.
    pub fn image(&self) -> &MetadataImage {
        self.solo.state()
    }

    /// A partition.
    pub fn partition(&self, topic: &str, index: i32) -> Partition {
        let topic = self
            .image()
            .topics()
            .by_name(topic)
            .expect("the topic exists");
        topic.partition(index).expect("the partition exists")
    }

    /// Who leads, and who is in sync: `"1 [1,2]"`; with an ELR or a last known leader
    /// `"- [] elr [2] last [1]"`; `!` marks a leader that is recovering.
    pub fn show(&self, topic: &str) -> String {
        let partition = self.partition(topic, 0);
        let list = |nodes: &[NodeId]| {
            let nodes: Vec<String> = nodes.iter().map(ToString::to_string).collect();
            format!("[{}]", nodes.join(","))
        };
        let mut text = partition
            .leader
            .map_or("-".to_string(), |leader| leader.to_string());
        if partition.leader_recovery == quorate_metadata::LeaderRecovery::Recovering {
            text.push('!');
        }
        text = format!("{text} {}", list(&partition.isr));
        if !partition.elr.is_empty() {
            text = format!("{text} elr {}", list(&partition.elr));
        }
        if !partition.last_known_elr.is_empty() {
            text = format!("{text} last {}", list(&partition.last_known_elr));
        }
        text
    }

    /// The records that `act` brought about, by name.
    pub fn names(&mut self, act: impl FnOnce(&mut Cluster)) -> Vec<&'static str> {
        let names = |record: VersionedRecord| record.data.name();
        self.records(act).into_iter().map(names).collect()
    }

    /// The records that `act` brought about.
    pub fn records(&mut self, act: impl FnOnce(&mut Cluster)) -> Vec<VersionedRecord> {
        let from = self.solo.end();
        act(self);
        self.records_from(from)
    }

    /// The records from `from` on.
    pub fn records_from(&self, from: Offset) -> Vec<VersionedRecord> {
        self.solo
            .records_from(from)
            .into_iter()
            .map(|(_, record)| record)
            .collect()
    }

    /// The whole log, as data.
    pub fn log(&self) -> Vec<MetadataRecord> {
        let data = |record: VersionedRecord| record.data;
        self.records_from(Offset::ZERO)
            .into_iter()
            .map(data)
            .collect()
    }
}

/// A topic whose partitions lie where they are told to.
pub fn assigned(name: &str, assignments: &[&[i32]], configs: &[(&str, &str)]) -> CreatableTopic {
    CreatableTopic {
        name: name.into(),
        num_partitions: -1,
        replication_factor: -1,
        assignments: (0..)
            .zip(assignments)
            .map(|(partition_index, replicas)| CreatableReplicaAssignment {
                partition_index,
                broker_ids: replicas.to_vec(),
                ..Default::default()
            })
            .collect(),
        configs: configs
            .iter()
            .map(|(name, value)| config(name, Some(value)))
            .collect(),
        ..Default::default()
    }
}

/// A topic whose partitions are placed.
pub fn placed(name: &str, num_partitions: i32, replication_factor: i16) -> CreatableTopic {
    CreatableTopic {
        name: name.into(),
        num_partitions,
        replication_factor,
        ..Default::default()
    }
}

/// A configuration of a new topic.
pub fn config(name: &str, value: Option<&str>) -> CreatableTopicConfig {
    CreatableTopicConfig {
        name: name.into(),
        value: value.map(Into::into),
        ..Default::default()
    }
}

/// The one directory of a broker.
pub fn directory(id: i32) -> Uuid {
    uuid(0x0d, id as u64)
}

/// An id that is not random.
pub fn uuid(kind: u8, number: u64) -> Uuid {
    let mut bytes = [kind; 16];
    bytes[8..].copy_from_slice(&number.to_be_bytes());
    Uuid(bytes)
}

/// The nodes with these ids.
pub fn ids(ids: &[i32]) -> Vec<NodeId> {
    ids.iter().map(|id| NodeId(*id)).collect()
}

/// An AlterConfigs request that replaces a topic's configuration.
pub fn replace_configs(topic: &str, configs: &[(&str, &str)]) -> AlterConfigsRequest {
    use quorate_protocol::messages::alter_configs::{AlterConfigsResource, AlterableConfig};
    let configs = configs.iter().map(|(name, value)| AlterableConfig {
        name: (*name).into(),
        value: Some((*value).into()),
        ..Default::default()
    });
    let resource = AlterConfigsResource {
        resource_type: 2,
        resource_name: topic.into(),
        configs: configs.collect(),
        ..Default::default()
    };
    AlterConfigsRequest {
        resources: vec![resource],
        ..Default::default()
    }
}
