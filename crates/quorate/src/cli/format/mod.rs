//! `quorate format`: makes a controller's directories, the same files as Kafka's `kafka-storage
//! format`.
//!
//! 1. The configuration and the flags are judged as a whole; nothing is written before.
//! 2. Every directory is looked at; one that is formatted already, or for something else, stops it.
//! 3. Those that are not formatted are.

mod scram;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::{ArgAction, Args};
use quorate::controller::features::{SUPPORTED_FEATURES, default_levels};
use quorate::metadata::MetadataVersion;
use quorate::node::{Clock, entropy};
use quorate::storage::vfs::OsVfs;
use quorate::storage::{FormatSpec, MetaProperties, StorageError};
use quorate::types::{DirectoryId, Rng, VoterSet};

use crate::output;
use crate::settings::{Controller, Settings, initial_controller, voter};

const ELR: &str = "eligible.leader.replicas.version";
const KRAFT: &str = "kraft.version";

/// Make the directories of a controller, before its first start.
///
/// Writes what `kafka-storage format` writes: meta.properties and bootstrap.checkpoint into every
/// log directory, and into that of the metadata the voters of a new dynamic quorum. Unless
/// controller.quorum.voters is set, say how the quorum begins: --standalone on its only controller,
/// --initial-controllers with the same list on each of several, or --no-initial-controllers on one
/// that joins later.
#[derive(Debug, Args)]
pub struct Format {
    /// The controller's configuration (a Kafka properties file).
    #[arg(short, long, value_name = "FILE")]
    config: PathBuf,
    /// The cluster's id, the same for all of its nodes; `quorate random-uuid` makes one.
    #[arg(short = 't', long, value_name = "ID", allow_hyphen_values = true)]
    cluster_id: String,
    /// Start a dynamic quorum with this controller as its only voter.
    #[arg(short, long, group = "quorum")]
    standalone: bool,
    /// Start a dynamic quorum with these voters; give each the same list.
    #[arg(short = 'I', long, group = "quorum", value_name = "ID@HOST:PORT:DIR,…")]
    initial_controllers: Option<String>,
    /// Start without voters: the controller is added to a quorum later.
    #[arg(short = 'N', long, group = "quorum")]
    no_initial_controllers: bool,
    /// The release whose features the cluster starts with, such as 4.0 or 4.2-IV1 (the latest).
    #[arg(short, long, value_name = "RELEASE")]
    release_version: Option<String>,
    /// The level that a feature starts with; may be repeated.
    #[arg(short, long, value_name = "NAME=LEVEL", action = ArgAction::Append)]
    feature: Vec<String>,
    /// A user's first credential, such as SCRAM-SHA-256=[name=alice,password=secret]; may be repeated.
    #[arg(short = 'S', long, value_name = "SPEC", action = ArgAction::Append)]
    add_scram: Vec<String>,
    /// Pass over directories that are formatted already.
    #[arg(short = 'g', long)]
    ignore_formatted: bool,
}

impl Format {
    /// Formats.
    pub fn run(&self) -> anyhow::Result<bool> {
        let settings = Settings::load(&self.config, &[])?;
        settings.warn();
        let controller = Controller::new(&settings)?;
        if self.cluster_id.trim().is_empty() {
            bail!("the cluster id is empty; `quorate random-uuid` makes one");
        }
        let mut rng = entropy();
        let voters = self.voters(&controller, &mut rng)?;
        let version = self.version()?;
        let is_dynamic = controller.quorum.voters.is_none();
        let features = levels(version, &given_levels(&self.feature)?, is_dynamic)?;
        let records = scram::records(&self.add_scram, version)?;
        let unformatted = self.unformatted(&controller)?;
        if unformatted.is_empty() {
            output::line(format_args!(
                "All of the log directories are already formatted."
            ));
            return Ok(true);
        }
        for dir in unformatted {
            let is_metadata = *dir == controller.metadata_dir;
            let initial_voters = voters.clone().filter(|_| is_metadata);
            let own = initial_voters
                .as_ref()
                .and_then(|it| it.get(controller.node));
            let kind = match (is_metadata, &initial_voters, own) {
                (false, ..) => "data directory",
                (true, None, _) => "metadata directory",
                (true, Some(_), None) => "dynamic metadata directory",
                (true, Some(_), Some(_)) => "dynamic metadata voter directory",
            };
            output::line(format_args!(
                "Formatting {kind} {} with metadata.version {version}.",
                dir.display()
            ));
            let spec = FormatSpec {
                cluster_id: self.cluster_id.clone(),
                node: controller.node,
                directory: own
                    .and_then(|voter| voter.directory)
                    .unwrap_or_else(|| DirectoryId(rng.uuid())),
                features: features.clone(),
                records: records.clone(),
                initial_voters,
                at: Clock::new().now().wall,
            };
            quorate::storage::format(&OsVfs, dir, &spec)?;
        }
        Ok(true)
    }

    /// The voters of a new dynamic quorum.
    fn voters(&self, controller: &Controller, rng: &mut Rng) -> anyhow::Result<Option<VoterSet>> {
        let starts = self.standalone || self.initial_controllers.is_some();
        if controller.quorum.voters.is_some() {
            if starts {
                bail!(
                    "controller.quorum.voters is set, which makes a quorum that never changes; \
                     remove it and set controller.quorum.bootstrap.servers to start a dynamic \
                     one with --standalone or --initial-controllers"
                );
            }
            return Ok(None);
        }
        let listener = &controller.endpoint.name;
        if self.standalone {
            let address = (&controller.endpoint).into();
            let own = voter(address, listener, Some(DirectoryId(rng.uuid())));
            return Ok(Some(VoterSet::default().with(controller.node, own)));
        }
        if let Some(list) = &self.initial_controllers {
            return initial_voters(list, listener).map(Some);
        }
        if !self.no_initial_controllers {
            bail!(
                "controller.quorum.voters is not set, so say how the quorum begins: \
                 --standalone, --initial-controllers, or --no-initial-controllers"
            );
        }
        Ok(None)
    }

    fn version(&self) -> anyhow::Result<MetadataVersion> {
        let given = given_levels(&self.feature)?;
        match (given.get(MetadataVersion::FEATURE), &self.release_version) {
            (Some(_), Some(_)) => bail!(
                "--release-version and --feature metadata.version=… say the same; give only one"
            ),
            (Some(level), None) => MetadataVersion::from_level(*level).with_context(|| {
                format!(
                    "metadata.version {level} is not known; it is {} to {}",
                    MetadataVersion::MINIMUM.level(),
                    MetadataVersion::LATEST.level()
                )
            }),
            (None, Some(release)) => release_version(release),
            (None, None) => Ok(MetadataVersion::LATEST),
        }
    }

    /// The directories that are not formatted; all must be of this cluster and node.
    fn unformatted<'a>(&self, controller: &'a Controller) -> anyhow::Result<Vec<&'a Path>> {
        let mut unformatted = Vec::new();
        let mut formatted = None;
        for dir in &controller.dirs {
            match MetaProperties::read(&OsVfs, dir) {
                Ok(found) => {
                    found.expect(dir, &self.cluster_id, controller.node)?;
                    formatted = formatted.or(Some(dir));
                }
                Err(StorageError::Unformatted { .. }) => unformatted.push(dir.as_path()),
                Err(error) => return Err(error.into()),
            }
        }
        match formatted {
            Some(dir) if !self.ignore_formatted => bail!(
                "Log directory {} is already formatted. Use --ignore-formatted to ignore this \
                 directory and format the others.",
                dir.display()
            ),
            _ => Ok(unformatted),
        }
    }
}

fn initial_voters(list: &str, listener: &str) -> anyhow::Result<VoterSet> {
    let mut voters = VoterSet::default();
    for text in list.split(',').map(str::trim).filter(|it| !it.is_empty()) {
        let (id, address, directory) = initial_controller(text).map_err(anyhow::Error::msg)?;
        if voters.contains_id(id) {
            bail!("--initial-controllers: {id} is listed twice");
        }
        voters = voters.with(id, voter(address, listener, Some(directory)));
    }
    if voters.is_empty() {
        bail!("--initial-controllers: no controllers are given");
    }
    Ok(voters)
}

/// The newest `metadata.version` of a release: `4.0`, `4.0.1` and `4.0-IV3` name the same.
fn release_version(text: &str) -> anyhow::Result<MetadataVersion> {
    let mut parts = text.split('.');
    let release = match (parts.next(), parts.next()) {
        (Some(major), Some(minor)) => format!("{major}.{minor}"),
        _ => text.to_owned(),
    };
    let levels = (MetadataVersion::MINIMUM.0..=MetadataVersion::LATEST.0).rev();
    levels
        .map(MetadataVersion)
        .find(|version| {
            let name = version.to_string();
            name == release || name.split("-IV").next() == Some(&release)
        })
        .with_context(|| {
            format!(
                "the release {text} is not known; it is {} to {}",
                MetadataVersion::MINIMUM,
                MetadataVersion::LATEST
            )
        })
}

fn given_levels(features: &[String]) -> anyhow::Result<BTreeMap<String, i16>> {
    let parse = |text: &String| {
        let (name, level) = text.split_once('=')?;
        Some((name.trim().to_owned(), level.trim().parse().ok()?))
    };
    features
        .iter()
        .map(|text| {
            parse(text).with_context(|| format!("--feature {text}: write it as NAME=LEVEL"))
        })
        .collect()
}

/// The level of every feature.
fn levels(
    version: MetadataVersion,
    given: &BTreeMap<String, i16>,
    is_dynamic: bool,
) -> anyhow::Result<Vec<(String, i16)>> {
    let mut levels: BTreeMap<String, i16> = default_levels(version)
        .into_iter()
        .map(|(name, level)| (name.to_owned(), level))
        .collect();
    for (name, level) in given {
        let Some(known) = SUPPORTED_FEATURES.iter().find(|it| it.name == name) else {
            let names: Vec<&str> = SUPPORTED_FEATURES.iter().map(|it| it.name).collect();
            bail!(
                "Unsupported feature: {name}. Supported features are: {}",
                names.join(", ")
            );
        };
        if !(known.min..=known.max).contains(level) {
            bail!(
                "{name} has the levels {} to {}, not {level}",
                known.min,
                known.max
            );
        }
        levels.insert(name.clone(), *level);
    }
    match (given.get(KRAFT), is_dynamic) {
        (Some(0), true) => bail!(
            "Cannot set kraft.version to 0 if controller.quorum.voters is empty: a dynamic quorum \
             needs level 1; leave --feature kraft.version out"
        ),
        (Some(1), false) => bail!(
            "Cannot set kraft.version to 1 unless controller.quorum.voters is empty and one of \
             --standalone, --initial-controllers, or --no-initial-controllers is used"
        ),
        _ => {}
    }
    if levels.get(ELR).is_some_and(|level| *level > 0) && !version.has_elr() {
        bail!(
            "{ELR} could not be set to 1 because it depends on metadata.version={} ({})",
            MetadataVersion::V4_0_IV1.level(),
            MetadataVersion::V4_0_IV1
        );
    }
    Ok(levels.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_are_named_as_in_kafka() {
        for (text, version) in [
            ("3.3-IV3", 7),
            ("3.9", 21),
            ("4.0", 25),
            ("4.0.1", 25),
            ("4.0-IV1", 23),
            ("4.2", 29),
            ("4.2.0", 29),
        ] {
            assert_eq!(
                release_version(text).unwrap(),
                MetadataVersion(version),
                "{text}"
            );
        }
        for bad in ["", "4", "29", "3.2", "4.3", "4.0-IV9", "5.0"] {
            assert!(release_version(bad).is_err(), "{bad}");
        }
    }

    fn problem(version: i16, feature: &str, is_dynamic: bool) -> String {
        let given = given_levels(&[feature.to_owned()]).unwrap();
        let result = levels(MetadataVersion(version), &given, is_dynamic);
        result.unwrap_err().to_string()
    }

    #[test]
    fn features_that_cannot_be_are_refused() {
        assert!(problem(29, "a.b=1", true).starts_with("Unsupported feature: a.b."));
        assert!(problem(29, "group.version=2", true).contains("levels 0 to 1"));
        assert!(problem(29, "kraft.version=0", true).contains("needs level 1"));
        assert!(problem(29, "kraft.version=1", false).contains("unless"));
        assert!(problem(22, &format!("{ELR}=1"), true).contains("depends on"));
        assert!(given_levels(&["a".into()]).is_err());
    }
}
