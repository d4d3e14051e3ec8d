//! What commands print. Whoever reads it may stop before the end (`| head`), which is no failure.

use std::fmt::Display;
use std::io::{self, ErrorKind, Write};
use std::process::exit;

/// Prints a text as it is.
pub fn print(text: impl Display) {
    let mut out = io::stdout().lock();
    let printed = write!(out, "{text}").and_then(|()| out.flush());
    match printed {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::BrokenPipe => exit(0),
        Err(error) => {
            eprintln!("quorate: cannot print: {error}");
            exit(1);
        }
    }
}

/// Prints a line.
pub fn line(text: impl Display) {
    print(format_args!("{text}\n"));
}
