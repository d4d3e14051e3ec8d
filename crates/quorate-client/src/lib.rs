//! A client's metadata.
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
