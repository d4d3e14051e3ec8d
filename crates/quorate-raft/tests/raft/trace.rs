//! One short line for each thing that happens, for golden scripts and failures.

use quorate_raft::{Destination, DiskOp, Output, rpc};
use quorate_types::{ControlRecord, ErrorCode, MonoTime, NodeId, Offset};

pub fn at(now: MonoTime) -> String {
    format!("{:>8.3}", now.0 as f64 / 1000.0)
}

fn offset(of: Option<Offset>) -> String {
    of.map_or("?".into(), |offset| offset.to_string())
}

fn node(of: Option<NodeId>) -> String {
    of.map_or("nobody".into(), |node| node.to_string())
}

/// A request on its way.
pub fn request(body: &rpc::Request) -> String {
    match body {
        rpc::Request::Vote(vote) => {
            let kind = if vote.pre_vote { "pre-vote" } else { "vote" };
            format!("{kind} e{} log {}", vote.epoch, vote.last)
        }
        rpc::Request::BeginQuorumEpoch(begin) => format!("begin e{}", begin.epoch),
        rpc::Request::EndQuorumEpoch(end) => {
            let order: Vec<String> = end
                .successors
                .iter()
                .map(|key| key.id.to_string())
                .collect();
            format!("end e{} successors [{}]", end.epoch, order.join(" "))
        }
        rpc::Request::Fetch(fetch) => format!(
            "fetch e{} from {}@{} hw {}",
            fetch.epoch, fetch.offset, fetch.last_epoch, fetch.high_watermark
        ),
        rpc::Request::FetchSnapshot(fetch) => {
            format!("fetch-snapshot {} from byte {}", fetch.id, fetch.position)
        }
        rpc::Request::AddVoter(add) => format!("add-voter {}", add.voter.id),
        rpc::Request::RemoveVoter(remove) => format!("remove-voter {}", remove.voter.id),
        rpc::Request::UpdateVoter(update) => format!("update-voter {}", update.voter.id),
        rpc::Request::DescribeQuorum | rpc::Request::ProbeVersions => format!("{body:?}"),
    }
}

/// An answer that arrived; `None` for those that say nothing.
pub fn answer(body: &rpc::Answer) -> Option<String> {
    let leadership = body
        .leadership()
        .map(|known| format!(" (e{} led by {})", known.epoch, node(known.leader)));
    let leadership = leadership.unwrap_or_default();
    if body.error() != ErrorCode::None {
        return Some(format!("{}{leadership}", body.error().name()));
    }
    let line = match body {
        rpc::Answer::Vote(reply) if reply.granted => "yes".into(),
        rpc::Answer::Vote(_) => format!("no{leadership}"),
        rpc::Answer::Fetch(answer) => {
            let hw = offset(answer.high_watermark);
            match &answer.body {
                rpc::Fetched::Nothing => format!("nothing new, hw {hw}"),
                rpc::Fetched::Records(batches) => {
                    let ends: Vec<String> = batches
                        .iter()
                        .map(|batch| format!("{}..{}", batch.base, batch.end))
                        .collect();
                    format!("records {}, hw {hw}", ends.join(" "))
                }
                rpc::Fetched::Diverging(at) => format!("diverging, mine is {at}"),
                rpc::Fetched::Snapshot(id) => format!("load snapshot {id}"),
            }
        }
        rpc::Answer::FetchSnapshot(answer) => {
            format!(
                "bytes {}+{} of {}",
                answer.position, answer.len, answer.size
            )
        }
        rpc::Answer::AddVoter(_) | rpc::Answer::RemoveVoter(_) | rpc::Answer::UpdateVoter(_) => {
            "done".into()
        }
        _ => return None,
    };
    Some(line)
}

fn record(of: &ControlRecord) -> String {
    match of {
        ControlRecord::LeaderChange { leader, .. } => format!("LeaderChange({leader})"),
        ControlRecord::KRaftVersion(version) => format!("KRaftVersion({})", version.0),
        ControlRecord::Voters(set) => {
            let ids: Vec<String> = set.ids().map(|id| id.to_string()).collect();
            format!("Voters({})", ids.join(" "))
        }
        other => format!("{other:?}"),
    }
}

/// What a node does or tells, where that is of interest; calls show when they arrive.
pub fn output(output: &Output) -> Option<String> {
    let line = match output {
        Output::Disk { op, .. } => match op {
            DiskOp::SaveElection(state) => format!(
                "writes epoch {} leader {} vote {}",
                state.epoch,
                node(state.leader),
                node(state.voted.map(|key| key.id))
            ),
            DiskOp::Append { base, end, .. } => format!("writes {base}..{end}"),
            DiskOp::AppendControl { base, records, .. } => {
                let records: Vec<String> = records.iter().map(record).collect();
                format!("writes {} at {base}", records.join(" "))
            }
            DiskOp::Truncate { end } => format!("truncates to {end}"),
            DiskOp::SnapshotChunk { position, .. } => format!("writes a piece at byte {position}"),
            DiskOp::InstallSnapshot { id } => format!("installs {id}"),
            DiskOp::DropSnapshot { id } => format!("drops {id}"),
        },
        Output::Call {
            to: Destination::Node { .. } | Destination::Bootstrap(_),
            ..
        }
        | Output::Reply { .. } => return None,
        Output::HighWatermark(end) => format!("sees {end} committed"),
        Output::Leader {
            epoch,
            mine_from: Some(from),
            ..
        } => format!("LEADS epoch {epoch} from {from}"),
        Output::Leader { epoch, leader, .. } => {
            format!("is in epoch {epoch}, led by {}", node(*leader))
        }
        Output::ReadFrom { snapshot } => format!("starts over from {snapshot}"),
        Output::Members { version, voters } => {
            let ids: Vec<String> = voters.ids().map(|id| id.to_string()).collect();
            format!(
                "has voters [{}] at kraft.version {}",
                ids.join(" "),
                version.0
            )
        }
        Output::Fatal { reason } => format!("FAILS: {reason}"),
        Output::Stopped => "has stopped".into(),
    };
    Some(line)
}

/// A reply to a request by hand.
pub fn reply(body: &rpc::Reply) -> String {
    let (error, leadership, rest) = match body {
        rpc::Reply::Vote(reply) => {
            let vote = if reply.granted { "yes" } else { "no" };
            (reply.error, Some(&reply.leadership), vote.to_string())
        }
        rpc::Reply::BeginQuorumEpoch(reply)
        | rpc::Reply::EndQuorumEpoch(reply)
        | rpc::Reply::UpdateVoter(reply) => {
            (reply.error, Some(&reply.leadership), "done".to_string())
        }
        rpc::Reply::Fetch(reply) => {
            let hw = offset(reply.high_watermark);
            (
                reply.error,
                Some(&reply.leadership),
                format!("{:?}, hw {hw}", reply.body),
            )
        }
        rpc::Reply::FetchSnapshot(reply) => {
            let piece = format!("{} of {} bytes", reply.position, reply.size);
            (reply.error, Some(&reply.leadership), piece)
        }
        rpc::Reply::AddVoter(reply) | rpc::Reply::RemoveVoter(reply) => {
            (reply.error, None, "done".to_string())
        }
        rpc::Reply::DescribeQuorum(reply) => (reply.error, Some(&reply.leadership), String::new()),
        rpc::Reply::ProbeVersions(error) => (*error, None, String::new()),
    };
    let leadership =
        leadership.map(|known| format!(" (e{} led by {})", known.epoch, node(known.leader)));
    let leadership = leadership.unwrap_or_default();
    match error {
        ErrorCode::None => format!("{rest}{leadership}"),
        error => format!("{}{leadership}", error.name()),
    }
}
