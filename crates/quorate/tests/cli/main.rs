//! The program `quorate`, run as an operator runs it.

mod cluster;
mod dump;
mod format;
mod snapshot;

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

#[test]
fn every_command_explains_itself() {
    let help = |arguments: &[&str]| {
        let output = quorate(&here(), arguments);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let all = help(&["--help"]);
    let (_, commands) = all.split_once("Commands:").unwrap();
    let names = commands.lines().skip(1).take_while(|line| !line.is_empty());
    let mut count = 0;
    for name in names.filter_map(|line| line.split_whitespace().next()) {
        assert!(help(&["help", name]).contains("Usage: quorate"), "{name}");
        count += 1;
    }
    assert!(count >= 10, "{all}");
}

#[test]
fn wrong_usage_ends_with_2() {
    for arguments in [
        &[][..],
        &["nothing"],
        &["start"],
        &["format", "--config", "x"],
    ] {
        let output = quorate(&here(), arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    }
}

#[test]
fn shells_can_complete_the_commands() {
    for shell in ["bash", "zsh", "fish"] {
        let script = quorate(&here(), &["completions", shell]).stdout;
        let script = String::from_utf8(script).unwrap();
        assert!(script.contains("random-uuid"), "{shell}");
    }
}
