//! Connections that others made to this node, and the order of their answers.
//!
//! Requests of one connection run side by side, yet their answers leave in the order the requests
//! came (Kafka's clients rely on it). An answer that is ready early waits here.

use std::collections::BTreeMap;

use bytes::Bytes;

use crate::io::{ConnId, Output};

/// A request's place in its connection: where its answer goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Slot {
    conn: ConnId,
    number: u64,
}

impl Slot {
    /// The connection that asked.
    pub fn conn(&self) -> ConnId {
        self.conn
    }
}

#[derive(Debug, Default)]
struct Connection {
    from: Vec<u8>,
    asked: u64,
    answered: u64,
    early: BTreeMap<u64, Bytes>,
}

/// The accepted connections of a node.
#[derive(Debug, Default)]
pub struct Inbound {
    connections: BTreeMap<ConnId, Connection>,
}

impl Inbound {
    /// Notes a new connection and the address it came from.
    pub fn accepted(&mut self, conn: ConnId, from: Vec<u8>) {
        self.connections.insert(
            conn,
            Connection {
                from,
                ..Connection::default()
            },
        );
    }

    /// Forgets a connection that is gone; answers to it are dropped from now on.
    pub fn closed(&mut self, conn: ConnId) {
        self.connections.remove(&conn);
    }

    /// The place of the request that just came in, or nothing if the connection is gone.
    pub fn asked(&mut self, conn: ConnId) -> Option<Slot> {
        let connection = self.connections.get_mut(&conn)?;
        let number = connection.asked;
        connection.asked += 1;
        Some(Slot { conn, number })
    }

    /// The address of the peer, as 4 or 16 bytes.
    pub fn address(&self, conn: ConnId) -> &[u8] {
        self.connections
            .get(&conn)
            .map_or(&[], |connection| &connection.from)
    }

    /// How many connections stand.
    pub fn len(&self) -> usize {
        self.connections.len()
    }

    /// Whether none stands.
    pub fn is_empty(&self) -> bool {
        self.connections.is_empty()
    }

    /// Answers a request; what is now in order goes to `out`.
    pub fn answer(&mut self, slot: Slot, frame: Bytes, out: &mut Vec<Output>) {
        let Some(connection) = self.connections.get_mut(&slot.conn) else {
            return;
        };
        connection.early.insert(slot.number, frame);
        while let Some(frame) = connection.early.remove(&connection.answered) {
            connection.answered += 1;
            out.push(Output::Send {
                conn: slot.conn,
                frame,
            });
        }
    }

    /// Closes a connection that cannot go on: what it sent is not to be understood.
    pub fn refuse(&mut self, conn: ConnId, out: &mut Vec<Output>) {
        if self.connections.remove(&conn).is_some() {
            out.push(Output::Close { conn });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(out: &mut Vec<Output>) -> Vec<Bytes> {
        out.drain(..)
            .map(|output| match output {
                Output::Send { frame, .. } => frame,
                other => panic!("{other:?} is no frame"),
            })
            .collect()
    }

    #[test]
    fn answers_leave_in_the_order_of_their_requests() {
        let mut inbound = Inbound::default();
        let conn = ConnId::Accepted(1);
        inbound.accepted(conn, vec![127, 0, 0, 1]);
        let slots: Vec<Slot> = (0..4).filter_map(|_| inbound.asked(conn)).collect();
        let mut out = Vec::new();
        inbound.answer(slots[2], Bytes::from_static(b"2"), &mut out);
        inbound.answer(slots[1], Bytes::from_static(b"1"), &mut out);
        assert!(sent(&mut out).is_empty());
        inbound.answer(slots[0], Bytes::from_static(b"0"), &mut out);
        assert_eq!(sent(&mut out), ["0", "1", "2"]);
        inbound.answer(slots[3], Bytes::from_static(b"3"), &mut out);
        assert_eq!(sent(&mut out), ["3"]);
    }

    #[test]
    fn answers_to_a_connection_that_is_gone_are_dropped() {
        let mut inbound = Inbound::default();
        let conn = ConnId::Accepted(1);
        inbound.accepted(conn, Vec::new());
        let slot = inbound.asked(conn).expect("the connection stands");
        inbound.closed(conn);
        let mut out = Vec::new();
        inbound.answer(slot, Bytes::from_static(b"late"), &mut out);
        assert!(out.is_empty());
        assert_eq!(inbound.asked(conn), None);
    }
}
