//! What a driver does with the outputs of a core.

use std::collections::BTreeMap;

use quorate_raft::{Batch, CallError, Destination, DiskOp, Input, Output, Raft, Source};
use quorate_types::{ControlRecord, NodeId, OffsetAndEpoch};

use crate::cluster::{Caller, Cluster, Message};
use crate::disk::{Entry, Job, Snapshot};
use crate::node::Payload;
use crate::trace;

impl Cluster {
    /// Carries out all outputs of a node, then checks it.
    pub fn drain(&mut self, id: NodeId) {
        loop {
            let node = self.nodes.get_mut(&id).expect("a known node");
            let Some(output) = node.raft.as_mut().and_then(Raft::poll) else {
                break;
            };
            self.carry_out(id, output);
        }
        self.check(id);
    }

    fn carry_out(&mut self, id: NodeId, output: Output) {
        if let Some(line) = trace::output(&output) {
            self.note(format!("{id} {line}"));
        }
        match output {
            Output::Disk { seq, op } => {
                let job = self.job(id, op);
                let done_at = self.now + self.draw(self.weather.disk);
                let node = self.nodes.get_mut(&id).expect("a known node");
                node.disk.submit(seq, done_at, job);
            }
            Output::Reply { to, body } => match self.waiting.remove(&to) {
                Some(caller) => {
                    let max = self.weather.max_batches;
                    let (answer, payload) = self.nodes[&id].answer(body, max);
                    if !self.is_cut(id, caller.node) {
                        let result = Ok(answer);
                        self.send(Message::Answer {
                            to: caller,
                            result,
                            payload,
                        });
                    }
                }
                None => {
                    self.note(format!("{id} replies: {}", trace::reply(&body)));
                    self.replies.insert(to, body);
                }
            },
            Output::Call {
                call,
                to,
                body,
                timeout,
            } => {
                let to = match to {
                    Destination::Node { id, .. } => id,
                    Destination::Bootstrap(index) => self.bootstrap[index],
                };
                let node = self.nodes.get_mut(&id).expect("a known node");
                node.open.insert(call, ());
                let incarnation = node.incarnation;
                let from = Caller {
                    node: id,
                    incarnation,
                    call,
                };
                self.send(Message::Request { from, to, body });
                let (result, payload) = (Err(CallError::TimedOut), Payload::default());
                let key = (self.now + timeout, self.next());
                self.network.insert(
                    key,
                    Message::Answer {
                        to: from,
                        result,
                        payload,
                    },
                );
            }
            Output::HighWatermark(end) => self.on_high_watermark(id, end),
            Output::Leader {
                epoch, mine_from, ..
            } => {
                let node = self.nodes.get_mut(&id).expect("a known node");
                node.leads_from = mine_from.map(|from| (epoch, from));
                if mine_from.is_some() {
                    let first = *self.leaders.entry(epoch).or_insert(id);
                    assert_eq!(first, id, "two leaders in epoch {epoch}");
                }
            }
            Output::ReadFrom { .. } | Output::Members { .. } => {}
            Output::Fatal { reason } => {
                self.nodes.get_mut(&id).expect("a known node").fatal = Some(reason);
            }
            Output::Stopped => self.nodes.get_mut(&id).expect("a known node").stopped = true,
        }
    }

    fn job(&mut self, id: NodeId, op: DiskOp) -> Job {
        let tag = self.next();
        let node = self.nodes.get_mut(&id).expect("a known node");
        match op {
            DiskOp::SaveElection(state) => Job::Election(state),
            DiskOp::Append {
                from: Source::Local,
                base,
                end,
            } => {
                // The state machine passes its batches after the call that took them.
                let entries = std::mem::take(&mut node.local);
                let first = entries.first().map(|entry| entry.batch.base);
                let last = entries.last().map(|entry| entry.batch.end);
                assert_eq!((first, last), (Some(base), Some(end)));
                Job::Append(entries)
            }
            DiskOp::Append {
                from: Source::Fetched(call),
                base,
                end,
            } => {
                let wanted = |entry: &&Entry| entry.batch.base >= base && entry.batch.end <= end;
                let entries = &node.payload[&call].entries;
                Job::Append(entries.iter().filter(wanted).cloned().collect())
            }
            DiskOp::AppendControl {
                base,
                epoch,
                records,
            } => {
                let end = base + records.len() as i64;
                let batch = Batch {
                    base,
                    end,
                    epoch,
                    control: records,
                };
                Job::Append(vec![Entry { batch, tag }])
            }
            DiskOp::Truncate { end } => Job::Truncate(end),
            DiskOp::SnapshotChunk { id, from, position } => {
                let snapshot = node.payload[&from]
                    .snapshot
                    .clone()
                    .expect("a piece of a snapshot");
                if position > 0 {
                    assert_eq!(node.partial.as_ref().map(|(known, _)| *known), Some(id));
                }
                node.partial = Some((id, snapshot));
                Job::Nothing
            }
            DiskOp::InstallSnapshot { id } => {
                let (known, snapshot) = node.partial.take().expect("a whole partial file");
                assert_eq!(known, id);
                Job::Install(id, snapshot)
            }
            DiskOp::DropSnapshot { .. } => {
                node.partial = None;
                Job::Nothing
            }
        }
    }

    /// Makes a snapshot of what is committed at a node, and deletes the log before it.
    pub fn compact(&mut self, id: NodeId) {
        let node = self.nodes.get_mut(&id).expect("a known node");
        let Some(end) = node.high_watermark else {
            return;
        };
        let all = node.disk.current.all();
        let entries: Vec<Entry> = all
            .into_iter()
            .filter(|entry| entry.batch.end <= end)
            .collect();
        let Some(last) = entries.last() else { return };
        let at = OffsetAndEpoch {
            offset: last.batch.end,
            epoch: last.batch.epoch,
        };
        let mut members = node.disk.durable.boot(None).log.control;
        members.retain(|(offset, _)| *offset < at.offset);
        let mut snapshot = Snapshot {
            entries,
            ..Snapshot::default()
        };
        for (_, record) in members {
            match record {
                ControlRecord::Voters(set) => snapshot.voters = Some(set),
                ControlRecord::KRaftVersion(version) => snapshot.version = version,
                _ => {}
            }
        }
        let size = snapshot.size();
        for files in [&mut node.disk.current, &mut node.disk.durable] {
            files.snapshots = BTreeMap::from([(at, snapshot.clone())]);
            files.log.retain(|entry| entry.batch.end > at.offset);
            files.start = files.start.max(at.offset);
        }
        self.input(id, Input::SnapshotAdded { id: at, size });
        let cleaned = Input::Cleaned {
            log_start: at.offset,
            earliest: at,
        };
        self.input(id, cleaned);
    }
}
