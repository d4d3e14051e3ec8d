//! Limits and credentials: client quotas and SCRAM.

mod quotas;
mod scram;

pub(crate) use quotas::alter_quotas;
pub(crate) use scram::alter_credentials;
