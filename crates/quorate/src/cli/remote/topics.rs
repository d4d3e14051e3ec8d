//! `quorate topics`: the topics of a cluster, listed, described, created, deleted.

use anyhow::{Context, bail};
use clap::{ArgAction, Args, Subcommand};
use quorate::protocol::messages::create_topics::{CreatableTopic, CreatableTopicConfig};
use quorate::protocol::messages::delete_topics::DeleteTopicState;
use quorate::protocol::messages::describe_topic_partitions::{
    DescribeTopicPartitionsResponseTopic, TopicRequest,
};
use quorate::protocol::messages::{
    CreateTopicsRequest, DeleteTopicsRequest, DescribeTopicPartitionsRequest, MetadataRequest,
    Response,
};
use quorate::types::ErrorCode;
use serde_json::{Value, json};

use super::{Remote, is_premature, table, told, unexpected};
use crate::output;

/// List, describe, create and delete topics.
///
/// Creating and deleting is done by brokers and controllers alike; listing and describing is what
/// brokers answer (--bootstrap-server).
#[derive(Debug, Args)]
pub struct Topics {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List the names of the topics.
    List(List),
    /// Show the partitions of topics: leaders, replicas, those in sync.
    Describe(Describe),
    /// Create topics.
    Create(Create),
    /// Delete topics, with all that is in them.
    Delete(Delete),
}

#[derive(Debug, Args)]
struct List {
    #[command(flatten)]
    remote: Remote,
    /// Leave out the topics that Kafka keeps for itself.
    #[arg(long)]
    exclude_internal: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
struct Describe {
    #[command(flatten)]
    remote: Remote,
    /// The topics; all if none is named.
    #[arg(value_name = "TOPIC")]
    topics: Vec<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
struct Create {
    #[command(flatten)]
    remote: Remote,
    /// The topics.
    #[arg(required = true, value_name = "TOPIC")]
    topics: Vec<String>,
    /// How many partitions; the cluster's default if it is not said.
    #[arg(short, long, value_name = "COUNT", default_value_t = -1, hide_default_value = true)]
    partitions: i32,
    /// How many copies; the cluster's default if it is not said.
    #[arg(short, long, value_name = "COUNT", default_value_t = -1, hide_default_value = true)]
    replication_factor: i16,
    /// A setting of the topics; may be repeated.
    #[arg(short, long, value_name = "NAME=VALUE", action = ArgAction::Append)]
    config: Vec<String>,
    /// Do not mind a topic that is there already.
    #[arg(long)]
    if_not_exists: bool,
    /// Only say whether it could be done.
    #[arg(long)]
    validate_only: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
struct Delete {
    #[command(flatten)]
    remote: Remote,
    /// The topics.
    #[arg(required = true, value_name = "TOPIC")]
    topics: Vec<String>,
    /// Do not mind a topic that is not there.
    #[arg(long)]
    if_exists: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

impl Topics {
    /// Does it; false if a topic was refused.
    pub fn run(&self) -> anyhow::Result<bool> {
        match &self.command {
            Command::List(list) => list.run(),
            Command::Describe(describe) => describe.run(),
            Command::Create(create) => create.run(),
            Command::Delete(delete) => delete.run(),
        }
    }
}

/// Lists and descriptions are what brokers give.
fn needs_brokers(remote: &Remote) -> anyhow::Result<()> {
    if remote.asks_controllers() {
        bail!("controllers do not tell of topics to clients; ask a broker with --bootstrap-server");
    }
    Ok(())
}

/// The names of all topics, sorted, and whether Kafka keeps them for itself.
fn names(remote: &Remote) -> anyhow::Result<Vec<(String, bool)>> {
    let request = MetadataRequest {
        topics: None,
        allow_auto_topic_creation: false,
        ..Default::default()
    };
    let answer = remote.ask(request, |_| None)?;
    let Response::Metadata(answer) = answer else {
        return Err(unexpected(&answer));
    };
    let topics = answer.topics.into_iter();
    let mut names: Vec<(String, bool)> = topics
        .filter_map(|topic| Some((topic.name?, topic.is_internal)))
        .collect();
    names.sort();
    Ok(names)
}

impl List {
    fn run(&self) -> anyhow::Result<bool> {
        needs_brokers(&self.remote)?;
        let names: Vec<String> = names(&self.remote)?
            .into_iter()
            .filter(|(_, is_internal)| !(self.exclude_internal && *is_internal))
            .map(|(name, _)| name)
            .collect();
        match self.json {
            true => output::line(format_args!("{:#}", json!(names))),
            false => names
                .iter()
                .for_each(|name| output::line(format_args!("{name}"))),
        }
        Ok(true)
    }
}

impl Describe {
    fn run(&self) -> anyhow::Result<bool> {
        needs_brokers(&self.remote)?;
        let asked = match self.topics.is_empty() {
            true => names(&self.remote)?
                .into_iter()
                .map(|(name, _)| name)
                .collect(),
            false => self.topics.clone(),
        };
        let topics = match asked.is_empty() {
            true => Vec::new(),
            false => self.ask(asked)?,
        };
        let known = |it: &DescribeTopicPartitionsResponseTopic| it.error_code == ErrorCode::None;
        for topic in topics.iter().filter(|topic| !known(topic)) {
            let name = topic.name.as_deref().unwrap_or_default();
            eprintln!("quorate: {name}: {}", topic.error_code);
        }
        let well = topics.iter().all(known);
        let shown: Vec<_> = topics.into_iter().filter(known).collect();
        match self.json {
            true => output::line(format_args!(
                "{:#}",
                Value::from_iter(shown.iter().map(topic_json))
            )),
            false => shown
                .iter()
                .for_each(|topic| output::print(topic_text(topic))),
        }
        Ok(well)
    }

    /// Asks page by page.
    fn ask(
        &self,
        mut names: Vec<String>,
    ) -> anyhow::Result<Vec<DescribeTopicPartitionsResponseTopic>> {
        names.sort();
        let mut topics: Vec<DescribeTopicPartitionsResponseTopic> = Vec::new();
        let mut cursor = None;
        loop {
            let request = DescribeTopicPartitionsRequest {
                topics: names
                    .iter()
                    .map(|name| TopicRequest {
                        name: name.clone(),
                        ..Default::default()
                    })
                    .collect(),
                cursor: cursor.clone(),
                ..Default::default()
            };
            let answer = self.remote.ask(request, |_| None)?;
            let Response::DescribeTopicPartitions(answer) = answer else {
                return Err(unexpected(&answer));
            };
            for topic in answer.topics {
                match topics.last_mut().filter(|last| last.name == topic.name) {
                    Some(last) => last.partitions.extend(topic.partitions),
                    None => topics.push(topic),
                }
            }
            if answer.next_cursor.is_none() {
                return Ok(topics);
            }
            if answer.next_cursor == cursor {
                bail!("the server does not get on with its answer");
            }
            cursor = answer.next_cursor;
        }
    }
}

fn ids(ids: &[i32]) -> String {
    let ids: Vec<String> = ids.iter().map(i32::to_string).collect();
    match ids.is_empty() {
        true => "–".into(),
        false => ids.join(","),
    }
}

fn topic_text(topic: &DescribeTopicPartitionsResponseTopic) -> String {
    let name = topic.name.as_deref().unwrap_or_default();
    let factor = topic
        .partitions
        .first()
        .map_or(0, |it| it.replica_nodes.len());
    let head = format!(
        "{name}  id {}, {} partitions, replication factor {factor}\n",
        topic.topic_id,
        topic.partitions.len()
    );
    let columns = [
        "  Partition",
        "Leader",
        "Epoch",
        "Replicas",
        "InSync",
        "Eligible",
        "Offline",
    ];
    let mut rows = vec![columns.map(str::to_owned).to_vec()];
    rows.extend(topic.partitions.iter().map(|partition| {
        vec![
            format!("  {}", partition.partition_index),
            match partition.leader_id {
                -1 => "none".into(),
                id => id.to_string(),
            },
            partition.leader_epoch.to_string(),
            ids(&partition.replica_nodes),
            ids(&partition.isr_nodes),
            ids(partition
                .eligible_leader_replicas
                .as_deref()
                .unwrap_or_default()),
            ids(&partition.offline_replicas),
        ]
    }));
    head + &table(&rows)
}

fn topic_json(topic: &DescribeTopicPartitionsResponseTopic) -> Value {
    let partitions = topic.partitions.iter().map(|partition| {
        json!({
            "partition": partition.partition_index,
            "leader": (partition.leader_id >= 0).then_some(partition.leader_id),
            "leaderEpoch": partition.leader_epoch,
            "replicas": partition.replica_nodes,
            "isr": partition.isr_nodes,
            "eligibleLeaderReplicas": partition.eligible_leader_replicas,
            "lastKnownElr": partition.last_known_elr,
            "offlineReplicas": partition.offline_replicas,
        })
    });
    json!({
        "name": topic.name,
        "id": topic.topic_id.to_string(),
        "isInternal": topic.is_internal,
        "partitions": Value::from_iter(partitions),
    })
}

/// What became of one topic.
struct Outcome {
    name: String,
    id: Option<String>,
    /// What went wrong, in words.
    problem: Option<String>,
    /// What was done, in a word.
    done: &'static str,
}

/// Tells what became of topics; false if one of them was refused.
fn report(outcomes: &[Outcome], as_json: bool) -> bool {
    for it in outcomes.iter().filter(|_| !as_json) {
        match &it.problem {
            Some(problem) => eprintln!("quorate: {}: {problem}", it.name),
            None => output::line(format_args!("{} {}", it.name, it.done)),
        }
    }
    if as_json {
        let items = outcomes.iter().map(|it| {
            json!({
                "name": it.name,
                "id": it.id,
                "outcome": it.problem.is_none().then_some(it.done),
                "error": it.problem,
            })
        });
        output::line(format_args!("{:#}", Value::from_iter(items)));
    }
    outcomes.iter().all(|it| it.problem.is_none())
}

impl Create {
    fn run(&self) -> anyhow::Result<bool> {
        let configs = self.config.iter().map(|text| {
            let (name, value) = text
                .split_once('=')
                .with_context(|| format!("--config {text}: write it as NAME=VALUE"))?;
            Ok(CreatableTopicConfig {
                name: name.trim().to_owned(),
                value: Some(value.to_owned()),
                ..Default::default()
            })
        });
        let configs = configs.collect::<anyhow::Result<Vec<_>>>()?;
        let topics = self.topics.iter().map(|name| CreatableTopic {
            name: name.clone(),
            num_partitions: self.partitions,
            replication_factor: self.replication_factor,
            configs: configs.clone(),
            ..Default::default()
        });
        let request = CreateTopicsRequest {
            topics: topics.collect(),
            timeout_ms: self.remote.timeout_ms(),
            validate_only: self.validate_only,
            ..Default::default()
        };
        let answer = self.remote.ask(request, |answer| match answer {
            Response::CreateTopics(answer) => {
                let mut codes = answer.topics.iter().map(|topic| topic.error_code);
                codes.find(|code| is_premature(*code))
            }
            _ => None,
        })?;
        let Response::CreateTopics(answer) = answer else {
            return Err(unexpected(&answer));
        };
        let outcomes = answer.topics.into_iter().map(|topic| {
            let (problem, done) = match topic.error_code {
                ErrorCode::None if self.validate_only => (None, "could be created"),
                ErrorCode::None => (None, "created"),
                ErrorCode::TopicAlreadyExists if self.if_not_exists => (None, "exists already"),
                code => (Some(told(code, &topic.error_message)), "refused"),
            };
            Outcome {
                name: topic.name,
                id: topic.topic_id.non_zero().map(|id| id.to_string()),
                problem,
                done,
            }
        });
        Ok(report(&outcomes.collect::<Vec<_>>(), self.json))
    }
}

impl Delete {
    fn run(&self) -> anyhow::Result<bool> {
        let topics = self.topics.iter().map(|name| DeleteTopicState {
            name: Some(name.clone()),
            ..Default::default()
        });
        let request = DeleteTopicsRequest {
            topics: topics.collect(),
            topic_names: self.topics.clone(),
            timeout_ms: self.remote.timeout_ms(),
            ..Default::default()
        };
        let answer = self.remote.ask(request, |answer| match answer {
            Response::DeleteTopics(answer) => {
                let mut codes = answer.responses.iter().map(|topic| topic.error_code);
                codes.find(|code| is_premature(*code))
            }
            _ => None,
        })?;
        let Response::DeleteTopics(answer) = answer else {
            return Err(unexpected(&answer));
        };
        let outcomes = answer.responses.into_iter().map(|topic| {
            let (problem, done) = match topic.error_code {
                ErrorCode::None => (None, "deleted"),
                ErrorCode::UnknownTopicOrPartition if self.if_exists => (None, "is not there"),
                code => (Some(told(code, &topic.error_message)), "refused"),
            };
            Outcome {
                name: topic.name.unwrap_or_default(),
                id: topic.topic_id.non_zero().map(|id| id.to_string()),
                problem,
                done,
            }
        });
        Ok(report(&outcomes.collect::<Vec<_>>(), self.json))
    }
}
