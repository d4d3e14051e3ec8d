//! A broker's side of the control plane: how it joins, what it answers, what it does with its
//! replicas.
#![warn(missing_docs)]
#![forbid(unsafe_code)]

pub mod backoff;
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
