//! BrokerHeartbeat: what a broker wants, what it gets, and the records between the two.

use quorate_engine::Halt;
use quorate_protocol::messages::broker_heartbeat::{
    BrokerHeartbeatRequest, BrokerHeartbeatResponse,
};
use quorate_types::{BrokerEpoch, ErrorCode, MonoTime, NodeId, Offset};

use super::control_state::{self, ControlState, Wish};
use super::fence::fence;
use super::sessions::Sessions;
use crate::controller::{Desk, KafkaController};
use crate::partition::{self, Leaving, reconsider};
use crate::records;

/// Moves the broker to the state that follows, and answers how it stands then.
///
/// `arrived` is when the heartbeat reached this node: what it waited for since does not count
/// against the broker.
pub(crate) fn heartbeat(
    controller: &KafkaController,
    draft: &mut Desk<'_>,
    request: &BrokerHeartbeatRequest,
    arrived: MonoTime,
) -> Result<BrokerHeartbeatResponse, Halt> {
    draft.cut_anywhere();
    let id = NodeId(request.broker_id);
    let epoch = BrokerEpoch(request.broker_epoch);
    let known = draft
        .state()
        .broker(id)
        .filter(|broker| broker.epoch == epoch);
    let Some((fenced, registered_at)) = known.map(|broker| (broker.fenced, broker.at)) else {
        let error_code = ErrorCode::StaleBrokerEpoch;
        return Ok(BrokerHeartbeatResponse {
            error_code,
            ..Default::default()
        });
    };
    let applied = Offset::from_wire(request.current_metadata_offset);
    draft.soft_mut().touch(id, epoch, arrived, applied);
    let is_caught_up = applied.is_some_and(|applied| applied >= registered_at);
    let current = draft.soft().state(id, fenced);
    let wish = Wish {
        fence: request.want_fence,
        shutdown: request.want_shut_down,
        caught_up: is_caught_up,
        leads: draft.state().topics().counts(id).leads > 0,
        others_caught_up: draft.soft().others_caught_up(draft.state(), id),
    };
    let next = control_state::next(current, wish);
    if next != current {
        enter(controller, draft, id, epoch, next)?;
    }
    if draft
        .state()
        .features()
        .metadata_version()
        .has_directories()
    {
        partition::offline(controller, draft, id, &request.offline_log_dirs)?;
    }
    Ok(BrokerHeartbeatResponse {
        is_caught_up,
        is_fenced: next.is_fenced(),
        should_shut_down: next == ControlState::ShutdownNow,
        ..Default::default()
    })
}

/// The records that bring the broker to the state.
fn enter(
    controller: &KafkaController,
    draft: &mut Desk<'_>,
    id: NodeId,
    epoch: BrokerEpoch,
    next: ControlState,
) -> Result<(), Halt> {
    match next {
        ControlState::Fenced | ControlState::ShutdownNow => fence(controller, draft, id, epoch),
        ControlState::Unfenced => {
            draft.push(records::unfence(id, epoch))?;
            let leaderless = draft
                .state()
                .topics()
                .leaderless()
                .map(|(id, _)| id)
                .collect();
            reconsider(controller, draft, leaderless, Leaving::Nobody)
        }
        ControlState::ControlledShutdown => {
            if !draft
                .state()
                .broker(id)
                .is_some_and(|broker| broker.in_controlled_shutdown)
            {
                draft.push(records::controlled_shutdown(id, epoch))?;
            }
            let led = draft
                .state()
                .topics()
                .in_isr_of(id)
                .map(|(id, _)| id)
                .collect();
            reconsider(controller, draft, led, Leaving::Clean(id))
        }
    }
}

/// Once a heartbeat's records are appended, before `end`: a controlled shutdown that has begun is
/// over for the others when they have applied them.
pub(crate) fn appended(
    sessions: &mut Sessions,
    request: &BrokerHeartbeatRequest,
    answer: &BrokerHeartbeatResponse,
    end: Offset,
) {
    let waits = request.want_shut_down && !answer.is_fenced && !answer.should_shut_down;
    if waits && answer.error_code.is_none() {
        sessions.shutting_down(NodeId(request.broker_id), end - 1);
    }
}
