//! What a client asks for, and what an answer to it means.

use std::fmt;

use quorate_protocol::messages::create_partitions::CreatePartitionsTopic;
use quorate_protocol::messages::create_topics::CreatableTopic;
use quorate_protocol::messages::delete_topics::DeleteTopicState;
use quorate_protocol::messages::incremental_alter_configs::{
    AlterConfigsResource, AlterableConfig,
};
use quorate_protocol::messages::{
    CreatePartitionsRequest, CreateTopicsRequest, DeleteTopicsRequest,
    IncrementalAlterConfigsRequest, Request, Response,
};
use quorate_types::{ErrorCode, TopicId};

/// The configuration that clients set.
pub const CONFIG: &str = "retention.ms";

/// How long a client gives the controller, in milliseconds.
const TIMEOUT_MS: i32 = 3_000;

/// The kind of a resource that is a topic, and the operation that sets a configuration.
const TOPIC: i8 = 2;
const SET: i8 = 0;

/// One change that a client wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Op {
    /// A new topic.
    Create {
        /// Its name.
        topic: String,
        /// How many partitions.
        partitions: i32,
        /// How many replicas each.
        replicas: i16,
    },
    /// A topic less.
    Delete {
        /// Its name.
        topic: String,
    },
    /// More partitions.
    Grow {
        /// The topic.
        topic: String,
        /// How many there are to be.
        partitions: i32,
    },
    /// Another value of [`CONFIG`].
    Configure {
        /// The topic.
        topic: String,
        /// The value.
        value: String,
    },
}

/// What came of an [`Op`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It was done; a create also says the topic's id.
    Done(Option<TopicId>),
    /// It was not done: it was done already, or the topic is not there.
    Moot(ErrorCode),
    /// It was refused; nothing was changed.
    Refused(ErrorCode),
    /// It may have been done, or may be done yet.
    Unknown(String),
}

impl Op {
    /// The topic that it is about.
    pub fn topic(&self) -> &str {
        match self {
            Op::Create { topic, .. }
            | Op::Delete { topic }
            | Op::Grow { topic, .. }
            | Op::Configure { topic, .. } => topic,
        }
    }

    /// As a request.
    pub fn request(&self) -> Request {
        match self {
            Op::Create {
                topic,
                partitions,
                replicas,
            } => CreateTopicsRequest {
                topics: vec![CreatableTopic {
                    name: topic.clone(),
                    num_partitions: *partitions,
                    replication_factor: *replicas,
                    ..Default::default()
                }],
                timeout_ms: TIMEOUT_MS,
                ..Default::default()
            }
            .into(),
            Op::Delete { topic } => DeleteTopicsRequest {
                topics: vec![DeleteTopicState {
                    name: Some(topic.clone()),
                    ..Default::default()
                }],
                timeout_ms: TIMEOUT_MS,
                ..Default::default()
            }
            .into(),
            Op::Grow { topic, partitions } => CreatePartitionsRequest {
                topics: vec![CreatePartitionsTopic {
                    name: topic.clone(),
                    count: *partitions,
                    assignments: None,
                    ..Default::default()
                }],
                timeout_ms: TIMEOUT_MS,
                ..Default::default()
            }
            .into(),
            Op::Configure { topic, value } => IncrementalAlterConfigsRequest {
                resources: vec![AlterConfigsResource {
                    resource_type: TOPIC,
                    resource_name: topic.clone(),
                    configs: vec![AlterableConfig {
                        name: CONFIG.to_owned(),
                        config_operation: SET,
                        value: Some(value.clone()),
                        ..Default::default()
                    }],
                    ..Default::default()
                }],
                ..Default::default()
            }
            .into(),
        }
    }

    /// What an answer to it means.
    pub fn outcome(&self, response: &Response) -> Outcome {
        match response {
            Response::CreateTopics(answer) => match &answer.topics[..] {
                [topic] => self.judge(topic.error_code, topic.topic_id.non_zero().map(TopicId)),
                _ => Outcome::Unknown("an answer without its topic".to_owned()),
            },
            Response::DeleteTopics(answer) => match &answer.responses[..] {
                [topic] => self.judge(topic.error_code, None),
                _ => Outcome::Unknown("an answer without its topic".to_owned()),
            },
            Response::CreatePartitions(answer) => match &answer.results[..] {
                [topic] => self.judge(topic.error_code, None),
                _ => Outcome::Unknown("an answer without its topic".to_owned()),
            },
            Response::IncrementalAlterConfigs(answer) => match &answer.responses[..] {
                [topic] => self.judge(topic.error_code, None),
                _ => Outcome::Unknown("an answer without its topic".to_owned()),
            },
            _ => Outcome::Unknown("an answer to something else".to_owned()),
        }
    }

    fn judge(&self, error: ErrorCode, id: Option<TopicId>) -> Outcome {
        match error {
            ErrorCode::None => Outcome::Done(id),
            ErrorCode::TopicAlreadyExists
            | ErrorCode::UnknownTopicOrPartition
            | ErrorCode::UnknownTopicId => Outcome::Moot(error),
            ErrorCode::InvalidPartitions if matches!(self, Op::Grow { .. }) => Outcome::Moot(error),
            ErrorCode::InvalidReplicationFactor
            | ErrorCode::InvalidPartitions
            | ErrorCode::InvalidRequest
            | ErrorCode::PolicyViolation => Outcome::Refused(error),
            other => Outcome::Unknown(other.name().to_owned()),
        }
    }
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Op::Create {
                topic,
                partitions,
                replicas,
            } => {
                write!(
                    f,
                    "create {topic} with {partitions} partitions of {replicas} replicas"
                )
            }
            Op::Delete { topic } => write!(f, "delete {topic}"),
            Op::Grow { topic, partitions } => write!(f, "grow {topic} to {partitions} partitions"),
            Op::Configure { topic, value } => write!(f, "set {CONFIG}={value} of {topic}"),
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Outcome::Done(_) => f.write_str("done"),
            Outcome::Moot(error) | Outcome::Refused(error) => f.write_str(error.name()),
            Outcome::Unknown(why) => write!(f, "outcome unknown ({why})"),
        }
    }
}
