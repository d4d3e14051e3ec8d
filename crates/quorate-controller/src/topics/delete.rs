//! DeleteTopics, by name or by id.

use std::collections::{BTreeMap, BTreeSet};

use quorate_engine::Halt;
use quorate_protocol::messages::delete_topics::{
    DeletableTopicResult, DeleteTopicsRequest, DeleteTopicsResponse,
};
use quorate_types::{ErrorCode, TopicId, Uuid};

use crate::controller::{Desk, KafkaController};
use crate::error::ApiError;
use crate::records;

/// Deletes the topics that can be deleted. One record takes away a topic with its partitions and
/// configuration.
pub(crate) fn delete(
    controller: &KafkaController,
    draft: &mut Desk<'_>,
    request: &DeleteTopicsRequest,
    version: i16,
) -> Result<DeleteTopicsResponse, Halt> {
    if !controller.config().delete_topic_enable {
        let error = match version {
            ..3 => ApiError::new(ErrorCode::InvalidRequest, "topics are not deleted here"),
            _ => ApiError::plain(ErrorCode::TopicDeletionDisabled),
        };
        return Ok(refused(request, &error));
    }
    let mut wanted = Wanted::of(request);
    let found = wanted.find(draft);
    for (id, name) in found {
        draft.push(records::remove_topic(id))?;
        wanted.answers.push(DeletableTopicResult {
            name: Some(name),
            topic_id: id.0,
            ..Default::default()
        });
    }
    Ok(DeleteTopicsResponse {
        responses: wanted.answers,
        ..Default::default()
    })
}

/// The answer when none of the topics is even looked at.
pub(crate) fn refused(request: &DeleteTopicsRequest, error: &ApiError) -> DeleteTopicsResponse {
    let by_name = request
        .topic_names
        .iter()
        .map(|name| answer(Some(name), Uuid::ZERO, error));
    let by_either = request
        .topics
        .iter()
        .map(|topic| answer(topic.name.as_deref(), topic.topic_id, error));
    let responses = by_name.chain(by_either).collect();
    DeleteTopicsResponse {
        responses,
        ..Default::default()
    }
}

/// What the request names, and what is answered so far.
struct Wanted {
    names: BTreeSet<String>,
    ids: BTreeSet<TopicId>,
    doubled_ids: BTreeSet<TopicId>,
    answers: Vec<DeletableTopicResult>,
}

impl Wanted {
    /// Sorts out what is named in a wrong way or more than once.
    fn of(request: &DeleteTopicsRequest) -> Wanted {
        let invalid = |message: &str| ApiError::new(ErrorCode::InvalidRequest, message);
        let mut answers = Vec::new();
        let mut names = Once::default();
        let mut ids = Once::default();
        for name in &request.topic_names {
            names.add(name.clone());
        }
        for topic in &request.topics {
            match (&topic.name, topic.topic_id.non_zero()) {
                (Some(name), None) => names.add(name.clone()),
                (None, Some(id)) => ids.add(TopicId(id)),
                (Some(name), Some(id)) => {
                    let error = invalid("a topic is named by its name or its id, not by both");
                    answers.push(answer(Some(name), id, &error));
                }
                (None, None) => {
                    let error = invalid("neither a name nor an id");
                    answers.push(answer(None, Uuid::ZERO, &error));
                }
            }
        }
        let error = invalid("the topic is named more than once");
        answers.extend(
            names
                .more
                .iter()
                .map(|name| answer(Some(name), Uuid::ZERO, &error)),
        );
        answers.extend(ids.more.iter().map(|id| answer(None, id.0, &error)));
        Wanted {
            names: names.once,
            ids: ids.once,
            doubled_ids: ids.more,
            answers,
        }
    }

    /// The topics that exist; what does not is answered.
    fn find(&mut self, draft: &Desk<'_>) -> BTreeMap<TopicId, String> {
        let topics = draft.state().topics();
        let mut found = BTreeMap::new();
        for id in &self.ids {
            match topics.by_id(*id) {
                Some(topic) => {
                    found.insert(*id, topic.name().to_string());
                }
                None => {
                    let error = ApiError::plain(ErrorCode::UnknownTopicId);
                    self.answers.push(answer(None, id.0, &error));
                }
            }
        }
        for name in &self.names {
            let Some(topic) = topics.by_name(name) else {
                let error = ApiError::plain(ErrorCode::UnknownTopicOrPartition);
                self.answers.push(answer(Some(name), Uuid::ZERO, &error));
                continue;
            };
            let id = topic.id();
            if self.doubled_ids.contains(&id) || found.insert(id, name.clone()).is_some() {
                found.remove(&id);
                self.doubled_ids.insert(id);
                let message = "the topic of that name is named by its id too";
                let error = ApiError::new(ErrorCode::InvalidRequest, message);
                self.answers.push(answer(Some(name), id.0, &error));
            }
        }
        found
    }
}

/// What occurred once, and what more than once.
struct Once<T> {
    once: BTreeSet<T>,
    more: BTreeSet<T>,
}

impl<T> Default for Once<T> {
    fn default() -> Self {
        Once {
            once: BTreeSet::new(),
            more: BTreeSet::new(),
        }
    }
}

impl<T: Ord + Clone> Once<T> {
    fn add(&mut self, item: T) {
        if self.more.contains(&item) || !self.once.insert(item.clone()) {
            self.once.remove(&item);
            self.more.insert(item);
        }
    }
}

fn answer(name: Option<&str>, topic_id: Uuid, error: &ApiError) -> DeletableTopicResult {
    DeletableTopicResult {
        name: name.map(str::to_string),
        topic_id,
        error_code: error.code,
        error_message: error.message.clone(),
        ..Default::default()
    }
}
