//! The controller as a domain of the engine: every command finds its manager here.

use std::time::Duration;

use quorate_engine::{Bracket, Domain, Draft, Halt, Machine};
use quorate_metadata::{KafkaMetadata, MetadataImage, Misfit};
use quorate_placement::{ReplicaPlacer, StripedPlacer};
use quorate_protocol::records::{MetadataRecord, VersionedRecord};
use quorate_types::{BrokerEpoch, MonoTime, NodeId, Offset};

use crate::cluster::{self, Sessions};
use crate::command::{Command, Operation, Reply};
use crate::config::ControllerConfig;
use crate::configs::{self, TopicConfigs};
use crate::policy::{AlterConfigPolicy, CreateTopicPolicy};
use crate::{bootstrap, disabled, features, partition, producer_ids, records, security, topics};

/// A decision of the controller in the making.
pub(crate) type Desk<'a> = Draft<'a, KafkaController>;

/// The policies of a Kafka controller, all of them immutable; its state is the
/// [`MetadataImage`], its soft state the [`Sessions`].
pub struct KafkaController {
    config: ControllerConfig,
    placer: Box<dyn ReplicaPlacer + Send + Sync>,
    create_topic_policy: Option<Box<dyn CreateTopicPolicy>>,
    alter_config_policy: Option<Box<dyn AlterConfigPolicy>>,
}

impl KafkaController {
    /// A controller that places replicas in stripes and has no policy beyond Kafka's rules.
    pub fn new(config: ControllerConfig) -> KafkaController {
        KafkaController {
            config,
            placer: Box::new(StripedPlacer),
            create_topic_policy: None,
            alter_config_policy: None,
        }
    }

    /// Places replicas with `placer`.
    pub fn with_placer(self, placer: impl ReplicaPlacer + Send + Sync + 'static) -> Self {
        KafkaController {
            placer: Box::new(placer),
            ..self
        }
    }

    /// Asks `policy` before a topic is created.
    pub fn with_create_topic_policy(self, policy: impl CreateTopicPolicy + 'static) -> Self {
        KafkaController {
            create_topic_policy: Some(Box::new(policy)),
            ..self
        }
    }

    /// Asks `policy` before configurations are changed.
    pub fn with_alter_config_policy(self, policy: impl AlterConfigPolicy + 'static) -> Self {
        KafkaController {
            alter_config_policy: Some(Box::new(policy)),
            ..self
        }
    }

    /// What it was configured with.
    pub fn config(&self) -> &ControllerConfig {
        &self.config
    }

    /// The configurations of topics as this controller sees them.
    pub fn topic_configs<'a>(&'a self, image: &'a MetadataImage) -> TopicConfigs<'a> {
        TopicConfigs::new(image, self.config.node_id, &self.config.node_settings)
    }

    pub(crate) fn placer(&self) -> &dyn ReplicaPlacer {
        &*self.placer
    }

    pub(crate) fn create_topic_policy(&self) -> Option<&dyn CreateTopicPolicy> {
        self.create_topic_policy.as_deref()
    }

    pub(crate) fn alter_config_policy(&self) -> Option<&dyn AlterConfigPolicy> {
        self.alter_config_policy.as_deref()
    }
}

/// What an active controller does from time to time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Task {
    /// Fences brokers whose session has run out.
    FenceStaleBrokers,
    /// Moves leaders back to the preferred replicas.
    ElectPreferredLeaders,
    /// Elects leaders of leaderless partitions whose topic allows an unclean election.
    ElectUncleanLeaders,
    /// Writes a record that says nothing, so that the log moves.
    WriteNoOp,
}

/// How soon a sweep that stopped at its limit goes on.
const SWEEP_AGAIN: Duration = Duration::from_millis(10);

impl Machine for KafkaController {
    type State = MetadataImage;
    type Record = VersionedRecord;
    type Misfit = Misfit;

    fn apply(
        state: &mut MetadataImage,
        record: &VersionedRecord,
        at: Offset,
    ) -> Result<(), Misfit> {
        KafkaMetadata::apply(state, record, at)
    }

    fn bracket(record: &VersionedRecord) -> Bracket {
        KafkaMetadata::bracket(record)
    }
}

impl Domain for KafkaController {
    type Command = Command;
    type Reply = Reply;
    type Soft = Sessions;
    type Task = Task;

    fn claim(&self, state: &MetadataImage, now: MonoTime) -> Sessions {
        Sessions::claim(state, self.config.broker_session_timeout, now)
    }

    fn open(&self, draft: &mut Desk<'_>) -> Result<(), Halt> {
        bootstrap::open(self, draft)
    }

    fn decide(&self, draft: &mut Desk<'_>, command: &Command) -> Result<Reply, Halt> {
        let version = command.context.api_version;
        Ok(match &command.operation {
            Operation::BrokerHeartbeat(request) => {
                let arrived = command.context.arrived.min(draft.now());
                cluster::heartbeat(self, draft, request, arrived)?.into()
            }
            Operation::BrokerRegistration(request) => {
                cluster::register(self, draft, request, version)?.into()
            }
            Operation::ControllerRegistration(request) => {
                cluster::register_controller(draft, request)?.into()
            }
            Operation::UnregisterBroker(request) => {
                cluster::unregister(self, draft, request)?.into()
            }
            Operation::AlterPartition(request) => {
                partition::alter(self, draft, request, version)?.into()
            }
            Operation::AssignReplicasToDirs(request) => {
                partition::assign(self, draft, request)?.into()
            }
            Operation::AllocateProducerIds(request) => {
                producer_ids::allocate(draft, request)?.into()
            }
            Operation::CreateTopics(request) => topics::create(self, draft, request)?.into(),
            Operation::DeleteTopics(request) => {
                topics::delete(self, draft, request, version)?.into()
            }
            Operation::CreatePartitions(request) => topics::grow(self, draft, request)?.into(),
            Operation::ElectLeaders(request) => partition::elect(self, draft, request)?.into(),
            Operation::AlterPartitionReassignments(request) => {
                partition::reassign(self, draft, request)?.into()
            }
            Operation::ListPartitionReassignments(request) => {
                partition::list_reassignments(draft.state(), request).into()
            }
            Operation::AlterConfigs(request) => configs::alter_legacy(self, draft, request)?.into(),
            Operation::IncrementalAlterConfigs(request) => {
                configs::alter(self, draft, request)?.into()
            }
            Operation::UpdateFeatures(request) => {
                features::update(self, draft, request, version)?.into()
            }
            Operation::AlterClientQuotas(request) => security::alter_quotas(draft, request)?.into(),
            Operation::AlterUserScramCredentials(request) => {
                security::alter_credentials(draft, request)?.into()
            }
            other => disabled::answer(other),
        })
    }

    fn tasks(&self) -> Vec<(Task, Duration)> {
        let config = &self.config;
        let mut tasks = vec![
            (Task::FenceStaleBrokers, config.broker_session_timeout / 8),
            (Task::ElectUncleanLeaders, config.unclean_election_interval),
        ];
        let balance = config.leader_imbalance_check_interval;
        tasks.extend(balance.map(|interval| (Task::ElectPreferredLeaders, interval)));
        tasks.extend(
            config
                .max_idle_interval
                .map(|interval| (Task::WriteNoOp, interval)),
        );
        tasks
    }

    fn run(&self, draft: &mut Desk<'_>, task: Task) -> Result<Option<Duration>, Halt> {
        let again = |more: bool, interval| if more { SWEEP_AGAIN } else { interval };
        Ok(match task {
            Task::FenceStaleBrokers => Some(cluster::fence_stale(self, draft)?),
            Task::ElectUncleanLeaders => {
                let more = partition::unclean_sweep(self, draft)?;
                Some(again(more, self.config.unclean_election_interval))
            }
            Task::ElectPreferredLeaders => {
                let more = partition::preferred_sweep(self, draft)?;
                let interval = self.config.leader_imbalance_check_interval;
                interval.map(|interval| again(more, interval))
            }
            Task::WriteNoOp => {
                draft.push(records::no_op())?;
                self.config.max_idle_interval
            }
        })
    }

    fn follow(
        &self,
        soft: &mut Sessions,
        _state: &MetadataImage,
        record: &VersionedRecord,
        _at: Offset,
        now: MonoTime,
    ) {
        match &record.data {
            MetadataRecord::RegisterBroker(record) => {
                soft.registered(NodeId(record.broker_id), BrokerEpoch(record.broker_epoch));
            }
            MetadataRecord::UnregisterBroker(record) => soft.unregistered(NodeId(record.broker_id)),
            MetadataRecord::BrokerRegistrationChange(record) if record.fenced > 0 => {
                soft.fenced(NodeId(record.broker_id), now);
            }
            _ => {}
        }
    }

    fn appended(&self, soft: &mut Sessions, command: &Command, reply: &Reply, end: Offset) {
        if let (Operation::BrokerHeartbeat(request), Reply::BrokerHeartbeat(answer)) =
            (&command.operation, reply)
        {
            cluster::heartbeat_appended(soft, request, answer, end);
        }
    }
}
