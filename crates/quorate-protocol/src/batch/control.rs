//! Control records: what Raft itself writes into the log and what opens and closes a snapshot.
//!
//! The key is two int16, a version 0 and the type; the value is a message whose first field repeats
//! its version. All are written and read as version 0, as Kafka 4.2 does.

use bytes::{BufMut, Bytes, BytesMut};
use quorate_types::{
    ControlRecord, DirectoryId, Endpoint, KRaftVersion, NodeId, Uuid, VersionRange, Voter,
    VoterSet, WallTime,
};

use super::{BatchError, MAX_BATCH_BYTES, RawRecord, body::Body, varint};

const LEADER_CHANGE: i16 = 2;
const SNAPSHOT_HEADER: i16 = 3;
const SNAPSHOT_FOOTER: i16 = 4;
const KRAFT_VERSION: i16 = 5;
const KRAFT_VOTERS: i16 = 6;

/// Key and value of a control record.
pub(super) fn encode(record: &ControlRecord) -> Result<(Bytes, Bytes), BatchError> {
    let mut value = BytesMut::new();
    value.put_i16(0);
    let kind = match record {
        ControlRecord::LeaderChange {
            leader,
            voters,
            granting,
        } => {
            value.put_i32(leader.0);
            put_voter_ids(&mut value, voters);
            put_voter_ids(&mut value, granting);
            LEADER_CHANGE
        }
        ControlRecord::SnapshotHeader { last_contained } => {
            value.put_i64(last_contained.0);
            SNAPSHOT_HEADER
        }
        ControlRecord::SnapshotFooter => SNAPSHOT_FOOTER,
        ControlRecord::KRaftVersion(version) => {
            value.put_i16(version.0);
            KRAFT_VERSION
        }
        ControlRecord::Voters(voters) => {
            put_voters(&mut value, voters);
            KRAFT_VOTERS
        }
    };
    put_no_tags(&mut value);
    if value.len() > MAX_BATCH_BYTES {
        return Err(BatchError::TooLarge { size: value.len() });
    }
    let mut key = BytesMut::with_capacity(4);
    key.put_i16(0);
    key.put_i16(kind);
    Ok((key.freeze(), value.freeze()))
}

/// The control record that stands at `index` of the batch at `base`.
pub(super) fn decode(
    record: &RawRecord,
    base: i64,
    index: usize,
) -> Result<ControlRecord, BatchError> {
    let malformed = |what| BatchError::Record { base, index, what };
    let key = record.key.as_deref().unwrap_or_default();
    let &[v0, v1, k0, k1] = key else {
        return Err(malformed("a control record's key has 4 bytes"));
    };
    let version = i16::from_be_bytes([v0, v1]);
    let kind = i16::from_be_bytes([k0, k1]);
    if version != 0 || !(LEADER_CHANGE..=KRAFT_VOTERS).contains(&kind) {
        return Err(BatchError::ControlKind { kind, version });
    }
    let mut body = Body(&record.value);
    decode_body(kind, &mut body)
        .filter(|_| body.0.is_empty())
        .ok_or_else(|| malformed("its control record is malformed"))
}

fn decode_body(kind: i16, body: &mut Body<'_>) -> Option<ControlRecord> {
    let _version = body.i16()?;
    let record = match kind {
        LEADER_CHANGE => ControlRecord::LeaderChange {
            leader: NodeId(body.i32()?),
            voters: body.array(voter_id)?,
            granting: body.array(voter_id)?,
        },
        SNAPSHOT_HEADER => ControlRecord::SnapshotHeader {
            last_contained: WallTime(body.i64()?),
        },
        SNAPSHOT_FOOTER => ControlRecord::SnapshotFooter,
        KRAFT_VERSION => ControlRecord::KRaftVersion(KRaftVersion(body.i16()?)),
        _ => ControlRecord::Voters(voters(body)?),
    };
    body.tags()?;
    Some(record)
}

fn voter_id(body: &mut Body<'_>) -> Option<NodeId> {
    let id = NodeId(body.i32()?);
    body.tags()?;
    Some(id)
}

fn voters(body: &mut Body<'_>) -> Option<VoterSet> {
    let listed = body.array(voter)?;
    let count = listed.len();
    let voters: VoterSet = listed.into_iter().collect();
    (voters.len() == count).then_some(voters)
}

fn voter(body: &mut Body<'_>) -> Option<(NodeId, Voter)> {
    let id = NodeId(body.i32()?);
    let directory = Uuid(body.take()?).non_zero().map(DirectoryId);
    let endpoints = body.array(endpoint)?;
    let kraft_versions = VersionRange {
        min: body.i16()?,
        max: body.i16()?,
    };
    body.tags()?; // of the range
    body.tags()?;
    let voter = Voter {
        directory,
        endpoints,
        kraft_versions,
    };
    Some((id, voter))
}

fn endpoint(body: &mut Body<'_>) -> Option<Endpoint> {
    let endpoint = Endpoint {
        name: body.string()?,
        host: body.string()?,
        port: body.i16()? as u16,
    };
    body.tags()?;
    Some(endpoint)
}

fn put_voter_ids(value: &mut BytesMut, ids: &[NodeId]) {
    put_length(value, ids.len());
    for id in ids {
        value.put_i32(id.0);
        put_no_tags(value);
    }
}

fn put_voters(value: &mut BytesMut, voters: &VoterSet) {
    put_length(value, voters.len());
    for (id, voter) in voters.iter() {
        value.put_i32(id.0);
        value.put_slice(&voter.directory.map_or(Uuid::ZERO, Uuid::from).0);
        put_length(value, voter.endpoints.len());
        for endpoint in &voter.endpoints {
            put_string(value, &endpoint.name);
            put_string(value, &endpoint.host);
            value.put_u16(endpoint.port);
            put_no_tags(value);
        }
        value.put_i16(voter.kraft_versions.min);
        value.put_i16(voter.kraft_versions.max);
        put_no_tags(value); // of the range
        put_no_tags(value);
    }
}

/// A compact length, which is one more than the length.
fn put_length(value: &mut BytesMut, length: usize) {
    varint::put_unsigned(
        value,
        u32::try_from(length).map_or(u32::MAX, |length| length + 1),
    );
}

fn put_string(value: &mut BytesMut, text: &str) {
    put_length(value, text.len());
    value.put_slice(text.as_bytes());
}

fn put_no_tags(value: &mut BytesMut) {
    varint::put_unsigned(value, 0);
}
