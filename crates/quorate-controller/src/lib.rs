//! Kafka's quorum controller: the managers that turn requests into metadata records.
//!
//! [`KafkaController`] is a [`Domain`](quorate_engine::Domain) of the engine. Its state is the
//! [`MetadataImage`](quorate_metadata::MetadataImage), its records are Kafka's, its soft state is
//! the [`Sessions`](cluster::Sessions) of the brokers. A [`Command`] is a request's body with its
//! [`RequestContext`]; a [`Reply`] is the body of the response. The managers are modules of
//! functions that own nothing:
//!
//! - [`cluster`]: registration of brokers and controllers, heartbeats, fencing;
//! - [`topics`]: creating, deleting and growing topics;
//! - `partition`: ISR changes, elections, reassignments, directories;
//! - [`configs`]: the tables of configurations, what is in force, changes;
//! - [`features`]: finalized levels;
//! - client quotas, SCRAM credentials, producer ids, and what an empty log starts with.
//!
//! Reads never enter the engine: [`describe_configs`], [`describe_cluster`] and
//! [`list_reassignments`] are functions of an image.
//!
//! This crate knows neither the log nor the network nor who may do what: the server decodes,
//! authorises and routes requests, and the engine replicates what is decided here.
//!
//! ```
//! use quorate_controller::{Command, ControllerConfig, KafkaController, Reply, RequestContext};
//! use quorate_engine::Solo;
//! use quorate_protocol::messages::{CreateTopicsRequest, create_topics::CreatableTopic};
//! use quorate_types::{ErrorCode, NodeId};
//!
//! let config = ControllerConfig::new(NodeId(1), "example");
//! let mut solo = Solo::new(KafkaController::new(config), 7);
//! assert_eq!(solo.state().features().metadata_version().level(), 29);
//!
//! let topic = CreatableTopic {
//!     name: "orders".into(),
//!     num_partitions: 3,
//!     replication_factor: 1,
//!     ..Default::default()
//! };
//! let request = CreateTopicsRequest { topics: vec![topic], ..Default::default() };
//! let context = RequestContext::anonymous(7, solo.now());
//! let reply = solo.decide(Command { context, operation: request.into() })?;
//! let Reply::CreateTopics(answer) = reply else { unreachable!() };
//! // Nobody has registered yet who could hold a replica.
//! assert_eq!(answer.topics[0].error_code, ErrorCode::InvalidReplicationFactor);
//! # Ok::<(), quorate_engine::Refused>(())
//! ```
#![warn(missing_docs)]
#![forbid(unsafe_code)]

mod bootstrap;
pub mod cluster;
mod command;
mod config;
pub mod configs;
mod controller;
mod disabled;
mod error;
pub mod features;
mod partition;
mod policy;
mod producer_ids;
mod records;
mod refused;
mod security;
pub mod topics;

pub use cluster::describe_cluster;
pub use command::{Command, Operation, Reply, RequestContext, refusal};
pub use config::ControllerConfig;
pub use configs::describe as describe_configs;
pub use controller::{KafkaController, Task};
pub use error::ApiError;
pub use partition::list_reassignments;
pub use policy::{AlterConfigPolicy, CreateTopicPolicy, NewTopic, NewTopicReplicas};
