//! What it costs Kafka's controller to decide on new topics: the engine, the placement, the image
//! and its records, over a log in memory that commits at once.
#![allow(missing_docs)]

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use quorate_benches::group;
use quorate_controller::features::supported_features;
use quorate_controller::{
    Command, ControllerConfig, KafkaController, Operation, Reply, RequestContext,
};
use quorate_engine::{Engine, EngineConfig, Lane, MemoryLog, Output, Ticket};
use quorate_protocol::messages::broker_registration::{Feature, Listener};
use quorate_protocol::messages::create_topics::CreatableTopic;
use quorate_protocol::messages::{
    BrokerHeartbeatRequest, BrokerRegistrationRequest, CreateTopicsRequest,
};
use quorate_protocol::records::VersionedRecord;
use quorate_types::{ErrorCode, MonoTime, NodeId, Rng, Uuid, WallTime};

const CLUSTER: &str = "benches";
/// Time stands still: no session ends.
const NOW: MonoTime = MonoTime(3_600_000_000);
const WALL: WallTime = WallTime(1_700_000_000_000);

/// An active controller with brokers that are not fenced.
struct Active {
    engine: Engine<KafkaController>,
    log: MemoryLog<VersionedRecord>,
    tickets: u64,
    topics: u64,
}

impl Active {
    fn with_brokers(count: i32) -> Active {
        let domain = KafkaController::new(ControllerConfig::new(NodeId(1), CLUSTER));
        let mut active = Active {
            engine: Engine::new(domain, Rng::new(7), EngineConfig::default()),
            log: MemoryLog::new(),
            tickets: 0,
            topics: 0,
        };
        let (epoch, start) = active.log.elect();
        active.engine.leader(epoch, start);
        active.turn();
        for id in 0..count {
            active.add_broker(id);
        }
        active
    }

    fn add_broker(&mut self, id: i32) {
        let reply = self.decide(registration(id).into());
        let Some(Reply::BrokerRegistration(answer)) = reply else {
            panic!("broker {id} was not registered: {reply:?}");
        };
        assert_eq!(answer.error_code, ErrorCode::None);
        let heartbeat = BrokerHeartbeatRequest {
            broker_id: id,
            broker_epoch: answer.broker_epoch,
            current_metadata_offset: self.log.end().0,
            ..Default::default()
        };
        let reply = self.decide(heartbeat.into());
        let Some(Reply::BrokerHeartbeat(answer)) = reply else {
            panic!("the heartbeat of broker {id} got {reply:?}");
        };
        assert!(!answer.is_fenced, "broker {id} is caught up");
    }

    fn submit(&mut self, operation: Operation) {
        self.tickets += 1;
        let context = RequestContext::anonymous(4, NOW);
        let command = Command { context, operation };
        let ticket = Ticket(self.tickets);
        self.engine.submit(ticket, Lane::Admin, command, None);
    }

    fn decide(&mut self, operation: Operation) -> Option<Reply> {
        self.submit(operation);
        self.turn().pop()
    }

    /// Decides what waits, commits it, and gives the replies.
    fn turn(&mut self) -> Vec<Reply> {
        let mut replies = Vec::new();
        self.engine.turn(NOW, WALL, &mut self.log);
        self.engine.high_watermark(self.log.end());
        while let Some(output) = self.engine.poll() {
            match output {
                Output::Reply { result, .. } => replies.extend(result),
                Output::Fault(fault) => panic!("{fault}"),
                _ => {}
            }
        }
        replies
    }

    /// Requests to create one new topic each.
    fn creates(&mut self, count: usize) -> Vec<Operation> {
        let request = |n: u64| CreateTopicsRequest {
            topics: vec![CreatableTopic {
                name: format!("topic-{n:09}"),
                num_partitions: 1,
                replication_factor: 3,
                ..Default::default()
            }],
            ..Default::default()
        };
        let first = self.topics;
        self.topics += count as u64;
        (first..self.topics).map(|n| request(n).into()).collect()
    }

    fn create(&mut self, creates: Vec<Operation>) {
        let count = creates.len();
        for create in creates {
            self.submit(create);
        }
        let replies = self.turn();
        assert_eq!(replies.len(), count, "each create is answered");
    }
}

fn registration(id: i32) -> BrokerRegistrationRequest {
    let features = supported_features().into_iter();
    BrokerRegistrationRequest {
        broker_id: id,
        cluster_id: CLUSTER.into(),
        incarnation_id: Uuid([id as u8 + 1; 16]),
        listeners: vec![Listener {
            name: "PLAINTEXT".into(),
            host: "broker.example.org".into(),
            port: 9092,
            ..Default::default()
        }],
        features: features
            .map(|(name, range)| Feature {
                name,
                min_supported_version: range.min,
                max_supported_version: range.max,
                ..Default::default()
            })
            .collect(),
        log_dirs: vec![Uuid([id as u8 + 101; 16])],
        ..Default::default()
    }
}

fn creates(criterion: &mut Criterion) {
    let mut group = group(criterion, "engine");
    for count in [1, 256] {
        let mut active = Active::with_brokers(12);
        let first = active.creates(1);
        active.create(first);
        assert_eq!(active.engine.state().topics().len(), 1, "creates create");
        group.throughput(Throughput::Elements(count as u64));
        group.bench_function(BenchmarkId::new("creates-a-turn", count), |bencher| {
            // The requests are made outside of what is measured; the state grows meanwhile.
            let active = std::cell::RefCell::new(&mut active);
            bencher.iter_batched(
                || active.borrow_mut().creates(count),
                |creates| active.borrow_mut().create(creates),
                BatchSize::SmallInput,
            );
        });
    }
}

criterion_group!(benches, creates);
criterion_main!(benches);
