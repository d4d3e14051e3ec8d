//! Record batch v2, the unit in which the metadata log is written, replicated and stored.
//!
//! A batch is 61 bytes of header and then its records, under one CRC-32C. Raft and the disk move
//! batches whole, as the bytes they arrived in; only who applies records looks inside.
//!
//! - [`BatchHeader`] reads the fixed header and judges its lengths.
//! - [`BatchView`] is one whole batch in a shared buffer: its header, its checksum, its records.
//! - [`split_batches`] walks a buffer of batches and ends where the last whole one ends;
//!   [`valid_prefix`] also checks checksums and that offsets follow on one another, as one must with
//!   bytes from a peer.
//! - [`encode_data_batch`] and [`encode_control_batch`] write what stock Kafka writes for the same
//!   records.
//!
//! What Kafka's metadata readers refuse is refused here: a bad checksum, timestamp deltas, headers,
//! keys on data records, empty values, unknown control records. Compressed batches, which Kafka's
//! readers know and its metadata writers never make, are refused by name.
//!
//! ```
//! use bytes::Bytes;
//! use quorate_protocol::batch::{encode_data_batch, split_batches};
//! use quorate_types::{Epoch, Offset, WallTime};
//!
//! let values = [Bytes::from_static(b"one"), Bytes::from_static(b"two")];
//! let bytes = encode_data_batch(Offset(40), Epoch(3), WallTime(1), &values)?;
//! let batch = split_batches(bytes).next().expect("one batch")?;
//! batch.verify_crc()?;
//! assert_eq!((batch.base_offset(), batch.end_offset()), (Offset(40), Offset(42)));
//! let read = batch.records().collect::<Result<Vec<Bytes>, _>>()?;
//! assert_eq!(read, values);
//! # Ok::<(), quorate_protocol::batch::BatchError>(())
//! ```

mod encode;
mod error;
mod header;
mod records;
mod split;
mod varint;
mod view;

pub use encode::{data_batch_size, encode_control_batch, encode_data_batch};
pub use error::BatchError;
pub use header::BatchHeader;
pub use records::{RawRecord, RawRecords, Records};
pub use split::{BatchIter, ValidPrefix, split_batches, valid_prefix};
pub use view::BatchView;

/// The largest batch that is written or read, header included: 8 MiB, Kafka's limit for the
/// metadata log.
pub const MAX_BATCH_BYTES: usize = 8 * 1024 * 1024;

/// The size of a batch's header.
pub const BATCH_HEADER_BYTES: usize = 61;
