//! Directory assignments against a controller that answers as it likes.

use quorate_protocol::messages::assign_replicas_to_dirs::{
    ResponseDirectoryData, ResponsePartitionData, ResponseTopicData,
};
use quorate_types::{ErrorCode, Uuid};

use super::*;
use crate::testing::partition_id;

fn at(millis: u64) -> MonoTime {
    MonoTime(millis * 1000)
}

fn directory(n: u8) -> DirectoryId {
    DirectoryId(Uuid([n; 16]))
}

fn assignments() -> DirectoryAssignments {
    let mut assignments = DirectoryAssignments::new(NodeId(1));
    assignments.registered(at(0), BrokerEpoch(7));
    assignments
}

fn sent(assignments: &mut DirectoryAssignments) -> Option<(CallId, AssignReplicasToDirsRequest)> {
    match assignments.poll()? {
        Output::Send { call, request } => Some((call, request)),
        other => panic!("expected a request, not {other:?}"),
    }
}

fn count(request: &AssignReplicasToDirsRequest) -> usize {
    let topics = request.directories.iter().flat_map(|dir| &dir.topics);
    topics.map(|topic| topic.partitions.len()).sum()
}

fn answer(
    request: &AssignReplicasToDirsRequest,
    error: impl Fn(PartitionId) -> ErrorCode,
) -> AssignReplicasToDirsResponse {
    let partition = |topic: Uuid, index: i32| ResponsePartitionData {
        partition_index: index,
        error_code: error(PartitionId::new(TopicId(topic), index)),
        ..Default::default()
    };
    let topic = |topic: &RequestTopicData| ResponseTopicData {
        topic_id: topic.topic_id,
        partitions: topic
            .partitions
            .iter()
            .map(|asked| partition(topic.topic_id, asked.partition_index))
            .collect(),
        ..Default::default()
    };
    AssignReplicasToDirsResponse {
        directories: request
            .directories
            .iter()
            .map(|directory| ResponseDirectoryData {
                id: directory.id,
                topics: directory.topics.iter().map(topic).collect(),
                ..Default::default()
            })
            .collect(),
        ..Default::default()
    }
}

#[test]
fn assignments_of_100_ms_go_together_by_directory_and_topic() {
    let mut assignments = assignments();
    assignments.assign(at(0), partition_id(1, 0), directory(2));
    assignments.assign(at(50), partition_id(1, 1), directory(1));
    assignments.assign(at(90), partition_id(2, 5), directory(2));
    assert_eq!(
        assignments.deadline(),
        Some(at(100)),
        "the first one's time"
    );
    assignments.tick(at(100));
    let (_, request) = sent(&mut assignments).expect("sent");
    assert_eq!((request.broker_id, request.broker_epoch), (1, 7));
    let tree: Vec<(Uuid, Vec<usize>)> = request
        .directories
        .iter()
        .map(|dir| {
            (
                dir.id,
                dir.topics
                    .iter()
                    .map(|topic| topic.partitions.len())
                    .collect(),
            )
        })
        .collect();
    assert_eq!(
        tree,
        [(directory(1).0, vec![1]), (directory(2).0, vec![1, 1])]
    );
}

#[test]
fn more_than_one_requests_worth_goes_at_once_and_in_parts() {
    let mut assignments = assignments();
    for index in 0..=2250 {
        assignments.assign(at(0), partition_id(1, index), directory(1));
    }
    let (call, request) = sent(&mut assignments).expect("at once");
    assert_eq!(count(&request), MOST_PER_REQUEST);
    assert_eq!(assignments.poll(), None, "one in flight");
    assignments.answered(
        at(1),
        call,
        Ok(answer(&request, |_| ErrorCode::None)),
        |_| true,
    );
    let assigned = std::iter::from_fn(|| assignments.poll()).count();
    assert_eq!(assigned, MOST_PER_REQUEST);
    assignments.tick(at(101));
    let (_, request) = sent(&mut assignments).expect("the rest");
    assert_eq!(count(&request), 1);
}

#[test]
fn failures_back_off_up_to_10_seconds() {
    let mut assignments = assignments();
    assignments.assign(at(0), partition_id(1, 0), directory(1));
    let mut now = at(100);
    for wait in [100, 200, 400, 800, 1600, 3200, 6400, 10_000, 10_000] {
        assignments.tick(now);
        let (call, _) = sent(&mut assignments).expect("sent");
        assignments.answered(now, call, Err(CallFailure::Disconnected), |_| true);
        let next = now + Duration::from_millis(wait);
        assert_eq!(assignments.deadline(), Some(next));
        now = next;
    }
}

#[test]
fn a_replica_that_is_refused_or_left_out_goes_again_if_it_is_still_here() {
    let mut assignments = assignments();
    for index in 0..4 {
        assignments.assign(at(0), partition_id(1, index), directory(1));
    }
    assignments.tick(at(100));
    let (call, request) = sent(&mut assignments).expect("sent");
    let mut partly = answer(&request, |id| match id.index {
        0 => ErrorCode::None,
        _ => ErrorCode::NotLeaderOrFollower,
    });
    partly.directories[0].topics[0].partitions.pop();
    assignments.answered(at(110), call, Ok(partly), |id| id.index != 1);
    let told = Output::Assigned {
        partition: partition_id(1, 0),
        directory: directory(1),
    };
    assert_eq!(assignments.poll(), Some(told));
    assignments.tick(at(210));
    let (_, request) = sent(&mut assignments).expect("sent");
    let again: Vec<i32> = request.directories[0].topics[0]
        .partitions
        .iter()
        .map(|partition| partition.partition_index)
        .collect();
    assert_eq!(again, [2, 3]);
}

#[test]
fn a_newer_directory_outlives_the_answer_to_an_older_one() {
    let mut assignments = assignments();
    assignments.assign(at(0), partition_id(1, 0), directory(1));
    assignments.tick(at(100));
    let (call, _) = sent(&mut assignments).expect("sent");
    assignments.assign(at(101), partition_id(1, 0), directory(2));
    assignments.answered(at(102), call, Err(CallFailure::TimedOut), |_| true);
    assignments.tick(at(1000));
    let (_, request) = sent(&mut assignments).expect("sent");
    assert_eq!(request.directories[0].id, directory(2).0);
    assert_eq!(count(&request), 1);
}

#[test]
fn replicas_that_left_are_forgotten() {
    let mut assignments = assignments();
    assignments.assign(at(0), partition_id(1, 0), directory(1));
    assignments.retain(|_| false);
    assignments.tick(at(100));
    assert_eq!((assignments.poll(), assignments.deadline()), (None, None));
}
