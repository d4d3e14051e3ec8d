//! Ids of nodes, topics, directories and incarnations, and the epochs of brokers and partitions.
//!
//! Controllers and brokers share one id space, as in Kafka, so there is one [`NodeId`].

use std::fmt;

use crate::Uuid;

macro_rules! number {
    ($(#[$doc:meta])* $name:ident($inner:ty)) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        pub struct $name(pub $inner);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

macro_rules! named_uuid {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        pub struct $name(pub Uuid);

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self.0)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl From<Uuid> for $name {
            fn from(uuid: Uuid) -> Self {
                $name(uuid)
            }
        }

        impl From<$name> for Uuid {
            fn from(id: $name) -> Uuid {
                id.0
            }
        }
    };
}

number! {
    /// The id of a controller or a broker (`node.id`); never negative for a real node.
    NodeId(i32)
}
number! {
    /// A broker's epoch: the offset at which its registration was written. It identifies one
    /// registration of one broker for ever.
    BrokerEpoch(i64)
}
number! {
    /// A partition's leader epoch: grows whenever a leader is chosen, even the same one.
    LeaderEpoch(i32)
}
number! {
    /// A partition's epoch: grows with every change of the partition's state.
    PartitionEpoch(i32)
}

impl NodeId {
    /// The id that Kafka writes where there is no node (`-1`).
    pub const NONE: NodeId = NodeId(-1);

    /// The node, or `None` where the wire carries a negative id.
    pub fn from_wire(id: i32) -> Option<NodeId> {
        (id >= 0).then_some(NodeId(id))
    }

    /// The id as Kafka writes it: `-1` for none.
    pub fn to_wire(node: Option<NodeId>) -> i32 {
        node.map_or(-1, |node| node.0)
    }
}

named_uuid! {
    /// A topic's id; a topic that is deleted and created again gets another.
    TopicId
}
named_uuid! {
    /// The id of a log directory (KIP-858) or of a voter's metadata directory (KIP-853).
    DirectoryId
}
named_uuid! {
    /// One start of a broker's or a controller's process.
    IncarnationId
}

impl DirectoryId {
    /// The directory of a replica that was created before directories had ids.
    pub const MIGRATING: DirectoryId = DirectoryId(Uuid::reserved(0));
    /// No directory chosen yet.
    pub const UNASSIGNED: DirectoryId = DirectoryId(Uuid::reserved(1));
    /// The directory failed or is gone.
    pub const LOST: DirectoryId = DirectoryId(Uuid::reserved(2));

    /// Whether this is one of the first hundred ids, which name no real directory (KIP-858).
    pub fn is_reserved(self) -> bool {
        self.0.is_reserved()
    }
}
