//! The quorum as its leader sees it, for DescribeQuorum and status pages.

use std::time::Duration;

use quorate_types::{ErrorCode, MonoTime, ReplicaKey};

use crate::Raft;
use crate::leader::{Leading, Progress};
use crate::role::Role;
use crate::rpc::{DescribeReply, ReplicaStatus};

/// The answer to DescribeQuorum.
pub(crate) fn describe(raft: &Raft, now: MonoTime) -> DescribeReply {
    let Role::Leader(leading) = &raft.role else {
        return DescribeReply {
            error: ErrorCode::NotLeaderOrFollower,
            leadership: raft.leadership(),
            high_watermark: None,
            voters: Vec::new(),
            observers: Vec::new(),
            nodes: Vec::new(),
        };
    };
    let voters = raft.voters();
    let is_observer = |key: &ReplicaKey| !voters.contains(*key) && key.id != raft.config.local.id;
    let mut observers: Vec<ReplicaStatus> = leading
        .replicas()
        .filter(|(key, _)| is_observer(key))
        .map(|(key, progress)| status(key, &progress, now))
        .collect();
    if !raft.is_voter() {
        observers.push(own_status(raft));
        observers.sort_by_key(|status| status.replica);
    }
    DescribeReply {
        error: ErrorCode::None,
        leadership: raft.leadership(),
        high_watermark: leading.high_watermark,
        voters: voters
            .keys()
            .map(|key| voter_status(raft, leading, key, now))
            .collect(),
        observers,
        nodes: voters
            .ids()
            .map(|id| (id, raft.known_endpoints(leading, id)))
            .collect(),
    }
}

fn voter_status(raft: &Raft, leading: &Leading, key: ReplicaKey, now: MonoTime) -> ReplicaStatus {
    if raft.is_voter() && key.id == raft.config.local.id {
        return own_status(raft);
    }
    let mut status = status(key, &leading.progress_of(key), now);
    if let Some(reported) = leading.reported.get(&key.id) {
        status.replica = reported.voter;
    }
    status
}

fn own_status(raft: &Raft) -> ReplicaStatus {
    ReplicaStatus {
        replica: raft.config.local,
        log_end: Some(raft.log_end()),
        last_fetch: Some(Duration::ZERO),
        last_caught_up: Some(Duration::ZERO),
    }
}

fn status(replica: ReplicaKey, progress: &Progress, now: MonoTime) -> ReplicaStatus {
    ReplicaStatus {
        replica,
        log_end: progress.end,
        last_fetch: progress.last_fetch.map(|at| now.since(at)),
        last_caught_up: progress.caught_up.map(|at| now.since(at)),
    }
}
