//! ControllerRegistration: a controller says where it listens and what it supports.

use quorate_engine::Halt;
use quorate_protocol::messages::controller_registration::{
    ControllerRegistrationRequest, ControllerRegistrationResponse,
};
use quorate_types::ErrorCode;

use super::listeners::check_listener;
use crate::controller::Desk;
use crate::error::ApiError;
use crate::records;

/// Registers the controller.
pub(crate) fn register_controller(
    draft: &mut Desk<'_>,
    request: &ControllerRegistrationRequest,
) -> Result<ControllerRegistrationResponse, Halt> {
    if let Err(error) = check(draft, request) {
        return Ok(ControllerRegistrationResponse {
            error_code: error.code,
            error_message: error.message,
            ..Default::default()
        });
    }
    draft.push(records::register_controller(request))?;
    let error_message = Some(String::new());
    Ok(ControllerRegistrationResponse {
        error_message,
        ..Default::default()
    })
}

fn check(draft: &Desk<'_>, request: &ControllerRegistrationRequest) -> Result<(), ApiError> {
    let version = draft.state().features().metadata_version();
    if !version.has_controller_registration() {
        let message = format!("controllers do not register at metadata.version {version}");
        return Err(ApiError::new(ErrorCode::UnsupportedVersion, message));
    }
    if request.controller_id < 0 {
        return Err(ApiError::new(
            ErrorCode::InvalidRequest,
            "a negative controller id",
        ));
    }
    request.listeners.iter().try_for_each(|listener| {
        let protocol = listener.security_protocol;
        check_listener(&listener.name, &listener.host, listener.port, protocol)
    })
}
