//! Tagged fields (KIP-482): optional fields that older readers skip and keep.

use bytes::Bytes;

use super::{Counter, EncodeError, Form, Sink, Wire};

/// A tagged field that is not known here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawTag {
    /// Its tag.
    pub tag: u32,
    /// Its bytes.
    pub data: Bytes,
}

/// The tagged fields of one struct that are not known here, ascending by tag.
///
/// Nearly always empty, so it takes one pointer.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct UnknownTags(Option<Box<Tags>>);

#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Tags(Vec<RawTag>);

impl UnknownTags {
    /// Adds a field; `false`, and nothing added, if there is one of that tag.
    pub fn insert(&mut self, field: RawTag) -> bool {
        let found = self
            .as_slice()
            .binary_search_by_key(&field.tag, |present| present.tag);
        if let Err(index) = found {
            self.0.get_or_insert_default().0.insert(index, field);
        }
        found.is_err()
    }

    /// Adds a field at the end, wherever it belongs: what comes from the wire is put in order once,
    /// by [`sort`](UnknownTags::sort), lest fields in descending order cost quadratic time.
    pub(super) fn push(&mut self, field: RawTag) {
        let Tags(tags) = &mut **self.0.get_or_insert_default();
        if tags.len() == tags.capacity() {
            // From one on, so that a lone field takes no room for three more.
            tags.reserve_exact(tags.len().max(1));
        }
        tags.push(field);
    }

    /// How many bytes the next [`push`](UnknownTags::push) allocates.
    pub(super) fn growth(&self) -> usize {
        match self.0.as_deref() {
            None => size_of::<Tags>() + size_of::<RawTag>(),
            Some(Tags(tags)) if tags.len() == tags.capacity() => {
                2 * tags.len().max(1) * size_of::<RawTag>()
            }
            Some(_) => 0,
        }
    }

    /// Puts the fields in order; a tag that is there twice is the error.
    pub(super) fn sort(&mut self) -> Result<(), u32> {
        let Some(Tags(tags)) = self.0.as_deref_mut() else {
            return Ok(());
        };
        tags.sort_unstable_by_key(|field| field.tag);
        match tags.windows(2).find(|pair| pair[0].tag == pair[1].tag) {
            Some(pair) => Err(pair[0].tag),
            None => Ok(()),
        }
    }

    /// The fields, ascending by tag.
    pub fn as_slice(&self) -> &[RawTag] {
        self.0.as_deref().map_or(&[], |Tags(tags)| tags)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.as_slice().is_empty()
    }
}

impl FromIterator<RawTag> for UnknownTags {
    /// Of fields with the same tag the first stays.
    fn from_iter<I: IntoIterator<Item = RawTag>>(fields: I) -> UnknownTags {
        let mut tags = UnknownTags::default();
        for field in fields {
            tags.insert(field);
        }
        tags
    }
}

/// Writes the tagged fields of one struct, known and unknown, ascending by tag.
#[derive(Debug)]
pub struct TagWriter<'a> {
    unknown: &'a [RawTag],
}

impl<'a> TagWriter<'a> {
    /// Writes the count: `known` fields are going to follow besides the unknown ones.
    pub fn begin<S: Sink>(known: u32, unknown: &'a UnknownTags, sink: &mut S) -> TagWriter<'a> {
        let unknown = unknown.as_slice();
        sink.put_uvarint(known + unknown.len() as u32);
        TagWriter { unknown }
    }

    /// Writes a known field, which must have a higher tag than the one before it.
    pub fn known<T: Wire, S: Sink>(
        &mut self,
        tag: u32,
        value: &T,
        form: Form,
        sink: &mut S,
    ) -> Result<(), EncodeError> {
        let below = self.unknown.partition_point(|field| field.tag < tag);
        let (before, after) = self.unknown.split_at(below);
        put_raw(before, sink);
        self.unknown = after;
        if after.first().is_some_and(|field| field.tag == tag) {
            return Err(EncodeError::TagConflict { tag });
        }
        let mut counter = Counter::default();
        value.write(form, &mut counter)?;
        let size = counter.count();
        sink.put_uvarint(tag);
        sink.put_uvarint(u32::try_from(size).map_err(|_| EncodeError::TooLong { length: size })?);
        value.write(form, sink)
    }

    /// Writes what is left.
    pub fn finish<S: Sink>(self, sink: &mut S) {
        put_raw(self.unknown, sink);
    }
}

fn put_raw<S: Sink>(fields: &[RawTag], sink: &mut S) {
    for field in fields {
        sink.put_uvarint(field.tag);
        sink.put_uvarint(field.data.len() as u32);
        sink.put(&field.data);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::{Reader, Writer};

    fn raw(tag: u32) -> RawTag {
        RawTag {
            tag,
            data: Bytes::from(vec![tag as u8; 2]),
        }
    }

    #[test]
    fn known_and_unknown_fields_are_written_in_one_ascending_order() {
        let unknown: UnknownTags = [raw(9), raw(2), raw(5)].into_iter().collect();
        let form = Form::new(0, true);
        let mut writer = Writer::default();
        let mut tags = TagWriter::begin(1, &unknown, &mut writer);
        tags.known(4, &7i8, form, &mut writer).unwrap();
        tags.finish(&mut writer);
        let bytes = writer.freeze();
        assert_eq!(&bytes[..], [4, 2, 2, 2, 2, 4, 1, 7, 5, 2, 5, 5, 9, 2, 9, 9]);

        let mut reader = Reader::new(&bytes);
        let kept = reader
            .read_tags(|tag, reader| match tag {
                4 => reader.read_i8().map(|value| value == 7),
                _ => Ok(false),
            })
            .unwrap();
        assert_eq!(kept, unknown);
    }

    #[test]
    fn an_unknown_field_cannot_take_the_tag_of_a_known_one() {
        let unknown: UnknownTags = [raw(4)].into_iter().collect();
        let mut writer = Writer::default();
        let mut tags = TagWriter::begin(1, &unknown, &mut writer);
        assert_eq!(
            tags.known(4, &7i8, Form::new(0, true), &mut writer),
            Err(EncodeError::TagConflict { tag: 4 })
        );
    }

    #[test]
    fn a_tag_that_comes_twice_is_refused() {
        let frame = [2, 3, 1, 0, 3, 1, 0];
        assert!(Reader::new(&frame).read_tags(|_, _| Ok(false)).is_err());
    }
}
