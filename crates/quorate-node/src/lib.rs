//! The runtime of quorate nodes: threads, sockets, files, timers.
//!
//! It moves bytes and time for [`quorate_server`]'s nodes and decides nothing. This is the only crate
//! that reads a clock, starts a thread or opens a socket; what a node answers, votes or writes is not
//! known here.
//!
//! A running node ([`NodeHandle`]) is:
//!
//! | Who | does |
//! |---|---|
//! | the **core thread** | owns the node: takes mail in, drives it, carries out what it wants; it never blocks on anything but its mailbox |
//! | the **disk thread** | owns the files: writes all that is queued, syncs once, reports |
//! | **tokio's tasks** | own the sockets: whole frames in, whole frames out |
//!
//! They share nothing but queues. The nodes of one process may share one tokio runtime and must
//! share one [`Clock`].
//!
//! - [`NewDirectory`] formats a log directory, as `kafka-storage format` does.
//! - [`ControllerSpec`] and [`BrokerSpec`] start a node on one.
//! - [`NodeHandle`] shows what the node published, and ends it: in good order, or as a crash would.
//! - [`Client`] is a small blocking client for tools and tests.
//!
//! # Example
//!
//! A quorum of one controller on a loopback socket, asked over Kafka's protocol:
//!
//! ```
//! use std::net::TcpListener;
//! use std::time::Duration;
//! use quorate_node::{Client, Clock, ControllerSpec, Limits, Machine, NewDirectory, entropy};
//! use quorate_protocol::messages::{
//!     ApiKey, DescribeQuorumRequest, Request, Response,
//!     describe_quorum::{RequestPartitionData, RequestTopicData},
//! };
//! use quorate_types::{DirectoryId, Endpoint, NodeId, VersionRange, Voter};
//!
//! let data = tempfile::tempdir()?;
//! let listener = TcpListener::bind("127.0.0.1:0")?;
//! let address = listener.local_addr()?;
//! let endpoint = Endpoint {
//!     name: "CONTROLLER".into(),
//!     host: "127.0.0.1".into(),
//!     port: address.port(),
//! };
//! let clock = Clock::new();
//! let directory = DirectoryId(entropy().uuid());
//! let me = Voter {
//!     directory: Some(directory),
//!     endpoints: vec![endpoint.clone()],
//!     kraft_versions: VersionRange { min: 0, max: 1 },
//! };
//! let new = NewDirectory {
//!     path: data.path().join("controller"),
//!     cluster_id: "example".into(),
//!     node: NodeId(1),
//!     directory,
//!     initial_voters: Some([(NodeId(1), me)].into_iter().collect()),
//! };
//! new.make(clock.now().wall)?;
//!
//! let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
//! let machine = Machine { tokio: runtime.handle(), clock, limits: Limits::default() };
//! let (active, waiting) = std::sync::mpsc::channel();
//! let controller = ControllerSpec::new(NodeId(1), "example", new.path, endpoint).start(
//!     listener,
//!     &machine,
//!     entropy().next_u64(),
//!     Box::new(move |event| drop(active.send(event.to_string()))),
//! )?;
//! while !waiting.recv_timeout(Duration::from_secs(10))?.starts_with("active controller") {}
//!
//! let mut client = Client::connect(&address.to_string(), Duration::from_secs(5))?;
//! assert!(client.versions(ApiKey::CreateTopics).is_some());
//! let partition = RequestPartitionData { partition_index: 0, ..Default::default() };
//! let topic = RequestTopicData {
//!     topic_name: "__cluster_metadata".into(),
//!     partitions: vec![partition],
//!     ..Default::default()
//! };
//! let request = DescribeQuorumRequest { topics: vec![topic], ..Default::default() };
//! let Response::DescribeQuorum(answer) = client.call(&request.into())? else { unreachable!() };
//! assert_eq!(answer.topics[0].partitions[0].leader_id, 1);
//!
//! controller.shutdown()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![warn(missing_docs)]
#![forbid(unsafe_code)]

mod broker;
mod client;
mod clock;
mod controller;
mod core_thread;
mod credit;
mod disk_thread;
mod entropy;
mod files;
mod handle;
mod mailbox;
mod net;
mod outgoing;

pub use broker::BrokerSpec;
pub use client::{Client, ClientError};
pub use clock::Clock;
pub use controller::ControllerSpec;
pub use entropy::entropy;
pub use files::{NewDirectory, StartError};
pub use handle::{Machine, NodeFault, NodeHandle, OnEvent, PublishedMetadata};
pub use net::Limits;
