//! The zigzag varints of records, which exist nowhere else in Kafka's protocol.

use bytes::{BufMut, BytesMut};

/// How many bytes [`put`] writes for that number.
pub(super) fn size(value: i32) -> usize {
    let bits = 32 - zigzag(value).leading_zeros() as usize;
    bits.max(1).div_ceil(7)
}

/// Writes a number as a zigzag varint.
pub(super) fn put(into: &mut BytesMut, value: i32) {
    let mut rest = zigzag(value);
    while rest >= 0x80 {
        into.put_u8(rest as u8 | 0x80);
        rest >>= 7;
    }
    into.put_u8(rest as u8);
}

/// Reads a varint of 32 bits off the front of `bytes`; `None` if it does not end in time.
pub(super) fn take(bytes: &mut &[u8]) -> Option<i32> {
    let raw = u32::try_from(take_bits(bytes, 5)?).ok()?;
    Some((raw >> 1) as i32 ^ -((raw & 1) as i32))
}

/// Reads a varint of 64 bits off the front of `bytes`.
pub(super) fn take_long(bytes: &mut &[u8]) -> Option<i64> {
    let raw = take_bits(bytes, 10)?;
    Some((raw >> 1) as i64 ^ -((raw & 1) as i64))
}

fn take_bits(bytes: &mut &[u8], most: usize) -> Option<u64> {
    let mut raw: u128 = 0;
    for (index, byte) in bytes.iter().take(most).enumerate() {
        raw |= u128::from(byte & 0x7f) << (7 * index);
        if byte & 0x80 == 0 {
            *bytes = &bytes[index + 1..];
            return u64::try_from(raw).ok();
        }
    }
    None
}

fn zigzag(value: i32) -> u32 {
    ((value << 1) ^ (value >> 31)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_does_not_end_or_does_not_fit_is_no_number() {
        for mut bytes in [
            &[][..],
            &[0x80],
            &[0xff, 0xff, 0xff, 0xff, 0x7f],
            &[0x80, 0x80, 0x80, 0x80, 0x80, 0x00],
        ] {
            assert_eq!(take(&mut bytes), None);
        }
    }

    proptest! {
        #[test]
        fn numbers_come_back_in_their_size(value: i32, tail: Vec<u8>) {
            let mut bytes = BytesMut::new();
            put(&mut bytes, value);
            prop_assert_eq!(bytes.len(), size(value));
            bytes.extend_from_slice(&tail);
            let mut rest = &bytes[..];
            prop_assert_eq!(take(&mut rest), Some(value));
            prop_assert_eq!(rest, &tail[..]);
            prop_assert_eq!(take_long(&mut &bytes[..]), Some(i64::from(value)));
        }
    }
}
