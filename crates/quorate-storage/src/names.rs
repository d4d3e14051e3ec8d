//! The names of files in a log directory, as Kafka gives them.

use quorate_types::{Offset, OffsetAndEpoch};

/// The directory of the metadata log within a log directory.
pub const LOG_DIR: &str = "__cluster_metadata-0";
/// The lock of a log directory.
pub const LOCK: &str = ".lock";
/// Who and what a log directory belongs to.
pub const META_PROPERTIES: &str = "meta.properties";
/// The records that the first active controller starts from.
pub const BOOTSTRAP: &str = "bootstrap.checkpoint";
/// The vote.
pub const QUORUM_STATE: &str = "quorum-state";
/// Where each leader's epoch starts; derived from the log.
pub const LEADER_EPOCHS: &str = "leader-epoch-checkpoint";
/// The id of the log's topic.
pub const PARTITION_METADATA: &str = "partition.metadata";

/// What a file in the metadata log's directory is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum LogFile {
    /// `%020d.log`
    Segment(Offset),
    /// `%020d.log.deleted`
    DeletedSegment(Offset),
    /// `%020d.index`, `.timeindex` or `.snapshot`, which are derived
    Derived(Offset),
    /// `%020d-%010d.checkpoint`
    Snapshot(OffsetAndEpoch),
    /// Anything that an interrupted change of files left behind
    Leftover,
}

/// Reads a file's name; `None` if it is of no kind that matters here.
pub(crate) fn parse(name: &str) -> Option<LogFile> {
    if name.ends_with(".part") || name.ends_with(".tmp") {
        return Some(LogFile::Leftover);
    }
    if let Some(name) = name.strip_suffix(".deleted") {
        return match parse(name)? {
            LogFile::Segment(base) => Some(LogFile::DeletedSegment(base)),
            _ => Some(LogFile::Leftover),
        };
    }
    let (stem, kind) = name.split_once('.')?;
    match kind {
        "log" => number(stem, 20).map(|base| LogFile::Segment(Offset(base))),
        "index" | "timeindex" | "snapshot" => {
            number(stem, 20).map(|base| LogFile::Derived(Offset(base)))
        }
        "checkpoint" => snapshot_id(stem).map(LogFile::Snapshot),
        _ => None,
    }
}

/// The name of a segment's file, or of one beside it.
pub(crate) fn segment(Offset(base): Offset, kind: &str) -> String {
    format!("{base:020}.{kind}")
}

/// The name of a snapshot's file.
pub fn snapshot(id: OffsetAndEpoch) -> String {
    format!("{:020}-{:010}.checkpoint", id.offset.0, id.epoch.0)
}

/// The name of a snapshot that is being written; `serial` keeps several apart.
pub(crate) fn partial_snapshot(id: OffsetAndEpoch, serial: u64) -> String {
    format!(
        "{:020}-{:010}-{serial}.checkpoint.part",
        id.offset.0, id.epoch.0
    )
}

fn snapshot_id(stem: &str) -> Option<OffsetAndEpoch> {
    let (offset, epoch) = stem.split_once('-')?;
    let epoch = i32::try_from(number(epoch, 10)?).ok()?;
    Some(OffsetAndEpoch::new(number(offset, 20)?, epoch))
}

fn number(text: &str, digits: usize) -> Option<i64> {
    let only_digits = text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit());
    only_digits.then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_kafkas() {
        let id = OffsetAndEpoch::new(1253, 3);
        assert_eq!(snapshot(id), "00000000000000001253-0000000003.checkpoint");
        assert_eq!(segment(Offset(387), "log"), "00000000000000000387.log");
    }

    #[test]
    fn every_kind_is_known_and_nothing_else() {
        let id = OffsetAndEpoch::new(7, 2);
        let kinds = [
            (segment(Offset(7), "log"), Some(LogFile::Segment(Offset(7)))),
            (
                segment(Offset(7), "log.deleted"),
                Some(LogFile::DeletedSegment(Offset(7))),
            ),
            (
                segment(Offset(7), "index"),
                Some(LogFile::Derived(Offset(7))),
            ),
            (segment(Offset(7), "index.deleted"), Some(LogFile::Leftover)),
            (snapshot(id), Some(LogFile::Snapshot(id))),
            (snapshot(id) + ".deleted", Some(LogFile::Leftover)),
            (partial_snapshot(id, 3), Some(LogFile::Leftover)),
            ("quorum-state.tmp".into(), Some(LogFile::Leftover)),
            ("quorum-state".into(), None),
            ("7.log".into(), None),
            ("99999999999999999999.log".into(), None),
            ("0000000000000000000x.log".into(), None),
        ];
        for (name, kind) in kinds {
            assert_eq!(parse(&name), kind, "{name}");
        }
    }
}
