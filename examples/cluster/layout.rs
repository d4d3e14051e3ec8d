//! Where the cluster lies: ids, ports, directories. Kept in `cluster.json` of a data directory, so
//! that a cluster that is started again is the same one.

use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::{fs, io};

use anyhow::{Context, bail};
use quorate_node::{NewDirectory, entropy};
use quorate_types::{DirectoryId, Endpoint, NodeId, Rng, VersionRange, Voter, VoterSet, WallTime};
use serde_json::{Value, json};

use crate::args::Args;

/// The name of the controllers' listener.
pub const CONTROLLER: &str = "CONTROLLER";
/// The name of the brokers' listener.
pub const PLAINTEXT: &str = "PLAINTEXT";
const HOST: &str = "127.0.0.1";

/// One node.
#[derive(Debug, Clone)]
pub struct Place {
    /// Its id.
    pub id: NodeId,
    /// Its port; 0 until it was bound for the first time.
    pub port: u16,
    /// The id of its directory.
    pub directory_id: DirectoryId,
    /// Its directory.
    pub path: PathBuf,
}

impl Place {
    /// Binds the node's port.
    pub fn bind(&mut self) -> anyhow::Result<TcpListener> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, self.port))
            .with_context(|| format!("cannot listen on {HOST}:{}", self.port))?;
        self.port = listener.local_addr()?.port();
        Ok(listener)
    }

    /// Where the node is reached.
    pub fn endpoint(&self, listener: &str) -> Endpoint {
        Endpoint {
            name: listener.to_owned(),
            host: HOST.to_owned(),
            port: self.port,
        }
    }

    /// The same as text.
    pub fn address(&self) -> String {
        format!("{HOST}:{}", self.port)
    }
}

/// The whole cluster.
#[derive(Debug)]
pub struct Layout {
    /// The cluster's id.
    pub cluster_id: String,
    /// The controllers.
    pub controllers: Vec<Place>,
    /// The brokers.
    pub brokers: Vec<Place>,
    file: PathBuf,
    is_new: bool,
}

impl Layout {
    /// The cluster of a data directory, or a new one. It refuses to be started in another size.
    pub fn open(args: &Args, data_dir: &Path) -> anyhow::Result<Layout> {
        fs::create_dir_all(data_dir)
            .with_context(|| format!("cannot create {}", data_dir.display()))?;
        let file = data_dir.join("cluster.json");
        match fs::read_to_string(&file) {
            Ok(text) => Layout::read(args, data_dir, &file, &text),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Ok(Layout::invent(args, data_dir, &file))
            }
            Err(error) => Err(error).with_context(|| format!("cannot read {}", file.display())),
        }
    }

    fn invent(args: &Args, data_dir: &Path, file: &Path) -> Layout {
        let mut rng = entropy();
        let mut place = |kind: &str, index: u16, id: u16| Place {
            id: NodeId(i32::from(id)),
            port: args.base_port.map_or(0, |base| base.saturating_add(index)),
            directory_id: DirectoryId(rng.uuid()),
            path: data_dir.join(format!("{kind}-{id}")),
        };
        let first_broker = args.controllers + 1;
        let controllers: Vec<Place> = (0..args.controllers)
            .map(|index| place("controller", index, index + 1))
            .collect();
        let brokers = (0..args.brokers)
            .map(|index| place("broker", args.controllers + index, first_broker + index))
            .collect();
        Layout {
            cluster_id: Rng::uuid(&mut entropy()).to_string(),
            controllers,
            brokers,
            file: file.to_owned(),
            is_new: true,
        }
    }

    fn read(args: &Args, data_dir: &Path, file: &Path, text: &str) -> anyhow::Result<Layout> {
        let bad = || {
            format!(
                "{} is not what this program wrote; remove it",
                file.display()
            )
        };
        let value: Value = serde_json::from_str(text).with_context(bad)?;
        let places = |kind: &str, base: Option<u16>| -> anyhow::Result<Vec<Place>> {
            let list = value[format!("{kind}s")].as_array().with_context(bad)?;
            list.iter()
                .zip(0u16..)
                .map(|(item, index)| {
                    let number = |key: &str| item[key].as_i64().with_context(bad);
                    let id = i32::try_from(number("id")?)?;
                    let port = u16::try_from(number("port")?)?;
                    let directory = item["directory_id"].as_str().with_context(bad)?;
                    Ok(Place {
                        id: NodeId(id),
                        port: base.map_or(port, |base| base.saturating_add(index)),
                        directory_id: DirectoryId(directory.parse()?),
                        path: data_dir.join(format!("{kind}-{id}")),
                    })
                })
                .collect()
        };
        let layout = Layout {
            cluster_id: value["cluster_id"].as_str().with_context(bad)?.to_owned(),
            controllers: places("controller", args.base_port)?,
            brokers: places(
                "broker",
                args.base_port
                    .map(|base| base.saturating_add(args.controllers)),
            )?,
            file: file.to_owned(),
            is_new: false,
        };
        let sizes = (layout.controllers.len(), layout.brokers.len());
        if sizes != (usize::from(args.controllers), usize::from(args.brokers)) {
            bail!(
                "{} holds a cluster of {} controllers and {} brokers; start it with \
                 --controllers {} --brokers {}, or choose another directory",
                data_dir.display(),
                sizes.0,
                sizes.1,
                sizes.0,
                sizes.1
            );
        }
        Ok(layout)
    }

    /// Whether it was decided just now, and is written down nowhere yet.
    pub fn is_new(&self) -> bool {
        self.is_new
    }

    /// Writes down what was decided, once all ports are known; whenever it is cut short, the file is
    /// there as it was before or as it is after.
    pub fn save(&self) -> anyhow::Result<()> {
        let places = |places: &[Place]| -> Vec<Value> {
            places
                .iter()
                .map(|place| {
                    json!({
                        "id": place.id.0,
                        "port": place.port,
                        "directory_id": place.directory_id.to_string(),
                    })
                })
                .collect()
        };
        let value = json!({
            "cluster_id": self.cluster_id,
            "controllers": places(&self.controllers),
            "brokers": places(&self.brokers),
        });
        let temporary = self.file.with_extension("tmp");
        fs::write(&temporary, format!("{value:#}\n"))
            .and_then(|()| fs::rename(&temporary, &self.file))
            .with_context(|| format!("cannot write {}", self.file.display()))
    }

    /// The voters that the quorum starts with.
    pub fn voters(&self) -> VoterSet {
        self.controllers
            .iter()
            .map(|place| {
                let voter = Voter {
                    directory: Some(place.directory_id),
                    endpoints: vec![place.endpoint(CONTROLLER)],
                    kraft_versions: VersionRange { min: 0, max: 1 },
                };
                (place.id, voter)
            })
            .collect()
    }

    /// Formats the directories that are not formatted yet.
    pub fn format(&self, now: WallTime) -> anyhow::Result<()> {
        let voters = self.voters();
        for (place, initial_voters) in self
            .controllers
            .iter()
            .map(|place| (place, Some(voters.clone())))
            .chain(self.brokers.iter().map(|place| (place, None)))
        {
            let directory = NewDirectory {
                path: place.path.clone(),
                cluster_id: self.cluster_id.clone(),
                node: place.id,
                directory: place.directory_id,
                initial_voters,
            };
            directory.make(now)?;
        }
        Ok(())
    }
}
