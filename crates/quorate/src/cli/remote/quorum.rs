//! `quorate quorum`: who leads the controllers, and how far each has come.

use anyhow::{Context, bail};
use clap::{Args, Subcommand};
use quorate::protocol::messages::describe_quorum::{
    Listener, ReplicaState, RequestPartitionData, RequestTopicData, ResponsePartitionData,
};
use quorate::protocol::messages::{DescribeQuorumRequest, DescribeQuorumResponse, Response};
use quorate::types::ErrorCode;
use serde_json::{Value, json};

use super::voters::{Add, Remove};
use super::{Remote, is_premature, table, told, unexpected};
use crate::output;

const TOPIC: &str = "__cluster_metadata";

/// Show the quorum of controllers, and change who votes in it.
#[derive(Debug, Args)]
pub struct Quorum {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Show the leader, its epoch, and who votes.
    Status(Question),
    /// Show how far each controller and broker has copied the metadata log.
    Replication(Question),
    Add(Add),
    Remove(Remove),
}

#[derive(Debug, Args)]
struct Question {
    #[command(flatten)]
    remote: Remote,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

impl Quorum {
    /// Asks and prints.
    pub fn run(&self) -> anyhow::Result<bool> {
        match &self.command {
            Command::Add(add) => return add.run(),
            Command::Remove(remove) => return remove.run(),
            Command::Status(question) => {
                let state = State::ask(&question.remote)?;
                let cluster = question.remote.cluster()?.cluster_id;
                match question.json {
                    true => output::line(format_args!("{:#}", state.status_json(&cluster))),
                    false => output::print(state.status_text(&cluster)),
                }
            }
            Command::Replication(question) => {
                let state = State::ask(&question.remote)?;
                match question.json {
                    true => output::line(format_args!("{:#}", Value::from(state.replicas_json()))),
                    false => output::print(state.replicas_text()),
                }
            }
        }
        Ok(true)
    }
}

/// What the leader says of the quorum.
struct State {
    partition: ResponsePartitionData,
    answer: DescribeQuorumResponse,
}

impl State {
    fn ask(remote: &Remote) -> anyhow::Result<State> {
        let request = DescribeQuorumRequest {
            topics: vec![RequestTopicData {
                topic_name: TOPIC.into(),
                partitions: vec![RequestPartitionData::default()],
                ..Default::default()
            }],
            ..Default::default()
        };
        let answer = remote.ask(request, |answer| match answer {
            Response::DescribeQuorum(answer) => {
                let inner = partition_of(answer).map(|partition| partition.error_code);
                [Some(answer.error_code), inner]
                    .into_iter()
                    .flatten()
                    .find(|code| is_premature(*code))
            }
            _ => None,
        })?;
        let Response::DescribeQuorum(answer) = answer else {
            return Err(unexpected(&answer));
        };
        if answer.error_code != ErrorCode::None {
            bail!("{}", told(answer.error_code, &answer.error_message));
        }
        let partition = partition_of(&answer)
            .context("the answer says nothing of the quorum")?
            .clone();
        if partition.error_code != ErrorCode::None {
            bail!("{}", told(partition.error_code, &partition.error_message));
        }
        Ok(State { partition, answer })
    }

    fn leader(&self) -> Option<&ReplicaState> {
        let mut voters = self.partition.current_voters.iter();
        voters.find(|voter| voter.replica_id == self.partition.leader_id)
    }

    fn end(&self) -> i64 {
        let observers = self.partition.observers.iter();
        let known = self.leader().or_else(|| {
            observers
                .clone()
                .find(|it| it.replica_id == self.partition.leader_id)
        });
        known.map_or(-1, |leader| leader.log_end_offset)
    }

    fn lag(&self, replica: &ReplicaState) -> Option<i64> {
        (replica.log_end_offset >= 0).then(|| self.end() - replica.log_end_offset)
    }

    /// The greatest lag of a voter: in records, and in time.
    fn greatest_lags(&self) -> (Option<i64>, Option<i64>) {
        let voters = || self.partition.current_voters.iter();
        let lags: Option<Vec<i64>> = voters().map(|voter| self.lag(voter)).collect();
        let leader_at = self
            .leader()
            .map_or(-1, |leader| leader.last_caught_up_timestamp);
        let behind: Option<Vec<i64>> = voters()
            .map(|voter| voter.last_caught_up_timestamp)
            .map(|at| (at >= 0 && leader_at >= 0).then(|| (leader_at - at).max(0)))
            .collect();
        let greatest = |values: Option<Vec<i64>>| values?.into_iter().max();
        (greatest(lags), greatest(behind))
    }

    fn endpoints(&self, id: i32) -> Vec<String> {
        let node = self.answer.nodes.iter().find(|node| node.node_id == id);
        let show = |it: &Listener| format!("{}://{}:{}", it.name, it.host, it.port);
        node.map(|node| node.listeners.iter().map(show).collect())
            .unwrap_or_default()
    }

    fn replicas(&self) -> impl Iterator<Item = (&ReplicaState, &'static str)> {
        let voters = self.partition.current_voters.iter().map(|voter| {
            let leads = voter.replica_id == self.partition.leader_id;
            (voter, if leads { "Leader" } else { "Follower" })
        });
        voters.chain(self.partition.observers.iter().map(|it| (it, "Observer")))
    }

    fn status_text(&self, cluster: &str) -> String {
        let (lag, behind) = self.greatest_lags();
        let unknown = |value: Option<i64>| value.unwrap_or(-1);
        let list = |replicas: &[ReplicaState]| {
            let shown = replicas.iter().map(|replica| {
                let endpoints = self.endpoints(replica.replica_id);
                match endpoints.is_empty() {
                    true => replica.replica_id.to_string(),
                    false => format!("{} ({})", replica.replica_id, endpoints.join(", ")),
                }
            });
            shown.collect::<Vec<_>>().join(", ")
        };
        format!(
            "ClusterId:             {cluster}\n\
             LeaderId:              {}\n\
             LeaderEpoch:           {}\n\
             HighWatermark:         {}\n\
             MaxFollowerLag:        {}\n\
             MaxFollowerLagTimeMs:  {}\n\
             CurrentVoters:         {}\n\
             CurrentObservers:      {}\n",
            self.partition.leader_id,
            self.partition.leader_epoch,
            self.partition.high_watermark,
            unknown(lag),
            unknown(behind),
            list(&self.partition.current_voters),
            list(&self.partition.observers),
        )
    }

    fn status_json(&self, cluster: &str) -> Value {
        let (lag, behind) = self.greatest_lags();
        let list = |replicas: &[ReplicaState]| -> Vec<Value> {
            let shown = replicas.iter().map(|replica| {
                json!({
                    "id": replica.replica_id,
                    "directoryId": directory(replica),
                    "endpoints": self.endpoints(replica.replica_id),
                })
            });
            shown.collect()
        };
        json!({
            "clusterId": cluster,
            "leaderId": self.partition.leader_id,
            "leaderEpoch": self.partition.leader_epoch,
            "highWatermark": self.partition.high_watermark,
            "maxFollowerLag": lag,
            "maxFollowerLagTimeMs": behind,
            "voters": list(&self.partition.current_voters),
            "observers": list(&self.partition.observers),
        })
    }

    fn replicas_text(&self) -> String {
        let head = [
            "NodeId",
            "DirectoryId",
            "LogEndOffset",
            "Lag",
            "LastFetchTimestamp",
            "LastCaughtUpTimestamp",
            "Status",
        ];
        let mut rows = vec![head.map(str::to_owned).to_vec()];
        rows.extend(self.replicas().map(|(replica, status)| {
            vec![
                replica.replica_id.to_string(),
                replica.replica_directory_id.to_string(),
                replica.log_end_offset.to_string(),
                self.lag(replica)
                    .map_or("unknown".to_owned(), |lag| lag.to_string()),
                replica.last_fetch_timestamp.to_string(),
                replica.last_caught_up_timestamp.to_string(),
                status.to_owned(),
            ]
        }));
        table(&rows)
    }

    fn replicas_json(&self) -> Vec<Value> {
        let shown = self.replicas().map(|(replica, status)| {
            json!({
                "id": replica.replica_id,
                "directoryId": directory(replica),
                "logEndOffset": replica.log_end_offset,
                "lag": self.lag(replica),
                "lastFetchTimestamp": replica.last_fetch_timestamp,
                "lastCaughtUpTimestamp": replica.last_caught_up_timestamp,
                "status": status,
            })
        });
        shown.collect()
    }
}

fn directory(replica: &ReplicaState) -> Option<String> {
    let id = replica.replica_directory_id.non_zero()?;
    Some(id.to_string())
}

fn partition_of(answer: &DescribeQuorumResponse) -> Option<&ResponsePartitionData> {
    answer.topics.first()?.partitions.first()
}
