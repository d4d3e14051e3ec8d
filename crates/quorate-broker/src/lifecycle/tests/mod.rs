//! The lifecycle against a controller that is scripted here.

mod chaos;

use quorate_protocol::messages::{BrokerHeartbeatResponse, BrokerRegistrationResponse};
use quorate_types::{
    BrokerEpoch, DirectoryId, ErrorCode, IncarnationId, MonoTime, NodeId, Offset, Uuid,
};

use super::*;
use crate::call::{CallFailure, CallId};

const INCARNATION: IncarnationId = IncarnationId(Uuid([7; 16]));

fn at(millis: u64) -> MonoTime {
    MonoTime(millis * 1000)
}

fn directory(n: u8) -> DirectoryId {
    DirectoryId(Uuid([n; 16]))
}

/// A broker, and what it last sent.
struct Bench {
    broker: Lifecycle,
    sent: Option<(CallId, Request)>,
    said: Vec<Output>,
}

impl Bench {
    fn new() -> Bench {
        let mut config = LifecycleConfig::new(NodeId(1), "cluster", INCARNATION);
        config.directories = vec![directory(9), directory(3)];
        Bench::of(config)
    }

    fn of(config: LifecycleConfig) -> Bench {
        Bench {
            broker: Lifecycle::new(config),
            sent: None,
            said: Vec::new(),
        }
    }

    /// A broker that was registered with epoch 40, caught up at `0`, and unfenced.
    fn running() -> Bench {
        let mut bench = Bench::new();
        bench.input(0, Input::Start);
        bench.registered(0, 40);
        bench.input(0, published(41, Some(40)));
        bench.input(0, Input::ReadyToUnfence);
        bench.heartbeat(0, true, true);
        bench.heartbeat(10, true, false);
        assert_eq!(bench.broker.state(), BrokerState::Running);
        bench.said.clear();
        bench
    }

    fn input(&mut self, millis: u64, input: Input) {
        self.broker.handle(at(millis), input);
        while let Some(output) = self.broker.poll() {
            match output {
                Output::Send { call, request } => {
                    assert!(self.sent.is_none(), "two requests in flight");
                    self.sent = Some((call, request));
                }
                other => self.said.push(other),
            }
        }
    }

    fn answer(&mut self, millis: u64, answer: Answer) {
        let (call, _) = self.sent.take().expect("a request in flight");
        self.input(millis, Input::Answer { call, answer });
    }

    fn registered(&mut self, millis: u64, epoch: i64) {
        assert!(matches!(self.sent, Some((_, Request::Register(_)))));
        self.answer(millis, registration(ErrorCode::None, epoch));
    }

    fn heartbeat(&mut self, millis: u64, caught_up: bool, fenced: bool) {
        self.tick_until_sent(millis);
        self.answer(millis, heartbeat(caught_up, fenced, false));
    }

    fn refused(&mut self, millis: u64, error: ErrorCode) {
        self.answer(millis, refusal(error));
    }

    fn tick_until_sent(&mut self, millis: u64) {
        if self.sent.is_none() {
            self.input(millis, Input::Tick);
        }
    }

    fn sent_heartbeat(&self) -> &BrokerHeartbeatRequest {
        match &self.sent {
            Some((_, Request::Heartbeat(heartbeat))) => heartbeat,
            other => panic!("expected a heartbeat in flight, not {other:?}"),
        }
    }

    fn sends_registration(&self) -> bool {
        matches!(self.sent, Some((_, Request::Register(_))))
    }

    fn deadline(&self) -> Option<u64> {
        self.broker.deadline().map(|deadline| deadline.0 / 1000)
    }
}

fn published(end: i64, registered: Option<i64>) -> Input {
    Input::Published {
        end: Offset(end),
        registered: registered.map(BrokerEpoch),
    }
}

fn registration(error_code: ErrorCode, broker_epoch: i64) -> Answer {
    Answer::Registration(BrokerRegistrationResponse {
        error_code,
        broker_epoch,
        ..Default::default()
    })
}

fn heartbeat(is_caught_up: bool, is_fenced: bool, should_shut_down: bool) -> Answer {
    Answer::Heartbeat(BrokerHeartbeatResponse {
        is_caught_up,
        is_fenced,
        should_shut_down,
        ..Default::default()
    })
}

fn refusal(error_code: ErrorCode) -> Answer {
    Answer::Heartbeat(BrokerHeartbeatResponse {
        error_code,
        ..Default::default()
    })
}

#[test]
fn a_start_registers_catches_up_and_runs() {
    let mut bench = Bench::new();
    bench.input(0, Input::Start);
    match &bench.sent {
        Some((_, Request::Register(request))) => {
            assert_eq!(request.incarnation_id, INCARNATION.0);
            assert_eq!(request.previous_broker_epoch, -1);
            assert_eq!(request.log_dirs, [directory(3).0, directory(9).0]);
        }
        other => panic!("expected a registration, not {other:?}"),
    }
    bench.registered(5, 40);
    let first = bench.sent_heartbeat().clone();
    assert_eq!(
        (first.broker_epoch, first.current_metadata_offset),
        (40, -1)
    );
    assert!(first.want_fence && !first.want_shut_down);

    bench.heartbeat(6, false, true);
    assert_eq!(bench.deadline(), Some(16), "every 10 ms while starting");
    bench.input(8, published(41, Some(40)));
    bench.input(16, Input::Tick);
    assert_eq!(bench.sent_heartbeat().current_metadata_offset, 40);
    bench.heartbeat(17, true, true);
    assert_eq!(bench.broker.state(), BrokerState::Recovery);
    assert_eq!(bench.deadline(), Some(27), "and once after");
    bench.heartbeat(27, true, true);
    assert_eq!(bench.deadline(), Some(2027));

    bench.input(500, Input::ReadyToUnfence);
    assert!(!bench.sent_heartbeat().want_fence, "at once");
    bench.heartbeat(501, true, false);
    assert_eq!(bench.broker.state(), BrokerState::Running);
    assert_eq!(bench.deadline(), Some(2501));
    assert_eq!(
        bench.said,
        [
            Output::State {
                from: BrokerState::NotRunning,
                to: BrokerState::Starting
            },
            Output::Registered {
                epoch: BrokerEpoch(40)
            },
            Output::State {
                from: BrokerState::Starting,
                to: BrokerState::Recovery
            },
            Output::Fenced(false),
            Output::State {
                from: BrokerState::Recovery,
                to: BrokerState::Running
            },
        ]
    );
}

#[test]
fn a_duplicate_registration_is_tried_again_every_interval() {
    let mut bench = Bench::new();
    bench.input(0, Input::Start);
    let first = bench.sent.clone().map(|(_, request)| request);
    for round in 0..4 {
        let now = round * 2000;
        bench.tick_until_sent(now);
        assert_eq!(bench.sent.clone().map(|(_, request)| request), first);
        bench.answer(
            now,
            registration(ErrorCode::DuplicateBrokerRegistration, -1),
        );
        assert_eq!(bench.deadline(), Some(now + 2000));
    }
    bench.input(8000, Input::Tick);
    bench.registered(8000, 77);
    assert_eq!(bench.sent_heartbeat().broker_epoch, 77);
}

#[test]
fn a_lost_registration_answer_is_asked_for_again() {
    let mut bench = Bench::new();
    bench.input(0, Input::Start);
    let (lost, _) = bench.sent.take().expect("a registration");
    bench.input(1999, Input::Tick);
    assert_eq!(bench.sent, None);
    bench.input(2000, Input::Tick);
    assert_eq!(bench.deadline(), Some(4000), "given up, then the interval");
    bench.input(4000, Input::Tick);
    assert!(bench.sends_registration());
    bench.input(
        4001,
        Input::Answer {
            call: lost,
            answer: registration(ErrorCode::None, 40),
        },
    );
    assert_eq!(bench.broker.epoch(), None, "the late answer is ignored");
    bench.registered(4002, 40);
    assert_eq!(bench.broker.epoch(), Some(BrokerEpoch(40)));
}

#[test]
fn a_broker_that_never_registers_gives_up() {
    let mut bench = Bench::new();
    bench.input(0, Input::Start);
    for now in (0..60_000).step_by(2000) {
        bench.tick_until_sent(now);
        bench.answer(now, Answer::Failed(CallFailure::Disconnected));
    }
    bench.input(60_000, Input::Tick);
    assert_eq!(bench.broker.state(), BrokerState::ShuttingDown);
    assert_eq!(
        bench.said.last(),
        Some(&Output::ShutDown(ShutdownReason::NeverRegistered))
    );
    assert_eq!(bench.deadline(), None);
}

#[test]
fn a_wish_to_speak_at_once_waits_for_the_answer_and_is_forgotten_on_failure() {
    let mut bench = Bench::running();
    bench.input(2010, Input::Tick);
    bench.input(2011, Input::DirectoryFailed(directory(3)));
    assert!(bench.sent_heartbeat().offline_log_dirs.is_empty());
    bench.heartbeat(2012, true, false);
    assert_eq!(bench.sent_heartbeat().offline_log_dirs, [directory(3).0]);

    bench.input(2013, Input::ShutDown);
    bench.answer(2014, Answer::Failed(CallFailure::Disconnected));
    assert_eq!(bench.sent, None);
    assert_eq!(bench.deadline(), Some(4014), "the whole interval");
}

#[test]
fn a_controlled_shutdown_asks_again_soon_and_then_every_interval() {
    let mut bench = Bench::running();
    bench.input(1000, Input::ShutDown);
    assert!(bench.sent_heartbeat().want_shut_down);
    bench.answer(1001, heartbeat(true, false, false));
    assert_eq!(bench.deadline(), Some(1051));
    bench.input(1051, Input::Tick);
    bench.answer(1052, heartbeat(true, false, false));
    assert_eq!(bench.deadline(), Some(3052));
    bench.input(3052, Input::Tick);
    bench.answer(3053, heartbeat(true, false, true));
    assert_eq!(
        bench.said.last(),
        Some(&Output::ShutDown(ShutdownReason::Granted))
    );
    bench.input(9999, Input::Tick);
    assert_eq!(bench.sent, None);
}

#[test]
fn an_answer_from_before_the_shutdown_is_no_refusal() {
    let mut bench = Bench::running();
    bench.input(2010, Input::Tick);
    bench.input(2011, Input::ShutDown);
    assert!(!bench.sent_heartbeat().want_shut_down);
    bench.heartbeat(2012, true, false);
    assert!(bench.sent_heartbeat().want_shut_down, "at once");
    bench.answer(2013, heartbeat(true, false, false));
    assert_eq!(bench.deadline(), Some(2063), "this is the first refusal");
}

#[test]
fn a_controlled_shutdown_that_is_not_granted_ends_all_the_same() {
    let mut bench = Bench::running();
    bench.input(1000, Input::ShutDown);
    for now in (1000..301_000).step_by(1000) {
        bench.input(now, Input::Tick);
        if bench.sent.is_some() {
            bench.answer(now, heartbeat(true, false, false));
        }
    }
    assert_eq!(bench.broker.state(), BrokerState::PendingControlledShutdown);
    bench.input(301_000, Input::Tick);
    assert_eq!(
        bench.said.last(),
        Some(&Output::ShutDown(ShutdownReason::NotGranted))
    );
}

#[test]
fn before_running_a_shutdown_waits_for_nobody() {
    let mut bench = Bench::new();
    bench.input(0, Input::Start);
    bench.registered(1, 40);
    bench.input(2, Input::ShutDown);
    assert_eq!(
        bench.said.last(),
        Some(&Output::ShutDown(ShutdownReason::Asked))
    );
}

#[test]
fn a_broker_that_was_unfenced_as_it_caught_up_hands_over_before_it_stops() {
    let mut bench = Bench::new();
    bench.input(0, Input::Start);
    bench.registered(1, 7);
    bench.input(2, published(9, Some(7)));
    bench.input(2, Input::ReadyToUnfence);
    bench.tick_until_sent(12);
    // One answer says both: from here on the broker may have been given partitions to lead.
    bench.heartbeat(13, true, false);
    bench.input(14, Input::ShutDown);
    assert_eq!(bench.broker.state(), BrokerState::PendingControlledShutdown);
}

#[test]
fn a_fenced_broker_unfences_itself_with_its_epoch() {
    let mut bench = Bench::running();
    bench.heartbeat(2010, true, true);
    assert!(bench.broker.is_fenced());
    assert_eq!(bench.broker.state(), BrokerState::Running);
    bench.input(4010, Input::Tick);
    assert_eq!(bench.sent_heartbeat().broker_epoch, 40);
    assert!(!bench.sent_heartbeat().want_fence);
    bench.heartbeat(4011, true, false);
    assert!(!bench.broker.is_fenced());
    assert_eq!(bench.said, [Output::Fenced(true), Output::Fenced(false)]);
}

#[test]
fn a_stale_epoch_alone_never_registers_again() {
    let mut bench = Bench::running();
    for round in 1..20 {
        let now = 10 + round * 2000;
        bench.input(now, Input::Tick);
        assert_eq!(bench.sent_heartbeat().broker_epoch, 40);
        bench.refused(now, ErrorCode::StaleBrokerEpoch);
    }
    assert_eq!(bench.said, []);
}

#[test]
fn an_image_without_the_registration_alone_never_registers_again() {
    let mut bench = Bench::running();
    bench.input(11, published(90, None));
    for round in 1..20 {
        let now = 10 + round * 2000;
        bench.input(now, Input::Tick);
        bench.heartbeat(now, true, false);
    }
    assert_eq!(bench.said, []);
}

#[test]
fn an_unregistered_broker_registers_again_under_the_same_incarnation() {
    let mut bench = Bench::running();
    bench.input(11, published(90, None));
    bench.input(2010, Input::Tick);
    bench.refused(2010, ErrorCode::StaleBrokerEpoch);
    bench.input(4010, Input::Tick);
    bench.refused(4010, ErrorCode::StaleBrokerEpoch);
    assert_eq!(bench.said, [Output::Fenced(true)]);
    bench.input(6010, Input::Tick);
    match &bench.sent {
        Some((_, Request::Register(request))) => {
            assert_eq!(request.incarnation_id, INCARNATION.0);
        }
        other => panic!("expected a registration, not {other:?}"),
    }
    bench.registered(6011, 91);
    assert_eq!(bench.sent_heartbeat().broker_epoch, 91);
    bench.input(6012, published(92, Some(91)));
    bench.heartbeat(6013, true, false);
    assert_eq!(bench.broker.state(), BrokerState::Running);
    assert!(!bench.broker.is_fenced());
}

#[test]
fn an_image_from_before_the_registration_says_nothing_about_it() {
    let mut bench = Bench::new();
    bench.input(0, Input::Start);
    bench.registered(0, 40);
    bench.input(0, published(40, None));
    for round in 0..5 {
        let now = round * 2000;
        bench.tick_until_sent(now);
        bench.refused(now, ErrorCode::StaleBrokerEpoch);
        bench.input(now + 2000, Input::Tick);
        assert!(!bench.sends_registration());
    }
}

#[test]
fn shutting_down_without_a_registration_is_over() {
    let mut bench = Bench::running();
    bench.input(11, published(90, Some(80)));
    bench.input(12, Input::ShutDown);
    bench.refused(13, ErrorCode::StaleBrokerEpoch);
    bench.input(2013, Input::Tick);
    bench.refused(2014, ErrorCode::StaleBrokerEpoch);
    assert_eq!(
        bench.said.last(),
        Some(&Output::ShutDown(ShutdownReason::NotRegistered))
    );
}

#[test]
fn a_failed_directory_is_told_in_every_heartbeat() {
    let mut bench = Bench::running();
    bench.input(100, Input::DirectoryFailed(directory(9)));
    assert_eq!(bench.sent_heartbeat().offline_log_dirs, [directory(9).0]);
    bench.heartbeat(101, true, false);
    bench.input(200, Input::DirectoryFailed(directory(3)));
    let both = [directory(3).0, directory(9).0];
    assert_eq!(bench.sent_heartbeat().offline_log_dirs, both);
    bench.heartbeat(201, true, false);
    bench.input(2201, Input::Tick);
    assert_eq!(bench.sent_heartbeat().offline_log_dirs, both);
}

#[test]
fn a_directory_failure_that_nobody_hears_of_ends_the_broker() {
    let mut bench = Bench::running();
    bench.input(100, Input::DirectoryFailed(directory(9)));
    for now in (100..30_100).step_by(2000) {
        bench.tick_until_sent(now);
        bench.refused(now, ErrorCode::NotController);
    }
    bench.input(30_100, Input::Tick);
    let reason = ShutdownReason::DirectoryNotReported(directory(9));
    assert_eq!(bench.said.last(), Some(&Output::ShutDown(reason)));
}

#[test]
fn registering_again_keeps_the_state() {
    let mut bench = Bench::running();
    bench.input(100, Input::RegisterAgain);
    assert!(bench.sends_registration());
    bench.registered(101, 40);
    bench.heartbeat(102, true, false);
    assert_eq!(bench.broker.state(), BrokerState::Running);
}
