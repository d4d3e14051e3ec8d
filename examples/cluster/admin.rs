//! What the tour asks the cluster for, as any client would: over a socket, at a broker.

use std::time::Duration;

use anyhow::{Context, bail};
use quorate_node::Client;
use quorate_protocol::messages::create_topics::CreatableTopic;
use quorate_protocol::messages::delete_topics::DeleteTopicState;
use quorate_protocol::messages::{CreateTopicsRequest, DeleteTopicsRequest, Request, Response};
use quorate_types::ErrorCode;

/// A client of one broker.
pub struct Admin {
    client: Client,
}

impl Admin {
    /// Connects to a broker.
    pub fn connect(address: &str) -> anyhow::Result<Admin> {
        Ok(Admin {
            client: Client::connect(address, Duration::from_secs(20))?,
        })
    }

    /// Creates a topic; returns once that is acknowledged.
    pub fn create(&mut self, name: &str, partitions: i32, factor: i16) -> anyhow::Result<()> {
        let topic = CreatableTopic {
            name: name.to_owned(),
            num_partitions: partitions,
            replication_factor: factor,
            ..Default::default()
        };
        let request = CreateTopicsRequest {
            topics: vec![topic],
            timeout_ms: 20_000,
            ..Default::default()
        };
        let Response::CreateTopics(answer) = self.client.call(&Request::from(request))? else {
            bail!("another answer than was asked for");
        };
        let topic = answer.topics.first().context("an empty answer")?;
        match topic.error_code {
            // An attempt whose answer was lost may have succeeded.
            ErrorCode::None | ErrorCode::TopicAlreadyExists => Ok(()),
            error => bail!(
                "{name}: {error} {}",
                topic.error_message.as_deref().unwrap_or("")
            ),
        }
    }

    /// Deletes a topic.
    pub fn delete(&mut self, name: &str) -> anyhow::Result<()> {
        let request = DeleteTopicsRequest {
            topics: vec![DeleteTopicState {
                name: Some(name.to_owned()),
                ..Default::default()
            }],
            timeout_ms: 20_000,
            ..Default::default()
        };
        let Response::DeleteTopics(answer) = self.client.call(&Request::from(request))? else {
            bail!("another answer than was asked for");
        };
        match answer
            .responses
            .first()
            .context("an empty answer")?
            .error_code
        {
            ErrorCode::None => Ok(()),
            error => bail!("{name}: {error}"),
        }
    }
}
