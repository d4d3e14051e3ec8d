//! What the controller does, told as stories: a cluster in memory whose records commit at once.

mod alter_partition;
mod bootstrap;
mod brokers;
mod cluster;
mod configs;
mod elections;
mod features;
mod properties;
mod reassignment;
mod security;
mod shutdown;
mod stock;
mod topics;
mod wide;
