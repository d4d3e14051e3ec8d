//! The question every placer answers.

use quorate_types::{NodeId, Rng};

/// A policy that chooses the brokers of new partitions.
///
/// Where the answer follows from the brokers alone, a placer may leave the generator untouched. It
/// keeps nothing from one call to the next: a standby that takes over has not seen the calls before.
pub trait ReplicaPlacer {
    /// Chooses the replicas of `spec.partitions` partitions among `brokers`, which have different
    /// ids and are in no particular order. The answer has one list a partition, its first broker
    /// being the preferred leader. Bounding the number of partitions is the caller's business.
    ///
    /// Equal generators and brokers give equal answers, so that a run can be repeated.
    /// [`laws`](crate::laws) says what else is expected, and checks it.
    ///
    /// # Errors
    /// When there cannot be so many replicas, or none could lead.
    fn place(
        &self,
        rng: &mut Rng,
        spec: PlacementSpec,
        brokers: &[UsableBroker],
    ) -> Result<Vec<Vec<NodeId>>, PlacementError>;
}

/// What is to be placed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlacementSpec {
    /// The index of the first partition: 0 for a new topic, more when one grows.
    pub start_partition: i32,
    /// How many partitions; none if it is negative.
    pub partitions: i32,
    /// How many replicas each gets.
    pub replication_factor: i16,
}

impl PlacementSpec {
    /// Checks what no placer can do, and returns how many replicas each partition gets.
    ///
    /// # Errors
    /// The factor is not positive, nobody could lead, or there are too few brokers.
    pub fn validate(&self, brokers: &[UsableBroker]) -> Result<usize, PlacementError> {
        let replication_factor = self.replication_factor;
        let replicas = usize::try_from(replication_factor).unwrap_or(0);
        if replicas == 0 {
            return Err(PlacementError::NotPositive { replication_factor });
        }
        if brokers.iter().all(|broker| broker.fenced) {
            return Err(PlacementError::AllFenced);
        }
        let brokers = brokers.len();
        if replicas > brokers {
            return Err(PlacementError::TooFewBrokers {
                replication_factor,
                brokers,
            });
        }
        Ok(replicas)
    }
}

/// A broker that replicas may be placed on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsableBroker {
    /// Its id.
    pub id: NodeId,
    /// Its rack, if it has one.
    pub rack: Option<String>,
    /// Whether it is registered but not alive: it may hold a replica, but not lead.
    pub fenced: bool,
}

impl UsableBroker {
    /// An unfenced broker.
    pub fn new(id: i32, rack: Option<&str>) -> UsableBroker {
        UsableBroker {
            id: NodeId(id),
            rack: rack.map(str::to_string),
            fenced: false,
        }
    }
}

/// Why nothing was placed. Kafka's clients know all of them as an invalid replication factor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlacementError {
    /// A partition needs a replica.
    #[error("a replication factor of {replication_factor} is not positive")]
    NotPositive {
        /// What was asked for.
        replication_factor: i16,
    },
    /// There is no broker that could lead.
    #[error("there is no unfenced broker to lead")]
    AllFenced,
    /// A broker holds at most one replica of a partition.
    #[error("{replication_factor} replicas need as many brokers, and there are {brokers}")]
    TooFewBrokers {
        /// What was asked for.
        replication_factor: i16,
        /// How many brokers there are.
        brokers: usize,
    },
}
