//! What this controller does not do, answered as Kafka answers when it is switched off.

use quorate_types::ErrorCode;

use crate::command::{Operation, Reply};
use crate::error::ApiError;

/// The answer to an operation that no manager serves.
pub(crate) fn answer(operation: &Operation) -> Reply {
    let code = match operation {
        Operation::DescribeAcls(_) | Operation::CreateAcls(_) | Operation::DeleteAcls(_) => {
            ErrorCode::SecurityDisabled
        }
        Operation::CreateDelegationToken(_)
        | Operation::RenewDelegationToken(_)
        | Operation::ExpireDelegationToken(_) => ErrorCode::DelegationTokenAuthDisabled,
        _ => ErrorCode::UnsupportedVersion,
    };
    operation.refused(&ApiError::plain(code))
}
