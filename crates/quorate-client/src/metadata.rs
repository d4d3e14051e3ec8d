//! A client's metadata: what is known, what is wanted, when to ask.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use quorate_protocol::messages::metadata::{MetadataRequestTopic, MetadataResponseTopic};
use quorate_protocol::messages::{MetadataRequest, MetadataResponse};
use quorate_types::{ErrorCode, LeaderEpoch, MonoTime, NodeId, Rng, TopicId};

use crate::epochs::{LeaderEpochs, Verdict};
use crate::error::asks_for_update;
use crate::interest::Interest;
use crate::pace::Pace;
use crate::snapshot::{ClusterSnapshot, Node, PartitionInfo, TopicInfo};
use crate::wait::Wait;
use crate::{Address, ClientConfig};

/// Grows with every answer and with every new start from the bootstrap servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Version(pub u64);

/// Why there will be no more metadata.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// The client was closed.
    #[error("the client was closed")]
    Closed,
    /// The cluster refused the client for good, for instance its authentication.
    #[error("the cluster refused the client: {0}")]
    Fatal(ErrorCode),
}

/// A request to send, and what to remember of it until it is answered.
#[derive(Debug, Clone, PartialEq)]
pub struct MetadataCall {
    /// What to send, to any node or, while none is known, to a bootstrap server.
    pub request: MetadataRequest,
    /// Hand this back with the answer.
    pub ticket: Ticket,
}

/// Names one request; see [`ClientMetadata::answered`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ticket {
    number: u64,
    /// Answers to an older question leave newer topics wanted.
    question: u64,
    partial: bool,
}

/// Who leads a partition, as far as is known.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CurrentLeader {
    /// The node; `None` if it is unknown, or if a newer epoch was heard of than this is known for.
    pub node: Option<Node>,
    /// The highest epoch that was seen.
    pub epoch: Option<LeaderEpoch>,
}

/// A leader that a Produce or Fetch answer named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NamedLeader {
    /// The node.
    pub leader: NodeId,
    /// Its epoch.
    pub epoch: LeaderEpoch,
}

/// A client's metadata; see the [crate's documentation](crate).
#[derive(Debug)]
pub struct ClientMetadata {
    config: ClientConfig,
    rng: Rng,
    snapshot: Arc<ClusterSnapshot>,
    epochs: LeaderEpochs,
    interest: Interest,
    pace: Pace,
    version: Version,
    /// Grows with every new topic.
    question: u64,
    full_wanted: bool,
    partial_wanted: bool,
    last_full: Option<MonoTime>,
    /// Since when there has been no answer; `None` while the last one was answered.
    unanswered_since: Option<MonoTime>,
    in_flight: Option<(u64, MonoTime)>,
    next_ticket: u64,
    fault: Option<Fault>,
}

impl ClientMetadata {
    /// A client that knows its bootstrap servers and wants to know more.
    pub fn new(config: ClientConfig, rng: Rng) -> ClientMetadata {
        ClientMetadata {
            interest: Interest::new(config.max_idle),
            pace: Pace::new(config.backoff, config.longest_backoff),
            config,
            rng,
            snapshot: Arc::default(),
            epochs: LeaderEpochs::default(),
            version: Version(1),
            question: 0,
            full_wanted: true,
            partial_wanted: false,
            last_full: None,
            unanswered_since: None,
            in_flight: None,
            next_ticket: 0,
            fault: None,
        }
    }

    /// Somebody uses the topic. A new one makes an update due at once.
    pub fn add_topic(&mut self, now: MonoTime, topic: &str) -> Version {
        if self.interest.add(now, topic) {
            self.question += 1;
            self.partial_wanted = true;
            self.pace.new_question();
        }
        self.version
    }

    /// Wants to know of all topics, as administrative clients and pattern subscriptions do.
    pub fn want_all_topics(&mut self, all: bool) {
        if all != self.interest.all() {
            self.interest.set_all(all);
            self.question += 1;
            self.full_wanted = true;
        }
    }

    /// Wants a full update. Gives the version that the update will be newer than.
    pub fn request_update(&mut self) -> Version {
        self.full_wanted = true;
        self.version
    }

    /// A request, of whatever kind, was answered with that error or found no connection.
    pub fn saw_error(&mut self, error: ErrorCode) {
        if asks_for_update(error) {
            self.full_wanted = true;
        }
    }

    /// A wait for a version newer than `version`, for at most `max`.
    pub fn wait(&self, now: MonoTime, version: Version, max: Duration) -> Wait {
        Wait {
            version,
            until: now + max,
        }
    }

    /// The next request, if it is time for one and none is in flight.
    pub fn poll_request(&mut self, now: MonoTime) -> Option<MetadataCall> {
        if self.in_flight.is_some_and(|(_, until)| until <= now) {
            self.in_flight = None;
            self.no_answer(now);
        }
        self.rebootstrap_if_overdue(now);
        if self.in_flight.is_some() || self.fault.is_some() || self.due() > now {
            return None;
        }
        self.interest.drop_idle(now);
        let partial = !self.full_wanted && self.partial_wanted && !self.is_too_old(now);
        let ticket = Ticket {
            number: self.next_ticket,
            question: self.question,
            partial,
        };
        self.next_ticket += 1;
        self.in_flight = Some((ticket.number, now + self.config.request_timeout));
        self.unanswered_since.get_or_insert(now);
        Some(MetadataCall {
            request: self.request(partial),
            ticket,
        })
    }

    /// When to ask [`poll_request`](ClientMetadata::poll_request) at the latest.
    pub fn deadline(&self) -> Option<MonoTime> {
        if self.fault.is_some() {
            return None;
        }
        let ask = match self.in_flight {
            Some((_, until)) => until,
            None => self.due(),
        };
        Some(self.rebootstrap_at().map_or(ask, |at| ask.min(at)))
    }

    /// An answer, in the version that it was read in. Answers to requests that were given up are
    /// ignored.
    pub fn answered(
        &mut self,
        now: MonoTime,
        ticket: Ticket,
        version: i16,
        response: &MetadataResponse,
    ) {
        if !self.is_awaited(ticket) {
            return;
        }
        if response.error_code == ErrorCode::RebootstrapRequired {
            return self.rebootstrap(now);
        }
        if !response.error_code.is_none() || response.brokers.is_empty() {
            return self.no_answer(now);
        }
        self.unanswered_since = None;
        self.version.0 += 1;
        self.partial_wanted = ticket.question < self.question;
        if !ticket.partial {
            self.full_wanted = false;
            self.last_full = Some(now);
        }
        let news = self.take(response, version, ticket.partial);
        self.pace.answered(now, news, &mut self.rng);
    }

    /// The request failed: no connection, no answer, nothing readable.
    pub fn failed(&mut self, now: MonoTime, ticket: Ticket) {
        if self.is_awaited(ticket) {
            self.no_answer(now);
        }
    }

    /// No node that is known can be reached: starts again from the bootstrap servers.
    pub fn no_node_usable(&mut self, now: MonoTime) {
        if self.config.rebootstrap_after.is_some() && !self.snapshot.nodes.is_empty() {
            self.rebootstrap(now);
        }
    }

    /// A leader epoch was seen elsewhere, for instance in an offset's metadata. A higher one than is
    /// known wants an update; until that comes the partition's leader counts as unknown.
    pub fn heard_epoch(&mut self, topic: &str, partition: i32, epoch: LeaderEpoch) -> bool {
        let is_news = self.epochs.heard(topic, partition, epoch);
        self.full_wanted |= is_news;
        is_news
    }

    /// A Produce or Fetch answer named a partition's leader, and the nodes that it named along with
    /// it. Taken if the epoch is newer, the node is known by now, and the partition is.
    pub fn heard_leader(
        &mut self,
        topic: &str,
        partition: i32,
        named: NamedLeader,
        nodes: &[Node],
    ) -> bool {
        let is_newer = self
            .epochs
            .last_seen(topic, partition)
            .is_none_or(|seen| named.epoch > seen);
        let is_node = self.snapshot.nodes.contains_key(&named.leader)
            || nodes.iter().any(|node| node.id == named.leader);
        if !is_newer || !is_node || self.snapshot.partition(topic, partition).is_none() {
            return false;
        }
        let snapshot = Arc::make_mut(&mut self.snapshot);
        for node in nodes {
            snapshot.nodes.insert(node.id, node.clone());
        }
        let topic_info = snapshot.topics.get_key_value(topic);
        let Some(name) = topic_info.map(|(name, _)| name.clone()) else {
            return false;
        };
        if let Some(info) = snapshot
            .topics
            .get_mut(&name)
            .and_then(|topic| topic.partitions.get_mut(&partition))
        {
            info.leader = Some(named.leader);
            info.leader_epoch = Some(named.epoch);
        }
        self.epochs
            .judge(&name, partition, Some(named.epoch), false);
        true
    }

    /// No more metadata: the cluster refused the client for good.
    pub fn fail(&mut self, error: ErrorCode) {
        self.fault.get_or_insert(Fault::Fatal(error));
    }

    /// No more metadata: the client is closed. Ends every wait.
    pub fn close(&mut self) {
        self.fault = Some(Fault::Closed);
    }

    /// Why there will be no more metadata.
    pub fn fault(&self) -> Option<Fault> {
        self.fault
    }

    /// The version of what is known.
    pub fn version(&self) -> Version {
        self.version
    }

    /// What is known.
    pub fn snapshot(&self) -> &Arc<ClusterSnapshot> {
        &self.snapshot
    }

    /// Whether an update is wanted or due: a consumer that is about to assign partitions waits for a
    /// newer version then.
    pub fn is_update_wanted(&self, now: MonoTime) -> bool {
        self.full_wanted || self.partial_wanted || self.is_too_old(now)
    }

    /// Who leads the partition.
    pub fn leader(&self, topic: &str, partition: i32) -> CurrentLeader {
        let seen = self.epochs.last_seen(topic, partition);
        let node = self
            .snapshot
            .partition(topic, partition)
            .filter(|info| seen.is_none() || info.leader_epoch == seen)
            .and_then(|info| info.leader)
            .and_then(|leader| self.snapshot.nodes.get(&leader));
        CurrentLeader {
            node: node.cloned(),
            epoch: seen,
        }
    }

    /// Whom to ask: the nodes that are known, or the bootstrap servers.
    pub fn servers(&self) -> Vec<Address> {
        if self.snapshot.nodes.is_empty() {
            return self.config.bootstrap.clone();
        }
        self.snapshot
            .nodes
            .values()
            .map(|node| node.address.clone())
            .collect()
    }

    fn due(&self) -> MonoTime {
        let wanted = self.full_wanted || self.partial_wanted;
        let by_age = self.last_full.map(|last| last + self.config.max_age);
        match by_age {
            Some(expires) if !wanted => expires.max(self.pace.not_before()),
            _ => self.pace.not_before(),
        }
    }

    fn is_too_old(&self, now: MonoTime) -> bool {
        self.last_full
            .is_none_or(|last| last + self.config.max_age <= now)
    }

    fn request(&self, partial: bool) -> MetadataRequest {
        let topic = |name: &Arc<str>| MetadataRequestTopic {
            name: Some(name.to_string()),
            ..Default::default()
        };
        let topics = match (self.interest.all(), partial) {
            (true, _) => None,
            (false, true) => Some(self.interest.new_names().map(topic).collect()),
            (false, false) => Some(self.interest.names().map(topic).collect()),
        };
        MetadataRequest {
            topics,
            allow_auto_topic_creation: self.config.auto_create_topics,
            ..Default::default()
        }
    }

    fn is_awaited(&mut self, ticket: Ticket) -> bool {
        self.in_flight
            .take_if(|(number, _)| *number == ticket.number)
            .is_some()
            && self.fault.is_none()
    }

    fn no_answer(&mut self, now: MonoTime) {
        self.pace.failed(now, &mut self.rng);
    }

    fn rebootstrap_at(&self) -> Option<MonoTime> {
        Some(self.unanswered_since? + self.config.rebootstrap_after?)
    }

    fn rebootstrap_if_overdue(&mut self, now: MonoTime) {
        if self.rebootstrap_at().is_some_and(|at| at <= now) {
            self.rebootstrap(now);
        }
    }

    /// Everything that was learnt from the nodes is forgotten, but for the leader epochs: a cluster
    /// does not go back in those.
    fn rebootstrap(&mut self, now: MonoTime) {
        self.version.0 += 1;
        self.full_wanted = true;
        self.in_flight = None;
        self.unanswered_since = None;
        self.snapshot = Arc::default();
        self.pace.failed(now, &mut self.rng);
    }

    /// Takes an answer into the snapshot. Gives whether it said anything new.
    fn take(&mut self, response: &MetadataResponse, version: i16, partial: bool) -> bool {
        let mut next = ClusterSnapshot {
            cluster_id: response.cluster_id.clone(),
            nodes: nodes(response),
            controller: NodeId::from_wire(response.controller_id),
            ..Default::default()
        };
        if partial {
            self.keep_unasked(response, &mut next);
        }
        let mut news = false;
        for topic in &response.topics {
            let Some(name) = topic.name.as_deref().map(Arc::from) else {
                continue;
            };
            self.interest.covered(&name);
            if self.interest.wants(&name) {
                news |= self.take_topic(&name, topic, version, &mut next);
            }
        }
        let interest = &self.interest;
        self.epochs.retain(|topic| interest.wants(topic));
        self.snapshot = Arc::new(next);
        news
    }

    /// A partial answer leaves alone what it was not asked for.
    fn keep_unasked(&self, response: &MetadataResponse, next: &mut ClusterSnapshot) {
        let is_answered = |name: &str| {
            response
                .topics
                .iter()
                .any(|topic| topic.name.as_deref() == Some(name))
        };
        let keep = |name: &Arc<str>| self.interest.wants(name) && !is_answered(name);
        next.topics = self
            .snapshot
            .topics
            .iter()
            .filter(|(name, _)| keep(name))
            .map(|(name, topic)| (name.clone(), topic.clone()))
            .collect();
        let names = |set: &std::collections::BTreeSet<Arc<str>>| {
            set.iter().filter(|name| keep(name)).cloned().collect()
        };
        next.unauthorized = names(&self.snapshot.unauthorized);
        next.invalid = names(&self.snapshot.invalid);
    }

    fn take_topic(
        &mut self,
        name: &Arc<str>,
        topic: &MetadataResponseTopic,
        version: i16,
        next: &mut ClusterSnapshot,
    ) -> bool {
        match topic.error_code {
            ErrorCode::None => {}
            ErrorCode::TopicAuthorizationFailed => {
                next.unauthorized.insert(name.clone());
                return false;
            }
            ErrorCode::InvalidTopicException => {
                next.invalid.insert(name.clone());
                return false;
            }
            error => {
                self.saw_error(error);
                return false;
            }
        }
        let known = self.snapshot.topics.get(name);
        let id = topic.topic_id.non_zero().map(TopicId);
        let known_id = known.and_then(|known| known.id);
        let other_id = id.is_some() && id != known_id;
        let mut info = TopicInfo {
            id,
            internal: topic.is_internal,
            partitions: BTreeMap::new(),
        };
        let mut news = false;
        for partition in &topic.partitions {
            let index = partition.partition_index;
            let reliable = version >= 9 && partition.leader_epoch >= 0;
            let epoch = reliable.then_some(LeaderEpoch(partition.leader_epoch));
            let verdict = self.epochs.judge(name, index, epoch, other_id);
            news |= verdict == Verdict::News;
            let before = self.snapshot.partition(name, index).cloned();
            let taken = match verdict {
                Verdict::Outdated => before,
                _ => Some(partition_info(partition, epoch)),
            };
            info.partitions.extend(taken.map(|taken| (index, taken)));
            self.saw_error(partition.error_code);
        }
        next.topics.insert(name.clone(), info);
        news
    }
}

fn nodes(response: &MetadataResponse) -> BTreeMap<NodeId, Node> {
    let node = |broker: &quorate_protocol::messages::metadata::MetadataResponseBroker| {
        let id = NodeId(broker.node_id);
        let node = Node {
            id,
            address: Address {
                host: broker.host.clone(),
                port: u16::try_from(broker.port).ok()?,
            },
            rack: broker.rack.clone(),
        };
        Some((id, node))
    };
    response.brokers.iter().filter_map(node).collect()
}

fn partition_info(
    partition: &quorate_protocol::messages::metadata::MetadataResponsePartition,
    epoch: Option<LeaderEpoch>,
) -> PartitionInfo {
    let ids = |ids: &[i32]| ids.iter().copied().map(NodeId).collect();
    PartitionInfo {
        error: partition.error_code,
        leader: NodeId::from_wire(partition.leader_id),
        leader_epoch: epoch,
        replicas: ids(&partition.replica_nodes),
        isr: ids(&partition.isr_nodes),
        offline: ids(&partition.offline_replicas),
    }
}
