//! What a stock Kafka 4.2.0 controller wrote into its log, decided again on the same state.
//!
//! Wherever the recorded log shows what a request brought about, the same request is put to this
//! controller on the image as it was just before, and must bring about the same records.

use bytes::Bytes;
use quorate_controller::{Command, ControllerConfig, KafkaController, Operation, RequestContext};
use quorate_engine::{
    AppendError, Bracket, Engine, EngineConfig, Lane, Log, Machine, Output, Ticket,
};
use quorate_metadata::{KafkaMetadata, MetadataImage, decode_batch};
use quorate_protocol::batch::split_batches;
use quorate_protocol::messages::broker_registration::{Feature, Listener};
use quorate_protocol::messages::{
    AlterPartitionRequest, AlterPartitionResponse, BrokerHeartbeatRequest,
    BrokerRegistrationRequest, ElectLeadersRequest, Request, UnregisterBrokerRequest,
    decode_request, decode_response,
};
use quorate_protocol::records::{
    BrokerRegistrationChangeRecord, MetadataRecord, PartitionChangeRecord, RegisterBrokerRecord,
    VersionedRecord,
};
use quorate_types::{Epoch, MonoTime, NodeId, Offset, OffsetAndEpoch, Rng, TopicId, WallTime};

/// At metadata.version 29, with eligible leader replicas.
const DYNAMIC: &[u8] = include_bytes!("../data/stock-4.2.0-dynamic.log");
/// Formatted at 25, without them.
const STATIC: &[u8] = include_bytes!("../data/stock-4.2.0-static.log");
const ALTER_PARTITION: &str = include_str!("../data/stock-alter-partition.txt");
/// The id of the recorded cluster does not stand in its log.
const CLUSTER_ID: &str = "recorded";

/// The recorded log: each record with its offset and the batch it is in.
struct Recording {
    records: Vec<(Offset, usize, VersionedRecord)>,
}

impl Recording {
    fn read(log: &'static [u8]) -> Recording {
        let mut records = Vec::new();
        for (number, view) in split_batches(Bytes::from_static(log)).enumerate() {
            let batch = decode_batch(&view.expect("a batch")).expect("records");
            let offsets = (batch.base.0..).map(Offset);
            records.extend(
                offsets
                    .zip(batch.records)
                    .map(|(at, record)| (at, number, record)),
            );
        }
        Recording { records }
    }

    /// The image before the record of that index.
    fn image_before(&self, index: usize) -> MetadataImage {
        let mut image = MetadataImage::default();
        for (at, _, record) in &self.records[..index] {
            if KafkaMetadata::bracket(record) == Bracket::No {
                KafkaMetadata::apply(&mut image, record, *at).expect("the recording applies");
            }
        }
        image
    }

    /// The indexes of the partition changes right before and right after the record, in its batch.
    fn changes_around(&self, index: usize) -> (std::ops::Range<usize>, std::ops::Range<usize>) {
        let batch = self.records[index].1;
        let belongs = |at: &usize| {
            let (_, number, record) = &self.records[*at];
            *number == batch && matches!(record.data, MetadataRecord::PartitionChange(_))
        };
        let before = (0..index).rev().take_while(belongs).count();
        let after = (index + 1..self.records.len()).take_while(belongs).count();
        (index - before..index, index + 1..index + 1 + after)
    }

    fn data(&self, range: std::ops::Range<usize>) -> Vec<VersionedRecord> {
        self.records[range]
            .iter()
            .map(|(_, _, record)| record.clone())
            .collect()
    }
}

/// A log that keeps what is appended to it.
struct Kept {
    end: Offset,
    records: Vec<VersionedRecord>,
}

impl Log<VersionedRecord> for Kept {
    fn append(
        &mut self,
        _epoch: Epoch,
        base: Offset,
        batches: &[Vec<VersionedRecord>],
    ) -> Result<(), AppendError> {
        if base != self.end {
            return Err(AppendError::Moved { end: self.end });
        }
        for batch in batches {
            self.end += batch.len() as i64;
            self.records.extend(batch.iter().cloned());
        }
        Ok(())
    }

    fn resign(&mut self, epoch: Epoch) {
        panic!("resigned {epoch}");
    }
}

/// What this controller writes for the request, on the image that ends at `end`.
fn decide(
    image: MetadataImage,
    end: Offset,
    version: i16,
    operation: impl Into<Operation>,
) -> (Vec<VersionedRecord>, quorate_controller::Reply) {
    let mut config = ControllerConfig::new(NodeId(2), CLUSTER_ID);
    config.max_idle_interval = None;
    let mut engine = Engine::new(
        KafkaController::new(config),
        Rng::new(1),
        EngineConfig::default(),
    );
    let mut log = Kept {
        end,
        records: Vec::new(),
    };
    let (now, wall) = (MonoTime(1_000_000_000), WallTime(0));
    engine.install(
        image,
        OffsetAndEpoch {
            offset: end,
            epoch: Epoch(1),
        },
        wall,
    );
    engine.leader(Epoch(2), end);
    engine.high_watermark(end);
    engine.turn(now, wall, &mut log);
    let context = RequestContext::anonymous(version, now);
    let command = Command {
        context,
        operation: operation.into(),
    };
    engine.submit(Ticket(1), Lane::Admin, command, None);
    engine.turn(now, wall, &mut log);
    engine.high_watermark(log.end);
    engine.turn(now, wall, &mut log);
    let reply = std::iter::from_fn(|| engine.poll()).find_map(|output| match output {
        Output::Reply { result, .. } => Some(result.expect("decided")),
        Output::Fault(fault) => panic!("{fault}"),
        _ => None,
    });
    (log.records, reply.expect("a reply"))
}

/// In an order that does not depend on how partitions are kept: hash maps have theirs.
fn sorted(mut records: Vec<VersionedRecord>) -> Vec<VersionedRecord> {
    let key = |record: &VersionedRecord| match &record.data {
        MetadataRecord::PartitionChange(change) => Some((change.topic_id, change.partition_id)),
        _ => None,
    };
    // Only runs of partition changes are sorted: what stands between them stays there.
    for run in records.chunk_by_mut(|a, b| key(a).is_some() && key(b).is_some()) {
        run.sort_by_key(key);
    }
    records
}

#[track_caller]
fn same(at: Offset, ours: Vec<VersionedRecord>, recorded: Vec<VersionedRecord>) {
    assert_eq!(sorted(ours), sorted(recorded), "at offset {at}");
}

/// Every index whose record `pick` knows.
fn picked<'a, T>(
    recording: &'a Recording,
    pick: impl Fn(&'a MetadataRecord) -> Option<T>,
) -> Vec<(usize, T)> {
    let records = recording.records.iter().enumerate();
    records
        .filter_map(|(index, (_, _, record))| Some((index, pick(&record.data)?)))
        .collect()
}

fn registration_change(record: &MetadataRecord) -> Option<&BrokerRegistrationChangeRecord> {
    match record {
        MetadataRecord::BrokerRegistrationChange(change) => Some(change),
        _ => None,
    }
}

fn heartbeat(change: &BrokerRegistrationChangeRecord, applied: Offset) -> BrokerHeartbeatRequest {
    BrokerHeartbeatRequest {
        broker_id: change.broker_id,
        broker_epoch: change.broker_epoch,
        current_metadata_offset: applied.0,
        ..Default::default()
    }
}

#[test]
fn brokers_are_fenced_unfenced_and_shut_down_as_stock_does_it() {
    assert_eq!(compare_registration_changes(&Recording::read(DYNAMIC)), 14);
    assert_eq!(compare_registration_changes(&Recording::read(STATIC)), 2);
}

/// Compares what each change of a registration brings about; how many there were.
fn compare_registration_changes(recording: &Recording) -> usize {
    let changes = picked(recording, registration_change);
    let compared = changes.len();
    for (index, change) in changes {
        let (before, after) = recording.changes_around(index);
        let at = recording.records[index].0;
        let (range, beat) = if change.fenced > 0 {
            let beat = BrokerHeartbeatRequest {
                want_fence: true,
                want_shut_down: true,
                ..heartbeat(change, at)
            };
            (before.start..index + 1, beat)
        } else if change.fenced < 0 {
            (index..after.end, heartbeat(change, at))
        } else {
            let beat = BrokerHeartbeatRequest {
                want_shut_down: true,
                ..heartbeat(change, at)
            };
            (index..after.end, beat)
        };
        let image = recording.image_before(range.start);
        let (ours, _) = decide(image, recording.records[range.start].0, 1, beat);
        same(at, ours, recording.data(range));
    }
    compared
}

#[test]
fn brokers_register_as_stock_does_it() {
    assert_eq!(compare_registrations(&Recording::read(DYNAMIC)), 5);
    assert_eq!(compare_registrations(&Recording::read(STATIC)), 2);
}

/// Compares each registration; how many there were.
fn compare_registrations(recording: &Recording) -> usize {
    let registrations = picked(recording, |record| match record {
        MetadataRecord::RegisterBroker(registration) => Some(registration),
        _ => None,
    });
    let compared = registrations.len();
    for (index, registration) in registrations {
        let (before, _) = recording.changes_around(index);
        let range = before.start..index + 1;
        let image = recording.image_before(range.start);
        let previous = image
            .broker(NodeId(registration.broker_id))
            .map(|broker| broker.epoch.0);
        let clean = before.is_empty();
        let request = BrokerRegistrationRequest {
            previous_broker_epoch: previous.filter(|_| clean).unwrap_or(-1),
            ..request_for(registration)
        };
        let (ours, _) = decide(image, recording.records[range.start].0, 4, request);
        same(recording.records[index].0, ours, recording.data(range));
    }
    compared
}

fn request_for(registration: &RegisterBrokerRecord) -> BrokerRegistrationRequest {
    let listeners = registration.end_points.iter().map(|endpoint| Listener {
        name: endpoint.name.clone(),
        host: endpoint.host.clone(),
        port: endpoint.port,
        security_protocol: endpoint.security_protocol,
        ..Default::default()
    });
    let features = registration.features.iter().map(|feature| Feature {
        name: feature.name.clone(),
        min_supported_version: feature.min_supported_version,
        max_supported_version: feature.max_supported_version,
        ..Default::default()
    });
    BrokerRegistrationRequest {
        broker_id: registration.broker_id,
        cluster_id: CLUSTER_ID.into(),
        incarnation_id: registration.incarnation_id,
        listeners: listeners.collect(),
        features: features.collect(),
        rack: registration.rack.clone(),
        log_dirs: registration.log_dirs.clone(),
        ..Default::default()
    }
}

#[test]
fn a_broker_is_unregistered_as_stock_does_it() {
    let recording = Recording::read(DYNAMIC);
    let gone = picked(&recording, |record| match record {
        MetadataRecord::UnregisterBroker(gone) => Some(gone.broker_id),
        _ => None,
    });
    assert_eq!(gone.len(), 1);
    for (index, broker_id) in gone {
        let (before, _) = recording.changes_around(index);
        let range = before.start..index + 1;
        let image = recording.image_before(range.start);
        let request = UnregisterBrokerRequest {
            broker_id,
            ..Default::default()
        };
        let (ours, _) = decide(image, recording.records[range.start].0, 0, request);
        same(recording.records[index].0, ours, recording.data(range));
    }
}

/// Whether the change moves a leader and nothing else.
fn moves_leader(record: &MetadataRecord) -> Option<&PartitionChangeRecord> {
    match record {
        MetadataRecord::PartitionChange(change)
            if change.leader >= 0 && change.isr.is_none() && change.replicas.is_none() =>
        {
            Some(change)
        }
        _ => None,
    }
}

#[test]
fn preferred_leaders_are_elected_as_stock_does_it() {
    let recording = Recording::read(DYNAMIC);
    let moves = picked(&recording, moves_leader);
    let mut runs = 0;
    let mut done = 0;
    for (index, _) in moves {
        if index < done {
            continue;
        }
        let batch = recording.records[index].1;
        let same_run = |at: &usize| {
            let (_, number, record) = &recording.records[*at];
            *number == batch && moves_leader(&record.data).is_some()
        };
        let length = (index..recording.records.len())
            .take_while(same_run)
            .count();
        done = index + length;
        let image = recording.image_before(index);
        let request = ElectLeadersRequest {
            topic_partitions: None,
            ..Default::default()
        };
        let (ours, _) = decide(image, recording.records[index].0, 2, request);
        same(
            recording.records[index].0,
            ours,
            recording.data(index..done),
        );
        runs += 1;
    }
    assert_eq!(runs, 2);
}

fn bytes_of(hex: &str) -> Bytes {
    let digits = |at| u8::from_str_radix(&hex[at..at + 2], 16).expect("hex");
    (0..hex.len()).step_by(2).map(digits).collect()
}

/// The index of the record that brings the partition to that epoch.
fn reaching(recording: &Recording, topic: TopicId, partition: i32, epoch: i32) -> Option<usize> {
    let mut image = MetadataImage::default();
    for (index, (at, _, record)) in recording.records.iter().enumerate() {
        if KafkaMetadata::bracket(record) == Bracket::No {
            KafkaMetadata::apply(&mut image, record, *at).expect("the recording applies");
        }
        let found = image
            .topics()
            .by_id(topic)
            .and_then(|topic| topic.partition(partition));
        if found.is_some_and(|found| found.partition_epoch.0 == epoch) {
            return Some(index);
        }
    }
    None
}

#[test]
fn isrs_are_changed_as_stock_does_it() {
    let recording = Recording::read(DYNAMIC);
    let mut compared = 0;
    for line in ALTER_PARTITION.lines() {
        let (request, response) = line.split_once(' ').expect("two frames");
        let (header, Request::AlterPartition(request)) =
            decode_request(&bytes_of(request)).expect("a request")
        else {
            panic!("another request");
        };
        let response = bytes_of(response);
        let (_, response) =
            decode_response::<AlterPartitionResponse>(header.api_version, &response)
                .expect("a response");
        compared += compare(&recording, header.api_version, &request, &response);
    }
    assert!(compared >= 10, "{compared} partitions compared");
}

/// Compares what becomes of each partition of the request; how many there were.
fn compare(
    recording: &Recording,
    version: i16,
    request: &AlterPartitionRequest,
    response: &AlterPartitionResponse,
) -> usize {
    let mut compared = 0;
    for (topic, answers) in request.topics.iter().zip(&response.topics) {
        for (wanted, answer) in topic.partitions.iter().zip(&answers.partitions) {
            let id = TopicId(topic.topic_id);
            let next = wanted.partition_epoch + 1;
            let Some(index) = reaching(recording, id, wanted.partition_index, next) else {
                continue;
            };
            let mut alone = request.clone();
            alone.topics = vec![topic.clone()];
            alone.topics[0].partitions = vec![wanted.clone()];
            let image = recording.image_before(index);
            let at = recording.records[index].0;
            let (ours, reply) = decide(image, at, version, alone);
            let reply = AlterPartitionResponse::try_from(reply).expect("its reply");
            assert_eq!(reply.topics[0].partitions[0], *answer, "at offset {at}");
            if answer.error_code.is_none() {
                same(at, ours, recording.data(index..index + 1));
            }
            compared += 1;
        }
    }
    compared
}
