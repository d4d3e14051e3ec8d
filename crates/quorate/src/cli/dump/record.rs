//! The records of a batch, as text or JSON.

use std::io::{self, Write};

use bytes::Bytes;
use quorate::protocol::batch::{BatchView, RawRecord};
use quorate::protocol::codec::{DecodeError, Message, Reader};
use quorate::protocol::control::{
    KRaftVersionRecord, LeaderChangeMessage, SnapshotFooterRecord, SnapshotHeaderRecord,
    VotersRecord,
};
use quorate::protocol::records::VersionedRecord;

use super::json::{Json, Object, to_json};

/// What a record is, in the two ways in which dumps tell it.
struct Content {
    /// The type as it stands in the text of a control record, colon included where it has one.
    label: &'static str,
    /// The type as it stands in JSON.
    kind: String,
    version: i16,
    data: String,
}

/// Writes the records of a batch; whether all could be read.
pub fn write(
    file: &str,
    batch: &BatchView,
    as_json: bool,
    out: &mut impl Write,
) -> io::Result<bool> {
    let mut whole = true;
    for (offset, record) in (batch.base_offset().0..).zip(batch.raw_records()) {
        let content = match record {
            Ok(record) => {
                if !as_json {
                    write!(out, "{}", prefix(offset, batch, &record))?;
                }
                match batch.is_control() {
                    true => control(&record),
                    false => metadata(&record.value),
                }
                .map_err(|error| error.to_string())
            }
            Err(error) => {
                if !as_json {
                    write!(out, "| offset: {offset}")?;
                }
                Err(error.to_string())
            }
        };
        whole &= content.is_ok();
        if as_json {
            writeln!(out, "{}", line(file, offset, batch, content))?;
        } else {
            writeln!(out, "{}", suffix(offset, batch, content))?;
        }
    }
    Ok(whole)
}

/// Whether timestamps are those of creation or of the append.
pub fn timestamp_type(batch: &BatchView) -> &'static str {
    match batch.header().attributes & 0x08 {
        0 => "CreateTime",
        _ => "LogAppendTime",
    }
}

fn prefix(offset: i64, batch: &BatchView, record: &RawRecord) -> String {
    let key_size = record
        .key
        .as_ref()
        .map_or("-1".to_owned(), |key| key.len().to_string());
    format!(
        "| offset: {offset} {}: {} keySize: {key_size} valueSize: {} sequence: -1 headerKeys: []",
        timestamp_type(batch),
        batch.timestamp().0,
        record.value.len(),
    )
}

fn suffix(offset: i64, batch: &BatchView, content: Result<Content, String>) -> String {
    match content {
        Ok(content) if batch.is_control() => format!(" {} {}", content.label, content.data),
        Ok(content) => format!(
            " payload: {{\"type\":\"{}\",\"version\":{},\"data\":{}}}",
            content.kind, content.version, content.data
        ),
        Err(problem) => format!(" payload: Error at {offset}, skipping. {problem}"),
    }
}

fn line(file: &str, offset: i64, batch: &BatchView, content: Result<Content, String>) -> String {
    let mut out = String::new();
    let mut object = Object::open(&mut out);
    object.field("file", &file, 0);
    object.raw("kind", "\"record\"");
    object.field("offset", &offset, 0);
    object.field("epoch", &batch.epoch().0, 0);
    object.field("timestamp", &batch.timestamp().0, 0);
    match content {
        Ok(content) => {
            object.field("type", &content.kind, 0);
            object.field("version", &content.version, 0);
            object.raw("data", &content.data);
        }
        Err(problem) => object.field("error", &problem, 0),
    }
    object.close();
    out
}

fn metadata(value: &Bytes) -> Result<Content, DecodeError> {
    let record = VersionedRecord::decode_frame(value)?;
    Ok(Content {
        label: "",
        kind: type_name(record.data.name()),
        version: record.version,
        data: to_json(&record.data, record.version),
    })
}

fn control(record: &RawRecord) -> Result<Content, DecodeError> {
    let key = record.key.clone().unwrap_or_default();
    // Whether it is one that is known, and whole.
    quorate::protocol::control::decode(&key, &record.value)?;
    let value = &record.value;
    match key.last() {
        Some(2) => body::<LeaderChangeMessage>("LeaderChange:", "LEADER_CHANGE", value),
        Some(3) => body::<SnapshotHeaderRecord>("SnapshotHeader", "SNAPSHOT_HEADER", value),
        Some(4) => body::<SnapshotFooterRecord>("SnapshotFooter", "SNAPSHOT_FOOTER", value),
        Some(5) => body::<KRaftVersionRecord>("KRaftVersion", "KRAFT_VERSION", value),
        _ => body::<VotersRecord>("KRaftVoters", "KRAFT_VOTERS", value),
    }
}

fn body<M: Message + Json>(
    label: &'static str,
    kind: &str,
    value: &Bytes,
) -> Result<Content, DecodeError> {
    let message = M::decode(0, &mut Reader::of(value))?;
    Ok(Content {
        label,
        kind: kind.into(),
        version: 0,
        data: to_json(&message, 0),
    })
}

/// `FeatureLevelRecord` as `FEATURE_LEVEL_RECORD`.
fn type_name(name: &str) -> String {
    let mut text = String::with_capacity(name.len() + 4);
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !text.is_empty() {
            text.push('_');
        }
        text.push(letter.to_ascii_uppercase());
    }
    text
}

#[cfg(test)]
mod tests {
    use quorate::protocol::records::MetadataRecord;
    use serde_json::Value;

    use super::*;

    #[test]
    fn every_recorded_record_has_kafkas_json() {
        let vectors =
            include_str!("../../../../quorate-protocol/tests/data/metadata-records.jsonl");
        let mut seen = 0;
        for line in vectors.lines() {
            let vector: Value = serde_json::from_str(line).unwrap();
            let text = |key: &str| vector[key].as_str().unwrap().to_owned();
            let hex = text("hex");
            let bytes: Bytes = (0..hex.len())
                .step_by(2)
                .map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap())
                .collect();
            let key = vector["apiKey"].as_u64().unwrap();
            let version = i16::try_from(vector["version"].as_i64().unwrap()).unwrap();
            let key = u32::try_from(key).unwrap();
            let record = MetadataRecord::read_body(key, version, &mut Reader::of(&bytes)).unwrap();
            let json: Value = serde_json::from_str(&to_json(&record, version)).unwrap();
            assert_eq!(json, vector["json"], "{} {version}", text("message"));
            seen += 1;
        }
        assert!(seen > 200);
    }

    #[test]
    fn type_names_are_kafkas() {
        for (name, shown) in [
            ("NoOpRecord", "NO_OP_RECORD"),
            ("FeatureLevelRecord", "FEATURE_LEVEL_RECORD"),
        ] {
            assert_eq!(type_name(name), shown);
        }
    }
}
