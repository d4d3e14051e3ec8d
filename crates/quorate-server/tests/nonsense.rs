//! Whatever comes in on a listener, a node neither panics nor stops, and it answers or closes the
//! connection.
//!
//! The requests are those that the codec is tested with, in every version of every API, and requests
//! of the quorum that name the right cluster; sent as they are, with extreme numbers, and damaged.

mod common;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use bytes::{BufMut, Bytes, BytesMut};
use common::*;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use quorate_protocol::messages::{self, ApiKey, ApiVersionsRequest, Request, Response};
use quorate_server::io::ConnId;
use quorate_types::{NodeId, Uuid};

/// The longest that a request may take: the time a client's request waits for a controller.
const PATIENCE: Duration = Duration::from_secs(61);

/// A request without its header.
#[derive(Debug, Clone)]
struct Body {
    api: i16,
    version: i16,
    flexible: bool,
    bytes: Vec<u8>,
}

impl Body {
    fn frame(&self, correlation: i32) -> Bytes {
        let mut frame = BytesMut::new();
        frame.put_i16(self.api);
        frame.put_i16(self.version);
        frame.put_i32(correlation);
        frame.put_i16(4);
        frame.put_slice(b"test");
        if self.flexible {
            frame.put_u8(0);
        }
        frame.put_slice(&self.bytes);
        frame.freeze()
    }
}

fn field<'a>(line: &'a str, name: &str) -> &'a str {
    let start = line.find(&format!("\"{name}\":")).unwrap() + name.len() + 3;
    let end = line[start..].find([',', '}']).unwrap();
    line[start..start + end].trim_matches('"')
}

/// The requests of the codec's test vectors.
fn vectors() -> Vec<Body> {
    let file =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../quorate-protocol/tests/data/requests.jsonl");
    let text = fs::read_to_string(file).unwrap();
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    let body = |line: &str| Body {
        api: field(line, "apiKey").parse().unwrap(),
        version: field(line, "version").parse().unwrap(),
        flexible: field(line, "flexible") == "true",
        bytes: field(line, "hex").as_bytes().chunks(2).map(byte).collect(),
    };
    let bodies: Vec<Body> = text.lines().map(body).collect();
    assert!(bodies.len() > 1000);
    bodies
}

/// Requests of the quorum that only their numbers make wrong.
fn quorum_requests(numbers: [i64; 4]) -> Vec<Request> {
    let cluster_id = || Some(CLUSTER.to_owned());
    let topic = || "__cluster_metadata".to_owned();
    let [a, b, c, d] = numbers;
    let (id, epoch, other) = (a as i32, b as i32, d as i32);
    let vote = {
        use messages::vote::{RequestPartitionData, RequestTopicData};
        messages::VoteRequest {
            cluster_id: cluster_id(),
            voter_id: other,
            topics: vec![RequestTopicData {
                topic_name: topic(),
                partitions: vec![RequestPartitionData {
                    replica_id: id,
                    replica_epoch: epoch,
                    last_offset: c,
                    last_offset_epoch: other,
                    pre_vote: d % 2 == 0,
                    ..Default::default()
                }],
                ..Default::default()
            }],
            ..Default::default()
        }
    };
    let begin = {
        use messages::begin_quorum_epoch::{RequestPartitionData, RequestTopicData};
        messages::BeginQuorumEpochRequest {
            cluster_id: cluster_id(),
            voter_id: other,
            topics: vec![RequestTopicData {
                topic_name: topic(),
                partitions: vec![RequestPartitionData {
                    leader_id: id,
                    leader_epoch: epoch,
                    ..Default::default()
                }],
                ..Default::default()
            }],
            ..Default::default()
        }
    };
    let end = {
        use messages::end_quorum_epoch::{RequestPartitionData, RequestTopicData};
        messages::EndQuorumEpochRequest {
            cluster_id: cluster_id(),
            topics: vec![RequestTopicData {
                topic_name: topic(),
                partitions: vec![RequestPartitionData {
                    leader_id: id,
                    leader_epoch: epoch,
                    preferred_successors: vec![other],
                    ..Default::default()
                }],
                ..Default::default()
            }],
            ..Default::default()
        }
    };
    let fetch = {
        use messages::fetch::{FetchPartition, FetchTopic};
        let mut fetch = messages::FetchRequest {
            cluster_id: cluster_id(),
            max_wait_ms: other.min(1000),
            topics: vec![FetchTopic {
                topic: topic(),
                topic_id: Uuid::METADATA_TOPIC,
                partitions: vec![FetchPartition {
                    current_leader_epoch: epoch,
                    fetch_offset: c,
                    last_fetched_epoch: other,
                    high_watermark: d,
                    ..Default::default()
                }],
                ..Default::default()
            }],
            ..Default::default()
        };
        fetch.replica_state.replica_id = id;
        fetch
    };
    let snapshot = {
        use messages::fetch_snapshot::{RequestPartitionSnapshot, RequestTopicSnapshot};
        let mut partition = RequestPartitionSnapshot {
            current_leader_epoch: epoch,
            position: d,
            ..Default::default()
        };
        partition.snapshot_id.end_offset = c;
        partition.snapshot_id.epoch = other;
        messages::FetchSnapshotRequest {
            cluster_id: cluster_id(),
            replica_id: id,
            max_bytes: other,
            topics: vec![RequestTopicSnapshot {
                name: topic(),
                partitions: vec![partition],
                ..Default::default()
            }],
            ..Default::default()
        }
    };
    let mut update = messages::UpdateRaftVoterRequest {
        cluster_id: cluster_id(),
        current_leader_epoch: epoch,
        voter_id: id,
        ..Default::default()
    };
    update.kraft_version_feature.min_supported_version = a as i16;
    update.kraft_version_feature.max_supported_version = d as i16;
    vec![
        vote.into(),
        begin.into(),
        end.into(),
        fetch.into(),
        snapshot.into(),
        update.into(),
        messages::AddRaftVoterRequest {
            cluster_id: cluster_id(),
            timeout_ms: other,
            voter_id: id,
            ..Default::default()
        }
        .into(),
        messages::RemoveRaftVoterRequest {
            cluster_id: cluster_id(),
            voter_id: id,
            ..Default::default()
        }
        .into(),
    ]
}

/// A request that damages: bytes turned, cut off, put in.
#[derive(Debug, Clone)]
enum Damage {
    Turn(usize, u8),
    Cut(usize),
    Insert(usize, Vec<u8>),
    Version(i16),
}

fn damage() -> impl Strategy<Value = Damage> {
    let place = 0..400usize;
    prop_oneof![
        4 => (place.clone(), any::<u8>()).prop_map(|(at, by)| Damage::Turn(at, by)),
        1 => place.clone().prop_map(Damage::Cut),
        2 => (place, prop::collection::vec(any::<u8>(), 1..12))
            .prop_map(|(at, bytes)| Damage::Insert(at, bytes)),
        1 => (-1..20i16).prop_map(Damage::Version),
    ]
}

fn damaged(body: &Body, damages: &[Damage]) -> Body {
    let mut body = body.clone();
    for damage in damages {
        let length = body.bytes.len();
        match damage {
            Damage::Turn(at, by) if length > 0 => body.bytes[at % length] ^= by,
            Damage::Turn(..) => {}
            Damage::Cut(at) => body.bytes.truncate(at % (length + 1)),
            Damage::Insert(at, bytes) => {
                let at = at % (length + 1);
                body.bytes.splice(at..at, bytes.iter().copied());
            }
            Damage::Version(version) => body.version = *version,
        }
    }
    body
}

/// Sends every frame over a connection of its own; each must be answered or its connection closed,
/// and the node must be there for others afterwards. Says how many were answered.
fn survives(lab: &mut Lab, node: NodeId, frames: &[Bytes]) -> Result<usize, TestCaseError> {
    let conns: Vec<ConnId> = frames
        .iter()
        .map(|frame| {
            let conn = lab.connect(node);
            lab.send(conn, frame.clone());
            conn
        })
        .collect();
    let over = |lab: &Lab, conn: ConnId| lab.waiting(conn) > 0 || !lab.is_open(conn);
    lab.run_until(PATIENCE, |lab| conns.iter().all(|conn| over(lab, *conn)));
    let mut answered = 0;
    for (conn, frame) in conns.iter().zip(frames) {
        answered += usize::from(lab.waiting(*conn) > 0);
        prop_assert!(over(lab, *conn), "{node} never answers {frame:02x?}");
        lab.close(*conn);
    }
    prop_assert_eq!(lab.machine(node).fault(), None);
    prop_assert!(
        lab.call(node, &versions()).is_some(),
        "{node} serves nobody"
    );
    Ok(answered)
}

/// The versions of each API that a node offers.
fn offered(lab: &mut Lab, node: NodeId) -> BTreeMap<i16, (i16, i16)> {
    let Some(Response::ApiVersions(answer)) = lab.call(node, &versions()) else {
        panic!("{node} does not say what it offers");
    };
    let apis = answer.api_keys.iter();
    apis.map(|api| (api.api_key, (api.min_version, api.max_version)))
        .collect()
}

fn versions() -> Request {
    Request::from(ApiVersionsRequest {
        client_software_name: "test".into(),
        client_software_version: "1".into(),
        ..Default::default()
    })
}

fn runner(cases: u32) -> TestRunner {
    TestRunner::new(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(cases)
    })
}

#[test]
fn every_request_in_every_version_is_answered_or_closed() {
    let (mut lab, active) = Lab::up(1, 1);
    for node in [active, broker(1)] {
        let mut offered = offered(&mut lab, node);
        // Without acknowledgements there is no answer, so that it depends on what is in it.
        offered.remove(&ApiKey::Produce.code());
        let is_offered = |body: &Body| {
            let range = offered.get(&body.api);
            range.is_some_and(|(min, max)| (*min..=*max).contains(&body.version))
        };
        let (known, unknown): (Vec<Body>, Vec<Body>) = vectors().into_iter().partition(is_offered);
        assert!(known.len() > 600 && unknown.len() > 200, "{}", known.len());
        for bodies in known.chunks(50) {
            let frames: Vec<Bytes> = bodies.iter().map(|body| body.frame(1)).collect();
            let answered = survives(&mut lab, node, &frames).unwrap();
            assert_eq!(answered, bodies.len(), "what is offered is answered");
        }
        let closed = unknown
            .iter()
            .filter(|body| body.api != ApiKey::Produce.code());
        for bodies in closed.collect::<Vec<_>>().chunks(50) {
            let frames: Vec<Bytes> = bodies.iter().map(|body| body.frame(1)).collect();
            let answered = survives(&mut lab, node, &frames).unwrap();
            assert_eq!(answered, 0, "what is not offered closes the connection");
        }
    }
}

#[test]
fn damaged_requests_are_answered_or_closed() {
    let (lab, active) = Lab::up(1, 1);
    let lab = RefCell::new(lab);
    let bodies = vectors();
    let one = (0..bodies.len(), prop::collection::vec(damage(), 1..5));
    runner(64)
        .run(&prop::collection::vec(one, 20), |cases| {
            let frame = |(index, damages): &(usize, Vec<Damage>)| {
                damaged(&bodies[*index], damages).frame(1)
            };
            let frames: Vec<Bytes> = cases.iter().map(frame).collect();
            let mut lab = lab.borrow_mut();
            survives(&mut lab, active, &frames)?;
            survives(&mut lab, broker(1), &frames)?;
            Ok(())
        })
        .unwrap();
}

#[test]
fn random_bytes_are_answered_or_closed() {
    let (lab, active) = Lab::up(1, 1);
    let lab = RefCell::new(lab);
    let apis: Vec<i16> = ApiKey::ALL.iter().map(|api| api.code()).collect();
    let known = (
        prop::sample::select(apis),
        0..19i16,
        prop::collection::vec(any::<u8>(), 0..80),
    )
        .prop_map(|(api, version, bytes)| {
            let body = Body {
                api,
                version,
                flexible: true,
                bytes,
            };
            body.frame(1)
        });
    let random = prop::collection::vec(any::<u8>(), 0..200).prop_map(Bytes::from);
    let frame = prop_oneof![3 => known, 1 => random];
    runner(64)
        .run(&prop::collection::vec(frame, 20), |frames| {
            let mut lab = lab.borrow_mut();
            survives(&mut lab, active, &frames)?;
            survives(&mut lab, broker(1), &frames)?;
            Ok(())
        })
        .unwrap();
}

#[test]
fn extreme_numbers_in_requests_of_the_quorum_are_answered_or_closed() {
    let number = prop_oneof![
        Just(i64::MIN),
        Just(i64::MAX),
        Just(i64::from(i32::MIN)),
        Just(i64::from(i32::MAX)),
        Just(i64::from(i32::MAX) - 1),
        -2..30i64,
        any::<i64>(),
    ];
    let numbers = [number.clone(), number.clone(), number.clone(), number];
    let several = RefCell::new(Lab::up(3, 0).0);
    let single = RefCell::new(Lab::up(1, 0).0);
    runner(128)
        .run(&numbers, |numbers| {
            let frames: Vec<Bytes> = quorum_requests(numbers)
                .iter()
                .flat_map(|request| {
                    let versions = request.key().versions().unwrap();
                    [versions.min, versions.max].map(|version| (version, request))
                })
                // Not every version can express everything.
                .filter_map(|(version, request)| try_frame(version, 1, request))
                .collect();
            survives(&mut single.borrow_mut(), controller(1), &frames)?;
            survives(&mut several.borrow_mut(), controller(2), &frames)?;
            Ok(())
        })
        .unwrap();
}
