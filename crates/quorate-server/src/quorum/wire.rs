//! Raft's data and Kafka's messages: the conversions that several RPCs share.

use bytes::{Bytes, BytesMut};
use quorate_types::{DirectoryId, Endpoint, ErrorCode, NodeId, ReplicaKey, Uuid};

use crate::tail::EncodedBatch;

/// The name of the log's one partition's topic.
pub(super) const TOPIC: &str = "__cluster_metadata";

/// The directory of a replica key, as the wire has it.
pub(super) fn directory_to_wire(key: ReplicaKey) -> Uuid {
    key.directory.map_or(Uuid::ZERO, |directory| directory.0)
}

/// A replica key, or nothing where the id is negative.
pub(super) fn replica(id: i32, directory: Uuid) -> Option<ReplicaKey> {
    Some(ReplicaKey::new(
        NodeId::from_wire(id)?,
        directory.non_zero().map(DirectoryId),
    ))
}

/// The only item of a list, or nothing if there are more or none.
pub(super) fn only<T>(items: Vec<T>) -> Option<T> {
    let mut items = items.into_iter();
    let first = items.next()?;
    items.next().is_none().then_some(first)
}

/// A positive port, as the wire has it where it is an int32.
pub(super) fn port(port: i32) -> Option<u16> {
    u16::try_from(port).ok().filter(|port| *port > 0)
}

/// Batches as one byte string.
pub(super) fn join(batches: &[EncodedBatch]) -> Bytes {
    match batches {
        [] => Bytes::new(),
        [one] => one.bytes.clone(),
        many => {
            let mut joined = BytesMut::with_capacity(many.iter().map(|b| b.bytes.len()).sum());
            many.iter()
                .for_each(|batch| joined.extend_from_slice(&batch.bytes));
            joined.freeze()
        }
    }
}

/// Kafka's text for an error that comes without one of its own.
pub(super) fn message(error: ErrorCode) -> Option<String> {
    (!error.is_none()).then(|| error.name().to_owned())
}

/// Converts between the listener structs of messages, which are alike in all but their name.
macro_rules! listeners {
    ($from:expr => Endpoint) => {
        $from
            .into_iter()
            .map(|listener| quorate_types::Endpoint {
                name: listener.name,
                host: listener.host,
                port: listener.port,
            })
            .collect::<Vec<_>>()
    };
    ($from:expr => $to:ty) => {
        $from
            .iter()
            .map(|endpoint| {
                let mut listener = <$to>::default();
                listener.name.clone_from(&endpoint.name);
                listener.host.clone_from(&endpoint.host);
                listener.port = endpoint.port;
                listener
            })
            .collect::<Vec<_>>()
    };
}
pub(super) use listeners;

/// The endpoint of that listener, else the first.
pub(super) fn choose<'a>(endpoints: &'a [Endpoint], listener: &str) -> Option<&'a Endpoint> {
    endpoints
        .iter()
        .find(|endpoint| endpoint.name == listener)
        .or_else(|| endpoints.first())
}
