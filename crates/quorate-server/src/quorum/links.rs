//! The quorum's own connections to its peers, as the node hears of them.

use bytes::Bytes;
use quorate_raft::{CallId, Input};

use super::Quorum;
use crate::io::{ConnId, Now};
use crate::links::{ConnNames, LinkEvent};

impl Quorum {
    /// Tells Raft what the links report.
    pub(super) fn settle_links(&mut self, now: Now, names: &mut ConnNames) {
        while let Some(event) = self.links.poll() {
            match event {
                LinkEvent::Answer { call, result } => {
                    self.answered(now, names, CallId(call), result);
                }
                LinkEvent::Gone { address } => {
                    if let Some(node) = self.nodes.get(&address) {
                        self.step(now, names, Input::PeerDown { node: *node });
                    }
                }
            }
        }
    }

    /// Whether the connection is one that this quorum made.
    pub fn owns(&self, conn: ConnId) -> bool {
        self.links.owns(conn)
    }

    /// A connection that the quorum asked for stands.
    pub fn connected(&mut self, now: Now, conn: ConnId) {
        self.links.connected(now.mono, conn);
    }

    /// A connection that the quorum asked for could not be made.
    pub fn connect_failed(&mut self, now: Now, names: &mut ConnNames, conn: ConnId, refused: bool) {
        self.links.connect_failed(now.mono, conn, refused);
        self.settle_links(now, names);
    }

    /// A connection that the quorum made is gone.
    pub fn link_closed(&mut self, now: Now, names: &mut ConnNames, conn: ConnId) {
        self.links.closed(now.mono, names, conn);
        self.settle_links(now, names);
    }

    /// An answer came in on a connection that the quorum made.
    pub fn link_frame(&mut self, now: Now, names: &mut ConnNames, conn: ConnId, frame: Bytes) {
        self.links.frame(now.mono, names, conn, frame);
        self.settle_links(now, names);
    }
}
