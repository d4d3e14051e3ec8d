//! No input makes the active controller resign or the images of nodes differ: what cannot be done is
//! refused, however extreme its numbers, and everything else goes on.

mod common;

use std::cell::RefCell;
use std::time::Duration;

use common::*;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use quorate_protocol::messages::{self, Request};
use quorate_server::events::NodeEvent;
use quorate_server::io::ConnId;
use quorate_types::{ErrorCode, NodeId, Uuid, VersionRange};

const TOPIC: &str = "orders";

/// What requests are aimed at.
struct Aim {
    topic: Uuid,
    broker: i32,
    broker_epoch: i64,
    directory: Uuid,
    features: Vec<(String, VersionRange)>,
    leader_epoch: i32,
    partition_epoch: i32,
}

impl Aim {
    /// The topic and the broker as the active controller knows them.
    fn take(lab: &Lab, active: NodeId) -> Option<Aim> {
        let image = lab.image(active)?;
        let topic = image.topics().by_name(TOPIC)?;
        let partition = topic.partition(0)?;
        let known = image.broker(broker(1))?;
        Some(Aim {
            topic: topic.id().0,
            broker: known.id.0,
            broker_epoch: known.epoch.0,
            directory: known.directories.first()?.0,
            features: known
                .features
                .iter()
                .map(|(name, range)| (name.to_string(), *range))
                .collect(),
            leader_epoch: partition.leader_epoch.0,
            partition_epoch: partition.partition_epoch.0,
        })
    }
}

/// Requests that change topics.
fn about_topics(n: i64, m: i64) -> Vec<Request> {
    let (small, other) = (n as i32, m as i32);
    let create = {
        use messages::create_topics::{
            CreatableReplicaAssignment, CreatableTopic, CreatableTopicConfig,
        };
        let placed = |partition_index, broker_ids| CreatableReplicaAssignment {
            partition_index,
            broker_ids,
            ..Default::default()
        };
        let topic = |name: String| CreatableTopic {
            name,
            num_partitions: 2,
            replication_factor: 1,
            ..Default::default()
        };
        messages::CreateTopicsRequest {
            topics: vec![
                CreatableTopic {
                    num_partitions: small,
                    ..topic(format!("counted-{n}-{m}"))
                },
                CreatableTopic {
                    replication_factor: other as i16,
                    ..topic(format!("replicated-{n}-{m}"))
                },
                CreatableTopic {
                    num_partitions: -1,
                    replication_factor: -1,
                    assignments: vec![placed(small, vec![11, other]), placed(0, vec![11])],
                    ..topic(format!("placed-{n}-{m}"))
                },
                CreatableTopic {
                    configs: vec![CreatableTopicConfig {
                        name: "min.insync.replicas".into(),
                        value: Some(n.to_string()),
                        ..Default::default()
                    }],
                    ..topic(format!("configured-{n}-{m}"))
                },
            ],
            timeout_ms: 5000,
            validate_only: false,
            ..Default::default()
        }
    };
    let grow = {
        use messages::create_partitions::{CreatePartitionsAssignment, CreatePartitionsTopic};
        messages::CreatePartitionsRequest {
            topics: vec![CreatePartitionsTopic {
                name: TOPIC.into(),
                count: small,
                assignments: (m % 2 == 0).then(|| {
                    vec![CreatePartitionsAssignment {
                        broker_ids: vec![11, other],
                        ..Default::default()
                    }]
                }),
                ..Default::default()
            }],
            timeout_ms: 5000,
            ..Default::default()
        }
    };
    let elect = {
        use messages::elect_leaders::TopicPartitions;
        messages::ElectLeadersRequest {
            election_type: m as i8,
            topic_partitions: (m % 3 != 0).then(|| {
                vec![TopicPartitions {
                    topic: TOPIC.into(),
                    partitions: vec![0, small],
                    ..Default::default()
                }]
            }),
            timeout_ms: other,
            ..Default::default()
        }
    };
    let reassign = {
        use messages::alter_partition_reassignments::{ReassignablePartition, ReassignableTopic};
        let partition = |partition_index, replicas| ReassignablePartition {
            partition_index,
            replicas,
            ..Default::default()
        };
        messages::AlterPartitionReassignmentsRequest {
            topics: vec![ReassignableTopic {
                name: TOPIC.into(),
                partitions: vec![
                    partition(small, Some(vec![11])),
                    partition(0, Some(vec![other, 11])),
                    partition(0, None),
                ],
                ..Default::default()
            }],
            timeout_ms: 5000,
            ..Default::default()
        }
    };
    let configure = {
        use messages::incremental_alter_configs::{AlterConfigsResource, AlterableConfig};
        let resource = |resource_type, resource_name: &str| AlterConfigsResource {
            resource_type,
            resource_name: resource_name.into(),
            configs: vec![AlterableConfig {
                name: "min.insync.replicas".into(),
                config_operation: m as i8,
                value: Some(n.to_string()),
                ..Default::default()
            }],
            ..Default::default()
        };
        messages::IncrementalAlterConfigsRequest {
            resources: vec![
                resource(2, TOPIC),
                resource(4, "11"),
                resource(4, &m.to_string()),
                resource(n as i8, "any"),
            ],
            ..Default::default()
        }
    };
    vec![
        create.into(),
        grow.into(),
        elect.into(),
        reassign.into(),
        configure.into(),
    ]
}

/// Requests that brokers and operators send about brokers.
fn about_brokers(aim: &Aim, n: i64, m: i64) -> Vec<Request> {
    let (small, other) = (n as i32, m as i32);
    let alter = {
        use messages::alter_partition::{BrokerState, RequestPartitionData, RequestTopicData};
        let partition = |partition_index, leader_epoch, partition_epoch| RequestPartitionData {
            partition_index,
            leader_epoch,
            partition_epoch,
            leader_recovery_state: m as i8,
            new_isr_with_epochs: vec![BrokerState {
                broker_id: other,
                broker_epoch: n,
                ..Default::default()
            }],
            ..Default::default()
        };
        messages::AlterPartitionRequest {
            broker_id: aim.broker,
            broker_epoch: aim.broker_epoch,
            topics: vec![RequestTopicData {
                topic_id: aim.topic,
                partitions: vec![
                    partition(small, aim.leader_epoch, aim.partition_epoch),
                    partition(0, small, aim.partition_epoch),
                    partition(0, aim.leader_epoch, small),
                    partition(0, aim.leader_epoch, aim.partition_epoch),
                ],
                ..Default::default()
            }],
            ..Default::default()
        }
    };
    let register = {
        use messages::broker_registration::{Feature, Listener};
        messages::BrokerRegistrationRequest {
            broker_id: small,
            cluster_id: CLUSTER.into(),
            incarnation_id: Uuid([7; 16]),
            listeners: vec![Listener {
                name: "PLAINTEXT".into(),
                host: "elsewhere".into(),
                port: m as u16,
                security_protocol: n as i16,
                ..Default::default()
            }],
            features: vec![Feature {
                name: "metadata.version".into(),
                min_supported_version: other as i16,
                max_supported_version: small as i16,
                ..Default::default()
            }],
            log_dirs: vec![Uuid([n as u8; 16])],
            previous_broker_epoch: m,
            ..Default::default()
        }
    };
    let register_well = {
        use messages::broker_registration::{Feature, Listener};
        let feature = |(name, range): &(String, VersionRange)| Feature {
            name: name.clone(),
            min_supported_version: range.min,
            max_supported_version: range.max,
            ..Default::default()
        };
        messages::BrokerRegistrationRequest {
            incarnation_id: Uuid([8; 16]),
            listeners: vec![Listener {
                name: "PLAINTEXT".into(),
                host: "elsewhere".into(),
                port: m as u16,
                ..Default::default()
            }],
            features: aim.features.iter().map(feature).collect(),
            log_dirs: vec![Uuid([(n as u8) | 64; 16])],
            ..register.clone()
        }
    };
    let beat = |broker_epoch, offset| messages::BrokerHeartbeatRequest {
        broker_id: aim.broker,
        broker_epoch,
        current_metadata_offset: offset,
        want_fence: m % 2 == 0,
        offline_log_dirs: vec![Uuid([m as u8; 16])],
        ..Default::default()
    };
    let control = {
        use messages::controller_registration::{Feature, Listener};
        messages::ControllerRegistrationRequest {
            controller_id: small,
            incarnation_id: Uuid([9; 16]),
            listeners: vec![Listener {
                name: "CONTROLLER".into(),
                host: "elsewhere".into(),
                port: m as u16,
                security_protocol: n as i16,
                ..Default::default()
            }],
            features: vec![Feature {
                name: "metadata.version".into(),
                min_supported_version: other as i16,
                max_supported_version: small as i16,
                ..Default::default()
            }],
            ..Default::default()
        }
    };
    let allocate = |broker_epoch| messages::AllocateProducerIdsRequest {
        broker_id: aim.broker,
        broker_epoch,
        ..Default::default()
    };
    let assign = {
        use messages::assign_replicas_to_dirs::{
            RequestDirectoryData, RequestPartitionData, RequestTopicData,
        };
        let directory = |id| RequestDirectoryData {
            id,
            topics: vec![RequestTopicData {
                topic_id: aim.topic,
                partitions: vec![RequestPartitionData {
                    partition_index: small,
                    ..Default::default()
                }],
                ..Default::default()
            }],
            ..Default::default()
        };
        messages::AssignReplicasToDirsRequest {
            broker_id: aim.broker,
            broker_epoch: aim.broker_epoch,
            directories: vec![directory(aim.directory), directory(Uuid([n as u8; 16]))],
            ..Default::default()
        }
    };
    vec![
        alter.into(),
        register.into(),
        register_well.into(),
        beat(n, m).into(),
        beat(aim.broker_epoch, n).into(),
        control.into(),
        allocate(n).into(),
        allocate(aim.broker_epoch).into(),
        assign.into(),
        messages::UnregisterBrokerRequest {
            broker_id: if small == aim.broker { -1 } else { small },
            ..Default::default()
        }
        .into(),
    ]
}

/// Features and quotas.
fn about_the_cluster(n: i64, m: i64) -> Vec<Request> {
    let features = {
        use messages::update_features::FeatureUpdateKey;
        let update = |feature: &str| FeatureUpdateKey {
            feature: feature.into(),
            max_version_level: n as i16,
            upgrade_type: m as i8,
            ..Default::default()
        };
        let names = ["group.version", "kraft.version", "unheard.of"];
        messages::UpdateFeaturesRequest {
            feature_updates: names.map(update).to_vec(),
            timeout_ms: 5000,
            ..Default::default()
        }
    };
    let quotas = {
        use messages::alter_client_quotas::{EntityData, OpData, RequestEntryData};
        messages::AlterClientQuotasRequest {
            entries: vec![RequestEntryData {
                entity: vec![EntityData {
                    entity_type: "client-id".into(),
                    entity_name: (m % 2 == 0).then(|| m.to_string()),
                    ..Default::default()
                }],
                ops: vec![OpData {
                    key: "producer_byte_rate".into(),
                    value: f64::from_bits(n as u64),
                    remove: m % 3 == 0,
                    ..Default::default()
                }],
                ..Default::default()
            }],
            ..Default::default()
        }
    };
    vec![features.into(), quotas.into()]
}

/// Sends all of them to a node and waits until each is answered or its connection closed.
fn send_all(lab: &mut Lab, node: NodeId, requests: &[Request]) -> Result<(), TestCaseError> {
    let conns: Vec<ConnId> = requests
        .iter()
        .filter_map(|request| {
            let frame = try_frame(newest(request), 1, request)?;
            let conn = lab.connect(node);
            lab.send(conn, frame);
            Some(conn)
        })
        .collect();
    let over = |lab: &Lab, conn: ConnId| lab.waiting(conn) > 0 || !lab.is_open(conn);
    lab.run_until(SOON, |lab| conns.iter().all(|conn| over(lab, *conn)));
    for (conn, request) in conns.iter().zip(requests) {
        prop_assert!(over(lab, *conn), "never answered: {request:?}");
        lab.close(*conn);
    }
    Ok(())
}

/// The same controller is active in the same epoch, nobody warned of anything, and all agree.
fn all_is_well(lab: &mut Lab, active: NodeId) -> Result<(), TestCaseError> {
    lab.run_for(Duration::from_millis(100));
    prop_assert_eq!(lab.active(), Some(active));
    for machine in lab.machines.values_mut() {
        prop_assert_eq!(machine.fault(), None);
        for event in std::mem::take(&mut machine.events) {
            let bad = matches!(
                event,
                NodeEvent::Warning(_) | NodeEvent::Inactive | NodeEvent::QuorumLeader { .. }
            );
            prop_assert!(!bad, "{}: {event}", machine.id);
        }
    }
    let leads = lab.machines[&active].published.as_ref().unwrap();
    for machine in lab.machines.values() {
        let published = machine.published.as_ref().unwrap();
        if published.end == leads.end {
            prop_assert_eq!(&published.image, &leads.image, "on node {}", machine.id);
        }
    }
    Ok(())
}

#[test]
fn extreme_numbers_are_refused_or_done_and_nothing_else_happens() {
    let number = prop_oneof![
        2 => Just(i64::MIN),
        2 => Just(i64::MAX),
        2 => Just(i64::from(i32::MIN)),
        2 => Just(i64::from(i32::MAX)),
        2 => Just(i64::from(i16::MAX)),
        4 => -3..3i64,
        2 => 10..13i64,
        1 => 100..104i64,
        2 => any::<i64>(),
    ];
    let (lab, active) = Lab::up(3, 1);
    let lab = RefCell::new(lab);
    let mut runner = TestRunner::new(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(32)
    });
    runner
        .run(&(number.clone(), number), |(n, m)| {
            let mut lab = lab.borrow_mut();
            // Some of it puts the broker out of service for a while.
            prop_assert_eq!(lab.settle(), active);
            if !lab.has_topic(active, TOPIC) {
                let answer = lab.call(active, &creation(&[TOPIC])).unwrap();
                assert_eq!(created(&answer), ErrorCode::None);
                for machine in lab.machines.values_mut() {
                    machine.events.clear();
                }
            }
            let aim = Aim::take(&lab, active).unwrap();
            send_all(&mut lab, active, &about_topics(n, m))?;
            send_all(&mut lab, broker(1), &about_topics(m, n))?;
            send_all(&mut lab, active, &about_brokers(&aim, n, m))?;
            send_all(&mut lab, active, &about_the_cluster(n, m))?;
            send_all(&mut lab, broker(1), &about_the_cluster(m, n))?;
            all_is_well(&mut lab, active)
        })
        .unwrap();
    // Much of it was possible.
    let image = lab.borrow().image(active).cloned().unwrap();
    assert!(image.topics().iter().count() > 3);
}
