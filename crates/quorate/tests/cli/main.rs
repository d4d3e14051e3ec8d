//! The program `quorate`, run as an operator runs it.

mod dump;
mod format;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Runs the program in a directory.
fn quorate(directory: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_quorate"))
        .current_dir(directory)
        .args(arguments)
        .output()
        .expect("the program starts")
}

/// The directory of this crate.
fn here() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}
