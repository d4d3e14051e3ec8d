//! What an operator may forbid beyond what Kafka forbids.

use std::collections::BTreeMap;

use quorate_metadata::ConfigResource;
use quorate_types::NodeId;

use crate::error::ApiError;

/// A topic that a request wants to create, valid so far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewTopic<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its replicas.
    pub replicas: NewTopicReplicas,
    /// Its configuration, by name.
    pub configs: &'a BTreeMap<String, String>,
}

/// How the replicas of a new topic come about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NewTopicReplicas {
    /// The controller places them.
    Placed {
        /// How many partitions there will be.
        partitions: usize,
        /// How many replicas each will have.
        replication_factor: usize,
    },
    /// The request names them, by partition.
    Assigned(Vec<Vec<NodeId>>),
}

/// Decides which topics may be created (`create.topic.policy.class.name`).
pub trait CreateTopicPolicy: Send + Sync {
    /// Lets the topic pass or says what is wrong with it, most often with POLICY_VIOLATION.
    ///
    /// # Errors
    /// What the topic is refused with.
    fn check(&self, topic: &NewTopic<'_>) -> Result<(), ApiError>;
}

/// Decides which configurations may be set (`alter.config.policy.class.name`).
pub trait AlterConfigPolicy: Send + Sync {
    /// Lets the change pass or says what is wrong with it. `changes` has the keys that the request
    /// alters with their new values, `None` where one is deleted.
    ///
    /// # Errors
    /// What the change is refused with.
    fn check(
        &self,
        resource: &ConfigResource,
        changes: &BTreeMap<&str, Option<&str>>,
    ) -> Result<(), ApiError>;
}
