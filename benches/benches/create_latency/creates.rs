//! A client that creates topics.

use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use quorate_node::Client;
use quorate_protocol::messages::create_topics::CreatableTopic;
use quorate_protocol::messages::{CreateTopicsRequest, Request, Response};
use quorate_types::ErrorCode;

const TIMEOUT: Duration = Duration::from_secs(10);

/// A connection that creates topics of one partition and three replicas.
pub struct Creator {
    client: Client,
    prefix: String,
    created: usize,
}

impl Creator {
    /// Connects; names of topics start with `prefix`.
    pub fn connect(address: &str, prefix: &str) -> anyhow::Result<Creator> {
        Ok(Creator {
            client: Client::connect(address, TIMEOUT)?,
            prefix: prefix.to_owned(),
            created: 0,
        })
    }

    /// How many topics were created.
    pub fn created(&self) -> usize {
        self.created
    }

    /// Creates topics one after the other and says how long each took.
    pub fn create_each(&mut self, count: usize) -> anyhow::Result<Vec<Duration>> {
        (0..count)
            .map(|_| {
                let request = self.request(1);
                let start = Instant::now();
                let answer = self.client.call(&request)?;
                let took = start.elapsed();
                check(answer)?;
                Ok(took)
            })
            .collect()
    }

    /// Creates topics, a hundred a request.
    pub fn create_in_bulk(&mut self, count: usize) -> anyhow::Result<()> {
        let mut left = count;
        while left > 0 {
            let request = self.request(left.min(100));
            check(self.client.call(&request)?)?;
            left -= left.min(100);
        }
        Ok(())
    }

    fn request(&mut self, count: usize) -> Request {
        let topics = (0..count).map(|_| {
            self.created += 1;
            CreatableTopic {
                name: format!("{}-{:06}", self.prefix, self.created),
                num_partitions: 1,
                replication_factor: 3,
                ..Default::default()
            }
        });
        Request::from(CreateTopicsRequest {
            topics: topics.collect(),
            timeout_ms: 10_000,
            ..Default::default()
        })
    }
}

fn check(answer: Response) -> anyhow::Result<()> {
    let Response::CreateTopics(answer) = answer else {
        anyhow::bail!("{answer:?} is no answer to CreateTopics");
    };
    ensure!(!answer.topics.is_empty(), "no topic was answered for");
    let failed = answer
        .topics
        .iter()
        .find(|topic| topic.error_code != ErrorCode::None);
    failed.map_or(Ok(()), |topic| {
        Err(anyhow::anyhow!(
            "{}: {}",
            topic.name,
            topic.error_code.name()
        ))
        .context("a topic was not created")
    })
}
