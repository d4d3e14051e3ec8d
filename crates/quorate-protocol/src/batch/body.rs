//! Reading the flexible bodies of control records: a handful of types, checked against what is left.

use super::varint;

/// The rest of a control record's value.
pub(super) struct Body<'a>(pub(super) &'a [u8]);

impl<'a> Body<'a> {
    pub(super) fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*taken)
    }

    pub(super) fn i16(&mut self) -> Option<i16> {
        self.take().map(i16::from_be_bytes)
    }

    pub(super) fn i32(&mut self) -> Option<i32> {
        self.take().map(i32::from_be_bytes)
    }

    pub(super) fn i64(&mut self) -> Option<i64> {
        self.take().map(i64::from_be_bytes)
    }

    pub(super) fn string(&mut self) -> Option<String> {
        let length = self.compact_length()?;
        let text = std::str::from_utf8(self.slice(length)?).ok()?;
        Some(text.to_owned())
    }

    /// A compact array. What it allocates follows what was read, never the count.
    pub(super) fn array<T>(&mut self, item: fn(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let count = self.compact_length()?;
        let mut items = Vec::new();
        for _ in 0..count {
            items.push(item(self)?);
        }
        Some(items)
    }

    /// Skips tagged fields, of which none is known here.
    pub(super) fn tags(&mut self) -> Option<()> {
        for _ in 0..varint::take_unsigned(&mut self.0)? {
            varint::take_unsigned(&mut self.0)?;
            let length = varint::take_unsigned(&mut self.0)?;
            self.slice(usize::try_from(length).ok()?)?;
        }
        Some(())
    }

    /// A compact length; the null that it can express is allowed nowhere here.
    fn compact_length(&mut self) -> Option<usize> {
        let length = varint::take_unsigned(&mut self.0)?.checked_sub(1)?;
        usize::try_from(length).ok()
    }

    fn slice(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }
}
