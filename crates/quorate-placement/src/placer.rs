//! The question every placer answers.

use quorate_types::{NodeId, Rng};

/// A policy that chooses the brokers of new partitions.
pub trait ReplicaPlacer {
    /// Chooses the replicas of `spec.partitions` partitions among `brokers`, which are in no
    /// particular order. The answer has one list a partition, its first broker being the leader.
    ///
    /// Equal generators and brokers give equal answers, so that a run can be repeated.
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

/// Why nothing was placed. Kafka's clients know all of them as an invalid replication factor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlacementError {
    /// A partition needs a replica.
    #[error("Replication factor {replication_factor} is invalid: it must be positive.")]
    NotPositive {
        /// What was asked for.
        replication_factor: i16,
    },
    /// There is no broker that could lead.
    #[error("All brokers are currently fenced.")]
    AllFenced,
    /// A broker holds at most one replica of a partition.
    #[error(
        "The target replication factor of {replication_factor} cannot be reached because only \
         {brokers} broker(s) are registered."
    )]
    TooFewBrokers {
        /// What was asked for.
        replication_factor: i16,
        /// How many brokers there are.
        brokers: usize,
    },
}
