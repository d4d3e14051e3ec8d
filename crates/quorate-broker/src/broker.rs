//! A broker whose replicas hold no data: everything of this crate, put together.
//!
//! This is what the example cluster and the simulator run. It decides everything and does nothing:
//! requests, answers, images and time come in, requests and answers go out. Whoever drives it keeps
//! one order: the outputs of one input before the next input.
//!
//! A published image is taken in this order: the cache first, so that clients see it; then the
//! replicas; then the lifecycle, whose heartbeats tell the controller how far the image is. With the
//! first image the broker is ready to be unfenced.

#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::time::Duration;

use quorate_metadata::{Delta, MetadataImage, Section};
use quorate_protocol::messages::{
    AlterPartitionRequest, AlterPartitionResponse, AssignReplicasToDirsRequest,
    AssignReplicasToDirsResponse, BrokerHeartbeatRequest, BrokerHeartbeatResponse,
    BrokerRegistrationRequest, BrokerRegistrationResponse, FetchRequest, FetchResponse,
};
use quorate_types::{DirectoryId, ErrorCode, MonoTime, NodeId, Offset};

use crate::cache::{CacheConfig, MetadataCache};
use crate::call::{CallFailure, CallId};
use crate::directory_assignments::{self, DirectoryAssignments};
use crate::isr::{self, IsrManager};
use crate::lifecycle::{self, Answer, BrokerState, Lifecycle, LifecycleConfig};
use crate::replicas::{
    FollowAnswer, FollowRequest, LocalReplicas, MemoryOutput, MemoryReplicas, Wish,
};

/// Names one request of a broker: which part of it asked, and its number there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BrokerCall {
    /// Registration or heartbeat, to the active controller.
    Lifecycle(CallId),
    /// AlterPartition, to the active controller.
    Isr(CallId),
    /// AssignReplicasToDirs, to the active controller.
    Directories(CallId),
    /// Fetch, to the leader.
    Follow(NodeId, CallId),
}

/// Where a request goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Destination {
    /// Whoever leads the metadata quorum.
    ActiveController,
    /// That broker, on the listener for brokers.
    Broker(NodeId),
}

/// A request that a broker makes.
#[derive(Debug, Clone, PartialEq)]
pub enum BrokerRequest {
    /// Version 4.
    Registration(BrokerRegistrationRequest),
    /// Version 1.
    Heartbeat(BrokerHeartbeatRequest),
    /// Version 3.
    AlterPartition(AlterPartitionRequest),
    /// Version 0.
    AssignReplicasToDirs(AssignReplicasToDirsRequest),
    /// Version 17 or 18.
    Fetch(FetchRequest),
}

impl BrokerRequest {
    /// How long the broker waits for an answer before it asks anew. Carrying the request any longer
    /// makes two of it.
    pub fn timeout(&self) -> Duration {
        match self {
            BrokerRequest::Registration(_) | BrokerRequest::Heartbeat(_) => {
                lifecycle::REQUEST_TIMEOUT
            }
            BrokerRequest::AlterPartition(_) => isr::REQUEST_TIMEOUT,
            BrokerRequest::AssignReplicasToDirs(_) => directory_assignments::REQUEST_TIMEOUT,
            BrokerRequest::Fetch(_) => crate::replicas::REQUEST_TIMEOUT,
        }
    }
}

/// The answer to a [`BrokerRequest`], of the same kind.
#[derive(Debug, Clone, PartialEq)]
pub enum BrokerResponse {
    /// To a registration.
    Registration(BrokerRegistrationResponse),
    /// To a heartbeat.
    Heartbeat(BrokerHeartbeatResponse),
    /// To AlterPartition.
    AlterPartition(AlterPartitionResponse),
    /// To AssignReplicasToDirs.
    AssignReplicasToDirs(AssignReplicasToDirsResponse),
    /// To Fetch.
    Fetch(FetchResponse),
}

/// What happens to a broker.
#[derive(Debug, Clone)]
pub enum BrokerInput {
    /// The node is up.
    Start,
    /// Time has passed.
    Tick,
    /// A request was answered, or will not be. Each request may be answered at any time, never or
    /// more than once.
    Answer {
        /// Which.
        call: BrokerCall,
        /// What came of it.
        answer: Result<BrokerResponse, CallFailure>,
    },
    /// A log directory failed.
    DirectoryFailed(DirectoryId),
    /// Shut down in order.
    ShutDown,
    /// Stop now.
    Stop,
}

/// What a broker wants done or known.
#[derive(Debug, Clone, PartialEq)]
pub enum BrokerOutput {
    /// Send this.
    Call {
        /// Names the request in [`BrokerInput::Answer`].
        call: BrokerCall,
        /// To whom.
        to: Destination,
        /// What.
        request: BrokerRequest,
    },
    /// Something happened to the lifecycle; never [`lifecycle::Output::Send`].
    Lifecycle(lifecycle::Output),
}

/// A broker without data; see the module's documentation.
#[derive(Debug)]
pub struct Broker {
    lifecycle: Lifecycle,
    cache: MetadataCache,
    replicas: LocalReplicas,
    memory: MemoryReplicas,
    isr: IsrManager,
    directories: DirectoryAssignments,
    published: bool,
    outputs: VecDeque<BrokerOutput>,
}

impl Broker {
    /// A broker that has not started. Its replicas lie in the first of its directories.
    pub fn new(lifecycle: LifecycleConfig, cache: CacheConfig) -> Broker {
        let broker = lifecycle.broker;
        let directory = lifecycle.directories.first().copied();
        let cache = MetadataCache::new(&lifecycle.cluster_id, cache);
        Broker {
            cache,
            replicas: LocalReplicas::new(broker),
            memory: MemoryReplicas::new(broker, directory.unwrap_or(DirectoryId::UNASSIGNED)),
            isr: IsrManager::new(broker),
            directories: DirectoryAssignments::new(broker),
            lifecycle: Lifecycle::new(lifecycle),
            published: false,
            outputs: VecDeque::new(),
        }
    }

    /// Takes one input; drain [`poll`](Broker::poll) afterwards.
    pub fn handle(&mut self, now: MonoTime, input: BrokerInput) {
        match input {
            BrokerInput::Start => self.lifecycle.handle(now, lifecycle::Input::Start),
            BrokerInput::Tick => {}
            BrokerInput::Answer { call, answer } => self.answered(now, call, answer),
            BrokerInput::DirectoryFailed(directory) => self
                .lifecycle
                .handle(now, lifecycle::Input::DirectoryFailed(directory)),
            BrokerInput::ShutDown => self.lifecycle.handle(now, lifecycle::Input::ShutDown),
            BrokerInput::Stop => self.lifecycle.handle(now, lifecycle::Input::Stop),
        }
        self.settle(now);
    }

    /// An image was published that contains everything before `end`; drain [`poll`](Broker::poll)
    /// afterwards.
    pub fn published(&mut self, now: MonoTime, image: MetadataImage, end: Offset) {
        let broker = self.lifecycle.config().broker;
        let before = self.cache.image().clone();
        self.cache.publish(image.clone(), end);
        let delta = Delta::new(before, image);
        let shutting_down = self.lifecycle.state() >= BrokerState::PendingControlledShutdown;
        for replica in self.replicas.apply(&delta, shutting_down, &mut self.memory) {
            self.directories
                .assign(now, replica.partition, replica.directory);
        }
        let replicas = &self.replicas;
        self.directories
            .retain(|partition| replicas.is_here(partition));
        let registered = delta.after().broker(broker).map(|broker| broker.epoch);
        self.lifecycle
            .handle(now, lifecycle::Input::Published { end, registered });
        if !std::mem::replace(&mut self.published, true) {
            self.lifecycle.handle(now, lifecycle::Input::ReadyToUnfence);
        }
        if self.registration_lacks_directories(&delta) {
            self.lifecycle.handle(now, lifecycle::Input::RegisterAgain);
        }
        self.settle(now);
    }

    /// Answers another broker's Fetch as a follower's; drain [`poll`](Broker::poll) afterwards.
    ///
    /// # Errors
    /// If it is no follower's: the caller answers that itself.
    pub fn fetched(
        &mut self,
        now: MonoTime,
        request: &FetchRequest,
    ) -> Result<FetchResponse, crate::replicas::Unreadable> {
        let request = FollowRequest::from_fetch(request)?;
        let answer = MemoryReplicas::followed(&mut self.replicas, &request, self.cache.image());
        self.settle(now);
        Ok(answer.to_fetch())
    }

    /// The next thing to do; in order.
    pub fn poll(&mut self) -> Option<BrokerOutput> {
        self.outputs.pop_front()
    }

    /// When to come back with [`BrokerInput::Tick`] at the latest.
    pub fn deadline(&self) -> Option<MonoTime> {
        if self.is_over() {
            return None;
        }
        [
            self.lifecycle.deadline(),
            self.isr.deadline(),
            self.directories.deadline(),
            self.memory.deadline(),
        ]
        .into_iter()
        .flatten()
        .min()
    }

    /// What clients are answered from.
    pub fn cache(&self) -> &MetadataCache {
        &self.cache
    }

    /// Where the broker is on its way.
    pub fn lifecycle(&self) -> &Lifecycle {
        &self.lifecycle
    }

    /// What is led and followed here.
    pub fn replicas(&self) -> &LocalReplicas {
        &self.replicas
    }

    fn is_over(&self) -> bool {
        self.lifecycle.state() == BrokerState::ShuttingDown
    }

    /// Whether the cluster has just learnt to keep directories, or our registration has just changed,
    /// and it lists none where ours would (KIP-858).
    fn registration_lacks_directories(&self, delta: &Delta) -> bool {
        let config = self.lifecycle.config();
        let is_news = delta.metadata_version().is_some()
            || (delta.changed(Section::Cluster)
                && delta.brokers().any(|change| change.key == config.broker));
        let listed = delta.after().broker(config.broker).is_some_and(|broker| {
            Some(broker.epoch) == self.lifecycle.epoch() && broker.directories.is_empty()
        });
        let version = delta.after().features().metadata_version();
        is_news && listed && version.has_directories() && !config.directories.is_empty()
    }

    fn answered(
        &mut self,
        now: MonoTime,
        call: BrokerCall,
        answer: Result<BrokerResponse, CallFailure>,
    ) {
        match call {
            BrokerCall::Lifecycle(call) => {
                let answer = match answer {
                    Ok(BrokerResponse::Registration(answer)) => Answer::Registration(answer),
                    Ok(BrokerResponse::Heartbeat(answer)) => Answer::Heartbeat(answer),
                    Ok(_) => Answer::Failed(CallFailure::Malformed),
                    Err(failure) => Answer::Failed(failure),
                };
                self.lifecycle
                    .handle(now, lifecycle::Input::Answer { call, answer });
            }
            BrokerCall::Isr(call) => {
                let answer = answer.and_then(|answer| match answer {
                    BrokerResponse::AlterPartition(answer) => Ok(answer),
                    _ => Err(CallFailure::Malformed),
                });
                self.isr.answered(now, call, answer);
            }
            BrokerCall::Directories(call) => {
                let answer = answer.and_then(|answer| match answer {
                    BrokerResponse::AssignReplicasToDirs(answer) => Ok(answer),
                    _ => Err(CallFailure::Malformed),
                });
                let replicas = &self.replicas;
                self.directories
                    .answered(now, call, answer, |partition| replicas.is_here(partition));
            }
            BrokerCall::Follow(leader, call) => {
                let answer = answer.and_then(|answer| match answer {
                    BrokerResponse::Fetch(answer) => {
                        FollowAnswer::from_fetch(&answer).map_err(|_| CallFailure::Malformed)
                    }
                    _ => Err(CallFailure::Malformed),
                });
                self.memory.answered(now, leader, call, answer);
            }
        }
    }

    /// Lets every part speak until none has anything to say to another.
    fn settle(&mut self, now: MonoTime) {
        self.lifecycle.handle(now, lifecycle::Input::Tick);
        while let Some(output) = self.lifecycle.poll() {
            self.lifecycle_says(now, output);
        }
        if self.is_over() {
            return;
        }
        self.isr.tick(now);
        self.directories.tick(now);
        self.memory.tick(now);
        loop {
            let wished = self.carry_wishes(now);
            let resolved = self.carry_isr(now);
            if !wished && !resolved {
                break;
            }
        }
        self.carry_directories();
        self.carry_follows();
    }

    fn lifecycle_says(&mut self, now: MonoTime, output: lifecycle::Output) {
        match output {
            lifecycle::Output::Send { call, request } => {
                let request = match request {
                    lifecycle::Request::Register(request) => BrokerRequest::Registration(request),
                    lifecycle::Request::Heartbeat(request) => BrokerRequest::Heartbeat(request),
                };
                self.call(
                    BrokerCall::Lifecycle(call),
                    Destination::ActiveController,
                    request,
                );
            }
            other => {
                if let lifecycle::Output::Registered { epoch } = &other {
                    self.replicas.registered(*epoch);
                    self.memory.registered(*epoch);
                    self.isr.registered(now, *epoch);
                    self.directories.registered(now, *epoch);
                }
                self.outputs.push_back(BrokerOutput::Lifecycle(other));
            }
        }
    }

    /// Gives whether there were any.
    fn carry_wishes(&mut self, now: MonoTime) -> bool {
        let mut any = false;
        while let Some(wish) = self.replicas.poll() {
            any = true;
            match wish {
                Wish::Withdraw(partition) => self.isr.withdraw(partition),
                Wish::Change(partition, change) => {
                    if self.isr.submit(now, partition, change).is_err() {
                        let refusal = Err(ErrorCode::OperationNotAttempted);
                        self.replicas
                            .isr_resolved(partition, &refusal, self.cache.image());
                    }
                }
            }
        }
        any
    }

    fn carry_isr(&mut self, now: MonoTime) -> bool {
        let mut any = false;
        while let Some(output) = self.isr.poll() {
            any = true;
            match output {
                isr::Output::Send { call, request } => self.call(
                    BrokerCall::Isr(call),
                    Destination::ActiveController,
                    BrokerRequest::AlterPartition(request),
                ),
                isr::Output::Resolved { partition, result } => {
                    self.replicas
                        .isr_resolved(partition, &result, self.cache.image());
                }
            }
        }
        self.isr.tick(now);
        any
    }

    fn carry_directories(&mut self) {
        while let Some(output) = self.directories.poll() {
            if let directory_assignments::Output::Send { call, request } = output {
                self.call(
                    BrokerCall::Directories(call),
                    Destination::ActiveController,
                    BrokerRequest::AssignReplicasToDirs(request),
                );
            }
        }
    }

    fn carry_follows(&mut self) {
        while let Some(MemoryOutput::Follow {
            call,
            leader,
            request,
        }) = self.memory.poll()
        {
            self.call(
                BrokerCall::Follow(leader, call),
                Destination::Broker(leader),
                BrokerRequest::Fetch(request.to_fetch()),
            );
        }
    }

    fn call(&mut self, call: BrokerCall, to: Destination, request: BrokerRequest) {
        self.outputs
            .push_back(BrokerOutput::Call { call, to, request });
    }
}
