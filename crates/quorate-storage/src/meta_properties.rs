//! `meta.properties`: which cluster, node and directory a log directory belongs to.

use std::collections::BTreeMap;
use std::path::Path;

use quorate_types::{DirectoryId, NodeId, WallTime};

use crate::error::{At, Malformed, StorageError};
use crate::names::META_PROPERTIES;
use crate::properties;
use crate::vfs::{Vfs, replace_file};

/// More than any honest file of this kind has.
const SIZE_LIMIT: u64 = 64 * 1024;

/// What the file says. Version 1 is written; in version 0, from before KRaft, everything is optional.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MetaProperties {
    /// The cluster.
    pub cluster_id: Option<String>,
    /// The node.
    pub node: Option<NodeId>,
    /// The directory.
    pub directory: Option<DirectoryId>,
}

impl MetaProperties {
    /// Reads the file of a log directory; [`StorageError::Unformatted`] if there is none.
    pub fn read(vfs: &dyn Vfs, log_dir: &Path) -> Result<MetaProperties, StorageError> {
        let path = log_dir.join(META_PROPERTIES);
        let bytes = match vfs.read_all(&path, SIZE_LIMIT) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(StorageError::Unformatted { path });
            }
            read => read.at("read", &path)?,
        };
        MetaProperties::decode(&bytes).map_err(|problem| StorageError::Malformed { path, problem })
    }

    /// Writes the file of a log directory, atomically; its comment says `at`.
    pub fn write(&self, vfs: &dyn Vfs, log_dir: &Path, at: WallTime) -> Result<(), StorageError> {
        let path = log_dir.join(META_PROPERTIES);
        replace_file(vfs, &path, &self.encode(at)).at("write", &path)
    }

    /// Refuses a directory of another cluster or node.
    pub fn expect(
        &self,
        log_dir: &Path,
        cluster_id: &str,
        node: NodeId,
    ) -> Result<(), StorageError> {
        let foreign = |property, found: String, expected: String| StorageError::Foreign {
            path: log_dir.join(META_PROPERTIES),
            property,
            found,
            expected,
        };
        match (&self.cluster_id, self.node) {
            (Some(found), _) if found != cluster_id => {
                Err(foreign("cluster.id", found.clone(), cluster_id.to_owned()))
            }
            (_, Some(found)) if found != node => {
                Err(foreign("node.id", found.to_string(), node.to_string()))
            }
            _ => Ok(()),
        }
    }

    /// The file's bytes, in the order in which Kafka's own come out.
    pub fn encode(&self, WallTime(at): WallTime) -> Vec<u8> {
        let mut text = format!("#\n#{}\n", properties::java_date(at));
        let mut put = |key: &str, value: String| {
            text.push_str(key);
            text.push('=');
            properties::escape(&value, &mut text);
            text.push('\n');
        };
        if let Some(node) = self.node {
            put("node.id", node.to_string());
        }
        if let Some(directory) = self.directory {
            put("directory.id", directory.to_string());
        }
        put("version", "1".to_owned());
        if let Some(cluster_id) = &self.cluster_id {
            put("cluster.id", cluster_id.clone());
        }
        text.into_bytes()
    }

    /// Reads the file's bytes. Properties that are not known are ignored, as Kafka does.
    pub fn decode(bytes: &[u8]) -> Result<MetaProperties, Malformed> {
        let map = properties::parse(bytes)?;
        let version: i64 = match map.get("version") {
            None => 0,
            Some(text) => text.parse().map_err(|_| bad("version", text))?,
        };
        let node_key = match version {
            0 => "broker.id",
            1 => "node.id",
            other => return Err(Malformed::Version(other)),
        };
        let meta = MetaProperties {
            cluster_id: map.get("cluster.id").cloned(),
            node: node_of(&map, node_key)?,
            directory: directory_of(&map)?,
        };
        if version == 1 && meta.cluster_id.is_none() {
            return Err(Malformed::Missing("cluster.id"));
        }
        if version == 1 && meta.node.is_none() {
            return Err(Malformed::Missing("node.id"));
        }
        Ok(meta)
    }
}

fn node_of(map: &BTreeMap<String, String>, key: &'static str) -> Result<Option<NodeId>, Malformed> {
    map.get(key)
        .map(|text| match text.parse() {
            Ok(id) if id >= 0 => Ok(NodeId(id)),
            _ => Err(bad(key, text)),
        })
        .transpose()
}

fn directory_of(map: &BTreeMap<String, String>) -> Result<Option<DirectoryId>, Malformed> {
    const KEY: &str = "directory.id";
    map.get(KEY)
        .map(|text| match text.parse() {
            Ok(id) if !DirectoryId(id).is_reserved() => Ok(DirectoryId(id)),
            _ => Err(bad(KEY, text)),
        })
        .transpose()
}

fn bad(field: &'static str, value: &str) -> Malformed {
    let value = value.chars().take(100).collect();
    Malformed::Value { field, value }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "#\n#Mon Nov 30 19:44:23 UTC 2026\nnode.id=4\n\
        directory.id=v4KfWty8l1FuuXSoQPdELg\nversion=1\ncluster.id=mTGiFOYvQA-l7MVmesF4UQ\n";

    #[test]
    fn the_bytes_are_kafkas() {
        let meta = MetaProperties::decode(FILE.as_bytes()).unwrap();
        assert_eq!(meta.node, Some(NodeId(4)));
        let bytes = meta.encode(WallTime(1_796_067_863_000));
        assert_eq!(String::from_utf8(bytes).unwrap(), FILE);
    }

    #[test]
    fn version_0_has_a_broker_id_and_nothing_is_needed() {
        let meta = MetaProperties::decode(b"version=0\nbroker.id=3\n").unwrap();
        assert_eq!(meta.node, Some(NodeId(3)));
        assert!(MetaProperties::decode(b"").is_ok());
    }

    #[test]
    fn what_cannot_be_right_is_refused_by_name() {
        for (text, problem) in [
            ("version=2\n", Malformed::Version(2)),
            ("version=1\nnode.id=1\n", Malformed::Missing("cluster.id")),
            ("version=1\ncluster.id=a\n", Malformed::Missing("node.id")),
            (
                "version=1\ncluster.id=a\nnode.id=-1\n",
                bad("node.id", "-1"),
            ),
            (
                "directory.id=AAAAAAAAAAAAAAAAAAAAAQ",
                bad("directory.id", "AAAAAAAAAAAAAAAAAAAAAQ"),
            ),
        ] {
            assert_eq!(
                MetaProperties::decode(text.as_bytes()),
                Err(problem),
                "{text}"
            );
        }
    }

    #[test]
    fn another_cluster_or_node_is_foreign() {
        let meta = MetaProperties::decode(FILE.as_bytes()).unwrap();
        let dir = Path::new("/data");
        assert!(
            meta.expect(dir, "mTGiFOYvQA-l7MVmesF4UQ", NodeId(4))
                .is_ok()
        );
        assert!(
            meta.expect(dir, "mTGiFOYvQA-l7MVmesF4UQ", NodeId(5))
                .is_err()
        );
        let other = meta.expect(dir, "x", NodeId(4)).unwrap_err().to_string();
        assert!(
            other.contains("/data/meta.properties says cluster.id="),
            "{other}"
        );
    }
}
