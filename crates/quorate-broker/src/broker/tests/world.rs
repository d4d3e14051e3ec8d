//! A cluster in a box: brokers, a controller that is played here, and a network that delays, loses
//! and never delivers to the next process what was meant for the last.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use quorate_metadata::{Listener, PartitionId, SecurityProtocol};
use quorate_protocol::messages::alter_partition::{ResponsePartitionData, ResponseTopicData};
use quorate_types::{IncarnationId, Rng, TopicId, Uuid, VersionRange};

use crate::broker::*;
use crate::lifecycle::ShutdownReason;
use crate::testing::{Log, directory_of};

pub(super) const BROKERS: [i32; 3] = [1, 2, 3];

fn config(id: i32, incarnation: u8) -> LifecycleConfig {
    let mut config = LifecycleConfig::new(
        NodeId(id),
        "cluster",
        IncarnationId(Uuid([incarnation; 16])),
    );
    config.directories = vec![directory_of(id)];
    config.features = BTreeMap::from([(
        "metadata.version".to_owned(),
        VersionRange { min: 7, max: 29 },
    )]);
    config.listeners = vec![Listener {
        name: "PLAINTEXT".to_owned(),
        host: "localhost".to_owned(),
        port: 9000,
        security_protocol: SecurityProtocol::PLAINTEXT,
    }];
    config
}

/// One start of a broker: what is meant for one process never reaches the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Process {
    id: i32,
    start: u8,
}

/// Something on its way.
enum Parcel {
    ToController(Process, BrokerCall, BrokerRequest),
    Fetch(Process, BrokerCall, NodeId, FetchRequest),
    Answer(Process, BrokerCall, Result<BrokerResponse, CallFailure>),
    Image(Process, Box<Log>),
}

pub(super) struct World {
    pub(super) now: MonoTime,
    rng: Rng,
    /// One in so many parcels is lost; 0 for none.
    pub(super) loss: u64,
    pub(super) log: Log,
    /// When each broker was last heard.
    pub(super) sessions: BTreeMap<i32, MonoTime>,
    pub(super) brokers: BTreeMap<i32, Broker>,
    started: BTreeMap<i32, u8>,
    starts: u8,
    parcels: BTreeMap<(MonoTime, u64), Parcel>,
    sent: u64,
    pub(super) granted: BTreeSet<i32>,
}

impl World {
    pub(super) fn new(seed: u64, loss: u64) -> World {
        let mut world = World {
            now: MonoTime::ZERO,
            rng: Rng::new(seed),
            loss,
            log: Log::new(),
            sessions: BTreeMap::new(),
            brokers: BTreeMap::new(),
            started: BTreeMap::new(),
            starts: 0,
            parcels: BTreeMap::new(),
            sent: 0,
            granted: BTreeSet::new(),
        };
        for id in BROKERS {
            world.start(id);
        }
        world
    }

    pub(super) fn start(&mut self, id: i32) {
        self.starts += 1;
        let mut broker = Broker::new(config(id, self.starts), CacheConfig::default());
        broker.handle(self.now, BrokerInput::Start);
        self.brokers.insert(id, broker);
        self.started.insert(id, self.starts);
        self.publish_to(id);
        self.drain(id);
    }

    fn process(&self, id: i32) -> Process {
        let start = self.started.get(&id).copied().unwrap_or(0);
        Process { id, start }
    }

    /// The process, if it is still the one that was meant.
    fn alive(&mut self, process: Process) -> Option<&mut Broker> {
        if self.process(process.id) != process {
            return None;
        }
        self.brokers.get_mut(&process.id)
    }

    pub(super) fn kill(&mut self, id: i32) {
        self.brokers.remove(&id);
    }

    fn send(&mut self, parcel: Parcel) {
        let delay = Duration::from_micros(200 + self.rng.below(3000));
        self.sent += 1;
        self.parcels.insert((self.now + delay, self.sent), parcel);
    }

    /// Images arrive in order, as the log does.
    pub(super) fn publish_to(&mut self, id: i32) {
        let log = Box::new(self.log.clone());
        self.send(Parcel::Image(self.process(id), log));
    }

    pub(super) fn publish(&mut self) {
        for id in BROKERS {
            self.publish_to(id);
        }
    }

    pub(super) fn drain(&mut self, id: i32) {
        let process = self.process(id);
        let Some(broker) = self.brokers.get_mut(&id) else {
            return;
        };
        let outputs: Vec<BrokerOutput> = std::iter::from_fn(|| broker.poll()).collect();
        for output in outputs {
            match output {
                BrokerOutput::Call {
                    call,
                    to: Destination::ActiveController,
                    request,
                } => self.lose_or_send(Parcel::ToController(process, call, request)),
                BrokerOutput::Call {
                    call,
                    to: Destination::Broker(leader),
                    request: BrokerRequest::Fetch(request),
                } => self.lose_or_send(Parcel::Fetch(process, call, leader, request)),
                BrokerOutput::Call { request, .. } => panic!("{request:?} is no broker's"),
                BrokerOutput::Lifecycle(lifecycle::Output::ShutDown(reason)) => {
                    assert_eq!(reason, ShutdownReason::Granted);
                    self.granted.insert(id);
                }
                BrokerOutput::Lifecycle(_) => {}
            }
        }
    }

    fn lose_or_send(&mut self, parcel: Parcel) {
        if !self.rng.one_in(self.loss) {
            self.send(parcel);
        }
    }

    pub(super) fn run_for(&mut self, millis: u64) {
        let end = self.now + Duration::from_millis(millis);
        let mut steps = 0;
        loop {
            steps += 1;
            assert!(steps < 100_000, "no end of deadlines at {}", self.now);
            let parcel = self.parcels.keys().next().map(|(at, _)| *at);
            let deadlines = self.brokers.values().filter_map(Broker::deadline);
            let next = deadlines.chain(parcel).min().unwrap_or(end);
            if next >= end {
                break;
            }
            self.now = self.now.max(next);
            self.expire_sessions();
            match self.parcels.pop_first() {
                Some(((at, _), parcel)) if at <= self.now => self.deliver(parcel),
                Some((key, parcel)) => {
                    self.parcels.insert(key, parcel);
                }
                None => {}
            }
            for id in BROKERS {
                if let Some(broker) = self.brokers.get_mut(&id) {
                    broker.handle(self.now, BrokerInput::Tick);
                }
                self.drain(id);
            }
        }
        self.now = end;
    }

    fn deliver(&mut self, parcel: Parcel) {
        match parcel {
            Parcel::ToController(process, call, request) => {
                let end = self.log.end;
                let response = self.decide(process.id, request);
                if self.log.end != end {
                    self.publish();
                }
                self.lose_or_send(Parcel::Answer(process, call, Ok(response)));
            }
            Parcel::Fetch(process, call, leader, request) => {
                let answer = match self.brokers.get_mut(&leader.0) {
                    Some(broker) => Ok(BrokerResponse::Fetch(
                        broker.fetched(self.now, &request).expect("a follower's"),
                    )),
                    None => Err(CallFailure::Disconnected),
                };
                self.drain(leader.0);
                self.lose_or_send(Parcel::Answer(process, call, answer));
            }
            Parcel::Answer(process, call, answer) => {
                let now = self.now;
                if let Some(broker) = self.alive(process) {
                    broker.handle(now, BrokerInput::Answer { call, answer });
                    self.drain(process.id);
                }
            }
            Parcel::Image(process, log) => {
                let now = self.now;
                if let Some(broker) = self.alive(process)
                    && log.end > broker.cache().end()
                {
                    broker.published(now, log.image, log.end);
                    self.drain(process.id);
                }
            }
        }
    }

    fn decide(&mut self, id: i32, request: BrokerRequest) -> BrokerResponse {
        match request {
            BrokerRequest::Registration(request) => {
                BrokerResponse::Registration(self.register(id, &request))
            }
            BrokerRequest::Heartbeat(request) => BrokerResponse::Heartbeat(self.beat(id, &request)),
            BrokerRequest::AlterPartition(request) => {
                BrokerResponse::AlterPartition(self.alter(id, &request))
            }
            other => panic!("{other:?} is not expected: replicas lie where the log says"),
        }
    }

    fn register(
        &mut self,
        id: i32,
        request: &BrokerRegistrationRequest,
    ) -> BrokerRegistrationResponse {
        let known = self.log.image.broker(NodeId(id)).cloned();
        let refuse = |error_code| BrokerRegistrationResponse {
            error_code,
            ..Default::default()
        };
        let accept = |broker_epoch| BrokerRegistrationResponse {
            broker_epoch,
            ..Default::default()
        };
        match known {
            Some(known) if known.incarnation.0 == request.incarnation_id => {
                return accept(known.epoch.0);
            }
            Some(_) if self.sessions.contains_key(&id) => {
                return refuse(ErrorCode::DuplicateBrokerRegistration);
            }
            _ => {}
        }
        let epoch = self.log.end.0;
        self.log
            .register(id, |record| record.incarnation_id = request.incarnation_id);
        accept(epoch)
    }

    fn beat(&mut self, id: i32, request: &BrokerHeartbeatRequest) -> BrokerHeartbeatResponse {
        let known = self.log.image.broker(NodeId(id)).cloned();
        let Some(known) = known.filter(|known| known.epoch.0 == request.broker_epoch) else {
            return BrokerHeartbeatResponse {
                error_code: ErrorCode::StaleBrokerEpoch,
                ..Default::default()
            };
        };
        self.sessions.insert(id, self.now);
        let is_caught_up = request.current_metadata_offset >= known.epoch.0;
        let mut fenced = known.fenced;
        if request.want_shut_down {
            if !known.in_controlled_shutdown {
                self.log.change(id, 0, 1);
                self.move_away(id);
            }
            let leads = self.log.image.topics().led_by(NodeId(id)).next().is_some();
            return BrokerHeartbeatResponse {
                is_caught_up,
                is_fenced: fenced,
                should_shut_down: !leads,
                ..Default::default()
            };
        }
        if fenced && is_caught_up && !request.want_fence {
            self.log.unfence(id);
            self.elect_leaderless(id);
            fenced = false;
        }
        BrokerHeartbeatResponse {
            is_caught_up,
            is_fenced: fenced,
            ..Default::default()
        }
    }

    fn alter(&mut self, id: i32, request: &AlterPartitionRequest) -> AlterPartitionResponse {
        if self.log.epoch(id) != request.broker_epoch {
            return AlterPartitionResponse {
                error_code: ErrorCode::StaleBrokerEpoch,
                ..Default::default()
            };
        }
        let mut response = AlterPartitionResponse::default();
        for topic in &request.topics {
            let mut answers = ResponseTopicData {
                topic_id: topic.topic_id,
                ..Default::default()
            };
            for asked in &topic.partitions {
                let index = asked.partition_index;
                let id = PartitionId::new(TopicId(topic.topic_id), index);
                let known = self.log.image.topics().partition(id).expect("it exists");
                let eligible = asked.new_isr_with_epochs.iter().all(|member| {
                    let broker = self.log.image.broker(NodeId(member.broker_id));
                    broker.is_some_and(|broker| {
                        broker.is_active()
                            && (member.broker_epoch == -1 || broker.epoch.0 == member.broker_epoch)
                    })
                });
                let error_code = if known.leader != Some(NodeId(request.broker_id))
                    || known.leader_epoch.0 != asked.leader_epoch
                {
                    ErrorCode::FencedLeaderEpoch
                } else if known.partition_epoch.0 != asked.partition_epoch {
                    ErrorCode::InvalidUpdateVersion
                } else if !eligible {
                    ErrorCode::IneligibleReplica
                } else {
                    ErrorCode::None
                };
                if error_code.is_none() {
                    let members = asked.new_isr_with_epochs.iter();
                    let isr: Vec<i32> = members.map(|member| member.broker_id).collect();
                    self.log
                        .change_partition(topic.topic_id.0[0], index, &isr, None);
                }
                let now = self.log.image.topics().partition(id).expect("it exists");
                answers.partitions.push(ResponsePartitionData {
                    partition_index: index,
                    error_code,
                    leader_id: NodeId::to_wire(now.leader),
                    leader_epoch: now.leader_epoch.0,
                    isr: now.isr.iter().map(|member| member.0).collect(),
                    partition_epoch: now.partition_epoch.0,
                    ..Default::default()
                });
            }
            response.topics.push(answers);
        }
        response
    }

    fn expire_sessions(&mut self) {
        let expired: Vec<i32> = self
            .sessions
            .iter()
            .filter(|(_, heard)| **heard + Duration::from_secs(9) < self.now)
            .map(|(id, _)| *id)
            .collect();
        for id in expired {
            self.sessions.remove(&id);
            if !self
                .log
                .image
                .broker(NodeId(id))
                .expect("registered")
                .fenced
            {
                self.log.change(id, 1, 0);
            }
            self.move_away(id);
            self.publish();
        }
    }

    /// Takes the broker out of all ISRs that have another member, and its leaderships away.
    fn move_away(&mut self, id: i32) {
        let affected: Vec<_> = self.log.image.topics().in_isr_of(NodeId(id)).collect();
        for (partition, state) in affected {
            let others: Vec<i32> = state
                .isr
                .iter()
                .filter(|member| member.0 != id)
                .map(|member| member.0)
                .collect();
            let leader =
                (state.leader == Some(NodeId(id))).then(|| others.first().copied().unwrap_or(-1));
            let isr = if others.is_empty() { vec![id] } else { others };
            self.log
                .change_partition(partition.topic.0.0[0], partition.index, &isr, leader);
        }
    }

    fn elect_leaderless(&mut self, id: i32) {
        let leaderless: Vec<_> = self.log.image.topics().leaderless().collect();
        for (partition, state) in leaderless {
            if state.in_isr(NodeId(id)) {
                let isr: Vec<i32> = state.isr.iter().map(|member| member.0).collect();
                let topic = partition.topic.0.0[0];
                self.log
                    .change_partition(topic, partition.index, &isr, Some(id));
            }
        }
    }

    pub(super) fn create(&mut self, n: u8, partitions: i32) {
        self.log.topic(n, &format!("topic-{n}"));
        for index in 0..partitions {
            let first = (index % 3) as usize;
            let replicas: Vec<i32> = (0..3).map(|i| BROKERS[(first + i) % 3]).collect();
            self.log.partition(n, index, &replicas, &replicas);
        }
        self.publish();
    }

    pub(super) fn isr_sizes(&self) -> Vec<usize> {
        self.log
            .image
            .topics()
            .iter()
            .flat_map(|topic| {
                topic
                    .partitions()
                    .map(|(_, p)| p.isr.len())
                    .collect::<Vec<_>>()
            })
            .collect()
    }

    /// Everybody runs, leads and follows what the log says, and all are in sync.
    pub(super) fn check_settled(&self) {
        for (id, broker) in &self.brokers {
            assert_eq!(
                broker.lifecycle().state(),
                BrokerState::Running,
                "broker {id}"
            );
            assert!(!broker.lifecycle().is_fenced(), "broker {id}");
            assert_eq!(broker.cache().image(), &self.log.image, "broker {id}");
            let topics = self.log.image.topics();
            let leads = topics.led_by(NodeId(*id)).count();
            let holds = topics.partitions_of(NodeId(*id)).count();
            assert_eq!(
                broker.replicas().counts(),
                (leads, holds - leads),
                "broker {id}"
            );
        }
        assert!(
            self.isr_sizes().iter().all(|size| *size == 3),
            "{:?}",
            self.isr_sizes()
        );
    }
}
