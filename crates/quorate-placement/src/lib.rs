//! Where the replicas of new partitions go.
#![warn(missing_docs)]
#![forbid(unsafe_code)]

mod placer;
mod striped;

pub use placer::{PlacementError, PlacementSpec, ReplicaPlacer, UsableBroker};
pub use striped::StripedPlacer;
