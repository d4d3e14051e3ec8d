//! Whatever a network does to answers, a broker runs in the end.

use std::time::Duration;

use proptest::prelude::*;
use quorate_types::{BrokerEpoch, ErrorCode, MonoTime, NodeId};

use super::{INCARNATION, heartbeat, published, refusal, registration};
use crate::call::{CallFailure, CallId};
use crate::lifecycle::*;

/// What the network does to one answer.
#[derive(Debug, Clone, Copy)]
enum Fate {
    Arrives,
    Lost,
    Doubled,
    Late,
    Failed,
    Stale,
    Duplicate,
}

fn fate() -> impl Strategy<Value = Fate> {
    prop_oneof![
        Just(Fate::Arrives),
        Just(Fate::Lost),
        Just(Fate::Doubled),
        Just(Fate::Late),
        Just(Fate::Failed),
        Just(Fate::Stale),
        Just(Fate::Duplicate),
    ]
}

/// A controller that knows one registration, and a network that delivers as it likes.
struct World {
    broker: Lifecycle,
    now: MonoTime,
    registered: Option<BrokerEpoch>,
    end: i64,
    /// What was sent last and not answered, and when.
    unanswered: Option<(CallId, MonoTime)>,
    late: Vec<(MonoTime, CallId, Answer)>,
    ended: Option<ShutdownReason>,
}

impl World {
    fn new() -> World {
        let mut config = LifecycleConfig::new(NodeId(1), "cluster", INCARNATION);
        config.registration_timeout = Duration::from_secs(100_000);
        World {
            broker: Lifecycle::new(config),
            now: MonoTime::ZERO,
            registered: None,
            end: 5,
            unanswered: None,
            late: Vec::new(),
            ended: None,
        }
    }

    fn input(&mut self, input: Input) {
        if let Input::Answer { call, .. } = &input
            && self.unanswered.is_some_and(|(sent, _)| sent == *call)
        {
            self.unanswered = None;
        }
        self.broker.handle(self.now, input);
    }

    /// What the controller would say.
    fn decide(&mut self, request: &Request) -> Answer {
        match request {
            Request::Register(_) => {
                let epoch = *self.registered.get_or_insert_with(|| {
                    self.end += 1;
                    BrokerEpoch(self.end - 1)
                });
                registration(ErrorCode::None, epoch.0)
            }
            Request::Heartbeat(request) => {
                if self.registered != Some(BrokerEpoch(request.broker_epoch)) {
                    return refusal(ErrorCode::StaleBrokerEpoch);
                }
                let caught_up = request.current_metadata_offset >= request.broker_epoch;
                heartbeat(
                    caught_up,
                    !caught_up || request.want_fence,
                    request.want_shut_down,
                )
            }
        }
    }

    fn deliver(&mut self, call: CallId, request: &Request, fate: Fate) {
        let decided = self.decide(request);
        let answer = match (fate, request) {
            (Fate::Failed, _) => Answer::Failed(CallFailure::Disconnected),
            (Fate::Stale, Request::Heartbeat(_)) => refusal(ErrorCode::StaleBrokerEpoch),
            (Fate::Duplicate, Request::Register(_)) => {
                registration(ErrorCode::DuplicateBrokerRegistration, -1)
            }
            _ => decided,
        };
        let deliver = Input::Answer {
            call,
            answer: answer.clone(),
        };
        match fate {
            Fate::Lost => {}
            Fate::Late => self
                .late
                .push((self.now + Duration::from_millis(2500), call, answer)),
            Fate::Doubled => {
                self.input(deliver.clone());
                self.input(deliver);
            }
            _ => self.input(deliver),
        }
    }

    /// One step of time, with everything that follows from it.
    fn step(&mut self, mut next_fate: impl FnMut() -> Fate) {
        let (due, late) = self.late.drain(..).partition(|(at, ..)| *at <= self.now);
        self.late = late;
        for (_, call, answer) in due {
            self.input(Input::Answer { call, answer });
        }
        let registered = self.registered.map(|epoch| epoch.0);
        self.input(published(self.end, registered));
        self.input(Input::Tick);
        while let Some(output) = self.broker.poll() {
            match output {
                Output::Send { call, request } => {
                    let timeout = self.broker.config().request_timeout;
                    assert!(
                        self.unanswered
                            .is_none_or(|(_, sent_at)| sent_at + timeout <= self.now),
                        "two in flight"
                    );
                    self.unanswered = Some((call, self.now));
                    self.deliver(call, &request, next_fate());
                }
                Output::ShutDown(reason) => self.ended = Some(reason),
                _ => {}
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn whatever_happens_to_answers_a_broker_runs_in_the_end(
        fates in prop::collection::vec(fate(), 0..40),
        unregister_at in prop::option::of(0_usize..60),
    ) {
        let mut world = World::new();
        world.input(Input::Start);
        world.input(Input::ReadyToUnfence);
        let mut fates = fates.into_iter();
        for step in 0..400 {
            if unregister_at == Some(step) {
                world.registered = None;
                world.end += 1;
            }
            world.step(|| fates.next().unwrap_or(Fate::Arrives));
            let deadline = world.broker.deadline().expect("alive");
            prop_assert!(deadline > world.now, "stuck at {}", world.now);
            world.now = deadline.min(world.now + Duration::from_millis(500));
        }
        prop_assert_eq!(world.broker.state(), BrokerState::Running);
        prop_assert_eq!(world.broker.epoch(), world.registered);
        prop_assert!(!world.broker.is_fenced());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn whatever_happens_to_answers_a_shutdown_ends(
        before in prop::collection::vec(fate(), 0..10),
        during in prop::collection::vec(fate(), 0..20),
        unregister: bool,
    ) {
        let mut world = World::new();
        world.input(Input::Start);
        world.input(Input::ReadyToUnfence);
        let mut before = before.into_iter();
        for _ in 0..100 {
            world.step(|| before.next().unwrap_or(Fate::Arrives));
            world.now = world.now + Duration::from_millis(500);
        }
        prop_assert_eq!(world.broker.state(), BrokerState::Running);
        world.input(Input::ShutDown);
        if unregister {
            world.registered = None;
            world.end += 1;
        }
        let mut during = during.into_iter();
        let mut steps = 0;
        while world.broker.state() != BrokerState::ShuttingDown {
            world.step(|| during.next().unwrap_or(Fate::Arrives));
            world.now = world.now + Duration::from_millis(500);
            steps += 1;
            prop_assert!(steps < 300, "still {:?}", world.broker.state());
        }
        prop_assert_eq!(world.broker.deadline(), None);
        let expected = match unregister {
            true => ShutdownReason::NotRegistered,
            false => ShutdownReason::Granted,
        };
        prop_assert_eq!(world.ended, Some(expected));
    }
}
