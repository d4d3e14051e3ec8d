//! What the tests share: short ways to make records, and random histories for the laws.
#![allow(dead_code, unused_imports, reason = "each test uses a part of it")]

mod history;
mod records;

pub use history::{History, all_brokers, histories};
pub use records::*;
