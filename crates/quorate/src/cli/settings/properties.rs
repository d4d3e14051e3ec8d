//! Java's properties format, as Kafka reads its configuration: keys and values with the lines they
//! stand on.
//!
//! - A key ends at the first `=`, `:` or blank that is not escaped; blanks around the separator do not
//!   count, those at the end of a value do.
//! - A line that ends with an odd number of backslashes goes on in the next one, whose leading blanks
//!   do not count. Comments (`#`, `!`) do not go on.
//! - `\t`, `\n`, `\r`, `\f` and `\uXXXX` stand for a character; any other escaped character for itself.
//! - Bytes are UTF-8; if they are not, they are Latin-1, which is what Java takes them for.

use std::borrow::Cow;
use std::iter::Peekable;
use std::str::Chars;

/// One assignment of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assignment {
    /// The line that the key stands on, from 1.
    pub line: usize,
    /// The key.
    pub key: String,
    /// The value.
    pub value: String,
}

/// What is no properties file, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Malformed {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub problem: &'static str,
}

/// The assignments of a file, in order.
pub fn parse(bytes: &[u8]) -> Result<Vec<Assignment>, Malformed> {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text.strip_prefix('\u{feff}').unwrap_or(text)),
        Err(_) => Cow::Owned(bytes.iter().copied().map(char::from).collect()),
    };
    let mut assignments = Vec::new();
    for (line, logical) in logical_lines(&text) {
        let (key, value) = split(&logical);
        let unescape = |text| unescape(text).map_err(|problem| Malformed { line, problem });
        assignments.push(Assignment {
            line,
            key: unescape(key)?,
            value: unescape(value)?,
        });
    }
    Ok(assignments)
}

/// The lines that say something, continued ones joined, with the number of their first.
fn logical_lines(text: &str) -> Vec<(usize, String)> {
    let mut natural = natural_lines(text).into_iter().zip(1..);
    let mut lines = Vec::new();
    while let Some((line, number)) = natural.next() {
        let line = line.trim_start_matches(is_blank);
        if line.is_empty() || line.starts_with(['#', '!']) {
            continue;
        }
        let mut logical = line.to_owned();
        while continues(&logical) {
            logical.pop();
            match natural.next() {
                Some((next, _)) => logical.push_str(next.trim_start_matches(is_blank)),
                None => break,
            }
        }
        lines.push((number, logical));
    }
    lines
}

/// Lines may end as on any system.
fn natural_lines(text: &str) -> Vec<&str> {
    text.split('\n')
        .flat_map(|line| line.strip_suffix('\r').unwrap_or(line).split('\r'))
        .collect()
}

fn is_blank(letter: char) -> bool {
    matches!(letter, ' ' | '\t' | '\x0c')
}

fn continues(line: &str) -> bool {
    line.bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 1
}

/// Cuts a line into key and value, both still escaped.
fn split(line: &str) -> (&str, &str) {
    let mut escaped = false;
    let ends = |letter: char| {
        let ends = !escaped && (is_blank(letter) || letter == '=' || letter == ':');
        escaped = !escaped && letter == '\\';
        ends
    };
    let Some(end) = line.find(ends) else {
        return (line, "");
    };
    let rest = line[end..].trim_start_matches(is_blank);
    let rest = rest.strip_prefix(['=', ':']).unwrap_or(rest);
    (&line[..end], rest.trim_start_matches(is_blank))
}

fn unescape(text: &str) -> Result<String, &'static str> {
    let mut plain = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let escaped = match letter {
            '\\' => letters.next(),
            letter => {
                plain.push(letter);
                continue;
            }
        };
        match escaped {
            Some('t') => plain.push('\t'),
            Some('n') => plain.push('\n'),
            Some('r') => plain.push('\r'),
            Some('f') => plain.push('\x0c'),
            Some('u') => plain.push(unicode(&mut letters)?),
            Some(other) => plain.push(other),
            None => {}
        }
    }
    Ok(plain)
}

/// The character that four hexadecimal digits stand for, or eight in two escapes.
fn unicode(letters: &mut Peekable<Chars<'_>>) -> Result<char, &'static str> {
    const DIGITS: &str = "\\u takes four hexadecimal digits";
    const HALF: &str = "\\u stands for half a character";
    let high = hexadecimal(letters).ok_or(DIGITS)?;
    if !(0xD800..0xDC00).contains(&high) {
        return char::from_u32(high).ok_or(HALF);
    }
    let (Some('\\'), Some('u')) = (letters.next(), letters.next()) else {
        return Err(HALF);
    };
    let low = hexadecimal(letters).ok_or(DIGITS)?;
    if !(0xDC00..0xE000).contains(&low) {
        return Err(HALF);
    }
    char::from_u32(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00)).ok_or(HALF)
}

fn hexadecimal(letters: &mut Peekable<Chars<'_>>) -> Option<u32> {
    let mut code = 0;
    for _ in 0..4 {
        code = code << 4 | letters.next()?.to_digit(16)?;
    }
    Some(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(text: &str) -> Vec<(usize, String, String)> {
        let assignments = parse(text.as_bytes()).unwrap();
        assignments
            .into_iter()
            .map(|it| (it.line, it.key, it.value))
            .collect()
    }

    fn one(text: &str) -> (String, String) {
        let [(_, key, value)] = &pairs(text)[..] else {
            panic!("{text:?} is not one assignment");
        };
        (key.clone(), value.clone())
    }

    #[test]
    fn one_line_is_read_as_java_does() {
        for (text, key, value) in [
            ("a=b", "a", "b"),
            ("a:b", "a", "b"),
            ("a b", "a", "b"),
            ("  a \t=  b c ", "a", "b c "),
            ("a = = b", "a", "= b"),
            ("a", "a", ""),
            ("a=", "a", ""),
            ("=b", "", "b"),
            ("a\\=b\\:c\\ d=e", "a=b:c d", "e"),
            ("a=b#c!d", "a", "b#c!d"),
            ("a=\\t\\n\\r\\f\\q\\\\", "a", "\t\n\r\x0cq\\"),
            ("a=\\u0041\\u00fC", "a", "Aü"),
            ("a=\\ud83d\\ude00", "a", "😀"),
            ("a=C:\\\\dir", "a", "C:\\dir"),
            ("a=größe", "a", "größe"),
        ] {
            assert_eq!(one(text), (key.into(), value.into()), "{text:?}");
        }
    }

    #[test]
    fn lines_go_on_after_an_odd_backslash_and_comments_do_not() {
        let text = "# a comment \\\n\n! another\na=b,\\\n   c,\\\r\n\td\ne=f\\\\\ng=h\\";
        let expected = [(4, "a", "b,c,d"), (7, "e", "f\\"), (8, "g", "h")]
            .map(|(line, key, value)| (line, key.to_owned(), value.to_owned()));
        assert_eq!(pairs(text), expected);
    }

    #[test]
    fn lines_may_end_as_on_any_system() {
        let lines: Vec<usize> = pairs("a=1\rb=2\r\nc=3\nd=4")
            .iter()
            .map(|it| it.0)
            .collect();
        assert_eq!(lines, [1, 2, 3, 4]);
    }

    #[test]
    fn bytes_that_are_not_utf8_are_latin1() {
        let assignments = parse(b"a=gr\xfcn").unwrap();
        assert_eq!(assignments[0].value, "grün");
    }

    #[test]
    fn bad_escapes_are_refused_with_their_line() {
        for text in ["\na=\\u12", "\na=\\u12x4", "\na=\\ud83d", "\na=\\udc00"] {
            assert_eq!(parse(text.as_bytes()).unwrap_err().line, 2, "{text:?}");
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused() {
        let alphabet = b"ab=: \t\\\\\n\r#!u0dD8\xc3\xbc\xff";
        let mut rng = quorate::types::Rng::new(1);
        let (mut read, mut refused) = (0, 0);
        for _ in 0..5000 {
            let length = rng.index(24);
            let bytes: Vec<u8> = (0..length)
                .map(|_| alphabet[rng.index(alphabet.len())])
                .collect();
            match parse(&bytes) {
                Ok(_) => read += 1,
                Err(_) => refused += 1,
            }
        }
        assert!(read > 1000 && refused > 100, "{read} {refused}");
    }
}
