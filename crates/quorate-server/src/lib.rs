//! Whole nodes, composed without I/O: a controller and a broker that take in frames, disk reports and
//! time, and give out frames, disk work and connections to be made.
//!
//! Faults hide where parts are joined, so the joining is done here, once, and whoever drives a node
//! only moves bytes: the runtime (`quorate-node`) over sockets and files, the simulator
//! (`quorate-sim`) over networks and disks that misbehave on purpose. Everything that decides is one
//! plain struct for each node, entered by one caller at a time; there is no lock, no thread and no
//! `async` here, and the same inputs at the same times give the same outputs.
//!
//! - [`io::Node`] is what a driver sees: [`Input`](io::Input)s, [`Output`](io::Output)s, a deadline.
//! - [`controller::ControllerNode`] joins [`quorum::Quorum`], the engine with Kafka's managers, and
//!   the controllers' listener.
//! - [`broker::BrokerNode`] joins [`quorum::Quorum`] as an observer, the loader, a broker's cores, and
//!   the front door for clients, which forwards to the active controller what changes metadata.
//! - [`quorum::Quorum`] joins Raft with the bytes it never sees: batches on their way between socket,
//!   [`tail::LogTail`] and disk, Kafka's messages, and the peers' addresses.
//! - [`disk::DiskWorker`] carries out a node's [`DiskJob`](disk::DiskJob)s on its files: on a thread of
//!   its own, or inside the simulator.
//! - [`links::Links`] are the connections that a node makes, [`inbound::Inbound`] those that others
//!   made to it, and the order of their answers.
//! - [`snapshots`] says when a node writes a snapshot of its own, piece by piece.
//! - [`boot`] turns what recovery found on disk into what a node starts from.
//!
//! What is held to, in both kinds of node:
//! - **Durable, visible, answered.** An image is published before the replies that report its changes.
//! - **One answer a request, in the order of the requests** of its connection, or the connection ends.
//! - **What cannot be understood ends its connection**, and never the node.
//! - **A disk that failed once is never asked again.** The node stops acknowledging, and says why.
//!
//! This crate knows no socket, file, clock or source of chance. Nor does it know what records mean
//! (that is the controller's and the metadata's) or when a vote is won (that is Raft's).
//!
//! # Example
//!
//! A quorum of one, on a disk in memory, is driven by hand until it is active:
//!
//! ```
//! use std::{collections::VecDeque, path::Path, sync::Arc};
//! use quorate_controller::{ControllerConfig, KafkaController};
//! use quorate_engine::EngineConfig;
//! use quorate_raft::Config;
//! use quorate_server::controller::{ControllerIdentity, ControllerNode, ControllerNodeConfig};
//! use quorate_server::disk::DiskWorker;
//! use quorate_server::io::{Input, Node, Now, Output};
//! use quorate_server::quorum::QuorumConfig;
//! use quorate_server::snapshots::SnapshotConfig;
//! use quorate_storage::{LogConfig, MetadataLog, vfs::MemVfs};
//! use quorate_types::{
//!     DirectoryId, IncarnationId, MonoTime, NodeId, ReplicaKey, Rng, Uuid, VoterSet, WallTime,
//! };
//!
//! let disk = Arc::new(MemVfs::new());
//! let (log, recovered) = MetadataLog::open(disk, Path::new("/log"), LogConfig::default())?;
//! let voters = Some(VoterSet::of_ids([1]));
//! let boot = quorate_server::boot::boot(&recovered, voters, true)?;
//! let mut worker = DiskWorker::new(log);
//!
//! let me = ReplicaKey::new(NodeId(1), Some(DirectoryId(Uuid([1; 16]))));
//! let config = ControllerNodeConfig {
//!     quorum: QuorumConfig {
//!         raft: Config::new(me),
//!         cluster_id: "example".into(),
//!         listener: "CONTROLLER".into(),
//!         bootstrap: Vec::new(),
//!         tail_bytes: 1 << 20,
//!         snapshots: SnapshotConfig::default(),
//!     },
//!     controller: KafkaController::new(ControllerConfig::new(NodeId(1), "example")),
//!     engine: EngineConfig::default(),
//!     identity: ControllerIdentity {
//!         incarnation: IncarnationId(Uuid([2; 16])),
//!         listeners: Vec::new(),
//!     },
//! };
//! let mut now = Now { mono: MonoTime::ZERO, wall: WallTime(1_700_000_000_000) };
//! let mut node = ControllerNode::new(config, boot, Rng::new(7), now)?;
//!
//! let mut inputs = VecDeque::new();
//! while !node.is_active() {
//!     // One round: what came in, one drive, everything that comes out.
//!     while let Some(input) = inputs.pop_front() {
//!         node.handle(now, input);
//!     }
//!     node.drive(now);
//!     let mut jobs = Vec::new();
//!     while let Some(output) = node.poll() {
//!         match output {
//!             Output::Disk(job) => jobs.push(job),
//!             Output::Event(event) => println!("{event}"), // active controller in epoch 1, …
//!             _ => {} // connections and frames: a quorum of one has nobody to talk to
//!         }
//!     }
//!     inputs.extend(worker.run(jobs).into_iter().map(Input::Disk));
//!     // Nothing came in: time passes.
//!     if inputs.is_empty() {
//!         now.mono = node.deadline().unwrap_or(now.mono).max(now.mono);
//!     }
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![warn(missing_docs)]
#![forbid(unsafe_code)]

pub mod boot;
pub mod broker;
pub mod changes;
pub mod controller;
pub mod disk;
pub mod events;
pub mod frames;
pub mod inbound;
pub mod io;
pub mod links;
mod log_reader;
pub mod quorum;
mod replies;
mod snapshot_files;
pub mod snapshots;
pub mod tail;
