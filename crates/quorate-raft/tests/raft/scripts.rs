//! Golden scripts: one file a scenario, its name says which.
//!
//! ```text
//! cluster voters=3 [dynamic=true] [observers=1] [deaths=true]   makes and starts a cluster
//! run 500 | settle                    lets time pass: milliseconds, or until all follow a leader
//! append 1 count=3                    records of the state machine at a node
//! crash 1 | start 1 | add 4 [join=true] | move 1   processes; at another port
//! isolate 1 | cut 1 2 | heal          the network
//! disk 1 hanging|failing|good         a disk
//! gone 1 at=2                         node 2 sees that the process of node 1 is gone
//! resign 1 | stop 1 | compact 1       at a node
//! vote|fetch|end from=2 to=1 …        a request by hand, and its reply
//! add-voter 4 at=1 | remove-voter 1 at=1 | upgrade at=1
//! status                              where each node stands
//! ```
//!
//! What happens is printed as it happens; `verbose` prints fetches too.
//! `UPDATE_GOLDENFILES=1` writes the outputs anew.

use std::error::Error;
use std::fmt::Write as _;
use std::time::Duration;

use goldenscript::{ArgumentConsumer, Command, Context};
use quorate_raft::{Input, rpc};
use quorate_types::{Epoch, NodeId, Offset, OffsetAndEpoch};

use crate::cluster::{Cluster, Weather};
use crate::disk::Health;
use crate::node::{endpoint, key};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

#[derive(Default)]
struct Runner {
    cluster: Option<Cluster>,
    verbose: bool,
}

impl goldenscript::Runner for Runner {
    type Command = Command;

    fn run(&mut self, command: &Command, _: &Context) -> Result<String> {
        let mut args = command.consume_args();
        if command.name == "cluster" {
            self.cluster = Some(make(&mut args)?);
        }
        if command.name == "verbose" {
            self.verbose = true;
        }
        let Some(cluster) = &mut self.cluster else {
            return Err("no cluster yet".into());
        };
        let said = perform(cluster, &command.name, &mut args)?;
        args.reject_next()?;
        let mut output = String::new();
        for line in cluster.trace.replace(Vec::new()).unwrap_or_default() {
            let chatter = line.contains(" fetch e") || line.contains("nothing new");
            let retry = line.contains("← NOT_LEADER_OR_FOLLOWER");
            if self.verbose || !(chatter || retry) {
                writeln!(output, "{line}")?;
            }
        }
        output.push_str(&said);
        Ok(output)
    }
}

fn make(args: &mut ArgumentConsumer<'_>) -> Result<Cluster> {
    let voters: i32 = number(args, "voters")?;
    let observers: i32 = optional(args, "observers")?.unwrap_or(0);
    let dynamic: bool = optional(args, "dynamic")?.unwrap_or(false);
    let weather = Weather {
        deaths_noticed: optional(args, "deaths")?.unwrap_or(false),
        ..Weather::calm()
    };
    let mut cluster = if dynamic {
        Cluster::dynamic(7, voters, weather)
    } else {
        Cluster::new(7, voters, weather)
    };
    for id in voters + 1..=voters + observers {
        cluster.add(id, false);
    }
    cluster.trace = Some(Vec::new());
    cluster.start_all();
    Ok(cluster)
}

fn perform(cluster: &mut Cluster, name: &str, args: &mut ArgumentConsumer<'_>) -> Result<String> {
    match name {
        "cluster" | "verbose" => {}
        "run" => cluster.run(Duration::from_millis(position(args)?)),
        "settle" => {
            let leader = cluster.settle();
            return Ok(format!("{leader} leads\n"));
        }
        "append" => {
            let id = NodeId(position(args)?);
            let count = optional(args, "count")?.unwrap_or(1);
            if let Err(error) = cluster.append(id, count) {
                return Ok(format!("refused: {error}\n"));
            }
        }
        "crash" => cluster.crash(NodeId(position(args)?), false),
        "start" => cluster.start(NodeId(position(args)?)),
        "add" => {
            let id = position(args)?;
            cluster.add(id, true);
            let node = cluster.nodes.get_mut(&NodeId(id)).expect("just added");
            node.config.auto_join = optional(args, "join")?.unwrap_or(false);
            cluster.start(NodeId(id));
        }
        "move" => {
            let id = NodeId(position(args)?);
            cluster.crash(id, false);
            let node = cluster.nodes.get_mut(&id).expect("a known node");
            node.config.endpoints[0].port += 1;
            cluster.start(id);
        }
        "isolate" => cluster.isolate(NodeId(position(args)?)),
        "cut" => {
            let pair = (NodeId(position(args)?), NodeId(position(args)?));
            cluster.cut.insert(pair);
        }
        "heal" => cluster.cut.clear(),
        "disk" => {
            let id = NodeId(position(args)?);
            let health = match args.next_pos() {
                Some("hanging") => Health::Hanging,
                Some("failing") => Health::Failing,
                _ => Health::Good,
            };
            cluster.disk_health(id, health);
        }
        "gone" => {
            let node = NodeId(position(args)?);
            let at = NodeId(number(args, "at")?);
            cluster.input(at, Input::PeerDown { node });
        }
        "resign" => {
            let id = NodeId(position(args)?);
            let epoch = cluster.raft(id).epoch();
            cluster.input(id, Input::Resign { epoch });
        }
        "stop" => {
            let within = Duration::from_secs(5);
            cluster.input(NodeId(position(args)?), Input::Shutdown { within });
        }
        "compact" => cluster.compact(NodeId(position(args)?)),
        "status" => return status(cluster),
        "upgrade" => {
            let at = NodeId(number(args, "at")?);
            if let Err(error) = cluster.upgrade(at) {
                return Ok(format!("refused: {error}\n"));
            }
        }
        "vote" | "fetch" | "end" | "add-voter" | "remove-voter" => {
            return by_hand(cluster, name, args);
        }
        other => return Err(format!("unknown command {other}").into()),
    }
    Ok(String::new())
}

/// A request that no node makes by itself, and its reply if it comes at once.
fn by_hand(cluster: &mut Cluster, name: &str, args: &mut ArgumentConsumer<'_>) -> Result<String> {
    let (to, request) = match name {
        "add-voter" | "remove-voter" => {
            let voter = key(position(args)?);
            let request = if name == "add-voter" {
                rpc::Request::AddVoter(rpc::AddVoterRequest {
                    voter,
                    endpoints: vec![endpoint(voter.id.0)],
                    ack_when_committed: true,
                })
            } else {
                rpc::Request::RemoveVoter(rpc::RemoveVoterRequest { voter })
            };
            (number(args, "at")?, request)
        }
        _ => {
            let from = key(number(args, "from")?);
            let to = number(args, "to")?;
            let epoch = Epoch(number(args, "epoch")?);
            (to, hand_written(name, args, from, epoch)?)
        }
    };
    let asked = cluster.ask(NodeId(to), request);
    if name.ends_with("voter") || name == "vote" {
        // These may have to wait for a disk or a commit.
        cluster.run_until(Duration::from_secs(10), |cluster| {
            cluster.replies.contains_key(&asked)
        });
    }
    Ok(match cluster.replies.remove(&asked) {
        Some(_) => String::new(),
        None => "no reply yet\n".into(),
    })
}

fn hand_written(
    name: &str,
    args: &mut ArgumentConsumer<'_>,
    from: quorate_types::ReplicaKey,
    epoch: Epoch,
) -> Result<rpc::Request> {
    Ok(match name {
        "vote" => rpc::Request::Vote(rpc::VoteRequest {
            voter: None,
            candidate: from,
            epoch,
            last: log_end(args)?,
            pre_vote: optional(args, "pre")?.unwrap_or(false),
        }),
        "end" => rpc::Request::EndQuorumEpoch(rpc::EndRequest {
            leader: from.id,
            epoch,
            successors: Vec::new(),
            endpoints: Vec::new(),
        }),
        _ => {
            let last = log_end(args)?;
            rpc::Request::Fetch(rpc::FetchRequest {
                replica: Some(from),
                epoch,
                offset: last.offset,
                last_epoch: last.epoch,
                max_wait_ms: optional(args, "wait")?.unwrap_or(500),
                high_watermark: Offset(optional(args, "hw")?.unwrap_or(i64::MAX)),
            })
        }
    })
}

fn status(cluster: &Cluster) -> Result<String> {
    let mut output = String::new();
    for (id, node) in &cluster.nodes {
        let Some(raft) = &node.raft else {
            writeln!(output, "{id} is down")?;
            continue;
        };
        let leader = raft
            .leader()
            .map_or("nobody".into(), |leader| format!("{leader}"));
        let hw = raft
            .high_watermark()
            .map_or("?".into(), |hw| hw.to_string());
        writeln!(
            output,
            "{id} {:<11} epoch {} leader {leader} log {}..{} durable {} committed {hw}",
            raft.role().to_string(),
            raft.epoch(),
            raft.log_start(),
            raft.log_end(),
            raft.durable_end()
        )?;
    }
    Ok(output)
}

fn position<T: std::str::FromStr>(args: &mut ArgumentConsumer<'_>) -> Result<T> {
    let text = args.next_pos().ok_or("an argument is missing")?;
    text.parse()
        .map_err(|_| format!("{text} makes no sense").into())
}

fn number<T: std::str::FromStr>(args: &mut ArgumentConsumer<'_>, name: &str) -> Result<T> {
    optional(args, name)?.ok_or_else(|| format!("{name} is missing").into())
}

fn optional<T: std::str::FromStr>(
    args: &mut ArgumentConsumer<'_>,
    name: &str,
) -> Result<Option<T>> {
    match args.take_key(name) {
        Some(text) => match text.parse() {
            Ok(value) => Ok(Some(value)),
            Err(_) => Err(format!("{name}={text} makes no sense").into()),
        },
        None => Ok(None),
    }
}

/// `log=offset@epoch`.
fn log_end(args: &mut ArgumentConsumer<'_>) -> Result<OffsetAndEpoch> {
    let text = args.take_key("log").ok_or("log is missing")?;
    let (offset, epoch) = text.split_once('@').ok_or("log is offset@epoch")?;
    Ok(OffsetAndEpoch::new(offset.parse()?, epoch.parse()?))
}

#[test]
fn scripts_play_as_written() {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/scripts");
    let mut scripts: Vec<_> = std::fs::read_dir(directory)
        .expect("the scripts' directory")
        .map(|entry| entry.expect("a directory entry").path())
        .collect();
    scripts.sort();
    assert!(!scripts.is_empty());
    for script in scripts {
        println!("{}", script.display());
        goldenscript::run(&mut Runner::default(), &script).expect("a sound script");
    }
}
