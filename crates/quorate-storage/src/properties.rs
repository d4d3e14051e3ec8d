//! Java's properties format, as far as `meta.properties` needs it.

use std::collections::BTreeMap;

use crate::error::Malformed;

/// Reads `key=value` lines: comments, either separator, blanks around it, escapes. Lines that a
/// backslash continues are joined.
pub(crate) fn parse(bytes: &[u8]) -> Result<BTreeMap<String, String>, Malformed> {
    let text = std::str::from_utf8(bytes).map_err(|_| Malformed::Syntax("UTF-8 text"))?;
    let mut map = BTreeMap::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let mut line = line.trim_start().to_owned();
        if line.is_empty() || line.starts_with(['#', '!']) {
            continue;
        }
        while ends_with_odd_backslashes(&line) {
            line.pop();
            match lines.next() {
                Some(next) => line.push_str(next.trim_start()),
                None => break,
            }
        }
        let (key, value) = split(&line);
        map.insert(unescape(key)?, unescape(value)?);
    }
    Ok(map)
}

/// Writes a value so that [`parse`] and Java read it back.
pub(crate) fn escape(value: &str, into: &mut String) {
    for (index, letter) in value.chars().enumerate() {
        match letter {
            ' ' if index == 0 => into.push_str("\\ "),
            '\t' => into.push_str("\\t"),
            '\n' => into.push_str("\\n"),
            '\r' => into.push_str("\\r"),
            '\\' | '=' | ':' | '#' | '!' => into.extend(['\\', letter]),
            other => into.push(other),
        }
    }
}

/// A time in milliseconds since 1970 as Java's `Date` prints it in UTC.
pub(crate) fn java_date(millis: i64) -> String {
    const WEEKDAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    const MONTHS: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let seconds = millis.div_euclid(1000);
    let days = seconds.div_euclid(86_400);
    let second = seconds.rem_euclid(86_400);
    let (year, month, day) = civil(days);
    format!(
        "{} {} {day:02} {:02}:{:02}:{:02} UTC {year}",
        WEEKDAYS[days.rem_euclid(7) as usize],
        MONTHS[month],
        second / 3600,
        second / 60 % 60,
        second % 60,
    )
}

/// Year, month from 0 and day of so many days since 1970. Counted in eras of 400 years that start
/// in March, so that the leap day comes last.
fn civil(days: i64) -> (i64, usize, i64) {
    let days = days + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = (month_from_march as usize + 2) % 12;
    let year = era * 400 + year_of_era + i64::from(month < 2);
    (year, month, day)
}

fn ends_with_odd_backslashes(line: &str) -> bool {
    line.bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 1
}

/// Cuts at the first separator that is not escaped.
fn split(line: &str) -> (&str, &str) {
    let mut escaped = false;
    for (index, letter) in line.char_indices() {
        match letter {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '=' | ':' => return (&line[..index], line[index + 1..].trim_start()),
            ' ' | '\t' => {
                let rest = line[index..].trim_start();
                let value = rest.strip_prefix(['=', ':']).unwrap_or(rest);
                return (&line[..index], value.trim_start());
            }
            _ => {}
        }
    }
    (line, "")
}

fn unescape(text: &str) -> Result<String, Malformed> {
    let mut plain = String::with_capacity(text.len());
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        if letter != '\\' {
            plain.push(letter);
            continue;
        }
        match letters.next() {
            Some('t') => plain.push('\t'),
            Some('n') => plain.push('\n'),
            Some('r') => plain.push('\r'),
            Some('f') => plain.push('\x0c'),
            Some('u') => {
                let hex: String = letters.by_ref().take(4).collect();
                let code = u32::from_str_radix(&hex, 16).ok().and_then(char::from_u32);
                plain.push(code.ok_or(Malformed::Syntax("properties file: bad \\u escape"))?);
            }
            Some(other) => plain.push(other),
            None => {}
        }
    }
    Ok(plain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn java_forms_of_a_line_are_read() {
        let text = b"! comment\n a = 1\nb:2\nc 3\nd\\=e=\\u0041\nlong=on\\\n  e\nempty\n";
        let map = parse(text).unwrap();
        let get = |key: &str| map.get(key).map(String::as_str);
        for (key, value) in [
            ("a", "1"),
            ("b", "2"),
            ("c", "3"),
            ("d=e", "A"),
            ("long", "one"),
            ("empty", ""),
        ] {
            assert_eq!(get(key), Some(value), "{key}");
        }
    }

    #[test]
    fn dates_are_javas() {
        for (millis, text) in [
            (0, "Thu Jan 01 00:00:00 UTC 1970"),
            (951_782_399_000, "Mon Feb 28 23:59:59 UTC 2000"),
            (951_825_600_000, "Tue Feb 29 12:00:00 UTC 2000"),
            (1_796_067_863_999, "Mon Nov 30 19:44:23 UTC 2026"),
            (-1, "Wed Dec 31 23:59:59 UTC 1969"),
        ] {
            assert_eq!(java_date(millis), text);
        }
    }

    proptest! {
        #[test]
        fn values_come_back(value in "[ -~äö\t\n]{0,20}") {
            let mut text = String::from("key=");
            escape(&value, &mut text);
            let map = parse(text.as_bytes()).unwrap();
            prop_assert_eq!(map.get("key"), Some(&value));
        }

        #[test]
        fn arbitrary_bytes_are_no_panic(bytes: Vec<u8>) {
            let _ = parse(&bytes);
        }
    }
}
