//! The trait of everything that has bytes, for the plain types that messages are made of.

use bytes::Bytes;
use quorate_types::{ErrorCode, Uuid};

use super::{DecodeError, DecodeProblem, EncodeError, Reader, Sink};

/// Which of its forms a value has: the message's version, and whether that one is flexible.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Form {
    /// The version of the message.
    pub version: i16,
    /// Whether lengths are varints and structs end in tagged fields (KIP-482).
    pub flexible: bool,
}

impl Form {
    /// That version, flexible or not.
    pub const fn new(version: i16, flexible: bool) -> Form {
        Form { version, flexible }
    }

    /// The same version, not flexible.
    pub const fn classic(self) -> Form {
        Form::new(self.version, false)
    }
}

/// A value that is written to the wire and read from it.
pub trait Wire: Sized {
    /// A lower bound of the value's size in bytes; it bounds how many may be announced.
    fn min_size(form: Form) -> usize;

    /// Writes the value.
    fn write<S: Sink>(&self, form: Form, sink: &mut S) -> Result<(), EncodeError>;

    /// Reads a value.
    fn read(form: Form, reader: &mut Reader<'_>) -> Result<Self, DecodeError>;
}

/// A value that may be null on the wire; `Option` of it is [`Wire`].
pub trait Nullable: Wire {
    /// A lower bound of the size, null included.
    fn min_nullable_size(form: Form) -> usize;

    /// Writes a value or null.
    fn write_nullable<S: Sink>(
        value: Option<&Self>,
        form: Form,
        sink: &mut S,
    ) -> Result<(), EncodeError>;

    /// Reads a value or null.
    fn read_nullable(form: Form, reader: &mut Reader<'_>) -> Result<Option<Self>, DecodeError>;
}

impl<T: Nullable> Wire for Option<T> {
    fn min_size(form: Form) -> usize {
        T::min_nullable_size(form)
    }

    fn write<S: Sink>(&self, form: Form, sink: &mut S) -> Result<(), EncodeError> {
        T::write_nullable(self.as_ref(), form, sink)
    }

    fn read(form: Form, reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        T::read_nullable(form, reader)
    }
}

/// For the derive macro: a field that is nullable from version `since` on.
#[doc(hidden)]
pub fn write_nullable_since<T: Nullable, S: Sink>(
    value: &Option<T>,
    since: i16,
    field: &'static str,
    form: Form,
    sink: &mut S,
) -> Result<(), EncodeError> {
    let version = form.version;
    match value {
        _ if version >= since => value.write(form, sink),
        Some(value) => value.write(form, sink),
        None => Err(EncodeError::NullInVersion { field, version }),
    }
}

/// For the derive macro: a field that is nullable from version `since` on.
#[doc(hidden)]
pub fn read_nullable_since<T: Nullable>(
    since: i16,
    form: Form,
    reader: &mut Reader<'_>,
) -> Result<Option<T>, DecodeError> {
    if form.version >= since {
        T::read_nullable(form, reader)
    } else {
        T::read(form, reader).map(Some)
    }
}

macro_rules! fixed {
    ($($type:ty: $size:literal, $read:ident, $put:ident;)*) => {$(
        impl Wire for $type {
            #[inline]
            fn min_size(_: Form) -> usize {
                $size
            }

            #[inline]
            fn write<S: Sink>(&self, _: Form, sink: &mut S) -> Result<(), EncodeError> {
                sink.$put(*self);
                Ok(())
            }

            #[inline]
            fn read(_: Form, reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
                reader.$read()
            }
        }
    )*};
}

fixed! {
    i8: 1, read_i8, put_i8;
    i16: 2, read_i16, put_i16;
    u16: 2, read_u16, put_u16;
    i32: 4, read_i32, put_i32;
    u32: 4, read_u32, put_u32;
    i64: 8, read_i64, put_i64;
    f64: 8, read_f64, put_f64;
    Uuid: 16, read_uuid, put_uuid;
}

impl Wire for bool {
    #[inline]
    fn min_size(_: Form) -> usize {
        1
    }

    #[inline]
    fn write<S: Sink>(&self, _: Form, sink: &mut S) -> Result<(), EncodeError> {
        sink.put_i8(i8::from(*self));
        Ok(())
    }

    #[inline]
    fn read(_: Form, reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        reader.read_bool()
    }
}

/// Two bytes; codes that are not known survive.
impl Wire for ErrorCode {
    #[inline]
    fn min_size(_: Form) -> usize {
        2
    }

    #[inline]
    fn write<S: Sink>(&self, _: Form, sink: &mut S) -> Result<(), EncodeError> {
        sink.put_i16(self.code());
        Ok(())
    }

    #[inline]
    fn read(_: Form, reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        reader.read_i16().map(ErrorCode::from_code)
    }
}

/// Whatever has a length in front of it: null is a length of its own.
macro_rules! nullable_by_length {
    ([$($generics:tt)*] $type:ty) => {
        impl<$($generics)*> Wire for $type {
            #[inline]
            fn min_size(form: Form) -> usize {
                <$type>::min_nullable_size(form)
            }

            #[inline]
            fn write<S: Sink>(&self, form: Form, sink: &mut S) -> Result<(), EncodeError> {
                <$type>::write_nullable(Some(self), form, sink)
            }

            #[inline]
            fn read(form: Form, reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
                let value = <$type>::read_nullable(form, reader)?;
                value.ok_or_else(|| reader.error(DecodeProblem::UnexpectedNull))
            }
        }
    };
}

nullable_by_length!([] String);
nullable_by_length!([] Bytes);
nullable_by_length!([T: Wire] Vec<T>);

impl Nullable for String {
    #[inline]
    fn min_nullable_size(form: Form) -> usize {
        if form.flexible { 1 } else { 2 }
    }

    #[inline]
    fn write_nullable<S: Sink>(
        value: Option<&Self>,
        form: Form,
        sink: &mut S,
    ) -> Result<(), EncodeError> {
        sink.put_string_length(form, value.map(String::len))?;
        if let Some(text) = value {
            sink.put(text.as_bytes());
        }
        Ok(())
    }

    #[inline]
    fn read_nullable(form: Form, reader: &mut Reader<'_>) -> Result<Option<Self>, DecodeError> {
        let length = reader.string_length(form)?;
        length.map(|length| reader.string(length)).transpose()
    }
}

impl Nullable for Bytes {
    #[inline]
    fn min_nullable_size(form: Form) -> usize {
        if form.flexible { 1 } else { 4 }
    }

    #[inline]
    fn write_nullable<S: Sink>(
        value: Option<&Self>,
        form: Form,
        sink: &mut S,
    ) -> Result<(), EncodeError> {
        sink.put_long_length(form, value.map(Bytes::len))?;
        if let Some(bytes) = value {
            sink.put(bytes);
        }
        Ok(())
    }

    #[inline]
    fn read_nullable(form: Form, reader: &mut Reader<'_>) -> Result<Option<Self>, DecodeError> {
        let length = reader.long_length(form)?;
        length.map(|length| reader.take_bytes(length)).transpose()
    }
}

impl<T: Wire> Nullable for Vec<T> {
    #[inline]
    fn min_nullable_size(form: Form) -> usize {
        if form.flexible { 1 } else { 4 }
    }

    #[inline]
    fn write_nullable<S: Sink>(
        value: Option<&Self>,
        form: Form,
        sink: &mut S,
    ) -> Result<(), EncodeError> {
        sink.put_long_length(form, value.map(Vec::len))?;
        value
            .into_iter()
            .flatten()
            .try_for_each(|element| element.write(form, sink))
    }

    #[inline]
    fn read_nullable(form: Form, reader: &mut Reader<'_>) -> Result<Option<Self>, DecodeError> {
        let count = reader.long_length(form)?;
        count.map(|count| reader.elements(form, count)).transpose()
    }
}
