//! Whatever peers send, in whatever order and with whatever numbers: the core does not panic, its
//! epoch never falls, what it shows as committed only grows, and it never sleeps into the past.

use std::time::Duration;

use quorate_raft::{
    Batch, CallError, CallId, DiskOp, DiskSeq, Input, Output, Raft, RequestId, rpc,
};
use quorate_types::{
    ControlRecord, Epoch, ErrorCode, KRaftVersion, MonoTime, NodeId, Offset, OffsetAndEpoch,
    ReplicaKey, Rng, VersionRange,
};

use crate::bench::{config, empty};
use crate::node::{directory, endpoint, voters};

/// Draws numbers that are mostly small, and sometimes as bad as the wire allows.
struct Liar {
    rng: Rng,
    /// Where the core's log ends, which a good liar knows.
    end: i64,
    epoch: i32,
}

impl Liar {
    fn offset(&mut self) -> Offset {
        let odd = [
            -1,
            i64::MIN,
            i64::MAX,
            0,
            self.end,
            self.end.saturating_add(1),
            self.end - 1,
        ];
        match self.rng.below(3) {
            0 => Offset(odd[self.rng.index(odd.len())]),
            _ => Offset(self.end.saturating_add(self.rng.below(3) as i64)),
        }
    }

    fn epoch(&mut self) -> Epoch {
        let odd = [-1, i32::MIN, i32::MAX, i32::MAX / 2, 0];
        match self.rng.below(12) {
            0 => Epoch(odd[self.rng.index(odd.len())]),
            1 => Epoch(self.epoch.saturating_add(1)),
            2 => Epoch(self.epoch - 1),
            _ => Epoch(self.epoch),
        }
    }

    fn end_and_epoch(&mut self) -> OffsetAndEpoch {
        OffsetAndEpoch {
            offset: self.offset(),
            epoch: self.epoch(),
        }
    }

    fn node(&mut self) -> NodeId {
        NodeId([-1, 1, 2, 2, 3, 3, 4, i32::MAX][self.rng.index(8)])
    }

    fn key(&mut self) -> ReplicaKey {
        let id = self.node();
        let known = [None, Some(directory(id.0, 1)), Some(directory(id.0, 2))];
        ReplicaKey::new(id, known[self.rng.index(3)])
    }

    fn number(&mut self) -> i64 {
        [0, 1, 25, 50, -1, i64::MAX, i64::MIN][self.rng.index(7)]
    }

    fn error(&mut self) -> ErrorCode {
        let codes = [0, 0, 0, 0, 6, 8, 42, 74, 75, 98, 125, -1, 35, 999];
        ErrorCode::from_code(codes[self.rng.index(codes.len())])
    }

    fn leadership(&mut self) -> rpc::Leadership {
        let leader = self.node();
        rpc::Leadership {
            epoch: self.epoch(),
            leader: (!self.rng.one_in(3)).then_some(leader),
            endpoints: if self.rng.one_in(2) {
                vec![endpoint(leader.0)]
            } else {
                vec![]
            },
        }
    }

    fn range(&mut self) -> VersionRange {
        let min = self.rng.below(3) as i16 - 1;
        VersionRange {
            min,
            max: min + self.rng.below(3) as i16 - 1,
        }
    }

    fn batches(&mut self) -> Vec<Batch> {
        let mut base = self.end;
        (0..self.rng.below(4))
            .map(|_| {
                if self.rng.one_in(6) {
                    base = self.offset().0;
                }
                let count = [0, 1, 2, 3, -1, i64::MAX][self.rng.index(6)];
                let end = base.saturating_add(count);
                let control = match self.rng.below(6) {
                    0 => vec![ControlRecord::Voters(voters(&[1, 2, 3], true))],
                    1 => vec![ControlRecord::Voters(Default::default())],
                    2 => vec![ControlRecord::KRaftVersion(KRaftVersion(
                        self.rng.below(3) as i16
                    ))],
                    _ => Vec::new(),
                };
                let batch = Batch {
                    base: Offset(base),
                    end: Offset(end),
                    epoch: self.epoch(),
                    control,
                };
                base = end;
                batch
            })
            .collect()
    }

    fn request(&mut self) -> rpc::Request {
        let key = self.key();
        match self.rng.below(10) {
            0..=2 => rpc::Request::Vote(rpc::VoteRequest {
                voter: self.rng.one_in(2).then_some(key),
                candidate: self.key(),
                epoch: self.epoch(),
                last: self.end_and_epoch(),
                pre_vote: self.rng.one_in(2),
            }),
            3 => rpc::Request::BeginQuorumEpoch(rpc::BeginRequest {
                voter: self.rng.one_in(2).then_some(key),
                leader: self.node(),
                epoch: self.epoch(),
                endpoints: Vec::new(),
            }),
            4 => rpc::Request::EndQuorumEpoch(rpc::EndRequest {
                leader: self.node(),
                epoch: self.epoch(),
                successors: (0..self.rng.below(3)).map(|_| self.key()).collect(),
                endpoints: Vec::new(),
            }),
            5 | 6 => rpc::Request::Fetch(rpc::FetchRequest {
                replica: (!self.rng.one_in(8)).then_some(key),
                epoch: self.epoch(),
                offset: self.offset(),
                last_epoch: self.epoch(),
                max_wait_ms: [500, 0, -1, i32::MAX][self.rng.index(4)],
                high_watermark: self.offset(),
            }),
            7 => rpc::Request::FetchSnapshot(rpc::SnapshotRequest {
                replica: Some(key),
                epoch: self.epoch(),
                id: self.end_and_epoch(),
                position: self.number(),
                max_bytes: self.number() as i32,
            }),
            8 => rpc::Request::UpdateVoter(rpc::UpdateVoterRequest {
                epoch: self.epoch(),
                voter: key,
                endpoints: vec![endpoint(2)],
                kraft_versions: self.range(),
            }),
            _ => [
                rpc::Request::DescribeQuorum,
                rpc::Request::ProbeVersions,
                rpc::Request::RemoveVoter(rpc::RemoveVoterRequest { voter: key }),
                rpc::Request::AddVoter(rpc::AddVoterRequest {
                    voter: key,
                    endpoints: vec![endpoint(4)],
                    ack_when_committed: self.rng.one_in(2),
                }),
            ][self.rng.index(4)]
            .clone(),
        }
    }

    /// An answer, mostly of the kind that was asked for.
    fn answer(&mut self, asked: &rpc::Request) -> rpc::Answer {
        let (error, leadership) = (self.error(), self.leadership());
        let reply = rpc::EpochReply {
            error,
            leadership: leadership.clone(),
        };
        match asked {
            _ if self.rng.one_in(20) => rpc::Answer::EndQuorumEpoch(reply),
            rpc::Request::Vote(_) => {
                let granted = self.rng.one_in(2);
                rpc::Answer::Vote(rpc::VoteReply {
                    error,
                    leadership,
                    granted,
                })
            }
            rpc::Request::Fetch(_) => rpc::Answer::Fetch(rpc::FetchAnswer {
                error,
                leadership,
                high_watermark: (!self.rng.one_in(3)).then(|| self.offset()),
                body: match self.rng.below(8) {
                    0 => rpc::Fetched::Diverging(self.end_and_epoch()),
                    1 => rpc::Fetched::Snapshot(self.end_and_epoch()),
                    2 => rpc::Fetched::Nothing,
                    _ => rpc::Fetched::Records(self.batches()),
                },
                damaged: self.rng.one_in(4),
            }),
            rpc::Request::FetchSnapshot(fetch) => rpc::Answer::FetchSnapshot(rpc::SnapshotAnswer {
                error,
                leadership,
                id: if self.rng.one_in(6) {
                    self.end_and_epoch()
                } else {
                    fetch.id
                },
                size: self.number(),
                position: if self.rng.one_in(6) {
                    self.number()
                } else {
                    fetch.position
                },
                len: self.number() as u64,
            }),
            rpc::Request::BeginQuorumEpoch(_) => rpc::Answer::BeginQuorumEpoch(reply),
            rpc::Request::UpdateVoter(_) => rpc::Answer::UpdateVoter(reply),
            rpc::Request::ProbeVersions => rpc::Answer::ProbeVersions(rpc::VersionsAnswer {
                error,
                kraft_versions: self.rng.one_in(2).then(|| self.range()),
            }),
            _ => rpc::Answer::EndQuorumEpoch(reply),
        }
    }
}

/// The driver's part: an honest disk, and the calls under way.
struct Driver {
    raft: Raft,
    now: MonoTime,
    calls: Vec<(CallId, rpc::Request)>,
    shown: Option<Offset>,
}

impl Driver {
    fn step(&mut self, input: Input) {
        let epoch = self.raft.epoch();
        self.raft.handle(self.now, input);
        let mut installed = None;
        let mut last = DiskSeq(0);
        while let Some(output) = self.raft.poll() {
            match output {
                Output::Disk { seq, op } => {
                    last = seq;
                    if let DiskOp::InstallSnapshot { id } = op {
                        installed = Some(id);
                    }
                }
                Output::Call { call, body, .. } => self.calls.push((call, body)),
                Output::HighWatermark(end) => {
                    assert!(self.shown < Some(end), "{end} after {:?}", self.shown);
                    self.shown = Some(end);
                }
                _ => {}
            }
        }
        assert!(self.raft.epoch() >= epoch, "the epoch fell");
        assert!(self.raft.durable_end() <= self.raft.log_end());
        assert!(
            self.raft.deadline().is_none_or(|at| at > self.now),
            "it sleeps into the past"
        );
        if let Some(id) = installed {
            let (voters, version) = (None, KRaftVersion::STATIC);
            self.step(Input::SnapshotInstalled {
                id,
                size: 50,
                voters,
                version,
            });
        }
        if last > DiskSeq(0) {
            self.step(Input::Durable { upto: last });
        }
    }
}

fn lie(seed: u64) {
    let mut rng = Rng::new(seed);
    let set = voters(&[1, 2, 3], rng.one_in(2));
    let raft = Raft::new(config(), empty(set), rng.fork(), MonoTime(0)).expect("an empty disk");
    let mut driver = Driver {
        raft,
        now: MonoTime(0),
        calls: Vec::new(),
        shown: None,
    };
    let mut liar = Liar {
        rng,
        end: 0,
        epoch: 0,
    };
    driver.step(Input::Tick);
    for request in 0..300 {
        liar.end = driver.raft.log_end().0;
        liar.epoch = driver.raft.epoch().0;
        let input = match liar.rng.below(10) {
            0..=3 => {
                let (from, body) = (RequestId(request), liar.request());
                Input::Request { from, body }
            }
            4..=7 if !driver.calls.is_empty() => {
                let at = liar.rng.index(driver.calls.len());
                let (call, asked) = driver.calls.swap_remove(at);
                let result = match liar.rng.below(12) {
                    0 => Err(CallError::TimedOut),
                    1 => Err(CallError::Unsupported),
                    _ => Ok(liar.answer(&asked)),
                };
                Input::Answer { call, result }
            }
            8 => Input::PeerDown { node: liar.node() },
            _ => {
                let pause = Duration::from_millis(liar.rng.below(900));
                driver.now = driver
                    .raft
                    .deadline()
                    .unwrap_or(driver.now + pause)
                    .min(driver.now + pause);
                Input::Tick
            }
        };
        driver.step(input);
    }
}

#[test]
fn no_nonsense_of_peers_breaks_the_core() {
    for seed in 0..400 {
        let result = std::panic::catch_unwind(|| lie(seed));
        assert!(result.is_ok(), "seed {seed}");
    }
}
