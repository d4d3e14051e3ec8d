//! Tells the controller in which log directory each replica really lies (AssignReplicasToDirs,
//! KIP-858).
//!
//! Invariants:
//! - One request in flight, of at most [`MOST_PER_REQUEST`] replicas.
//! - The latest directory of a replica wins: a newer assignment replaces one that waits, and outlives
//!   an older one that is in flight.
//! - Replicas that left this broker are not sent.
//!
//! A first assignment waits 100 ms for others to join it; more than one request's worth goes at once.
//! Failures of a whole request back off from 100 ms to 10 s; a replica that is refused by itself
//! goes with the next request.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use quorate_protocol::messages::assign_replicas_to_dirs::{
    RequestDirectoryData, RequestPartitionData, RequestTopicData,
};
use quorate_protocol::messages::{AssignReplicasToDirsRequest, AssignReplicasToDirsResponse};
use quorate_types::{BrokerEpoch, DirectoryId, MonoTime, NodeId, TopicId};

use crate::backoff::Backoff;
use crate::call::{CallFailure, CallId, Slot};
use quorate_metadata::PartitionId;

/// The most replicas that one request may name.
pub const MOST_PER_REQUEST: usize = 2250;

const BATCHING: Duration = Duration::from_millis(100);
const BACKOFF: Backoff = Backoff {
    initial: Duration::from_millis(100),
    longest: Duration::from_secs(10),
};
/// How long an answer is waited for.
pub const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

/// What comes out.
#[derive(Debug, Clone, PartialEq)]
pub enum Output {
    /// Send this to the active controller, version 0.
    Send {
        /// Names the request in [`DirectoryAssignments::answered`].
        call: CallId,
        /// What to send.
        request: AssignReplicasToDirsRequest,
    },
    /// The controller knows now.
    Assigned {
        /// Of this replica.
        partition: PartitionId,
        /// That it lies here.
        directory: DirectoryId,
    },
}

/// Sends a broker's directory assignments; see the module's documentation.
#[derive(Debug)]
pub struct DirectoryAssignments {
    broker: NodeId,
    epoch: Option<BrokerEpoch>,
    ready: BTreeMap<PartitionId, DirectoryId>,
    /// The slot remembers what was sent.
    slot: Slot<BTreeMap<PartitionId, DirectoryId>>,
    /// When to send; set while something is ready.
    due: Option<MonoTime>,
    failures: u32,
    outputs: VecDeque<Output>,
}

impl DirectoryAssignments {
    /// The assignments of that broker. Nothing is sent before the broker's epoch is known.
    pub fn new(broker: NodeId) -> DirectoryAssignments {
        DirectoryAssignments {
            broker,
            epoch: None,
            ready: BTreeMap::new(),
            slot: Slot::new(),
            due: None,
            failures: 0,
            outputs: VecDeque::new(),
        }
    }

    /// The broker was registered with that epoch.
    pub fn registered(&mut self, now: MonoTime, epoch: BrokerEpoch) {
        self.epoch = Some(epoch);
        self.tick(now);
    }

    /// The local replica of that partition lies in `directory`, which is not what the log says.
    pub fn assign(&mut self, now: MonoTime, partition: PartitionId, directory: DirectoryId) {
        self.ready.insert(partition, directory);
        self.reschedule(now);
        self.tick(now);
    }

    /// Forgets the replicas that are no longer on this broker.
    pub fn retain(&mut self, is_here: impl Fn(PartitionId) -> bool) {
        self.ready.retain(|partition, _| is_here(*partition));
    }

    /// A request was answered, or will not be. `is_here` says whether a replica is still on this
    /// broker.
    pub fn answered(
        &mut self,
        now: MonoTime,
        call: CallId,
        answer: Result<AssignReplicasToDirsResponse, CallFailure>,
        is_here: impl Fn(PartitionId) -> bool,
    ) {
        if let Some(sent) = self.slot.close(call) {
            let again = match answer {
                Ok(answer) if answer.error_code.is_none() => {
                    self.failures = 0;
                    self.take_answer(sent, &answer)
                }
                _ => {
                    self.failures = self.failures.saturating_add(1);
                    sent
                }
            };
            for (partition, directory) in again {
                if is_here(partition) {
                    self.ready.entry(partition).or_insert(directory);
                }
            }
            self.reschedule(now);
        }
        self.tick(now);
    }

    /// Time has passed.
    pub fn tick(&mut self, now: MonoTime) {
        if let Some(sent) = self.slot.expire(now) {
            self.failures = self.failures.saturating_add(1);
            for (partition, directory) in sent {
                self.ready.entry(partition).or_insert(directory);
            }
            self.reschedule(now);
        }
        if !self.slot.is_busy() && self.due.is_some_and(|due| due <= now) {
            self.send(now);
        }
    }

    /// The next thing to do; in order.
    pub fn poll(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    /// When to [`tick`](DirectoryAssignments::tick) at the latest.
    pub fn deadline(&self) -> Option<MonoTime> {
        self.slot
            .deadline()
            .or_else(|| self.due.filter(|_| self.epoch.is_some()))
    }

    /// How many replicas wait for an answer or to be sent.
    pub fn pending(&self) -> usize {
        self.ready.len() + usize::from(self.slot.is_busy())
    }

    /// An earlier time that was set before stays.
    fn reschedule(&mut self, now: MonoTime) {
        if self.ready.is_empty() {
            self.due = None;
            return;
        }
        let delay = if self.failures > 0 {
            BACKOFF.after(self.failures)
        } else if self.ready.len() > MOST_PER_REQUEST {
            Duration::ZERO
        } else {
            BATCHING
        };
        let due = now + delay;
        self.due = Some(self.due.map_or(due, |earlier| earlier.min(due)));
    }

    fn send(&mut self, now: MonoTime) {
        let Some(epoch) = self.epoch else { return };
        self.due = None;
        let mut sent = BTreeMap::new();
        while sent.len() < MOST_PER_REQUEST {
            let Some((partition, directory)) = self.ready.pop_first() else {
                break;
            };
            sent.insert(partition, directory);
        }
        if sent.is_empty() {
            return;
        }
        let request = AssignReplicasToDirsRequest {
            broker_id: self.broker.0,
            broker_epoch: epoch.0,
            directories: tree(&sent),
            ..Default::default()
        };
        let call = self.slot.open(now, REQUEST_TIMEOUT, sent);
        self.outputs.push_back(Output::Send { call, request });
    }

    /// Takes what was accepted out of what was sent and gives back the rest.
    fn take_answer(
        &mut self,
        mut sent: BTreeMap<PartitionId, DirectoryId>,
        answer: &AssignReplicasToDirsResponse,
    ) -> BTreeMap<PartitionId, DirectoryId> {
        for directory in &answer.directories {
            for topic in &directory.topics {
                for answered in &topic.partitions {
                    let id = PartitionId::new(TopicId(topic.topic_id), answered.partition_index);
                    if !answered.error_code.is_none() {
                        continue;
                    }
                    if let Some(directory) = sent.remove(&id) {
                        self.outputs.push_back(Output::Assigned {
                            partition: id,
                            directory,
                        });
                    }
                }
            }
        }
        sent
    }
}

/// Directory → topic → partitions, each ascending.
fn tree(sent: &BTreeMap<PartitionId, DirectoryId>) -> Vec<RequestDirectoryData> {
    let mut grouped: BTreeMap<DirectoryId, BTreeMap<TopicId, Vec<RequestPartitionData>>> =
        BTreeMap::new();
    for (partition, directory) in sent {
        grouped
            .entry(*directory)
            .or_default()
            .entry(partition.topic)
            .or_default()
            .push(RequestPartitionData {
                partition_index: partition.index,
                ..Default::default()
            });
    }
    let topic = |(topic, partitions): (TopicId, _)| RequestTopicData {
        topic_id: topic.0,
        partitions,
        ..Default::default()
    };
    grouped
        .into_iter()
        .map(|(directory, topics)| RequestDirectoryData {
            id: directory.0,
            topics: topics.into_iter().map(topic).collect(),
            ..Default::default()
        })
        .collect()
}
