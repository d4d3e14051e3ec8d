//! The APIs that `docs/compatibility.md` lists are those that a controller and a broker offer.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use quorate::broker::{CacheConfig, LifecycleConfig};
use quorate::controller::{ControllerConfig, KafkaController};
use quorate::engine::EngineConfig;
use quorate::protocol::messages::{
    ApiKey, ApiVersionsRequest, ApiVersionsResponse, RequestHeader, decode_response, encode_request,
};
use quorate::raft::{Boot, Config};
use quorate::server::boot::boot;
use quorate::server::broker::{BrokerNode, BrokerNodeConfig};
use quorate::server::controller::{ControllerIdentity, ControllerNode, ControllerNodeConfig};
use quorate::server::io::{ConnId, Input, Node, Now, Output};
use quorate::server::quorum::QuorumConfig;
use quorate::server::snapshots::SnapshotConfig;
use quorate::storage::vfs::MemVfs;
use quorate::storage::{LogConfig, MetadataLog};
use quorate::types::{
    DirectoryId, IncarnationId, MonoTime, NodeId, ReplicaKey, Rng, Uuid, VersionRange, VoterSet,
    WallTime,
};

use crate::tree;

/// Stands before the table of APIs.
const MARK: &str = "<!-- offered APIs -->";

/// What one of the two listeners offers, by key.
type Offered = BTreeMap<i16, VersionRange>;

const NOW: Now = Now {
    mono: MonoTime::ZERO,
    wall: WallTime(1_700_000_000_000),
};

fn id(number: u8) -> Uuid {
    Uuid([number; 16])
}

fn start() -> Boot {
    let vfs = Arc::new(MemVfs::new());
    let opened = MetadataLog::open(vfs, Path::new("/log"), LogConfig::default());
    let (_, recovered) = opened.expect("an empty disk can be read");
    boot(&recovered, Some(VoterSet::of_ids([1])), true).expect("an empty log allows to start")
}

fn quorum(node: i32, controller: bool) -> QuorumConfig {
    let local = ReplicaKey::new(NodeId(node), Some(DirectoryId(id(1))));
    QuorumConfig {
        raft: Config {
            controller,
            ..Config::new(local)
        },
        cluster_id: "example".into(),
        listener: "CONTROLLER".into(),
        bootstrap: Vec::new(),
        tail_bytes: 1 << 20,
        snapshots: SnapshotConfig::default(),
    }
}

fn controller() -> ControllerNode {
    let config = ControllerNodeConfig {
        quorum: quorum(1, true),
        controller: KafkaController::new(ControllerConfig::new(NodeId(1), "example")),
        engine: EngineConfig::default(),
        identity: ControllerIdentity {
            incarnation: IncarnationId(id(2)),
            listeners: Vec::new(),
        },
    };
    ControllerNode::new(config, start(), Rng::new(1), NOW).expect("a controller starts")
}

fn broker() -> BrokerNode {
    let config = BrokerNodeConfig {
        quorum: quorum(2, false),
        lifecycle: LifecycleConfig::new(NodeId(2), "example", IncarnationId(id(3))),
        cache: CacheConfig::default(),
        settings: BTreeMap::new(),
    };
    BrokerNode::new(config, start(), Rng::new(1), NOW).expect("a broker starts")
}

/// Asks a node with ApiVersions.
fn offered(mut node: impl Node) -> Offered {
    let header = RequestHeader {
        api_key: ApiKey::ApiVersions.code(),
        api_version: 4,
        correlation_id: 1,
        ..Default::default()
    };
    let request = ApiVersionsRequest {
        client_software_name: "test".into(),
        client_software_version: "1".into(),
        ..Default::default()
    };
    let frame = encode_request(&header, &request).expect("the request has bytes");
    let conn = ConnId::Accepted(1);
    node.handle(
        NOW,
        Input::Accepted {
            conn,
            from: vec![127, 0, 0, 1],
        },
    );
    node.handle(NOW, Input::Frame { conn, frame });
    node.drive(NOW);
    while let Some(output) = node.poll() {
        if let Output::Send {
            conn: ConnId::Accepted(1),
            frame,
        } = output
        {
            let answer = decode_response::<ApiVersionsResponse>(4, &frame);
            let (_, answer) = answer.expect("the answer can be read");
            let range = |min, max| VersionRange { min, max };
            let apis = answer.api_keys.iter();
            return apis
                .map(|api| (api.api_key, range(api.min_version, api.max_version)))
                .collect();
        }
    }
    panic!("ApiVersions was not answered")
}

/// The table's first four columns: API and key, versions, whether a controller and a broker offer it.
fn table(document: &str) -> Vec<[String; 4]> {
    let (_, after) = document
        .split_once(MARK)
        .expect("the document has the table's mark");
    let rows = after
        .lines()
        .skip_while(|line| !line.starts_with('|'))
        .skip(2);
    rows.take_while(|line| line.starts_with('|'))
        .map(|row| {
            let mut columns = row
                .split('|')
                .skip(1)
                .map(|column| column.trim().to_owned());
            std::array::from_fn(|_| columns.next().unwrap_or_default())
        })
        .collect()
}

/// The same columns as the nodes would write them; what is said of an offer is theirs to say.
fn expected(controller: &Offered, broker: &Offered) -> Vec<[String; 4]> {
    let keys: BTreeMap<&i16, &VersionRange> = controller.iter().chain(broker).collect();
    let offer = |is: bool| if is { "yes" } else { "–" }.to_owned();
    keys.into_iter()
        .map(|(key, versions)| {
            [
                format!("{} ({key})", ApiKey::from_code(*key).name()),
                match versions.min == versions.max {
                    true => versions.min.to_string(),
                    false => format!("{}–{}", versions.min, versions.max),
                },
                offer(controller.contains_key(key)),
                offer(broker.contains_key(key)),
            ]
        })
        .collect()
}

#[test]
fn the_listed_apis_are_those_that_nodes_offer() {
    let (controller, broker) = (offered(controller()), offered(broker()));
    for (key, versions) in &controller {
        let theirs = broker.get(key).unwrap_or(versions);
        assert_eq!(
            theirs, versions,
            "the table has one column of versions for API {key}"
        );
    }
    let listed = table(&tree::read(&tree::root().join("docs/compatibility.md")));
    let expected = expected(&controller, &broker);
    let rows = |table: &[[String; 4]]| -> BTreeSet<String> {
        let row = |row: &[String; 4]| format!("| {} |", row.join(" | "));
        table.iter().map(row).collect()
    };
    let (listed, expected) = (rows(&listed), rows(&expected));
    let wrong: Vec<&str> = listed.difference(&expected).map(String::as_str).collect();
    let missing: Vec<&str> = expected.difference(&listed).map(String::as_str).collect();
    assert!(
        wrong.is_empty() && missing.is_empty(),
        "\ndocs/compatibility.md says what is not so:\n{}\nand does not say:\n{}",
        wrong.join("\n"),
        missing.join("\n")
    );
}
