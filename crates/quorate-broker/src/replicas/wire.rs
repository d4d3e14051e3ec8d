//! [`FollowRequest`] and [`FollowAnswer`] as Fetch, version 17.
//!
//! A follower fetches from offset 0 and gets nothing, at once: there are no records, and a leader has
//! nothing to wait for.

use std::collections::BTreeMap;

use bytes::Bytes;
use quorate_metadata::PartitionId;
use quorate_protocol::messages::fetch::{
    FetchPartition, FetchTopic, FetchableTopicResponse, PartitionData, ReplicaState,
};
use quorate_protocol::messages::{FetchRequest, FetchResponse};
use quorate_types::{BrokerEpoch, ErrorCode, LeaderEpoch, NodeId, TopicId};

use super::{FollowAnswer, FollowRequest};

/// A Fetch that says nothing about following, or an answer that says nothing at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unreadable {
    /// The request does not come from a broker: it is a consumer's, and there are no records here.
    #[error("the fetch comes from no broker")]
    NotAFollower,
    /// The request names no leader epochs, so nothing can be concluded from it.
    #[error("the fetch names no leader epoch")]
    WithoutEpoch,
    /// The whole request was refused.
    #[error("the fetch was refused: {0}")]
    Refused(ErrorCode),
}

impl FollowRequest {
    /// As it is sent.
    pub fn to_fetch(&self) -> FetchRequest {
        let mut topics: BTreeMap<TopicId, Vec<FetchPartition>> = BTreeMap::new();
        for (id, epoch) in &self.partitions {
            topics.entry(id.topic).or_default().push(FetchPartition {
                partition: id.index,
                current_leader_epoch: epoch.0,
                fetch_offset: 0,
                log_start_offset: 0,
                ..Default::default()
            });
        }
        FetchRequest {
            replica_state: ReplicaState {
                replica_id: self.follower.0,
                replica_epoch: self.follower_epoch.0,
                ..Default::default()
            },
            topics: topics
                .into_iter()
                .map(|(topic, partitions)| FetchTopic {
                    topic_id: topic.0,
                    partitions,
                    ..Default::default()
                })
                .collect(),
            ..Default::default()
        }
    }

    /// Reads what a follower sent.
    ///
    /// # Errors
    /// If the request is a consumer's or names no leader epochs.
    pub fn from_fetch(request: &FetchRequest) -> Result<FollowRequest, Unreadable> {
        let follower =
            NodeId::from_wire(request.replica_state.replica_id).ok_or(Unreadable::NotAFollower)?;
        let mut partitions = Vec::new();
        for topic in &request.topics {
            for partition in &topic.partitions {
                if partition.current_leader_epoch < 0 {
                    return Err(Unreadable::WithoutEpoch);
                }
                partitions.push((
                    PartitionId::new(TopicId(topic.topic_id), partition.partition),
                    LeaderEpoch(partition.current_leader_epoch),
                ));
            }
        }
        Ok(FollowRequest {
            follower,
            follower_epoch: BrokerEpoch(request.replica_state.replica_epoch),
            partitions,
        })
    }
}

impl FollowAnswer {
    /// As it is sent.
    pub fn to_fetch(&self) -> FetchResponse {
        let mut topics: BTreeMap<TopicId, Vec<PartitionData>> = BTreeMap::new();
        for (id, error) in &self.partitions {
            let end = if error.is_none() { 0 } else { -1 };
            topics.entry(id.topic).or_default().push(PartitionData {
                partition_index: id.index,
                error_code: *error,
                high_watermark: end,
                last_stable_offset: end,
                log_start_offset: end,
                records: Some(Bytes::new()),
                ..Default::default()
            });
        }
        FetchResponse {
            responses: topics
                .into_iter()
                .map(|(topic, partitions)| FetchableTopicResponse {
                    topic_id: topic.0,
                    partitions,
                    ..Default::default()
                })
                .collect(),
            ..Default::default()
        }
    }

    /// Reads what a leader answered.
    ///
    /// # Errors
    /// If it refused the whole request.
    pub fn from_fetch(response: &FetchResponse) -> Result<FollowAnswer, Unreadable> {
        if !response.error_code.is_none() {
            return Err(Unreadable::Refused(response.error_code));
        }
        let partitions = response
            .responses
            .iter()
            .flat_map(|topic| {
                topic.partitions.iter().map(|partition| {
                    let id = PartitionId::new(TopicId(topic.topic_id), partition.partition_index);
                    (id, partition.error_code)
                })
            })
            .collect();
        Ok(FollowAnswer { partitions })
    }
}
