//! What goes into a node and what comes out of it.
//!
//! A node decides; whoever drives it (the runtime, the simulator, a test) moves frames, bytes of
//! files and time. Drivers keep two orders: disk jobs are carried out in the order they come (but
//! for those that [can wait](DiskJob::can_wait)), and frames of one connection are sent in the order
//! they come.

use std::fmt;

use bytes::Bytes;
use quorate_metadata::MetadataImage;
use quorate_types::{Endpoint, MonoTime, Offset, WallTime};

use crate::disk::{DiskDone, DiskJob};
use crate::events::NodeEvent;

/// A connection, known to both sides of the driver's boundary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ConnId {
    /// Accepted by the driver, which chose the number.
    Accepted(u64),
    /// Asked for by the node, which chose the number.
    Dialed(u64),
}

/// A host and a port to connect to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address {
    /// Host name or address.
    pub host: String,
    /// TCP port.
    pub port: u16,
}

impl Address {
    /// Joins a host and a port.
    pub fn new(host: impl Into<String>, port: u16) -> Address {
        Address {
            host: host.into(),
            port,
        }
    }
}

impl From<&Endpoint> for Address {
    fn from(endpoint: &Endpoint) -> Address {
        Address::new(endpoint.host.clone(), endpoint.port)
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

/// What a driver tells a node.
#[derive(Debug)]
pub enum Input {
    /// A peer connected to the listener.
    Accepted {
        /// The new connection.
        conn: ConnId,
        /// The address it came from, as 4 or 16 bytes.
        from: Vec<u8>,
    },
    /// A connection that the node asked for stands.
    Connected {
        /// The connection.
        conn: ConnId,
    },
    /// A connection that the node asked for could not be made.
    ConnectFailed {
        /// The connection.
        conn: ConnId,
        /// Whether the peer's kernel refused it: nobody listens there.
        refused: bool,
    },
    /// A whole frame came in, its length prefix taken off.
    Frame {
        /// Where it came in.
        conn: ConnId,
        /// The frame's content.
        frame: Bytes,
    },
    /// A connection is gone.
    Closed {
        /// The connection.
        conn: ConnId,
    },
    /// The disk reports.
    Disk(DiskDone),
    /// Stop in good order: hand over, answer what can be answered, then say [`Output::Stopped`].
    Shutdown,
}

/// What a node wants done.
#[derive(Debug)]
pub enum Output {
    /// Connect, then say [`Input::Connected`] or [`Input::ConnectFailed`].
    Connect {
        /// The name of the connection to be.
        conn: ConnId,
        /// Where to.
        to: Address,
    },
    /// Send a frame; the driver puts its length before it.
    Send {
        /// Where to.
        conn: ConnId,
        /// The frame's content.
        frame: Bytes,
    },
    /// Close the connection once what was sent is out; nothing more is heard of it.
    Close {
        /// The connection.
        conn: ConnId,
    },
    /// Disk work, to be carried out in order.
    Disk(DiskJob),
    /// Something a person may want to see.
    Event(NodeEvent),
    /// The newest metadata that this node has published.
    Published(Box<Published>),
    /// The node has ended, in good order or for the reason given; nothing more comes out of it.
    Stopped {
        /// What went wrong, if anything did.
        fault: Option<String>,
    },
}

/// A version of the metadata, and where in the log it stands.
#[derive(Debug, Clone)]
pub struct Published {
    /// The metadata.
    pub image: MetadataImage,
    /// The first offset that is not in it.
    pub end: Offset,
}

/// The two times of one instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Now {
    /// For waiting and measuring.
    pub mono: MonoTime,
    /// For what is written down.
    pub wall: WallTime,
}

/// A node without I/O: what the runtime and the simulator drive.
///
/// Calls come in rounds: any number of [`handle`](Node::handle), one [`drive`](Node::drive), then
/// [`poll`](Node::poll) until it is empty. The next round is due when an input arrives or when
/// [`deadline`](Node::deadline) has passed.
pub trait Node {
    /// Takes an input in.
    fn handle(&mut self, now: Now, input: Input);

    /// Does the work that the inputs and the time ask for, once for all of them.
    fn drive(&mut self, now: Now);

    /// The next thing to be done outside.
    fn poll(&mut self) -> Option<Output>;

    /// When [`drive`](Node::drive) wants to be called although no input came.
    fn deadline(&self) -> Option<MonoTime>;
}
