//! The simulated cluster: delivers messages, finishes disk jobs, lets time pass, and checks after
//! every step what must never be otherwise.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use quorate_raft::{
    AppendError, Batch, CallError, CallId, Config, Input, Raft, RequestId, RoleName, rpc,
};
use quorate_types::{Epoch, KRaftVersion, MonoTime, NodeId, Offset, Rng};

use crate::disk::{Disk, Done, Entry, Files, Health};
use crate::node::{Node, Payload, endpoint, key, voters};
use crate::trace;

/// What the network and the disks do to the nodes.
#[derive(Debug, Clone)]
pub struct Weather {
    pub latency: (Duration, Duration),
    pub disk: (Duration, Duration),
    /// One message in so many is lost, or doubled; 0 for never.
    pub lost_one_in: u64,
    pub doubled_one_in: u64,
    /// Whether the death of a process is noticed by its peers.
    pub deaths_noticed: bool,
    /// Batches in one fetch answer.
    pub max_batches: usize,
}

impl Weather {
    /// A millisecond for everything, nothing lost.
    pub fn calm() -> Weather {
        let ms = Duration::from_millis(1);
        Weather {
            latency: (ms, ms),
            disk: (ms, ms),
            lost_one_in: 0,
            doubled_one_in: 0,
            deaths_noticed: false,
            max_batches: 100,
        }
    }
}

pub enum Message {
    Request {
        from: Caller,
        to: NodeId,
        body: rpc::Request,
    },
    Answer {
        to: Caller,
        result: Result<rpc::Answer, CallError>,
        payload: Payload,
    },
    PeerDown {
        to: NodeId,
        node: NodeId,
    },
}

/// A call of a node in one of its lives.
#[derive(Debug, Clone, Copy)]
pub struct Caller {
    pub node: NodeId,
    pub incarnation: u32,
    pub call: CallId,
}

pub struct Cluster {
    pub now: MonoTime,
    pub rng: Rng,
    pub nodes: BTreeMap<NodeId, Node>,
    pub weather: Weather,
    /// Pairs that cannot reach each other.
    pub cut: BTreeSet<(NodeId, NodeId)>,
    /// The bootstrap servers of every node.
    pub bootstrap: Vec<NodeId>,
    /// What happened, if it is written down.
    pub trace: Option<Vec<String>>,
    /// Committed batches from offset 0 on.
    pub committed: Vec<Entry>,
    /// What requests of the test itself were answered.
    pub replies: BTreeMap<RequestId, rpc::Reply>,
    pub network: BTreeMap<(MonoTime, u64), Message>,
    pub waiting: BTreeMap<RequestId, Caller>,
    pub leaders: BTreeMap<Epoch, NodeId>,
    counter: u64,
}

impl Cluster {
    /// Nodes 1 to `voters` in a static quorum, none of them started.
    pub fn new(seed: u64, voters: i32, weather: Weather) -> Cluster {
        let ids: Vec<i32> = (1..=voters).collect();
        let mut cluster = Cluster::empty(seed, &ids, weather);
        for id in &ids {
            cluster.add(*id, true);
        }
        cluster
    }

    /// Nodes whose voter set is in a formatted `0-0` checkpoint.
    pub fn dynamic(seed: u64, count: i32, weather: Weather) -> Cluster {
        let ids: Vec<i32> = (1..=count).collect();
        let mut cluster = Cluster::new(seed, count, weather);
        for node in cluster.nodes.values_mut() {
            node.static_voters = None;
            node.disk = Disk::new(Files {
                formatted: Some(voters(&ids, true)),
                ..Files::default()
            });
        }
        cluster
    }

    fn empty(seed: u64, voters: &[i32], weather: Weather) -> Cluster {
        Cluster {
            now: MonoTime(0),
            rng: Rng::new(seed),
            nodes: BTreeMap::new(),
            weather,
            cut: BTreeSet::new(),
            bootstrap: voters.iter().map(|id| NodeId(*id)).collect(),
            trace: None,
            committed: Vec::new(),
            replies: BTreeMap::new(),
            network: BTreeMap::new(),
            waiting: BTreeMap::new(),
            leaders: BTreeMap::new(),
            counter: 0,
        }
    }

    /// Adds a node with an empty disk, not started.
    pub fn add(&mut self, id: i32, controller: bool) {
        let ids: Vec<i32> = self.bootstrap.iter().map(|id| id.0).collect();
        let config = Config {
            controller,
            endpoints: if controller {
                vec![endpoint(id)]
            } else {
                vec![]
            },
            bootstrap_servers: ids.len(),
            ..Config::new(key(id))
        };
        let dynamic = self.nodes.values().any(|node| node.static_voters.is_none());
        let fallback = (!dynamic).then(|| voters(&ids, false));
        self.nodes
            .insert(NodeId(id), Node::new(config, fallback, Files::default()));
    }

    pub fn start_all(&mut self) {
        let ids: Vec<NodeId> = self.nodes.keys().copied().collect();
        for id in ids {
            self.start(id);
        }
    }

    pub fn start(&mut self, id: NodeId) {
        let rng = self.rng.fork();
        let node = self.nodes.get_mut(&id).expect("a known node");
        assert!(node.raft.is_none(), "node {id} runs already");
        let boot = node.disk.durable.boot(node.static_voters.clone());
        let raft = Raft::new(node.config.clone(), boot, rng, self.now).expect("a sound disk");
        node.incarnation += 1;
        node.raft = Some(raft);
        node.up = true;
        node.fatal = None;
        self.note(format!("{id} starts"));
        self.drain(id);
    }

    /// The process ends without a goodbye; what was not synced is lost (`lucky`: but for some).
    pub fn crash(&mut self, id: NodeId, lucky: bool) {
        let mut rng = self.rng.fork();
        let node = self.nodes.get_mut(&id).expect("a known node");
        node.forget();
        node.disk.crash(lucky.then_some(&mut rng));
        self.note(format!("{id} crashes"));
        self.waiting.retain(|_, caller| caller.node != id);
        if self.weather.deaths_noticed {
            let others: Vec<NodeId> = self.nodes.keys().copied().filter(|to| *to != id).collect();
            for to in others {
                if !self.is_cut(id, to) {
                    self.send(Message::PeerDown { to, node: id });
                }
            }
        }
    }

    pub fn is_cut(&self, a: NodeId, b: NodeId) -> bool {
        self.cut.contains(&(a, b)) || self.cut.contains(&(b, a))
    }

    /// Cuts a node off from all others.
    pub fn isolate(&mut self, id: NodeId) {
        let others: Vec<NodeId> = self.nodes.keys().copied().filter(|to| *to != id).collect();
        self.cut.extend(others.into_iter().map(|to| (id, to)));
    }

    pub fn raft(&self, id: NodeId) -> &Raft {
        self.nodes[&id].raft()
    }

    pub fn files(&self, id: NodeId) -> &Files {
        &self.nodes[&id].disk.current
    }

    /// The node that leads the highest epoch among those that lead.
    pub fn leader(&self) -> Option<NodeId> {
        let leading = self.nodes.values().filter(|node| node.is(RoleName::Leader));
        leading.max_by_key(|node| node.raft().epoch()).map(Node::id)
    }

    /// Runs until some node leads and all running voters follow it.
    pub fn settle(&mut self) -> NodeId {
        let settled = |cluster: &Cluster| {
            let leader = cluster.leader()?;
            let epoch = cluster.raft(leader).epoch();
            let mut running = cluster.nodes.values().filter(|node| node.raft.is_some());
            let follows =
                |node: &Node| node.raft().epoch() == epoch && node.raft().leader() == Some(leader);
            let committed =
                cluster.nodes[&leader].high_watermark == Some(cluster.raft(leader).log_end());
            (running.all(follows) && committed).then_some(leader)
        };
        self.run_until(Duration::from_secs(60), |cluster| {
            settled(cluster).is_some()
        });
        settled(self).expect("a leader that all follow, within a minute")
    }

    /// Runs for that long.
    pub fn run(&mut self, time: Duration) {
        let end = self.now + time;
        while self.next_event().is_some_and(|at| at <= end) {
            self.step();
        }
        self.now = end;
    }

    /// Runs until it is so, at most for that long; returns whether it is.
    pub fn run_until(&mut self, time: Duration, is_so: impl Fn(&Cluster) -> bool) -> bool {
        let end = self.now + time;
        while !is_so(self) {
            match self.next_event() {
                Some(at) if at <= end => self.step(),
                _ => {
                    self.now = end;
                    return is_so(self);
                }
            }
        }
        true
    }

    /// Appends `count` records at a node as its state machine would.
    pub fn append(&mut self, id: NodeId, count: i64) -> Result<Offset, AppendError> {
        let tag = self.next();
        let node = self.nodes.get_mut(&id).expect("a known node");
        let Some(raft) = node.raft.as_mut() else {
            return Err(AppendError::NotLeader);
        };
        let (epoch, base) = (raft.epoch(), raft.log_end());
        let batch = Batch::data(base, count, epoch);
        raft.append(self.now, epoch, base, std::slice::from_ref(&batch))?;
        let end = batch.end;
        node.local.push(Entry { batch, tag });
        self.drain(id);
        Ok(end)
    }

    /// Moves the voter set into the log.
    pub fn upgrade(&mut self, at: NodeId) -> Result<(), quorate_raft::UpgradeError> {
        let node = self.nodes.get_mut(&at).expect("a known node");
        let raft = node
            .raft
            .as_mut()
            .ok_or(quorate_raft::UpgradeError::NotLeader)?;
        let epoch = raft.epoch();
        let result = raft.upgrade_kraft(self.now, epoch, KRaftVersion::DYNAMIC, false);
        self.drain(at);
        result
    }

    /// Hands an input to a node and carries out what it wants.
    pub fn input(&mut self, id: NodeId, input: Input) {
        let node = self.nodes.get_mut(&id).expect("a known node");
        if let Some(raft) = node.raft.as_mut() {
            raft.handle(self.now, input);
            self.drain(id);
        }
    }

    /// Asks a node as a client would; the reply lands in `replies`.
    pub fn ask(&mut self, id: NodeId, body: rpc::Request) -> RequestId {
        let from = RequestId(self.next());
        self.input(id, Input::Request { from, body });
        from
    }

    /// Asks and returns the reply, which must come at once.
    pub fn ask_now(&mut self, id: NodeId, body: rpc::Request) -> rpc::Reply {
        let from = self.ask(id, body);
        self.replies.remove(&from).expect("a reply at once")
    }

    pub fn next(&mut self) -> u64 {
        self.counter += 1;
        self.counter
    }

    pub fn note(&mut self, line: String) {
        if let Some(trace) = &mut self.trace {
            trace.push(format!("{} {line}", trace::at(self.now)));
        }
    }

    fn next_event(&self) -> Option<MonoTime> {
        let network = self.network.keys().next().map(|(at, _)| *at);
        let nodes = self.nodes.values().filter(|node| node.raft.is_some());
        let own = nodes.flat_map(|node| [node.disk.next_done(), node.raft().deadline()]);
        own.flatten().chain(network).min()
    }

    /// The next thing that happens: a message, a disk job, or a deadline.
    fn step(&mut self) {
        let Some(at) = self.next_event() else { return };
        self.now = self.now.max(at);
        if let Some(entry) = self.network.first_entry()
            && entry.key().0 <= self.now
        {
            let message = entry.remove();
            return self.deliver(message);
        }
        let ids: Vec<NodeId> = self.nodes.keys().copied().collect();
        for id in ids {
            let now = self.now;
            let node = self.nodes.get_mut(&id).expect("a known node");
            if node.raft.is_none() {
                continue;
            }
            if node.disk.next_done().is_some_and(|at| at <= now) {
                let done = node.disk.finish(now);
                return self.report(id, done);
            }
            if node.raft().deadline().is_some_and(|at| at <= now) {
                return self.input(id, Input::Tick);
            }
        }
    }

    fn report(&mut self, id: NodeId, done: Done) {
        if let Some((at, snapshot)) = done.installed {
            let installed = Input::SnapshotInstalled {
                id: at,
                size: snapshot.size(),
                voters: snapshot.voters.clone(),
                version: snapshot.version,
            };
            self.input(id, installed);
        }
        if let Some(upto) = done.upto {
            self.input(id, Input::Durable { upto });
        }
        if let Some(seq) = done.failed {
            self.input(id, Input::DiskFailed { seq });
        }
    }

    fn deliver(&mut self, message: Message) {
        match message {
            Message::PeerDown { to, node } => {
                if !self.nodes[&node].up {
                    self.note(format!("{to} sees {node} gone"));
                    self.input(to, Input::PeerDown { node });
                }
            }
            Message::Request { from, to, body } => {
                if !self.nodes.get(&to).is_some_and(|node| node.up) {
                    let result = Err(CallError::Disconnected);
                    let payload = Payload::default();
                    let to = from;
                    return self.send(Message::Answer {
                        to,
                        result,
                        payload,
                    });
                }
                if self.is_cut(from.node, to) {
                    return;
                }
                if let rpc::Request::ProbeVersions = body {
                    let kraft_versions = Some(self.nodes[&to].config.kraft_versions);
                    let error = quorate_types::ErrorCode::None;
                    let versions = rpc::VersionsAnswer {
                        error,
                        kraft_versions,
                    };
                    let result = Ok(rpc::Answer::ProbeVersions(versions));
                    let payload = Payload::default();
                    return self.send(Message::Answer {
                        to: from,
                        result,
                        payload,
                    });
                }
                self.note(format!("{}→{to} {}", from.node, trace::request(&body)));
                let request = RequestId(self.next());
                self.waiting.insert(request, from);
                self.input(
                    to,
                    Input::Request {
                        from: request,
                        body,
                    },
                );
            }
            Message::Answer {
                to,
                result,
                payload,
            } => {
                let node = self.nodes.get_mut(&to.node).expect("a known node");
                let alive = node.raft.is_some() && node.incarnation == to.incarnation;
                if !alive || node.open.remove(&to.call).is_none() {
                    return;
                }
                node.payload.insert(to.call, payload);
                let call = to.call;
                if let Ok(answer) = &result
                    && let Some(line) = trace::answer(answer)
                {
                    self.note(format!("{}← {line}", to.node));
                }
                self.input(to.node, Input::Answer { call, result });
                self.nodes
                    .get_mut(&to.node)
                    .expect("a known node")
                    .payload
                    .clear();
            }
        }
    }

    pub fn send(&mut self, message: Message) {
        if self.rng.one_in(self.weather.lost_one_in) && !matches!(message, Message::PeerDown { .. })
        {
            return;
        }
        let delay = self.draw(self.weather.latency);
        let key = (self.now + delay, self.next());
        if let Message::Request { from, to, body } = &message
            && self.rng.one_in(self.weather.doubled_one_in)
        {
            let delay = self.draw(self.weather.latency) * 3;
            let (from, to, body) = (*from, *to, body.clone());
            let again = (self.now + delay, self.next());
            self.network
                .insert(again, Message::Request { from, to, body });
        }
        self.network.insert(key, message);
    }

    pub fn draw(&mut self, (from, to): (Duration, Duration)) -> Duration {
        if from == to {
            from
        } else {
            self.rng.duration(from, to)
        }
    }

    /// A fault of a node's disk.
    pub fn disk_health(&mut self, id: NodeId, health: Health) {
        self.nodes.get_mut(&id).expect("a known node").disk.health = health;
    }
}
