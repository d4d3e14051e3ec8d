//! FindCoordinator's refusal: there are no groups and no transactions here, so nobody coordinates
//! them.

use quorate_protocol::messages::find_coordinator::Coordinator;
use quorate_protocol::messages::{FindCoordinatorRequest, FindCoordinatorResponse};
use quorate_types::ErrorCode;

const ERROR: ErrorCode = ErrorCode::CoordinatorNotAvailable;
const MESSAGE: &str = "this cluster keeps no groups and no transactions";

/// Answers FindCoordinator of any version: `COORDINATOR_NOT_AVAILABLE`, which clients take for
/// "later, perhaps" and not for a broken cluster.
pub fn find_coordinator(version: i16, request: &FindCoordinatorRequest) -> FindCoordinatorResponse {
    if version < 4 {
        return FindCoordinatorResponse {
            error_code: ERROR,
            error_message: Some(MESSAGE.to_owned()),
            node_id: -1,
            port: -1,
            ..Default::default()
        };
    }
    let refusal = |key: &String| Coordinator {
        key: key.clone(),
        node_id: -1,
        port: -1,
        error_code: ERROR,
        error_message: Some(MESSAGE.to_owned()),
        ..Default::default()
    };
    FindCoordinatorResponse {
        coordinators: request.coordinator_keys.iter().map(refusal).collect(),
        ..Default::default()
    }
}
