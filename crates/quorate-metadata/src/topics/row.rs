//! A partition in 44 bytes.
//!
//! A row holds up to three replicas; ISR, ELRs and leader are positions among them. What does not fit
//! (more replicas, a reassignment, an ELR outside the replicas) is *odd* and kept whole elsewhere.

use quorate_types::{LeaderEpoch, NodeId, PartitionEpoch};

use super::directories::Directories;
use super::{LeaderRecovery, Partition};

const REPLICAS: usize = 3;
/// Stands where there is no replica; nobody's id.
const NOBODY: i32 = i32::MIN;

/// A partition of a topic, packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Row {
    replicas: [i32; REPLICAS],
    directories: [u32; REPLICAS],
    leader_epoch: i32,
    partition_epoch: i32,
    /// The slot of its topic.
    pub(super) topic: u32,
    isr: Positions,
    elr: Positions,
    last_known_elr: Positions,
    leader: Position,
    form: Form,
}

/// How to read a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Recovered,
    Recovering,
    /// Only the topic and the epochs are right.
    Odd,
}

/// One more than a place among the replicas; 0 for none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Position(u8);

/// Up to four positions in their order, four bits each, the first one lowest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Positions(u16);

impl Row {
    /// Packs a partition; `None` if it is odd.
    pub(super) fn pack(
        partition: &Partition,
        topic: u32,
        directories: &mut Directories,
    ) -> Option<Row> {
        let count = partition.replicas.len();
        let paired = partition.directories.len() == count;
        if count > REPLICAS || !paired || partition.is_reassigning() {
            return None;
        }
        if partition.replicas.contains(&NodeId(NOBODY)) {
            return None;
        }
        let mut row = Row {
            replicas: [NOBODY; REPLICAS],
            directories: [0; REPLICAS],
            leader_epoch: partition.leader_epoch.0,
            partition_epoch: partition.partition_epoch.0,
            topic,
            isr: Positions(0),
            elr: Positions(0),
            last_known_elr: Positions(0),
            leader: Position(0),
            form: match partition.leader_recovery {
                LeaderRecovery::Recovered => Form::Recovered,
                LeaderRecovery::Recovering => Form::Recovering,
            },
        };
        for (place, replica) in partition.replicas.iter().enumerate() {
            row.replicas[place] = replica.0;
        }
        row.isr = row.positions(&partition.isr)?;
        row.elr = row.positions(&partition.elr)?;
        row.last_known_elr = row.positions(&partition.last_known_elr)?;
        row.leader = match partition.leader {
            Some(leader) => row.position(leader)?,
            None => Position(0),
        };
        for (place, directory) in partition.directories.iter().enumerate() {
            row.directories[place] = directories.number(*directory);
        }
        Some(row)
    }

    /// The row of a partition that is kept elsewhere.
    pub(super) fn odd(partition: &Partition, topic: u32) -> Row {
        Row {
            replicas: [NOBODY; REPLICAS],
            directories: [0; REPLICAS],
            leader_epoch: partition.leader_epoch.0,
            partition_epoch: partition.partition_epoch.0,
            topic,
            isr: Positions(0),
            elr: Positions(0),
            last_known_elr: Positions(0),
            leader: Position(0),
            form: Form::Odd,
        }
    }

    /// The partition again; `None` if it is odd.
    pub(super) fn unpack(&self, directories: &Directories) -> Option<Partition> {
        let leader_recovery = match self.form {
            Form::Recovered => LeaderRecovery::Recovered,
            Form::Recovering => LeaderRecovery::Recovering,
            Form::Odd => return None,
        };
        let replicas = self.replicas();
        let numbers = &self.directories[..replicas.len()];
        Some(Partition {
            directories: numbers
                .iter()
                .map(|number| directories.get(*number))
                .collect(),
            replicas: replicas.iter().copied().map(NodeId).collect(),
            isr: self.nodes(self.isr),
            removing: Vec::new(),
            adding: Vec::new(),
            elr: self.nodes(self.elr),
            last_known_elr: self.nodes(self.last_known_elr),
            leader: self.leader(),
            leader_recovery,
            leader_epoch: LeaderEpoch(self.leader_epoch),
            partition_epoch: PartitionEpoch(self.partition_epoch),
        })
    }

    /// Whether the partition is kept elsewhere, so that nothing can be asked of the row.
    pub(super) fn is_odd(&self) -> bool {
        self.form == Form::Odd
    }

    pub(super) fn leader(&self) -> Option<NodeId> {
        self.node(self.leader)
    }

    pub(super) fn in_isr(&self, node: NodeId) -> bool {
        self.isr
            .iter()
            .any(|position| self.node(position) == Some(node))
    }

    pub(super) fn in_elr(&self, node: NodeId) -> bool {
        self.elr
            .iter()
            .any(|position| self.node(position) == Some(node))
    }

    pub(super) fn has_elr(&self) -> bool {
        self.elr != Positions(0) || self.last_known_elr != Positions(0)
    }

    /// Whether the node holds it in the directory of that number.
    pub(super) fn in_directory(&self, node: NodeId, number: u32) -> bool {
        let place = self
            .replicas()
            .iter()
            .position(|replica| *replica == node.0);
        place.is_some_and(|place| self.directories[place] == number)
    }

    fn replicas(&self) -> &[i32] {
        let count = self
            .replicas
            .iter()
            .take_while(|replica| **replica != NOBODY)
            .count();
        &self.replicas[..count]
    }

    fn node(&self, position: Position) -> Option<NodeId> {
        let place = usize::from(position.0).checked_sub(1)?;
        self.replicas.get(place).copied().map(NodeId)
    }

    fn nodes(&self, positions: Positions) -> Vec<NodeId> {
        positions
            .iter()
            .filter_map(|position| self.node(position))
            .collect()
    }

    fn position(&self, node: NodeId) -> Option<Position> {
        let place = self
            .replicas()
            .iter()
            .position(|replica| *replica == node.0)?;
        u8::try_from(place + 1).ok().map(Position)
    }

    fn positions(&self, nodes: &[NodeId]) -> Option<Positions> {
        if nodes.len() > Positions::MAX {
            return None;
        }
        let mut positions = 0;
        for (place, node) in nodes.iter().enumerate() {
            positions |= u16::from(self.position(*node)?.0) << (4 * place);
        }
        Some(Positions(positions))
    }
}

impl Positions {
    const MAX: usize = 4;

    fn iter(self) -> impl Iterator<Item = Position> {
        (0..Positions::MAX)
            .map(move |place| Position(((self.0 >> (4 * place)) & 0xf) as u8))
            .take_while(|position| position.0 != 0)
    }
}

#[cfg(test)]
mod tests {
    use quorate_types::DirectoryId;

    use super::*;

    fn partition() -> Partition {
        let nodes = |ids: &[i32]| ids.iter().copied().map(NodeId).collect::<Vec<_>>();
        Partition {
            replicas: nodes(&[5, 0, 7]),
            directories: vec![
                DirectoryId::LOST,
                DirectoryId::UNASSIGNED,
                DirectoryId::MIGRATING,
            ],
            isr: nodes(&[7, 5]),
            elr: nodes(&[0]),
            last_known_elr: nodes(&[5]),
            leader: Some(NodeId(7)),
            leader_recovery: LeaderRecovery::Recovering,
            leader_epoch: LeaderEpoch(3),
            partition_epoch: PartitionEpoch(-1),
            ..Partition::default()
        }
    }

    #[test]
    fn a_row_takes_44_bytes_and_so_does_a_place_for_one() {
        assert_eq!(size_of::<Row>(), 44);
        assert_eq!(size_of::<Option<Row>>(), 44);
    }

    #[test]
    fn what_fits_comes_back_in_the_same_order() {
        let mut directories = Directories::default();
        let whole = partition();
        let leaderless = Partition {
            leader: None,
            isr: Vec::new(),
            ..partition()
        };
        for partition in [whole, leaderless, Partition::default()] {
            let row = Row::pack(&partition, 9, &mut directories).unwrap();
            assert_eq!(row.unpack(&directories), Some(partition));
            assert_eq!(row.topic, 9);
        }
    }

    #[test]
    fn a_row_answers_like_its_partition() {
        let mut directories = Directories::default();
        let partition = partition();
        let row = Row::pack(&partition, 0, &mut directories).unwrap();
        let lost = directories.known(DirectoryId::LOST).unwrap();
        for node in (0..9).map(NodeId) {
            assert_eq!(row.in_isr(node), partition.in_isr(node), "{node}");
            assert_eq!(row.in_elr(node), partition.in_elr(node), "{node}");
            let is_lost = partition.directory(node) == Some(DirectoryId::LOST);
            assert_eq!(row.in_directory(node, lost), is_lost, "{node}");
        }
        assert_eq!(row.leader(), partition.leader);
        assert!(row.has_elr());
    }

    #[test]
    fn what_does_not_fit_is_odd() {
        let nodes = |count: i32| (0..count).map(NodeId).collect::<Vec<_>>();
        let base = Partition {
            replicas: nodes(3),
            directories: vec![DirectoryId::MIGRATING; 3],
            ..Partition::default()
        };
        let odd = [
            Partition {
                replicas: nodes(4),
                directories: vec![DirectoryId::MIGRATING; 4],
                ..base.clone()
            },
            Partition {
                adding: nodes(1),
                ..base.clone()
            },
            Partition {
                elr: vec![NodeId(9)],
                ..base.clone()
            },
            Partition {
                isr: vec![NodeId(1); 5],
                ..base.clone()
            },
            Partition {
                leader: Some(NodeId(9)),
                ..base.clone()
            },
            Partition {
                replicas: vec![NodeId(NOBODY); 3],
                ..base.clone()
            },
        ];
        let mut directories = Directories::default();
        assert!(Row::pack(&base, 0, &mut directories).is_some());
        for partition in odd {
            assert_eq!(
                Row::pack(&partition, 0, &mut directories),
                None,
                "{partition:?}"
            );
            assert!(Row::odd(&partition, 0).is_odd());
        }
    }
}
