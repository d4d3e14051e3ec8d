//! Making a log directory that a node can start from, as `kafka-storage format` does.

use std::path::Path;

use bytes::Bytes;
use quorate_protocol::records::{FeatureLevelRecord, VersionedRecord};
use quorate_protocol::snapshot::{SnapshotError, SnapshotHeader, SnapshotWriter};
use quorate_types::{DirectoryId, Epoch, KRaftVersion, NodeId, OffsetAndEpoch, VoterSet, WallTime};

use crate::error::{At, StorageError};
use crate::meta_properties::MetaProperties;
use crate::names;
use crate::vfs::{Vfs, replace_file};

/// What a directory is formatted for.
#[derive(Debug, Clone)]
pub struct FormatSpec {
    /// The cluster.
    pub cluster_id: String,
    /// The node.
    pub node: NodeId,
    /// The directory's own id, drawn at random by the caller.
    pub directory: DirectoryId,
    /// The first levels of features; see [`FormatSpec::bootstrap_records`] for their order.
    pub features: Vec<(String, i16)>,
    /// Records that the first active controller writes after the features, such as SCRAM
    /// credentials.
    pub records: Vec<VersionedRecord>,
    /// The voters of a dynamic quorum, for those nodes that start it; `None` for a static quorum
    /// (`controller.quorum.voters`), for brokers, and for controllers that join later.
    pub initial_voters: Option<VoterSet>,
    /// The time that is written into the files.
    pub at: WallTime,
}

impl FormatSpec {
    /// What `bootstrap.checkpoint` holds: `metadata.version`, the other features above level 0 by
    /// name, then the other records. `kraft.version` is never among them; it is a control record.
    pub fn bootstrap_records(&self) -> Vec<VersionedRecord> {
        let mut features: Vec<&(String, i16)> = self
            .features
            .iter()
            .filter(|(name, level)| *level > 0 && name != "kraft.version")
            .collect();
        features.sort_by_key(|(name, _)| (name != "metadata.version", name.clone()));
        let features = features.into_iter().map(|(name, level)| {
            let record = FeatureLevelRecord {
                name: name.clone(),
                feature_level: *level,
                ..FeatureLevelRecord::default()
            };
            VersionedRecord {
                version: 0,
                data: record.into(),
            }
        });
        features.chain(self.records.iter().cloned()).collect()
    }
}

/// Formats a log directory: `bootstrap.checkpoint`, the `0-0` checkpoint of a dynamic quorum and, in
/// the end, `meta.properties`, without which the others do not count. Refused if that is there
/// already.
pub fn format(vfs: &dyn Vfs, log_dir: &Path, spec: &FormatSpec) -> Result<(), StorageError> {
    let meta_path = log_dir.join(names::META_PROPERTIES);
    if vfs.exists(&meta_path) {
        return Err(StorageError::Formatted { path: meta_path });
    }
    vfs.create_dir_all(log_dir).at("create", log_dir)?;
    let bootstrap = log_dir.join(names::BOOTSTRAP);
    let bytes = bootstrap_checkpoint(spec).map_err(|error| StorageError::Snapshot {
        path: bootstrap.clone(),
        error,
    })?;
    replace_file(vfs, &bootstrap, &bytes).at("write", &bootstrap)?;
    if let Some(voters) = &spec.initial_voters {
        let dir = log_dir.join(names::LOG_DIR);
        vfs.create_dir_all(&dir).at("create", &dir)?;
        let path = dir.join(names::snapshot(OffsetAndEpoch::default()));
        let bytes =
            initial_checkpoint(voters, spec.at).map_err(|error| StorageError::Snapshot {
                path: path.clone(),
                error,
            })?;
        replace_file(vfs, &path, &bytes).at("write", &path)?;
        vfs.seal(&path).at("seal", &path)?;
    }
    let meta = MetaProperties {
        cluster_id: Some(spec.cluster_id.clone()),
        node: Some(spec.node),
        directory: Some(spec.directory),
    };
    meta.write(vfs, log_dir, spec.at)
}

fn bootstrap_checkpoint(spec: &FormatSpec) -> Result<Vec<u8>, SnapshotError> {
    let header = SnapshotHeader {
        last_contained: WallTime(0),
        quorum: None,
    };
    let values = spec
        .bootstrap_records()
        .iter()
        .map(VersionedRecord::encode_frame)
        .collect::<Result<Vec<Bytes>, _>>()
        .map_err(|error| SnapshotError::Write(error.into()))?;
    let (mut writer, header) = SnapshotWriter::new(Epoch(0), &header, spec.at)?;
    let mut bytes = header.to_vec();
    if !values.is_empty() {
        bytes.extend_from_slice(&writer.data(spec.at, &values)?);
    }
    bytes.extend_from_slice(&writer.finish(spec.at)?);
    Ok(bytes)
}

fn initial_checkpoint(voters: &VoterSet, at: WallTime) -> Result<Vec<u8>, SnapshotError> {
    let header = SnapshotHeader {
        last_contained: at,
        quorum: Some((KRaftVersion::DYNAMIC, voters.clone())),
    };
    let (writer, header) = SnapshotWriter::new(Epoch(0), &header, at)?;
    let mut bytes = header.to_vec();
    bytes.extend_from_slice(&writer.finish(at)?);
    Ok(bytes)
}
