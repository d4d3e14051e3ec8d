//! Following, as it goes over the wire.

use quorate_protocol::codec::{Message, Reader};
use quorate_protocol::messages::{FetchRequest, FetchResponse};
use quorate_types::{BrokerEpoch, ErrorCode, LeaderEpoch, NodeId};

use crate::replicas::{FollowAnswer, FollowRequest, Unreadable};
use crate::testing::partition_id;

#[test]
fn following_travels_as_fetch_and_comes_back_the_same() {
    let request = FollowRequest {
        follower: NodeId(2),
        follower_epoch: BrokerEpoch(40),
        partitions: vec![
            (partition_id(1, 0), LeaderEpoch(3)),
            (partition_id(1, 7), LeaderEpoch(0)),
            (partition_id(2, 0), LeaderEpoch(9)),
        ],
    };
    let answer = FollowAnswer {
        partitions: vec![
            (partition_id(1, 0), ErrorCode::None),
            (partition_id(1, 7), ErrorCode::FencedLeaderEpoch),
            (partition_id(2, 0), ErrorCode::NotLeaderOrFollower),
        ],
    };
    for version in [17, 18] {
        let bytes = request.to_fetch().to_bytes(version).expect("encodable");
        let fetch = FetchRequest::decode(version, &mut Reader::of(&bytes)).expect("readable");
        assert_eq!(FollowRequest::from_fetch(&fetch), Ok(request.clone()));
        let bytes = answer.to_fetch().to_bytes(version).expect("encodable");
        let fetch = FetchResponse::decode(version, &mut Reader::of(&bytes)).expect("readable");
        assert_eq!(FollowAnswer::from_fetch(&fetch), Ok(answer.clone()));
    }
}

#[test]
fn a_consumers_fetch_follows_nothing() {
    let consumer = FetchRequest::default();
    assert_eq!(
        FollowRequest::from_fetch(&consumer),
        Err(Unreadable::NotAFollower)
    );
    let mut without_epoch = FollowRequest {
        follower: NodeId(2),
        follower_epoch: BrokerEpoch(1),
        partitions: vec![(partition_id(1, 0), LeaderEpoch(0))],
    }
    .to_fetch();
    without_epoch.topics[0].partitions[0].current_leader_epoch = -1;
    assert_eq!(
        FollowRequest::from_fetch(&without_epoch),
        Err(Unreadable::WithoutEpoch)
    );
    let refused = FetchResponse {
        error_code: ErrorCode::UnknownServerError,
        ..Default::default()
    };
    let error = Unreadable::Refused(ErrorCode::UnknownServerError);
    assert_eq!(FollowAnswer::from_fetch(&refused), Err(error));
}
