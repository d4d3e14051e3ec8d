//! What happens to partitions when a broker comes or goes.

use quorate_engine::Halt;
use quorate_metadata::{MetadataImage, Partition, PartitionId};
use quorate_protocol::records::PartitionChangeRecord;
use quorate_types::{DirectoryId, NodeId, TopicId};

use super::change::{Change, Rules, addressed};
use super::election::Election;
use crate::configs::TopicConfigs;
use crate::controller::{Desk, KafkaController};
use crate::records;

/// Who leaves the partitions that are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Leaving {
    /// Nobody: they are looked at because somebody came.
    Nobody,
    /// A broker that wrote everything it acknowledged, or of which nothing else is known.
    Clean(NodeId),
    /// A broker that may have lost what it acknowledged.
    Unclean(NodeId),
}

impl Leaving {
    fn node(self) -> Option<NodeId> {
        match self {
            Leaving::Nobody => None,
            Leaving::Clean(node) | Leaving::Unclean(node) => Some(node),
        }
    }
}

/// Looks again at the ISR and the leader of each of the partitions, with `leaving` gone.
///
/// The draft's state decides who could lead, so a broker whose coming or going is already in it
/// counts as it stands there.
pub(crate) fn reconsider(
    controller: &KafkaController,
    draft: &mut Desk<'_>,
    partitions: Vec<PartitionId>,
    leaving: Leaving,
) -> Result<(), Halt> {
    let mut rules: Option<(TopicId, Rules)> = None;
    for id in partitions {
        let image = draft.state();
        let Some(partition) = image.topics().partition(id) else {
            continue;
        };
        let rules = match rules {
            Some((topic, rules)) if topic == id.topic => rules,
            _ => {
                let Some(found) = Rules::of_topic(controller, image, id.topic) else {
                    continue;
                };
                rules = Some((id.topic, found));
                found
            }
        };
        let mut change = Change::of(&partition);
        change = match leaving {
            Leaving::Nobody => change,
            Leaving::Clean(node) => change.without(node),
            Leaving::Unclean(node) => change.unclean_shutdown(node),
        };
        let acceptable =
            |node| Some(node) != leaving.node() && is_acceptable(image, &partition, node);
        let record = change.build(&rules, acceptable, |node| default_directory(image, node));
        push(draft, &rules, id, record)?;
    }
    Ok(())
}

/// Pushes a change of the partition, if there is one; says whether there was.
pub(crate) fn push(
    draft: &mut Desk<'_>,
    rules: &Rules,
    id: PartitionId,
    record: Option<PartitionChangeRecord>,
) -> Result<bool, Halt> {
    let Some(record) = record else {
        return Ok(false);
    };
    let record = addressed(record, id.topic, id.index);
    draft.push(records::partition_change(record, rules.version))?;
    Ok(true)
}

impl Rules {
    /// What holds for the partitions of that topic, with unclean elections where it allows them.
    pub fn of_topic(
        controller: &KafkaController,
        image: &MetadataImage,
        topic: TopicId,
    ) -> Option<Rules> {
        let topic = image.topics().by_id(topic)?;
        let configs = controller.topic_configs(image);
        let unclean = configs.unclean_leader_election(topic.name());
        Some(Rules {
            version: image.features().metadata_version(),
            elr: image.features().elr_enabled(),
            min_isr: min_isr(image, &configs, topic.id()),
            election: if unclean {
                Election::Unclean
            } else {
                Election::Online
            },
        })
    }

    /// The same rules with another way to look for a leader.
    pub fn with(self, election: Election) -> Rules {
        Rules { election, ..self }
    }
}

/// How many replicas must be in sync: what the topic demands, but not more than partition 0 has.
fn min_isr(image: &MetadataImage, configs: &TopicConfigs<'_>, topic: TopicId) -> usize {
    let Some(topic) = image.topics().by_id(topic) else {
        return 1;
    };
    let demanded = configs.min_insync_replicas(topic.name());
    let factor = topic.partition(0).map(|first| first.replicas.len());
    demanded.min(factor.unwrap_or(demanded))
}

/// Whether the replica on `node` could lead: its broker is active and its directory online.
pub(crate) fn is_acceptable(image: &MetadataImage, partition: &Partition, node: NodeId) -> bool {
    let Some(broker) = image.broker(node) else {
        return false;
    };
    let directory = partition.directory(node);
    broker.is_active() && directory.is_some_and(|directory| broker.is_online(directory))
}

/// Whether the broker is active: registered, unfenced and not shutting down.
pub(crate) fn is_active(image: &MetadataImage, node: NodeId) -> bool {
    image.broker(node).is_some_and(|broker| broker.is_active())
}

/// The directory in which a new replica on `node` will lie, as far as it can be said now.
pub(crate) fn default_directory(image: &MetadataImage, node: NodeId) -> DirectoryId {
    if !image.features().metadata_version().has_directories() {
        return DirectoryId::MIGRATING;
    }
    match image
        .broker(node)
        .map(|broker| broker.directories.as_slice())
    {
        None => DirectoryId::UNASSIGNED,
        Some([]) => DirectoryId::MIGRATING,
        Some([only]) => *only,
        Some(_) => DirectoryId::UNASSIGNED,
    }
}
