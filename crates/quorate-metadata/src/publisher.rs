//! Who wants to know what changed, and telling them.

use std::error::Error;

use quorate_types::{Epoch, NodeId, OffsetAndEpoch, WallTime};

use crate::{Delta, MetadataImage};

/// Where an image comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Provenance {
    /// The offset after the last record in it, and that record's epoch.
    pub end: OffsetAndEpoch,
    /// When that record was appended.
    pub at: WallTime,
    /// Whether it was read from a snapshot rather than from the log.
    pub from_snapshot: bool,
}

/// Reacts to changes of the metadata.
///
/// ```
/// use quorate_metadata::{Delta, Provenance, PublishError, Publisher};
///
/// /// Counts topics.
/// struct TopicCount(usize);
///
/// impl Publisher for TopicCount {
///     fn name(&self) -> &str {
///         "topic count"
///     }
///
///     fn publish(&mut self, delta: &Delta, _: &Provenance) -> Result<(), PublishError> {
///         self.0 = delta.after().topics().len();
///         Ok(())
///     }
/// }
/// ```
pub trait Publisher {
    /// What to call it when it fails.
    fn name(&self) -> &str;

    /// Takes the changes since the last image that it took; since the empty one the first time.
    /// Also called when nothing changed but the offset.
    ///
    /// # Errors
    /// Then the image counts as not taken: the next delta starts where this one did.
    fn publish(&mut self, delta: &Delta, to: &Provenance) -> Result<(), PublishError>;

    /// Hears who leads the quorum; a new publisher hears it after its first image.
    fn leader(&mut self, epoch: Epoch, leader: Option<NodeId>) {
        let _ = (epoch, leader);
    }

    /// Whether it can take an image now; one that cannot gets all that it missed later, at once.
    fn is_ready(&self) -> bool {
        true
    }
}

/// Why a publisher could not take an image.
pub type PublishError = Box<dyn Error + Send + Sync>;

/// How far one reader has come: makes the delta from the last image that it took.
#[derive(Debug, Clone, Default)]
pub struct Cursor {
    last: MetadataImage,
}

impl Cursor {
    /// The delta to `image`, from the last image taken or from the empty one.
    pub fn delta_to(&self, image: &MetadataImage) -> Delta {
        Delta::new(self.last.clone(), image.clone())
    }

    /// Remembers that `image` was taken.
    pub fn taken(&mut self, image: &MetadataImage) {
        self.last = image.clone();
    }
}

/// The publishers of one node, told in the order in which they were added.
#[derive(Default)]
pub struct Publishers {
    publishers: Vec<Entry>,
    leader: Option<(Epoch, Option<NodeId>)>,
}

struct Entry {
    publisher: Box<dyn Publisher + Send>,
    cursor: Cursor,
    /// The leader it was told of last.
    leader: Option<(Epoch, Option<NodeId>)>,
    is_new: bool,
}

/// A publisher that could not take an image.
#[derive(Debug)]
pub struct PublishFault {
    /// Which one.
    pub publisher: String,
    /// Why.
    pub error: PublishError,
}

impl Publishers {
    /// No publishers.
    pub fn new() -> Publishers {
        Publishers::default()
    }

    /// Adds a publisher; with the next image it gets everything.
    pub fn add(&mut self, publisher: Box<dyn Publisher + Send>) {
        self.publishers.push(Entry {
            publisher,
            cursor: Cursor::default(),
            leader: None,
            is_new: true,
        });
    }

    /// Whether one of them has not taken any image yet.
    pub fn has_new(&self) -> bool {
        self.publishers.iter().any(|entry| entry.is_new)
    }

    /// Gives each publisher that is ready what it lacks. One that fails keeps no other from it.
    pub fn publish(&mut self, image: &MetadataImage, to: &Provenance) -> Vec<PublishFault> {
        let mut faults = Vec::new();
        for entry in &mut self.publishers {
            if !entry.publisher.is_ready() {
                continue;
            }
            let delta = entry.cursor.delta_to(image);
            match entry.publisher.publish(&delta, to) {
                Ok(()) => {
                    entry.cursor.taken(image);
                    entry.is_new = false;
                    entry.hear(self.leader);
                }
                Err(error) => faults.push(PublishFault {
                    publisher: entry.publisher.name().to_owned(),
                    error,
                }),
            }
        }
        faults
    }

    /// Tells them who leads; those without an image yet hear it after their first.
    pub fn leader(&mut self, epoch: Epoch, leader: Option<NodeId>) {
        self.leader = Some((epoch, leader));
        for entry in self.publishers.iter_mut().filter(|entry| !entry.is_new) {
            entry.hear(self.leader);
        }
    }
}

impl Entry {
    fn hear(&mut self, leader: Option<(Epoch, Option<NodeId>)>) {
        if let Some((epoch, node)) = leader
            && self.leader != leader
        {
            self.publisher.leader(epoch, node);
            self.leader = leader;
        }
    }
}
