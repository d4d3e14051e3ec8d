//! Who votes: replica keys, their endpoints, and the sets they form (KIP-853).

use std::collections::BTreeMap;
use std::fmt;

use crate::{DirectoryId, NodeId};

/// A replica of the metadata log: a node and, where it is known, its metadata directory.
///
/// A node whose disk was replaced is another replica, although its id stayed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReplicaKey {
    /// The node.
    pub id: NodeId,
    /// Its metadata directory; `None` in static quorums and from older peers.
    pub directory: Option<DirectoryId>,
}

impl ReplicaKey {
    /// Joins a node and its directory.
    pub fn new(id: NodeId, directory: Option<DirectoryId>) -> ReplicaKey {
        ReplicaKey { id, directory }
    }

    /// Whether both may be the same replica: the ids are equal, and the directories where both are
    /// known.
    pub fn matches(self, other: ReplicaKey) -> bool {
        self.id == other.id
            && match (self.directory, other.directory) {
                (Some(mine), Some(theirs)) => mine == theirs,
                _ => true,
            }
    }
}

impl fmt::Display for ReplicaKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.directory {
            Some(directory) => write!(f, "{}/{directory}", self.id),
            None => write!(f, "{}", self.id),
        }
    }
}

/// Where a node listens, by the name of the listener.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Endpoint {
    /// The listener's name, for instance `CONTROLLER`.
    pub name: String,
    /// Host name or address.
    pub host: String,
    /// TCP port.
    pub port: u16,
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}:{}", self.name, self.host, self.port)
    }
}

/// An inclusive range of versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct VersionRange {
    /// The lowest version supported.
    pub min: i16,
    /// The highest version supported.
    pub max: i16,
}

impl VersionRange {
    /// Whether `version` lies in the range.
    pub fn contains(self, version: i16) -> bool {
        (self.min..=self.max).contains(&version)
    }
}

impl fmt::Display for VersionRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.min, self.max)
    }
}

/// One voter of a [`VoterSet`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Voter {
    /// The voter's directory; `None` in a static quorum.
    pub directory: Option<DirectoryId>,
    /// Where it listens; the first is the default controller listener.
    pub endpoints: Vec<Endpoint>,
    /// The `kraft.version`s it supports.
    pub kraft_versions: VersionRange,
}

impl Voter {
    /// The endpoint of the listener called `name`.
    pub fn endpoint(&self, name: &str) -> Option<&Endpoint> {
        self.endpoints.iter().find(|endpoint| endpoint.name == name)
    }
}

/// The voters of the quorum by id.
///
/// ```
/// use quorate_types::{NodeId, VoterSet};
///
/// let voters = VoterSet::of_ids([1, 2, 3]);
/// assert_eq!(voters.majority(), 2);
/// assert!(voters.contains_id(NodeId(2)));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct VoterSet {
    voters: BTreeMap<NodeId, Voter>,
}

impl VoterSet {
    /// A set without directories or endpoints, as tests and examples like it.
    pub fn of_ids(ids: impl IntoIterator<Item = i32>) -> VoterSet {
        ids.into_iter()
            .map(|id| {
                let voter = Voter {
                    directory: None,
                    endpoints: Vec::new(),
                    kraft_versions: VersionRange { min: 0, max: 1 },
                };
                (NodeId(id), voter)
            })
            .collect()
    }

    /// How many voters there are.
    pub fn len(&self) -> usize {
        self.voters.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.voters.is_empty()
    }

    /// How many voters make a majority; 1 for an empty set, so that it never has one.
    pub fn majority(&self) -> usize {
        self.voters.len() / 2 + 1
    }

    /// The voters, ascending by id.
    pub fn iter(&self) -> impl Iterator<Item = (NodeId, &Voter)> {
        self.voters.iter().map(|(id, voter)| (*id, voter))
    }

    /// The ids, ascending.
    pub fn ids(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.voters.keys().copied()
    }

    /// The replica keys, ascending by id.
    pub fn keys(&self) -> impl Iterator<Item = ReplicaKey> + '_ {
        self.voters
            .iter()
            .map(|(id, voter)| ReplicaKey::new(*id, voter.directory))
    }

    /// The voter of that id.
    pub fn get(&self, id: NodeId) -> Option<&Voter> {
        self.voters.get(&id)
    }

    /// Whether a voter has that id, whatever its directory.
    pub fn contains_id(&self, id: NodeId) -> bool {
        self.voters.contains_key(&id)
    }

    /// Whether the replica is a voter: its id is in the set and its directory is the one named
    /// there. An entry without a directory (a static voter) matches by id alone.
    pub fn contains(&self, key: ReplicaKey) -> bool {
        match self.voters.get(&key.id) {
            Some(Voter {
                directory: Some(directory),
                ..
            }) => key.directory == Some(*directory),
            Some(Voter {
                directory: None, ..
            }) => true,
            None => false,
        }
    }

    /// The set with that voter added or replaced.
    #[must_use]
    pub fn with(&self, id: NodeId, voter: Voter) -> VoterSet {
        let mut next = self.clone();
        next.voters.insert(id, voter);
        next
    }

    /// The set without that id.
    #[must_use]
    pub fn without(&self, id: NodeId) -> VoterSet {
        let mut next = self.clone();
        next.voters.remove(&id);
        next
    }
}

impl FromIterator<(NodeId, Voter)> for VoterSet {
    fn from_iter<I: IntoIterator<Item = (NodeId, Voter)>>(voters: I) -> VoterSet {
        VoterSet {
            voters: voters.into_iter().collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Uuid;

    #[test]
    fn majorities_grow_with_every_second_voter() {
        let sizes = [(1, 1), (2, 2), (3, 2), (4, 3), (5, 3)];
        for (voters, majority) in sizes {
            assert_eq!(
                VoterSet::of_ids(1..=voters).majority(),
                majority,
                "{voters} voters"
            );
        }
        assert!(VoterSet::default().len() < VoterSet::default().majority());
    }

    #[test]
    fn a_replaced_disk_is_another_replica() {
        let directory = |n| Some(DirectoryId(Uuid([n; 16])));
        let fixed = Voter {
            directory: directory(1),
            ..VoterSet::of_ids([1]).voters[&NodeId(1)].clone()
        };
        let voters = VoterSet::of_ids([2]).with(NodeId(1), fixed);
        assert!(voters.contains(ReplicaKey::new(NodeId(1), directory(1))));
        assert!(!voters.contains(ReplicaKey::new(NodeId(1), directory(2))));
        assert!(!voters.contains(ReplicaKey::new(NodeId(1), None)));
        assert!(
            voters.contains(ReplicaKey::new(NodeId(2), directory(9))),
            "static voters have no directory"
        );
        assert!(ReplicaKey::new(NodeId(1), None).matches(ReplicaKey::new(NodeId(1), directory(2))));
    }
}
