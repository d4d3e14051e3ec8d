//! Kafka's placement: stripes across racks, then across the brokers of each.

use quorate_types::{NodeId, Rng};

use crate::placer::{PlacementError, PlacementSpec, ReplicaPlacer, UsableBroker};

/// Places replicas in stripes, as Kafka's controller does.
#[derive(Debug, Clone, Copy, Default)]
pub struct StripedPlacer;

impl ReplicaPlacer for StripedPlacer {
    fn place(
        &self,
        rng: &mut Rng,
        spec: PlacementSpec,
        brokers: &[UsableBroker],
    ) -> Result<Vec<Vec<NodeId>>, PlacementError> {
        let _ = (rng, spec, brokers);
        todo!()
    }
}
