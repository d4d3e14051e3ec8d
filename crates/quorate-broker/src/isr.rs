//! ISR changes on their way to the controller (AlterPartition).
//!
//! Invariants:
//! - One request in flight for the whole broker, however many partitions it leads; it carries every
//!   change that is pending when it is sent.
//! - One change pending for a partition; a second is refused until the first is resolved.
//! - A change stays pending until the controller answered it, for however long: there is no time
//!   after which it is forgotten. Only metadata that overrides it withdraws it.
//! - An answer resolves exactly the change that was sent: if that was withdrawn and another one
//!   submitted meanwhile, the new one is sent in its own right.
//!
//! What an error for a partition means, see [`AfterRefusal`]. After an error for the whole request,
//! or none at all, everything is sent again 50 ms later.
//!
//! Kafka: `AlterPartitionManager`; KIP-497, KIP-903.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use quorate_metadata::{LeaderRecovery, PartitionId};
use quorate_protocol::messages::alter_partition::{
    BrokerState, RequestPartitionData, RequestTopicData, ResponsePartitionData,
};
use quorate_protocol::messages::{AlterPartitionRequest, AlterPartitionResponse};
use quorate_types::{
    BrokerEpoch, ErrorCode, LeaderEpoch, MonoTime, NodeId, PartitionEpoch, TopicId,
};

use crate::call::{CallFailure, CallId, Slot};

/// What a leader wants its partition's ISR to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IsrChange {
    /// The epoch that the leader leads in.
    pub leader_epoch: LeaderEpoch,
    /// The partition's epoch that the change builds on.
    pub partition_epoch: PartitionEpoch,
    /// The new ISR, each with the broker epoch that the leader knows it by (`None`: unknown, which
    /// the controller takes for any).
    pub isr: Vec<(NodeId, Option<BrokerEpoch>)>,
    /// Whether the leader is still recovering from an unclean election.
    pub recovery: LeaderRecovery,
}

/// A partition's state as the controller committed it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommittedIsr {
    /// The leader, if any.
    pub leader: Option<NodeId>,
    /// Its epoch.
    pub leader_epoch: LeaderEpoch,
    /// The ISR.
    pub isr: Vec<NodeId>,
    /// Whether the leader is recovering from an unclean election.
    pub recovery: LeaderRecovery,
    /// The partition's epoch.
    pub partition_epoch: PartitionEpoch,
}

/// What a leader does when its change was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AfterRefusal {
    /// `INELIGIBLE_REPLICA`, `OPERATION_NOT_ATTEMPTED`: nothing changed; back to the committed ISR,
    /// and try another day.
    Revert,
    /// `UNKNOWN_TOPIC_OR_PARTITION`, `UNKNOWN_TOPIC_ID`, `FENCED_LEADER_EPOCH`,
    /// `INVALID_UPDATE_VERSION`, `INVALID_REQUEST`, `NEW_LEADER_ELECTED`: the leader's knowledge is
    /// out of date; propose nothing until metadata comes.
    AwaitMetadata,
    /// Anything else: the same again. This module does so by itself.
    Repeat,
}

impl AfterRefusal {
    /// What follows from `error`.
    pub fn of(error: ErrorCode) -> AfterRefusal {
        match error {
            ErrorCode::IneligibleReplica | ErrorCode::OperationNotAttempted => AfterRefusal::Revert,
            ErrorCode::UnknownTopicOrPartition
            | ErrorCode::UnknownTopicId
            | ErrorCode::FencedLeaderEpoch
            | ErrorCode::InvalidUpdateVersion
            | ErrorCode::InvalidRequest
            | ErrorCode::NewLeaderElected => AfterRefusal::AwaitMetadata,
            _ => AfterRefusal::Repeat,
        }
    }
}

/// A change of that partition is pending already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an ISR change of partition {0} is pending")]
pub struct ChangePending(pub PartitionId);

/// What comes out.
#[derive(Debug, Clone, PartialEq)]
pub enum Output {
    /// Send this to the active controller, version 3.
    Send {
        /// Names the request in [`IsrManager::answered`].
        call: CallId,
        /// What to send.
        request: AlterPartitionRequest,
    },
    /// A change was answered and is no longer pending.
    Resolved {
        /// The partition.
        partition: PartitionId,
        /// The controller's answer. The error's [`AfterRefusal`] is never `Repeat`.
        result: Result<CommittedIsr, ErrorCode>,
    },
}

/// How long after a failed request everything is sent again.
const RETRY: Duration = Duration::from_millis(50);

/// After which time an answer is not waited for any longer (`controller.socket.timeout.ms`).
pub const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

/// Sends a broker's ISR changes; see the module's documentation.
#[derive(Debug)]
pub struct IsrManager {
    broker: NodeId,
    epoch: Option<BrokerEpoch>,
    pending: BTreeMap<PartitionId, Pending>,
    next_number: u64,
    /// The slot remembers the number of each change that was sent.
    slot: Slot<BTreeMap<PartitionId, u64>>,
    not_before: MonoTime,
    outputs: VecDeque<Output>,
}

#[derive(Debug)]
struct Pending {
    number: u64,
    change: IsrChange,
}

impl IsrManager {
    /// The manager of that broker. It sends nothing before it knows the broker's epoch.
    pub fn new(broker: NodeId) -> IsrManager {
        IsrManager {
            broker,
            epoch: None,
            pending: BTreeMap::new(),
            next_number: 0,
            slot: Slot::new(),
            not_before: MonoTime::ZERO,
            outputs: VecDeque::new(),
        }
    }

    /// The broker was registered with that epoch.
    pub fn registered(&mut self, now: MonoTime, epoch: BrokerEpoch) {
        self.epoch = Some(epoch);
        self.tick(now);
    }

    /// Takes a change to the controller.
    ///
    /// # Errors
    /// If one of that partition is pending: the caller tries again when that is resolved.
    pub fn submit(
        &mut self,
        now: MonoTime,
        partition: PartitionId,
        change: IsrChange,
    ) -> Result<(), ChangePending> {
        if self.pending.contains_key(&partition) {
            return Err(ChangePending(partition));
        }
        let number = self.next_number;
        self.next_number += 1;
        self.pending.insert(partition, Pending { number, change });
        self.tick(now);
        Ok(())
    }

    /// Forgets the partition's pending change, since metadata made it pointless. If it was sent, its
    /// answer will be ignored.
    pub fn withdraw(&mut self, partition: PartitionId) {
        self.pending.remove(&partition);
    }

    /// A request was answered, or will not be.
    pub fn answered(
        &mut self,
        now: MonoTime,
        call: CallId,
        answer: Result<AlterPartitionResponse, CallFailure>,
    ) {
        if let Some(sent) = self.slot.close(call) {
            match answer {
                Ok(answer) if answer.error_code.is_none() => self.resolve(now, &sent, &answer),
                _ => self.not_before = now + RETRY,
            }
        }
        self.tick(now);
    }

    /// Time has passed.
    pub fn tick(&mut self, now: MonoTime) {
        if self.slot.expire(now).is_some() {
            self.not_before = now + RETRY;
        }
        if self.due().is_some_and(|due| due <= now) {
            self.send(now);
        }
    }

    /// The next thing to do; in order.
    pub fn poll(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    /// When to [`tick`](IsrManager::tick) at the latest.
    pub fn deadline(&self) -> Option<MonoTime> {
        self.slot.deadline().or_else(|| self.due())
    }

    /// Whether a change of that partition is pending.
    pub fn is_pending(&self, partition: PartitionId) -> bool {
        self.pending.contains_key(&partition)
    }

    fn due(&self) -> Option<MonoTime> {
        if self.slot.is_busy() || self.epoch.is_none() || self.pending.is_empty() {
            return None;
        }
        Some(self.not_before)
    }

    fn send(&mut self, now: MonoTime) {
        let Some(epoch) = self.epoch else { return };
        let mut topics: BTreeMap<TopicId, Vec<RequestPartitionData>> = BTreeMap::new();
        let mut sent = BTreeMap::new();
        for (partition, pending) in &self.pending {
            sent.insert(*partition, pending.number);
            topics
                .entry(partition.topic)
                .or_default()
                .push(on_the_wire(*partition, &pending.change));
        }
        let request = AlterPartitionRequest {
            broker_id: self.broker.0,
            broker_epoch: epoch.0,
            topics: topics
                .into_iter()
                .map(|(topic, partitions)| RequestTopicData {
                    topic_id: topic.0,
                    partitions,
                    ..Default::default()
                })
                .collect(),
            ..Default::default()
        };
        let call = self.slot.open(now, REQUEST_TIMEOUT, sent);
        self.outputs.push_back(Output::Send { call, request });
    }

    /// Goes by what was sent, not by what came back: a partition that the answer leaves out, or has
    /// an error for that asks for the same again, stays pending.
    fn resolve(
        &mut self,
        now: MonoTime,
        sent: &BTreeMap<PartitionId, u64>,
        answer: &AlterPartitionResponse,
    ) {
        for topic in &answer.topics {
            for partition in &topic.partitions {
                let id = PartitionId::new(TopicId(topic.topic_id), partition.partition_index);
                let is_ours = self
                    .pending
                    .get(&id)
                    .is_some_and(|pending| sent.get(&id) == Some(&pending.number));
                let result = from_the_wire(partition);
                if is_ours && result.as_ref().err().is_none_or(|error| is_final(*error)) {
                    self.pending.remove(&id);
                    self.outputs.push_back(Output::Resolved {
                        partition: id,
                        result,
                    });
                }
            }
        }
        let unresolved = |(id, number): (&PartitionId, &u64)| {
            self.pending
                .get(id)
                .is_some_and(|pending| pending.number == *number)
        };
        if sent.iter().any(unresolved) {
            self.not_before = now + RETRY;
        }
    }
}

fn is_final(error: ErrorCode) -> bool {
    AfterRefusal::of(error) != AfterRefusal::Repeat
}

fn on_the_wire(partition: PartitionId, change: &IsrChange) -> RequestPartitionData {
    RequestPartitionData {
        partition_index: partition.index,
        leader_epoch: change.leader_epoch.0,
        new_isr_with_epochs: change
            .isr
            .iter()
            .map(|(broker, epoch)| BrokerState {
                broker_id: broker.0,
                broker_epoch: epoch.map_or(-1, |epoch| epoch.0),
                ..Default::default()
            })
            .collect(),
        leader_recovery_state: change.recovery.to_wire(),
        partition_epoch: change.partition_epoch.0,
        ..Default::default()
    }
}

fn from_the_wire(partition: &ResponsePartitionData) -> Result<CommittedIsr, ErrorCode> {
    if !partition.error_code.is_none() {
        return Err(partition.error_code);
    }
    Ok(CommittedIsr {
        leader: NodeId::from_wire(partition.leader_id),
        leader_epoch: LeaderEpoch(partition.leader_epoch),
        isr: partition.isr.iter().copied().map(NodeId).collect(),
        // No state that is known here: as if the controller had failed.
        recovery: LeaderRecovery::from_wire(partition.leader_recovery_state)
            .ok_or(ErrorCode::UnknownServerError)?,
        partition_epoch: PartitionEpoch(partition.partition_epoch),
    })
}
