//! Names of topics: which are legal, and which would collide in a metric's name.

/// Why a name cannot be a topic's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidTopicName {
    /// It is empty.
    #[error("a topic's name cannot be empty")]
    Empty,
    /// It would be a path.
    #[error("a topic cannot be named '.' or '..'")]
    Path,
    /// It would not fit a directory's name.
    #[error("a topic's name cannot be longer than {MAX_LENGTH} characters")]
    TooLong,
    /// It holds a character that is not allowed.
    #[error("a topic's name can hold only ASCII letters, digits, '.', '_' and '-'")]
    Character,
}

/// The longest name of a topic.
pub const MAX_LENGTH: usize = 249;

/// The topic of the metadata log, which nobody may create.
pub const METADATA_TOPIC: &str = "__cluster_metadata";

/// Checks a topic's name.
///
/// ```
/// use quorate_controller::topics::{InvalidTopicName, check_name};
///
/// assert_eq!(check_name("orders.v2_eu-1"), Ok(()));
/// assert_eq!(check_name("orders/v2"), Err(InvalidTopicName::Character));
/// ```
pub fn check_name(name: &str) -> Result<(), InvalidTopicName> {
    if name.is_empty() {
        Err(InvalidTopicName::Empty)
    } else if name == "." || name == ".." {
        Err(InvalidTopicName::Path)
    } else if name.chars().count() > MAX_LENGTH {
        Err(InvalidTopicName::TooLong)
    } else if !name.bytes().all(is_legal) {
        Err(InvalidTopicName::Character)
    } else {
        Ok(())
    }
}

fn is_legal(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_refused_for_what_is_wrong_with_them() {
        assert_eq!(check_name(""), Err(InvalidTopicName::Empty));
        assert_eq!(check_name("."), Err(InvalidTopicName::Path));
        assert_eq!(check_name(".."), Err(InvalidTopicName::Path));
        assert_eq!(check_name("..."), Ok(()));
        assert_eq!(check_name(&"a".repeat(249)), Ok(()));
        assert_eq!(check_name(&"a".repeat(250)), Err(InvalidTopicName::TooLong));
        assert_eq!(check_name("caf\u{e9}"), Err(InvalidTopicName::Character));
        assert_eq!(check_name("a b"), Err(InvalidTopicName::Character));
    }
}
