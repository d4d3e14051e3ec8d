//! ISR changes against a controller that answers as it likes.

use std::collections::BTreeSet;

use proptest::prelude::*;
use quorate_protocol::messages::alter_partition::ResponseTopicData;

use super::*;
use crate::testing::partition_id;

fn at(millis: u64) -> MonoTime {
    MonoTime(millis * 1000)
}

fn change(partition_epoch: i32, isr: &[i32]) -> IsrChange {
    IsrChange {
        leader_epoch: LeaderEpoch(3),
        partition_epoch: PartitionEpoch(partition_epoch),
        isr: isr
            .iter()
            .map(|id| (NodeId(*id), Some(BrokerEpoch(i64::from(*id) * 10))))
            .collect(),
        recovery: LeaderRecovery::Recovered,
    }
}

fn manager() -> IsrManager {
    let mut manager = IsrManager::new(NodeId(1));
    manager.registered(at(0), BrokerEpoch(77));
    manager
}

fn sent(manager: &mut IsrManager) -> Option<(CallId, AlterPartitionRequest)> {
    match manager.poll()? {
        Output::Send { call, request } => Some((call, request)),
        other => panic!("expected a request, not {other:?}"),
    }
}

fn resolved(manager: &mut IsrManager) -> Option<(PartitionId, Result<CommittedIsr, ErrorCode>)> {
    match manager.poll()? {
        Output::Resolved { partition, result } => Some((partition, result)),
        other => panic!("expected a result, not {other:?}"),
    }
}

/// The controller's answer to each partition of a request.
fn answer(
    request: &AlterPartitionRequest,
    error: impl Fn(PartitionId) -> Option<ErrorCode>,
) -> AlterPartitionResponse {
    let topic = |topic: &RequestTopicData| ResponseTopicData {
        topic_id: topic.topic_id,
        partitions: topic
            .partitions
            .iter()
            .filter_map(|partition| {
                let id = PartitionId::new(TopicId(topic.topic_id), partition.partition_index);
                let isr = &partition.new_isr_with_epochs;
                Some(ResponsePartitionData {
                    partition_index: partition.partition_index,
                    error_code: error(id)?,
                    leader_id: 1,
                    leader_epoch: partition.leader_epoch,
                    isr: isr.iter().map(|member| member.broker_id).collect(),
                    partition_epoch: partition.partition_epoch + 1,
                    ..Default::default()
                })
            })
            .collect(),
        ..Default::default()
    };
    AlterPartitionResponse {
        topics: request.topics.iter().map(topic).collect(),
        ..Default::default()
    }
}

#[test]
fn a_change_goes_out_with_broker_epochs_and_comes_back_committed() {
    let mut manager = manager();
    let mut proposal = change(4, &[1, 2]);
    proposal.isr.push((NodeId(3), None));
    manager
        .submit(at(1), partition_id(1, 0), proposal)
        .expect("nothing pending");
    let (call, request) = sent(&mut manager).expect("sent at once");
    assert_eq!((request.broker_id, request.broker_epoch), (1, 77));
    let partition = &request.topics[0].partitions[0];
    assert_eq!((partition.leader_epoch, partition.partition_epoch), (3, 4));
    let isr: Vec<(i32, i64)> = partition
        .new_isr_with_epochs
        .iter()
        .map(|member| (member.broker_id, member.broker_epoch))
        .collect();
    assert_eq!(isr, [(1, 10), (2, 20), (3, -1)]);

    manager.answered(at(2), call, Ok(answer(&request, |_| Some(ErrorCode::None))));
    let committed = CommittedIsr {
        leader: Some(NodeId(1)),
        leader_epoch: LeaderEpoch(3),
        isr: vec![NodeId(1), NodeId(2), NodeId(3)],
        recovery: LeaderRecovery::Recovered,
        partition_epoch: PartitionEpoch(5),
    };
    assert_eq!(
        resolved(&mut manager),
        Some((partition_id(1, 0), Ok(committed)))
    );
    assert_eq!(manager.deadline(), None);
}

#[test]
fn nothing_is_sent_before_the_broker_is_registered() {
    let mut manager = IsrManager::new(NodeId(1));
    manager
        .submit(at(0), partition_id(1, 0), change(0, &[1]))
        .expect("nothing pending");
    assert_eq!((manager.poll(), manager.deadline()), (None, None));
    manager.registered(at(5), BrokerEpoch(77));
    assert!(sent(&mut manager).is_some());
}

#[test]
fn one_request_is_in_flight_and_the_next_carries_all_that_waited() {
    let mut manager = manager();
    manager
        .submit(at(1), partition_id(1, 0), change(0, &[1]))
        .expect("nothing pending");
    let (call, request) = sent(&mut manager).expect("sent");
    manager
        .submit(at(2), partition_id(2, 1), change(0, &[1]))
        .expect("nothing pending");
    manager
        .submit(at(3), partition_id(1, 4), change(0, &[1]))
        .expect("nothing pending");
    assert_eq!(manager.poll(), None);
    manager.answered(at(4), call, Ok(answer(&request, |_| Some(ErrorCode::None))));
    assert!(resolved(&mut manager).is_some());
    let (_, request) = sent(&mut manager).expect("sent at once");
    let partitions: usize = request
        .topics
        .iter()
        .map(|topic| topic.partitions.len())
        .sum();
    assert_eq!((request.topics.len(), partitions), (2, 2));
}

#[test]
fn a_second_change_of_a_partition_is_refused_while_one_is_pending() {
    let mut manager = manager();
    let id = partition_id(1, 0);
    manager
        .submit(at(1), id, change(0, &[1]))
        .expect("nothing pending");
    assert_eq!(
        manager.submit(at(1), id, change(0, &[1, 2])),
        Err(ChangePending(id))
    );
}

#[test]
fn every_error_of_a_partition_has_its_consequence() {
    use AfterRefusal::{AwaitMetadata, Repeat, Revert};
    let table = [
        (ErrorCode::IneligibleReplica, Revert),
        (ErrorCode::OperationNotAttempted, Revert),
        (ErrorCode::UnknownTopicOrPartition, AwaitMetadata),
        (ErrorCode::UnknownTopicId, AwaitMetadata),
        (ErrorCode::FencedLeaderEpoch, AwaitMetadata),
        (ErrorCode::InvalidUpdateVersion, AwaitMetadata),
        (ErrorCode::InvalidRequest, AwaitMetadata),
        (ErrorCode::NewLeaderElected, AwaitMetadata),
        (ErrorCode::UnknownServerError, Repeat),
        (ErrorCode::NotController, Repeat),
        (ErrorCode::RequestTimedOut, Repeat),
    ];
    for (error, after) in table {
        assert_eq!(AfterRefusal::of(error), after, "{error}");
        let mut manager = manager();
        manager
            .submit(at(0), partition_id(1, 0), change(0, &[1]))
            .expect("nothing pending");
        let (call, request) = sent(&mut manager).expect("sent");
        manager.answered(at(10), call, Ok(answer(&request, |_| Some(error))));
        if after == Repeat {
            assert_eq!((manager.poll(), manager.deadline()), (None, Some(at(60))));
            manager.tick(at(60));
            assert_eq!(
                sent(&mut manager).map(|(_, request)| request),
                Some(request)
            );
        } else {
            assert_eq!(
                resolved(&mut manager),
                Some((partition_id(1, 0), Err(error)))
            );
            assert!(!manager.is_pending(partition_id(1, 0)));
        }
    }
}

#[test]
fn after_an_error_for_the_whole_request_all_is_sent_again_in_50_ms() {
    let top = |error_code| {
        Ok(AlterPartitionResponse {
            error_code,
            ..Default::default()
        })
    };
    for failure in [
        top(ErrorCode::StaleBrokerEpoch),
        top(ErrorCode::ClusterAuthorizationFailed),
        Err(CallFailure::Disconnected),
    ] {
        let mut manager = manager();
        manager
            .submit(at(0), partition_id(1, 0), change(0, &[1]))
            .expect("nothing pending");
        let (call, request) = sent(&mut manager).expect("sent");
        manager.answered(at(10), call, failure);
        manager.tick(at(59));
        assert_eq!(manager.poll(), None);
        manager.registered(at(60), BrokerEpoch(99));
        let (_, again) = sent(&mut manager).expect("sent again");
        assert_eq!(again.broker_epoch, 99, "with the epoch of now");
        assert_eq!(again.topics, request.topics);
    }
}

#[test]
fn a_partition_that_the_answer_leaves_out_is_sent_again() {
    let mut manager = manager();
    manager
        .submit(at(0), partition_id(1, 0), change(0, &[1]))
        .expect("nothing pending");
    let (call, _) = sent(&mut manager).expect("sent");
    manager.answered(at(10), call, Ok(AlterPartitionResponse::default()));
    manager.tick(at(60));
    assert!(sent(&mut manager).is_some());
}

#[test]
fn a_withdrawn_changes_answer_is_not_taken_for_the_next_ones() {
    let mut manager = manager();
    let id = partition_id(1, 0);
    manager
        .submit(at(0), id, change(0, &[1]))
        .expect("nothing pending");
    let (call, request) = sent(&mut manager).expect("sent");
    manager.withdraw(id);
    manager
        .submit(at(1), id, change(5, &[1, 2]))
        .expect("nothing pending");
    manager.answered(at(2), call, Ok(answer(&request, |_| Some(ErrorCode::None))));
    let (_, request) = sent(&mut manager).expect("the new change, in its own right");
    assert_eq!(request.topics[0].partitions[0].partition_epoch, 5);
}

#[test]
fn a_recovery_state_that_does_not_exist_counts_as_the_controllers_failure() {
    let mut manager = manager();
    manager
        .submit(at(0), partition_id(1, 0), change(0, &[1]))
        .expect("nothing pending");
    let (call, request) = sent(&mut manager).expect("sent");
    let mut broken = answer(&request, |_| Some(ErrorCode::None));
    broken.topics[0].partitions[0].leader_recovery_state = 9;
    manager.answered(at(1), call, Ok(broken));
    assert_eq!(manager.poll(), None);
    assert!(manager.is_pending(partition_id(1, 0)));
}

#[test]
fn a_lost_answer_is_not_waited_for_for_ever() {
    let mut manager = manager();
    manager
        .submit(at(0), partition_id(1, 0), change(0, &[1]))
        .expect("nothing pending");
    let (lost, request) = sent(&mut manager).expect("sent");
    manager.tick(at(30_000));
    manager.tick(at(30_050));
    let (call, _) = sent(&mut manager).expect("sent again");
    assert_ne!(call, lost);
    manager.answered(
        at(30_060),
        lost,
        Ok(answer(&request, |_| Some(ErrorCode::None))),
    );
    assert_eq!(manager.poll(), None, "the late answer of the first");
}

#[derive(Debug, Clone, Copy)]
enum Step {
    Submit(u8),
    Withdraw(u8),
    Answer(i16),
    LeaveOut,
    Fail,
    Double,
    Wait,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0_u8..5).prop_map(Step::Submit),
        1 => (0_u8..5).prop_map(Step::Withdraw),
        4 => prop_oneof![Just(0_i16), Just(107), Just(95), Just(-1), Just(41)].prop_map(Step::Answer),
        1 => Just(Step::LeaveOut),
        1 => Just(Step::Fail),
        1 => Just(Step::Double),
        1 => Just(Step::Wait),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn every_change_is_resolved_once_and_one_request_is_in_flight(
        steps in prop::collection::vec(step(), 0..60),
    ) {
        let mut manager = manager();
        let mut now = at(0);
        let mut in_flight: Option<(CallId, AlterPartitionRequest)> = None;
        let mut last: Option<(CallId, AlterPartitionRequest)> = None;
        let mut pending = BTreeSet::new();
        let finish = [Step::Wait, Step::Answer(0), Step::Wait, Step::Answer(0)];
        for step in steps.into_iter().chain(finish) {
            match step {
                Step::Submit(n) => {
                    let id = partition_id(n, 0);
                    let taken = manager.submit(now, id, change(0, &[1])).is_ok();
                    prop_assert_eq!(taken, pending.insert(id));
                }
                Step::Withdraw(n) => {
                    manager.withdraw(partition_id(n, 0));
                    pending.remove(&partition_id(n, 0));
                }
                Step::Answer(code) => {
                    if let Some((call, request)) = in_flight.take() {
                        let error = ErrorCode::from_code(code);
                        manager.answered(now, call, Ok(answer(&request, |_| Some(error))));
                    }
                }
                Step::LeaveOut => {
                    if let Some((call, request)) = in_flight.take() {
                        manager.answered(now, call, Ok(answer(&request, |_| None)));
                    }
                }
                Step::Fail => {
                    if let Some((call, _)) = in_flight.take() {
                        manager.answered(now, call, Err(CallFailure::Disconnected));
                    }
                }
                Step::Double => {
                    if let Some((call, request)) = last.clone().filter(|_| in_flight.is_none()) {
                        manager.answered(now, call, Ok(answer(&request, |_| Some(ErrorCode::None))));
                    }
                }
                Step::Wait => {
                    now = now + Duration::from_millis(50);
                    manager.tick(now);
                }
            }
            while let Some(output) = manager.poll() {
                match output {
                    Output::Send { call, request } => {
                        prop_assert!(in_flight.is_none(), "two in flight");
                        last = Some((call, request.clone()));
                        in_flight = Some((call, request));
                    }
                    Output::Resolved { partition, .. } => {
                        prop_assert!(pending.remove(&partition), "{} was not pending", partition);
                    }
                }
            }
        }
        prop_assert!(pending.is_empty(), "left over: {:?}", pending);
    }
}
