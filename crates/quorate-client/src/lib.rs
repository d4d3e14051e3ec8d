//! A client's metadata: what it knows of the cluster, when it asks for more, and what it believes.
//!
//! [`ClientMetadata`] is what a producer, a consumer or an administrative client keeps beside its
//! connections. It decides
//! - **when to ask**: when somebody wanted it, when a topic is new, when an answer of any kind says
//!   that leadership has changed ([`asks_for_update`]), or when what is known is too old; never
//!   before its back-off is over;
//! - **what to believe**: a partition's leader by its epoch, so that an old broker's answer does not
//!   undo a newer one's;
//! - **when to start over**: if nobody that is known answers any longer, from the bootstrap servers
//!   (KIP-899, KIP-1102).
//!
//! It is pure: time and answers come in, requests come out, and waiting is a [`Wait`] or a
//! [`PartitionWait`] that is asked again. It opens no connection, chooses no node and keeps no
//! records.
//!
//! # Example
//! A producer waits until it knows where to send:
//!
//! ```
//! use std::time::Duration;
//!
//! use quorate_client::{Address, ClientConfig, ClientMetadata, PartitionState, PartitionWait};
//! use quorate_protocol::messages::MetadataResponse;
//! use quorate_protocol::messages::metadata::{
//!     MetadataResponseBroker, MetadataResponsePartition, MetadataResponseTopic,
//! };
//! use quorate_types::{MonoTime, NodeId, Rng};
//!
//! let config = ClientConfig::new([Address::new("localhost", 9092)]);
//! let mut metadata = ClientMetadata::new(config, Rng::new(1));
//! let now = MonoTime::ZERO;
//!
//! let mut wait = PartitionWait::new(now, Duration::from_secs(60), "orders", Some(0));
//! assert!(matches!(wait.check(&mut metadata, now), PartitionState::Pending { .. }));
//!
//! let call = metadata.poll_request(now).expect("an update is due");
//! assert_eq!(metadata.servers(), [Address::new("localhost", 9092)]);
//! let response = MetadataResponse {
//!     brokers: vec![MetadataResponseBroker {
//!         node_id: 4,
//!         host: "localhost".into(),
//!         port: 9094,
//!         ..Default::default()
//!     }],
//!     topics: vec![MetadataResponseTopic {
//!         name: Some("orders".into()),
//!         partitions: vec![MetadataResponsePartition {
//!             leader_id: 4,
//!             leader_epoch: 7,
//!             ..Default::default()
//!         }],
//!         ..Default::default()
//!     }],
//!     ..Default::default()
//! };
//! metadata.answered(now, call.ticket, 13, &response);
//!
//! assert_eq!(wait.check(&mut metadata, now), PartitionState::Known { partitions: 1 });
//! let leader = metadata.leader("orders", 0).node.expect("a leader");
//! assert_eq!((leader.id, leader.address.port), (NodeId(4), 9094));
//! ```
#![warn(missing_docs)]
#![forbid(unsafe_code)]

mod config;
mod epochs;
mod error;
mod interest;
mod metadata;
mod pace;
mod snapshot;
mod wait;

pub use config::{Address, ClientConfig};
pub use error::asks_for_update;
pub use metadata::{
    ClientMetadata, CurrentLeader, Fault, MetadataCall, NamedLeader, Ticket, Version,
};
pub use snapshot::{ClusterSnapshot, Node, PartitionInfo, TopicInfo};
pub use wait::{Missing, PartitionState, PartitionWait, Wait, WaitState};
