//! Partitions: who leads, who is in sync, where replicas lie, and who changes it.

mod alter;
mod change;
mod directories;
mod elect;
mod election;
mod moves;
mod reassign;

pub(crate) use alter::alter;
pub(crate) use change::{nodes, uuids, wire};
pub(crate) use directories::{assign, offline};
pub(crate) use elect::{elect, preferred_sweep, unclean_sweep};
pub(crate) use moves::{Leaving, default_directory, is_active, reconsider};
pub use reassign::list as list_reassignments;
pub(crate) use reassign::reassign;
