//! `quorate dump`: what a segment, a snapshot or `bootstrap.checkpoint` holds, as the text that
//! Kafka's own dump tool prints with its decoder for cluster metadata, or as lines of JSON.

mod batches;
mod fields;
pub mod json;
mod record;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use quorate::protocol::batch::BatchView;
use quorate::storage::names;

pub use batches::Batches;
use json::Object;

/// Print what a segment or a snapshot holds.
///
/// For the files of a metadata log: segments (`….log`), snapshots (`….checkpoint`) and
/// `bootstrap.checkpoint`. The files are only read, also while a node runs on them. The text is the
/// same as that of Kafka's `kafka-dump-log --cluster-metadata-decoder`.
#[derive(Debug, clap::Args)]
pub struct Dump {
    /// The files, each dumped in turn.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// One JSON object a line: each batch, then its records.
    #[arg(long)]
    json: bool,
}

impl Dump {
    /// Dumps the files; false if one of them is no such file or holds something unreadable.
    pub fn run(&self) -> anyhow::Result<bool> {
        let mut out = io::BufWriter::new(io::stdout().lock());
        let mut well = true;
        for path in &self.files {
            let dumped = dump(path, self.json, &mut out).and_then(|whole| {
                out.flush()?;
                Ok(whole)
            });
            match dumped {
                Ok(whole) => well &= whole,
                Err(error) if is_broken_pipe(&error) => return Ok(well),
                Err(error) => return Err(error),
            }
        }
        Ok(well)
    }
}

/// Whether whoever read the output has seen enough of it.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let io = error.downcast_ref::<io::Error>();
    io.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

/// Dumps one file; whether all of it could be read.
fn dump(path: &Path, as_json: bool, out: &mut impl Write) -> anyhow::Result<bool> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if !name.ends_with(".log") && !name.ends_with(".checkpoint") {
        anyhow::bail!(
            "{}: neither a segment (.log) nor a snapshot (.checkpoint)",
            path.display()
        );
    }
    if !as_json {
        writeln!(out, "Dumping {}", path.display())?;
        if let Some(line) = headline(&name) {
            writeln!(out, "{line}")?;
        }
    }
    let mut batches = Batches::open(path)?;
    let mut whole = true;
    while let Some((position, batch)) = batches
        .next()
        .with_context(|| format!("cannot read {}", path.display()))?
    {
        whole &= batch.verify_crc().is_ok();
        if as_json {
            writeln!(out, "{}", batch_json(&name, position, &batch))?;
        } else {
            writeln!(out, "{}", batch_text(position, &batch))?;
        }
        whole &= record::write(&name, &batch, as_json, out)?;
    }
    let (trailing, why) = batches.trailing()?;
    if trailing > 0 {
        if !as_json {
            writeln!(out, "Found {trailing} invalid bytes at the end of {name}")?;
        }
        out.flush()?;
        let why = why.map(|error| format!(" ({error})")).unwrap_or_default();
        eprintln!(
            "quorate: {}: the last {trailing} bytes are no batch{why}",
            path.display()
        );
    }
    Ok(whole && trailing == 0)
}

/// What a file's name says.
fn headline(name: &str) -> Option<String> {
    if name == names::BOOTSTRAP {
        return Some("KRaft bootstrap snapshot".into());
    }
    let (stem, extension) = name.rsplit_once('.')?;
    if extension == "log" {
        let start: i64 = stem.parse().ok()?;
        return Some(format!("Log starting offset: {start}"));
    }
    let (end, epoch) = stem.split_once('-')?;
    let (end, epoch): (i64, i32) = (end.parse().ok()?, epoch.parse().ok()?);
    Some(format!("Snapshot end offset: {end}, epoch: {epoch}"))
}

/// The parts of a batch's header that only a dump shows.
struct Header {
    last_offset: i64,
    producer_id: i64,
    producer_epoch: i16,
    base_sequence: i32,
    last_sequence: i32,
    transactional: bool,
    delete_horizon: Option<i64>,
    timestamp_type: &'static str,
    max_timestamp: i64,
    compression: &'static str,
    valid: bool,
}

impl Header {
    fn of(batch: &BatchView) -> Header {
        let bytes = batch.bytes();
        let i32_at = |at: usize| i32::from_be_bytes(array_at(bytes, at));
        let i64_at = |at: usize| i64::from_be_bytes(array_at(bytes, at));
        let attributes = batch.header().attributes;
        let count = batch.header().count;
        let base_sequence = i32_at(53);
        Header {
            last_offset: batch.end_offset().0 - 1,
            producer_id: i64_at(43),
            producer_epoch: i16::from_be_bytes(array_at(bytes, 51)),
            base_sequence,
            last_sequence: match base_sequence {
                -1 => -1,
                // Sequence numbers start over after the greatest.
                base => base.wrapping_add(count - 1) & i32::MAX,
            },
            transactional: attributes & 0x10 != 0,
            delete_horizon: (attributes & 0x40 != 0).then(|| i64_at(27)),
            timestamp_type: record::timestamp_type(batch),
            max_timestamp: i64_at(35),
            compression: match attributes & 7 {
                0 => "none",
                1 => "gzip",
                2 => "snappy",
                3 => "lz4",
                4 => "zstd",
                _ => "unknown",
            },
            valid: batch.verify_crc().is_ok(),
        }
    }
}

/// Bytes of a batch's header, which a batch always has.
fn array_at<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    std::array::from_fn(|index| bytes.get(at + index).copied().unwrap_or(0))
}

fn batch_text(position: u64, batch: &BatchView) -> String {
    let header = Header::of(batch);
    let horizon = match header.delete_horizon {
        Some(at) => format!("OptionalLong[{at}]"),
        None => "OptionalLong.empty".into(),
    };
    format!(
        "baseOffset: {} lastOffset: {} count: {} baseSequence: {} lastSequence: {} \
         producerId: {} producerEpoch: {} partitionLeaderEpoch: {} isTransactional: {} \
         isControl: {} deleteHorizonMs: {horizon} position: {position} {}: {} size: {} magic: 2 \
         compresscodec: {} crc: {} isvalid: {}",
        batch.base_offset(),
        header.last_offset,
        batch.count(),
        header.base_sequence,
        header.last_sequence,
        header.producer_id,
        header.producer_epoch,
        batch.epoch(),
        header.transactional,
        batch.is_control(),
        header.timestamp_type,
        header.max_timestamp,
        batch.size(),
        header.compression,
        batch.header().crc,
        header.valid,
    )
}

fn batch_json(file: &str, position: u64, batch: &BatchView) -> String {
    let header = Header::of(batch);
    let mut out = String::new();
    let mut object = Object::open(&mut out);
    object.field("file", &file, 0);
    object.raw("kind", "\"batch\"");
    object.field("baseOffset", &batch.base_offset().0, 0);
    object.field("lastOffset", &header.last_offset, 0);
    object.field("count", &batch.count(), 0);
    object.field("epoch", &batch.epoch().0, 0);
    object.field("isControl", &batch.is_control(), 0);
    object.field("timestamp", &header.max_timestamp, 0);
    object.field("position", &position, 0);
    object.field("size", &batch.size(), 0);
    object.field("compression", &header.compression, 0);
    object.field("crc", &batch.header().crc, 0);
    object.field("isValid", &header.valid, 0);
    object.close();
    out
}
