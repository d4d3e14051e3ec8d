//! The engine, driven by a lease service.

mod answers;
mod histories;
mod leadership;
mod lease;
mod limits;
mod replica;
mod rig;
mod tasks;
mod transactions;
