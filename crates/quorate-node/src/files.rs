//! A node's files: opened, checked to be this node's, or made.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use quorate_controller::features::default_levels;
use quorate_metadata::MetadataVersion;
use quorate_server::boot::StartError as BootError;
use quorate_storage::vfs::{OsVfs, Vfs};
use quorate_storage::{
    FormatSpec, LogConfig, MetaProperties, MetadataLog, Recovered, StorageError, format,
};
use quorate_types::{DirectoryId, NodeId, VoterSet, WallTime};

/// About how many bytes of the log's newest batches a node keeps in memory.
pub(crate) const TAIL_BYTES: usize = 4 * 1024 * 1024;

/// Why a node cannot start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// Its files.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// What its files say.
    #[error(transparent)]
    Boot(#[from] BootError),
    /// What its log says.
    #[error(transparent)]
    Raft(#[from] quorate_raft::BootError),
    /// `meta.properties` names no directory id, which every node needs.
    #[error("{path}/meta.properties names no directory.id; format the directory anew")]
    NoDirectoryId {
        /// The log directory.
        path: String,
    },
    /// Sockets or threads.
    #[error("cannot start: {0}")]
    Io(#[from] std::io::Error),
}

/// An opened log directory.
pub(crate) struct Files {
    pub(crate) vfs: Arc<dyn Vfs>,
    pub(crate) directory: DirectoryId,
    pub(crate) log: MetadataLog,
    pub(crate) recovered: Recovered,
}

/// Opens the log directory of a node of a cluster.
pub(crate) fn open(
    path: &Path,
    cluster_id: &str,
    node: NodeId,
    config: LogConfig,
) -> Result<Files, StartError> {
    let vfs: Arc<dyn Vfs> = Arc::new(OsVfs);
    let properties = MetaProperties::read(&*vfs, path)?;
    properties.expect(path, cluster_id, node)?;
    let Some(directory) = properties.directory else {
        return Err(StartError::NoDirectoryId {
            path: path.display().to_string(),
        });
    };
    let (log, recovered) = MetadataLog::open(vfs.clone(), path, config)?;
    for note in &recovered.notes {
        tracing::warn!(node = node.0, "{note}");
    }
    Ok(Files {
        vfs,
        directory,
        log,
        recovered,
    })
}

/// What a new log directory is made for.
#[derive(Debug, Clone)]
pub struct NewDirectory {
    /// Where it is.
    pub path: PathBuf,
    /// The cluster's id.
    pub cluster_id: String,
    /// The node that it belongs to.
    pub node: NodeId,
    /// Its own id.
    pub directory: DirectoryId,
    /// The voters, for those controllers that start a dynamic quorum.
    pub initial_voters: Option<VoterSet>,
}

impl NewDirectory {
    /// Formats the directory unless it is formatted already; says whether it was.
    ///
    /// # Errors
    /// If the directory cannot be written or belongs to another node.
    pub fn make(&self, now: WallTime) -> Result<bool, StartError> {
        let vfs = OsVfs;
        match MetaProperties::read(&vfs, &self.path) {
            Ok(properties) => {
                properties.expect(&self.path, &self.cluster_id, self.node)?;
                return Ok(false);
            }
            Err(StorageError::Unformatted { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        let levels = default_levels(MetadataVersion::LATEST);
        let spec = FormatSpec {
            cluster_id: self.cluster_id.clone(),
            node: self.node,
            directory: self.directory,
            features: levels
                .into_iter()
                .map(|(name, level)| (name.to_owned(), level))
                .collect(),
            records: Vec::new(),
            initial_voters: self.initial_voters.clone(),
            at: now,
        };
        format(&vfs, &self.path, &spec)?;
        Ok(true)
    }
}
