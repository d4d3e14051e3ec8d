//! AllocateProducerIds: blocks of ids for idempotent producers.

use quorate_engine::Halt;
use quorate_protocol::messages::allocate_producer_ids::{
    AllocateProducerIdsRequest, AllocateProducerIdsResponse,
};
use quorate_types::{BrokerEpoch, ErrorCode, NodeId};

use crate::cluster::has_epoch;
use crate::controller::Desk;
use crate::records;

/// How many ids a broker is given at once.
const BLOCK: i32 = 1000;

/// Gives the broker the next block.
pub(crate) fn allocate(
    draft: &mut Desk<'_>,
    request: &AllocateProducerIdsRequest,
) -> Result<AllocateProducerIdsResponse, Halt> {
    let refused = |error_code| {
        Ok(AllocateProducerIdsResponse {
            error_code,
            ..Default::default()
        })
    };
    let (id, epoch) = (NodeId(request.broker_id), BrokerEpoch(request.broker_epoch));
    if !has_epoch(draft.state(), id, epoch) {
        return refused(ErrorCode::StaleBrokerEpoch);
    }
    let producer_id_start = draft.state().producer_ids().next.unwrap_or(0);
    let Some(next) = producer_id_start.checked_add(i64::from(BLOCK)) else {
        return refused(ErrorCode::UnknownServerError);
    };
    draft.push(records::producer_ids(id, epoch, next))?;
    Ok(AllocateProducerIdsResponse {
        producer_id_start,
        producer_id_len: BLOCK,
        ..Default::default()
    })
}
