//! Why bytes could not be read, and why a message could not be written.

use std::fmt;

/// Bytes that are not what they should be.
///
/// Small, because every read returns it; the details lie behind a pointer.
#[derive(Clone, PartialEq, Eq)]
pub struct DecodeError(Box<Details>);

#[derive(Clone, PartialEq, Eq)]
struct Details {
    problem: DecodeProblem,
    offset: usize,
    field: Option<&'static str>,
}

impl DecodeError {
    /// The problem, found at that byte of the frame.
    pub fn new(problem: DecodeProblem, offset: usize) -> DecodeError {
        DecodeError(Box::new(Details {
            problem,
            offset,
            field: None,
        }))
    }

    /// The same error with the name of the field it is about; the innermost name stays.
    #[must_use]
    pub fn within(mut self, field: &'static str) -> DecodeError {
        self.0.field.get_or_insert(field);
        self
    }

    /// What is wrong.
    pub fn problem(&self) -> DecodeProblem {
        self.0.problem
    }

    /// At which byte of the frame it was noticed.
    pub fn offset(&self) -> usize {
        self.0.offset
    }

    /// The field being read, as `Struct.field`, where it is known.
    pub fn field(&self) -> Option<&'static str> {
        self.0.field
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {}", self.0.problem, self.0.offset)?;
        match self.0.field {
            Some(field) => write!(f, ", in {field}"),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DecodeError({self})")
    }
}

impl std::error::Error for DecodeError {}

/// What can be wrong with bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeProblem {
    /// The frame, or the tagged field, ends too early.
    #[error("{wanted} bytes are wanted, {left} are left")]
    Truncated {
        /// How many bytes the value takes.
        wanted: usize,
        /// How many there are.
        left: usize,
    },
    /// A varint has more bits than its type.
    #[error("a varint does not fit its type")]
    VarintTooLong,
    /// A string is not UTF-8.
    #[error("a string is not UTF-8")]
    NotUtf8,
    /// Null stands where this version knows no null.
    #[error("null, which this version does not know here")]
    UnexpectedNull,
    /// A length or a count below -1.
    #[error("a length of {length}")]
    NegativeLength {
        /// The length.
        length: i64,
    },
    /// A string is longer than 32,767 bytes.
    #[error("a string of {length} bytes, above 32767")]
    StringTooLong {
        /// Its length in bytes.
        length: usize,
    },
    /// More elements are announced than the bytes left can hold.
    #[error("{count} elements are announced, {possible} are possible")]
    TooManyElements {
        /// How many are announced.
        count: usize,
        /// How many the rest of the frame could hold at most.
        possible: usize,
    },
    /// The frame would take too much memory for its size.
    #[error("{wanted} bytes of memory are wanted, {left} are left for this frame")]
    OverBudget {
        /// What the next allocation takes, in bytes.
        wanted: usize,
        /// What is left of the frame's budget, in bytes.
        left: usize,
    },
    /// The byte in front of a nullable struct is neither -1 nor 1.
    #[error("a nullable struct starts with {byte}")]
    InvalidPresence {
        /// The byte.
        byte: i8,
    },
    /// A tagged field is longer than its value.
    #[error("{left} bytes are left over in tagged field {tag}")]
    TagNotConsumed {
        /// The tag.
        tag: u32,
        /// How many bytes are left over.
        left: usize,
    },
    /// A tag appears twice in one struct.
    #[error("tagged field {tag} appears twice")]
    DuplicateTag {
        /// The tag.
        tag: u32,
    },
    /// The frame is longer than its message.
    #[error("{left} bytes are left over")]
    Trailing {
        /// How many bytes are left over.
        left: usize,
    },
    /// The message has no such version.
    #[error("{message} has no version {version}")]
    UnsupportedVersion {
        /// The message's name.
        message: &'static str,
        /// The version.
        version: i16,
    },
    /// No API has that key.
    #[error("no API has the key {key}")]
    UnknownApiKey {
        /// The key.
        key: i16,
    },
    /// No metadata record has that key.
    #[error("no metadata record has the key {key}")]
    UnknownRecordKey {
        /// The key.
        key: u32,
    },
    /// The frame of a metadata record has a version other than 1.
    #[error("a record frame of version {version}, not 1")]
    UnknownFrameVersion {
        /// The version.
        version: u32,
    },
    /// No control record has that type.
    #[error("no control record has the type {kind}")]
    UnknownControlType {
        /// The type.
        kind: i16,
    },
    /// The value is well formed and yet makes no sense, for instance a voter that is listed twice.
    #[error("{reason}")]
    Invalid {
        /// What is wrong with it.
        reason: &'static str,
    },
}

/// A message that cannot be written in the version asked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EncodeError {
    /// The message has no such version.
    #[error("{message} has no version {version}")]
    UnsupportedVersion {
        /// The message's name.
        message: &'static str,
        /// The version.
        version: i16,
    },
    /// A field has a value that would be lost, because the version does not have the field.
    #[error("{field} is set, but version {version} does not have it")]
    FieldNotInVersion {
        /// The field, as `Struct.field`.
        field: &'static str,
        /// The version.
        version: i16,
    },
    /// A field is null in a version that cannot say so.
    #[error("{field} is null, which version {version} does not know")]
    NullInVersion {
        /// The field, as `Struct.field`.
        field: &'static str,
        /// The version.
        version: i16,
    },
    /// A string is longer than 32,767 bytes, or something else longer than its length prefix can say.
    #[error("a value of {length} bytes or elements is too long for its length prefix")]
    TooLong {
        /// The length.
        length: usize,
    },
    /// An unknown tagged field has the tag of one that this version knows and that is set.
    #[error("tagged field {tag} is set twice")]
    TagConflict {
        /// The tag.
        tag: u32,
    },
    /// No message is known for that API.
    #[error("no API has the key {key}")]
    UnknownApiKey {
        /// The key.
        key: i16,
    },
}
