//! A broker's way from its start through registration, catching up and running to its end.
//!
//! | State | Meaning | Leaves it when |
//! |---|---|---|
//! | `NotRunning` | nothing sent yet | [`Input::Start`]: registers at once → `Starting` |
//! | `Starting` | registers; then heartbeats every 10 ms | a heartbeat says *caught up* → `Recovery` |
//! | `Recovery` | heartbeats; wants to stay fenced until [`Input::ReadyToUnfence`] | a heartbeat says *not fenced* → `Running` |
//! | `Running` | serves | [`Input::ShutDown`]: heartbeat at once → `PendingControlledShutdown` |
//! | `PendingControlledShutdown` | asks to be let go, again 50 ms after the first refusal, then every interval | a heartbeat says *shut down* → `ShuttingDown` |
//! | `ShuttingDown` | says nothing any more | never |
//!
//! From every state [`Input::Stop`], and from those before `Running` [`Input::ShutDown`] of a broker
//! that is still fenced, lead to `ShuttingDown` directly. So do a first registration that does not succeed in time, a failed
//! directory that nobody can be told of, and a controlled shutdown that takes too long.
//!
//! Invariants:
//! - One request in flight. What wants to be said at once meanwhile is said when the answer is
//!   there, and forgotten when the request failed: after a failure the interval is always waited.
//! - Losing, doubling, delaying answers changes when things happen, never what happens: a
//!   registration is repeated under the same incarnation and so gets the same epoch again.
//! - The state never goes back. A broker that was fenced keeps its state and unfences itself by its
//!   heartbeats, since it still wants to be unfenced and reports how far its image is.
//!
//! ## Registering again
//! A stock broker that is told `STALE_BROKER_EPOCH` repeats its heartbeat for ever. Here it
//! registers again, under the same incarnation, when that is the only way back, which takes both:
//! 1. two heartbeats in a row were refused so, thus it was no passing state of a controller that
//!    has only just taken over;
//! 2. the published image is past the offset of our registration and shows no registration of ours
//!    with that epoch: somebody unregistered this broker, or registered its id anew.
//!
//! An image alone does not suffice, as it may lag; refusals alone neither, as a controller in
//! trouble must not make every broker abandon an epoch that is still good. If another process has
//! taken the id, the controller answers `DUPLICATE_BROKER_REGISTRATION` as long as that one lives,
//! and we go on asking. While shutting down, a lost registration means that there is nothing left
//! to hand over: the shutdown is over.
//!
//! Kafka: `BrokerLifecycleManager`; KIP-631, KIP-841, KIP-858, KIP-966.

mod config;
mod directories;
mod io;
mod schedule;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use quorate_protocol::messages::{
    BrokerHeartbeatRequest, BrokerHeartbeatResponse, BrokerRegistrationResponse,
};
use quorate_types::{BrokerEpoch, DirectoryId, ErrorCode, MonoTime, Offset};

pub use config::{LifecycleConfig, REQUEST_TIMEOUT};
pub use io::{Answer, BrokerState, Input, Output, Request, ShutdownReason};

use crate::call::Slot;
use directories::FailedDirectories;
use schedule::Schedule;

/// What a request in flight was about.
#[derive(Debug, Clone)]
enum Flight {
    Registration,
    Heartbeat {
        directories: Vec<DirectoryId>,
        want_shut_down: bool,
    },
}

/// How often `STALE_BROKER_EPOCH` in a row makes it worth looking at the image.
const STALE_ANSWERS_TO_BELIEVE: u32 = 2;

/// A broker's lifecycle: feed it with [`handle`](Lifecycle::handle), drain
/// [`poll`](Lifecycle::poll), and come back at [`deadline`](Lifecycle::deadline) with
/// [`Input::Tick`].
#[derive(Debug)]
pub struct Lifecycle {
    config: LifecycleConfig,
    state: BrokerState,
    /// Of the last successful registration.
    epoch: Option<BrokerEpoch>,
    /// Whether the next request is a heartbeat; otherwise it is a registration.
    registered: bool,
    fenced: bool,
    ready_to_unfence: bool,
    image: Image,
    stale_answers: u32,
    /// The first refusal of a controlled shutdown is followed up sooner.
    refused: bool,
    failed: FailedDirectories,
    /// When to give up on the first registration.
    register_by: Option<MonoTime>,
    /// When to give up on the controlled shutdown.
    let_go_by: Option<MonoTime>,
    schedule: Schedule,
    slot: Slot<Flight>,
    last_contact: Option<MonoTime>,
    outputs: VecDeque<Output>,
}

/// What the last published image says about us.
#[derive(Debug, Clone, Copy, Default)]
struct Image {
    end: Option<Offset>,
    registered: Option<BrokerEpoch>,
}

impl Lifecycle {
    /// A broker that has not started.
    pub fn new(config: LifecycleConfig) -> Lifecycle {
        Lifecycle {
            config,
            state: BrokerState::NotRunning,
            epoch: None,
            registered: false,
            fenced: true,
            ready_to_unfence: false,
            image: Image::default(),
            stale_answers: 0,
            refused: false,
            failed: FailedDirectories::default(),
            register_by: None,
            let_go_by: None,
            schedule: Schedule::default(),
            slot: Slot::new(),
            last_contact: None,
            outputs: VecDeque::new(),
        }
    }

    /// Takes one input; drain [`poll`](Lifecycle::poll) afterwards.
    pub fn handle(&mut self, now: MonoTime, input: Input) {
        if self.state == BrokerState::ShuttingDown {
            return;
        }
        match input {
            Input::Start => self.start(now),
            Input::Tick => {}
            Input::Answer { call, answer } => {
                if let Some(flight) = self.slot.close(call) {
                    self.answered(now, flight, answer);
                }
            }
            Input::Published { end, registered } => self.published(end, registered),
            Input::RegisterAgain => self.register_again(now),
            Input::ReadyToUnfence => {
                self.ready_to_unfence = true;
                self.speak_now(now);
            }
            Input::DirectoryFailed(directory) => {
                self.failed
                    .add(directory, now + self.config.directory_failure_timeout);
                if self.registered {
                    self.speak_now(now);
                }
            }
            Input::ShutDown => self.shut_down(now),
            Input::Stop => self.stop(ShutdownReason::Asked),
        }
        self.keep_time(now);
        self.speak_if_due(now);
    }

    /// The next thing to do; in order.
    pub fn poll(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    /// When to come back with [`Input::Tick`] at the latest.
    pub fn deadline(&self) -> Option<MonoTime> {
        if self.state == BrokerState::ShuttingDown {
            return None;
        }
        let speak = match self.slot.deadline() {
            Some(until) => Some(until),
            None => self.schedule.due(),
        };
        [
            speak,
            self.register_by,
            self.let_go_by,
            self.failed.deadline(),
        ]
        .into_iter()
        .flatten()
        .min()
    }

    /// Where the broker is on its way.
    pub fn state(&self) -> BrokerState {
        self.state
    }

    /// The epoch of the last successful registration.
    pub fn epoch(&self) -> Option<BrokerEpoch> {
        self.epoch
    }

    /// Whether the last heartbeat's answer said so; true before the first.
    pub fn is_fenced(&self) -> bool {
        self.fenced
    }

    /// When a controller last gave an answer without error.
    pub fn last_contact(&self) -> Option<MonoTime> {
        self.last_contact
    }

    /// How this broker was configured.
    pub fn config(&self) -> &LifecycleConfig {
        &self.config
    }

    fn start(&mut self, now: MonoTime) {
        if self.state == BrokerState::NotRunning {
            self.enter(BrokerState::Starting);
            self.register_by = Some(now + self.config.registration_timeout);
            self.schedule.at(now);
        }
    }

    fn shut_down(&mut self, now: MonoTime) {
        match self.state {
            BrokerState::PendingControlledShutdown | BrokerState::ShuttingDown => {}
            // One answer may say *caught up* and *not fenced*: it leads before it is `Running`.
            state if state == BrokerState::Running || !self.fenced => {
                self.enter(BrokerState::PendingControlledShutdown);
                self.let_go_by = Some(now + self.config.controlled_shutdown_timeout);
                self.speak_now(now);
            }
            _ => self.stop(ShutdownReason::Asked),
        }
    }

    fn published(&mut self, end: Offset, registered: Option<BrokerEpoch>) {
        self.image = Image {
            end: Some(end),
            registered,
        };
        self.notice_lost_registration();
    }

    fn register_again(&mut self, now: MonoTime) {
        if self.registered && self.state < BrokerState::PendingControlledShutdown {
            self.registered = false;
            self.speak_now(now);
        }
    }

    fn answered(&mut self, now: MonoTime, flight: Flight, answer: Answer) {
        match (flight, answer) {
            (Flight::Registration, Answer::Registration(answer)) => {
                self.registration_answered(now, &answer);
            }
            (
                Flight::Heartbeat {
                    directories,
                    want_shut_down,
                },
                Answer::Heartbeat(answer),
            ) => match answer.error_code {
                ErrorCode::None => {
                    self.failed.accepted(&directories);
                    self.heartbeat_answered(now, want_shut_down, &answer);
                }
                error => self.heartbeat_refused(now, error),
            },
            // A failure, or the answer to something else, which is no better.
            _ => self.speak_after_failure(now),
        }
    }

    fn registration_answered(&mut self, now: MonoTime, answer: &BrokerRegistrationResponse) {
        if !answer.error_code.is_none() {
            self.outputs
                .push_back(Output::RegistrationRefused(answer.error_code));
            return self.speak_after_failure(now);
        }
        let epoch = BrokerEpoch(answer.broker_epoch);
        self.epoch = Some(epoch);
        self.registered = true;
        self.stale_answers = 0;
        self.register_by = None;
        self.last_contact = Some(now);
        self.outputs.push_back(Output::Registered { epoch });
        self.schedule.at(now);
    }

    fn heartbeat_answered(&mut self, now: MonoTime, asked: bool, answer: &BrokerHeartbeatResponse) {
        self.stale_answers = 0;
        self.last_contact = Some(now);
        if self.fenced != answer.is_fenced {
            self.fenced = answer.is_fenced;
            self.outputs.push_back(Output::Fenced(answer.is_fenced));
        }
        let next = match self.state {
            BrokerState::Starting => {
                if answer.is_caught_up {
                    self.enter(BrokerState::Recovery);
                }
                self.config.starting_interval
            }
            BrokerState::Recovery => {
                if !answer.is_fenced {
                    self.enter(BrokerState::Running);
                }
                self.config.heartbeat_interval
            }
            BrokerState::PendingControlledShutdown if asked => {
                if answer.should_shut_down {
                    return self.stop(ShutdownReason::Granted);
                }
                match std::mem::replace(&mut self.refused, true) {
                    false => self.config.second_shutdown_request,
                    true => self.config.heartbeat_interval,
                }
            }
            _ => self.config.heartbeat_interval,
        };
        self.schedule.after_success(now, next);
    }

    fn heartbeat_refused(&mut self, now: MonoTime, error: ErrorCode) {
        self.stale_answers = match error {
            ErrorCode::StaleBrokerEpoch => self.stale_answers.saturating_add(1),
            _ => 0,
        };
        self.speak_after_failure(now);
        self.notice_lost_registration();
    }

    /// See "Registering again" in the module's documentation. What is already scheduled becomes the
    /// registration: it follows a refusal, so the interval is waited.
    fn notice_lost_registration(&mut self) {
        let Some(epoch) = self.epoch.filter(|_| self.registered) else {
            return;
        };
        let past_registration = self.image.end.is_some_and(|end| end.0 > epoch.0);
        if self.stale_answers < STALE_ANSWERS_TO_BELIEVE
            || !past_registration
            || self.image.registered == Some(epoch)
        {
            return;
        }
        if self.state == BrokerState::PendingControlledShutdown {
            return self.stop(ShutdownReason::NotRegistered);
        }
        self.registered = false;
        self.stale_answers = 0;
        if !self.fenced {
            self.fenced = true;
            self.outputs.push_back(Output::Fenced(true));
        }
    }

    /// What is over by the clock alone.
    fn keep_time(&mut self, now: MonoTime) {
        if self.slot.expire(now).is_some() {
            self.speak_after_failure(now);
        }
        if self.register_by.is_some_and(|at| at <= now) {
            self.stop(ShutdownReason::NeverRegistered);
        } else if self.let_go_by.is_some_and(|at| at <= now) {
            self.stop(ShutdownReason::NotGranted);
        } else if let Some(directory) = self.failed.overdue(now) {
            self.stop(ShutdownReason::DirectoryNotReported(directory));
        }
    }

    fn speak_now(&mut self, now: MonoTime) {
        match self.state {
            BrokerState::NotRunning | BrokerState::ShuttingDown => {}
            _ if self.slot.is_busy() => self.schedule.wish(),
            _ => self.schedule.at(now),
        }
    }

    fn speak_after_failure(&mut self, now: MonoTime) {
        self.schedule
            .after_failure(now, self.config.heartbeat_interval);
    }

    fn speak_if_due(&mut self, now: MonoTime) {
        if self.slot.is_busy() || !self.schedule.take_due(now) {
            return;
        }
        let (request, flight) = match self.epoch.filter(|_| self.registered) {
            Some(epoch) => self.heartbeat(epoch),
            None => (
                Request::Register(self.config.registration()),
                Flight::Registration,
            ),
        };
        let call = self.slot.open(now, self.config.request_timeout, flight);
        self.outputs.push_back(Output::Send { call, request });
    }

    fn heartbeat(&self, epoch: BrokerEpoch) -> (Request, Flight) {
        let directories = self.failed.all();
        let want_shut_down = self.state == BrokerState::PendingControlledShutdown;
        let request = BrokerHeartbeatRequest {
            broker_id: self.config.broker.0,
            broker_epoch: epoch.0,
            // Inclusive at the wire: the last offset that is contained.
            current_metadata_offset: self.image.end.map_or(-1, |end| end.0 - 1),
            want_fence: !self.ready_to_unfence,
            want_shut_down,
            offline_log_dirs: directories.iter().map(|directory| directory.0).collect(),
            ..Default::default()
        };
        let flight = Flight::Heartbeat {
            directories,
            want_shut_down,
        };
        (Request::Heartbeat(request), flight)
    }

    fn enter(&mut self, to: BrokerState) {
        assert!(
            self.state < to,
            "a broker's state goes from {:?} to {to:?}",
            self.state
        );
        let from = std::mem::replace(&mut self.state, to);
        self.outputs.push_back(Output::State { from, to });
    }

    fn stop(&mut self, reason: ShutdownReason) {
        if self.state != BrokerState::ShuttingDown {
            self.enter(BrokerState::ShuttingDown);
            self.outputs.push_back(Output::ShutDown(reason));
            self.slot.abandon();
            self.schedule = Schedule::default();
        }
    }
}
