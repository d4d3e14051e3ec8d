//! From files to an image: the newest snapshot that can be read, then the segments behind it.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use bytes::Bytes;
use quorate::metadata::{LoadedSnapshot, Loader, MetadataImage, SnapshotLoader, decode_batch};
use quorate::storage::names;
use quorate::types::{ControlRecord, Offset, OffsetAndEpoch, VoterSet};

use crate::dump::Batches;

/// What the files of a directory say.
pub struct Found {
    /// The directory of the metadata log.
    pub dir: PathBuf,
    /// The metadata.
    pub image: MetadataImage,
    /// The end of what is in it, and its last epoch.
    pub end: OffsetAndEpoch,
    /// The snapshot that it was read from.
    pub snapshot: Option<OffsetAndEpoch>,
    /// The voters of a dynamic quorum.
    pub voters: Option<VoterSet>,
    /// What could not be read.
    pub problems: Vec<String>,
}

/// Reads the metadata of a directory, up to an offset.
pub fn metadata(dir: &Path, at: Option<Offset>) -> anyhow::Result<Found> {
    let inner = dir.join(names::LOG_DIR);
    let dir = if inner.is_dir() {
        inner
    } else {
        dir.to_owned()
    };
    let files = Files::of(&dir)?;
    let at = at.unwrap_or(Offset(i64::MAX));
    let mut reading = Reading::default();
    let mut snapshots = files.snapshots.iter().rev();
    while let Some((id, path)) = snapshots.next().filter(|_| reading.snapshot.is_none()) {
        if id.offset <= at {
            reading.start_from(*id, path);
        }
    }
    reading.read_log(&files, at)?;
    reading.finish(dir)
}

/// The files of a metadata log, ascending.
struct Files {
    segments: Vec<(Offset, PathBuf)>,
    snapshots: Vec<(OffsetAndEpoch, PathBuf)>,
}

impl Files {
    fn of(dir: &Path) -> anyhow::Result<Files> {
        let entries =
            std::fs::read_dir(dir).with_context(|| format!("cannot read {}", dir.display()))?;
        let mut files = Files {
            segments: Vec::new(),
            snapshots: Vec::new(),
        };
        for entry in entries {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if let Some(start) = name.strip_suffix(".log").and_then(|it| it.parse().ok()) {
                files.segments.push((Offset(start), path));
            } else if let Some(id) = name.strip_suffix(".checkpoint").and_then(snapshot_id) {
                files.snapshots.push((id, path));
            }
        }
        files.segments.sort();
        files.snapshots.sort();
        if files.segments.is_empty() && files.snapshots.is_empty() {
            bail!("{} holds no metadata log", dir.display());
        }
        Ok(files)
    }
}

fn snapshot_id(stem: &str) -> Option<OffsetAndEpoch> {
    let (offset, epoch) = stem.split_once('-')?;
    Some(OffsetAndEpoch::new(
        offset.parse().ok()?,
        epoch.parse().ok()?,
    ))
}

/// What was read so far.
#[derive(Default)]
struct Reading {
    loader: Loader,
    snapshot: Option<OffsetAndEpoch>,
    end: OffsetAndEpoch,
    voters: Option<VoterSet>,
    problems: Vec<String>,
}

impl Reading {
    fn start_from(&mut self, id: OffsetAndEpoch, path: &Path) {
        match load(id, path) {
            Ok(loaded) => {
                self.voters = loaded.header.quorum.as_ref().map(|(_, it)| it.clone());
                // The one of formatting holds voters alone.
                if id != OffsetAndEpoch::default() {
                    self.snapshot = Some(id);
                    self.end = id;
                    self.loader.load(loaded);
                }
            }
            Err(error) => self.problems.push(format!("{}: {error:#}", path.display())),
        }
    }

    /// Goes on with the batches that follow and end at `at` or before.
    fn read_log(&mut self, files: &Files, at: Offset) -> anyhow::Result<()> {
        for (index, (_, path)) in files.segments.iter().enumerate() {
            let next = files.segments.get(index + 1);
            if next.is_some_and(|(start, _)| *start <= self.end.offset) {
                continue;
            }
            let mut batches = Batches::open(path)?;
            while let Some((position, batch)) = batches.next()? {
                if batch.end_offset() <= self.end.offset {
                    continue;
                }
                if batch.end_offset() > at {
                    return Ok(());
                }
                let place = || format!("{}, position {position}", path.display());
                if batch.base_offset() != self.end.offset {
                    bail!(
                        "{}: the log goes on at offset {}, but what lies before it ends at {}",
                        place(),
                        batch.base_offset(),
                        self.end.offset
                    );
                }
                if let Err(error) = batch.verify_crc() {
                    self.problems.push(format!("{}: {error}", place()));
                    return Ok(());
                }
                if batch.is_control() {
                    self.take_control(batch.control_records().with_context(place)?);
                }
                let decoded = decode_batch(&batch).with_context(place)?;
                self.loader.commit(&[decoded]).with_context(place)?;
                self.end = OffsetAndEpoch {
                    offset: batch.end_offset(),
                    epoch: batch.epoch(),
                };
            }
        }
        Ok(())
    }

    fn take_control(&mut self, records: Vec<ControlRecord>) {
        for record in records {
            if let ControlRecord::Voters(voters) = record {
                self.voters = Some(voters);
            }
        }
    }

    fn finish(mut self, dir: PathBuf) -> anyhow::Result<Found> {
        self.loader.high_watermark(self.loader.end());
        let image = self.loader.current().map(|(image, _)| image);
        if let (count @ 1.., Some(last)) = self.loader.misfits() {
            self.problems
                .push(format!("{count} records do not fit, the last: {last}"));
        }
        Ok(Found {
            dir,
            image: image.unwrap_or_default(),
            end: self.end,
            snapshot: self.snapshot,
            voters: self.voters,
            problems: self.problems,
        })
    }
}

fn load(id: OffsetAndEpoch, path: &Path) -> anyhow::Result<LoadedSnapshot> {
    let bytes = std::fs::read(path)?;
    let mut loader = SnapshotLoader::new(id);
    loader.feed(Bytes::from(bytes))?;
    Ok(loader.finish()?)
}
