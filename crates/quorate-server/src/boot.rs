//! From what a log directory holds to what a node starts from.

use std::collections::BTreeMap;
use std::path::Path;

use quorate_broker::clean_shutdown;
use quorate_metadata::{RecordError, decode_records};
use quorate_protocol::batch::BatchView;
use quorate_protocol::records::MetadataRecord;
use quorate_protocol::snapshot::{SnapshotPart, SnapshotReader};
use quorate_raft::{Boot, ElectionState, LogSummary};
use quorate_storage::vfs::{Vfs, VfsFile};
use quorate_storage::{Election, Recovered, names};
use quorate_types::{BrokerEpoch, Epoch, OffsetAndEpoch, VoterSet};

/// Notes of clean shutdowns are far shorter.
const NOTE_BYTES_MAX: u64 = 4096;

/// Why a node cannot start from a log directory although its log can be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The node may have voted and does not know for whom.
    #[error(
        "the vote of this controller is lost (quorum-state {problem}) beside a log of epoch \
         {at_least}: it must not vote again with this directory; restore the file, or empty the \
         directory, format it and let the controller join anew"
    )]
    VoteLost {
        /// What is wrong with the file.
        problem: String,
        /// The highest epoch that the log shows.
        at_least: Epoch,
    },
    /// `bootstrap.checkpoint` cannot be read.
    #[error("{path} cannot be read: {reason}; format the directory anew or restore the file")]
    Bootstrap {
        /// The file.
        path: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The note of the last clean shutdown stays where it is, and would lie after a crash.
    #[error("{path} cannot be removed: {reason}; make the directory writable")]
    Note {
        /// The file.
        path: String,
        /// Why not.
        reason: String,
    },
}

/// What Raft starts from. `votes` says whether the node may ever vote: a broker that lost its file
/// goes on as an observer, a controller is stopped.
///
/// # Errors
/// [`StartError::VoteLost`]
pub fn boot(
    recovered: &Recovered,
    static_voters: Option<VoterSet>,
    votes: bool,
) -> Result<Boot, StartError> {
    let election = match &recovered.election {
        Election::Fresh => None,
        Election::Known(state) => Some(ElectionState {
            epoch: state.epoch,
            leader: state.leader,
            voted: state.voted,
        }),
        Election::Lost { problem, at_least } if votes => {
            let problem = match problem {
                Some(problem) => format!("cannot be read: {problem}"),
                None => "is missing".to_owned(),
            };
            return Err(StartError::VoteLost {
                problem,
                at_least: *at_least,
            });
        }
        Election::Lost { at_least, .. } => Some(ElectionState {
            epoch: *at_least,
            leader: None,
            voted: None,
        }),
    };
    let snapshots: BTreeMap<OffsetAndEpoch, u64> = recovered
        .snapshots
        .iter()
        .filter(|snapshot| snapshot.id != OffsetAndEpoch::default())
        .map(|snapshot| (snapshot.id, snapshot.size))
        .collect();
    let log = LogSummary {
        start: recovered.log_start,
        end: recovered.end,
        epochs: recovered.epochs.clone(),
        control: recovered.control.clone(),
        snapshots,
    };
    Ok(Boot {
        election,
        log,
        static_voters,
    })
}

/// The records of a log directory's `bootstrap.checkpoint`; none if there is no such file.
///
/// # Errors
/// If the file is there and cannot be read as what it should be.
pub fn bootstrap_records(
    vfs: &dyn Vfs,
    log_dir: &Path,
) -> Result<Option<Vec<MetadataRecord>>, StartError> {
    let path = log_dir.join(names::BOOTSTRAP);
    let failed = |reason: String| StartError::Bootstrap {
        path: path.display().to_string(),
        reason,
    };
    if !vfs.exists(&path) {
        return Ok(None);
    }
    let bytes = read_file(vfs, &path).map_err(|error| failed(error.to_string()))?;
    let mut reader = SnapshotReader::new();
    reader.feed(bytes.into());
    let mut records = Vec::new();
    while let Some(part) = reader
        .next_part()
        .map_err(|error| failed(error.to_string()))?
    {
        if let SnapshotPart::Data(view) = part {
            let decoded = data_records(&view).map_err(|error| failed(error.to_string()))?;
            records.extend(decoded);
        }
    }
    if reader.is_complete() {
        Ok(Some(records))
    } else {
        Err(failed("it ends before its footer".to_owned()))
    }
}

/// The epoch of the broker that left a note of its clean shutdown in a log directory. The note is
/// removed, durably: it speaks of the last process only.
///
/// # Errors
/// If it cannot be removed. One that cannot be read counts as none.
pub fn take_shutdown_note(
    vfs: &dyn Vfs,
    log_dir: &Path,
) -> Result<Option<BrokerEpoch>, StartError> {
    let path = log_dir.join(clean_shutdown::FILE_NAME);
    if !vfs.exists(&path) {
        return Ok(None);
    }
    let note = vfs.read_all(&path, NOTE_BYTES_MAX).ok();
    let removed = vfs.remove(&path).and_then(|()| vfs.sync_dir(log_dir));
    removed.map_err(|error| StartError::Note {
        path: path.display().to_string(),
        reason: error.to_string(),
    })?;
    Ok(clean_shutdown::previous_epoch([note.as_deref()]))
}

fn data_records(view: &BatchView) -> Result<Vec<MetadataRecord>, RecordError> {
    Ok(decode_records(view)?
        .into_iter()
        .map(|record| record.data)
        .collect())
}

fn read_file(vfs: &dyn Vfs, path: &Path) -> std::io::Result<Vec<u8>> {
    let file = vfs.open(path, quorate_storage::vfs::OpenMode::Read)?;
    let length = VfsFile::len(&*file)?;
    let mut bytes = vec![0; usize::try_from(length).map_err(std::io::Error::other)?];
    let read = quorate_storage::vfs::read_full(&*file, 0, &mut bytes)?;
    bytes.truncate(read);
    Ok(bytes)
}
