//! quorate: the metadata control plane of a Kafka cluster (KRaft), as crates that can be used one
//! by one.
//!
//! This crate is the door to all of them and holds no logic of its own: each module below is one
//! crate under a shorter name. Whoever needs only one (a Raft without I/O, Kafka's wire format, a
//! placer) depends on that crate alone; the arrows between them point one way, and
//! `docs/architecture.md` in the repository says which there are.
//!
//! The program `quorate` is built with the feature `cli`, which is on by default; a library needs none
//! of it: `quorate = { version = "0.1", default-features = false }`.
//!
//! | To … | start at |
//! |---|---|
//! | run a controller or a broker in your process | [`node::ControllerSpec`], [`node::BrokerSpec`] |
//! | drive one yourself, without threads and sockets | [`server::controller::ControllerNode`] |
//! | decide with Kafka's managers | [`controller::KafkaController`] |
//! | read what the metadata says | [`metadata::MetadataImage`] |
//! | place replicas your way | [`placement::ReplicaPlacer`] |
//! | replicate a state machine of your own | [`engine::Domain`] on [`raft::Raft`] |
//! | read and write Kafka's bytes | [`protocol`], [`storage`] |
//!
//! # Example
//!
//! A broker registers and takes part, a topic is created, and the image shows it. Here the log is a
//! vector that commits at once ([`engine::Solo`]); below a real controller it is Raft.
//!
//! ```
//! use quorate::controller::{Command, ControllerConfig, KafkaController, Reply, RequestContext};
//! use quorate::controller::Operation;
//! use quorate::engine::Solo;
//! use quorate::protocol::messages::{
//!     BrokerHeartbeatRequest, BrokerRegistrationRequest, CreateTopicsRequest,
//!     broker_registration::{Feature, Listener}, create_topics::CreatableTopic,
//! };
//! use quorate::types::{NodeId, Uuid};
//!
//! let config = ControllerConfig::new(NodeId(1), "example");
//! let mut kafka = Solo::new(KafkaController::new(config), 7);
//! let mut ask = |operation: Operation| {
//!     let newest = operation.api_key().versions().unwrap().max;
//!     let context = RequestContext::anonymous(newest, kafka.now());
//!     let reply = kafka.decide(Command { context, operation });
//!     (reply, kafka.state().clone(), kafka.end())
//! };
//!
//! let features = quorate::controller::features::SUPPORTED_FEATURES;
//! let registration = BrokerRegistrationRequest {
//!     broker_id: 4,
//!     cluster_id: "example".into(),
//!     incarnation_id: Uuid([1; 16]),
//!     listeners: vec![Listener {
//!         name: "PLAINTEXT".into(), host: "localhost".into(), port: 9092, ..Default::default()
//!     }],
//!     features: features.iter().map(|feature| Feature {
//!         name: feature.name.into(),
//!         min_supported_version: feature.min,
//!         max_supported_version: feature.max,
//!         ..Default::default()
//!     }).collect(),
//!     log_dirs: vec![Uuid([2; 16])],
//!     ..Default::default()
//! };
//! let (reply, image, end) = ask(registration.into());
//! let Ok(Reply::BrokerRegistration(granted)) = reply else { unreachable!() };
//! assert!(image.broker(NodeId(4)).unwrap().fenced);
//!
//! // Its heartbeat says that it has read that far, so it may take part.
//! let heartbeat = BrokerHeartbeatRequest {
//!     broker_id: 4,
//!     broker_epoch: granted.broker_epoch,
//!     current_metadata_offset: end.0 - 1,
//!     ..Default::default()
//! };
//! let (_, image, _) = ask(heartbeat.into());
//! assert!(!image.broker(NodeId(4)).unwrap().fenced);
//!
//! let topic = CreatableTopic {
//!     name: "orders".into(), num_partitions: 3, replication_factor: 1, ..Default::default()
//! };
//! let request = CreateTopicsRequest { topics: vec![topic], ..Default::default() };
//! let (_, image, _) = ask(request.into());
//! assert_eq!(image.topics().by_name("orders").unwrap().partition_count(), 3);
//! assert_eq!(image.topics().led_by(NodeId(4)).count(), 3);
//! ```
#![warn(missing_docs)]
#![forbid(unsafe_code)]

#[doc(inline)]
pub use quorate_broker as broker;
#[doc(inline)]
pub use quorate_client as client;
#[doc(inline)]
pub use quorate_controller as controller;
#[doc(inline)]
pub use quorate_engine as engine;
#[doc(inline)]
pub use quorate_metadata as metadata;
#[doc(inline)]
pub use quorate_node as node;
#[doc(inline)]
pub use quorate_placement as placement;
#[doc(inline)]
pub use quorate_protocol as protocol;
#[doc(inline)]
pub use quorate_raft as raft;
#[doc(inline)]
pub use quorate_server as server;
#[doc(inline)]
pub use quorate_storage as storage;
#[doc(inline)]
pub use quorate_types as types;

/// The README's snippets, held to compile and to hold.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
