//! Reads one frame, which somebody else wrote and which may say anything.

use bytes::Bytes;

use super::{DecodeError, DecodeProblem, Form, RawTag, UnknownTags, Wire};

/// How many bytes of memory a frame may take for each of its own.
const AMPLIFICATION: usize = 8;

/// What every frame may take besides: small frames need not be counted closely.
const FLOOR: usize = 16 * 1024;

/// Byte strings below this length are copied, so that a short value does not keep a whole receive
/// buffer alive; longer ones share the buffer, if there is one to share.
const SHARE_FROM: usize = 1024;

/// Kafka's bound on the length of a string, in bytes.
pub(super) const MAX_STRING: usize = i16::MAX as usize;

/// A position in a frame.
///
/// Nothing is read past the frame's end, and what is allocated on the way is charged to a budget of
/// eight times the frame's size plus 16 KiB.
///
/// ```
/// use quorate_protocol::codec::{DecodeProblem, Reader};
///
/// let mut reader = Reader::new(&[0, 7, 1]);
/// assert_eq!(reader.read_i16()?, 7);
/// let error = reader.read_i32().unwrap_err();
/// assert_eq!(error.problem(), DecodeProblem::Truncated { wanted: 4, left: 1 });
/// assert_eq!(error.offset(), 2);
/// # Ok::<(), quorate_protocol::codec::DecodeError>(())
/// ```
#[derive(Debug)]
pub struct Reader<'a> {
    frame: &'a [u8],
    shared: Option<&'a Bytes>,
    at: usize,
    end: usize,
    budget: usize,
}

impl<'a> Reader<'a> {
    /// Reads a frame that lies in somebody's memory; byte strings are copied out of it.
    pub fn new(frame: &'a [u8]) -> Reader<'a> {
        Reader {
            frame,
            shared: None,
            at: 0,
            end: frame.len(),
            budget: frame
                .len()
                .saturating_mul(AMPLIFICATION)
                .saturating_add(FLOOR),
        }
    }

    /// Reads a frame whose memory long byte strings (record batches) may share.
    pub fn of(frame: &'a Bytes) -> Reader<'a> {
        Reader {
            shared: Some(frame),
            ..Reader::new(frame)
        }
    }

    /// How many bytes are left.
    pub fn remaining(&self) -> usize {
        self.end - self.at
    }

    /// How many bytes of the frame were read.
    pub fn position(&self) -> usize {
        self.at
    }

    /// Errors if something is left over.
    pub fn finish(&self) -> Result<(), DecodeError> {
        match self.remaining() {
            0 => Ok(()),
            left => Err(self.error(DecodeProblem::Trailing { left })),
        }
    }

    /// An error at this position.
    #[cold]
    pub fn error(&self, problem: DecodeProblem) -> DecodeError {
        DecodeError::new(problem, self.at)
    }

    /// The next `length` bytes, borrowed.
    #[inline]
    pub fn take(&mut self, length: usize) -> Result<&'a [u8], DecodeError> {
        if length > self.remaining() {
            return Err(self.truncated(length));
        }
        let start = self.at;
        self.at += length;
        Ok(&self.frame[start..self.at])
    }

    /// The next `length` bytes, shared with the frame or copied.
    pub fn take_bytes(&mut self, length: usize) -> Result<Bytes, DecodeError> {
        let start = self.at;
        let slice = self.take(length)?;
        match self.shared {
            Some(shared) if length >= SHARE_FROM => Ok(shared.slice(start..start + length)),
            _ => {
                self.charge(length)?;
                Ok(Bytes::copy_from_slice(slice))
            }
        }
    }

    #[inline]
    fn array<const N: usize>(&mut self) -> Result<[u8; N], DecodeError> {
        match self.frame[self.at..self.end].first_chunk::<N>() {
            Some(bytes) => {
                self.at += N;
                Ok(*bytes)
            }
            None => Err(self.truncated(N)),
        }
    }

    #[cold]
    fn truncated(&self, wanted: usize) -> DecodeError {
        self.error(DecodeProblem::Truncated {
            wanted,
            left: self.remaining(),
        })
    }

    /// A boolean: any byte but 0 is true, as in Kafka.
    #[inline]
    pub fn read_bool(&mut self) -> Result<bool, DecodeError> {
        Ok(self.read_i8()? != 0)
    }

    /// One signed byte.
    #[inline]
    pub fn read_i8(&mut self) -> Result<i8, DecodeError> {
        Ok(i8::from_be_bytes(self.array()?))
    }

    /// Two bytes, big-endian.
    #[inline]
    pub fn read_i16(&mut self) -> Result<i16, DecodeError> {
        Ok(i16::from_be_bytes(self.array()?))
    }

    /// Two bytes, big-endian, unsigned.
    #[inline]
    pub fn read_u16(&mut self) -> Result<u16, DecodeError> {
        Ok(u16::from_be_bytes(self.array()?))
    }

    /// Four bytes, big-endian.
    #[inline]
    pub fn read_i32(&mut self) -> Result<i32, DecodeError> {
        Ok(i32::from_be_bytes(self.array()?))
    }

    /// Four bytes, big-endian, unsigned.
    #[inline]
    pub fn read_u32(&mut self) -> Result<u32, DecodeError> {
        Ok(u32::from_be_bytes(self.array()?))
    }

    /// Eight bytes, big-endian.
    #[inline]
    pub fn read_i64(&mut self) -> Result<i64, DecodeError> {
        Ok(i64::from_be_bytes(self.array()?))
    }

    /// A double, big-endian.
    #[inline]
    pub fn read_f64(&mut self) -> Result<f64, DecodeError> {
        Ok(f64::from_be_bytes(self.array()?))
    }

    /// Sixteen bytes.
    #[inline]
    pub fn read_uuid(&mut self) -> Result<quorate_types::Uuid, DecodeError> {
        Ok(quorate_types::Uuid(self.array()?))
    }

    /// An unsigned varint of at most 32 bits.
    #[inline]
    pub fn read_uvarint(&mut self) -> Result<u32, DecodeError> {
        if let Some(byte @ ..0x80) = self.frame[self.at..self.end].first() {
            self.at += 1; // nearly always
            return Ok(u32::from(*byte));
        }
        let value = self.read_uvarlong()?;
        u32::try_from(value).map_err(|_| self.error(DecodeProblem::VarintTooLong))
    }

    /// An unsigned varint of at most 64 bits.
    #[inline]
    pub fn read_uvarlong(&mut self) -> Result<u64, DecodeError> {
        let mut value: u64 = 0;
        for shift in (0..64).step_by(7) {
            let [byte] = self.array()?;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                break;
            }
            value |= bits << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(self.error(DecodeProblem::VarintTooLong))
    }

    /// The length of a string: `None` for null.
    pub(super) fn string_length(&mut self, form: Form) -> Result<Option<usize>, DecodeError> {
        let length = if form.flexible {
            i64::from(self.read_uvarint()?) - 1
        } else {
            i64::from(self.read_i16()?)
        };
        let length = self.length(length)?;
        match length {
            Some(length) if length > MAX_STRING => {
                Err(self.error(DecodeProblem::StringTooLong { length }))
            }
            _ => Ok(length),
        }
    }

    /// The length of a byte string or the count of an array: `None` for null.
    pub(super) fn long_length(&mut self, form: Form) -> Result<Option<usize>, DecodeError> {
        let length = if form.flexible {
            i64::from(self.read_uvarint()?) - 1
        } else {
            i64::from(self.read_i32()?)
        };
        self.length(length)
    }

    fn length(&self, length: i64) -> Result<Option<usize>, DecodeError> {
        match usize::try_from(length) {
            Ok(length) => Ok(Some(length)),
            Err(_) if length == -1 => Ok(None),
            Err(_) => Err(self.error(DecodeProblem::NegativeLength { length })),
        }
    }

    /// `length` bytes of UTF-8.
    pub(super) fn string(&mut self, length: usize) -> Result<String, DecodeError> {
        let start = self.at;
        let bytes = self.take(length)?;
        let text = std::str::from_utf8(bytes)
            .map_err(|_| DecodeError::new(DecodeProblem::NotUtf8, start))?;
        self.charge(length)?;
        Ok(text.to_owned())
    }

    /// `count` values, refused before anything is allocated if they cannot be there.
    pub(super) fn elements<T: Wire>(
        &mut self,
        form: Form,
        count: usize,
    ) -> Result<Vec<T>, DecodeError> {
        let possible = self.remaining() / T::min_size(form).max(1);
        if count > possible {
            return Err(self.error(DecodeProblem::TooManyElements { count, possible }));
        }
        self.charge(count.saturating_mul(size_of::<T>()))?;
        let mut values = Vec::with_capacity(count);
        for _ in 0..count {
            values.push(T::read(form, self)?);
        }
        Ok(values)
    }

    /// The tagged fields at the end of a struct. `known` reads those it knows and answers whether
    /// it did; the others are kept.
    ///
    /// Kafka writes tags in ascending order; other orders are read too, and written in that one.
    pub fn read_tags(
        &mut self,
        mut known: impl FnMut(u32, &mut Reader<'a>) -> Result<bool, DecodeError>,
    ) -> Result<UnknownTags, DecodeError> {
        let mut unknown = UnknownTags::default();
        for _ in 0..self.read_uvarint()? {
            let tag = self.read_uvarint()?;
            let size = self.read_uvarint()? as usize;
            if size > self.remaining() {
                return Err(self.truncated(size));
            }
            let outer = self.end;
            self.end = self.at + size;
            if !known(tag, self)? {
                self.charge(unknown.growth())?;
                let data = self.take_bytes(size)?;
                unknown.push(RawTag { tag, data });
            }
            if self.at != self.end {
                let left = self.remaining();
                return Err(self.error(DecodeProblem::TagNotConsumed { tag, left }));
            }
            self.end = outer;
        }
        unknown
            .sort()
            .map_err(|tag| self.error(DecodeProblem::DuplicateTag { tag }))?;
        Ok(unknown)
    }

    /// Takes memory from the frame's budget.
    #[inline]
    fn charge(&mut self, wanted: usize) -> Result<(), DecodeError> {
        match self.budget.checked_sub(wanted) {
            Some(left) => {
                self.budget = left;
                Ok(())
            }
            None => Err(self.error(DecodeProblem::OverBudget {
                wanted,
                left: self.budget,
            })),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem<T: std::fmt::Debug>(result: Result<T, DecodeError>) -> DecodeProblem {
        result.unwrap_err().problem()
    }

    #[test]
    fn varints_reach_the_ends_of_their_types_and_no_further() {
        let mut max = Reader::new(&[0xff, 0xff, 0xff, 0xff, 0x0f]);
        assert_eq!(max.read_uvarint(), Ok(u32::MAX));
        let mut over = Reader::new(&[0xff, 0xff, 0xff, 0xff, 0x1f]);
        assert_eq!(problem(over.read_uvarint()), DecodeProblem::VarintTooLong);
        let mut long = [0xff; 10];
        long[9] = 0x01;
        assert_eq!(Reader::new(&long).read_uvarlong(), Ok(u64::MAX));
        long[9] = 0x02;
        assert_eq!(
            problem(Reader::new(&long).read_uvarlong()),
            DecodeProblem::VarintTooLong
        );
    }

    #[test]
    fn a_count_is_bounded_by_the_bytes_left() {
        let form = Form::new(0, false);
        let frame = [0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 1];
        assert_eq!(
            problem(Vec::<i32>::read(form, &mut Reader::new(&frame))),
            DecodeProblem::TooManyElements {
                count: i32::MAX as usize,
                possible: 1
            }
        );
    }

    #[test]
    fn honest_counts_that_amplify_are_bounded_too() {
        // 200,000 empty strings: 200 KB of frame, 4.8 MB of `String`s.
        let mut frame = vec![1; 200_000];
        let form = Form::new(0, true);
        assert!(matches!(
            problem(Reader::new(&frame).elements::<String>(form, 200_000)),
            DecodeProblem::OverBudget { .. }
        ));
        frame.truncate(600);
        assert!(Reader::new(&frame).elements::<String>(form, 600).is_ok());
    }

    #[test]
    fn short_byte_strings_do_not_pin_the_frame() {
        let frame = Bytes::from(vec![7; 4096]);
        let mut reader = Reader::of(&frame);
        let (short, long) = (
            reader.take_bytes(10).unwrap(),
            reader.take_bytes(2000).unwrap(),
        );
        let inside = frame.as_ptr_range();
        assert!(!inside.contains(&short.as_ptr()));
        assert!(inside.contains(&long.as_ptr()));
    }

    #[test]
    fn a_tagged_field_ends_where_it_says() {
        let frame = [1, 0, 2, 9, 9, 5];
        let mut reader = Reader::new(&frame);
        let result = reader.read_tags(|_, reader| reader.read_i8().map(|_| true));
        assert_eq!(
            problem(result),
            DecodeProblem::TagNotConsumed { tag: 0, left: 1 }
        );
        let mut reader = Reader::new(&frame);
        let result = reader.read_tags(|_, reader| reader.read_i32().map(|_| true));
        assert_eq!(
            problem(result),
            DecodeProblem::Truncated { wanted: 4, left: 2 }
        );
    }
}
