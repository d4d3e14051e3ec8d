//! The workspace as these tests see it: its crates and their files.

use std::fs;
use std::path::{Path, PathBuf};

/// The root of the workspace.
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.join("../..")
        .canonicalize()
        .expect("the workspace lies two levels up")
}

/// The directories of the crates, sorted by name.
pub fn crates() -> Vec<(String, PathBuf)> {
    let mut crates: Vec<(String, PathBuf)> = list(&root().join("crates"))
        .into_iter()
        .filter(|path| path.join("Cargo.toml").exists())
        .map(|path| (name(&path), path))
        .collect();
    crates.sort();
    assert!(crates.len() > 10, "{} crates were found", crates.len());
    crates
}

/// All Rust files below a directory, sorted.
pub fn rust_files(directory: &Path) -> Vec<PathBuf> {
    files(directory, "rs")
}

/// All files below a directory whose names end like that, sorted.
pub fn files(directory: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for path in list(directory) {
        if path.is_dir() {
            found.extend(files(&path, ending));
        } else if path
            .extension()
            .is_some_and(|extension| extension == ending)
        {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// What a file holds.
pub fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A path as it is seen from the root.
pub fn short(path: &Path) -> String {
    path.strip_prefix(root())
        .unwrap_or(path)
        .display()
        .to_string()
}

fn name(path: &Path) -> String {
    path.file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default()
}

fn list(directory: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(directory) else {
        return Vec::new();
    };
    entries.flatten().map(|entry| entry.path()).collect()
}
