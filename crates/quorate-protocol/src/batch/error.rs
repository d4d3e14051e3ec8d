//! What can be wrong with a batch.

use crate::codec::{DecodeError, EncodeError};

/// Why bytes are not a batch of the metadata log, or why records do not fit into one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BatchError {
    /// The length field is below that of an empty batch or above [`super::MAX_BATCH_BYTES`].
    #[error("a batch cannot have a length of {length}")]
    Length {
        /// The length field as it stands: the bytes after itself.
        length: i32,
    },
    /// Not batch format 2.
    #[error("batch format {magic} is unknown, only 2 is read")]
    Magic {
        /// The format's number.
        magic: i8,
    },
    /// The bytes are not those that were written.
    #[error("checksum {computed:#010x} is not the {stored:#010x} in the header")]
    Crc {
        /// What the header says.
        stored: u32,
        /// What the bytes give.
        computed: u32,
    },
    /// A negative offset or epoch, or a count of records that contradicts the last offset delta.
    #[error("header field {field} cannot be {value}")]
    Header {
        /// The field's name.
        field: &'static str,
        /// Its value.
        value: i64,
    },
    /// The batch is compressed, which no writer of the metadata log does.
    #[error("the batch is compressed (codec {codec}), which is not supported on the metadata log")]
    Compressed {
        /// Kafka's number of the codec.
        codec: u8,
    },
    /// The batch starts at another offset than the one before it ended at.
    #[error("the batch starts at {found}, not at {expected}")]
    Gap {
        /// Where it should start.
        expected: i64,
        /// Where it starts.
        found: i64,
    },
    /// The batch's epoch is below that of the batch before it.
    #[error("the batch is of epoch {found}, below {before} of the batch before it")]
    EpochFell {
        /// The epoch of the batch before.
        before: i32,
        /// The epoch of this batch.
        found: i32,
    },
    /// A record does not have the form that the metadata log asks for.
    #[error("record {index} of the batch at {base}: {what}")]
    Record {
        /// The batch's base offset.
        base: i64,
        /// The record's place in the batch, from 0.
        index: usize,
        /// What is wrong.
        what: &'static str,
    },
    /// A control record that cannot be read: of an unknown type, or malformed.
    #[error("control record {index} of the batch at {base}: {error}")]
    Control {
        /// The batch's base offset.
        base: i64,
        /// The record's place in the batch, from 0.
        index: usize,
        /// What is wrong.
        error: DecodeError,
    },
    /// A control record that cannot be written.
    #[error("a control record cannot be written: {0}")]
    Unwritable(#[from] EncodeError),
    /// Asked for data records of a control batch or the other way round.
    #[error("the batch at {base} is {}a control batch", if *.control { "" } else { "not " })]
    Kind {
        /// The batch's base offset.
        base: i64,
        /// Whether it is a control batch.
        control: bool,
    },
    /// No records were given to a writer.
    #[error("a batch needs records")]
    Empty,
    /// The records do not fit into one batch.
    #[error(
        "a batch of {size} bytes is above the limit of {}",
        super::MAX_BATCH_BYTES
    )]
    TooLarge {
        /// The size that it would have.
        size: usize,
    },
    /// Bytes are left over after the last whole batch, where there must be none.
    #[error("{left} bytes after the last whole batch")]
    Trailing {
        /// How many.
        left: usize,
    },
}
