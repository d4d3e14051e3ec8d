//! What a broker answers from its image: Metadata, DescribeCluster, DescribeTopicPartitions,
//! ApiVersions, and FindCoordinator's refusal.
//!
//! Every answer is a function of one image and one request; nothing here waits, asks anybody else or
//! changes anything. [`MetadataCache`] holds the image that was published last, so that whoever sees
//! a new answer once never sees an older one.
//!
//! Left to others: changes (the controller's), topic configurations (they need the table of all
//! configuration keys), and the decision who may see what, which comes in as [`Access`].

mod access;
mod api_versions;
mod cluster;
mod coordinator;
mod describe_topics;
mod names;
mod partitions;
#[cfg(test)]
mod tests;
mod topics;

use quorate_metadata::MetadataImage;
use quorate_types::Offset;

pub use access::{Access, Everything, NOT_ASKED, operations};
pub use api_versions::{BrokerApis, FORWARDABLE, names_its_software, unsupported_version};
pub use coordinator::find_coordinator;
pub use names::{is_internal, is_valid};
pub use topics::MetadataAnswer;

/// Who asks, and how.
#[derive(Clone, Copy)]
pub struct Asker<'a> {
    /// The listener that the request came in on: answers name the others' endpoints on it.
    pub listener: &'a str,
    /// The version of the request.
    pub version: i16,
    /// What the client may see.
    pub access: &'a dyn Access,
}

impl<'a> Asker<'a> {
    /// A client that may see everything.
    pub fn unrestricted(listener: &'a str, version: i16) -> Asker<'a> {
        Asker {
            listener,
            version,
            access: &Everything,
        }
    }
}

/// Settings that shape answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CacheConfig {
    /// `auto.create.topics.enable`
    pub auto_create_topics: bool,
    /// `max.request.partition.size.limit`: the most partitions in one answer to
    /// DescribeTopicPartitions.
    pub most_partitions: i32,
}

impl Default for CacheConfig {
    fn default() -> CacheConfig {
        CacheConfig {
            auto_create_topics: true,
            most_partitions: 2000,
        }
    }
}

/// A broker's view of the cluster: the image that was published last.
#[derive(Debug, Clone)]
pub struct MetadataCache {
    cluster_id: String,
    config: CacheConfig,
    image: MetadataImage,
    end: Offset,
}

impl MetadataCache {
    /// A cache that knows nothing yet.
    pub fn new(cluster_id: &str, config: CacheConfig) -> MetadataCache {
        MetadataCache {
            cluster_id: cluster_id.to_owned(),
            config,
            image: MetadataImage::default(),
            end: Offset::ZERO,
        }
    }

    /// Takes a newer image, which contains everything before `end`.
    pub fn publish(&mut self, image: MetadataImage, end: Offset) {
        self.image = image;
        self.end = end;
    }

    /// The image that answers are made from.
    pub fn image(&self) -> &MetadataImage {
        &self.image
    }

    /// The end of what it contains.
    pub fn end(&self) -> Offset {
        self.end
    }

    /// The cluster's id.
    pub fn cluster_id(&self) -> &str {
        &self.cluster_id
    }
}
