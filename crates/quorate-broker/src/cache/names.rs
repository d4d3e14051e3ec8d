//! Which names topics can have, and which topics are the brokers' own.

/// The longest name, so that directory and file names made from it stay below 255 characters.
const LONGEST: usize = 249;

/// The topics in which coordinators keep their state.
const INTERNAL: [&str; 3] = [
    "__consumer_offsets",
    "__transaction_state",
    "__share_group_state",
];

/// Whether a topic can have that name: 1 to 249 of `a-z A-Z 0-9 . _ -`, but not `.` or `..`.
pub fn is_valid(name: &str) -> bool {
    let letter = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    (1..=LONGEST).contains(&name.len()) && name != "." && name != ".." && name.bytes().all(letter)
}

/// Whether coordinators keep their state in the topic of that name.
pub fn is_internal(name: &str) -> bool {
    INTERNAL.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_short_and_of_plain_letters() {
        let longest = "x".repeat(249);
        for name in ["a", "orders.eu-1_x", "...", "__consumer_offsets", &longest] {
            assert!(is_valid(name), "{name}");
        }
        let too_long = "x".repeat(250);
        for name in ["", ".", "..", "a b", "a/b", "ä", &too_long] {
            assert!(!is_valid(name), "{name}");
        }
    }
}
