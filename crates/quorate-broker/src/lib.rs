//! A broker's side of the control plane: how it joins the cluster, what it answers its clients, and
//! what it does with its replicas.
//!
//! - [`lifecycle`]: registration, heartbeats, unfencing, controlled shutdown;
//! - [`cache`]: Metadata, DescribeCluster, DescribeTopicPartitions, ApiVersions, as functions of an
//!   image;
//! - [`replicas`]: what a change of the metadata means for the replicas held here, for any
//!   [`ReplicaHost`](replicas::ReplicaHost), and a host without data;
//! - [`isr`]: the ISR changes that leaders propose;
//! - [`directory_assignments`]: where replicas lie;
//! - [`Broker`]: all of these together, for a broker whose replicas hold no data.
//!
//! Everything here is pure: time, answers and images come in, requests come out. This crate knows no
//! connections, no logs of user data, no authentication and no configuration keys, and it does not
//! find the active controller: that is for whoever carries the requests.
//!
//! # Example
//! A broker against a controller that agrees to everything:
//!
//! ```
//! use std::time::Duration;
//!
//! use quorate_broker::lifecycle::{Answer, Input, Output, Request};
//! use quorate_broker::{BrokerState, Lifecycle, LifecycleConfig};
//! use quorate_protocol::messages::{BrokerHeartbeatResponse, BrokerRegistrationResponse};
//! use quorate_types::{BrokerEpoch, IncarnationId, MonoTime, NodeId, Offset, Rng};
//!
//! let incarnation = IncarnationId(Rng::new(1).uuid());
//! let config = LifecycleConfig::new(NodeId(4), "mTGiFOYvQA-l7MVmesF4UQ", incarnation);
//! let mut broker = Lifecycle::new(config);
//!
//! let mut now = MonoTime::ZERO;
//! broker.handle(now, Input::Start);
//! broker.handle(now, Input::ReadyToUnfence);
//! while broker.state() != BrokerState::Running {
//!     while let Some(output) = broker.poll() {
//!         let Output::Send { call, request } = output else {
//!             continue; // a change of state, for the log
//!         };
//!         let answer = match request {
//!             Request::Register(_) => Answer::Registration(BrokerRegistrationResponse {
//!                 broker_epoch: 7, // the offset of its record
//!                 ..Default::default()
//!             }),
//!             Request::Heartbeat(heartbeat) => {
//!                 let is_caught_up = heartbeat.current_metadata_offset >= 7;
//!                 Answer::Heartbeat(BrokerHeartbeatResponse {
//!                     is_caught_up,
//!                     is_fenced: !is_caught_up || heartbeat.want_fence,
//!                     ..Default::default()
//!                 })
//!             }
//!         };
//!         broker.handle(now, Input::Answer { call, answer });
//!     }
//!     // Meanwhile the loader has applied the registration's record.
//!     let registered = broker.epoch();
//!     broker.handle(now, Input::Published { end: Offset(8), registered });
//!     now = broker.deadline().unwrap_or(now + Duration::from_millis(10));
//!     broker.handle(now, Input::Tick);
//! }
//! assert_eq!(broker.epoch(), Some(BrokerEpoch(7)));
//! ```
#![warn(missing_docs)]
#![forbid(unsafe_code)]

mod backoff;
pub mod broker;
pub mod cache;
pub mod call;
pub mod clean_shutdown;
pub mod directory_assignments;
pub mod isr;
pub mod lifecycle;
pub mod replicas;
#[cfg(test)]
mod testing;

pub use broker::{
    Broker, BrokerCall, BrokerInput, BrokerOutput, BrokerRequest, BrokerResponse, Destination,
};
pub use cache::{Asker, BrokerApis, CacheConfig, MetadataAnswer, MetadataCache, find_coordinator};
pub use call::{CallFailure, CallId};
pub use lifecycle::{BrokerState, Lifecycle, LifecycleConfig, ShutdownReason};
