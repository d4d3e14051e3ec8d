//! After any history: every partition is sane, every index equals what it was derived from, the log
//! says what the state says, and nothing made the engine stumble.

use std::collections::BTreeSet;

use proptest::prelude::*;
use quorate_engine::{Bracket, Machine};
use quorate_metadata::{KafkaMetadata, LeaderRecovery, MetadataImage, Partition, PartitionId};
use quorate_protocol::messages::alter_partition_reassignments::{
    AlterPartitionReassignmentsRequest, ReassignablePartition, ReassignableTopic,
};
use quorate_protocol::messages::{AlterPartitionReassignmentsResponse, BrokerHeartbeatRequest};
use quorate_types::{NodeId, Offset, Uuid};

use crate::alter_partition::{assign, proposal, propose};
use crate::cluster::{Cluster, assigned, directory, uuid};

const BROKERS: i32 = 5;
const TOPICS: [&str; 3] = ["a", "b", "c"];

/// Something that happens. Brokers and topics are drawn as numbers.
#[derive(Debug, Clone)]
enum Event {
    Register {
        broker: i32,
        clean: bool,
    },
    Beat {
        broker: i32,
        fence: bool,
        stop: bool,
        behind: i64,
        failed: Option<u8>,
    },
    Unregister {
        broker: i32,
    },
    Create {
        topic: usize,
        replicas: Vec<i32>,
        min_isr: u8,
        unclean: bool,
    },
    Delete {
        topic: usize,
    },
    Propose {
        topic: usize,
        isr: Vec<i32>,
        recovered: bool,
    },
    Reassign {
        topic: usize,
        replicas: Option<Vec<i32>>,
    },
    Elect {
        topic: usize,
        election_type: i8,
    },
    Configure {
        topic: usize,
        min_isr: u8,
    },
    Assign {
        topic: usize,
        broker: i32,
        second: bool,
    },
    Sleep {
        ms: u64,
    },
    FailOver,
}

fn brokers() -> impl Strategy<Value = Vec<i32>> {
    proptest::sample::subsequence((1..=BROKERS).collect::<Vec<_>>(), 1..=4).prop_shuffle()
}

fn event() -> impl Strategy<Value = Event> {
    let broker = || 1..=BROKERS;
    let topic = || 0..TOPICS.len();
    prop_oneof![
        2 => (broker(), any::<bool>())
            .prop_map(|(broker, clean)| Event::Register { broker, clean }),
        8 => (broker(), proptest::bool::weighted(0.2), proptest::bool::weighted(0.15), 0..4_i64,
            proptest::option::weighted(0.1, 0..3_u8))
            .prop_map(|(broker, fence, stop, behind, failed)| Event::Beat {
                broker, fence, stop, behind, failed
            }),
        1 => broker().prop_map(|broker| Event::Unregister { broker }),
        3 => (topic(), brokers(), 1..4_u8, any::<bool>()).prop_map(
            |(topic, replicas, min_isr, unclean)| Event::Create { topic, replicas, min_isr, unclean }
        ),
        1 => topic().prop_map(|topic| Event::Delete { topic }),
        5 => (topic(), brokers(), any::<bool>())
            .prop_map(|(topic, isr, recovered)| Event::Propose { topic, isr, recovered }),
        3 => (topic(), proptest::option::weighted(0.8, brokers()))
            .prop_map(|(topic, replicas)| Event::Reassign { topic, replicas }),
        2 => (topic(), 0..2_i8)
            .prop_map(|(topic, election_type)| Event::Elect { topic, election_type }),
        1 => (topic(), 1..4_u8).prop_map(|(topic, min_isr)| Event::Configure { topic, min_isr }),
        2 => (topic(), broker(), any::<bool>())
            .prop_map(|(topic, broker, second)| Event::Assign { topic, broker, second }),
        2 => (0..6000_u64).prop_map(|ms| Event::Sleep { ms }),
        1 => Just(Event::FailOver),
    ]
}

/// The second directory of a broker.
fn second(broker: i32) -> Uuid {
    uuid(0x0e, broker as u64)
}

fn happen(cluster: &mut Cluster, event: Event) {
    match event {
        Event::Register { broker, clean } => {
            let mut request = cluster.registration(broker);
            request.log_dirs.push(second(broker));
            if clean {
                request.previous_broker_epoch = cluster.epoch(broker);
            }
            cluster.send_registration(&request);
        }
        Event::Beat {
            broker,
            fence,
            stop,
            behind,
            failed,
        } => {
            let mut beat = BrokerHeartbeatRequest {
                want_fence: fence,
                want_shut_down: stop,
                ..cluster.beat(broker)
            };
            beat.current_metadata_offset -= behind;
            let both = [directory(broker), second(broker)];
            beat.offline_log_dirs = match failed {
                None => Vec::new(),
                Some(2) => both.to_vec(),
                Some(at) => vec![both[usize::from(at)]],
            };
            cluster.heartbeat(beat);
        }
        Event::Unregister { broker } => {
            cluster.unregister(broker);
        }
        Event::Create {
            topic,
            replicas,
            min_isr,
            unclean,
        } => {
            let min_isr = min_isr.to_string();
            let unclean = unclean.to_string();
            let configs = [
                ("min.insync.replicas", min_isr.as_str()),
                ("unclean.leader.election.enable", unclean.as_str()),
            ];
            cluster.create_topic(assigned(TOPICS[topic], &[&replicas], &configs));
        }
        Event::Delete { topic } => {
            if cluster.image().topics().by_name(TOPICS[topic]).is_some() {
                crate::topics::delete(cluster, TOPICS[topic]);
            }
        }
        Event::Propose {
            topic,
            isr,
            recovered,
        } => {
            let name = TOPICS[topic];
            let Some(id) = cluster
                .image()
                .topics()
                .by_name(name)
                .map(|topic| topic.id())
            else {
                return;
            };
            let Some(leader) = cluster.partition(name, 0).leader else {
                return;
            };
            let mut wanted = proposal(cluster, name, &isr);
            if recovered {
                wanted.leader_recovery_state = 0;
            }
            propose_unless_stale(cluster, leader, id, wanted);
        }
        Event::Reassign { topic, replicas } => {
            let partition = ReassignablePartition {
                replicas,
                ..Default::default()
            };
            let topic = ReassignableTopic {
                name: TOPICS[topic].into(),
                partitions: vec![partition],
                ..Default::default()
            };
            let _: AlterPartitionReassignmentsResponse =
                cluster.ask(AlterPartitionReassignmentsRequest {
                    topics: vec![topic],
                    ..Default::default()
                });
        }
        Event::Elect {
            topic,
            election_type,
        } => {
            cluster.elect(election_type, Some((TOPICS[topic], 0)));
        }
        Event::Configure { topic, min_isr } => {
            let value = min_isr.to_string();
            let change = (0, "min.insync.replicas", Some(value.as_str()));
            cluster.configure((2, TOPICS[topic]), &[change]);
        }
        Event::Assign {
            topic,
            broker,
            second: other,
        } => {
            let topic = cluster
                .image()
                .topics()
                .by_name(TOPICS[topic])
                .map(|topic| topic.id());
            if let Some(topic) = topic {
                let target = if other {
                    second(broker)
                } else {
                    directory(broker)
                };
                assign(cluster, broker, target, topic, 0);
            }
        }
        Event::Sleep { ms } => cluster.sleep(ms),
        Event::FailOver => cluster.solo.fail_over(),
    }
}

/// The leader may have been registered anew since: then its proposal is stale as a whole.
fn propose_unless_stale(
    cluster: &mut Cluster,
    leader: NodeId,
    topic: quorate_types::TopicId,
    wanted: quorate_protocol::messages::alter_partition::RequestPartitionData,
) {
    let registered = cluster.image().broker(leader).map(|broker| broker.epoch.0);
    if registered == Some(cluster.epoch(leader.0)) {
        propose(cluster, leader.0, topic, wanted);
    }
}

/// What must hold of a partition, whatever happened.
fn check_partition(image: &MetadataImage, id: PartitionId, partition: &Partition) {
    let of = |nodes: &[NodeId]| nodes.iter().copied().collect::<BTreeSet<_>>();
    let (replicas, isr, elr) = (
        of(&partition.replicas),
        of(&partition.isr),
        of(&partition.elr),
    );
    assert_eq!(
        replicas.len(),
        partition.replicas.len(),
        "{id}: a replica twice"
    );
    assert_eq!(isr.len(), partition.isr.len(), "{id}: a member twice");
    assert!(
        isr.is_subset(&replicas),
        "{id}: ISR {isr:?} of {replicas:?}"
    );
    assert!(
        elr.is_subset(&replicas),
        "{id}: ELR {elr:?} of {replicas:?}"
    );
    assert!(isr.is_disjoint(&elr), "{id}: ISR {isr:?}, ELR {elr:?}");
    assert_eq!(
        partition.directories.len(),
        partition.replicas.len(),
        "{id}"
    );
    if let Some(leader) = partition.leader {
        assert!(isr.contains(&leader), "{id}: {leader} leads {isr:?}");
        let broker = image.broker(leader);
        assert!(
            broker.is_some_and(|broker| !broker.fenced),
            "{id}: {leader} is fenced"
        );
        assert!(
            partition.last_known_elr.is_empty(),
            "{id}: a leader is there"
        );
    }
    let elr_enabled = image.features().elr_enabled();
    assert!(elr_enabled || !isr.is_empty(), "{id}: an empty ISR");
    assert!(elr_enabled || elr.is_empty(), "{id}: ELR {elr:?}");
    for member in isr.iter().filter(|_| elr_enabled) {
        let broker = image.broker(*member);
        assert!(
            broker.is_some_and(|broker| !broker.fenced),
            "{id}: {member} is fenced"
        );
    }
    let moving = partition.adding.iter().chain(&partition.removing);
    assert!(
        moving.clone().all(|node| replicas.contains(node)),
        "{id}: {partition:?}"
    );
    let joined: Vec<_> = partition
        .replicas
        .iter()
        .filter(|node| !partition.removing.contains(node))
        .collect();
    assert!(!joined.is_empty(), "{id}: nobody stays");
    // After an unclean election nobody is sent away before the leader has recovered.
    let recovered = partition.leader_recovery == LeaderRecovery::Recovered;
    if partition.is_reassigning() && recovered {
        assert!(
            !joined.iter().all(|node| isr.contains(node)),
            "{id}: done, but {partition:?}"
        );
    }
}

/// The ids of the partitions that the predicate picks.
fn picked(image: &MetadataImage, pick: impl Fn(&Partition) -> bool) -> BTreeSet<PartitionId> {
    let all = image.topics().iter().flat_map(|topic| {
        let id = topic.id();
        topic
            .partitions()
            .map(move |(index, partition)| (PartitionId::new(id, index), partition))
    });
    all.filter(|(_, partition)| pick(partition))
        .map(|(id, _)| id)
        .collect()
}

fn check_indexes(image: &MetadataImage) {
    let topics = image.topics();
    let ids = |found: Vec<(PartitionId, Partition)>| {
        found.into_iter().map(|(id, _)| id).collect::<BTreeSet<_>>()
    };
    for node in (1..=BROKERS).map(NodeId) {
        assert_eq!(
            ids(topics.partitions_of(node).collect()),
            picked(image, |p| p.has_replica(node))
        );
        assert_eq!(
            ids(topics.in_isr_of(node).collect()),
            picked(image, |p| p.in_isr(node))
        );
        assert_eq!(
            ids(topics.in_elr_of(node).collect()),
            picked(image, |p| p.in_elr(node))
        );
        let led = picked(image, |p| p.leader == Some(node));
        assert_eq!(topics.counts(node).leads, led.len());
        assert_eq!(ids(topics.led_by(node).collect()), led);
    }
    assert_eq!(
        ids(topics.leaderless().collect()),
        picked(image, |p| p.leader.is_none())
    );
    assert_eq!(
        ids(topics.not_preferred().collect()),
        picked(image, |p| !p.has_preferred_leader())
    );
    assert_eq!(
        ids(topics.reassigning().collect()),
        picked(image, Partition::is_reassigning)
    );
}

/// Applying the log from its start gives the state.
fn check_log(cluster: &Cluster) {
    let mut image = MetadataImage::default();
    for (at, record) in cluster.solo.records_from(Offset::ZERO) {
        if KafkaMetadata::bracket(&record) == Bracket::No {
            KafkaMetadata::apply(&mut image, &record, at).expect("the log applies");
        }
    }
    assert!(image == *cluster.image(), "the log and the state differ");
}

fn run(mut cluster: Cluster, events: Vec<Event>) {
    for event in events {
        happen(&mut cluster, event);
        let image = cluster.image();
        for id in picked(image, |_| true) {
            let partition = image.topics().partition(id).expect("picked");
            check_partition(image, id, &partition);
        }
    }
    check_indexes(cluster.image());
    check_log(&cluster);
}

fn started(version: i16) -> Cluster {
    let mut cluster = Cluster::at(version);
    for broker in 1..=BROKERS {
        happen(
            &mut cluster,
            Event::Register {
                broker,
                clean: false,
            },
        );
        cluster.unfence(broker);
    }
    cluster
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn partitions_stay_sane_with_eligible_leader_replicas(
        events in proptest::collection::vec(event(), 1..120)
    ) {
        run(started(29), events);
    }

    #[test]
    fn partitions_stay_sane_without_eligible_leader_replicas(
        events in proptest::collection::vec(event(), 1..120)
    ) {
        run(started(25), events);
    }
}
