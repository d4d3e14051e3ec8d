//! The listeners that a node registers.

use quorate_metadata::SecurityProtocol;
use quorate_types::ErrorCode;

use crate::error::ApiError;

/// Checks a listener of a registration: other nodes must be able to connect to it.
pub(crate) fn check_listener(
    name: &str,
    host: &str,
    port: u16,
    security_protocol: i16,
) -> Result<(), ApiError> {
    let fault = if name.is_empty() {
        "has no name"
    } else if host.is_empty() {
        "has no host"
    } else if port == 0 {
        "has no port"
    } else if !SecurityProtocol(security_protocol).is_known() {
        "has an unknown security protocol"
    } else {
        return Ok(());
    };
    Err(ApiError::new(
        ErrorCode::InvalidRequest,
        format!("listener {name:?} {fault}"),
    ))
}
