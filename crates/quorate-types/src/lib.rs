//! The vocabulary of a KRaft control plane: ids, offsets, epochs, replica keys, voter sets, the data
//! of control records, and Kafka's error codes.
//!
//! Every other quorate crate speaks in these types. This crate knows neither bytes nor time nor
//! consensus; it only makes sure that an offset is not taken for an epoch and that a broker's
//! directory is not taken for a topic.
//!
//! ```
//! use quorate_types::{Epoch, NodeId, Offset, OffsetAndEpoch};
//!
//! let end = OffsetAndEpoch { offset: Offset(42), epoch: Epoch(3) };
//! assert!(end > OffsetAndEpoch { offset: Offset(90), epoch: Epoch(2) }); // the later epoch wins
//! assert_eq!(Offset(40) + 2, end.offset);
//! assert_eq!(NodeId(7).to_string(), "7");
//! ```
#![warn(missing_docs)]
#![forbid(unsafe_code)]

mod control;
mod error;
mod id;
mod offset;
mod rng;
mod time;
mod uuid;
mod voters;

pub use control::{ControlRecord, KRaftVersion};
pub use error::ErrorCode;
pub use id::{
    BrokerEpoch, DirectoryId, IncarnationId, LeaderEpoch, NodeId, PartitionEpoch, TopicId,
};
pub use offset::{Epoch, Offset, OffsetAndEpoch};
pub use rng::Rng;
pub use time::{MonoTime, WallTime};
pub use uuid::{InvalidUuid, Uuid};
pub use voters::{Endpoint, ReplicaKey, VersionRange, Voter, VoterSet};
