//! What holds the replicas: logs, fetchers, or a stand-in for them.

use quorate_metadata::{LocalDelete, LocalReplica, PartitionId};
use quorate_types::DirectoryId;

/// Holds a broker's replicas and does with them what the metadata says.
///
/// Called by [`LocalReplicas`](super::LocalReplicas) with what is new and in the right order; an
/// implementation need not compare epochs. [`laws`](super::laws) checks one. Nothing here may block or fail: what goes wrong in a log
/// directory is the directory's failure and reported as such. [`laws`](super::laws) checks a host.
pub trait ReplicaHost {
    /// The broker leads the partition as `replica` shows it. Called again when the partition changes
    /// in the same leader epoch.
    fn become_leader(&mut self, replica: &LocalReplica);

    /// The broker follows the partition's leader, if there is one. With a new leader epoch it starts
    /// fetching anew, even from the same leader. Called again when the partition changes in the same
    /// leader epoch.
    fn become_follower(&mut self, replica: &LocalReplica);

    /// The replica is no longer here; its data goes.
    fn delete(&mut self, replica: &LocalDelete);

    /// The directory in which the replica really lies; `None` for one that is not here.
    fn directory(&self, partition: PartitionId) -> Option<DirectoryId>;

    /// The broker shuts down and will not lead or be in sync here again: stop fetching for good.
    fn stop_fetching(&mut self, _partition: PartitionId) {}
}
