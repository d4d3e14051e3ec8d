//! No request and no number of records makes the controller step down (R35).

use quorate_engine::Refused;
use quorate_protocol::messages::create_partitions::CreatePartitionsTopic;
use quorate_protocol::messages::{
    AlterClientQuotasRequest, CreateAclsRequest, CreateDelegationTokenRequest,
    CreateDelegationTokenResponse, CreatePartitionsRequest, CreatePartitionsResponse,
    CreateTopicsRequest, CreateTopicsResponse, DescribeAclsRequest, DescribeAclsResponse,
};
use quorate_types::{ErrorCode, NodeId};

use crate::cluster::{Cluster, placed};

/// Creates as many partitions in two topics.
fn fill(cluster: &mut Cluster, partitions: i32) {
    for (name, count) in [("a", partitions / 2), ("b", partitions - partitions / 2)] {
        let result = cluster.create_topic(placed(name, count, 1));
        assert_eq!(result.error_code, ErrorCode::None);
    }
}

#[test]
fn fencing_a_broker_writes_full_batches_and_no_empty_one() {
    let mut cluster = Cluster::of(1);
    fill(&mut cluster, 9_999);
    let from = cluster.solo.end();
    cluster.fence(1);
    let batches = cluster.solo.log().read(from, cluster.solo.end());
    let sizes: Vec<usize> = batches.iter().map(|batch| batch.records.len()).collect();
    assert_eq!(sizes, [10_000]);
    assert_eq!(cluster.image().topics().leaderless_count(), 9_999);
    let from = cluster.solo.end();
    cluster.unfence(1);
    let batches = cluster.solo.log().read(from, cluster.solo.end());
    assert_eq!(batches.len(), 1);
    assert_eq!(cluster.image().topics().counts(NodeId(1)).leads, 9_999);
}

#[test]
fn more_partitions_than_one_request_may_create_are_refused_as_a_whole() {
    let mut cluster = Cluster::of(1);
    let mut request = CreateTopicsRequest {
        topics: vec![placed("a", 5_000, 1), placed("b", 5_001, 1)],
        ..Default::default()
    };
    let answer: CreateTopicsResponse = cluster.ask(request.clone());
    let codes: Vec<_> = answer.topics.iter().map(|topic| topic.error_code).collect();
    assert_eq!(codes, [ErrorCode::PolicyViolation; 2]);
    // 10,000 partitions are allowed, but with their topics they are too many records.
    request.topics[1].num_partitions = 5_000;
    let refused = cluster
        .try_ask::<CreateTopicsResponse>(request)
        .expect_err("too large");
    assert_eq!(refused, Refused::TooLarge);
    assert_eq!(
        quorate_controller::refusal(refused).code,
        ErrorCode::PolicyViolation
    );
    assert!(cluster.image().topics().is_empty());
}

#[test]
fn growing_by_more_than_one_batch_does_nothing() {
    let mut cluster = Cluster::of(1);
    cluster.create("a", &[&[1]]);
    cluster.create("b", &[&[1]]);
    let topic = |name: &str| CreatePartitionsTopic {
        name: name.into(),
        count: 6_000,
        assignments: None,
        ..Default::default()
    };
    let request = CreatePartitionsRequest {
        topics: vec![topic("a"), topic("b")],
        ..Default::default()
    };
    let refused = cluster
        .try_ask::<CreatePartitionsResponse>(request)
        .expect_err("too large");
    assert_eq!(refused, Refused::TooLarge);
    assert_eq!(cluster.image().topics().partition_count(), 2);
}

#[test]
fn what_is_not_there_answers_with_kafkas_error_for_it() {
    let mut cluster = Cluster::new();
    let acls: DescribeAclsResponse = cluster.ask(DescribeAclsRequest::default());
    assert_eq!(acls.error_code, ErrorCode::SecurityDisabled);
    let request = CreateAclsRequest {
        creations: vec![Default::default(); 2],
        ..Default::default()
    };
    let acls: quorate_protocol::messages::CreateAclsResponse = cluster.ask(request);
    let codes: Vec<_> = acls
        .results
        .iter()
        .map(|result| result.error_code)
        .collect();
    assert_eq!(codes, [ErrorCode::SecurityDisabled; 2]);
    let token: CreateDelegationTokenResponse = cluster.ask(CreateDelegationTokenRequest::default());
    assert_eq!(token.error_code, ErrorCode::DelegationTokenAuthDisabled);
    let _: quorate_protocol::messages::AlterClientQuotasResponse =
        cluster.ask(AlterClientQuotasRequest::default());
}
