//! Work for the disk: what a node asks of its files, and how it is carried out.
//!
//! A [`DiskWorker`] is run by the disk thread, or by the simulator. It takes everything that is
//! queued, writes it in order, syncs once, and only then reports: what arrives while a sync runs
//! shares the next one. A failed write or sync is final.
//!
//! The worker of an observer reports appends once they are written and syncs them in a quiet moment:
//! nobody counts on an observer's log, and what a power failure takes from it is fetched again.

use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;
use quorate_metadata::{LoadedSnapshot, SnapshotLoader};
use quorate_protocol::batch::BatchView;
use quorate_raft::{DiskSeq, ElectionState};
use quorate_storage::vfs::Vfs;
use quorate_storage::{
    LogReader, MetadataLog, PartialSnapshot, QuorumState, Retention, StorageError,
};
use quorate_types::{
    BrokerEpoch, KRaftVersion, NodeId, Offset, OffsetAndEpoch, VoterSet, WallTime,
};

use crate::snapshot_files::{self, ShutdownNote, SnapshotFiles};
use crate::snapshots::{Cleaned, SnapshotProgress, SnapshotStep};

/// One piece of work.
#[derive(Debug, Clone)]
pub enum DiskJob {
    /// Change files; reported by [`DiskDone::Durable`].
    Write {
        /// Its place in the order of all writes.
        seq: DiskSeq,
        /// What to do.
        op: DiskOp,
    },
    /// Read whole batches, at least one; reported by [`DiskDone::Read`].
    Read {
        /// Names the read in its report.
        token: u64,
        /// The offset to read from.
        from: Offset,
        /// About how many bytes to read.
        max_bytes: usize,
    },
    /// Read a whole snapshot into an image; reported by [`DiskDone::Loaded`].
    Load {
        /// Which snapshot.
        id: OffsetAndEpoch,
    },
    /// Read a piece of a snapshot; reported by [`DiskDone::ReadSnapshot`].
    ReadSnapshot {
        /// Names the read in its report.
        token: u64,
        /// Which snapshot.
        id: OffsetAndEpoch,
        /// Where the piece starts.
        position: u64,
        /// How many bytes to read at most.
        max_bytes: usize,
    },
    /// Go on writing a snapshot of the node's own; reported by [`DiskDone::Snapshot`].
    Snapshot {
        /// Which.
        id: OffsetAndEpoch,
        /// What to do.
        step: SnapshotStep,
    },
    /// Drop old snapshots and the log that later ones stand for; reported by [`DiskDone::Cleaned`].
    Clean {
        /// How much is to be kept.
        retention: Retention,
        /// The time that ages are measured at.
        now: WallTime,
    },
    /// Leave a note of a clean shutdown when the files are closed; not reported.
    NoteCleanShutdown {
        /// The epoch of the broker that was let go.
        epoch: BrokerEpoch,
    },
}

impl DiskJob {
    /// Whether nobody waits for it: it may be carried out after jobs that came later.
    pub fn can_wait(&self) -> bool {
        matches!(self, DiskJob::Snapshot { .. } | DiskJob::Clean { .. })
    }
}

/// A change of files.
#[derive(Debug, Clone)]
pub enum DiskOp {
    /// Replace `quorum-state`.
    SaveElection {
        /// What to write.
        state: ElectionState,
        /// Decides about the file's version.
        version: KRaftVersion,
        /// The voters, which version 0 of the file names.
        voters: Vec<NodeId>,
    },
    /// Append encoded batches at the log's end.
    Append {
        /// The batches.
        batches: Vec<Bytes>,
    },
    /// Cut the log to that end.
    Truncate {
        /// The log's end after.
        end: Offset,
    },
    /// Write a piece of a snapshot that is being fetched; position 0 starts the file anew.
    SnapshotChunk {
        /// Which snapshot.
        id: OffsetAndEpoch,
        /// Where the piece goes.
        position: u64,
        /// The piece.
        bytes: Bytes,
    },
    /// Check the fetched file, make it a snapshot, and empty the log.
    InstallSnapshot {
        /// Which snapshot.
        id: OffsetAndEpoch,
    },
    /// Delete a file that is being fetched.
    DropSnapshot {
        /// Which snapshot.
        id: OffsetAndEpoch,
    },
}

/// What the disk reports.
#[derive(Debug, Clone)]
pub enum DiskDone {
    /// Every write up to that one is on the disk; an observer's appends are perhaps on their way.
    Durable {
        /// The last of them.
        upto: DiskSeq,
    },
    /// A write failed; none after it was carried out, and none will be.
    Failed {
        /// Which write.
        seq: DiskSeq,
        /// Which file, and what happened to it.
        error: String,
    },
    /// A snapshot was installed and the log emptied; everything up to there is on the disk.
    Installed {
        /// The write that asked for it.
        upto: DiskSeq,
        /// Which snapshot.
        id: OffsetAndEpoch,
        /// Its size in bytes.
        size: u64,
        /// The voters that it holds, if any.
        voters: Option<VoterSet>,
        /// The `kraft.version` that it holds.
        version: KRaftVersion,
    },
    /// Batches were read.
    Read {
        /// The read.
        token: u64,
        /// The batches, or which file could not be read and why.
        result: Result<Vec<Bytes>, String>,
    },
    /// A snapshot was read into an image.
    Loaded {
        /// Which.
        id: OffsetAndEpoch,
        /// The image, or which file could not be read and why.
        result: Result<Box<LoadedSnapshot>, String>,
    },
    /// A piece of a snapshot was read.
    ReadSnapshot {
        /// The read.
        token: u64,
        /// The piece, or which file could not be read and why.
        result: Result<Bytes, String>,
    },
    /// A step in writing a snapshot was carried out.
    Snapshot {
        /// Which.
        id: OffsetAndEpoch,
        /// What came of it, or why it was given up.
        result: Result<SnapshotProgress, String>,
    },
    /// Old snapshots were looked for.
    Cleaned {
        /// What was dropped, if anything was, or why it could not be.
        result: Result<Option<Cleaned>, String>,
    },
}

/// Carries out disk work on one log.
#[derive(Debug)]
pub struct DiskWorker {
    log: MetadataLog,
    reader: LogReader,
    /// The snapshot that is being fetched.
    partial: Option<PartialSnapshot>,
    /// The one that the node writes itself.
    own: SnapshotFiles,
    /// Where a note of a clean shutdown goes.
    note: Option<ShutdownNote>,
    /// The last write that was asked for.
    last: DiskSeq,
    /// The last append that was reported before it was synced.
    unsynced: Option<DiskSeq>,
    observer: bool,
    failed: bool,
}

impl DiskWorker {
    /// Works on that log.
    pub fn new(log: MetadataLog) -> DiskWorker {
        DiskWorker {
            reader: log.reader(),
            log,
            partial: None,
            own: SnapshotFiles::default(),
            note: None,
            last: DiskSeq::default(),
            unsynced: None,
            observer: false,
            failed: false,
        }
    }

    /// Works on the log of a node that will never be a voter.
    pub fn of_observer(log: MetadataLog) -> DiskWorker {
        DiskWorker {
            observer: true,
            ..DiskWorker::new(log)
        }
    }

    /// Leaves notes of clean shutdowns in that log directory.
    #[must_use]
    pub fn noting_in(self, vfs: Arc<dyn Vfs>, directory: PathBuf) -> DiskWorker {
        DiskWorker {
            note: Some(ShutdownNote {
                vfs,
                directory,
                epoch: None,
            }),
            ..self
        }
    }

    /// Carries out jobs in order: the writes with one sync for all, then the reads, then what can
    /// wait. After a write that failed, nothing is written any more.
    pub fn run(&mut self, jobs: Vec<DiskJob>) -> Vec<DiskDone> {
        let mut done = Vec::new();
        let mut reads = Vec::new();
        let mut waiting = Vec::new();
        let mut written = None;
        for job in jobs {
            match job {
                DiskJob::Write { seq, op } => match self.write(seq, op) {
                    Ok(Some(installed)) => {
                        written = None;
                        done.push(installed);
                    }
                    Ok(None) => written = Some(seq),
                    Err(failed) => done.extend(failed),
                },
                job if job.can_wait() => waiting.push(job),
                DiskJob::NoteCleanShutdown { epoch } => {
                    if let Some(note) = &mut self.note {
                        note.epoch = Some(epoch);
                    }
                }
                read => reads.push(read),
            }
        }
        if let (Some(upto), false) = (written, self.failed) {
            done.push(if self.observer {
                self.unsynced = Some(upto);
                DiskDone::Durable { upto }
            } else {
                self.sync(upto)
            });
        }
        done.extend(reads.into_iter().filter_map(|job| self.read(job)));
        for job in waiting {
            self.keep_snapshots(job, &mut done);
        }
        done
    }

    /// Whether appends were reported that [`settle`](DiskWorker::settle) would sync.
    pub fn is_unsettled(&self) -> bool {
        self.unsynced.is_some() && !self.failed
    }

    /// Syncs what was reported before it was synced; says so only if that fails.
    pub fn settle(&mut self) -> Option<DiskDone> {
        let upto = self.unsynced.take().filter(|_| !self.failed)?;
        let done = self.sync(upto);
        matches!(done, DiskDone::Failed { .. }).then_some(done)
    }

    /// Closes the log in good order.
    ///
    /// # Errors
    /// If the last sync or the files that are written on the way out fail.
    pub fn close(self) -> Result<(), StorageError> {
        if self.failed {
            return Ok(());
        }
        self.log.close()?;
        self.note.map_or(Ok(()), |note| note.write())
    }

    fn keep_snapshots(&mut self, job: DiskJob, done: &mut Vec<DiskDone>) {
        if self.failed {
            return;
        }
        let error = match job {
            DiskJob::Snapshot { id, step } => {
                let result = self.own.step(&mut self.log, id, step);
                let error = result.as_ref().err().map(StorageError::to_string);
                done.push(DiskDone::Snapshot {
                    id,
                    result: result.map_err(|error| error.to_string()),
                });
                error
            }
            DiskJob::Clean { retention, now } => {
                let result = snapshot_files::clean(&mut self.log, &retention, now);
                let error = result.as_ref().err().map(StorageError::to_string);
                done.push(DiskDone::Cleaned {
                    result: result.map_err(|error| error.to_string()),
                });
                error
            }
            _ => None,
        };
        if let Some(error) = error
            && self.log.is_stopped()
        {
            self.failed = true;
            done.push(DiskDone::Failed {
                seq: self.last,
                error,
            });
        }
    }

    /// A failed write reports itself once; those after it are dropped without a word.
    fn write(&mut self, seq: DiskSeq, op: DiskOp) -> Result<Option<DiskDone>, Option<DiskDone>> {
        if self.failed {
            return Err(None);
        }
        self.last = seq;
        self.carry_out(seq, op)
            .map_err(|error| Some(self.fail(seq, &error)))
    }

    fn sync(&mut self, upto: DiskSeq) -> DiskDone {
        match self.log.sync() {
            Ok(_) => DiskDone::Durable { upto },
            Err(error) => self.fail(upto, &error),
        }
    }

    fn fail(&mut self, seq: DiskSeq, error: &StorageError) -> DiskDone {
        self.failed = true;
        DiskDone::Failed {
            seq,
            error: error.to_string(),
        }
    }

    fn carry_out(&mut self, seq: DiskSeq, op: DiskOp) -> Result<Option<DiskDone>, StorageError> {
        match op {
            DiskOp::SaveElection {
                state,
                version,
                voters,
            } => {
                let ElectionState {
                    epoch,
                    leader,
                    voted,
                } = state;
                self.log.save_election(
                    &QuorumState {
                        epoch,
                        leader,
                        voted,
                        voters,
                    },
                    version,
                )?;
            }
            DiskOp::Append { batches } => {
                self.log.append(&batches)?;
            }
            DiskOp::Truncate { end } => {
                self.log.truncate(end)?;
            }
            DiskOp::SnapshotChunk {
                id,
                position,
                bytes,
            } => self.chunk(id, position, &bytes)?,
            DiskOp::InstallSnapshot { id } => return self.install(seq, id),
            DiskOp::DropSnapshot { .. } => {
                if let Some(partial) = self.partial.take() {
                    self.log.discard_snapshot(partial)?;
                }
            }
        }
        Ok(None)
    }

    fn chunk(
        &mut self,
        id: OffsetAndEpoch,
        position: u64,
        bytes: &Bytes,
    ) -> Result<(), StorageError> {
        if position == 0 {
            if let Some(stale) = self.partial.take() {
                self.log.discard_snapshot(stale)?;
            }
            self.partial = self.log.create_snapshot(id)?;
        }
        match &mut self.partial {
            Some(partial) if partial.id() == id => partial.append(bytes),
            // One of that id is here already.
            _ => Ok(()),
        }
    }

    fn install(
        &mut self,
        upto: DiskSeq,
        id: OffsetAndEpoch,
    ) -> Result<Option<DiskDone>, StorageError> {
        let Some(partial) = self.partial.take() else {
            return Ok(None);
        };
        self.own.drop_partial(&mut self.log);
        let (info, header) = self.log.install_snapshot(partial)?;
        let (version, voters) = match header.quorum {
            Some((version, voters)) => (version, (!voters.is_empty()).then_some(voters)),
            None => (KRaftVersion::STATIC, None),
        };
        Ok(Some(DiskDone::Installed {
            upto,
            id,
            size: info.size,
            voters,
            version,
        }))
    }

    fn read(&self, job: DiskJob) -> Option<DiskDone> {
        Some(match job {
            DiskJob::Write { .. }
            | DiskJob::Snapshot { .. }
            | DiskJob::Clean { .. }
            | DiskJob::NoteCleanShutdown { .. } => return None,
            DiskJob::Read {
                token,
                from,
                max_bytes,
            } => {
                let read = match self.reader.read(from, max_bytes) {
                    // The log's head was dropped or its end cut since this was asked for; whoever
                    // asked finds out.
                    Err(StorageError::OutOfRange { .. }) => Ok(Vec::new()),
                    read => read,
                };
                let result = read
                    .map_err(|error| error.to_string())
                    .map(|batches| batches.into_iter().map(BatchView::into_bytes).collect());
                DiskDone::Read { token, result }
            }
            DiskJob::Load { id } => DiskDone::Loaded {
                id,
                result: self.load(id).map(Box::new),
            },
            DiskJob::ReadSnapshot {
                token,
                id,
                position,
                max_bytes,
            } => {
                let piece = self
                    .reader
                    .snapshot(id)
                    .and_then(|file| file.chunk(position, max_bytes as u64));
                DiskDone::ReadSnapshot {
                    token,
                    result: piece.map_err(|error| error.to_string()),
                }
            }
        })
    }

    fn load(&self, id: OffsetAndEpoch) -> Result<LoadedSnapshot, String> {
        const PIECE: u64 = 1024 * 1024;
        let file = self
            .reader
            .snapshot(id)
            .map_err(|error| error.to_string())?;
        let mut loader = SnapshotLoader::new(id);
        let mut position = 0;
        loop {
            let piece = file
                .chunk(position, PIECE)
                .map_err(|error| error.to_string())?;
            if piece.is_empty() {
                break;
            }
            position += piece.len() as u64;
            loader
                .feed(piece)
                .map_err(|error| format!("snapshot {id}: {error}"))?;
        }
        loader
            .finish()
            .map_err(|error| format!("snapshot {id}: {error}"))
    }
}
