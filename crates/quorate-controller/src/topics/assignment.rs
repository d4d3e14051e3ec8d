//! Replicas of new partitions: given by the request, or placed.

use quorate_metadata::MetadataImage;
use quorate_placement::{PlacementError, PlacementSpec, UsableBroker};
use quorate_types::{ErrorCode, NodeId};

use crate::controller::{Desk, KafkaController};
use crate::error::ApiError;
use crate::partition::{default_directory, is_active, uuids, wire};
use crate::records::NewPartition;

/// Checks replicas that a request names: there are some, all registered, none twice, and as many as
/// `factor` says.
pub(crate) fn check_assignment(
    image: &MetadataImage,
    replicas: &[NodeId],
    factor: Option<usize>,
) -> Result<(), ApiError> {
    let refuse = |message: String| Err(ApiError::new(ErrorCode::InvalidReplicaAssignment, message));
    if replicas.is_empty() {
        return refuse("an assignment without replicas".to_string());
    }
    let mut sorted = replicas.to_vec();
    sorted.sort_unstable();
    for (at, node) in sorted.iter().enumerate() {
        if image.broker(*node).is_none() {
            return refuse(format!("broker {node} of the assignment is not registered"));
        }
        if at > 0 && sorted[at - 1] == *node {
            return refuse(format!("broker {node} is in the assignment more than once"));
        }
    }
    match factor {
        Some(factor) if factor != replicas.len() => refuse(format!(
            "an assignment of {} replicas among others of {factor}",
            replicas.len()
        )),
        _ => Ok(()),
    }
}

/// Chooses the replicas of `partitions` new partitions, the first of which has the number `start`.
pub(crate) fn place(
    controller: &KafkaController,
    draft: &mut Desk<'_>,
    start: i32,
    partitions: i32,
    replication_factor: i16,
) -> Result<Vec<Vec<NodeId>>, PlacementError> {
    let brokers: Vec<UsableBroker> = draft
        .state()
        .brokers()
        .filter(|broker| broker.fenced || !broker.in_controlled_shutdown)
        .map(|broker| UsableBroker {
            id: broker.id,
            rack: broker.rack.as_deref().map(str::to_string),
            fenced: broker.fenced,
        })
        .collect();
    let spec = PlacementSpec {
        start_partition: start,
        partitions,
        replication_factor,
    };
    controller.placer().place(draft.rng(), spec, &brokers)
}

/// A partition that starts on these replicas: those that are active are in sync, the first of them
/// leads. `None` if there is no active one.
pub(crate) fn new_partition(image: &MetadataImage, replicas: &[NodeId]) -> Option<NewPartition> {
    let active = |node: &&NodeId| is_active(image, **node);
    let isr: Vec<NodeId> = replicas.iter().filter(active).copied().collect();
    let leader = *isr.first()?;
    let directories: Vec<_> = replicas
        .iter()
        .map(|node| default_directory(image, *node))
        .collect();
    Some(NewPartition {
        replicas: wire(replicas),
        directories: uuids(&directories),
        isr: wire(&isr),
        leader: leader.0,
    })
}
