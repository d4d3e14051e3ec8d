//! Changes of the voter set, as an operator's tool asks for them.
//!
//! Whatever comes of them is fine, as long as the laws hold: most are refused, for the controller is
//! a voter already, is none, has not caught up, or another change is under way.

use quorate_protocol::messages::add_raft_voter::Listener;
use quorate_protocol::messages::{AddRaftVoterRequest, RemoveRaftVoterRequest, Request, Response};
use quorate_types::Rng;

use super::Known;
use crate::spec::Spec;

/// A change of the voter set, by chance.
pub(super) fn change(known: &Known, rng: &mut Rng) -> Request {
    let (id, directory) = known.voters[rng.index(known.voters.len())];
    let cluster_id = Some(known.cluster_id.clone());
    // Added twice as often as removed: a set of one is no quorum to speak of.
    if rng.one_in(3) {
        return RemoveRaftVoterRequest {
            cluster_id,
            voter_id: id.0,
            voter_directory_id: directory.0,
            ..Default::default()
        }
        .into();
    }
    let endpoint = Spec::controller_endpoint(id);
    AddRaftVoterRequest {
        cluster_id,
        timeout_ms: 3_000,
        voter_id: id.0,
        voter_directory_id: directory.0,
        listeners: vec![Listener {
            name: endpoint.name,
            host: endpoint.host,
            port: endpoint.port,
            ..Default::default()
        }],
        ..Default::default()
    }
    .into()
}

/// What came of it, in words.
pub(super) fn outcome(response: &Response) -> String {
    match response {
        Response::AddRaftVoter(answer) => format!("add a voter: {}", answer.error_code.name()),
        Response::RemoveRaftVoter(answer) => {
            format!("remove a voter: {}", answer.error_code.name())
        }
        _ => "an answer to something else".to_owned(),
    }
}
