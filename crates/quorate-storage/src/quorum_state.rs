//! `quorum-state`: who leads this epoch as far as the node knows, and whom it voted for.
//!
//! One line of JSON in one of two versions; which is written follows the `kraft.version` in the log,
//! both are read. Losing this file may let a node vote twice in an epoch, so it is replaced by
//! temporary file, fsync, rename and directory fsync, and one that cannot be read is never taken for
//! none.

use std::fmt::Write as _;

use quorate_types::{DirectoryId, Epoch, KRaftVersion, NodeId, ReplicaKey, Uuid};
use serde_json::Value;

use crate::error::Malformed;

/// What the file says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct QuorumState {
    /// The epoch.
    pub epoch: Epoch,
    /// Its leader, if known.
    pub leader: Option<NodeId>,
    /// Whom this node voted for in the epoch; the directory only from version 1 on.
    pub voted: Option<ReplicaKey>,
    /// The static voters, in version 0 only.
    pub voters: Vec<NodeId>,
}

impl QuorumState {
    /// The file's bytes: version 0 at `kraft.version` 0, else version 1.
    pub fn encode(&self, kraft_version: KRaftVersion) -> Vec<u8> {
        let leader = NodeId::to_wire(self.leader);
        let epoch = self.epoch;
        let voted = NodeId::to_wire(self.voted.map(|key| key.id));
        let mut text = String::new();
        // Writing into a string cannot fail.
        let _ = if kraft_version == KRaftVersion::STATIC {
            let voters: Vec<String> = self
                .voters
                .iter()
                .map(|id| format!("{{\"voterId\":{id}}}"))
                .collect();
            write!(
                text,
                "{{\"clusterId\":\"\",\"leaderId\":{leader},\"leaderEpoch\":{epoch},\
                 \"votedId\":{voted},\"appliedOffset\":0,\"currentVoters\":[{}],\
                 \"data_version\":0}}",
                voters.join(",")
            )
        } else {
            let directory = self.voted.and_then(|key| key.directory);
            write!(
                text,
                "{{\"leaderId\":{leader},\"leaderEpoch\":{epoch},\"votedId\":{voted},\
                 \"votedDirectoryId\":\"{}\",\"data_version\":1}}",
                directory.map_or(Uuid::ZERO, Uuid::from)
            )
        };
        text.into_bytes()
    }

    /// Reads the file's bytes, of either version.
    pub fn decode(bytes: &[u8]) -> Result<QuorumState, Malformed> {
        if bytes.iter().all(u8::is_ascii_whitespace) {
            return Err(Malformed::Empty);
        }
        let json: Value =
            serde_json::from_slice(bytes).map_err(|_| Malformed::Syntax("JSON object"))?;
        let version = integer(&json, "data_version")?;
        if !(0..=1).contains(&version) {
            return Err(Malformed::Version(version));
        }
        let epoch = small(&json, "leaderEpoch")?;
        if epoch < 0 {
            return Err(bad("leaderEpoch", epoch));
        }
        let directory = match version {
            0 => None,
            _ => voted_directory(&json)?,
        };
        let voted = NodeId::from_wire(small(&json, "votedId")?);
        Ok(QuorumState {
            epoch: Epoch(epoch),
            leader: NodeId::from_wire(small(&json, "leaderId")?),
            voted: voted.map(|id| ReplicaKey::new(id, directory)),
            voters: if version == 0 {
                voters(&json)?
            } else {
                Vec::new()
            },
        })
    }
}

fn voted_directory(json: &Value) -> Result<Option<DirectoryId>, Malformed> {
    const FIELD: &str = "votedDirectoryId";
    let text = json.get(FIELD).ok_or(Malformed::Missing(FIELD))?;
    let uuid: Option<Uuid> = text.as_str().and_then(|text| text.parse().ok());
    let uuid = uuid.ok_or_else(|| bad(FIELD, text))?;
    Ok(uuid.non_zero().map(DirectoryId))
}

fn voters(json: &Value) -> Result<Vec<NodeId>, Malformed> {
    const FIELD: &str = "currentVoters";
    match json.get(FIELD).ok_or(Malformed::Missing(FIELD))? {
        Value::Null => Ok(Vec::new()),
        Value::Array(voters) => voters
            .iter()
            .map(|voter| small(voter, "voterId").map(NodeId))
            .collect(),
        other => Err(bad(FIELD, other)),
    }
}

fn small(json: &Value, field: &'static str) -> Result<i32, Malformed> {
    let value = integer(json, field)?;
    i32::try_from(value).map_err(|_| bad(field, value))
}

fn integer(json: &Value, field: &'static str) -> Result<i64, Malformed> {
    let value = json.get(field).ok_or(Malformed::Missing(field))?;
    value.as_i64().ok_or_else(|| bad(field, value))
}

fn bad(field: &'static str, value: impl std::fmt::Display) -> Malformed {
    let value = value.to_string().chars().take(100).collect();
    Malformed::Value { field, value }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const V0: &str = "{\"clusterId\":\"\",\"leaderId\":1,\"leaderEpoch\":2,\"votedId\":-1,\
        \"appliedOffset\":0,\"currentVoters\":[{\"voterId\":1},{\"voterId\":2}],\"data_version\":0}";
    const V1: &str = "{\"leaderId\":7,\"leaderEpoch\":4,\"votedId\":7,\
        \"votedDirectoryId\":\"1Xe5CGczspBzjbYnWJDTzw\",\"data_version\":1}";

    #[test]
    fn both_versions_are_read_and_written_as_kafka_writes_them() {
        for (text, version) in [(V0, KRaftVersion::STATIC), (V1, KRaftVersion::DYNAMIC)] {
            let state = QuorumState::decode(text.as_bytes()).unwrap();
            assert_eq!(String::from_utf8(state.encode(version)).unwrap(), text);
        }
        let v1 = QuorumState::decode(V1.as_bytes()).unwrap();
        assert_eq!((v1.epoch, v1.leader), (Epoch(4), Some(NodeId(7))));
        assert!(v1.voted.unwrap().directory.is_some());
    }

    #[test]
    fn a_newer_version_is_not_guessed_at() {
        let text = V1.replace("\"data_version\":1", "\"data_version\":2");
        assert_eq!(
            QuorumState::decode(text.as_bytes()),
            Err(Malformed::Version(2))
        );
    }

    #[test]
    fn every_half_of_a_file_is_refused() {
        for text in [V0, V1] {
            for length in 0..text.len() {
                let half = &text.as_bytes()[..length];
                assert!(QuorumState::decode(half).is_err(), "{length} bytes");
            }
        }
        assert_eq!(QuorumState::decode(b"\n"), Err(Malformed::Empty));
    }

    proptest! {
        #[test]
        fn states_come_back(epoch in 0..i32::MAX, leader in -1..9, voted in -1..9, id: [u8; 16]) {
            let directory = Uuid(id).non_zero().map(DirectoryId);
            let state = QuorumState {
                epoch: Epoch(epoch),
                leader: NodeId::from_wire(leader),
                voted: NodeId::from_wire(voted).map(|id| ReplicaKey::new(id, directory)),
                voters: Vec::new(),
            };
            let bytes = state.encode(KRaftVersion::DYNAMIC);
            prop_assert_eq!(QuorumState::decode(&bytes), Ok(state));
        }

        #[test]
        fn arbitrary_bytes_are_no_panic(bytes: Vec<u8>) {
            let _ = QuorumState::decode(&bytes);
        }
    }
}
