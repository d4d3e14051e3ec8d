//! Values as JSON in Kafka's own form: fields in the order of the message, ids and bytes in base64,
//! doubles as Java prints them.

use std::fmt::Write;

use bytes::Bytes;
use quorate::types::Uuid;

/// A value that has a JSON form in a version of its message.
pub trait Json {
    /// Appends it.
    fn write(&self, version: i16, out: &mut String);
}

/// The JSON of a value.
pub fn to_json(value: &impl Json, version: i16) -> String {
    let mut out = String::new();
    value.write(version, &mut out);
    out
}

/// An object that is being written field by field.
pub struct Object<'a> {
    out: &'a mut String,
    empty: bool,
}

impl<'a> Object<'a> {
    /// Opens it.
    pub fn open(out: &'a mut String) -> Object<'a> {
        out.push('{');
        Object { out, empty: true }
    }

    /// Appends a field.
    pub fn field(&mut self, name: &str, value: &impl Json, version: i16) {
        self.name(name);
        value.write(version, self.out);
    }

    /// Appends a field whose value is JSON already.
    pub fn raw(&mut self, name: &str, json: &str) {
        self.name(name);
        self.out.push_str(json);
    }

    /// Closes it.
    pub fn close(self) {
        self.out.push('}');
    }

    fn name(&mut self, name: &str) {
        if !std::mem::take(&mut self.empty) {
            self.out.push(',');
        }
        string(name, self.out);
        self.out.push(':');
    }
}

macro_rules! plain {
    ($($type:ty),*) => {$(
        impl Json for $type {
            fn write(&self, _: i16, out: &mut String) {
                // Writing into a string does not fail.
                let _ = write!(out, "{self}");
            }
        }
    )*};
}

plain!(bool, i8, i16, u16, i32, i64, u32, u64, usize);

impl Json for f64 {
    fn write(&self, _: i16, out: &mut String) {
        out.push_str(&java_double(*self));
    }
}

impl Json for str {
    fn write(&self, _: i16, out: &mut String) {
        string(self, out);
    }
}

impl Json for String {
    fn write(&self, _: i16, out: &mut String) {
        string(self, out);
    }
}

impl Json for Uuid {
    fn write(&self, _: i16, out: &mut String) {
        string(&self.to_string(), out);
    }
}

impl Json for Bytes {
    fn write(&self, _: i16, out: &mut String) {
        string(&base64(self), out);
    }
}

impl<T: Json + ?Sized> Json for &T {
    fn write(&self, version: i16, out: &mut String) {
        (**self).write(version, out);
    }
}

impl<T: Json> Json for Option<T> {
    fn write(&self, version: i16, out: &mut String) {
        match self {
            Some(value) => value.write(version, out),
            None => out.push_str("null"),
        }
    }
}

impl<T: Json> Json for Vec<T> {
    fn write(&self, version: i16, out: &mut String) {
        out.push('[');
        for (index, value) in self.iter().enumerate() {
            if index > 0 {
                out.push(',');
            }
            value.write(version, out);
        }
        out.push(']');
    }
}

fn string(text: &str, out: &mut String) {
    out.push('"');
    for letter in text.chars() {
        match letter {
            '"' | '\\' => out.extend(['\\', letter]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\x08' => out.push_str("\\b"),
            '\x0c' => out.push_str("\\f"),
            control if control < ' ' => {
                // Writing into a string does not fail.
                let _ = write!(out, "\\u{:04X}", u32::from(control));
            }
            other => out.push(other),
        }
    }
    out.push('"');
}

/// Standard base64 with padding.
pub fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |index: usize| u32::from(chunk.get(index).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for place in 0..4 {
            text.push(match place <= chunk.len() {
                true => char::from(LETTERS[(bits >> (18 - 6 * place) & 63) as usize]),
                false => '=',
            });
        }
    }
    text
}

/// A double as Java prints it: plainly between 0.001 and 10,000,000, else with an exponent.
fn java_double(value: f64) -> String {
    if !value.is_finite() {
        let text = match value {
            value if value.is_nan() => "NaN",
            value if value > 0.0 => "Infinity",
            _ => "-Infinity",
        };
        return format!("\"{text}\"");
    }
    if value == 0.0 || (1e-3..1e7).contains(&value.abs()) {
        return format!("{value:?}");
    }
    let text = format!("{value:E}");
    match text.split_once('E') {
        Some((digits, exponent)) if !digits.contains('.') => format!("{digits}.0E{exponent}"),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_are_javas() {
        for (value, text) in [
            (0.0, "0.0"),
            (10.0, "10.0"),
            (50.5, "50.5"),
            (1048576.0, "1048576.0"),
            (10_000_000.0, "1.0E7"),
            (-12_345_678.9, "-1.23456789E7"),
            (0.0001, "1.0E-4"),
            (f64::INFINITY, "\"Infinity\""),
        ] {
            assert_eq!(java_double(value), text);
        }
    }

    #[test]
    fn base64_pads() {
        for (bytes, text) in [("", ""), ("a", "YQ=="), ("ab", "YWI="), ("abc", "YWJj")] {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
    }

    #[test]
    fn strings_are_escaped() {
        assert_eq!(to_json(&"a\"\\\n\x01é", 0), r#""a\"\\\n\u0001é""#);
    }
}
