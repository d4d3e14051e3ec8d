//! What a configuration says a controller is: its id, where it listens, its quorum, its directories.

use std::path::PathBuf;

use anyhow::bail;
use quorate::server::io::Address;
use quorate::types::{Endpoint, NodeId, VersionRange, Voter, VoterSet};

use super::Settings;
use super::listener::{self, Listener};

/// A controller as it is configured; everything fits together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Controller {
    /// Its id.
    pub node: NodeId,
    /// Where it listens; the host is empty for all interfaces.
    pub bind: Address,
    /// Where others reach it; the name is that of the controllers' listener. The port is 0 if the
    /// system is to choose one.
    pub endpoint: Endpoint,
    /// Who is in the quorum, or where to learn it.
    pub quorum: Quorum,
    /// Where the metadata log is.
    pub metadata_dir: PathBuf,
    /// All directories, sorted, that of the metadata among them.
    pub dirs: Vec<PathBuf>,
}

/// Who is in the quorum, or where to learn it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quorum {
    /// The voters of `controller.quorum.voters`; `None` where they are in the metadata log.
    pub voters: Option<VoterSet>,
    /// Controllers to be asked by one that knows no leader.
    pub bootstrap: Vec<Address>,
}

impl Controller {
    /// Reads it out of settings.
    ///
    /// # Errors
    /// What does not fit together, with its place.
    pub fn new(settings: &Settings) -> anyhow::Result<Controller> {
        check_role(settings)?;
        let node = node(settings)?;
        let listener = own_listener(settings)?;
        let endpoint = advertised(settings, &listener)?;
        let quorum = quorum(settings, node, &listener.name)?;
        let (metadata_dir, dirs) = directories(settings);
        Ok(Controller {
            node,
            bind: Address::new(listener.host, listener.port),
            endpoint,
            quorum,
            metadata_dir,
            dirs,
        })
    }
}

fn check_role(settings: &Settings) -> anyhow::Result<()> {
    const ROLES: &str = "process.roles";
    match &settings.list(ROLES)[..] {
        ["controller"] => Ok(()),
        [] => Err(settings.complaint(
            ROLES,
            "set it to controller; clusters without KRaft are not supported",
        )),
        roles if roles.contains(&"broker") => Err(settings.complaint(
            ROLES,
            "quorate is a controller and no broker: it keeps a cluster's metadata and stores no \
             messages; run Kafka's own brokers with process.roles=broker beside it",
        )),
        _ => Err(settings.complaint(ROLES, "allowed is controller")),
    }
}

fn node(settings: &Settings) -> anyhow::Result<NodeId> {
    let id = |key| settings.number(key).and_then(|id| i32::try_from(id).ok());
    match (id("node.id"), id("broker.id").filter(|id| *id >= 0)) {
        (Some(node), Some(broker)) if node != broker => {
            Err(settings.complaint("broker.id", "it must be the same as node.id, or not be set"))
        }
        (Some(id), _) | (None, Some(id)) => Ok(NodeId(id)),
        (None, None) => Err(settings.complaint("node.id", "set it to this node's own number")),
    }
}

/// The listener of controllers, which is the only one that a controller has.
fn own_listener(settings: &Settings) -> anyhow::Result<Listener> {
    const NAMES: &str = "controller.listener.names";
    let names: Vec<String> = settings
        .list(NAMES)
        .iter()
        .map(|it| it.to_uppercase())
        .collect();
    let [name] = &names[..] else {
        return Err(match names.is_empty() {
            true => settings.complaint(
                NAMES,
                "name the listener of the controllers, such as CONTROLLER",
            ),
            false => settings.complaint(NAMES, "only one listener of controllers is supported"),
        });
    };
    let listeners = listeners(settings, "listeners")?;
    let Some(own) = listeners.iter().find(|listener| listener.name == *name) else {
        return Err(settings.complaint(
            "listeners",
            format!("the controllers' listener {name} must be among them"),
        ));
    };
    if let Some(other) = listeners.iter().find(|listener| listener.name != *name) {
        return Err(settings.complaint(
            "listeners",
            format!(
                "a controller only has the listener of {NAMES}; remove {}",
                other.name
            ),
        ));
    }
    check_protocol(settings, name)?;
    Ok(own.clone())
}

fn check_protocol(settings: &Settings, name: &str) -> anyhow::Result<()> {
    const MAP: &str = "listener.security.protocol.map";
    let mapped = settings.list(MAP).into_iter().find_map(|pair| {
        let (listener, protocol) = pair.split_once(':')?;
        listener
            .trim()
            .eq_ignore_ascii_case(name)
            .then(|| protocol.trim())
    });
    match mapped {
        Some(protocol) if protocol.eq_ignore_ascii_case("PLAINTEXT") => Ok(()),
        None if !settings.is_set(MAP) => Ok(()),
        Some(protocol) => Err(settings.complaint(
            MAP,
            format!("{name} is {protocol}; only PLAINTEXT is supported for controllers"),
        )),
        None => Err(settings.complaint(
            MAP,
            format!("it does not say what {name} is; add {name}:PLAINTEXT"),
        )),
    }
}

fn listeners(settings: &Settings, key: &str) -> anyhow::Result<Vec<Listener>> {
    let parse = |text| Listener::parse(text).map_err(|problem| settings.complaint(key, problem));
    settings.list(key).into_iter().map(parse).collect()
}

/// Where others reach the listener: as advertised, else where it listens, by the machine's name if
/// it does on all interfaces.
fn advertised(settings: &Settings, listener: &Listener) -> anyhow::Result<Endpoint> {
    const KEY: &str = "advertised.listeners";
    let advertised = listeners(settings, KEY)?;
    if let Some(other) = advertised.iter().find(|it| it.name != listener.name) {
        return Err(settings.complaint(
            KEY,
            format!(
                "only {} can be advertised, not {}",
                listener.name, other.name
            ),
        ));
    }
    let (key, shown) = match advertised.into_iter().next() {
        Some(shown) => (KEY, shown),
        None => ("listeners", listener.clone()),
    };
    let host = match &*shown.host {
        "" => host_name(),
        _ if shown.is_wildcard() => {
            return Err(settings.complaint(
                key,
                format!(
                    "nobody can connect to {}; advertise a name or an address",
                    shown.host
                ),
            ));
        }
        host => host.to_owned(),
    };
    Ok(Endpoint {
        name: listener.name.clone(),
        host,
        port: shown.port,
    })
}

fn host_name() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname")
        .or_else(|_| std::fs::read_to_string("/etc/hostname"));
    name.ok()
        .map(|name| name.trim().to_owned())
        .filter(|name| !name.is_empty())
        .unwrap_or_else(|| "localhost".to_owned())
}

fn quorum(settings: &Settings, node: NodeId, listener: &str) -> anyhow::Result<Quorum> {
    const VOTERS: &str = "controller.quorum.voters";
    const BOOTSTRAP: &str = "controller.quorum.bootstrap.servers";
    let voters = settings
        .list(VOTERS)
        .into_iter()
        .map(|text| listener::voter(text).map_err(|problem| settings.complaint(VOTERS, problem)))
        .collect::<anyhow::Result<Vec<_>>>()?;
    let mut bootstrap = settings
        .list(BOOTSTRAP)
        .into_iter()
        .map(|text| {
            listener::address(text).map_err(|problem| settings.complaint(BOOTSTRAP, problem))
        })
        .collect::<anyhow::Result<Vec<_>>>()?;
    if voters.is_empty() && bootstrap.is_empty() {
        return Err(settings.complaint(
            BOOTSTRAP,
            format!(
                "set it to the controllers' addresses (host:port, with commas between them), or \
                 {VOTERS} for a quorum that never changes"
            ),
        ));
    }
    if voters.is_empty() {
        return Ok(Quorum {
            voters: None,
            bootstrap,
        });
    }
    if !voters.iter().any(|(id, _)| *id == node) {
        return Err(settings.complaint(
            VOTERS,
            format!("this controller, node.id={node}, must be among them"),
        ));
    }
    if bootstrap.is_empty() {
        let others = voters.iter().filter(|(id, _)| *id != node);
        bootstrap = others.map(|(_, address)| address.clone()).collect();
    }
    let mut set = VoterSet::default();
    for (id, address) in voters {
        if set.contains_id(id) {
            bail!(settings.complaint(VOTERS, format!("{id} is listed twice")));
        }
        set = set.with(id, voter(address, listener, None));
    }
    Ok(Quorum {
        voters: Some(set),
        bootstrap,
    })
}

/// A voter that listens at an address.
pub fn voter(
    address: Address,
    listener: &str,
    directory: Option<quorate::types::DirectoryId>,
) -> Voter {
    Voter {
        directory,
        endpoints: vec![Endpoint {
            name: listener.to_owned(),
            host: address.host,
            port: address.port,
        }],
        kraft_versions: VersionRange { min: 0, max: 1 },
    }
}

/// The directory of the metadata and all directories.
fn directories(settings: &Settings) -> (PathBuf, Vec<PathBuf>) {
    let mut dirs = settings.list("log.dirs");
    if dirs.is_empty() {
        dirs = settings.list("log.dir");
    }
    let first = dirs.first().copied().unwrap_or("/tmp/kafka-logs");
    let metadata = PathBuf::from(settings.text("metadata.log.dir").unwrap_or(first));
    let mut dirs: Vec<PathBuf> = dirs.iter().map(PathBuf::from).collect();
    dirs.push(metadata.clone());
    dirs.sort();
    dirs.dedup();
    (metadata, dirs)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    const DYNAMIC: &str = "process.roles=controller\nnode.id=1\n\
        listeners=CONTROLLER://localhost:9093\ncontroller.listener.names=CONTROLLER\n\
        controller.quorum.bootstrap.servers=localhost:9093,other:9094\nlog.dirs=/data/b,/data/a\n";

    fn controller(text: &str) -> anyhow::Result<Controller> {
        let settings = Settings::read(Path::new("c.properties"), text.as_bytes(), &[])?;
        Controller::new(&settings)
    }

    fn problem(text: &str) -> String {
        controller(text).unwrap_err().to_string()
    }

    #[test]
    fn a_dynamic_quorum_is_read() {
        let read = controller(DYNAMIC).unwrap();
        assert_eq!(read.node, NodeId(1));
        assert_eq!(read.bind, Address::new("localhost", 9093));
        assert_eq!(read.endpoint.to_string(), "CONTROLLER://localhost:9093");
        assert_eq!(read.quorum.voters, None);
        assert_eq!(read.quorum.bootstrap[1], Address::new("other", 9094));
        assert_eq!(read.metadata_dir, Path::new("/data/b"));
        assert_eq!(read.dirs, [Path::new("/data/a"), Path::new("/data/b")]);
    }

    #[test]
    fn a_static_quorum_is_read() {
        let text = DYNAMIC.replace(
            "bootstrap.servers=localhost:9093,other:9094",
            "voters=1@localhost:9093,2@other:9094",
        );
        let quorum = controller(&text).unwrap().quorum;
        let voters = quorum.voters.unwrap();
        assert_eq!(voters.ids().collect::<Vec<_>>(), [NodeId(1), NodeId(2)]);
        assert_eq!(voters.get(NodeId(2)).unwrap().endpoints[0].port, 9094);
        assert_eq!(quorum.bootstrap, [Address::new("other", 9094)]);
        let told = problem(&text.replace("node.id=1", "node.id=3"));
        assert!(told.contains("node.id=3, must be among them"), "{told}");
    }

    #[test]
    fn the_advertised_listener_is_what_others_see() {
        let text = format!("{DYNAMIC}advertised.listeners=CONTROLLER://public:1\n").replace(
            "listeners=CONTROLLER://localhost:9093",
            "listeners=CONTROLLER://:9093",
        );
        let read = controller(&text).unwrap();
        assert_eq!(read.bind, Address::new("", 9093));
        assert_eq!(read.endpoint.to_string(), "CONTROLLER://public:1");
    }

    #[test]
    fn a_broker_is_refused_with_what_this_program_is() {
        let told = problem(&DYNAMIC.replace("roles=controller", "roles=broker,controller"));
        assert!(
            told.starts_with(
                "c.properties:1: process.roles=broker,controller: quorate is a controller"
            ),
            "{told}"
        );
    }

    #[test]
    fn what_does_not_fit_is_refused_with_its_place() {
        for (from, to, told) in [
            ("node.id=1", "", "c.properties: node.id is not set"),
            (
                "node.id=1",
                "node.id=1\nbroker.id=2",
                "c.properties:3: broker.id=2",
            ),
            ("process.roles=controller", "", "process.roles is not set"),
            (
                "names=CONTROLLER",
                "names=",
                "name the listener of the controllers",
            ),
            (
                "names=CONTROLLER",
                "names=OTHER",
                "c.properties:3: listeners",
            ),
            ("localhost:9093\n", "localhost\n", "NAME://host:port"),
            (
                "://localhost:9093\n",
                "://0.0.0.0:9093\n",
                "nobody can connect to 0.0.0.0",
            ),
            ("localhost:9093,other:9094", "other", "host:port"),
            (
                "controller.quorum.bootstrap",
                "#",
                "bootstrap.servers is not set",
            ),
            (
                "log.dirs",
                "listener.security.protocol.map=CONTROLLER:SSL\nlog.dirs",
                "only PLAINTEXT",
            ),
        ] {
            let problem = problem(&DYNAMIC.replacen(from, to, 1));
            assert!(problem.contains(told), "{told}\nin\n{problem}");
        }
    }
}
