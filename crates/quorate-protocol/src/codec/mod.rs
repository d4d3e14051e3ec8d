//! How values become bytes and back: the part of the protocol that knows no message.
//!
//! A message is a plain struct whose fields stand in wire order; `#[derive(Message)]` writes its
//! [`Wire`] implementation from a few attributes, `#[derive(Fields)]` that of the structs inside it.
//! One version of a message differs from another by the fields it has and by whether it is
//! *flexible* (KIP-482): flexible versions spell lengths as varints and end each struct with tagged
//! fields. Both facts travel with every call as a [`Form`].
//!
//! What holds for all of it:
//! - a [`Reader`] never reads past its frame, never panics, and never allocates more than a small
//!   multiple of the frame: a count is at most what the bytes left could hold, and every allocation
//!   is charged to a budget, since honest counts amplify too;
//! - tagged fields that are not known are kept raw and written again ([`UnknownTags`]);
//! - a field that a version does not have must hold its default when that version is written, unless
//!   it is declared ignorable: nothing is lost silently.
//!
//! ```
//! use quorate_protocol::codec::{Fields, Message, Reader, UnknownTags};
//!
//! /// Grants a lease.
//! #[derive(Debug, Clone, PartialEq, Message)]
//! #[message(key = 1, versions = 0..=1, flexible = 0)]
//! pub struct LeaseRecord {
//!     /// Whose lease it is.
//!     pub holder: Holder,
//!     /// How long it lasts, in milliseconds; 0 for ever.
//!     #[field(since = 1, default = -1)]
//!     pub duration_ms: i64,
//!     /// Tagged fields that are not known here.
//!     pub unknown_tags: UnknownTags,
//! }
//!
//! /// Somebody who holds a lease.
//! #[derive(Debug, Clone, PartialEq, Fields)]
//! pub struct Holder {
//!     /// The name.
//!     pub name: String,
//!     /// Tagged fields that are not known here.
//!     pub unknown_tags: UnknownTags,
//! }
//!
//! let holder = Holder { name: "ana".into(), ..Holder::default() };
//! let record = LeaseRecord { holder, ..LeaseRecord::default() };
//! let bytes = record.to_bytes(0)?;
//! assert_eq!(&bytes[..], b"\x04ana\x00\x00");
//! assert_eq!(LeaseRecord::decode(0, &mut Reader::new(&bytes))?, record);
//!
//! let lasting = LeaseRecord { duration_ms: 5, ..record };
//! assert!(lasting.to_bytes(0).is_err(), "version 0 cannot say how long");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod error;
mod message;
mod reader;
mod sink;
mod tags;
mod wire;

pub use error::{DecodeError, DecodeProblem, EncodeError};
pub use message::Message;
pub use quorate_protocol_derive::{Fields, Message};
pub use reader::Reader;
pub use sink::{Counter, Sink, Writer};
pub use tags::{RawTag, TagWriter, UnknownTags};
pub use wire::{Form, Nullable, Wire};

#[doc(hidden)]
pub use wire::{read_nullable_since, write_nullable_since};
