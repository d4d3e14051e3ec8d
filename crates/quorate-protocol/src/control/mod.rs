//! Control records: the part of the log that raft writes for itself.
//!
//! A control record's key says its type, its value is the body. [`encode`] and [`decode`] go between
//! these bytes and [`ControlRecord`]; the bodies as they are written are structs of their own.

mod bodies;

pub use bodies::{
    KRaftVersionFeature, KRaftVersionRecord, LeaderChangeMessage, LeaderChangeVoter,
    SnapshotFooterRecord, SnapshotHeaderRecord, VoterData, VoterEndpoint, VotersRecord,
};

use bytes::Bytes;
use quorate_types::{
    ControlRecord, DirectoryId, Endpoint, KRaftVersion, NodeId, Uuid, VersionRange, Voter,
    VoterSet, WallTime,
};

use crate::codec::{DecodeError, DecodeProblem, EncodeError, Message, Reader};

/// The version in which every body is written and read.
const VERSION: i16 = 0;

const LEADER_CHANGE: i16 = 2;
const SNAPSHOT_HEADER: i16 = 3;
const SNAPSHOT_FOOTER: i16 = 4;
const KRAFT_VERSION: i16 = 5;
const KRAFT_VOTERS: i16 = 6;

/// Key and value of a control record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ControlBytes {
    /// The key: a version and the type.
    pub key: Bytes,
    /// The value: the body.
    pub value: Bytes,
}

/// Writes a control record.
///
/// ```
/// use quorate_protocol::control;
/// use quorate_types::{ControlRecord, KRaftVersion};
///
/// let record = ControlRecord::KRaftVersion(KRaftVersion::DYNAMIC);
/// let bytes = control::encode(&record)?;
/// assert_eq!(&bytes.key[..], [0, 0, 0, 5]);
/// assert_eq!(control::decode(&bytes.key, &bytes.value)?, record);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn encode(record: &ControlRecord) -> Result<ControlBytes, EncodeError> {
    let (kind, value) = match record {
        ControlRecord::LeaderChange {
            leader,
            voters,
            granting,
        } => (
            LEADER_CHANGE,
            leader_change(*leader, voters, granting).to_bytes(VERSION)?,
        ),
        ControlRecord::SnapshotHeader { last_contained } => {
            let header = SnapshotHeaderRecord {
                last_contained_log_timestamp: last_contained.0,
                ..SnapshotHeaderRecord::default()
            };
            (SNAPSHOT_HEADER, header.to_bytes(VERSION)?)
        }
        ControlRecord::SnapshotFooter => (
            SNAPSHOT_FOOTER,
            SnapshotFooterRecord::default().to_bytes(VERSION)?,
        ),
        ControlRecord::KRaftVersion(level) => {
            let version = KRaftVersionRecord {
                kraft_version: level.0,
                ..KRaftVersionRecord::default()
            };
            (KRAFT_VERSION, version.to_bytes(VERSION)?)
        }
        ControlRecord::Voters(voters) => {
            (KRAFT_VOTERS, VotersRecord::from(voters).to_bytes(VERSION)?)
        }
    };
    let mut key = [0; 4];
    key[2..].copy_from_slice(&kind.to_be_bytes());
    Ok(ControlBytes {
        key: Bytes::copy_from_slice(&key),
        value,
    })
}

/// Reads a control record. Types that are not known are an error, as in Kafka.
pub fn decode(key: &Bytes, value: &Bytes) -> Result<ControlRecord, DecodeError> {
    let mut key = Reader::of(key);
    let version = key.read_i16()?;
    if version < 0 {
        return Err(key.error(DecodeProblem::Invalid {
            reason: "the key of a control record has a negative version",
        }));
    }
    let kind = key.read_i16()?;
    let mut reader = Reader::of(value);
    let record = match kind {
        LEADER_CHANGE => {
            let body = LeaderChangeMessage::decode(VERSION, &mut reader)?;
            let ids = |voters: Vec<LeaderChangeVoter>| {
                voters.iter().map(|voter| NodeId(voter.voter_id)).collect()
            };
            ControlRecord::LeaderChange {
                leader: NodeId(body.leader_id),
                voters: ids(body.voters),
                granting: ids(body.granting_voters),
            }
        }
        SNAPSHOT_HEADER => {
            let body = SnapshotHeaderRecord::decode(VERSION, &mut reader)?;
            ControlRecord::SnapshotHeader {
                last_contained: WallTime(body.last_contained_log_timestamp),
            }
        }
        SNAPSHOT_FOOTER => {
            SnapshotFooterRecord::decode(VERSION, &mut reader)?;
            ControlRecord::SnapshotFooter
        }
        KRAFT_VERSION => {
            let body = KRaftVersionRecord::decode(VERSION, &mut reader)?;
            ControlRecord::KRaftVersion(KRaftVersion(body.kraft_version))
        }
        KRAFT_VOTERS => {
            let body = VotersRecord::decode(VERSION, &mut reader)?;
            ControlRecord::Voters(voter_set(body, &reader)?)
        }
        kind => return Err(key.error(DecodeProblem::UnknownControlType { kind })),
    };
    reader.finish()?;
    Ok(record)
}

fn leader_change(leader: NodeId, voters: &[NodeId], granting: &[NodeId]) -> LeaderChangeMessage {
    let list = |ids: &[NodeId]| {
        ids.iter()
            .map(|id| LeaderChangeVoter {
                voter_id: id.0,
                ..LeaderChangeVoter::default()
            })
            .collect()
    };
    LeaderChangeMessage {
        leader_id: leader.0,
        voters: list(voters),
        granting_voters: list(granting),
        ..LeaderChangeMessage::default()
    }
}

impl From<&VoterSet> for VotersRecord {
    fn from(voters: &VoterSet) -> VotersRecord {
        let voters = voters
            .iter()
            .map(|(id, voter)| VoterData {
                voter_id: id.0,
                voter_directory_id: voter.directory.map_or(Uuid::ZERO, Uuid::from),
                endpoints: voter.endpoints.iter().map(VoterEndpoint::from).collect(),
                kraft_version_feature: KRaftVersionFeature {
                    min_supported_version: voter.kraft_versions.min,
                    max_supported_version: voter.kraft_versions.max,
                    ..KRaftVersionFeature::default()
                },
                ..VoterData::default()
            })
            .collect();
        VotersRecord {
            voters,
            ..VotersRecord::default()
        }
    }
}

impl From<&Endpoint> for VoterEndpoint {
    fn from(endpoint: &Endpoint) -> VoterEndpoint {
        VoterEndpoint {
            name: endpoint.name.clone(),
            host: endpoint.host.clone(),
            port: endpoint.port,
            ..VoterEndpoint::default()
        }
    }
}

fn voter_set(body: VotersRecord, reader: &Reader<'_>) -> Result<VoterSet, DecodeError> {
    let invalid = |reason| reader.error(DecodeProblem::Invalid { reason });
    let mut voters = VoterSet::default();
    for data in body.voters {
        let id = NodeId(data.voter_id);
        if id.0 < 0 {
            return Err(invalid("a voter has a negative id"));
        }
        if voters.contains_id(id) {
            return Err(invalid("a voter is listed twice"));
        }
        let endpoints = data.endpoints.into_iter().map(|endpoint| Endpoint {
            name: endpoint.name,
            host: endpoint.host,
            port: endpoint.port,
        });
        let voter = Voter {
            directory: data.voter_directory_id.non_zero().map(DirectoryId),
            endpoints: endpoints.collect(),
            kraft_versions: VersionRange {
                min: data.kraft_version_feature.min_supported_version,
                max: data.kraft_version_feature.max_supported_version,
            },
        };
        voters = voters.with(id, voter);
    }
    Ok(voters)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn voters() -> VoterSet {
        let endpoint = Endpoint {
            name: "CONTROLLER".into(),
            host: "localhost".into(),
            port: 65_535,
        };
        let dynamic = Voter {
            directory: Some(DirectoryId(Uuid([7; 16]))),
            endpoints: vec![endpoint],
            kraft_versions: VersionRange { min: 0, max: 1 },
        };
        VoterSet::of_ids([1]).with(NodeId(2), dynamic)
    }

    #[test]
    fn every_type_comes_back() {
        let records = [
            ControlRecord::LeaderChange {
                leader: NodeId(1),
                voters: vec![NodeId(1), NodeId(2)],
                granting: vec![NodeId(2)],
            },
            ControlRecord::KRaftVersion(KRaftVersion(1)),
            ControlRecord::Voters(voters()),
            ControlRecord::SnapshotHeader {
                last_contained: WallTime(1_700_000_000_000),
            },
            ControlRecord::SnapshotFooter,
        ];
        for record in records {
            let bytes = encode(&record).unwrap();
            assert_eq!(decode(&bytes.key, &bytes.value), Ok(record));
        }
    }

    #[test]
    fn a_voter_listed_twice_is_refused() {
        let mut body = VotersRecord::from(&voters());
        body.voters.push(body.voters[0].clone());
        let value = body.to_bytes(VERSION).unwrap();
        let key = Bytes::from_static(&[0, 0, 0, 6]);
        let error = decode(&key, &value).unwrap_err();
        assert_eq!(
            error.problem(),
            DecodeProblem::Invalid {
                reason: "a voter is listed twice"
            }
        );
    }

    #[test]
    fn unknown_types_are_refused() {
        let key = Bytes::from_static(&[0, 0, 0, 9]);
        assert_eq!(
            decode(&key, &Bytes::new()).unwrap_err().problem(),
            DecodeProblem::UnknownControlType { kind: 9 }
        );
    }
}
