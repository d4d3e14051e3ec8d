//! Law: what a client was told is done, is done, and is committed before it is told; nothing is
//! there that nobody asked for.
//!
//! For every topic this keeps what may be true of it. An answer narrows that down; a request without
//! an answer widens it for good, for it may still be carried out later.

use std::collections::{BTreeMap, BTreeSet};

use quorate_metadata::MetadataImage;
use quorate_types::{ErrorCode, TopicId};

use crate::client::{CONFIG, Op, Outcome};
use crate::violation::{Verdict, Violation};

/// What may be true of one topic.
#[derive(Debug, Default)]
struct Expected {
    /// Whether it may be there, and whether it may be absent.
    may_be: bool,
    may_lack: bool,
    id: Option<TopicId>,
    partitions: BTreeSet<usize>,
    config: BTreeSet<Option<String>>,
    /// What requests without an answer may still do.
    loose_create: Option<usize>,
    loose_delete: bool,
    loose_config: BTreeSet<String>,
}

/// What clients may rely on.
#[derive(Debug, Default)]
pub(super) struct Acknowledged {
    topics: BTreeMap<String, Expected>,
    done: usize,
    creates: usize,
}

impl Acknowledged {
    /// A client asks for a change.
    pub(super) fn asked(&mut self, op: &Op) {
        let expected = self.topics.entry(op.topic().to_owned());
        expected.or_insert_with(absent).asked(op);
    }

    /// A client learnt what came of a change, while `image` is committed.
    pub(super) fn learnt(&mut self, op: &Op, outcome: &Outcome, image: &MetadataImage) -> Verdict {
        let done = matches!(outcome, Outcome::Done(_));
        self.done += usize::from(done);
        self.creates += usize::from(done && matches!(op, Op::Create { .. }));
        let Some(expected) = self.topics.get_mut(op.topic()) else {
            return Ok(());
        };
        expected.learnt(op, outcome);
        expected.holds(op.topic(), image).map_err(|problem| {
            let detail = format!("{op}: {outcome}, yet {problem}");
            Violation::new("acknowledged means present", detail)
        })
    }

    /// Every topic is as some client may expect it, and there are no others.
    pub(super) fn all(&self, image: &MetadataImage) -> Verdict {
        for (topic, expected) in &self.topics {
            expected
                .holds(topic, image)
                .map_err(|problem| Violation::new("acknowledged means present", problem))?;
        }
        for topic in image.topics().iter() {
            if !self.topics.contains_key(&**topic.name()) {
                let detail = format!("topic {} is there, and nobody asked for it", topic.name());
                return Err(Violation::new("nothing comes from nowhere", detail));
            }
        }
        Ok(())
    }

    /// How many creates were done.
    pub(super) fn creates(&self) -> usize {
        self.creates
    }

    /// How many changes were done.
    pub(super) fn done(&self) -> usize {
        self.done
    }
}

fn absent() -> Expected {
    Expected {
        may_lack: true,
        config: [None].into(),
        ..Expected::default()
    }
}

impl Expected {
    fn asked(&mut self, op: &Op) {
        match op {
            Op::Create { partitions, .. } => {
                self.may_be = true;
                self.partitions.insert(*partitions as usize);
            }
            Op::Delete { .. } => self.may_lack = true,
            Op::Grow { partitions, .. } => {
                self.partitions.insert(*partitions as usize);
            }
            Op::Configure { value, .. } => {
                self.config.insert(Some(value.clone()));
            }
        }
    }

    fn learnt(&mut self, op: &Op, outcome: &Outcome) {
        match (op, outcome) {
            (_, Outcome::Unknown(_)) => self.loosen(op),
            (Op::Create { partitions, .. }, Outcome::Done(id)) => {
                self.may_lack = self.loose_delete;
                self.id = id.filter(|_| self.loose_create.is_none());
                if self.loose_create.is_none() {
                    self.partitions = [*partitions as usize].into();
                }
            }
            (Op::Create { .. }, Outcome::Moot(_)) => self.may_lack = self.loose_delete,
            (Op::Create { .. }, Outcome::Refused(_)) => {
                self.may_be = self.loose_create.is_some();
            }
            (Op::Delete { .. }, Outcome::Done(_)) => {
                self.may_be = self.loose_create.is_some();
            }
            (Op::Delete { .. }, Outcome::Refused(_)) => self.may_lack |= self.loose_delete,
            (Op::Grow { partitions, .. }, Outcome::Done(_)) => {
                let partitions = *partitions as usize;
                if self.loose_create.is_none() {
                    self.partitions.retain(|count| *count >= partitions);
                }
            }
            (Op::Configure { value, .. }, Outcome::Done(_)) => {
                let loose = self.loose_config.iter().cloned().map(Some);
                self.config = loose.chain([Some(value.clone())]).collect();
                if self.loose_create.is_some() {
                    self.config.insert(None);
                }
            }
            // There is none: either it never came to be, or a delete that nobody heard of did it.
            (_, Outcome::Moot(ErrorCode::UnknownTopicOrPartition | ErrorCode::UnknownTopicId)) => {
                self.may_be = self.loose_create.is_some();
            }
            (Op::Grow { .. } | Op::Configure { .. }, _) | (Op::Delete { .. }, _) => {}
        }
    }

    /// A request may still be carried out, at any time.
    fn loosen(&mut self, op: &Op) {
        match op {
            Op::Create { partitions, .. } => {
                self.loose_create = Some(*partitions as usize);
                self.config.insert(None);
            }
            Op::Delete { .. } => self.loose_delete = true,
            Op::Grow { .. } => {}
            Op::Configure { value, .. } => {
                self.loose_config.insert(value.clone());
            }
        }
        self.may_be |= self.loose_create.is_some();
        self.may_lack |= self.loose_delete;
    }

    /// Whether the metadata is as it may be; the problem in words if not.
    fn holds(&self, name: &str, image: &MetadataImage) -> Result<(), String> {
        let Some(topic) = image.topics().by_name(name) else {
            return if self.may_lack {
                Ok(())
            } else {
                Err(format!("topic {name} is missing"))
            };
        };
        if !self.may_be {
            return Err(format!("topic {name} is there"));
        }
        if self.id.is_some_and(|id| id != topic.id()) {
            return Err(format!("topic {name} has another id"));
        }
        let count = topic.partition_count();
        if !self.partitions.contains(&count) {
            let expected = &self.partitions;
            return Err(format!(
                "{name} has {count} partitions and not one of {expected:?}"
            ));
        }
        let config = image.configs().topic(name, CONFIG).map(str::to_owned);
        if !self.config.contains(&config) {
            let expected = &self.config;
            return Err(format!(
                "{CONFIG} of {name} is {config:?} and not one of {expected:?}"
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use quorate_engine::Machine;
    use quorate_metadata::{KafkaMetadata, MetadataVersion};
    use quorate_protocol::records::TopicRecord;
    use quorate_types::{Offset, Uuid};

    use super::*;
    use crate::client::Fact;

    const ID: Uuid = Uuid([7; 16]);

    fn image() -> MetadataImage {
        let mut image = MetadataImage::default();
        let record = TopicRecord {
            name: "t".into(),
            topic_id: ID,
            ..Default::default()
        };
        let record = MetadataVersion::LATEST.versioned(record);
        KafkaMetadata::apply(&mut image, &record, Offset(0)).expect("a topic record fits");
        image
    }

    fn create() -> Op {
        Op::Create {
            topic: "t".into(),
            partitions: 0,
            replicas: 1,
        }
    }

    fn delete() -> Op {
        Op::Delete { topic: "t".into() }
    }

    fn done(id: Option<Uuid>) -> Outcome {
        Outcome::Done(id.map(TopicId))
    }

    fn play(facts: &[Fact], image: &MetadataImage) -> Verdict {
        let mut law = Acknowledged::default();
        for fact in facts {
            match fact {
                Fact::Asked(op) => law.asked(op),
                Fact::Learnt(op, outcome) => law.learnt(op, outcome, image)?,
                _ => {}
            }
        }
        law.all(image)
    }

    #[test]
    fn a_topic_that_was_acknowledged_must_be_there_under_its_id() {
        let facts = [
            Fact::Asked(create()),
            Fact::Learnt(create(), done(Some(ID))),
        ];
        assert_eq!(play(&facts, &image()), Ok(()));
        assert!(play(&facts, &MetadataImage::default()).is_err());
        let other = [
            Fact::Asked(create()),
            Fact::Learnt(create(), done(Some(Uuid([8; 16])))),
        ];
        assert!(play(&other, &image()).is_err());
    }

    #[test]
    fn a_topic_that_was_deleted_must_be_gone_unless_a_create_is_still_loose() {
        let lost = Outcome::Unknown("lost".into());
        let deleted = [
            Fact::Asked(create()),
            Fact::Asked(delete()),
            Fact::Learnt(delete(), done(None)),
        ];
        assert!(play(&deleted, &image()).is_err());
        let mut loose = deleted.to_vec();
        loose.insert(1, Fact::Learnt(create(), lost));
        assert_eq!(play(&loose, &image()), Ok(()));
        assert_eq!(play(&loose, &MetadataImage::default()), Ok(()));
    }

    #[test]
    fn what_nobody_asked_for_must_not_be_there() {
        assert!(play(&[], &image()).is_err());
        let refused = Outcome::Refused(ErrorCode::InvalidReplicationFactor);
        let facts = [Fact::Asked(create()), Fact::Learnt(create(), refused)];
        assert!(play(&facts, &image()).is_err());
        assert_eq!(play(&facts, &MetadataImage::default()), Ok(()));
    }
}
