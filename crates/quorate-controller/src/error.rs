//! Errors of single items: what a request's answer carries beside the item.

use quorate_engine::Halt;
use quorate_types::ErrorCode;

/// An error code with the text that explains it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{code}{}{}", if message.is_some() { ": " } else { "" }, message.as_deref().unwrap_or(""))]
pub struct ApiError {
    /// What is wrong, as clients understand it.
    pub code: ErrorCode,
    /// What is wrong, as people do; `None` where the code says it all.
    pub message: Option<String>,
}

impl ApiError {
    /// An error with an explanation.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> ApiError {
        ApiError {
            code,
            message: Some(message.into()),
        }
    }

    /// An error that its code explains.
    pub const fn plain(code: ErrorCode) -> ApiError {
        ApiError {
            code,
            message: None,
        }
    }
}

impl From<ErrorCode> for ApiError {
    fn from(code: ErrorCode) -> ApiError {
        ApiError::plain(code)
    }
}

/// Why work on one item ended: the item is bad, or the whole decision is over.
#[derive(Debug)]
pub(crate) enum Bad {
    /// The item is refused; the others go on.
    Item(ApiError),
    /// The draft took no more records.
    Halt(Halt),
}

impl From<ApiError> for Bad {
    fn from(error: ApiError) -> Bad {
        Bad::Item(error)
    }
}

impl From<ErrorCode> for Bad {
    fn from(code: ErrorCode) -> Bad {
        Bad::Item(code.into())
    }
}

impl From<Halt> for Bad {
    fn from(halt: Halt) -> Bad {
        Bad::Halt(halt)
    }
}

/// An item's result as code and message, with a halted decision passed on.
pub(crate) fn outcome(result: Result<(), Bad>) -> Result<(ErrorCode, Option<String>), Halt> {
    match result {
        Ok(()) => Ok((ErrorCode::None, None)),
        Err(Bad::Item(error)) => Ok((error.code, error.message)),
        Err(Bad::Halt(halt)) => Err(halt),
    }
}
