//! Replicas without data: a follower is in sync as soon as it follows its leader's epoch.
//!
//! That is all there is to replicate when there are no records, and it still takes two brokers to
//! agree on it, as with data:
//! 1. a follower tells its leader which leader epoch it follows, and under which broker epoch;
//! 2. the leader takes that only for its own epoch, `FENCED_LEADER_EPOCH` or `UNKNOWN_LEADER_EPOCH`
//!    say who is behind;
//! 3. the leader proposes the follower for the ISR, the controller decides, and both learn from the
//!    log what became of it.
//!
//! It travels as Fetch from offset 0, version 17 or later: that is the request by which a stock
//! leader judges its followers too, and the only one that carries topic id, leader epoch and broker
//! epoch together; OffsetForLeaderEpoch has no broker epoch, without which a follower that has
//! restarted meanwhile could slip into the ISR (KIP-903). One request for each leader carries all
//! partitions that have something to say.
//!
//! A follower that is in the ISR and was heard rests; one that is out of it comes again every
//! second, so that nothing which is lost, in the leader's memory or on the way, stays lost.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use quorate_metadata::{LocalDelete, LocalReplica, MetadataImage, PartitionId};
use quorate_types::{BrokerEpoch, DirectoryId, ErrorCode, LeaderEpoch, MonoTime, NodeId};

use super::{LocalReplicas, ReplicaHost};
use crate::backoff::Backoff;
use crate::call::{CallFailure, CallId, Slot};

/// A follower tells a leader which epochs it follows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FollowRequest {
    /// Who follows.
    pub follower: NodeId,
    /// The epoch of its registration.
    pub follower_epoch: BrokerEpoch,
    /// Which partitions, in which leader epochs; ascending.
    pub partitions: Vec<(PartitionId, LeaderEpoch)>,
}

/// What the leader says to each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FollowAnswer {
    /// The partitions asked for; `NONE` where the follower was taken.
    pub partitions: Vec<(PartitionId, ErrorCode)>,
}

/// What comes out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Output {
    /// Tell the leader.
    Follow {
        /// Names the request in [`MemoryReplicas::answered`].
        call: CallId,
        /// The broker that leads.
        leader: NodeId,
        /// What to say.
        request: FollowRequest,
    },
}

/// The most partitions that one request names.
const MOST_PER_REQUEST: usize = 1000;
/// How long a leader's answer is waited for.
pub const REQUEST_TIMEOUT: Duration = Duration::from_secs(2);
const AGAIN_WHILE_OUT_OF_SYNC: Duration = Duration::from_secs(1);
const BACKOFF: Backoff = Backoff {
    initial: Duration::from_millis(50),
    longest: Duration::from_secs(1),
};

#[derive(Debug, Clone)]
struct Replica {
    leader_epoch: LeaderEpoch,
    /// Whom it follows; `None` if it leads or nobody does.
    leader: Option<NodeId>,
    /// Whether it is in the ISR.
    in_sync: bool,
    /// Whether the leader took it in this leader epoch.
    heard: bool,
}

/// What is to be said to one leader.
#[derive(Debug)]
struct Channel {
    /// The slot remembers what was said.
    slot: Slot<Vec<(PartitionId, LeaderEpoch)>>,
    /// Partitions with something to say now.
    due: BTreeSet<PartitionId>,
    /// Not before this.
    at: MonoTime,
    failures: u32,
    /// Partitions that were heard but are out of the ISR come again at that time.
    again: Option<(MonoTime, BTreeSet<PartitionId>)>,
}

impl Channel {
    fn new() -> Channel {
        Channel {
            slot: Slot::new(),
            due: BTreeSet::new(),
            at: MonoTime::ZERO,
            failures: 0,
            again: None,
        }
    }

    fn deadline(&self) -> Option<MonoTime> {
        if let Some(until) = self.slot.deadline() {
            return Some(until);
        }
        let due = (!self.due.is_empty()).then_some(self.at);
        let again = self.again.as_ref().map(|(at, _)| *at);
        [due, again].into_iter().flatten().min()
    }

    fn failed(&mut self, now: MonoTime, said: Vec<(PartitionId, LeaderEpoch)>) {
        self.failures = self.failures.saturating_add(1);
        self.at = now + BACKOFF.after(self.failures);
        self.due.extend(said.into_iter().map(|(id, _)| id));
    }
}

/// Replicas without data; see the module's documentation.
#[derive(Debug)]
pub struct MemoryReplicas {
    broker: NodeId,
    epoch: Option<BrokerEpoch>,
    directory: DirectoryId,
    replicas: BTreeMap<PartitionId, Replica>,
    channels: BTreeMap<NodeId, Channel>,
    outputs: VecDeque<Output>,
}

impl MemoryReplicas {
    /// No replicas yet; they will lie in `directory`.
    pub fn new(broker: NodeId, directory: DirectoryId) -> MemoryReplicas {
        MemoryReplicas {
            broker,
            epoch: None,
            directory,
            replicas: BTreeMap::new(),
            channels: BTreeMap::new(),
            outputs: VecDeque::new(),
        }
    }

    /// The broker was registered with that epoch; nothing is said before. With another epoch than
    /// before everything is said again: a leader that knows an old one could change no ISR any more
    /// that this broker is in.
    pub fn registered(&mut self, epoch: BrokerEpoch) {
        if self.epoch.replace(epoch) == Some(epoch) {
            return;
        }
        for (id, replica) in &mut self.replicas {
            replica.heard = false;
            if let Some(leader) = replica.leader {
                let channel = self.channels.entry(leader).or_insert_with(Channel::new);
                channel.due.insert(*id);
            }
        }
    }

    /// A leader's answer, or none.
    pub fn answered(
        &mut self,
        now: MonoTime,
        leader: NodeId,
        call: CallId,
        answer: Result<FollowAnswer, CallFailure>,
    ) {
        let Some(channel) = self.channels.get_mut(&leader) else {
            return;
        };
        let Some(said) = channel.slot.close(call) else {
            return;
        };
        match answer {
            Ok(answer) => self.heard(now, leader, said, &answer),
            Err(_) => channel.failed(now, said),
        }
    }

    /// Time has passed: says what is due. Call it after everything else too.
    pub fn tick(&mut self, now: MonoTime) {
        let Some(epoch) = self.epoch else { return };
        for (leader, channel) in &mut self.channels {
            if let Some(said) = channel.slot.expire(now) {
                channel.failed(now, said);
            }
            if let Some((_, partitions)) = channel.again.take_if(|(at, _)| *at <= now) {
                channel.due.extend(partitions);
            }
            if channel.slot.is_busy() || channel.due.is_empty() || channel.at > now {
                continue;
            }
            let replicas = &self.replicas;
            let follows = |id: PartitionId| {
                let replica = replicas.get(&id)?;
                (replica.leader == Some(*leader) && !(replica.heard && replica.in_sync))
                    .then_some((id, replica.leader_epoch))
            };
            let mut partitions = Vec::new();
            while partitions.len() < MOST_PER_REQUEST {
                let Some(id) = channel.due.pop_first() else {
                    break;
                };
                partitions.extend(follows(id));
            }
            if partitions.is_empty() {
                continue;
            }
            let call = channel.slot.open(now, REQUEST_TIMEOUT, partitions.clone());
            self.outputs.push_back(Output::Follow {
                call,
                leader: *leader,
                request: FollowRequest {
                    follower: self.broker,
                    follower_epoch: epoch,
                    partitions,
                },
            });
        }
    }

    /// The next thing to do; in order.
    pub fn poll(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    /// When to [`tick`](MemoryReplicas::tick) at the latest.
    pub fn deadline(&self) -> Option<MonoTime> {
        self.epoch?;
        self.channels.values().filter_map(Channel::deadline).min()
    }

    /// How many replicas lie here.
    pub fn len(&self) -> usize {
        self.replicas.len()
    }

    /// Whether none does.
    pub fn is_empty(&self) -> bool {
        self.replicas.is_empty()
    }

    /// The leader's side: takes the followers of the partitions led here, so that they may join the
    /// ISR.
    pub fn followed(
        local: &mut LocalReplicas,
        request: &FollowRequest,
        image: &MetadataImage,
    ) -> FollowAnswer {
        let mut take = |(id, epoch): &(PartitionId, LeaderEpoch)| {
            let error = match local.check_leader(*id, request.follower, *epoch) {
                Ok(()) => {
                    local.caught_up(*id, request.follower, request.follower_epoch, image);
                    ErrorCode::None
                }
                Err(error) => error,
            };
            (*id, error)
        };
        FollowAnswer {
            partitions: request.partitions.iter().map(&mut take).collect(),
        }
    }

    /// What the answer leaves out counts as refused.
    fn heard(
        &mut self,
        now: MonoTime,
        leader: NodeId,
        said: Vec<(PartitionId, LeaderEpoch)>,
        answer: &FollowAnswer,
    ) {
        let taken: BTreeSet<PartitionId> = answer
            .partitions
            .iter()
            .filter(|(_, error)| error.is_none())
            .map(|(id, _)| *id)
            .collect();
        let Some(channel) = self.channels.get_mut(&leader) else {
            return;
        };
        let (taken, refused): (Vec<_>, Vec<_>) =
            said.into_iter().partition(|(id, _)| taken.contains(id));
        let mut out_of_sync = BTreeSet::new();
        for (id, epoch) in taken {
            if let Some(replica) = self.replicas.get_mut(&id)
                && replica.leader_epoch == epoch
            {
                replica.heard = true;
                if !replica.in_sync {
                    out_of_sync.insert(id);
                }
            }
        }
        if !out_of_sync.is_empty() {
            let again = channel
                .again
                .get_or_insert((now + AGAIN_WHILE_OUT_OF_SYNC, BTreeSet::new()));
            again.1.append(&mut out_of_sync);
        }
        if refused.is_empty() {
            channel.failures = 0;
            channel.at = now;
        } else {
            channel.failed(now, refused);
        }
    }

    fn take(&mut self, replica: &LocalReplica, leader: Option<NodeId>) {
        let partition = &replica.partition;
        let before = self.replicas.get(&replica.id);
        let heard = before.is_some_and(|before| {
            before.heard && before.leader_epoch == partition.leader_epoch && before.leader == leader
        });
        let state = Replica {
            leader_epoch: partition.leader_epoch,
            leader,
            in_sync: partition.in_isr(self.broker),
            heard,
        };
        let speaks = !(state.heard && state.in_sync);
        self.replicas.insert(replica.id, state);
        if let Some(leader) = leader.filter(|_| speaks) {
            let channel = self.channels.entry(leader).or_insert_with(Channel::new);
            channel.due.insert(replica.id);
        }
    }
}

impl ReplicaHost for MemoryReplicas {
    fn become_leader(&mut self, replica: &LocalReplica) {
        self.take(replica, None);
    }

    fn become_follower(&mut self, replica: &LocalReplica) {
        self.take(replica, replica.partition.leader);
    }

    fn delete(&mut self, replica: &LocalDelete) {
        self.replicas.remove(&replica.id);
    }

    fn directory(&self, partition: PartitionId) -> Option<DirectoryId> {
        self.replicas.get(&partition).map(|_| self.directory)
    }

    fn stop_fetching(&mut self, partition: PartitionId) {
        if let Some(replica) = self.replicas.get_mut(&partition) {
            replica.leader = None;
        }
    }
}
