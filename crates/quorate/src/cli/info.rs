//! `quorate info`: what the directories of a configuration hold, as `kafka-storage info` tells it.

use std::path::{Path, PathBuf};

use quorate::storage::vfs::OsVfs;
use quorate::storage::{MetaProperties, StorageError, names};

use crate::output;
use crate::settings::{Controller, Settings};

/// Show whether the directories of a controller are formatted, and for whom.
///
/// Ends with 1 if there is a problem with one of them.
#[derive(Debug, clap::Args)]
pub struct Info {
    /// The controller's configuration (a Kafka properties file).
    #[arg(short, long, value_name = "FILE")]
    config: PathBuf,
}

impl Info {
    /// Prints it; false if there are problems.
    pub fn run(&self) -> anyhow::Result<bool> {
        let settings = Settings::load(&self.config, &[])?;
        settings.warn();
        let controller = Controller::new(&settings)?;
        let mut problems = Vec::new();
        let mut found = Vec::new();
        let mut first: Option<MetaProperties> = None;
        for dir in &controller.dirs {
            match look(dir) {
                Ok(None) => found.push(dir),
                Ok(Some(meta)) => {
                    found.push(dir);
                    match &first {
                        Some(first) if first.cluster_id != meta.cluster_id => problems
                            .push("Mismatched cluster IDs between storage directories.".to_owned()),
                        Some(first) if first.node != meta.node => problems
                            .push("Mismatched node IDs between storage directories.".to_owned()),
                        Some(_) => {}
                        None => first = Some(meta),
                    }
                }
                Err(problem) => problems.push(problem),
            }
            if found.last() == Some(&dir) && !dir.join(names::META_PROPERTIES).exists() {
                problems.push(format!("{} is not formatted.", dir.display()));
            }
        }
        let dirs: Vec<String> = found.iter().map(|dir| dir.display().to_string()).collect();
        list("Found log directory:", "Found log directories:", &dirs);
        if let Some(meta) = &first {
            output::line(format_args!("Found metadata: {}\n", describe(meta)));
        }
        list("Found problem:", "Found problems:", &problems);
        Ok(problems.is_empty())
    }
}

/// What a directory says; `None` if it is not formatted.
fn look(dir: &Path) -> Result<Option<MetaProperties>, String> {
    if !dir.exists() {
        return Err(format!("{} does not exist", dir.display()));
    }
    if !dir.is_dir() {
        return Err(format!("{} is not a directory", dir.display()));
    }
    match MetaProperties::read(&OsVfs, dir) {
        Ok(meta) => Ok(Some(meta)),
        Err(StorageError::Unformatted { .. }) => Ok(None),
        Err(error) => Err(format!("Error loading {error}")),
    }
}

fn describe(meta: &MetaProperties) -> String {
    let mut pairs = Vec::new();
    if let Some(cluster) = &meta.cluster_id {
        pairs.push(format!("cluster.id={cluster}"));
    }
    if let Some(directory) = meta.directory {
        pairs.push(format!("directory.id={directory}"));
    }
    if let Some(node) = meta.node {
        pairs.push(format!("node.id={node}"));
    }
    pairs.push("version=1".into());
    format!("{{{}}}", pairs.join(", "))
}

fn list(one: &str, several: &str, items: &[String]) {
    match items.len() {
        0 => return,
        1 => output::line(format_args!("{one}")),
        _ => output::line(format_args!("{several}")),
    }
    for item in items {
        output::line(format_args!("  {item}"));
    }
    output::line("");
}
