//! Whatever a client is told, it comes to rest and knows what it wants.

use std::time::Duration;

use proptest::prelude::*;
use quorate_client::*;
use quorate_protocol::messages::MetadataResponse;
use quorate_types::{ErrorCode, LeaderEpoch};

use super::support::*;

#[derive(Debug, Clone)]
enum Step {
    Wait(u64),
    Topic(u8),
    Want,
    Error(i16),
    Heard(u8, i32),
    Answer {
        epochs: Vec<i32>,
        version: i16,
        topic_id: u8,
    },
    Empty,
    Rebootstrap,
    Fail,
    Lose,
    Unusable,
}

fn step() -> impl Strategy<Value = Step> {
    let epochs = prop::collection::vec(0..6_i32, 3);
    prop_oneof![
        3 => (0..2000_u64).prop_map(Step::Wait),
        1 => (0..400_000_u64).prop_map(Step::Wait),
        2 => (0..3_u8).prop_map(Step::Topic),
        1 => Just(Step::Want),
        1 => (-1..140_i16).prop_map(Step::Error),
        1 => (0..3_u8, 0..8_i32).prop_map(|(topic, epoch)| Step::Heard(topic, epoch)),
        5 => (epochs, prop_oneof![9 => Just(13_i16), 1 => Just(8)], 1..3_u8).prop_map(
            |(epochs, version, topic_id)| Step::Answer { epochs, version, topic_id }
        ),
        1 => Just(Step::Empty),
        1 => Just(Step::Rebootstrap),
        1 => Just(Step::Fail),
        1 => Just(Step::Lose),
        1 => Just(Step::Unusable),
    ]
}

const TOPICS: [&str; 3] = ["a", "b", "c"];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn versions_grow_epochs_do_not_go_back_and_every_question_is_answered_in_the_end(
        steps in prop::collection::vec(step(), 0..80),
    ) {
        let mut client = client();
        let mut now = at(0);
        let mut asked: Option<MetadataCall> = None;
        for step in steps {
            let before = client.version();
            let epochs: Vec<_> = TOPICS.iter().map(|topic| client.leader(topic, 0).epoch).collect();
            let mut epochs_may_fall = false;
            match step {
                Step::Wait(millis) => {
                    now = now + Duration::from_millis(millis);
                    if let Some(call) = client.poll_request(now) {
                        // Idle topics are dropped with an answer.
                        asked = Some(call);
                    }
                }
                Step::Topic(n) => {
                    client.add_topic(now, TOPICS[usize::from(n)]);
                    prop_assert!(client.deadline().is_some());
                }
                Step::Want => {
                    prop_assert_eq!(client.request_update(), before);
                    prop_assert!(client.is_update_wanted(now));
                }
                Step::Error(code) => client.saw_error(ErrorCode::from_code(code)),
                Step::Heard(topic, epoch) => {
                    client.heard_epoch(TOPICS[usize::from(topic)], 0, LeaderEpoch(epoch));
                }
                Step::Answer { epochs, version, topic_id } => {
                    if let Some(call) = asked.take() {
                        let topics = TOPICS
                            .iter()
                            .zip(epochs)
                            .map(|(name, epoch)| topic(name, topic_id, &[(1, epoch)]))
                            .collect();
                        client.answered(now, call.ticket, version, &response(topics));
                        // Another id, untrusted epochs, or dropped topics.
                        epochs_may_fall = true;
                    }
                }
                Step::Empty => {
                    if let Some(call) = asked.take() {
                        client.answered(now, call.ticket, 13, &MetadataResponse::default());
                    }
                }
                Step::Rebootstrap => {
                    if let Some(call) = asked.take() {
                        let told = MetadataResponse {
                            error_code: ErrorCode::RebootstrapRequired,
                            ..Default::default()
                        };
                        client.answered(now, call.ticket, 13, &told);
                    }
                }
                Step::Fail => {
                    if let Some(call) = asked.take() {
                        client.failed(now, call.ticket);
                    }
                }
                Step::Lose => asked = None,
                Step::Unusable => client.no_node_usable(now),
            }
            prop_assert!(client.version() >= before);
            if !epochs_may_fall {
                for (topic, before) in TOPICS.iter().zip(epochs) {
                    prop_assert!(client.leader(topic, 0).epoch >= before);
                }
            }
        }
        // From here on everything is answered: the client comes to rest, and knows what it wants.
        client.add_topic(now, "a");
        client.request_update();
        let version = client.version();
        let mut rounds = 0;
        while client.is_update_wanted(now) {
            rounds += 1;
            prop_assert!(rounds < 50, "never at rest");
            if let Some(call) = client.poll_request(now) {
                let topics = TOPICS.iter().map(|name| topic(name, 1, &[(1, 9)])).collect();
                client.answered(now, call.ticket, 13, &response(topics));
            } else {
                let deadline = client.deadline().expect("a deadline");
                prop_assert!(deadline > now, "stuck");
                now = deadline;
            }
        }
        prop_assert!(client.version() > version);
        prop_assert_eq!(leader(&client, "a", 0), (Some(1), Some(9)));
    }
}
