//! Metadata, versions 0 to 13: what producers and consumers ask first and most.
//!
//! | Case | Answer |
//! |---|---|
//! | no leader, or one that is not registered | `LEADER_NOT_AVAILABLE`, leader −1, the real epoch |
//! | the leader lacks the client's listener | from version 6 `LISTENER_NOT_FOUND`, else the same as above |
//! | version 0, a replica or ISR member fenced or without the listener | left out, `REPLICA_NOT_AVAILABLE` |
//! | a name that nobody has | `UNKNOWN_TOPIC_OR_PARTITION`; `INVALID_TOPIC_EXCEPTION` if nobody can |
//! | an id that nobody has | `UNKNOWN_TOPIC_ID` |
//! | ids, or no names, below version 12 | `INVALID_REQUEST` for each topic |
//! | not allowed to describe | left out of "all topics", else `TOPIC_AUTHORIZATION_FAILED` with nothing but what was asked by |
//!
//! The controller id names any unfenced broker: what clients send there is forwarded (KIP-590).

use std::collections::BTreeSet;

use quorate_metadata::{Partition, Topic};
use quorate_protocol::messages::metadata::{
    MetadataResponseBroker, MetadataResponsePartition, MetadataResponseTopic,
};
use quorate_protocol::messages::{MetadataRequest, MetadataResponse};
use quorate_types::{ErrorCode, NodeId, Rng, TopicId, Uuid};

use super::partitions::{View, ids};
use super::{Asker, MetadataCache, NOT_ASKED, is_internal, is_valid};

/// An answer to Metadata, and what it leaves to do.
#[derive(Debug, Clone, PartialEq)]
pub struct MetadataAnswer {
    /// What to send.
    pub response: MetadataResponse,
    /// Topics to create on the client's behalf, ascending; the answer calls them unknown meanwhile.
    pub create: Vec<String>,
}

/// What a request wants to know of.
enum Wanted {
    All,
    Names(BTreeSet<String>),
    Ids(BTreeSet<TopicId>),
}

impl MetadataCache {
    /// Answers Metadata. `rng` chooses the broker that is named as controller.
    pub fn metadata(
        &self,
        asker: &Asker<'_>,
        request: &MetadataRequest,
        rng: &mut Rng,
    ) -> MetadataAnswer {
        let view = View {
            image: self.image(),
            listener: asker.listener,
        };
        let mut answer = MetadataAnswer {
            response: MetadataResponse {
                brokers: brokers(view),
                cluster_id: Some(self.cluster_id.clone()),
                controller_id: NodeId::to_wire(self.any_broker(rng)),
                cluster_authorized_operations: cluster_operations(asker, request),
                ..Default::default()
            },
            create: Vec::new(),
        };
        match wanted(request, asker.version) {
            Ok(wanted) => {
                let topics = Topics {
                    cache: self,
                    view,
                    asker,
                    request,
                };
                topics.answer(wanted, &mut answer);
            }
            Err(error) => answer.response = refusal(request, error),
        }
        answer
    }

    /// Any unfenced broker.
    pub(super) fn any_broker(&self, rng: &mut Rng) -> Option<NodeId> {
        let unfenced: Vec<NodeId> = self
            .image()
            .brokers()
            .filter(|broker| !broker.fenced)
            .map(|broker| broker.id)
            .collect();
        unfenced.get(rng.index(unfenced.len())).copied()
    }
}

fn wanted(request: &MetadataRequest, version: i16) -> Result<Wanted, ErrorCode> {
    let Some(topics) = &request.topics else {
        return Ok(Wanted::All);
    };
    if topics.is_empty() && version == 0 {
        return Ok(Wanted::All);
    }
    let by_id = |topic: &Uuid| !topic.is_zero();
    if version < 12
        && topics
            .iter()
            .any(|topic| topic.name.is_none() || by_id(&topic.topic_id))
    {
        return Err(ErrorCode::InvalidRequest);
    }
    // One id makes it a request by id; names are then ignored.
    if topics.iter().any(|topic| by_id(&topic.topic_id)) {
        let ids = topics.iter().map(|topic| topic.topic_id).filter(by_id);
        return Ok(Wanted::Ids(ids.map(TopicId).collect()));
    }
    Ok(Wanted::Names(
        topics
            .iter()
            .filter_map(|topic| topic.name.clone())
            .collect(),
    ))
}

/// A request that makes no sense gets its error at every topic, and at the top from version 13 on.
fn refusal(request: &MetadataRequest, error: ErrorCode) -> MetadataResponse {
    let topic = |topic: &quorate_protocol::messages::metadata::MetadataRequestTopic| {
        MetadataResponseTopic {
            error_code: error,
            name: Some(topic.name.clone().unwrap_or_default()),
            topic_id: topic.topic_id,
            ..Default::default()
        }
    };
    MetadataResponse {
        topics: request.topics.iter().flatten().map(topic).collect(),
        error_code: error,
        ..Default::default()
    }
}

fn brokers(view: View<'_>) -> Vec<MetadataResponseBroker> {
    view.usable_brokers()
        .map(|(broker, listener)| MetadataResponseBroker {
            node_id: broker.id.0,
            host: listener.host.clone(),
            port: i32::from(listener.port),
            rack: broker.rack.as_deref().map(str::to_owned),
            ..Default::default()
        })
        .collect()
}

fn cluster_operations(asker: &Asker<'_>, request: &MetadataRequest) -> i32 {
    let asked = (8..=10).contains(&asker.version) && request.include_cluster_authorized_operations;
    match (asked, asker.access.may_describe_cluster()) {
        (false, _) => NOT_ASKED,
        (true, true) => asker.access.cluster_operations(),
        (true, false) => 0,
    }
}

/// Everything that the topics of one answer depend on.
struct Topics<'a> {
    cache: &'a MetadataCache,
    view: View<'a>,
    asker: &'a Asker<'a>,
    request: &'a MetadataRequest,
}

impl Topics<'_> {
    fn answer(&self, wanted: Wanted, answer: &mut MetadataAnswer) {
        match wanted {
            Wanted::All => {
                for topic in self.cache.image().topics().iter() {
                    if self.asker.access.may_describe_topic(topic.name()) {
                        answer.response.topics.push(self.known(topic));
                    }
                }
            }
            Wanted::Ids(ids) => {
                for id in ids {
                    answer.response.topics.push(self.by_id(id));
                }
            }
            Wanted::Names(names) => {
                for name in names {
                    let (topic, create) = self.by_name(&name);
                    answer.response.topics.push(topic);
                    if create {
                        answer.create.push(name);
                    }
                }
            }
        }
    }

    fn by_id(&self, id: TopicId) -> MetadataResponseTopic {
        match self.cache.image().topics().by_id(id) {
            None => refused(ErrorCode::UnknownTopicId, None, id),
            Some(topic) if !self.asker.access.may_describe_topic(topic.name()) => {
                refused(ErrorCode::TopicAuthorizationFailed, None, id)
            }
            Some(topic) => self.known(topic),
        }
    }

    /// The topic, and whether it is to be created.
    fn by_name(&self, name: &str) -> (MetadataResponseTopic, bool) {
        let nobody = TopicId(Uuid::ZERO);
        let refuse = |error| refused(error, Some(name), nobody);
        if !self.asker.access.may_describe_topic(name) {
            let topic = MetadataResponseTopic {
                is_internal: false,
                ..refuse(ErrorCode::TopicAuthorizationFailed)
            };
            return (topic, false);
        }
        if let Some(topic) = self.cache.image().topics().by_name(name) {
            return (self.known(topic), false);
        }
        if !is_valid(name) {
            return (refuse(ErrorCode::InvalidTopicException), false);
        }
        let creates =
            self.cache.config.auto_create_topics && self.request.allow_auto_topic_creation;
        if creates && !self.asker.access.may_create_topic(name) {
            return (refuse(ErrorCode::TopicAuthorizationFailed), false);
        }
        (refuse(ErrorCode::UnknownTopicOrPartition), creates)
    }

    fn known(&self, topic: Topic<'_>) -> MetadataResponseTopic {
        let asked = self.asker.version >= 8 && self.request.include_topic_authorized_operations;
        MetadataResponseTopic {
            error_code: ErrorCode::None,
            name: Some(topic.name().to_string()),
            topic_id: topic.id().0,
            is_internal: is_internal(topic.name()),
            partitions: topic
                .partitions()
                .map(|(index, partition)| self.partition(index, &partition))
                .collect(),
            topic_authorized_operations: match asked {
                true => self.asker.access.topic_operations(topic.name()),
                false => NOT_ASKED,
            },
            ..Default::default()
        }
    }

    fn partition(&self, index: i32, partition: &Partition) -> MetadataResponsePartition {
        let leader = self.view.leader(partition);
        let (replicas, isr) = match self.asker.version {
            0 => (
                self.view.only_usable(&partition.replicas),
                self.view.only_usable(&partition.isr),
            ),
            _ => (ids(&partition.replicas), ids(&partition.isr)),
        };
        let complete =
            replicas.len() == partition.replicas.len() && isr.len() == partition.isr.len();
        let error_code = match leader {
            Err(reason) => reason.error(self.asker.version),
            Ok(_) if !complete => ErrorCode::ReplicaNotAvailable,
            Ok(_) => ErrorCode::None,
        };
        MetadataResponsePartition {
            error_code,
            partition_index: index,
            leader_id: NodeId::to_wire(leader.ok()),
            leader_epoch: partition.leader_epoch.0,
            replica_nodes: replicas,
            isr_nodes: isr,
            offline_replicas: self.view.offline_replicas(partition),
            ..Default::default()
        }
    }
}

fn refused(error: ErrorCode, name: Option<&str>, id: TopicId) -> MetadataResponseTopic {
    MetadataResponseTopic {
        error_code: error,
        name: name.map(str::to_owned),
        topic_id: id.0,
        is_internal: name.is_some_and(is_internal),
        topic_authorized_operations: NOT_ASKED,
        ..Default::default()
    }
}
