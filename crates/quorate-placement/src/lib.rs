//! Where the replicas of new partitions go.
//!
//! A [`ReplicaPlacer`] chooses brokers for the partitions of a new or growing topic.
//! [`StripedPlacer`] does it as Kafka does. Whoever has other needs writes their own and runs the
//! [`laws`] on it: what they hold is all that a controller relies on.
//!
//! This crate knows ids, racks and fences. It knows no topics, no existing replicas and no load;
//! a placer that wants to see those brings them along itself.
//!
//! ```
//! use quorate_placement::{laws, PlacementError, PlacementSpec, ReplicaPlacer, UsableBroker};
//! use quorate_types::{NodeId, Rng};
//!
//! /// The lowest unfenced ids, always: easy to remember, and no good.
//! struct Lowest;
//!
//! impl ReplicaPlacer for Lowest {
//!     fn place(
//!         &self,
//!         _rng: &mut Rng,
//!         spec: PlacementSpec,
//!         brokers: &[UsableBroker],
//!     ) -> Result<Vec<Vec<NodeId>>, PlacementError> {
//!         let replicas = spec.validate(brokers)?;
//!         let mut sorted = brokers.to_vec();
//!         sorted.sort_by_key(|broker| (broker.fenced, broker.id));
//!         let lowest: Vec<NodeId> = sorted.iter().map(|broker| broker.id).take(replicas).collect();
//!         Ok((0..spec.partitions).map(|_| lowest.clone()).collect())
//!     }
//! }
//!
//! let brokers = [3, 1, 2].map(|id| UsableBroker::new(id, None));
//! let spec = PlacementSpec { start_partition: 0, partitions: 4, replication_factor: 2 };
//! laws::check_duties(&Lowest, 1, spec, &brokers).unwrap(); // a controller can live with it
//! let violation = laws::check_balance(&Lowest, 1).unwrap_err(); // its brokers cannot
//! assert_eq!(violation.law, laws::Law::Balance);
//! ```
#![warn(missing_docs)]
#![forbid(unsafe_code)]

pub mod laws;
mod placer;
mod striped;

pub use placer::{PlacementError, PlacementSpec, ReplicaPlacer, UsableBroker};
pub use striped::StripedPlacer;
