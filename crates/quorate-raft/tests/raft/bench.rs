//! One core on a bench: the test plays its peers, its disk and its clock.

use std::time::Duration;

use quorate_raft::{
    Batch, Boot, CallError, CallId, Config, DiskOp, DiskSeq, ElectionState, Input, Output, Raft,
    RequestId, RoleName, rpc,
};
use quorate_types::{Epoch, ErrorCode, MonoTime, NodeId, Offset, OffsetAndEpoch, Rng, VoterSet};

use crate::node::{endpoint, key, voters};

pub struct Bench {
    pub raft: Raft,
    pub now: MonoTime,
    /// What came out and was not taken by the test yet, but for disk operations.
    pub outputs: Vec<Output>,
    /// The disk operations asked for.
    pub disk: Vec<DiskOp>,
    /// Whether the disk finishes everything at once.
    pub disk_works: bool,
    last_seq: DiskSeq,
    requests: u64,
}

/// Node 1 of three static voters.
pub fn config() -> Config {
    Config {
        endpoints: vec![endpoint(1)],
        ..Config::new(key(1))
    }
}

pub fn three() -> VoterSet {
    voters(&[1, 2, 3], false)
}

/// An empty disk in a static quorum.
pub fn empty(voters: VoterSet) -> Boot {
    Boot {
        static_voters: Some(voters),
        ..Boot::default()
    }
}

/// A disk with that election state, and a log of `end` records of the epochs that start there.
pub fn written(election: ElectionState, epochs: &[(i32, i64)], end: i64) -> Boot {
    let mut boot = empty(three());
    boot.election = Some(election);
    boot.log.end = Offset(end);
    let epochs = epochs
        .iter()
        .map(|(epoch, start)| (Epoch(*epoch), Offset(*start)));
    boot.log.epochs = epochs.collect();
    boot
}

impl Bench {
    /// Node 1 of three static voters, with an empty disk.
    pub fn new() -> Bench {
        Bench::with(config(), empty(three()))
    }

    pub fn with(config: Config, boot: Boot) -> Bench {
        let raft = Raft::new(config, boot, Rng::new(5), MonoTime(1)).expect("a sound disk");
        let mut bench = Bench {
            raft,
            now: MonoTime(1),
            outputs: Vec::new(),
            disk: Vec::new(),
            disk_works: true,
            last_seq: DiskSeq(0),
            requests: 0,
        };
        bench.settle();
        bench
    }

    /// Takes all outputs; finishes all disk operations if the disk works.
    pub fn settle(&mut self) {
        loop {
            let mut wrote = false;
            while let Some(output) = self.raft.poll() {
                match output {
                    Output::Disk { seq, op } => {
                        assert_eq!(seq.0, self.last_seq.0 + 1, "one queue without gaps");
                        self.last_seq = seq;
                        self.disk.push(op);
                        wrote = true;
                    }
                    output => self.outputs.push(output),
                }
            }
            if !wrote || !self.disk_works {
                return;
            }
            self.raft.handle(
                self.now,
                Input::Durable {
                    upto: self.last_seq,
                },
            );
        }
    }

    pub fn input(&mut self, input: Input) {
        self.raft.handle(self.now, input);
        self.settle();
    }

    /// The disk catches up.
    pub fn sync(&mut self) {
        let upto = self.last_seq;
        self.input(Input::Durable { upto });
    }

    pub fn role(&self) -> RoleName {
        self.raft.role()
    }

    pub fn epoch(&self) -> i32 {
        self.raft.epoch().0
    }

    pub fn wait(&mut self, time: Duration) {
        let end = self.now + time;
        while let Some(at) = self.raft.deadline().filter(|at| *at <= end) {
            self.now = self.now.max(at);
            self.input(Input::Tick);
        }
        self.now = end;
        self.input(Input::Tick);
    }

    /// Lets time pass until the state changes by itself.
    pub fn wait_for_change(&mut self) {
        let before = self.role();
        for _ in 0..1000 {
            let Some(at) = self.raft.deadline() else {
                return;
            };
            self.now = self.now.max(at);
            self.input(Input::Tick);
            if self.role() != before {
                return;
            }
        }
        panic!("{before} does not end by itself");
    }

    /// Asks the core; the reply, if it came at once.
    pub fn ask(&mut self, body: rpc::Request) -> Option<rpc::Reply> {
        self.requests += 1;
        let from = RequestId(self.requests);
        self.input(Input::Request { from, body });
        self.take_reply(from)
    }

    pub fn last_request(&self) -> RequestId {
        RequestId(self.requests)
    }

    pub fn take_reply(&mut self, request: RequestId) -> Option<rpc::Reply> {
        let is_it = |output: &Output| matches!(output, Output::Reply { to, .. } if *to == request);
        let at = self.outputs.iter().position(is_it)?;
        match self.outputs.remove(at) {
            Output::Reply { body, .. } => Some(body),
            _ => None,
        }
    }

    /// Takes out the calls that are under way.
    pub fn take_calls(&mut self) -> Vec<(CallId, rpc::Request)> {
        let mut calls = Vec::new();
        self.outputs.retain(|output| match output {
            Output::Call { call, body, .. } => {
                calls.push((*call, body.clone()));
                false
            }
            _ => true,
        });
        calls
    }

    /// The last fetch that went out.
    pub fn take_fetch(&mut self) -> (CallId, rpc::FetchRequest) {
        let calls = self.take_calls();
        let mut fetches = calls.into_iter().filter_map(|(call, body)| match body {
            rpc::Request::Fetch(fetch) => Some((call, fetch)),
            _ => None,
        });
        fetches.next_back().expect("a fetch is under way")
    }

    pub fn answer(&mut self, call: CallId, answer: rpc::Answer) {
        let result = Ok(answer);
        self.input(Input::Answer { call, result });
    }

    pub fn fail(&mut self, call: CallId, error: CallError) {
        let result = Err(error);
        self.input(Input::Answer { call, result });
    }

    /// Answers every vote request under way the same way.
    pub fn vote(&mut self, granted: bool) {
        for (call, body) in self.take_calls() {
            if let rpc::Request::Vote(vote) = body {
                let leadership = self.leadership(vote.epoch.0, None);
                let error = ErrorCode::None;
                self.answer(
                    call,
                    rpc::Answer::Vote(rpc::VoteReply {
                        error,
                        leadership,
                        granted,
                    }),
                );
            }
        }
    }

    pub fn leadership(&self, epoch: i32, leader: Option<i32>) -> rpc::Leadership {
        rpc::Leadership {
            epoch: Epoch(epoch),
            leader: leader.map(NodeId),
            endpoints: Vec::new(),
        }
    }

    /// A leader announces itself.
    pub fn begin(&mut self, epoch: i32, leader: i32) -> rpc::Reply {
        let begin = rpc::BeginRequest {
            voter: None,
            leader: NodeId(leader),
            epoch: Epoch(epoch),
            endpoints: Vec::new(),
        };
        self.ask(rpc::Request::BeginQuorumEpoch(begin))
            .expect("a reply at once")
    }

    /// A candidate asks for a vote; whether it gets it.
    pub fn ask_vote(&mut self, epoch: i32, candidate: i32, last: OffsetAndEpoch) -> bool {
        self.vote_request(epoch, candidate, last, false)
    }

    pub fn ask_pre_vote(&mut self, epoch: i32, candidate: i32, last: OffsetAndEpoch) -> bool {
        self.vote_request(epoch, candidate, last, true)
    }

    fn vote_request(
        &mut self,
        epoch: i32,
        from: i32,
        last: OffsetAndEpoch,
        pre_vote: bool,
    ) -> bool {
        let vote = rpc::VoteRequest {
            voter: None,
            candidate: key(from),
            epoch: Epoch(epoch),
            last,
            pre_vote,
        };
        match self.ask(rpc::Request::Vote(vote)) {
            Some(rpc::Reply::Vote(reply)) => reply.granted,
            other => panic!("{other:?} is no reply to a vote request"),
        }
    }

    /// Makes node 1 lead.
    pub fn elect(&mut self) {
        self.wait_for_change();
        assert_eq!(self.role(), RoleName::Prospective);
        self.vote(true);
        assert_eq!(self.role(), RoleName::Candidate);
        self.vote(true);
        assert_eq!(self.role(), RoleName::Leader);
    }

    /// A peer fetches from here; the reply, if it came at once.
    pub fn fetch(&mut self, replica: i32, offset: i64, last_epoch: i32) -> Option<rpc::FetchReply> {
        let fetch = rpc::FetchRequest {
            replica: Some(key(replica)),
            epoch: self.raft.epoch(),
            offset: Offset(offset),
            last_epoch: Epoch(last_epoch),
            max_wait_ms: 500,
            high_watermark: Offset(i64::MAX),
        };
        match self.ask(rpc::Request::Fetch(fetch)) {
            Some(rpc::Reply::Fetch(reply)) => Some(reply),
            _ => None,
        }
    }

    /// The leader's answer to a fetch of this follower.
    pub fn fetched(
        &mut self,
        call: CallId,
        body: rpc::Fetched<Vec<Batch>>,
        high_watermark: Option<i64>,
    ) {
        let leadership = rpc::Leadership {
            epoch: self.raft.epoch(),
            leader: self.raft.leader(),
            endpoints: Vec::new(),
        };
        let answer = rpc::FetchAnswer {
            error: ErrorCode::None,
            leadership,
            high_watermark: high_watermark.map(Offset),
            body,
            damaged: false,
        };
        self.answer(call, rpc::Answer::Fetch(answer));
    }

    /// The last high watermark that was told.
    pub fn high_watermark(&self) -> Option<i64> {
        let mut told = self.outputs.iter().filter_map(|output| match output {
            Output::HighWatermark(end) => Some(end.0),
            _ => None,
        });
        told.next_back()
    }

    /// Appends records at a leader.
    pub fn append(&mut self, count: i64) {
        let (epoch, base) = (self.raft.epoch(), self.raft.log_end());
        let batch = Batch::data(base, count, epoch);
        self.raft
            .append(self.now, epoch, base, &[batch])
            .expect("a leader takes records");
        self.settle();
    }
}
