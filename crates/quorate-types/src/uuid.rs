//! Kafka's uuids: sixteen bytes, written as 22 characters of unpadded url-safe base64.

use std::fmt;
use std::str::FromStr;

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// A uuid as Kafka writes it.
///
/// ```
/// use quorate_types::Uuid;
///
/// let id: Uuid = "mgxhF71nQ-fcl4VzmY5oXg".parse()?;
/// assert_eq!(id.to_string(), "mgxhF71nQ-fcl4VzmY5oXg");
/// assert_eq!(Uuid::ZERO.to_string(), "AAAAAAAAAAAAAAAAAAAAAA");
/// # Ok::<(), quorate_types::InvalidUuid>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Uuid(pub [u8; 16]);

impl Uuid {
    /// The uuid that stands for "none" on the wire.
    pub const ZERO: Uuid = Uuid([0; 16]);

    /// The topic id of `__cluster_metadata`.
    pub const METADATA_TOPIC: Uuid = Uuid::reserved(1);

    /// One of the first hundred uuids, which Kafka reserves.
    pub const fn reserved(n: u8) -> Uuid {
        let mut bytes = [0; 16];
        bytes[15] = n;
        Uuid(bytes)
    }

    /// Whether this is `Uuid(0, n)` with `n < 100`.
    pub fn is_reserved(self) -> bool {
        self.0[..15].iter().all(|byte| *byte == 0) && self.0[15] < 100
    }

    /// Whether this is [`Uuid::ZERO`].
    pub fn is_zero(self) -> bool {
        self == Uuid::ZERO
    }

    /// `None` for [`Uuid::ZERO`], which is how the wire spells it.
    pub fn non_zero(self) -> Option<Uuid> {
        (!self.is_zero()).then_some(self)
    }
}

impl fmt::Display for Uuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bits = u128::from_be_bytes(self.0);
        let mut text = [0; 22];
        for (index, slot) in text.iter_mut().enumerate() {
            // 22 × 6 = 132 bits: the last character carries four bits of zeros.
            let six = if index == 21 {
                bits << 4
            } else {
                bits >> (122 - 6 * index)
            };
            *slot = ALPHABET[(six & 0x3f) as usize];
        }
        f.pad(std::str::from_utf8(&text).map_err(|_| fmt::Error)?)
    }
}

impl fmt::Debug for Uuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A text that is no uuid in Kafka's form.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is no uuid: 22 characters of A-Z, a-z, 0-9, '-' and '_' are wanted")]
pub struct InvalidUuid {
    /// What was given.
    pub text: String,
}

impl FromStr for Uuid {
    type Err = InvalidUuid;

    fn from_str(text: &str) -> Result<Uuid, InvalidUuid> {
        let invalid = || InvalidUuid {
            text: text.chars().take(64).collect(),
        };
        if text.len() != 22 {
            return Err(invalid());
        }
        let mut bits: u128 = 0;
        for (index, byte) in text.bytes().enumerate() {
            let six = ALPHABET
                .iter()
                .position(|letter| *letter == byte)
                .ok_or_else(invalid)?;
            if index == 21 {
                if six & 0x0f != 0 {
                    return Err(invalid());
                }
                bits = (bits << 2) | (six as u128 >> 4);
            } else {
                bits = (bits << 6) | six as u128;
            }
        }
        Ok(Uuid(bits.to_be_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn reserved_ids_are_known() {
        assert_eq!(Uuid::METADATA_TOPIC.to_string(), "AAAAAAAAAAAAAAAAAAAAAQ");
        assert!(Uuid::reserved(99).is_reserved() && !Uuid::reserved(100).is_reserved());
        assert_eq!(Uuid::ZERO.non_zero(), None);
    }

    #[test]
    fn what_is_no_uuid_is_refused() {
        for text in [
            "",
            "AAAA",
            "AAAAAAAAAAAAAAAAAAAAA!",
            "AAAAAAAAAAAAAAAAAAAAAB",
            "größe",
        ] {
            assert!(text.parse::<Uuid>().is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn text_and_back(bytes: [u8; 16]) {
            let uuid = Uuid(bytes);
            prop_assert_eq!(uuid.to_string().parse::<Uuid>(), Ok(uuid));
        }
    }
}
