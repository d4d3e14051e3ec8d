//! A broker's replicas: what the image wants of them, and what their leaders want of the image.
//!
//! [`LocalReplicas`] takes each delta apart into what its [`ReplicaHost`] has to do, in this order:
//! 1. deletes;
//! 2. leaders: from here on they take followers;
//! 3. followers;
//! 4. directories: where a replica really lies elsewhere than the log says, the controller is told.
//!
//! The cache is to be set before: a client may meet a leader that is not ready yet, is told
//! `NOT_LEADER_OR_FOLLOWER` and comes again; the other way round it would be sent away for good.
//!
//! For partitions led here it also decides about the ISR:
//! - a follower joins when the host says that it is in sync in this leader epoch, and the image says
//!   that it is unfenced, not shutting down, and registered with the epoch that it fetches under;
//! - one change is under way at a time; what it became is known from the controller's answer or from
//!   the image, whichever is newer by partition epoch.
//!
//! [`MemoryReplicas`] is a host without data, in which a follower is in sync as soon as it follows
//! its leader's epoch.
//!
//! Kafka: `ReplicaManager.applyDelta`, `Partition`; KIP-497, KIP-841, KIP-903.

mod host;
pub mod laws;
mod led;
mod local;
mod memory;
#[cfg(test)]
mod tests;
mod wire;

pub use host::ReplicaHost;
pub use local::{LocalReplicas, Misplaced, Wish};
pub use memory::{
    FollowAnswer, FollowRequest, MemoryReplicas, Output as MemoryOutput, REQUEST_TIMEOUT,
};
pub use wire::Unreadable;
