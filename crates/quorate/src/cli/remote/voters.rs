//! `quorate quorum add` and `remove`: who votes in a dynamic quorum.

use std::path::PathBuf;

use anyhow::Context;
use clap::Args;
use quorate::protocol::messages::add_raft_voter::Listener;
use quorate::protocol::messages::{AddRaftVoterRequest, RemoveRaftVoterRequest, Response};
use quorate::storage::MetaProperties;
use quorate::storage::vfs::OsVfs;
use quorate::types::{ErrorCode, Uuid};

use super::{Remote, is_premature, told, unexpected};
use crate::output;
use crate::settings::{Controller, Settings};

/// Make a running controller a voter.
///
/// The controller must have been formatted with --no-initial-controllers and have caught up with the
/// metadata log (`quorate quorum replication` shows it as an observer). Run this where its directories
/// are: its id and its directory's id are read from there.
#[derive(Debug, Args)]
pub struct Add {
    #[command(flatten)]
    remote: Remote,
    /// The configuration of the controller that is to vote.
    #[arg(short, long, value_name = "FILE")]
    config: PathBuf,
}

/// Take a vote away from a controller.
///
/// It goes on as an observer; stop it before or after. `quorate quorum replication` shows ids and
/// directory ids.
#[derive(Debug, Args)]
pub struct Remove {
    #[command(flatten)]
    remote: Remote,
    /// The controller's id.
    #[arg(long, value_name = "ID")]
    id: i32,
    /// The id of its metadata directory.
    #[arg(long, value_name = "DIR", allow_hyphen_values = true)]
    directory_id: Uuid,
}

impl Add {
    /// Asks for it.
    pub fn run(&self) -> anyhow::Result<bool> {
        let controller = Controller::new(&Settings::load(&self.config, &[])?)?;
        let meta = MetaProperties::read(&OsVfs, &controller.metadata_dir)?;
        let directory = meta.directory.with_context(|| {
            let dir = controller.metadata_dir.display();
            format!("{dir}/meta.properties names no directory.id")
        })?;
        let endpoint = controller.endpoint;
        let request = AddRaftVoterRequest {
            cluster_id: meta.cluster_id,
            timeout_ms: self.remote.timeout_ms(),
            voter_id: controller.node.0,
            voter_directory_id: directory.into(),
            listeners: vec![Listener {
                name: endpoint.name,
                host: endpoint.host,
                port: endpoint.port,
                ..Default::default()
            }],
            ..Default::default()
        };
        let answer = self.remote.ask(request, |answer| match answer {
            Response::AddRaftVoter(answer) => {
                Some(answer.error_code).filter(|code| is_premature(*code))
            }
            _ => None,
        })?;
        let Response::AddRaftVoter(answer) = answer else {
            return Err(unexpected(&answer));
        };
        Ok(report(
            answer.error_code,
            &answer.error_message,
            &format!("controller {} votes", controller.node),
        ))
    }
}

impl Remove {
    /// Asks for it.
    pub fn run(&self) -> anyhow::Result<bool> {
        let request = RemoveRaftVoterRequest {
            voter_id: self.id,
            voter_directory_id: self.directory_id,
            ..Default::default()
        };
        let answer = self.remote.ask(request, |answer| match answer {
            Response::RemoveRaftVoter(answer) => {
                Some(answer.error_code).filter(|code| is_premature(*code))
            }
            _ => None,
        })?;
        let Response::RemoveRaftVoter(answer) = answer else {
            return Err(unexpected(&answer));
        };
        Ok(report(
            answer.error_code,
            &answer.error_message,
            &format!("controller {} votes no more", self.id),
        ))
    }
}

fn report(code: ErrorCode, message: &Option<String>, done: &str) -> bool {
    match code {
        ErrorCode::None => output::line(format_args!("{done}")),
        code => eprintln!("quorate: {}", told(code, message)),
    }
    code == ErrorCode::None
}
