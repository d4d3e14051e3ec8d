//! Random histories of records that fit, for the laws.

mod history;

pub use history::{History, all_brokers, histories};
