//! Commands that ask a running cluster, and how they reach it.
//!
//! At brokers any server will do. At controllers the active one must be asked, which every controller
//! knows; while there is none, or it changes, the question is asked again until its time is over.
#![allow(clippy::disallowed_methods)] // It waits for others, by the machine's clock.

pub mod quorum;
pub mod topics;
mod voters;

use std::time::{Duration, Instant};

use anyhow::{Context, anyhow, bail};
use clap::Args;
use quorate::node::{Client, ClientError};
use quorate::protocol::messages::{
    DescribeClusterRequest, DescribeClusterResponse, Request, Response,
};
use quorate::types::ErrorCode;

/// How long to wait before asking again.
const ASK_AGAIN: Duration = Duration::from_millis(100);

/// DescribeCluster's number for controllers.
const CONTROLLERS: i8 = 2;

/// Whom to ask.
#[derive(Debug, Args)]
pub struct Remote {
    /// Brokers to ask, as host:port with commas between them.
    #[arg(
        long,
        value_name = "HOST:PORT,…",
        value_delimiter = ',',
        required_unless_present = "bootstrap_controller",
        conflicts_with = "bootstrap_controller"
    )]
    bootstrap_server: Vec<String>,
    /// Controllers to ask, as host:port with commas between them.
    #[arg(long, value_name = "HOST:PORT,…", value_delimiter = ',')]
    bootstrap_controller: Vec<String>,
    /// How long to try, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    timeout: u64,
}

/// Why a question was not answered.
enum Failed {
    /// It may be answered later.
    ForNow(anyhow::Error),
    /// It will not be.
    ForGood(anyhow::Error),
}

impl Remote {
    /// Whether controllers are asked, not brokers.
    pub fn asks_controllers(&self) -> bool {
        !self.bootstrap_controller.is_empty()
    }

    /// How long one answer may take.
    pub fn timeout(&self) -> Duration {
        Duration::from_secs(self.timeout.max(1))
    }

    /// The same, as requests have it.
    pub fn timeout_ms(&self) -> i32 {
        i32::try_from(self.timeout().as_millis()).unwrap_or(i32::MAX)
    }

    /// Asks until there is an answer that is not `premature`.
    pub fn ask(
        &self,
        request: impl Into<Request>,
        premature: impl Fn(&Response) -> Option<ErrorCode>,
    ) -> anyhow::Result<Response> {
        let request = request.into();
        let until = Instant::now() + self.timeout();
        loop {
            let error = match self.ask_once(&request, &premature) {
                Ok(answer) => return Ok(answer),
                Err(Failed::ForGood(error)) => return Err(error),
                Err(Failed::ForNow(error)) => error,
            };
            if Instant::now() + ASK_AGAIN > until {
                return Err(error.context(format!("no answer within {} s", self.timeout)));
            }
            std::thread::sleep(ASK_AGAIN);
        }
    }

    /// What the servers say of the cluster and its controllers or brokers.
    pub fn cluster(&self) -> anyhow::Result<DescribeClusterResponse> {
        let answer = self.ask(self.cluster_request(), |_| None)?;
        match answer {
            Response::DescribeCluster(cluster) => Ok(cluster),
            other => Err(unexpected(&other)),
        }
    }

    fn ask_once(
        &self,
        request: &Request,
        premature: &impl Fn(&Response) -> Option<ErrorCode>,
    ) -> Result<Response, Failed> {
        let mut client = self.connect().map_err(Failed::ForNow)?;
        let answer = client.call(request).map_err(|error| match error {
            ClientError::Unsupported { .. } => Failed::ForGood(error.into()),
            error => Failed::ForNow(error.into()),
        })?;
        match premature(&answer) {
            Some(error) => Err(Failed::ForNow(anyhow!("the answer is {error}"))),
            None => Ok(answer),
        }
    }

    /// A connection to the active controller, or to any broker.
    fn connect(&self) -> anyhow::Result<Client> {
        let servers = match self.asks_controllers() {
            true => &self.bootstrap_controller,
            false => &self.bootstrap_server,
        };
        let mut failed = anyhow!("no server is given");
        for server in servers.iter().map(|it| it.trim()) {
            let reached = Client::connect(server, self.timeout())
                .map_err(anyhow::Error::from)
                .and_then(|client| match self.asks_controllers() {
                    true => self.active(client),
                    false => Ok(client),
                });
            match reached {
                Ok(client) => return Ok(client),
                Err(error) => failed = error,
            }
        }
        Err(failed)
    }

    /// Goes on from any controller to the active one.
    fn active(&self, mut any: Client) -> anyhow::Result<Client> {
        let cluster = match any.call(&self.cluster_request().into())? {
            Response::DescribeCluster(cluster) => cluster,
            other => return Err(unexpected(&other)),
        };
        if cluster.error_code != ErrorCode::None {
            bail!("{}", told(cluster.error_code, &cluster.error_message));
        }
        let active = cluster
            .brokers
            .iter()
            .find(|node| node.broker_id == cluster.controller_id)
            .context("no controller is active")?;
        let address = format!("{}:{}", active.host, active.port);
        Ok(Client::connect(&address, self.timeout())?)
    }

    fn cluster_request(&self) -> DescribeClusterRequest {
        let mut request = DescribeClusterRequest::default();
        if self.asks_controllers() {
            request.endpoint_type = CONTROLLERS;
        }
        request
    }
}

/// An error in words.
fn told(code: ErrorCode, message: &Option<String>) -> String {
    match message.as_deref() {
        Some(message) if !message.is_empty() => format!("{message} ({code})"),
        _ => code.to_string(),
    }
}

/// Whether an error says that another controller must be asked, or the same one later.
fn is_premature(code: ErrorCode) -> bool {
    matches!(
        code,
        ErrorCode::NotController | ErrorCode::NotLeaderOrFollower | ErrorCode::LeaderNotAvailable
    )
}

fn unexpected(answer: &Response) -> anyhow::Error {
    anyhow!("{} was answered, which is not what was asked", answer.key())
}

/// Rows under a head, in columns as wide as they need to be.
pub fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.first().map_or(0, Vec::len);
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let cells = row.iter().zip(&widths);
        let line: String = cells
            .map(|(cell, width)| format!("{cell:<width$}  "))
            .collect();
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_they_need_to_be() {
        let row = |cells: [&str; 2]| cells.map(str::to_owned).to_vec();
        let text = table(&[row(["ID", "NAME"]), row(["1000", "a"])]);
        assert_eq!(text, "ID    NAME\n1000  a\n");
    }
}
