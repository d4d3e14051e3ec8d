//! Frames and disk jobs as words, for people who read a history.

use bytes::Bytes;
use quorate_protocol::codec::Reader;
use quorate_protocol::messages::{ApiKey, RequestHeader};
use quorate_server::disk::{DiskJob, DiskOp};
use quorate_server::io::Input;
use quorate_types::NodeId;

/// A frame that leaves a process.
pub(crate) fn sent(frame: &Bytes, asks: bool, to: Option<NodeId>) -> String {
    let to = to.map_or_else(|| "nobody".to_owned(), |id| id.to_string());
    if !asks {
        return format!("answers {to} with {} bytes", frame.len());
    }
    match RequestHeader::read_from(&mut Reader::of(frame)) {
        Ok(header) => {
            let api = ApiKey::from_code(header.api_key);
            format!(
                "asks {to}: {} v{} #{}",
                api.name(),
                header.api_version,
                header.correlation_id
            )
        }
        Err(_) => format!("sends {} bytes to {to}", frame.len()),
    }
}

/// What a process learns, unless it is a frame or a disk's report.
pub(crate) fn input(input: &Input) -> Option<String> {
    match input {
        Input::ConnectFailed { refused: true, .. } => Some("is refused a connection".to_owned()),
        Input::ConnectFailed { refused: false, .. } => Some("cannot connect".to_owned()),
        Input::Closed { conn } => Some(format!("sees {conn:?} closed")),
        Input::Shutdown => Some("is told to stop".to_owned()),
        _ => None,
    }
}

/// A disk job.
pub(crate) fn job(job: &DiskJob) -> Option<String> {
    let DiskJob::Write { seq, op } = job else {
        return None;
    };
    let what = match op {
        DiskOp::SaveElection { state, .. } => {
            let voted = state
                .voted
                .map_or_else(|| "nobody".to_owned(), |key| key.id.to_string());
            let leader = state
                .leader
                .map_or_else(|| "nobody".to_owned(), |id| id.to_string());
            format!(
                "saves epoch {}, leader {leader}, vote for {voted}",
                state.epoch
            )
        }
        DiskOp::Append { batches } => {
            let bytes: usize = batches.iter().map(Bytes::len).sum();
            format!("appends {} batches, {bytes} bytes", batches.len())
        }
        DiskOp::Truncate { end } => format!("cuts its log to {end}"),
        DiskOp::SnapshotChunk {
            id,
            position,
            bytes,
        } => {
            format!(
                "writes {} bytes of snapshot {id} at {position}",
                bytes.len()
            )
        }
        DiskOp::InstallSnapshot { id } => format!("installs snapshot {id}"),
        DiskOp::DropSnapshot { id } => format!("drops what it has of snapshot {id}"),
    };
    Some(format!("disk {}: {what}", seq.0))
}
