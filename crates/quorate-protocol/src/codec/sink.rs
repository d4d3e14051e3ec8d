//! Where a value is written to: first a counter of bytes, then a buffer of just that size.

use bytes::Bytes;
use quorate_types::Uuid;

use super::{EncodeError, Form, reader::MAX_STRING};

/// Takes the bytes of a value, in order.
pub trait Sink {
    /// Takes these bytes.
    fn put(&mut self, bytes: &[u8]);

    /// One byte.
    #[inline]
    fn put_i8(&mut self, value: i8) {
        self.put(&value.to_be_bytes());
    }

    /// Two bytes, big-endian.
    #[inline]
    fn put_i16(&mut self, value: i16) {
        self.put(&value.to_be_bytes());
    }

    /// Two bytes, big-endian.
    #[inline]
    fn put_u16(&mut self, value: u16) {
        self.put(&value.to_be_bytes());
    }

    /// Four bytes, big-endian.
    #[inline]
    fn put_i32(&mut self, value: i32) {
        self.put(&value.to_be_bytes());
    }

    /// Four bytes, big-endian.
    #[inline]
    fn put_u32(&mut self, value: u32) {
        self.put(&value.to_be_bytes());
    }

    /// Eight bytes, big-endian.
    #[inline]
    fn put_i64(&mut self, value: i64) {
        self.put(&value.to_be_bytes());
    }

    /// A double, big-endian.
    #[inline]
    fn put_f64(&mut self, value: f64) {
        self.put(&value.to_be_bytes());
    }

    /// Sixteen bytes.
    #[inline]
    fn put_uuid(&mut self, value: Uuid) {
        self.put(&value.0);
    }

    /// An unsigned varint.
    #[inline]
    fn put_uvarint(&mut self, value: u32) {
        self.put_uvarlong(u64::from(value));
    }

    /// An unsigned varint.
    #[inline]
    fn put_uvarlong(&mut self, mut value: u64) {
        if value < 0x80 {
            return self.put(&[value as u8]); // nearly always
        }
        let mut bytes = [0; 10];
        let mut length = 0;
        while value >= 0x80 {
            bytes[length] = value as u8 | 0x80;
            value >>= 7;
            length += 1;
        }
        bytes[length] = value as u8;
        self.put(&bytes[..=length]);
    }

    /// The length of a string, or of null.
    #[inline]
    fn put_string_length(&mut self, form: Form, length: Option<usize>) -> Result<(), EncodeError> {
        match length {
            Some(length) if length > MAX_STRING => Err(EncodeError::TooLong { length }),
            _ if form.flexible => self.put_long_length(form, length),
            Some(length) => {
                self.put_i16(length as i16);
                Ok(())
            }
            None => {
                self.put_i16(-1);
                Ok(())
            }
        }
    }

    /// The length of a byte string or the count of an array, or of null.
    #[inline]
    fn put_long_length(&mut self, form: Form, length: Option<usize>) -> Result<(), EncodeError> {
        let wire = match length {
            Some(length) => i32::try_from(length).map_err(|_| EncodeError::TooLong { length })?,
            None => -1,
        };
        if form.flexible {
            self.put_uvarint((wire as u32).wrapping_add(1));
        } else {
            self.put_i32(wire);
        }
        Ok(())
    }
}

/// Counts bytes and drops them.
#[derive(Debug, Clone, Copy, Default)]
pub struct Counter(usize);

impl Counter {
    /// How many bytes there were.
    pub fn count(self) -> usize {
        self.0
    }
}

impl Sink for Counter {
    #[inline]
    fn put(&mut self, bytes: &[u8]) {
        self.0 += bytes.len();
    }

    #[inline]
    fn put_uvarlong(&mut self, value: u64) {
        // Seven bits a byte, one byte at least.
        self.0 += (70 - (value | 1).leading_zeros() as usize) / 7;
    }
}

/// Collects bytes in one buffer.
///
/// ```
/// use quorate_protocol::codec::{Sink, Writer};
///
/// let mut writer = Writer::with_capacity(8);
/// writer.put_i32(258);
/// writer.put_uvarint(300);
/// assert_eq!(&writer.freeze()[..], [0, 0, 1, 2, 0xac, 0x02]);
/// ```
#[derive(Debug, Default)]
pub struct Writer {
    buffer: Vec<u8>,
}

impl Writer {
    /// A writer whose buffer takes that many bytes without growing.
    pub fn with_capacity(capacity: usize) -> Writer {
        Writer {
            buffer: Vec::with_capacity(capacity),
        }
    }

    /// How many bytes were written.
    pub fn len(&self) -> usize {
        self.buffer.len()
    }

    /// Whether nothing was written.
    pub fn is_empty(&self) -> bool {
        self.buffer.is_empty()
    }

    /// What was written; not copied if the capacity was right.
    pub fn freeze(self) -> Bytes {
        self.buffer.into()
    }

    /// What was written, in the buffer itself.
    pub fn into_inner(self) -> Vec<u8> {
        self.buffer
    }
}

/// Goes on after what the buffer holds.
impl From<Vec<u8>> for Writer {
    fn from(buffer: Vec<u8>) -> Writer {
        Writer { buffer }
    }
}

impl Sink for Writer {
    #[inline]
    fn put(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::Reader;
    use proptest::prelude::*;

    #[test]
    fn varints_at_the_edges_are_counted_as_they_are_written() {
        for bits in 0..64 {
            for value in [(1u64 << bits) - 1, 1 << bits, u64::MAX] {
                let (mut counter, mut writer) = (Counter::default(), Writer::default());
                counter.put_uvarlong(value);
                writer.put_uvarlong(value);
                assert_eq!(counter.count(), writer.len(), "{value}");
            }
        }
    }

    #[test]
    fn a_string_above_the_bound_is_refused_in_both_forms() {
        for flexible in [false, true] {
            let form = Form::new(0, flexible);
            let mut counter = Counter::default();
            assert_eq!(counter.put_string_length(form, Some(32_767)), Ok(()));
            assert_eq!(
                counter.put_string_length(form, Some(32_768)),
                Err(EncodeError::TooLong { length: 32_768 })
            );
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]

        #[test]
        fn varints_come_back(short: u32, long: u64) {
            let mut writer = Writer::default();
            writer.put_uvarint(short);
            writer.put_uvarlong(long);
            let bytes = writer.freeze();
            let mut reader = Reader::new(&bytes);
            prop_assert_eq!(reader.read_uvarint(), Ok(short));
            prop_assert_eq!(reader.read_uvarlong(), Ok(long));
            prop_assert_eq!(reader.finish(), Ok(()));
        }
    }
}
