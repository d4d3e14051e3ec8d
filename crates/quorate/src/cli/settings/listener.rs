//! `NAME://host:port`, `host:port`, `id@host:port` and `id@host:port:directory`, taken apart.

use quorate::server::io::Address;
use quorate::types::{DirectoryId, NodeId};

/// A listener as it is configured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listener {
    /// Its name, in capitals.
    pub name: String,
    /// The host; empty for all interfaces.
    pub host: String,
    /// The port; 0 for any.
    pub port: u16,
}

impl Listener {
    /// Reads `NAME://host:port`.
    pub fn parse(text: &str) -> Result<Listener, String> {
        let form = || format!("{text} is not of the form NAME://host:port");
        let (name, address) = text.split_once("://").ok_or_else(form)?;
        let (host, port) = host_and_port(address).ok_or_else(form)?;
        if name.is_empty() {
            return Err(form());
        }
        Ok(Listener {
            name: name.to_uppercase(),
            host,
            port,
        })
    }

    /// Whether the host stands for all interfaces.
    pub fn is_wildcard(&self) -> bool {
        matches!(&*self.host, "" | "0.0.0.0" | "::")
    }
}

/// Reads `host:port`.
pub fn address(text: &str) -> Result<Address, String> {
    match host_and_port(text) {
        Some((host, port)) if !host.is_empty() && port > 0 => Ok(Address::new(host, port)),
        _ => Err(format!("{text} is not of the form host:port")),
    }
}

/// Reads `id@host:port`.
pub fn voter(text: &str) -> Result<(NodeId, Address), String> {
    let form = || format!("{text} is not of the form id@host:port");
    let (id, rest) = text.split_once('@').ok_or_else(form)?;
    Ok((
        node(id).ok_or_else(form)?,
        address(rest).map_err(|_| form())?,
    ))
}

/// Reads `id@host:port:directory`.
pub fn initial_controller(text: &str) -> Result<(NodeId, Address, DirectoryId), String> {
    let form =
        || format!("{text} is not of the form ID@HOST:PORT:DIRECTORY, with an id from random-uuid");
    let (voter_text, directory) = text.rsplit_once(':').ok_or_else(form)?;
    let (id, address) = voter(voter_text).map_err(|_| form())?;
    let directory = DirectoryId(directory.parse().map_err(|_| form())?);
    if directory.is_reserved() {
        return Err(format!("{text}: the directory id {directory} is reserved"));
    }
    Ok((id, address, directory))
}

fn node(text: &str) -> Option<NodeId> {
    let id: i32 = text.trim().parse().ok()?;
    (id >= 0).then_some(NodeId(id))
}

fn host_and_port(text: &str) -> Option<(String, u16)> {
    let (host, port) = text.trim().rsplit_once(':')?;
    let host = match host.strip_prefix('[') {
        Some(inner) => inner.strip_suffix(']')?,
        None if host.contains(':') => return None,
        None => host,
    };
    Some((host.to_owned(), port.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listeners_are_taken_apart() {
        for (text, name, host, port) in [
            (
                "CONTROLLER://localhost:9093",
                "CONTROLLER",
                "localhost",
                9093,
            ),
            ("controller://:0", "CONTROLLER", "", 0),
            ("A://[::1]:1", "A", "::1", 1),
        ] {
            let listener = Listener::parse(text).unwrap();
            assert_eq!(
                (&*listener.name, &*listener.host, listener.port),
                (name, host, port)
            );
        }
        for bad in [
            "",
            "A",
            "A://",
            "A://h",
            "A://h:70000",
            "://h:1",
            "A://::1:9",
        ] {
            assert!(Listener::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn voters_are_taken_apart() {
        assert_eq!(
            voter("1@localhost:9093"),
            Ok((NodeId(1), Address::new("localhost", 9093)))
        );
        for bad in ["1", "x@h:1", "-1@h:1", "1@h", "1@:1", "1@h:0"] {
            assert!(voter(bad).is_err(), "{bad}");
        }
        let (id, _, directory) = initial_controller("1@h:2:MvDxzVmcRsaTz33bUuRU6A").unwrap();
        assert_eq!(
            (id, directory.to_string().as_str()),
            (NodeId(1), "MvDxzVmcRsaTz33bUuRU6A")
        );
        for bad in ["1@h:2", "1@h:2:x", "1@h:2:AAAAAAAAAAAAAAAAAAAAAQ"] {
            assert!(initial_controller(bad).is_err(), "{bad}");
        }
    }
}
