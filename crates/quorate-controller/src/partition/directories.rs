//! Directories of brokers: where replicas lie, and what happens when one fails (KIP-858).

use std::collections::BTreeMap;

use quorate_engine::Halt;
use quorate_metadata::PartitionId;
use quorate_protocol::messages::assign_replicas_to_dirs::{
    AssignReplicasToDirsRequest, AssignReplicasToDirsResponse, ResponseDirectoryData,
    ResponsePartitionData, ResponseTopicData,
};
use quorate_types::{BrokerEpoch, DirectoryId, ErrorCode, NodeId, TopicId, Uuid};

use super::change::assign_directory;
use super::moves::{Leaving, reconsider};
use crate::cluster::has_epoch;
use crate::controller::{Desk, KafkaController};
use crate::error::{Bad, outcome};
use crate::records;

/// A broker says in which directory each of its replicas lies.
///
/// A replica that was moved to a directory that is not online leaves the ISR.
pub(crate) fn assign(
    controller: &KafkaController,
    draft: &mut Desk<'_>,
    request: &AssignReplicasToDirsRequest,
) -> Result<AssignReplicasToDirsResponse, Halt> {
    draft.cut_anywhere();
    let broker = NodeId(request.broker_id);
    let refuse = |error_code| {
        Ok(AssignReplicasToDirsResponse {
            error_code,
            ..Default::default()
        })
    };
    if !draft
        .state()
        .features()
        .metadata_version()
        .has_directories()
    {
        return refuse(ErrorCode::UnsupportedVersion);
    }
    if !has_epoch(draft.state(), broker, BrokerEpoch(request.broker_epoch)) {
        return refuse(ErrorCode::StaleBrokerEpoch);
    }
    let mut lost = Vec::new();
    let mut directories = Vec::with_capacity(request.directories.len());
    for directory in &request.directories {
        let target = DirectoryId(directory.id);
        let online = draft
            .state()
            .broker(broker)
            .is_some_and(|known| known.is_online(target));
        let mut topics = Vec::with_capacity(directory.topics.len());
        for topic in &directory.topics {
            let mut partitions = Vec::with_capacity(topic.partitions.len());
            for partition in &topic.partitions {
                let partition_index = partition.partition_index;
                let id = PartitionId::new(TopicId(topic.topic_id), partition_index);
                let result = assign_one(draft, id, broker, target);
                if result.is_ok() && !online {
                    lost.push(id);
                }
                let (error_code, _) = outcome(result)?;
                partitions.push(ResponsePartitionData {
                    partition_index,
                    error_code,
                    ..Default::default()
                });
            }
            let topic_id = topic.topic_id;
            topics.push(ResponseTopicData {
                topic_id,
                partitions,
                ..Default::default()
            });
        }
        directories.push(ResponseDirectoryData {
            id: directory.id,
            topics,
            ..Default::default()
        });
    }
    reconsider(controller, draft, lost, Leaving::Clean(broker))?;
    Ok(AssignReplicasToDirsResponse {
        directories,
        ..Default::default()
    })
}

fn assign_one(
    draft: &mut Desk<'_>,
    id: PartitionId,
    broker: NodeId,
    directory: DirectoryId,
) -> Result<(), Bad> {
    let image = draft.state();
    let topic = image
        .topics()
        .by_id(id.topic)
        .ok_or(ErrorCode::UnknownTopicId)?;
    let before = topic
        .partition(id.index)
        .ok_or(ErrorCode::UnknownTopicOrPartition)?;
    if !before.has_replica(broker) {
        return Err(ErrorCode::NotLeaderOrFollower.into());
    }
    if let Some(record) = assign_directory(&before, broker, directory) {
        let record = super::change::addressed(record, id.topic, id.index);
        let version = image.features().metadata_version();
        draft.push(records::partition_change(record, version))?;
    }
    Ok(())
}

/// Some of the broker's directories failed: its replicas there leave their ISRs, and the broker is
/// known by the rest. When no directory is left, its registration stays as it is.
pub(crate) fn offline(
    controller: &KafkaController,
    draft: &mut Desk<'_>,
    broker: NodeId,
    failed: &[Uuid],
) -> Result<(), Halt> {
    let Some(known) = draft.state().broker(broker) else {
        return Ok(());
    };
    let epoch = known.epoch;
    let mut rest = known.directories.clone();
    rest.retain(|directory| !failed.contains(&directory.0));
    let gone: Vec<DirectoryId> = known
        .directories
        .iter()
        .filter(|known| !rest.contains(known))
        .copied()
        .collect();
    if gone.is_empty() {
        return Ok(());
    }
    let mut lying_in: BTreeMap<DirectoryId, Vec<PartitionId>> = BTreeMap::new();
    for (id, partition) in draft.state().topics().partitions_of(broker) {
        if let Some(directory) = partition.directory(broker)
            && gone.contains(&directory)
        {
            lying_in.entry(directory).or_default().push(id);
        }
    }
    for partitions in lying_in.into_values() {
        reconsider(controller, draft, partitions, Leaving::Clean(broker))?;
    }
    if !rest.is_empty() {
        draft.push(records::directories_changed(broker, epoch, &rest))?;
    }
    Ok(())
}
