//! DescribeTopicPartitions, page after page.

use quorate_protocol::messages::describe_topic_partitions::{Cursor, TopicRequest};
use quorate_protocol::messages::{DescribeTopicPartitionsRequest, DescribeTopicPartitionsResponse};
use quorate_types::ErrorCode;

use super::{PLAINTEXT, cache};
use crate::cache::{Asker, CacheConfig, MetadataCache};
use crate::testing::Log;

pub(super) fn paged(
    topics: &[&str],
    limit: i32,
    cursor: Option<(&str, i32)>,
) -> DescribeTopicPartitionsRequest {
    DescribeTopicPartitionsRequest {
        topics: topics
            .iter()
            .map(|name| TopicRequest {
                name: (*name).to_owned(),
                ..Default::default()
            })
            .collect(),
        response_partition_limit: limit,
        cursor: cursor.map(|(topic_name, partition_index)| Cursor {
            topic_name: topic_name.to_owned(),
            partition_index,
            ..Default::default()
        }),
        ..Default::default()
    }
}

/// Topics a (2 partitions), b (1), c (3).
fn abc() -> Log {
    let mut log = Log::new();
    log.broker(1).unfence(1);
    for (n, name, partitions) in [(1, "a", 2), (2, "b", 1), (3, "c", 3)] {
        log.topic(n, name);
        for index in 0..partitions {
            log.partition(n, index, &[1], &[1]);
        }
    }
    log
}

type Page = (Vec<(String, Vec<i32>)>, Option<(String, i32)>);

fn page(response: &DescribeTopicPartitionsResponse) -> Page {
    let topics = response
        .topics
        .iter()
        .map(|topic| {
            let indexes = topic.partitions.iter().map(|p| p.partition_index).collect();
            (topic.name.clone().unwrap_or_default(), indexes)
        })
        .collect();
    let cursor = response
        .next_cursor
        .as_ref()
        .map(|cursor| (cursor.topic_name.clone(), cursor.partition_index));
    (topics, cursor)
}

#[test]
fn pages_follow_each_other_without_gap_or_overlap() {
    let cache = cache(&abc());
    let asker = Asker::unrestricted(PLAINTEXT, 0);
    for limit in 1..=7 {
        for topics in [&[][..], &["c", "a", "b"][..]] {
            let mut seen: Vec<(String, i32)> = Vec::new();
            let mut cursor: Option<(String, i32)> = None;
            loop {
                let from = cursor
                    .as_ref()
                    .map(|(topic, index)| (topic.as_str(), *index));
                let request = paged(topics, limit, from);
                let response = cache.describe_topic_partitions(&asker, &request);
                let (page, next) = page(&response);
                let partitions: Vec<_> = page
                    .into_iter()
                    .flat_map(|(name, list)| list.into_iter().map(move |i| (name.clone(), i)))
                    .collect();
                assert!(partitions.len() <= usize::try_from(limit).unwrap());
                seen.extend(partitions);
                cursor = next;
                if cursor.is_none() {
                    break;
                }
            }
            let all = [("a", 0), ("a", 1), ("b", 0), ("c", 0), ("c", 1), ("c", 2)];
            let all: Vec<_> = all.map(|(name, index)| (name.to_owned(), index)).into();
            assert_eq!(seen, all, "limit {limit}, topics {topics:?}");
        }
    }
}

#[test]
fn a_cursor_may_name_what_is_gone() {
    let cache = cache(&abc());
    let asker = Asker::unrestricted(PLAINTEXT, 0);
    let pages = [
        (paged(&[], 9, Some(("bb", 4))), vec![("c", vec![0, 1, 2])]),
        (
            paged(&[], 9, Some(("b", 4))),
            vec![("b", vec![]), ("c", vec![0, 1, 2])],
        ),
        (
            paged(&["bb", "c"], 9, Some(("bb", 4))),
            vec![("bb", vec![]), ("c", vec![0, 1, 2])],
        ),
    ];
    for (request, expected) in pages {
        let response = cache.describe_topic_partitions(&asker, &request);
        let expected = expected
            .into_iter()
            .map(|(name, list)| (name.to_owned(), list))
            .collect::<Vec<_>>();
        assert_eq!(page(&response), (expected, None));
    }
}

#[test]
fn a_cursor_that_makes_no_sense_is_refused_at_every_topic() {
    let cache = cache(&abc());
    let asker = Asker::unrestricted(PLAINTEXT, 0);
    for request in [
        paged(&["a", "b"], 9, Some(("c", 0))),
        paged(&["a", "b"], 9, Some(("a", -1))),
    ] {
        let response = cache.describe_topic_partitions(&asker, &request);
        let errors: Vec<ErrorCode> = response
            .topics
            .iter()
            .map(|topic| topic.error_code)
            .collect();
        assert_eq!(errors, [ErrorCode::InvalidRequest; 2]);
    }
}

#[test]
fn the_brokers_own_limit_holds_too() {
    let config = CacheConfig {
        most_partitions: 2,
        ..Default::default()
    };
    let mut cache = MetadataCache::new("cluster", config);
    let log = abc();
    cache.publish(log.image, log.end);
    let asker = Asker::unrestricted(PLAINTEXT, 0);
    for limit in [2, 100, i32::MAX] {
        let response = cache.describe_topic_partitions(&asker, &paged(&[], limit, None));
        let (topics, cursor) = page(&response);
        assert_eq!(topics, [("a".to_owned(), vec![0, 1])]);
        assert_eq!(cursor, Some(("b".to_owned(), 0)));
    }
    for limit in [0, -5, i32::MIN] {
        let response = cache.describe_topic_partitions(&asker, &paged(&[], limit, None));
        assert_eq!(
            page(&response).0,
            [("a".to_owned(), vec![0])],
            "at least one"
        );
    }
}

#[test]
fn described_partitions_tell_of_eligible_leaders_and_have_no_errors() {
    let mut log = Log::new();
    log.broker(1)
        .topic(1, "t")
        .partition_with(1, 0, &[1, 2], &[], |partition| {
            partition.eligible_leader_replicas = Some(vec![2]);
            partition.last_known_elr = Some(vec![1]);
        });
    let asker = Asker::unrestricted(PLAINTEXT, 0);
    let response = cache(&log).describe_topic_partitions(&asker, &paged(&["t"], 9, None));
    let partition = &response.topics[0].partitions[0];
    assert_eq!(partition.error_code, ErrorCode::None);
    assert_eq!(partition.leader_id, -1);
    assert_eq!(partition.eligible_leader_replicas, Some(vec![2]));
    assert_eq!(partition.last_known_elr, Some(vec![1]));
    assert_eq!(partition.offline_replicas, [1, 2]);
}
