//! Fencing brokers, and letting them go for good.

use std::time::Duration;

use quorate_engine::Halt;
use quorate_metadata::PartitionId;
use quorate_protocol::messages::unregister_broker::{
    UnregisterBrokerRequest, UnregisterBrokerResponse,
};
use quorate_types::{BrokerEpoch, ErrorCode, NodeId};

use super::has_epoch;
use crate::controller::{Desk, KafkaController};
use crate::partition::{Leaving, reconsider};
use crate::records;

/// Takes the broker out of every ISR and fences it.
pub(crate) fn fence(
    controller: &KafkaController,
    draft: &mut Desk<'_>,
    id: NodeId,
    epoch: BrokerEpoch,
) -> Result<(), Halt> {
    let held = in_isr(draft, id);
    reconsider(controller, draft, held, Leaving::Clean(id))?;
    draft.push(records::fence(id, epoch))
}

/// Fences every broker whose session has run out, one after the other, each on what the one before
/// left. Says when to look again.
pub(crate) fn fence_stale(
    controller: &KafkaController,
    draft: &mut Desk<'_>,
) -> Result<Duration, Halt> {
    draft.cut_anywhere();
    let now = draft.now();
    let config = controller.config();
    let interval = config.broker_session_timeout / 8;
    let grace = config.broker_heartbeat_interval * 2;
    draft.soft_mut().check(now, interval * 2, grace);
    let expired: Vec<_> = draft.soft().expired(now).collect();
    for (id, epoch) in expired {
        if has_epoch(draft.state(), id, epoch) {
            fence(controller, draft, id, epoch)?;
        }
    }
    // A session that is over has not run out before the next instant.
    let next = draft
        .soft()
        .next_expiry(now)
        .map(|left| left + Duration::from_millis(1));
    Ok(next.unwrap_or(interval).min(interval))
}

/// Removes a broker from the cluster, alive or not.
pub(crate) fn unregister(
    controller: &KafkaController,
    draft: &mut Desk<'_>,
    request: &UnregisterBrokerRequest,
) -> Result<UnregisterBrokerResponse, Halt> {
    draft.cut_anywhere();
    let id = NodeId(request.broker_id);
    let Some(epoch) = draft.state().broker(id).map(|broker| broker.epoch) else {
        return Ok(UnregisterBrokerResponse {
            error_code: ErrorCode::BrokerIdNotRegistered,
            error_message: Some(format!("broker {id} is not registered")),
            ..Default::default()
        });
    };
    // Gone for good, it brings nothing back: it is not eligible either.
    clean_up(controller, draft, id, false)?;
    draft.push(records::unregister_broker(id, epoch))?;
    let error_message = Some(String::new());
    Ok(UnregisterBrokerResponse {
        error_message,
        ..Default::default()
    })
}

/// What a broker's earlier process left behind: it is in no ISR any more and, if it may have lost
/// what it acknowledged, in no ELR.
pub(crate) fn clean_up(
    controller: &KafkaController,
    draft: &mut Desk<'_>,
    id: NodeId,
    clean: bool,
) -> Result<(), Halt> {
    let in_sync = in_isr(draft, id);
    if clean || !draft.state().features().elr_enabled() {
        return reconsider(controller, draft, in_sync, Leaving::Clean(id));
    }
    reconsider(controller, draft, in_sync, Leaving::Unclean(id))?;
    let eligible = in_elr(draft, id);
    reconsider(controller, draft, eligible, Leaving::Unclean(id))
}

fn in_isr(draft: &Desk<'_>, id: NodeId) -> Vec<PartitionId> {
    draft
        .state()
        .topics()
        .in_isr_of(id)
        .map(|(id, _)| id)
        .collect()
}

fn in_elr(draft: &Desk<'_>, id: NodeId) -> Vec<PartitionId> {
    draft
        .state()
        .topics()
        .in_elr_of(id)
        .map(|(id, _)| id)
        .collect()
}
